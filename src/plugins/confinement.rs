//! The restrictions of a plugin's process, which the process applies to itself before it loads any
//! of the plugin's code.
//!
//! The process leaves the session of the user, and so the terminal, and gives up the capabilities
//! of root. Landlock restricts files and TCP; of the system's calls the process keeps those on a
//! list (`system_calls.rs`). A placed plugin runs without these restrictions, as under kustomize;
//! `--plugin-isolation` asks for it.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// The restrictions of a process, passed as JSON in an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// `None` for a process that may do what the user may.
    pub sandbox: Option<Sandbox>,
}

/// A process that may read what it needs to run and what it is granted, and write what it is
/// granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// True if a part that the system cannot enforce is an error.
    pub strict: bool,
    /// Files and directories that may be read, beside those of the system. A path with a link in it
    /// is not opened.
    #[serde(with = "paths")]
    pub read: Vec<PathBuf>,
    /// Files and directories that may be read and written, as above.
    #[serde(with = "paths")]
    pub write: Vec<PathBuf>,
    /// True if the network may be used.
    pub network: bool,
    /// True if UNIX sockets may be connected to: every one that the user may connect to, because a
    /// filter of system calls sees no paths.
    #[serde(default)]
    pub sockets: bool,
    /// True if modes, owners and times of files may be changed where this system gives a process no
    /// view of the files of its own, and all files of the user are within reach: for what installs
    /// something.
    #[serde(default)]
    pub modes: bool,
    /// Processes and threads at a time, where the kernel can count those of the sandbox alone.
    #[serde(default)]
    pub processes: Option<u64>,
}

/// Paths in JSON: a text each, or its bytes if it is not UTF-8, as names of directories may be.
mod paths {
    use rustomize_base::os_text;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::borrow::Cow;
    use std::path::PathBuf;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written<'p> {
        Text(Cow<'p, str>),
        Bytes(Cow<'p, [u8]>),
    }

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| match path.to_str() {
            Some(text) => Written::Text(text.into()),
            None => Written::Bytes(path.as_os_str().as_encoded_bytes().into()),
        }))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let all = Vec::<Written<'_>>::deserialize(from)?.into_iter();
        let path = |written| match written {
            Written::Text(text) => PathBuf::from(text.into_owned()),
            Written::Bytes(bytes) => os_text::from_bytes(bytes.into_owned()).into(),
        };
        Ok(all.map(path).collect())
    }
}

/// A part of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPart {
    /// One word.
    pub name: Cow<'static, str>,
    /// The effect, if it is enforced.
    pub effect: Cow<'static, str>,
    /// The effect that is missing, because this system cannot enforce it.
    pub missing: Option<String>,
}

impl SandboxPart {
    /// A part with its effect, or with what is missing.
    pub fn new(name: &'static str, effect: &'static str, missing: Option<String>) -> SandboxPart {
        SandboxPart { name: name.into(), effect: effect.into(), missing }
    }
}

impl Sandbox {
    /// Returns the warnings about missing parts of the sandbox.
    ///
    /// # Errors
    /// The sandbox is strict, and a part is missing.
    pub fn decide(&self, missing: Vec<String>) -> io::Result<Vec<String>> {
        if missing.is_empty() || !self.strict {
            return Ok(missing);
        }
        Err(io::Error::other(format!("strict isolation is not to be had here: {}", missing.join("; "))))
    }
}

#[cfg(test)]
mod tests {
    use super::{Confinement, Sandbox};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_is_missing_is_an_error_where_isolation_is_strict() {
        let missing = vec!["files are not restricted".to_owned()];
        let decide = |strict, missing| Sandbox { strict, ..Sandbox::default() }.decide(missing);
        assert_eq!(decide(false, missing.clone()).unwrap(), missing);
        assert!(
            decide(true, missing).unwrap_err().to_string().contains("not to be had here: files are not restricted")
        );
        assert!(decide(true, Vec::new()).is_ok());
    }

    #[test]
    fn it_travels_as_json() {
        let sandbox = Sandbox {
            strict: true,
            read: vec!["/a".into(), OsStr::from_bytes(b"/b\xff").into()],
            write: Vec::new(),
            network: false,
            sockets: true,
            modes: true,
            processes: Some(1 << 12),
        };
        let confinement = Confinement { sandbox: Some(sandbox) };
        let text = serde_json::to_string(&confinement).unwrap();
        assert_eq!(serde_json::from_str::<Confinement>(&text).unwrap(), confinement);
    }
}
