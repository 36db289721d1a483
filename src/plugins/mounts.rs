//! A confined process gets its own view of the file system: everything except the paths that it may
//! write to is mounted read-only. So the modes, owners, times and attributes of the user's files
//! cannot change, for which Landlock knows no right.

use rustix::fs::{Access, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Where AppArmor says whether it takes the rights of a user namespace from whoever makes one.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Where a process says which user it is in a user namespace.
const USER_MAP: &str = "/proc/self/uid_map";

/// The view of the files that a process has.
pub(crate) struct View {
    /// Why the process has the view of its parent; then it has the rights that it had.
    pub lack: Option<io::Error>,
    /// True if it is in a user namespace of its own, in which the kernel counts its processes.
    pub is_own_user: bool,
}

/// Lets this process, which has one thread yet, change nothing but `write`, if this system allows
/// that. It costs a call of the system for each mount.
///
/// # Errors
/// The process is in a user namespace in which it cannot own files.
pub(crate) fn read_only_but(write: &[PathBuf]) -> io::Result<View> {
    let may_mount = capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN);
    let user = (rustix::process::geteuid(), rustix::process::getegid());
    let entered = if may_mount { unshare(UnshareFlags::NEWNS) } else { enter_user_namespace() };
    let is_own_user = entered.is_ok() && !may_mount;
    if is_own_user {
        let says = |e| io::Error::other(format!("this system allows a user namespace and no user in it: {e}"));
        keep_user(user.0.as_raw(), user.1.as_raw()).map_err(says)?;
    }
    Ok(View { lack: entered.and_then(|()| restrict(write)).err(), is_own_user })
}

fn enter_user_namespace() -> io::Result<()> {
    if fs::read_to_string(APPARMOR).is_ok_and(|text| text.trim() == "1") {
        return Err(io::Error::other(format!("{APPARMOR} is 1")));
    }
    // A process that has entered cannot go back: with a read-only /proc it would be nobody.
    rustix::fs::access(USER_MAP, Access::WRITE_OK)
        .map_err(|e| io::Error::other(format!("{USER_MAP} cannot be written: {e}")))?;
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)
}

/// In the namespace, all users but this one are nobody.
fn keep_user(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write(USER_MAP, format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    #[expect(deprecated, reason = "unsound for a table of descriptors that is shared; this is not asked for")]
    Ok(rustix::thread::unshare(flags)?)
}

/// Mounts what may be written once more, as it is, and everything else read-only.
fn restrict(write: &[PathBuf]) -> io::Result<()> {
    // Other processes do not see these mounts.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let mut write = topmost(write);
    // By descriptors of this view: a link that is at the path now leads nowhere.
    let bind = |path: &PathBuf| -> io::Result<()> {
        let (opened, _) = open_without_links(path)?;
        let place = format!("/proc/self/fd/{}", opened.as_raw_fd());
        Ok(mount_bind_recursive(&place, &place)?)
    };
    write.retain(|path| bind(path).is_ok());
    for (point, flags) in mounts(&fs::read("/proc/self/mountinfo")?) {
        if write.iter().any(|path| point.starts_with(path)) {
            continue;
        }
        match mount_remount(&point, MountFlags::BIND | MountFlags::RDONLY | flags, "") {
            // This process cannot reach a mount below a directory that it cannot enter, or below a
            // later mount.
            Ok(()) | Err(Errno::ACCESS | Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    take_over()
}

/// Opens a path in which no name is a link, as a place that can be granted or mounted. Says whether
/// it is a directory.
pub(super) fn open_without_links(path: &Path) -> io::Result<(OwnedFd, bool)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let mode = rustix::fs::fstat(&opened)?.st_mode;
    Ok((opened, FileType::from_raw_mode(mode).is_dir()))
}

/// Opens once more what was opened in the view before: the working directory and the null device.
fn take_over() -> io::Result<()> {
    if let Ok(directory) = rustix::process::getcwd(Vec::new()) {
        rustix::process::chdir(directory)?;
    }
    if fs::metadata("/proc/self/fd/0").is_ok_and(|stdin| stdin.file_type().is_char_device()) {
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    }
    Ok(())
}

/// The paths without those below others.
fn topmost(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = paths.to_vec();
    all.sort();
    all.dedup_by(|path, above| path.starts_with(above));
    all
}

/// The mount points, with the flags that a user namespace must not remove. Each line is `ID PARENT
/// DEVICE ROOT POINT FLAGS ...`.
fn mounts(info: &[u8]) -> Vec<(PathBuf, MountFlags)> {
    let mounts = info.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut words = line.split(|&byte| byte == b' ').skip(4);
        Some((unescaped(words.next()?), flags(words.next()?)))
    });
    mounts.collect()
}

fn flags(words: &[u8]) -> MountFlags {
    let flags = words.split(|&byte| byte == b',').map(|word| match word {
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        b"nosymfollow" => MountFlags::NOSYMFOLLOW,
        _ => MountFlags::empty(),
    });
    flags.collect()
}

/// A path in which blanks, newlines and backslashes are written as `\040`.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let code = after.first_chunk().filter(|_| *first == b'\\').and_then(|code: &[u8; 3]| octal(code));
        path.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(path))
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::{MountFlags, mounts, topmost};
    use std::path::{Path, PathBuf};

    #[test]
    fn mounts_are_read_with_their_flags() {
        let info = b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda rw\n22 21 0:5 / /mnt/a\\040b\\134 rw,nosuid,nodev,noatime - tmpfs t rw\n";
        let nosuid = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOATIME;
        let want = [("/", MountFlags::RELATIME), ("/mnt/a b\\", nosuid)];
        assert_eq!(mounts(info), want.map(|(path, flags)| (PathBuf::from(path), flags)));
    }

    #[test]
    fn a_path_below_another_is_not_mounted() {
        let paths = ["/usr/bin", "/usr", "/usrs", "/usr"].map(PathBuf::from);
        assert_eq!(topmost(&paths), [Path::new("/usr"), Path::new("/usrs")]);
    }
}
