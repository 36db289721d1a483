//! The name under which this program was started. It decides how help and `version` speak.

use std::ffi::OsStr;

/// The tool that the caller believes to have started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    Rustomize,
    /// A link, or a copy, whose name begins with `kustomize`.
    Kustomize,
    /// `kubectl rustomize`: kubectl starts the program `kubectl-rustomize`.
    KubectlPlugin,
}

impl Called {
    /// Reads the file name of a program. kubectl also takes `kubectl-rustomize.exe`.
    pub fn from_file_name(name: Option<&OsStr>) -> Called {
        match name.map(OsStr::to_string_lossy) {
            Some(name) if name.starts_with("kustomize") => Called::Kustomize,
            Some(name) if name.starts_with("kubectl-rustomize") => Called::KubectlPlugin,
            _ => Called::Rustomize,
        }
    }

    /// The words with which a user starts this program.
    pub fn words(self) -> &'static str {
        match self {
            Called::Rustomize => "rustomize",
            Called::Kustomize => "kustomize",
            Called::KubectlPlugin => "kubectl rustomize",
        }
    }
}
