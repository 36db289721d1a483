//! The command: parse arguments, run, turn an error into text and an exit status; nothing else.

/// The system's allocator returns memory page by page and takes locks; a build makes and drops
/// millions of small lists. Measured in docs/performance.md.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    rustomize_process::withhold_files();
    rustomize_cli::main()
}
