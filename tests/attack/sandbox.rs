//! Attacks of a plugin on the processes, files and terminal of the user.

use crate::support::compiler::cc;
use crate::support::isolation::can_isolate;
use crate::support::{Run, Tree, run};
use std::path::Path;

const GENERATOR: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\n";

/// A tree whose plugin does what the statements say; `None` where that cannot be tried.
pub fn attack(act: &str) -> Option<Tree> {
    let tree = Tree::new(GENERATOR);
    place_attack(&tree, act).then_some(tree)
}

/// Places such a plugin; false where it cannot be tried.
fn place_attack(tree: &Tree, act: &str) -> bool {
    tree.plugin("Make", "");
    let plugin = tree.home().join(".config/kustomize/plugin/ex.io/v1/make/Make");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/plugin/attack.c");
    if cc(&source, &plugin, &["-Wall", "-Werror", &format!("-DACT={act}")]).is_none() {
        crate::support::skip("no C compiler");
        return false;
    }
    can_isolate()
}

/// Expects that of the statements nothing gets through at either level but what is named.
#[track_caller]
pub fn gets(act: &str, want: &str) {
    let Some(tree) = attack(act) else { return };
    for level in ["auto", "strict"] {
        let run = tree.build(&[&format!("--plugin-isolation={level}")]);
        assert_eq!(got(run), want, "{level}");
    }
}

pub fn got(run: Run) -> String {
    let out = run.ok();
    // A long text is folded.
    let text = out.split_once("  got: ").and_then(|(_, rest)| rest.split_once("\nkind:"));
    let (text, _) = text.unwrap_or_else(|| panic!("{out}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_matches(['"', '\'', ' ']).to_owned()
}

#[test]
fn plugin_cannot_reach_the_terminal() {
    let tries = r#"int t = open("/dev/tty", O_RDWR); note("opened", t); note("typed", ioctl(t, TIOCSTI, "x"));
        note("session", getsid(0) == getsid(getppid()) ? 0 : -1); note("took", tcsetpgrp(t, getpgrp()))"#;
    let Some(tree) = attack(&tries.replace('\n', " ")) else { return };
    for level in ["auto", "strict"] {
        let build = tree.command(&["build", "--enable-alpha-plugins", &format!("--plugin-isolation={level}"), "."]);
        // `script` makes a terminal and is its session.
        let words: Vec<_> = std::iter::once(build.get_program()).chain(build.get_args()).collect();
        let line = words.iter().map(|word| format!("'{}'", word.to_string_lossy())).collect::<Vec<_>>().join(" ");
        let mut script = build_like(&build, "timeout");
        script.args(["60", "script", "-qec", &line, "/dev/null"]).stdin(std::process::Stdio::null());
        let Ok(output) = script.output() else { return crate::support::skip("no script") };
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains("  got: \"\""), "{level}: {out}");
    }
}

/// Another program, with the directory and variables of a command.
pub fn build_like(command: &std::process::Command, program: &str) -> std::process::Command {
    #[expect(clippy::disallowed_methods, reason = "the programs around the one that is tested")]
    let mut other = std::process::Command::new(program);
    other.current_dir(command.get_current_dir().unwrap()).env_clear();
    other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other
}

#[test]
fn plugin_cannot_read_the_environment_of_the_build() {
    let act = r#"char path[64]; sprintf(path, "/proc/%d/environ", getppid()); note_file(path)"#;
    gets(act, "");
}

