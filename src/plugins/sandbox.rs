//! How a process gives up the rights that a sandbox does not grant it, on Linux.

use super::confinement::{Sandbox, SandboxPart};
use super::mounts::{self, open_without_links};
use super::system_calls::{self, CallPermissions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::process::{parent_process_death_signal, set_parent_process_death_signal};
use std::io;
use std::path::PathBuf;

/// Directories of programs and libraries, and of what they ask the system for. Missing ones do not
/// count.
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

/// Restricts this process to a sandbox, as far as the system can.
///
/// # Errors
/// The system leaves this process half way.
pub(crate) fn enter(sandbox: &Sandbox) -> io::Result<Vec<SandboxPart>> {
    let words = |what: &str, e: &dyn std::fmt::Display| Some(format!("{what}: {e}"));
    // The system forgets, with other rights of this process, that it ends with its keeper.
    let signal = parent_process_death_signal()?;
    let session = leave_session().err().and_then(|e| words("the terminal is not out of reach", &e));
    // Before the capabilities, which mounting takes, and before Landlock, which forbids it.
    let view = mounts::read_only_but(&sandbox.write)?;
    // The count is that of the namespace from here on. Without one it would be that of the user.
    if let Some(most) = sandbox.processes.filter(|_| view.is_own_user) {
        // A limit that was set before can only be lowered.
        let most = getrlimit(Resource::Nproc).maximum.map_or(most, |before| before.min(most));
        setrlimit(Resource::Nproc, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    let capabilities = drop_capabilities().err().and_then(|e| words("the capabilities of root are kept", &e));
    let files = restrict_files(sandbox);
    let choice = CallPermissions {
        network: sandbox.network,
        sockets: sandbox.sockets,
        modes: view.lack.is_none() || sandbox.modes,
    };
    let calls = system_calls::restrict(choice).err();
    let modes = view.lack.as_ref().filter(|_| calls.is_some() || sandbox.modes);
    let modes = modes.and_then(|e| words("modes, owners and times of files can be changed", e));
    let calls = calls.and_then(|e| words("system calls and sockets are not restricted", &e));
    let mut parts = vec![
        SandboxPart::new("session", "the terminal is out of reach", session),
        SandboxPart::new("capabilities", "those of root are given up", capabilities),
    ];
    parts.extend(of_landlock(files));
    let effect = match view.lack {
        None => "those of files that may not be written stay, as do owners, times and attributes".into(),
        Some(e) => format!("a plugin changes none, not even its own files', for lack of its own mounts: {e}").into(),
    };
    parts.push(SandboxPart { effect, ..SandboxPart::new("modes", "", modes) });
    parts.push(SandboxPart::new("calls", "system calls and sockets are those on a list", calls));
    let effect = match view.is_own_user {
        true => "the kernel limits the number of a plugin's processes",
        false => "the number of a plugin's processes is looked at several times a second, and limited",
    };
    parts.push(SandboxPart::new("processes", effect, None));
    let effect = "the kernel limits that of each process; that of all together is looked at several times a second";
    parts.push(SandboxPart::new("memory", effect, None));
    set_parent_process_death_signal(signal)?;
    Ok(parts)
}

/// Gives the kernel's version of Landlock; 0 for none.
fn restrict_files(sandbox: &Sandbox) -> Result<i32, landlock::RulesetError> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, Scope, path_beneath_rules,
    };
    // The kernel enforces the rights that it knows; the oldest one with Landlock knows the
    // important ones, for reading and writing.
    let all = AccessFs::from_all(ABI::V5);
    let mut rules = Ruleset::default().handle_access(all)?.scope(Scope::from_all(ABI::V6))?;
    if !sandbox.network {
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    // Only the paths of the system may lead through links.
    let granted = |paths: &[PathBuf], access: BitFlags<AccessFs>| -> Vec<_> {
        let opened = paths.iter().filter_map(|path| open_without_links(path).ok());
        let rules = opened.map(|(opened, is_directory)| {
            let access = if is_directory { access } else { access & AccessFs::from_file(ABI::V5) };
            Ok::<_, RulesetError>(PathBeneath::new(opened, access))
        });
        rules.collect()
    };
    let reading = AccessFs::from_read(ABI::V5);
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, reading))?
        .add_rules(path_beneath_rules(DEVICES, all))?
        .add_rules(granted(&sandbox.read, reading))?
        .add_rules(granted(&sandbox.write, all))?
        .restrict_self()?;
    Ok(match status.landlock {
        landlock::LandlockStatus::Available { effective_abi, kernel_abi } => kernel_abi.unwrap_or(effective_abi as i32),
        _ => 0,
    })
}

/// Leaves the session of the parent process, and so the terminal. The leader of a process group
/// cannot do so, and first returns to the group of its parent.
fn leave_session() -> io::Result<()> {
    use rustix::process::{getpgid, getppid, setpgid, setsid};
    setpgid(None, Some(getpgid(getppid())?))?;
    setsid()?;
    Ok(())
}

/// Gives up what root may do besides owning files; no program that is started gets it back.
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

/// The parts of Landlock: the version that knows a part, the part, and what is possible without it.
const LANDLOCK: [(i32, &str, &str, &str); 5] = [
    (1, "files", "only what is granted can be read and written", "files are not restricted"),
    (3, "truncation", "only what may be written can be truncated", "files can be truncated"),
    (4, "TCP", "ports are closed without the network", "TCP is not restricted"),
    (5, "devices", "they cannot be controlled", "devices can be controlled"),
    (6, "signals", "those to other processes are refused", "signals to other processes are not restricted"),
];

/// The parts of Landlock, with those that this kernel lacks.
fn of_landlock(version: Result<i32, landlock::RulesetError>) -> impl Iterator<Item = SandboxPart> {
    let lacks = move |since: i32| match &version {
        Err(e) => Some(e.to_string()),
        Ok(version) if *version >= since => None,
        Ok(0) => Some("this kernel has no Landlock".to_owned()),
        Ok(_) => Some(format!("this kernel's Landlock is older than version {since}")),
    };
    LANDLOCK.into_iter().map(move |(since, name, effect, otherwise)| {
        SandboxPart::new(name, effect, lacks(since).map(|why| format!("{otherwise}: {why}")))
    })
}
