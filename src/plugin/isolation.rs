//! `--plugin-isolation`: how much of the user's own rights a plugin gets, and what is granted to it.

use super::PluginOptions;
use super::confine::{Confinement, Sandbox};
use super::shared_object::host_args;
use crate::process::PrivateDirectory;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How much isolation is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// None: a placed plugin can do what the user can, as under kustomize.
    #[default]
    Off,
    /// What this system can enforce, and a warning for what it cannot.
    Auto,
    /// All of it and a cleared environment, or an error.
    Strict,
}

/// How plugins are isolated, and what they are granted.
#[derive(Clone, Debug, Default)]
pub struct Isolation {
    pub level: Level,
    /// Files and directories that plugins may read.
    pub read: Vec<PathBuf>,
    /// Files and directories that plugins may read and write.
    pub write: Vec<PathBuf>,
    /// Whether plugins may use the network.
    pub network: bool,
    /// What is left of the environment under [`Level::Strict`].
    pub variables: Vec<(String, OsString)>,
}

/// What one process of a plugin gets.
pub struct Grants {
    /// What it applies to itself.
    pub confinement: Confinement,
    /// Variables, beside those that it inherits.
    pub environment: Vec<(Cow<'static, str>, OsString)>,
    /// Whether it inherits the environment.
    pub inherits: bool,
    /// Where it may write, as long as this is here.
    own: Option<PrivateDirectory>,
}

impl Grants {
    /// Whether it may do less than the user.
    pub fn is_sandboxed(&self) -> bool {
        self.own.is_some()
    }
}

/// What is to be started, in place of a program that runs as it is.
pub struct Confined {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub grants: Grants,
}

impl Confined {
    /// A program that may do what the user may.
    pub fn as_it_is(program: &Path, args: Vec<OsString>) -> Confined {
        let grants = Grants { confinement: Confinement::default(), environment: Vec::new(), inherits: true, own: None };
        Confined { program: program.to_owned(), args, grants }
    }
}

impl PluginOptions {
    /// How to start a program with what it is granted: as it is, or through the process that confines itself and becomes it.
    ///
    /// # Errors
    /// There is no such process, or no place for temporary files.
    pub fn confined(&self, program: &Path, args: Vec<OsString>, paths: &[&Path]) -> std::io::Result<Confined> {
        // What is placed may lie behind links; the kernel looks at what they lead to.
        let real = program.canonicalize().ok();
        let folders = [Some(program), real.as_deref()].map(|path| path.and_then(Path::parent));
        let paths: Vec<&Path> = paths.iter().copied().chain(folders.into_iter().flatten()).collect();
        // The memory of an executable is not limited: it is the user's own choice, and runs as under kustomize.
        let grants = self.isolation.grants(None, &paths)?;
        if !grants.is_sandboxed() {
            return Ok(Confined { program: program.to_owned(), args, grants });
        }
        let host = self
            .host
            .clone()
            .ok_or_else(|| std::io::Error::other("this program has no process to isolate plugins in"))?;
        let mut all = host_args(&grants, &["exec".as_ref(), program.as_os_str()]);
        all.extend(args);
        Ok(Confined { program: host, args: all, grants })
    }
}

impl Isolation {
    /// What a process gets that may read `paths` besides what is granted to all. It writes in a directory of its own, which is its place for
    /// temporary files, and its home under strict isolation.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn grants(&self, memory: Option<u64>, paths: &[&Path]) -> std::io::Result<Grants> {
        if self.level == Level::Off {
            return Ok(Grants {
                confinement: Confinement { memory, sandbox: None },
                environment: Vec::new(),
                inherits: true,
                own: None,
            });
        }
        let own = PrivateDirectory::new("rustomize-plugin-")?;
        let strict = self.level == Level::Strict;
        let mut write = self.write.clone();
        write.push(own.path().to_owned());
        let read = self.read.iter().cloned().chain(paths.iter().map(|path| (*path).to_owned())).collect();
        let sandbox = Sandbox { strict, read, write, network: self.network };
        let mut environment: Vec<(Cow<'static, str>, OsString)> = vec![("TMPDIR".into(), own.path().into())];
        if strict {
            environment.push(("HOME".into(), own.path().into()));
            environment.extend(self.variables.iter().map(|(name, value)| (name.clone().into(), value.clone())));
        }
        Ok(Grants {
            confinement: Confinement { memory, sandbox: Some(sandbox) },
            environment,
            inherits: !strict,
            own: Some(own),
        })
    }
}
