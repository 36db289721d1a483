//! Links, pipes and odd names in the place of files.

use super::{Directory, Kind, is_refusal, name_fault, open, remove, shown};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A directory with a file `deep/file`, links to it and to a directory elsewhere, and a pipe.
fn tree() -> (tempfile::TempDir, Directory) {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    fs::create_dir_all(own.join("deep")).unwrap();
    fs::create_dir_all(folder.path().join("other/kept")).unwrap();
    fs::write(own.join("deep/file"), "content").unwrap();
    symlink("../other", own.join("out")).unwrap();
    symlink("deep", own.join("in")).unwrap();
    symlink("file", own.join("deep/link")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, own.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let held = Directory::open(&own).unwrap();
    (folder, held)
}

#[track_caller]
fn check_refused<T: std::fmt::Debug>(tried: io::Result<T>, name: &str) {
    let e = tried.unwrap_err();
    assert!(is_refusal(&e) && e.to_string().contains(name), "{e}");
}

#[test]
fn no_link_is_followed_below_a_directory() {
    let (folder, own) = tree();
    assert_eq!(own.read(Path::new("deep/file"), 7).unwrap(), b"content");
    check_refused(own.read(Path::new("in/file"), 7), "own/in'");
    check_refused(own.read(Path::new("deep/link"), 7), "deep/link'");
    check_refused(own.below(Path::new("out")), "own/out'");
    check_refused(own.make(Path::new("out/new"), 0o755), "own/out'");
    check_refused(own.write(Path::new("out/new"), b"", 0o644), "own/out'");
    check_refused(own.remove(Path::new("out/kept")), "own/out'");
    check_refused(own.permit(Path::new("deep/link"), 0o600), "deep/link'");
    check_refused(own.lock_file(Path::new("deep/link")), "deep/link'");
    check_refused(own.rename(Path::new("deep/file"), &own, Path::new("out/file")), "own/out'");
    for path in ["../other/kept", "/etc/passwd", "deep/../../other/kept", "", "."] {
        assert!(own.file(Path::new(path)).is_err(), "{path}");
        assert!(own.remove(Path::new(path)).is_err(), "{path}");
    }
    // A link is removed, replaced and renamed itself.
    own.write(Path::new("deep/link"), b"new", 0o640).unwrap();
    assert_eq!(own.facts(Path::new("deep/link")).unwrap().mode, 0o640);
    own.rename(Path::new("out"), &own, Path::new("gone")).unwrap();
    own.remove(Path::new("gone")).unwrap();
    own.remove(Path::new("gone")).unwrap();
    assert_eq!(own.read(Path::new("deep/file"), 7).unwrap(), b"content");
    assert!(folder.path().join("other/kept").is_dir());
}

#[test]
fn only_plain_files_are_read_and_no_pipe_is_waited_for() {
    let (folder, own) = tree();
    check_refused(own.file(Path::new("pipe")), "own/pipe'");
    check_refused(open(&folder.path().join("own/pipe")), "own/pipe'");
    check_refused(open(Path::new("/dev/null")), "/dev/null'");
    assert_eq!(open(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    let through = open(&folder.path().join("own/deep/link")).unwrap();
    assert_eq!((through.facts().kind, through.facts().size), (Kind::File, 7));
    let too_large = through.read_all(6).unwrap_err();
    assert_eq!(too_large.kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(own.file(Path::new("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_directory_stays_the_one_that_was_opened() {
    let (folder, own) = tree();
    fs::rename(folder.path().join("own"), folder.path().join("moved")).unwrap();
    symlink("other", folder.path().join("own")).unwrap();
    own.write(Path::new("new"), b"x", 0o600).unwrap();
    assert!(folder.path().join("moved/new").is_file() && !folder.path().join("other/new").exists());
}

#[test]
fn a_tree_is_removed_and_its_links_are_not_followed() {
    let (folder, own) = tree();
    fs::set_permissions(folder.path().join("own/deep"), fs::Permissions::from_mode(0o0)).unwrap();
    remove(&folder.path().join("own")).unwrap();
    remove(&folder.path().join("own")).unwrap();
    assert!(own.entries().unwrap().is_empty() && folder.path().join("other/kept").is_dir());
}

#[test]
fn a_walk_finds_all_and_has_a_limited_depth() {
    let (_folder, own) = tree();
    let mut found = Vec::new();
    own.walk(&mut |member| {
        found.push((member.path.to_str().unwrap().to_owned(), member.kind));
        Ok(true)
    })
    .unwrap();
    let expected = [
        ("deep", Kind::Directory),
        ("deep/file", Kind::File),
        ("deep/link", Kind::Link),
        ("in", Kind::Link),
        ("out", Kind::Link),
        ("pipe", Kind::Other),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    own.make(Path::new(&"d/".repeat(200)), 0o755).unwrap();
    let e = own.walk(&mut |_| Ok(true)).unwrap_err();
    assert!(e.to_string().contains("deeper than"), "{e}");
}

#[test]
fn names_that_can_pass_for_others_have_a_fault() {
    for name in ["a\nb", "a\rb", "\u{1b}[2J", "a\u{85}b", "a\u{202e}b", "a\u{2028}b", "\u{7f}"] {
        assert!(name_fault(OsStr::new(name)).is_some(), "{name:?}");
        assert!(!shown(OsStr::new(name)).chars().any(|c| c.is_control() || c == '\u{202e}'), "{name:?}");
    }
    assert!(name_fault(std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff")).is_some());
    assert!(name_fault(OsStr::new("grün name.py")).is_none());
}
