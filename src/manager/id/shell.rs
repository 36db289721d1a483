//! Words for the shell.

use crate::plugin::program::Command;

/// The variables of a command, before it in a line of the shell.
pub fn assignments(command: &Command) -> String {
    let one = |(name, value): &(&str, std::ffi::OsString)| format!("{name}={} ", quoted(&value.to_string_lossy()));
    command.environment.iter().map(one).collect()
}

/// A word of the shell.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_of_the_shell() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
