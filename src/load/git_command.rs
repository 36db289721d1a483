//! [`GitCommand`]: the arguments of git. All arguments are made here.
//!
//! Options are constants of this program. Texts that a file or a server has written are passed as
//! words, and a word that looks like an option is refused. The arguments are those of kustomize,
//! which wrappers of git know.

use crate::diag::{Code, Error, Result};
use std::ffi::OsString;

/// Settings of every command. They override the settings of the user, so that nothing in a fetched
/// tree runs. The user's own protocols, filters and credential helpers remain in effect.
const SETTINGS: [&str; 4] = [
    // A relative path in the user's settings would lead into the tree.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // These two protocols run the command in the address, which a submodule may choose.
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
];

/// The setting that keeps git away from repositories of this machine.
const NO_FILES: &str = "protocol.file.allow=never";

/// A git command.
#[derive(Clone, Copy, Debug)]
pub struct GitCommand<'w> {
    name: &'static str,
    options: &'static [&'static str],
    words: &'w [&'w str],
    /// True if git must not read repositories of this machine.
    is_without_files: bool,
}

impl<'w> GitCommand<'w> {
    /// A command with its options, which are never texts of a file.
    pub fn new(name: &'static str, options: &'static [&'static str]) -> Self {
        GitCommand { name, options, words: &[], is_without_files: false }
    }

    /// The command with the texts that it works on.
    pub fn with_words(self, words: &'w [&'w str]) -> Self {
        GitCommand { words, ..self }
    }

    /// The command, without access to repositories of this machine.
    pub fn without_files(self) -> Self {
        GitCommand { is_without_files: true, ..self }
    }

    /// The name of the command in errors.
    pub fn shown(&self) -> String {
        let parts = [self.name].into_iter().chain(self.options.iter().copied()).chain(self.words.iter().copied());
        format!("git {}", parts.collect::<Vec<_>>().join(" "))
    }

    /// The settings of the command, in the variable by which git passes on `-c`. So the first
    /// argument remains the name of the command, which a wrapper of git may look at.
    pub fn settings(&self) -> (&'static str, String) {
        let settings = SETTINGS.iter().copied().chain(self.is_without_files.then_some(NO_FILES));
        ("GIT_CONFIG_PARAMETERS", settings.map(|setting| format!("'{setting}'")).collect::<Vec<_>>().join(" "))
    }

    /// The arguments of git.
    ///
    /// # Errors
    /// A word looks like an option, or has a control character.
    pub fn arguments(&self) -> Result<Vec<OsString>> {
        self.words.iter().try_for_each(|word| check(word))?;
        let command = [self.name].into_iter().chain(self.options.iter().copied());
        Ok(command.chain(self.words.iter().copied()).map(OsString::from).collect())
    }
}

fn check(word: &str) -> Result<()> {
    let fault = |what: &str| {
        let error =
            Error::new(Code::Refused, format!("security; git is not called with '{}': it {what}", word.escape_debug()));
        error.hint("an address is 'https://host/repository//directory?ref=VERSION'")
    };
    match word {
        _ if word.starts_with('-') => Err(fault("begins with '-', as an option does")),
        _ if word.contains(char::is_control) => Err(fault("has a control character")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::GitCommand;

    #[test]
    fn words_are_no_options() {
        let command = GitCommand::new("fetch", &["--depth=1"]).with_words(&["https://h/o/r", "main"]);
        let arguments = command.arguments().unwrap();
        assert_eq!(arguments, ["fetch", "--depth=1", "https://h/o/r", "main"]);
        assert_eq!(command.shown(), "git fetch --depth=1 https://h/o/r main");
        let bare = GitCommand::new("init", &[]).without_files();
        assert_eq!(bare.arguments().unwrap(), ["init"]);
        assert!(bare.settings().1.ends_with(" 'protocol.file.allow=never'"));
        for word in ["-x", "--upload-pack=x", "a\nb", "a\0b"] {
            assert!(command.with_words(&["https://h/o/r", word]).arguments().is_err(), "{word}");
        }
    }
}
