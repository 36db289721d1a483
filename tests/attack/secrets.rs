//! Configuration files that would stay behind, and what would run in the place of what was checked.

use crate::support::plugins::{install, require, root, script};
use crate::support::{Run, Tree, run};
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The command, as a user without the rights of root, started through other programs. `None` where
/// the machine does not allow that.
pub fn as_ordinary_user(tree: &Tree, through: &[&str]) -> Option<Command> {
    let top = tree.path().parent().unwrap().to_owned();
    // A number of its own: the system counts processes by user.
    let user = 20_000 + std::process::id() % 20_000;
    let mut words: Vec<String> = through.iter().map(|word| (*word).to_owned()).collect();
    if rustix::process::geteuid().is_root() {
        let program = top.join("rustomize");
        // Not by this process, whose other threads start programs: the copy would be busy.
        let copy = format!("[ -e '{0}' ] || cp '{1}' '{0}'", program.display(), crate::support::program());
        let given = sh(&format!("{copy}; chown -R {user}:{user} '{}'", top.display())).success();
        if !given || !sh("setpriv --version && prlimit --version").success() {
            crate::support::skip("no setpriv, or files cannot be given away");
            return None;
        }
        let user = [format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()];
        words.splice(0..0, ["setpriv".to_owned()].into_iter().chain(user));
        words.push(program.display().to_string());
    } else {
        words.push(crate::support::program().to_owned());
    }
    let like = tree.command(&[]);
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(tree.path()).env_clear().stdin(Stdio::null());
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command)
}

#[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
fn sh(line: &str) -> std::process::ExitStatus {
    Command::new("sh").args(["-c", line]).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
}

/// A tree with a placed generator.
fn tree(script: &str) -> Tree {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata: {name: g}\nsecret: word\n",
    );
    tree.plugin("Any", &format!("#!/bin/sh\n{script}\n"));
    tree
}

const BUILD: [&str; 2] = ["build", "--enable-alpha-plugins"];

fn start(tree: &Tree) -> Child {
    tree.command(&BUILD).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

/// Waits until a file exists, and gives its text.
fn wait_for(path: &PathBuf) -> String {
    for _ in 0..4000 {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    panic!("'{}' is not there", path.display())
}

/// The children of a process.
fn of_parent(parent: u32) -> impl Iterator<Item = i32> {
    let is_child = move |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        after.split(' ').nth(1) == Some(&parent.to_string())
    };
    let names = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).filter(is_child)
}

/// The program and the arguments of a process.
fn words(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

fn left(tree: &Tree) -> Vec<PathBuf> {
    fs::read_dir(tree.tmp()).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn signal_leaves_no_configuration_file() {
    for sent in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let tree = tree("echo > \"$HOME/started\"; sleep 60");
        let mut child = start(&tree);
        wait_for(&tree.home().join("started"));
        assert_eq!(left(&tree).len(), 1);
        signal(&child, sent);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{sent:?}");
        tree.assert_nothing_left();
    }
}

#[test]
fn signal_during_removal_leaves_no_configuration_file() {
    // Removing takes a while.
    let script = "cd \"${1%/*}\"; i=0; while [ $i -lt 4000 ]; do : > \"$i\"; i=$((i + 1)); done; pwd > \"$HOME/place\"";
    for sent in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let tree = tree(script);
        let mut child = start(&tree);
        let place = PathBuf::from(wait_for(&tree.home().join("place")).trim_end());
        while fs::read_dir(&place).is_ok_and(|entries| entries.count() > 4000) {}
        signal(&child, sent);
        let status = child.wait().unwrap();
        assert!(status.code().is_some(), "{sent:?}: {status}");
        tree.assert_nothing_left();
    }
}

#[test]
fn configuration_is_removed_despite_changed_permissions() {
    let tree =
        tree("d=\"${1%/*}/a\"; mkdir -p \"$d/b\"; : > \"$d/b/c\"; chmod 0 \"$d/b\"; chmod 500 \"$d\" \"${1%/*}\"");
    let Some(mut command) = as_ordinary_user(&tree, &[]) else { return };
    run(command.args(BUILD)).ok();
    tree.assert_nothing_left();
}

