//! `--plugin-isolation`: how much of the user's rights a plugin gets, and its grants.

use super::PluginOptions;
use super::confinement::{Confinement, Sandbox, SandboxPart};
use super::permissions::{self, Permissions};
use rustomize_base::host::Host;
use rustomize_base::search_path::SearchPath;
use rustomize_process::{Children, Inherited, Launch, Limits, PrivateDirectory, Variable};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that says how names become addresses; on many systems a link to elsewhere.
const RESOLVER: &str = "/etc/resolv.conf";

/// The variables that name the place for temporary files.
const TEMPORARY: &[&str] = if cfg!(windows) { &["TEMP", "TMP", "TMPDIR"] } else { &["TMPDIR"] };

/// The variables that name the home and the user's files.
const HOME: &[&str] = if cfg!(windows) { &["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] } else { &["HOME"] };

/// Variables of the system without which few programs start.
const SYSTEM: &[&str] = if cfg!(windows) { &["SystemRoot", "SystemDrive", "ComSpec", "PATH", "PATHEXT"] } else { &[] };

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
pub(super) struct Grants {
    /// The restrictions that the process applies to itself.
    confinement: Confinement,
    /// The variables of the sandbox.
    variables: Vec<Variable>,
    /// The variables of this process that the plugin has.
    inherits: Inherited,
    /// The directory that the process may write to; `None` without a sandbox.
    own: Option<PrivateDirectory>,
}

impl Grants {
    /// Lets the helper of the host start a program with these rights. `words` are for the helper.
    pub(super) fn launched(self, launch: Launch, helper: PathBuf, words: &[&str]) -> Launch {
        let confinement = serde_json::to_string(&self.confinement).unwrap_or_default();
        let args = [ARGUMENT, &confinement].into_iter().chain(words.iter().copied());
        let launch = launch.through(helper, args.map(OsString::from)).variables(self.variables);
        let launch = Launch { inherits: self.inherits, ..launch };
        match self.own {
            Some(own) => launch.keeping(own),
            None => launch,
        }
    }
}

/// The parts of a sandbox, as a process of `helper` reports that confines itself; `None` if there
/// is no such process.
pub fn parts(children: &Children, helper: &Path) -> Option<Vec<SandboxPart>> {
    let confinement = Confinement { sandbox: Some(Sandbox::default()) };
    let confinement = serde_json::to_string(&confinement).ok()?;
    let limits = Limits { timeout: Some(Duration::from_secs(10)), output: 1 << 16, ..Limits::default() };
    let launch = Launch::new(helper).args([ARGUMENT, &confinement, "report"]).limited(limits);
    serde_json::from_slice(&children.run(launch).ok()?).ok()
}

impl PluginOptions {
    /// Restricts a program to the rights that it is granted: a process of the helper confines
    /// itself and becomes the program. Without isolation the program is started as it is.
    ///
    /// # Errors
    /// The helper is missing, or the system refuses a descriptor or a directory for temporary
    /// files.
    pub fn confined(&self, launch: Launch, isolation: &Isolation) -> std::io::Result<Launch> {
        let launch = launch.opened()?;
        if isolation.level == Level::Off {
            return Ok(launch);
        }
        let places = [&launch.program].into_iter().chain(&launch.calls).flat_map(|program| self.places(program));
        let called = launch.calls.iter().filter(|path| path.is_absolute()).cloned();
        let paths: Vec<PathBuf> = places.chain(called).chain(launch.reads.iter().cloned()).collect();
        let grants = isolation.grants(self, &paths)?;
        let helper = self.helper().map_err(|lack| std::io::Error::other(format!("{lack} to isolate plugins in")))?;
        Ok(grants.launched(launch, helper, &["exec"]))
    }
}

impl PluginOptions {
    /// The paths that a program needs to run: its file, that behind a link, their directories, and
    /// the libraries of an interpreter outside of the system's directories. A directory that holds
    /// the user's home, or is it, is not one of them.
    pub(super) fn places(&self, program: &Path) -> Vec<PathBuf> {
        // A name alone is looked for in PATH, as it is when the program starts.
        let program = match program.components().count() {
            1 => SearchPath::of(&*self.host).find(program, rustomize_files::is_program),
            _ => Some(program.to_owned()),
        };
        // A placed plugin may be a link; the kernel checks the file that it leads to.
        let real = program.as_ref().and_then(|program| dunce::canonicalize(program).ok());
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
    /// environment and a home of its own. The granted variables are those of `host`.
    #[must_use]
    pub fn of_installed(&self, granted: &Permissions, host: &dyn Host) -> Isolation {
        let (read, write) = granted.paths(host.variable("HOME").map(PathBuf::from).as_deref());
        let mut isolation = self.clone();
        isolation.level = self.installed;
        isolation.is_apart = self.installed != Level::Off;
        isolation.read.extend(read);
        isolation.write.extend(write);
        isolation.network |= granted.network;
        isolation.sockets.extend(granted.sockets.iter().map(PathBuf::from));
        isolation.variables.extend(granted.env.iter().map(|name| (name.clone(), host.variable(name))));
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
    pub(super) fn grants(&self, options: &PluginOptions, paths: &[PathBuf]) -> std::io::Result<Grants> {
        if self.level == Level::Off {
            return Ok(Grants {
                confinement: Confinement { sandbox: None },
                variables: Vec::new(),
                inherits: Inherited::All,
                own: None,
            });
        }
        let own = options.children.directory("rustomize-plugin-")?;
        let strict = self.level == Level::Strict;
        let is_apart = strict || self.is_apart;
        let mut write = self.write.clone();
        write.push(permissions::real(own.path()));
        let resolver = dunce::canonicalize(RESOLVER).ok().filter(|_| self.network);
        let paths = paths.iter().map(|path| permissions::real(path));
        let read = self.read.iter().cloned().chain(paths).chain(resolver).collect();
        let sockets = !self.sockets.is_empty();
        let processes = options.process_limit;
        let (network, modes) = (self.network, self.modes);
        let sandbox = Sandbox { strict, read, write, network, sockets, modes, processes };
        let own_place = |name: &&'static str| (Cow::from(*name), own.path().into());
        let mut variables: Vec<Variable> = TEMPORARY.iter().map(own_place).collect();
        if is_apart {
            variables.extend(HOME.iter().map(own_place));
            let of_system = SYSTEM.iter().filter_map(|name| Some(((*name).into(), options.host.variable(name)?)));
            variables.extend(of_system);
            let set = self.variables.iter().filter_map(|(name, value)| Some((name.clone().into(), value.clone()?)));
            variables.extend(set);
        }
        Ok(Grants {
            confinement: Confinement { sandbox: Some(sandbox) },
            variables,
            inherits: if is_apart { Inherited::Nothing } else { Inherited::All },
            own: Some(own),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Isolation, Level, RESOLVER};
    use crate::PluginOptions;

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