#[test]
fn system_calls_are_refused_to_root_too() {
    let act = "note(\"syslog\", syscall(SYS_syslog, 10, 0, 0)); note(\"fanotify\", syscall(SYS_fanotify_init, 0, 0)); \
        note(\"mount_setattr\", syscall(SYS_mount_setattr, -100, \"/\", 0, 0, 0)); \
        note(\"uts\", unshare(CLONE_NEWUTS)); note(\"ipc\", unshare(CLONE_NEWIPC)); \
        note(\"chroot\", chroot(\"/\")); note(\"nice\", setpriority(PRIO_PROCESS, 0, -5))";
    gets(act, "");
    // A namespace of users needs no right of root.
    for namespace in ["CLONE_NEWUTS", "CLONE_NEWUSER"] {
        let clone = format!(
            "long pid = syscall(SYS_clone, {namespace} | SIGCHLD, 0, 0, 0, 0); if (pid == 0) _exit(0); \
             note(\"clone\", pid)"
        );
        gets(&clone, "");
    }
}

#[test]
fn sockets_are_refused() {
    let act = "note(\"unix\", socket(AF_UNIX, SOCK_STREAM, 0)); note(\"inet\", socket(AF_INET, SOCK_STREAM, 0)); \
        int pair[2]; note(\"pair\", socketpair(AF_UNIX, SOCK_STREAM, 0, pair))";
    gets(act, "pair");
    let Some(tree) = attack(act) else { return };
    let run = tree.build(&["--plugin-isolation=strict", "--plugin-allow-net"]);
    assert_eq!(got(run), "inet pair");
}

#[test]
fn limits_apply_to_the_plugin_alone() {
    let act = "struct rlimit l = {64, 64}; int p = getppid(); cpu_set_t all; memset(&all, 255, sizeof all); \
        struct sched_param other = {0}; \
        note(\"prlimit\", prlimit(p, RLIMIT_NOFILE, &l, 0)); note(\"nice\", setpriority(PRIO_PROCESS, p, 5)); \
        note(\"affinity\", sched_setaffinity(p, sizeof all, &all)); \
        note(\"scheduler\", sched_setscheduler(p, SCHED_BATCH, &other)); \
        note(\"io\", syscall(SYS_ioprio_set, 1, p, 3 << 13)); note(\"signal\", kill(p, SIGCONT)); \
        note(\"own\", prlimit(0, RLIMIT_NOFILE, &l, 0))";
    gets(act, "own");
}

#[test]
fn plugin_inherits_no_descriptors() {
    let Some(tree) = attack("char b[64] = \"\"; note(b, read(7, b, 63) > 0 ? 0 : -1)") else { return };
    tree.write("secret", "hunter2");
    let build = tree.command(&["build", "--enable-alpha-plugins", "--plugin-isolation=strict", "."]);
    let mut shell = build_like(&build, "bash");
    let program = build.get_program().to_string_lossy().into_owned();
    shell.args([
        "-c",
        &format!("exec 7<secret; exec '{program}' build --enable-alpha-plugins --plugin-isolation=strict ."),
    ]);
    assert_eq!(got(run(&mut shell)), "");
}

#[test]
fn processes_started_by_a_plugin_end_with_its_call() {
    // In the group; outside of the group, after two forks; and without a trace of its parent.
    let daemon = r#"int gate[2], pid; if (pipe(gate)) abort();
        for (int i = 0; i < 3; i++) if (!fork()) {
            if (i > 0) setsid();
            if (i > 0 && fork()) _exit(0);
            pid = getpid(); char *none[] = {0}; if (write(gate[1], &pid, sizeof pid) != sizeof pid) abort();
            for (int f = 0; f < 64; f++) close(f);
            if (i > 1) execle("/bin/sleep", "sleep", "600", (char *)0, none);
            for (;;) pause();
        }
        for (int i = 0; i < 3; i++) if (read(gate[0], &pid, sizeof pid) == sizeof pid) sprintf(got + strlen(got), "%d ", pid);
        fprintf(stderr, "pids %s\n", got); @END@"#;
    for (end, status) in [("", 0), ("exit(3)", 1)] {
        let Some(tree) = attack(&daemon.replace('\n', " ").replace("@END@", end)) else { return };
        for level in ["off", "auto", "strict"] {
            let run = tree.build(&[&format!("--plugin-isolation={level}")]);
            assert_eq!(run.status, Some(status), "{}", run.stderr);
            let pids = run.stderr.split("pids ").nth(1).and_then(|rest| rest.lines().next()).unwrap().to_owned();
            let left: Vec<&str> = pids.split_whitespace().filter(|pid| is_running(pid)).collect();
            assert_eq!(pids.split_whitespace().count(), 3, "{pids}");
            assert!(left.is_empty(), "{level} '{end}': {left:?} of {pids}");
        }
    }
}

fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn unix_sockets_need_a_grant() {
    let tree = Tree::new(GENERATOR);
    let socket = tree.home().join("s");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let act = r#"int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un at = {AF_UNIX, "../home/s"};
        note("connected", connect(s, (struct sockaddr *)&at, sizeof at)); note("inet", socket(AF_INET, SOCK_STREAM, 0))"#;
    if !place_attack(&tree, &act.replace('\n', " ")) {
        return;
    }
    for level in ["--plugin-isolation=auto", "--plugin-isolation=strict"] {
        assert_eq!(got(tree.build(&[level])), "", "{level}");
        assert_eq!(got(tree.build(&[level, "--plugin-allow-net"])), "inet", "{level}");
        let granted = ["--plugin-allow-socket", &socket.to_string_lossy()];
        assert_eq!(got(tree.build(&[level, granted[0], granted[1]])), "connected", "{level}");
    }
}

/// An installed script that asks for permissions, and does something.
fn asks(version: &str, permissions: &str, act: &str) -> String {
    let kinds = r#"[{"apiVersion": "ex.io/v1", "kind": "Make"}]"#;
    let script = crate::support::plugins::script_with(version, "x1.0", kinds, "v");
    let script = script.replace("\"generators\":", &format!("\"permissions\": {permissions}, \"generators\":"));
    script.replace("\nprintf", &format!("\n{act}\nprintf"))
}

fn trust(tree: &Tree, args: &[&str]) -> Run {
    tree.run(&[&["plugin", "trust", "h.io/acme/app", "--from", "**"], args].concat())
}