#[test]
fn configuration_left_by_a_killed_build_is_removed_by_the_next() {
    let tree = tree("echo $$ > \"$HOME/started\"; sleep 60");
    let kill = |child: &mut Child| {
        let plugin = wait_for(&tree.home().join("started"));
        fs::remove_file(tree.home().join("started")).unwrap();
        // Somebody also ends the process that would clean up at once.
        for pid in of_parent(child.id()).filter(|pid| words(*pid).contains("__warden@")) {
            kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        }
        signal(child, Signal::KILL);
        child.wait().unwrap();
        let _ = sh(&format!("kill -9 -{}", plugin.trim()));
    };
    kill(&mut start(&tree));
    let [forgotten] = &left(&tree)[..] else { panic!("{:?}", left(&tree)) };
    assert!(fs::read_to_string(forgotten.join("g.yaml")).unwrap().contains("secret: word"));
    // Files of others, or that others can read, stay; so do files of a running build.
    let mut running = start(&tree);
    wait_for(&tree.home().join("started"));
    let [running_place] = &left(&tree)[..] else { panic!("{:?}", left(&tree)) };
    assert_ne!(running_place, forgotten);
    let make = |name: &str, mode: u32| {
        let path = tree.tmp().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let mut stay = vec![
        make("rustomize-plugin-x.locked", 0o755),
        make("rustomize-plugin-x", 0o700),
        make("other.locked", 0o700),
        running_place.clone(),
    ];
    if rustix::process::geteuid().is_root() {
        let path = make("rustomize-plugin-y.locked", 0o700);
        std::os::unix::fs::chown(&path, Some(12345), Some(12345)).unwrap();
        stay.push(path);
    }
    let gone = make("rustomize-plugin-z.locked", 0o700);
    tree.plugin("Any", "#!/bin/sh\n");
    tree.run(&BUILD).ok();
    assert!(!gone.exists());
    assert!(stay.iter().all(|path| path.is_dir()), "{:?}", left(&tree));
    kill(&mut running);
}

#[test]
fn deep_directories_are_removed_too() {
    let tree = tree("exit 0");
    let top = tree.tmp().join("rustomize-plugin-x.locked");
    fs::create_dir(&top).unwrap();
    fs::set_permissions(&top, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(top.join("g.yaml"), "secret").unwrap();
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = open(&top, flags, Mode::empty()).unwrap();
    // The names are those that it might take for its own.
    for name in ["0-0-0", "1-0-0"].into_iter().chain(std::iter::repeat_n("d", 20_000)) {
        mkdirat(&directory, name, Mode::RWXU).unwrap();
        directory = openat(&directory, name, flags, Mode::empty()).unwrap();
    }
    tree.run(&BUILD).ok();
    tree.assert_nothing_left();
}

/// A build whose first plugin puts other content in the place of the second one, which was looked
/// at by then.
fn swapped(tree: &Tree, target: &str) -> Run {
    tree.write("kustomization.yaml", "generators: [a.yaml, g.yaml]\n");
    tree.write("a.yaml", "apiVersion: ex.io/v1\nkind: First\nmetadata: {name: a}\n");
    let made = "apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: other}\\n";
    tree.plugin(
        "First",
        &format!(
            "#!/bin/sh\nf=$(echo {target})\nprintf '#!/bin/sh\\nprintf \"{}\"\\n' > \"$f.new\"\nchmod 755 \"$f.new\"\nmv \"$f.new\" \"$f\"\n",
            made.replace('\\', "\\\\")
        ),
    );
    tree.build(&[])
}

#[test]
fn checked_program_is_the_one_that_runs() {
    let tree = crate::support::plugins::tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "own")).ok();
    let file = format!("{}/h.io/acme/app/rustomize-plugin-app_*[0-9a-z]4", root(&tree).display());
    let built = swapped(&tree, &file).ok();
    assert!(built.contains("v: own") && !built.contains("other"), "{built}");
    // It was another one's all the time.
    tree.build(&[]).fails_with(&["installed files that cannot be used: 1"]);
}

#[test]
fn checked_files_of_a_directory_are_those_that_run() {
    let tree = crate::support::plugins::tree();
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: bash\n\
         generators: [{apiVersion: ex.io/v1, kind: Made}]\n";
    tree.write("app/plugin.yaml", manifest);
    tree.write("app/main.sh", ". \"${0%/*}/lib.sh\"\n");
    tree.write(
        "app/lib.sh",
        "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: own}\\n'\n",
    );
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    tree.run(&["plugin", "install"]).ok();
    let file = format!("{}/h.io/acme/app/rustomize-plugin-app_*/lib.sh", root(&tree).display());
    let built = swapped(&tree, &file).ok();
    assert!(built.contains("v: own") && !built.contains("other"), "{built}");
}

#[test]
fn copy_that_describes_itself_reads_its_installed_files() {
    let tree = crate::support::plugins::tree();
    let head = "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: bash\n";
    tree.write("dep/plugin.yaml", &format!("{head}generators: [{{apiVersion: ex.io/v1, kind: Dep}}]\n"));
    tree.write("dep/main.sh", "");
    tree.write("app/plugin.yaml", &format!("{head}dependencies: {{dep: {{source: h.io/acme/dep, from: ../dep}}}}\n"));
    let own = script("1.0.0", "own");
    let read = "cat \"${0%/*}/.rustomize/sdk/dep/plugin.json\" > /dev/null || exit 3\n";
    tree.write("app/main.sh", &own.replacen('\n', &format!("\n{read}"), 1));
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&[]).ok().contains("v: own"));
    fs::remove_dir_all(tree.home().join(".cache/rustomize/describe")).unwrap();
    assert!(tree.build(&[]).ok().contains("v: own"));
}

#[test]
fn plugin_that_describes_itself_sees_nothing_of_the_user() {
    let mut tree = crate::support::plugins::tree();
    tree.variables.insert("SECRET_KEY", "of-the-user".to_owned());
    tree.write("../home/.secret", "in-the-home");
    // Its answer names a version by which the test sees what it has seen.
    let script = format!(
        "#!/bin/sh\nv=1.0.0\n[ -z \"$SECRET_KEY\" ] || v=2.0.0\n[ \"$HOME\" != '{0}' ] || v=3.0.0\n\
         cat '{0}/.secret' 2>/dev/null && v=4.0.0\n\
         echo \"{{\\\"version\\\": \\\"$v\\\", \\\"api_version\\\": \\\"x1.0\\\"}}\"\n",
        tree.home().display()
    );
    if crate::support::isolation::can_isolate() {
        let said = crate::support::plugins::install(&tree, "h.io/a/app", &script).ok();
        assert!(said.contains("1.0.0"), "{said}");
    }
}
