//! [`HelmCommand`]: the arguments of helm, those of kustomize in its order. All arguments are made
//! here. Values that begin with `-` are refused before.

use std::ffi::OsString;

/// A helm command.
#[derive(Clone, Debug)]
pub struct HelmCommand {
    /// The arguments of helm.
    pub arguments: Vec<OsString>,
}

impl HelmCommand {
    /// A command without arguments.
    pub fn new(name: &'static str) -> Self {
        HelmCommand { arguments: vec![name.into()] }
    }

    /// Adds an option with a value, unless the value is empty.
    pub fn option(mut self, name: &'static str, value: &str) -> Self {
        if !value.is_empty() {
            self.arguments.extend([OsString::from(name), value.into()]);
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

    /// Adds an option without a value if `is_on` is true.
    pub fn switch(mut self, name: &'static str, is_on: bool) -> Self {
        if is_on {
            self.arguments.push(name.into());
        }
        self
    }

    /// Adds a text that belongs to no option.
    pub fn word(mut self, word: impl Into<OsString>) -> Self {
        self.arguments.push(word.into());
        self
    }
}
