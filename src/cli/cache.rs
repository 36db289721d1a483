//! The directory for data that can be fetched or made again: clones, downloads, programs that load
//! Go plugins.

use crate::user;
use crate::variable::variable;
use rustomize_sources::reach;
use std::path::{Path, PathBuf};

/// The variable that names the directory.
pub(super) const VARIABLE: &str = "RUSTOMIZE_CACHE_DIR";

/// The directory of the programs that load genuine Go plugins.
pub(super) fn go_hosts() -> Option<PathBuf> {
    Some(writable()?.join("go-hosts"))
}

/// A directory that this process can write to: [`of_user`], else one below the system's directory
/// for temporary files that no other user can reach. `None` for a process that may not read it.
pub(super) fn writable() -> Option<PathBuf> {
    if reach::is_limited() {
        return None;
    }
    of_user().filter(|path| is_named() || can_be_made(path)).or_else(|| private(&tempfile::env::temp_dir()))
}

/// The cache of this user: the directory in [`VARIABLE`], else
/// `${XDG_CACHE_HOME:-~/.cache}/rustomize`; for a superuser without a home `/var/cache/rustomize`,
/// on Windows `%LOCALAPPDATA%/rustomize/cache`, or, without that variable,
/// `%PROGRAMDATA%/rustomize/cache`. `None` for a process that may not read it.
pub(super) fn of_user() -> Option<PathBuf> {
    if reach::is_limited() {
        return None;
    }
    directory(cfg!(windows), user::is_root(), |name| variable(name).map(Into::into))
}

fn is_named() -> bool {
    variable(VARIABLE).is_some_and(|value| !value.is_empty())
}

/// The directory of [`of_user`] for a system, a user and an environment.
pub fn directory(is_windows: bool, is_root: bool, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|v| v.is_absolute());
    if let Some(named) = variable(VARIABLE).filter(|v| !v.as_os_str().is_empty()) {
        return std::path::absolute(named).ok();
    }
    if is_windows {
        // The second is open to other users: clones there are not trusted.
        let data = set("LOCALAPPDATA").or_else(|| set("PROGRAMDATA"))?;
        return Some(data.join("rustomize").join("cache"));
    }
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(caches.or_else(|| is_root.then(|| "/var/cache".into()))?.join("rustomize"))
}

/// Returns true if a directory exists and can be written to, or can be made.
fn can_be_made(path: &Path) -> bool {
    let Some(there) = path.ancestors().find(|above| above.symlink_metadata().is_ok()) else { return false };
    there.is_dir() && user::may_write_to(there)
}

/// A directory of this user alone below `parent`; see [`user::private_directory`].
fn private(parent: &Path) -> Option<PathBuf> {
    user::private_directory(parent).filter(|path| can_be_made(path))
}

#[cfg(test)]
mod tests {
    use super::{directory, private};
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn where_a_user_a_superuser_and_windows_keep_what_was_synced() {
        let with = |is_windows, is_root, known: &[(&str, &str)]| {
            let variable = |name: &str| known.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v));
            directory(is_windows, is_root, variable).map(|path| path.display().to_string())
        };
        let home = ("HOME", "/home/u");
        assert_eq!(with(false, false, &[home]).as_deref(), Some("/home/u/.cache/rustomize"));
        assert_eq!(with(false, true, &[home, ("XDG_CACHE_HOME", "/c")]).as_deref(), Some("/c/rustomize"));
        assert_eq!(with(false, true, &[]).as_deref(), Some("/var/cache/rustomize"));
        assert_eq!(with(false, false, &[]), None);
        assert_eq!(with(false, false, &[home, ("RUSTOMIZE_CACHE_DIR", "/k")]).as_deref(), Some("/k"));
        let data = ("PROGRAMDATA", "/data");
        assert_eq!(with(true, false, &[home, data]).as_deref(), Some("/data/rustomize/cache"));
        let local = ("LOCALAPPDATA", "/local");
        assert_eq!(with(true, false, &[home, data, local]).as_deref(), Some("/local/rustomize/cache"));
    }

    #[test]
    fn a_directory_among_temporary_files_is_used_only_if_it_is_private() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let parent = tempfile::tempdir().unwrap();
        let made = private(parent.path()).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(private(parent.path()), Some(made.clone()), "it is used again");
        for mode in [0o770, 0o707, 0o755] {
            set_mode(&made, mode);
            assert_eq!(private(parent.path()), None, "{mode:o}");
        }
        fs::remove_dir(&made).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        set_mode(elsewhere.path(), 0o700);
        symlink(elsewhere.path(), &made).unwrap();
        assert_eq!(private(parent.path()), None, "a link");
        fs::remove_file(&made).unwrap();
        fs::write(&made, "").unwrap();
        assert_eq!(private(parent.path()), None, "a file");
        assert_eq!(private(&made), None, "no directory to make it in");
        if rustix::process::geteuid().is_root() {
            fs::remove_file(&made).unwrap();
            fs::create_dir(&made).unwrap();
            set_mode(&made, 0o700);
            std::os::unix::fs::chown(&made, Some(1), None).unwrap();
            assert_eq!(private(parent.path()), None, "somebody else's");
        }
    }
}
