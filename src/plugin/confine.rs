//! What the process of a plugin may do and take, applied by that process to itself before it loads
//! any of the plugin's code.
//!
//! The process leaves the session of the user, and so the terminal, and gives up the capabilities of
//! root. Landlock restricts files and TCP; of the system's calls the process keeps those on a list
//! (`calls.rs`). A placed plugin runs without all that, as under kustomize (K20);
//! `--plugin-isolation` asks for it.

#[cfg(target_os = "linux")]
use super::calls::{self, Choice};
#[cfg(target_os = "linux")]
use super::mounts;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// What is applied. It travels as JSON, in an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Bytes of address space.
    pub memory: Option<u64>,
    /// `None` for a process that may do what the user may.
    pub sandbox: Option<Sandbox>,
}

/// A process that may read what it needs to run and what it is granted, and write what it is
/// granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Whether it is an error if the system cannot enforce a part.
    pub strict: bool,
    /// Files and directories that may be read, beside those of the system.
    pub read: Vec<PathBuf>,
    /// Files and directories that may be read and written.
    pub write: Vec<PathBuf>,
    /// Whether the network may be used.
    pub network: bool,
    /// Whether UNIX sockets may be connected to: every one that the user may connect to, because a
    /// filter of system calls sees no paths.
    #[serde(default)]
    pub sockets: bool,
    /// Whether modes, owners and times of files may be changed where this system gives a process no
    /// view of the files of its own, and all files of the user are within reach: for what installs
    /// something.
    #[serde(default)]
    pub modes: bool,
}

/// Where programs and libraries are, and what they ask the system for. What of it is not there does
/// not count.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/proc",
    "/nix/store",
    "/run/current-system",
];

/// Devices that every program may use.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// A part of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// One word.
    pub name: Cow<'static, str>,
    /// What holds where it is enforced.
    pub effect: Cow<'static, str>,
    /// What does not hold, because this system cannot enforce it.
    pub missing: Option<String>,
}

impl Part {
    fn new(name: &'static str, effect: &'static str, missing: Option<String>) -> Part {
        Part { name: name.into(), effect: effect.into(), missing }
    }
}

impl Confinement {
    /// Applies it to this process, which has one thread yet. Gives what the system cannot enforce,
    /// in words.
    ///
    /// # Errors
    /// The system refuses, or lacks what a strict sandbox needs.
    pub fn apply(&self) -> io::Result<Vec<String>> {
        let parts = self.report()?;
        let missing = parts.into_iter().filter_map(|part| part.missing).collect();
        self.sandbox.as_ref().map_or(Ok(Vec::new()), |sandbox| sandbox.decide(missing))
    }

    /// Applies it to this process, as far as the system goes, and gives the parts of the sandbox.
    ///
    /// # Errors
    /// The system refuses a limit, or leaves this process half way.
    pub fn report(&self) -> io::Result<Vec<Part>> {
        // No memory dump: it would hold what the plugin was given.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        if let Some(bytes) = self.memory {
            setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
        }
        // Where memory ends for all, the plugin goes and not the build. A system without this file
        // has no such choice.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        self.sandbox.as_ref().map_or(Ok(Vec::new()), Sandbox::enter)
    }
}

impl Sandbox {
    /// What is missing is said, or an error.
    fn decide(&self, missing: Vec<String>) -> io::Result<Vec<String>> {
        if missing.is_empty() || !self.strict {
            return Ok(missing);
        }
        Err(io::Error::other(format!("strict isolation is not to be had here: {}", missing.join("; "))))
    }
}

#[cfg(not(target_os = "linux"))]
impl Sandbox {
    fn enter(&self) -> io::Result<Vec<Part>> {
        let missing = "files, network and system calls are not restricted: this is not Linux".to_owned();
        Ok(vec![Part::new("sandbox", "files, network and system calls are restricted", Some(missing))])
    }
}

