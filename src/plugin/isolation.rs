//! `--plugin-isolation`: how much of the user's own rights a plugin gets, and what is granted to
//! it.

use super::PluginOptions;
use super::confine::{Confinement, Part, Sandbox};
use super::permissions::{self, Permissions};
use rustomize_process::{Call, Children, Limits, PrivateDirectory};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that says how names become addresses; on many systems a link to elsewhere.
const RESOLVER: &str = "/etc/resolv.conf";

/// The first argument of a program that is asked to be the process of a plugin. Two versions of the
/// tool do not understand each other.
pub const ARGUMENT: &str = concat!("__plugin-host@", env!("CARGO_PKG_VERSION"));

/// How much isolation is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// None: a placed plugin can do what the user can, as under kustomize.
    #[default]
    Off,
    /// Restrict plugins as far as this system can, and warn of the parts that it cannot enforce.
    Auto,
    /// Clear the environment, and fail if this system cannot enforce a part.
    Strict,
}

impl Level {
    /// The level at which a plugin describes itself, and at which the tools run that install it:
    /// those have a sandbox in any case, and a strict one where plugins have a strict one.
    pub fn at_least_auto(self) -> Level {
        match self {
            Level::Strict => Level::Strict,
            Level::Auto | Level::Off => Level::Auto,
        }
    }
}

/// How plugins are isolated, and what they are granted.
#[derive(Clone, Debug, Default)]
pub struct Isolation {
    pub level: Level,
    /// The level of installed plugins, which nobody has placed by hand.
    pub installed: Level,
    /// True if plugins get an environment and a home of their own, as always under
    /// [`Level::Strict`].
    pub is_apart: bool,
    /// Files and directories that plugins may read, without links: what is a link when a plugin
    /// starts is not opened.
    pub read: Vec<PathBuf>,
    /// Files and directories that plugins may read and write, without links.
    pub write: Vec<PathBuf>,
    /// True if plugins may use the network.
    pub network: bool,
    /// UNIX sockets that plugins may connect to: with one of them, to all.
    pub sockets: Vec<PathBuf>,
    /// True if plugins may change the modes, owners and times of any file of the user where the
    /// system cannot give them their own view of the file system: the tools of languages need that.
    pub modes: bool,
    /// The variables that remain in an environment of its own; `None` for a variable that is not
    /// set.
    pub variables: Vec<(String, Option<OsString>)>,
}

/// The rights of one process of a plugin.
pub struct Grants {
    /// The restrictions that it applies to itself.
    pub confinement: Confinement,
    /// Variables, beside those that it inherits.
    pub environment: Vec<(Cow<'static, str>, OsString)>,
    /// True if it inherits the environment.
    pub inherits: bool,
    /// Where it may write, as long as this is here.
    own: Option<PrivateDirectory>,
}

impl Grants {
    /// The arguments of a program that is asked to be the process of a plugin.
    pub fn host_args(&self, more: &[&OsStr]) -> Vec<OsString> {
        let confinement = serde_json::to_string(&self.confinement).unwrap_or_default();
        let mut args: Vec<OsString> = vec![ARGUMENT.into(), confinement.into()];
        args.extend(more.iter().map(OsString::from));
        args
    }

    /// Returns whether it may do less than the user.
    pub fn is_sandboxed(&self) -> bool {
        self.own.is_some()
    }
}

/// The command that starts a program, under its restrictions if it has any.
pub struct Confined {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub grants: Grants,
    /// The file of the program, open until it is started.
    pub inherited: Option<File>,
}

/// The parts of a sandbox, as a process of `host` says that confines itself; `None` if there is no
/// such process.
pub fn parts(children: &Children, host: &Path) -> Option<Vec<Part>> {
    let confinement = Confinement { sandbox: Some(Sandbox::default()) };
    let confinement = serde_json::to_string(&confinement).ok()?;
    let args = [ARGUMENT, &confinement, "report"].map(OsString::from).to_vec();
    let call = Call {
        program: host,
        args,
        directory: None,
        environment: Vec::new(),
        inherits: true,
        without: &[],
        stdin: None,
    };
    let limits = Limits { timeout: Some(Duration::from_secs(10)), output: 1 << 16, ..Limits::default() };
    serde_json::from_slice(&children.run(call, &limits).ok()?).ok()
}

impl PluginOptions {
    /// How to start a program with what it is granted: as it is, or through the process that
    /// confines itself and becomes it.
    ///
    /// # Errors
    /// The host program or a directory for temporary files is missing.
    pub fn confined(
        &self,
        isolation: &Isolation,
        program: &Path,
        args: Vec<OsString>,
        paths: &[&Path],
    ) -> std::io::Result<Confined> {
        let folders = if isolation.level == Level::Off { Vec::new() } else { self.places(program) };
        let paths: Vec<&Path> = paths.iter().copied().chain(folders.iter().map(PathBuf::as_path)).collect();
        let grants = isolation.grants(self, &paths)?;
        if !grants.is_sandboxed() {
            return Ok(Confined { program: program.to_owned(), args, grants, inherited: None });
        }
        let host = self.host().map_err(|lack| std::io::Error::other(format!("{lack} to isolate plugins in")))?;
        let mut all = grants.host_args(&["exec".as_ref(), program.as_os_str()]);
        all.extend(args);
        Ok(Confined { program: host.to_owned(), args: all, grants, inherited: None })
    }
}

impl PluginOptions {
    /// The paths that a program needs to run: its file, that behind a link, their directories, and
    /// the libraries of an interpreter outside of the system's directories. A directory that holds
    /// the user's home, or is it, is not one of them.
    pub(super) fn places(&self, program: &Path) -> Vec<PathBuf> {
        let path = (self.variable)("PATH").unwrap_or_default();
        // A name alone is looked for in PATH, as the system does it.
        let mut named = std::env::split_paths(&path).map(|folder| folder.join(program)).filter(|path| path.is_file());
        let program = if program.components().count() == 1 { named.next() } else { Some(program.to_owned()) };
        // A placed plugin may be a link; the kernel checks the file that it leads to.
        let real = program.as_ref().and_then(|program| program.canonicalize().ok());
        let files: Vec<PathBuf> = [program, real].into_iter().flatten().collect();
        let folders = files.iter().filter_map(|path| path.parent());
        let with_libraries = folders.flat_map(|folder| {
            let libraries = folder.parent().filter(|_| folder.ends_with("bin")).map(|prefix| prefix.join("lib"));
            [Some(folder.to_owned()), libraries].into_iter().flatten()
        });
        let home = self.home().map(|home| permissions::real(&home));
        let holds_home = |folder: &PathBuf| {
            let folder = permissions::real(folder);
            folder.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(&folder))
        };
        let folders: Vec<PathBuf> = with_libraries.filter(|folder| !holds_home(folder)).collect();
        files.into_iter().chain(folders).collect()
    }
}

