//! The variables of the environment, the mask of permissions, and directories of other users.

use super::sandbox::build_like;
use super::secrets::as_ordinary_user;
use crate::support::plugins::{install, root, script, tree};
use crate::support::{Run, Tree, run, skip};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The paths below a directory that the group or others can write to.
fn open_to_others(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(path) = queue.pop() {
        let Ok(facts) = path.symlink_metadata() else { continue };
        if !facts.is_symlink() && facts.permissions().mode() & 0o022 != 0 {
            found.push(path.display().to_string());
        }
        if facts.is_dir() {
            queue.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// Runs the command with a mask of permissions.
fn with_mask(tree: &Tree, mask: &str, args: &[&str]) -> Run {
    let like = tree.command(args);
    #[expect(clippy::disallowed_methods, reason = "a shell sets the mask")]
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {mask}; exec \"$0\" \"$@\"")]).arg(like.get_program()).args(like.get_args());
    command.current_dir(tree.path()).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    run(&mut command)
}

#[test]
fn nothing_is_made_that_others_can_write_to() {
    let tree = tree();
    tree.write("../home/built", &script("1.0.0", "x"));
    let built = tree.home().join("built");
    for args in [
        &["plugin", "install", "--path", &built.to_string_lossy(), "h.io/acme/app"][..],
        &["build", "--enable-alpha-plugins"],
        &["plugin", "trust", "h.io/acme/app", "--from", "**"],
        &["plugin", "list"],
        &["build", "--enable-alpha-plugins"],
    ] {
        with_mask(&tree, "000", args).ok();
    }
    assert!(root(&tree).join("h.io/acme/app").is_dir());
    for place in [".config", ".cache"] {
        assert_eq!(open_to_others(&tree.home().join(place)), Vec::<String>::new());
    }
}

#[test]
fn a_variable_that_is_not_utf8_is_an_error_or_works() {
    let odd = OsStr::from_bytes(b"/tmp/\xff\xfe\x1b]0;t\x07/none");
    let variables = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "RUSTOMIZE_CONFIG_DIR",
        "RUSTOMIZE_PLUGIN_PATH",
        "RUSTOMIZE_TRUST",
    ];
    let tree = tree();
    let commands: [&[&str]; 7] = [
        &["doctor"],
        &["doctor", "-o", "json"],
        &["plugin", "list", "-o", "json"],
        &["plugin", "why", "-o", "json"],
        &["plugin", "trust"],
        &["plugin", "remove", "h.io/acme/app"],
        &["build", "--enable-alpha-plugins"],
    ];
    for variable in variables.into_iter().chain(["KUSTOMIZE_PLUGIN_HOME", "RUSTOMIZE_CACHE_DIR", "TMPDIR", "PATH"]) {
        for args in commands {
            let said = run(tree.command(args).env(variable, odd));
            assert!(matches!(said.status, Some(0 | 1)), "{variable} {args:?}: {}", said.stderr);
            assert!(!said.stderr.contains(['\u{1b}', '\u{7}']) && !said.stderr.contains("panicked"), "{}", said.stderr);
        }
    }
}

#[test]
fn paths_that_are_not_utf8_are_printed_as_json() {
    let tree = tree();
    let home = tree.home().join(OsStr::from_bytes(b"h\xff"));
    tree.write("../home/built", &script("1.0.0", "x"));
    let built = tree.home().join("built");
    let json = |args: &[&str]| {
        let text = run(tree.command(args).env("HOME", &home)).ok();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let install = json(&["plugin", "install", "-o", "json", "--path", &built.to_string_lossy(), "h.io/acme/app"]);
    assert!(install[0]["path"].as_str().unwrap().contains("/h\u{fffd}/.config/"), "{install}");
    assert!(json(&["plugin", "list", "-o", "json"])[0]["path"].is_string());
    assert!(json(&["plugin", "why", "-o", "json"]).is_array());
    let rule = run(tree.command(&["plugin", "trust", "h.io/acme/app", "--from", "**"]).env("HOME", &home)).ok();
    assert!(rule.contains("/trust.yaml: - {source: "), "{rule}");
    assert!(json(&["doctor", "-o", "json"])["trust"]["path"].is_string());
    assert!(json(&["plugin", "remove", "h.io/acme/app", "-o", "json"])[0]["path"].is_string());
}

#[test]
fn a_relative_home_does_not_lead_into_the_tree() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "planted")).ok();
    fs::rename(tree.home().join(".config"), tree.path().join(".config")).unwrap();
    for (variable, value) in
        [("HOME", "."), ("HOME", ""), ("XDG_CONFIG_HOME", ".config"), ("XDG_CONFIG_HOME", "./.config")]
    {
        let said = run(tree.command(&["build", "--enable-alpha-plugins"]).env(variable, value));
        said.fails_with(&["unable to find plugin root"]);
    }
    // An absolute path is the user's own.
    let own = tree.path().join(".config");
    let said = run(tree.command(&["build", "--enable-alpha-plugins"]).env("XDG_CONFIG_HOME", own));
    assert!(said.ok().contains("v: planted"));
}

