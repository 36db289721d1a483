//! The plugin as a program: an exec plugin, or a KRM function.

fn main() -> std::process::ExitCode {
    rustomize_plugin::main::<team_label::TeamLabel>()
}
