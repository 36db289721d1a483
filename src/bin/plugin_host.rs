//! The process that runs a shared object, as a program that is small: it starts in a third of the
//! time of `rustomize`, which does the same where this one does not lie beside it.

fn main() -> std::process::ExitCode {
    rustomize_cli::plugin_host::main()
}