/// Runs a command of an ordinary user after `mounts`, in a mount namespace of its own; `None` where
/// the system does not let this process mount.
fn after_mounts(mounts: &str, like: &Command) -> Option<Run> {
    let mut command = build_like(like, "unshare");
    command.args(["-m", "sh", "-c", &format!("{mounts} || exit 77; exec \"$0\" \"$@\"")]);
    command.arg(like.get_program()).args(like.get_args());
    let run = run(&mut command);
    let refused = run.status == Some(77) || run.stderr.starts_with("unshare: ");
    if refused {
        skip("this process may not mount");
    }
    (!refused).then_some(run)
}

#[test]
fn an_ordinary_user_needs_no_proc_that_can_be_written() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can make mounts for an ordinary user");
    }
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "isolated")).ok();
    let Some(mut command) = as_ordinary_user(&tree, &[]) else { return };
    command.args(["build", "--enable-alpha-plugins"]);
    let Some(run) = after_mounts("mount -o remount,bind,ro /proc", &command) else { return };
    assert!(run.ok().contains("v: isolated"));
    let Some(run) = after_mounts("mount -t tmpfs none /proc", &command) else { return };
    run.fails_with(&["without /proc this program has no process to isolate plugins in"]);
}

/// Replaces a plugin by another one of the same version on a file system that has `$1` pages beside
/// those for its file, then says what a build makes, and which files the plugin has.
const ON_A_FULL_DISK: &str = r#"
mount -t tmpfs -o size=400k none "$HOME/.config" || exit 77
cp -p "$HOME/old" "$HOME/app"
"$0" plugin install --path "$HOME/app" h.io/acme/app > /dev/null 2>&1 || exit 1
cp -p "$HOME/new" "$HOME/app"
needed=$(( ($(wc -c < "$HOME/new") + 4095) / 4096 + $1 ))
head -c $(( ($(stat -f -c %a "$HOME/.config") - needed) * 4096 )) /dev/zero > "$HOME/.config/filler"
"$0" plugin install --path "$HOME/app" h.io/acme/app > /dev/null 2>&1
echo "status: $?"
rm "$HOME/.config/filler"
"$0" build --enable-alpha-plugins || exit 1
echo files:
ls -A "$HOME/.config/rustomize/plugins/h.io/acme/app"
"#;

#[test]
fn a_full_disk_leaves_the_plugin_that_was_installed() {
    let (mut refused, mut replaced) = (0, 0);
    // A file has at least one page, so that these are too few, and then enough, for the files beside.
    for pages in 0..12 {
        let tree = tree();
        fs::create_dir(tree.home().join(".config")).unwrap();
        tree.write("../home/old", &script("1.0.0", "old"));
        tree.write("../home/new", &(script("1.0.0", "new") + &"#".repeat(60_000)));
        let like = tree.command(&[]);
        let mut command = build_like(&like, "unshare");
        let own = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
        command.args([own, "sh", "-c", ON_A_FULL_DISK]).arg(like.get_program()).arg(pages.to_string());
        let run = run(&mut command);
        if run.status == Some(77) || run.stderr.starts_with("unshare: ") {
            return skip("this process may not mount");
        }
        let out = run.ok();
        let is_replaced = out.starts_with("status: 0\n");
        *if is_replaced { &mut replaced } else { &mut refused } += 1;
        assert!(out.contains(if is_replaced { "v: new" } else { "v: old" }), "{pages}: {out}");
        let files: Vec<&str> = out.lines().skip_while(|line| *line != "files:").skip(1).collect();
        assert!(
            files.iter().all(|file| file.starts_with("rustomize-plugin-")) && files.len() == 3,
            "{pages}: {files:?}"
        );
    }
    assert!(refused > 1 && replaced > 1, "{refused} refused, {replaced} replaced");
}
