//! [`HelmCommand`]: the arguments of helm. No other place makes them.
//!
//! The name of an option is a constant of this program, and its value stands behind `=`. Other
//! texts come behind `--`.

use std::ffi::OsString;

/// A helm command.
#[derive(Debug)]
pub struct HelmCommand {
    options: Vec<OsString>,
    words: Vec<OsString>,
}

impl HelmCommand {
    /// A command without options.
    pub fn new(name: &'static str) -> Self {
        HelmCommand { options: vec![name.into()], words: Vec::new() }
    }

    /// Adds an option with a value, unless that is empty.
    pub fn option(mut self, name: &'static str, value: &str) -> Self {
        if !value.is_empty() {
            self.options.push(format!("{name}={value}").into());
        }
        self
    }

    /// Adds an option with one path. helm reads a list there, with commas between its items.
    pub fn path(self, name: &'static str, path: &str) -> Self {
        match path.contains([',', '"', '\n', '\r']) {
            true => self.option(name, &format!("\"{}\"", path.replace('"', "\"\""))),
            false => self.option(name, path),
        }
    }

    /// Adds an option without a value where it is wanted.
    pub fn switch(mut self, name: &'static str, is_on: bool) -> Self {
        if is_on {
            self.options.push(name.into());
        }
        self
    }

    /// Adds what the command works on.
    pub fn word(mut self, word: impl Into<OsString>) -> Self {
        self.words.push(word.into());
        self
    }

    /// The arguments of helm.
    pub fn arguments(mut self) -> Vec<OsString> {
        if !self.words.is_empty() {
            self.options.push("--".into());
            self.options.append(&mut self.words);
        }
        self.options
    }
}