#[test]
fn link_made_by_a_plugin_widens_no_grant() {
    let tree = Tree::new(GENERATOR);
    tree.write("../home/.ssh/key", "hunter2");
    tree.write("../home/.bashrc", "own");
    tree.write("../home/out/old", "");
    let home = tree.home().canonicalize().unwrap();
    let home = home.display();
    let links = format!("cd {home}/out; ln -sfn {home} l; ln -sfn {home}/.bashrc rc; ln -sfn {home}/.ssh old.d");
    let script = asks("1.0.0", r#"{"write": ["~/out"]}"#, &links);
    crate::support::plugins::install(&tree, "h.io/acme/app", &script).ok();
    trust(&tree, &["--allow-write", "~/out"]).ok();
    tree.build(&[]).ok();
    assert!(tree.home().join("out/l").is_symlink());
    let takes = format!("cat {home}/.ssh/key >&2; echo changed > {home}/.bashrc");
    for (i, (permissions, place)) in [
        (r#"{"write": ["~/out"], "read": ["~/.ssh"]}"#, ".ssh"),
        (r#"{"read": ["~/out/l/.ssh"]}"#, ".ssh"),
        (r#"{"read": ["~/out/l/.ssh/key"]}"#, ".ssh/key"),
        (r#"{"read": ["~/out/old.d"]}"#, ".ssh"),
        (r#"{"write": ["~/out/rc"]}"#, ".bashrc"),
        (r#"{"write": ["~/out/l"]}"#, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let script = asks(&format!("1.1.{i}"), permissions, &takes);
        // Either the installation or the build refuses it.
        let installed = crate::support::plugins::install(&tree, "h.io/acme/app", &script);
        let run = if installed.status == Some(0) { tree.build(&[]) } else { installed };
        let said = run.fails_with(&["asks for", "which is not granted"]);
        let asked = format!("{home}/{place}");
        assert!(said.contains(asked.trim_end_matches('/')) || said.contains("~/.ssh"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    assert_eq!(std::fs::read_to_string(tree.home().join(".bashrc")).unwrap(), "own");
}

#[test]
fn link_made_between_two_calls_is_not_opened() {
    // Both calls belong to one build, which compares the permissions before the first.
    let tree = between_two_calls();
    tree.write("../home/.ssh/key", "hunter2");
    tree.write("../home/work/in/key", "harmless");
    let home = tree.home().canonicalize().unwrap();
    let home = home.display();
    let swap = format!("mv {home}/work/in {home}/work/old; ln -s {home}/.ssh {home}/work/in");
    tree.plugin("Tamper", &tamper(&swap));
    let script = asks("1.0.0", r#"{"read": ["~/work/in"]}"#, &format!("cat {home}/work/in/key >&2"));
    crate::support::plugins::install(&tree, "h.io/acme/app", &script).ok();
    trust(&tree, &["--allow-read", "~/work/in"]).ok();
    let run = tree.build(&[]);
    assert!(run.stderr.contains("harmless") && !run.stderr.contains("hunter2"), "{}", run.stderr);
    assert!(tree.home().join("work/in").is_symlink());
    let said = tree.build(&[]).fails_with(&["which is not granted", &format!("{home}/.ssh")]);
    assert!(!said.contains("hunter2"), "{said}");
}

/// A tree that calls a plugin, then another one, then the first one again. Both calls make one
/// resource, so the build fails after the second.
fn between_two_calls() -> Tree {
    let tree = Tree::new(&GENERATOR.replace("[g.yaml]", "[g.yaml, t.yaml, h.yaml]"));
    tree.write("h.yaml", "apiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: h\n");
    tree.write("t.yaml", "apiVersion: ex.io/v1\nkind: Tamper\nmetadata:\n  name: t\n");
    tree
}

/// A plugin that does something, with all rights of the user.
fn tamper(act: &str) -> String {
    format!("#!/bin/sh\n{act}\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: tampered}}\\n'\n")
}

#[test]
fn grant_below_a_writable_grant_is_refused() {
    let tree = Tree::new(GENERATOR);
    tree.write("../home/out/in/x", "");
    tree.plugin("Make", "#!/bin/sh\nprintf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n'\n");
    let (out, below) = (tree.home().join("out"), tree.home().join("out/in"));
    let (out, below) = (out.to_str().unwrap(), below.to_str().unwrap());
    let words = ["which may be written", "is below"];
    trust(&tree, &["--allow-write", out, "--allow-read", below]).fails_with(&words);
    trust(&tree, &["--allow-write", out]).ok();
    trust(&tree, &["--allow-read", below]).fails_with(&words);
    trust(&tree, &["--allow-write", below]).fails_with(&words);
    let flags = ["--plugin-isolation=auto", "--plugin-allow-write", out, "--plugin-allow-read", below];
    tree.build(&flags).fails_with(&words);
    std::os::unix::fs::symlink(tree.home().join("out"), tree.home().join("link")).unwrap();
    let linked = tree.home().join("link/in");
    let flags =
        ["--plugin-isolation=auto", "--plugin-allow-write", out, "--plugin-allow-read", linked.to_str().unwrap()];
    tree.build(&flags).fails_with(&words);
}

/// A plugin that describes itself, and prints its name.
const NAMED: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int n, char **args) {
    if (n > 1 && !strcmp(args[1], "describe"))
        puts("{\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [{\"apiVersion\": \"ex.io/v1\", \"kind\": \"Make\"}]}");
    else
        printf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made-%s\ndata: {arg: '%s'}\n", NAME, args[0]);
    return 0;
}
"#;

#[test]
fn program_overwritten_after_its_check_does_not_run() {
    let tree = between_two_calls();
    tree.write("../home/named.c", NAMED);
    let (good, bad) = (tree.home().join("good"), tree.home().join("bad"));
    for (name, path) in [("good", &good), ("bad", &bad)] {
        let define = format!("-DNAME=\"{name}\"");
        if cc(&tree.home().join("named.c"), path, &[&define]).is_none() {
            return crate::support::skip("no C compiler");
        }
    }
    tree.run(&["plugin", "install", "--path", good.to_str().unwrap(), "h.io/acme/app"]).ok();
    let all = crate::support::files(&crate::support::plugins::root(&tree).join("h.io/acme/app"), "");
    let is_program = |path: &&std::path::PathBuf| std::fs::read(path).is_ok_and(|text| text.starts_with(b"\x7fELF"));
    let installed = all.iter().find(is_program).unwrap();
    // It writes to every copy that it finds, too.
    let act = format!(
        "for copy in '{}' \"$TMPDIR\"/rustomize-plugin-*/rustomize-plugin-app*; do [ -e \"$copy\" ] && cat '{}' > \"$copy\"; done",
        installed.display(),
        bad.display()
    );
    tree.plugin("Tamper", &tamper(&act));
    for level in [&["--plugin-isolation=off"][..], &[]] {
        std::fs::copy(&good, installed).unwrap();
        let run = tree.build(level);
        assert_eq!(std::fs::read(installed).unwrap(), std::fs::read(&bad).unwrap());
        run.fails_with(&["made-good"]);
        tree.build(level).fails_with(&["installed files that cannot be used: 1"]);
    }
}

#[test]
fn program_in_the_home_does_not_expose_the_home() {
    let script = "#!/bin/bash\nv=$(cat \"$HOME_OF_USER/.secret\" 2>/dev/null || echo refused; cat \"$HOME_OF_USER/beside/x\" 2>/dev/null || echo refused)\n\
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\ndata:\n  v: \"%s\"\n' \"$(echo $v)\"\n";
    let mut tree = Tree::new(GENERATOR);
    if !can_isolate() {
        return;
    }
    tree.write("../home/.secret", "hunter2");
    tree.write("../home/beside/x", "hunter3");
    tree.variables.insert("HOME_OF_USER", tree.home().to_string_lossy().into_owned());
    let refused = |run: Run| {
        let out = run.ok();
        assert!(out.contains("v: refused refused"), "{out}");
    };
    // A placed plugin that is a link into the home.
    tree.write("../home/Make", script);
    let place = tree.home().join(".config/kustomize/plugin/ex.io/v1/make/Make");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(tree.home().join("Make"), &place).unwrap();
    let allow = ["--plugin-allow-env", "HOME_OF_USER"];
    for level in ["--plugin-isolation=auto", "--plugin-isolation=strict"] {
        refused(tree.build(&[level, allow[0], allow[1]]));
    }
    // A link into a directory that holds the home.
    let above = tree.home().parent().unwrap().join("above");
    std::fs::rename(tree.home().join("Make"), &above).unwrap();
    std::fs::remove_file(&place).unwrap();
    std::os::unix::fs::symlink(&above, &place).unwrap();
    refused(tree.build(&["--plugin-isolation=strict", allow[0], allow[1]]));
    // A function that is an executable in the home, by its path and by its name in PATH.
    std::fs::rename(&above, tree.home().join("fn")).unwrap();
    let path = format!("{}:{}", tree.home().display(), std::env::var_os("PATH").unwrap().to_str().unwrap());
    tree.variables.insert("PATH", path);
    for named in [tree.home().join("fn").display().to_string(), "fn".to_owned()] {
        let object = format!(
            "apiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {{path: '{named}'}}\n"
        );
        tree.write("g.yaml", &object);
        refused(tree.build(&["--enable-exec", "--plugin-isolation=strict", allow[0], allow[1]]));
    }
}
