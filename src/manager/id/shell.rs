//! Commands for the shell.

use rustomize_base::shell::quoted;
use rustomize_process::Variable;
use std::path::Path;

/// The variables of a command, before it in a line of the shell.
pub fn assignments(variables: &[Variable]) -> String {
    let assignment = |(name, value): &Variable| format!("{name}={} ", quoted(&value.to_string_lossy()));
    variables.iter().map(assignment).collect()
}

/// A command for a hint, which has to work where the user pastes it: for another directory than the
/// current one it names that.
pub fn in_directory(command: &str, directory: &Path) -> String {
    match directory.to_str() {
        Some("" | ".") => command.to_owned(),
        _ => format!("{command} --directory {}", quoted(&directory.to_string_lossy())),
    }
}

#[cfg(test)]
mod tests {
    use super::in_directory;
    use std::path::Path;

    #[test]
    fn a_command_names_another_directory() {
        assert_eq!(in_directory("tool lock", Path::new(".")), "tool lock");
        assert_eq!(in_directory("tool lock", Path::new("a b")), "tool lock --directory 'a b'");
    }
}