impl Isolation {
    /// That of an installed plugin, with what it was granted beside what all plugins get. It has an
    /// environment and a home of its own. `variable` gives those of this process.
    #[must_use]
    pub fn of_installed(&self, granted: &Permissions, variable: impl Fn(&str) -> Option<OsString>) -> Isolation {
        let (read, write) = granted.paths(variable("HOME").map(PathBuf::from).as_deref());
        let mut isolation = self.clone();
        isolation.level = self.installed;
        isolation.is_apart = self.installed != Level::Off;
        isolation.read.extend(read);
        isolation.write.extend(write);
        isolation.network |= granted.network;
        isolation.sockets.extend(granted.sockets.iter().map(PathBuf::from));
        isolation.variables.extend(granted.env.iter().map(|name| (name.clone(), variable(name))));
        isolation
    }

    /// The permissions that all plugins get.
    pub fn permissions(&self) -> Permissions {
        let texts = |paths: &[PathBuf]| paths.iter().filter_map(|path| path.to_str().map(str::to_owned)).collect();
        Permissions {
            network: self.network,
            read: texts(&self.read),
            write: texts(&self.write),
            sockets: texts(&self.sockets),
            env: self.variables.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// The permissions of a process that may read `paths` and the paths that every process may
    /// read. It writes to a directory of its own, which is its directory for temporary files, and
    /// its home under strict isolation.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn grants(&self, options: &PluginOptions, paths: &[&Path]) -> std::io::Result<Grants> {
        if self.level == Level::Off {
            return Ok(Grants {
                confinement: Confinement { sandbox: None },
                environment: Vec::new(),
                inherits: true,
                own: None,
            });
        }
        let own = options.children.directory("rustomize-plugin-")?;
        let strict = self.level == Level::Strict;
        let is_apart = strict || self.is_apart;
        let mut write = self.write.clone();
        write.push(permissions::real(own.path()));
        let resolver = std::fs::canonicalize(RESOLVER).ok().filter(|_| self.network);
        let paths = paths.iter().map(|path| permissions::real(path));
        let read = self.read.iter().cloned().chain(paths).chain(resolver).collect();
        let sockets = !self.sockets.is_empty();
        let processes = options.process_limit;
        let (network, modes) = (self.network, self.modes);
        let sandbox = Sandbox { strict, read, write, network, sockets, modes, processes };
        let mut environment: Vec<(Cow<'static, str>, OsString)> = vec![("TMPDIR".into(), own.path().into())];
        if is_apart {
            environment.push(("HOME".into(), own.path().into()));
            let set = self.variables.iter().filter_map(|(name, value)| Some((name.clone().into(), value.clone()?)));
            environment.extend(set);
        }
        Ok(Grants {
            confinement: Confinement { sandbox: Some(sandbox) },
            environment,
            inherits: !is_apart,
            own: Some(own),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Isolation, Level, RESOLVER};
    use crate::plugin::PluginOptions;

    /// Prints that the test is skipped. A machine that promises all that tests need with
    /// `RUSTOMIZE_TESTS` fails it.
    fn skip(why: &str) {
        let promised = std::env::var_os("RUSTOMIZE_TESTS").unwrap_or_default();
        assert!(!promised.to_string_lossy().starts_with("all"), "the test is skipped: {why}");
        println!("skipped: {why}");
    }

    #[test]
    fn network_grant_includes_resolv_conf() {
        let Ok(resolver) = std::fs::canonicalize(RESOLVER) else { return skip("no /etc/resolv.conf") };
        for network in [false, true] {
            let isolation = Isolation { level: Level::Auto, network, ..Isolation::default() };
            let sandbox = isolation.grants(&PluginOptions::default(), &[]).unwrap().confinement.sandbox.unwrap();
            assert_eq!(sandbox.read.contains(&resolver), network);
        }
    }
}
