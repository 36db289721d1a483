//! The name under which this program was started. Help and `version` use that name.

use std::ffi::OsStr;

/// The tool that the caller believes to have started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvokedAs {
    Rustomize,
    /// A link, or a copy, whose name begins with `kustomize`.
    Kustomize,
    /// `kubectl rustomize`: kubectl starts the program `kubectl-rustomize`.
    KubectlPlugin,
}

impl InvokedAs {
    /// Reads the file name of a program. kubectl also takes `kubectl-rustomize.exe`.
    pub(super) fn from_file_name(name: Option<&OsStr>) -> InvokedAs {
        match name.map(OsStr::to_string_lossy) {
            Some(name) if name.starts_with("kustomize") => InvokedAs::Kustomize,
            Some(name) if name.starts_with("kubectl-rustomize") => InvokedAs::KubectlPlugin,
            _ => InvokedAs::Rustomize,
        }
    }

    /// The words that a user types to start this program.
    pub(super) fn words(self) -> &'static str {
        match self {
            InvokedAs::Rustomize => "rustomize",
            InvokedAs::Kustomize => "kustomize",
            InvokedAs::KubectlPlugin => "kubectl rustomize",
        }
    }
}