#[cfg(target_os = "linux")]
impl Sandbox {
    /// Enters it, as far as the system goes.
    fn enter(&self) -> io::Result<Vec<Part>> {
        let words = |what: &str, e: &dyn std::fmt::Display| Some(format!("{what}: {e}"));
        let session = leave_session().err().and_then(|e| words("the terminal is not out of reach", &e));
        // Before the capabilities, which mounting takes, and before Landlock, which forbids it.
        let view = mounts::read_only_but(&self.write)?;
        let capabilities = drop_capabilities().err().and_then(|e| words("the capabilities of root are kept", &e));
        let files = self.restrict_files();
        let choice = Choice { network: self.network, sockets: self.sockets, modes: view.is_ok() || self.modes };
        let calls = calls::restrict(choice).err();
        let modes = view.as_ref().err().filter(|_| calls.is_some() || self.modes);
        let modes = modes.and_then(|e| words("modes, owners and times of files can be changed", e));
        let calls = calls.and_then(|e| words("system calls and sockets are not restricted", &e));
        let mut parts = vec![
            Part::new("session", "the terminal is out of reach", session),
            Part::new("capabilities", "those of root are given up", capabilities),
        ];
        parts.extend(of_landlock(files));
        let effect = match view {
            Ok(()) => "those of files that may not be written stay, as do owners, times and attributes".into(),
            Err(e) => format!("a plugin changes none, not even its own files', for lack of its own mounts: {e}").into(),
        };
        parts.push(Part { effect, ..Part::new("modes", "", modes) });
        parts.push(Part::new("calls", "system calls and sockets are those on a list", calls));
        Ok(parts)
    }

    /// Gives the kernel's version of Landlock; 0 for none.
    fn restrict_files(&self) -> Result<i32, landlock::RulesetError> {
        use landlock::{
            ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope, path_beneath_rules,
        };
        // What a kernel knows of this is enforced; the oldest one that has Landlock knows what
        // matters: reading and writing.
        let all = AccessFs::from_all(ABI::V5);
        let mut rules = Ruleset::default().handle_access(all)?.scope(Scope::from_all(ABI::V6))?;
        if !self.network {
            rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        let read = SYSTEM.iter().map(PathBuf::from).chain(self.read.iter().cloned());
        let write = DEVICES.iter().map(PathBuf::from).chain(self.write.iter().cloned());
        let status = rules
            .create()?
            .add_rules(path_beneath_rules(read, AccessFs::from_read(ABI::V5)))?
            .add_rules(path_beneath_rules(write, all))?
            .restrict_self()?;
        Ok(match status.landlock {
            landlock::LandlockStatus::Available { effective_abi, kernel_abi } => {
                kernel_abi.unwrap_or(effective_abi as i32)
            }
            _ => 0,
        })
    }
}

/// Leaves the session of whoever started this process, and with it the terminal. The leader of a
/// process group cannot do so, and goes back into the group of its parent first.
#[cfg(target_os = "linux")]
fn leave_session() -> io::Result<()> {
    use rustix::process::{getpgid, getppid, setpgid, setsid};
    setpgid(None, Some(getpgid(getppid())?))?;
    setsid()?;
    Ok(())
}

/// Gives up what root may do besides owning files; no program that is started gets it back.
#[cfg(target_os = "linux")]
fn drop_capabilities() -> io::Result<()> {
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
    };
    if capabilities(None)?.permitted.is_empty() {
        return Ok(());
    }
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel does not know the newest ones.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// The parts that are Landlock's: which version of it knows them, what it restricts, and what else
/// is possible.
#[cfg(target_os = "linux")]
const LANDLOCK: [(i32, &str, &str, &str); 5] = [
    (1, "files", "only what is granted can be read and written", "files are not restricted"),
    (3, "truncation", "only what may be written can be truncated", "files can be truncated"),
    (4, "TCP", "ports are closed without the network", "TCP is not restricted"),
    (5, "devices", "they cannot be controlled", "devices can be controlled"),
    (6, "signals", "those to other processes are refused", "signals to other processes are not restricted"),
];

/// Those parts, with what this kernel's version lacks.
#[cfg(target_os = "linux")]
fn of_landlock(version: Result<i32, landlock::RulesetError>) -> impl Iterator<Item = Part> {
    let lacks = move |since: i32| match &version {
        Err(e) => Some(e.to_string()),
        Ok(version) if *version >= since => None,
        Ok(0) => Some("this kernel has no Landlock".to_owned()),
        Ok(_) => Some(format!("this kernel's Landlock is older than version {since}")),
    };
    LANDLOCK.into_iter().map(move |(since, name, effect, otherwise)| {
        Part::new(name, effect, lacks(since).map(|why| format!("{otherwise}: {why}")))
    })
}

#[cfg(test)]
mod tests {
    use super::{Confinement, Sandbox};

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
            read: vec!["/a".into()],
            write: Vec::new(),
            network: false,
            sockets: true,
            modes: true,
        };
        let confinement = Confinement { memory: Some(1 << 40), sandbox: Some(sandbox) };
        let text = serde_json::to_string(&confinement).unwrap();
        assert_eq!(serde_json::from_str::<Confinement>(&text).unwrap(), confinement);
    }
}
