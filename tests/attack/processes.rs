//! Processes that outlive what they were started for, or take all that the machine has.

use super::sandbox::{attack, got};
use super::secrets::as_ordinary_user;
use crate::support::plugins;
use crate::support::{Run, Tree, run};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const GENERATOR: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\n";

/// A time of sleep that no other process of this machine has, by which its sleepers are known.
fn sleep_of_its_own() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 700_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The running processes that sleep for a time.
fn sleepers(time: &str) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let sleeps = |pid: &String| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.starts_with(b"/bin/sleep\0") && words.split(|&byte| byte == 0).any(|word| word == time.as_bytes())
    };
    processes.filter(sleeps).filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Waits until something holds; a test that waits for ever is ended by whoever runs the tests.
fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a command whose output nobody reads.
fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a build when `number` of its processes sleep, and expects that they end, and that nothing
/// stays in the place for temporary files.
fn kill_and_look(tree: &Tree, command: &mut Command, time: &str, number: usize) {
    let mut build = start(command);
    wait_until(|| sleepers(time).len() >= number || build_has_ended(&build));
    assert!(!build_has_ended(&build), "{command:?} has ended before it was killed");
    kill_process(Pid::from_child(&build), Signal::KILL).unwrap();
    build.wait().unwrap();
    wait_until(|| sleepers(time).is_empty());
    let is_left = || fs::read_dir(tree.tmp()).unwrap().any(|_| true);
    wait_until(|| !is_left());
}

fn build_has_ended(build: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", build.id())).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// A script that leaves processes in sessions of their own, without variables and without a parent,
/// as far as it may, and sleeps.
fn sleeper(time: &str) -> String {
    format!(
        "(setsid env -i /bin/sleep {time} <&- >&- 2>&- &)\n(env -i /bin/sleep {time} <&- >&- 2>&- &)\n/bin/sleep {time}\n"
    )
}

/// The command as this user, and as an ordinary one where this is root.
fn as_each_user(make: impl Fn() -> Tree, args: &[&str], look: impl Fn(&Tree, &mut Command)) {
    let tree = make();
    look(&tree, &mut tree.command(args));
    let tree = make();
    if rustix::process::geteuid().is_root()
        && let Some(mut command) = as_ordinary_user(&tree, &[])
    {
        look(&tree, command.args(args));
    }
}

#[test]
fn killed_build_ends_its_plugin() {
    for level in ["off", "auto", "strict"] {
        let time = sleep_of_its_own();
        let make = || {
            let tree = Tree::new(&GENERATOR.replace("  name: g\n", "  name: g\nsecret: word\n"));
            tree.plugin("Make", &format!("#!/bin/sh\n{}", sleeper(&time)));
            tree
        };
        let isolation = format!("--plugin-isolation={level}");
        let number = if level == "off" { 3 } else { 2 };
        let args = ["build", "--enable-alpha-plugins", &isolation];
        as_each_user(make, &args, |tree, command| kill_and_look(tree, command, &time, number));
    }
}

#[test]
fn killed_build_ends_functions_and_shared_objects() {
    let time = sleep_of_its_own();
    let function = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./f.sh}\n";
    let make = || {
        let tree = Tree::new(function);
        tree.write("f.sh", &format!("#!/bin/sh\n{}", sleeper(&time)));
        tree
    };
    let args = ["build", "--enable-alpha-plugins", "--enable-exec"];
    as_each_user(make, &args, |tree, command| kill_and_look(tree, command, &time, 3));
    let tree = Tree::new(&GENERATOR.replace("Make", "Any"));
    let act = format!(
        "if (fork() == 0) {{ setsid(); execle(\"/bin/sleep\", \"sleep\", \"{time}\", (char *)0, (char *[]){{0}}); }} \
         execl(\"/bin/sh\", \"sh\", \"-c\", \"exec /bin/sleep {time}\", (char *)0); out = 0"
    );
    let act = act.replace("\"sleep\", ", "\"/bin/sleep\", ");
    if crate::hostile::place_any(&tree, "Any", &act, &[]) {
        for level in ["--plugin-isolation=off", "--plugin-isolation=strict"] {
            let mut command = tree.command(&["build", "--enable-alpha-plugins", level]);
            kill_and_look(&tree, &mut command, &time, 2);
        }
    }
}

#[test]
fn killed_build_ends_git_and_helm() {
    let time = sleep_of_its_own();
    let make = || {
        let tree = Tree::new(
            "-- helm/kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r}]\n-- helm/charts/app/values.yaml --\n-- git/kustomization.yaml --\nresources: ['https://h.invalid/o/r?ref=v1']\n",
        );
        let script = format!("#!/bin/sh\n[ \"$1\" = version ] && echo v3.1.0 && exit\n{}", sleeper(&time));
        tree.write("../home/bin/helm", &script);
        tree.write("../home/bin/git", &script);
        tree
    };
    let path = |tree: &Tree| {
        format!("{}:{}", tree.home().join("bin").display(), std::env::var_os("PATH").unwrap().to_str().unwrap())
    };
    for args in [["build", "--enable-helm", "helm"], ["build", "--remote-cache=off", "git"]] {
        as_each_user(make, &args, |tree, command| {
            kill_and_look(tree, command.env("PATH", path(tree)), &time, 3);
        });
    }
}

#[test]
fn killed_build_ends_installed_plugins_workers_and_installation() {
    let time = sleep_of_its_own();
    let kinds = r#"[{"apiVersion": "ex.io/v1", "kind": "Make"}]"#;
    let tree = Tree::new(GENERATOR);
    // It sleeps in its second life, when it is called.
    let script =
        plugins::script_with("1.0.0", "x1.0", kinds, "v").replace("\nprintf", &format!("\n{}\nprintf", sleeper(&time)));
    plugins::install(&tree, "h.io/acme/app", &script).ok();
    for level in ["--plugin-isolation=off", "--plugin-isolation=auto"] {
        kill_and_look(&tree, &mut tree.command(&["build", "--enable-alpha-plugins", level]), &time, 2);
    }
    // A program for a language sleeps in the step that makes what is kept.
    let mut tree = Tree::new("");
    let runtime = format!(
        "#!/bin/sh\n[ \"$1\" = steps ] && echo fetch-deps install-deps && exit\n[ \"$1\" = fetch-deps ] && exit\n{}",
        sleeper(&time)
    );
    tree.write("../home/bin/rustomize-runtime-probe", &runtime);
    let path = format!("{}:{}", tree.home().join("bin").display(), std::env::var_os("PATH").unwrap().to_str().unwrap());
    tree.variables.insert("PATH", path);
    tree.write("app/plugin.yaml", "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: probe\ngenerators: [{apiVersion: ex.io/v1, kind: Made}]\n");
    tree.write("app/main", "");
    kill_and_look(&tree, &mut tree.command(&["plugin", "install", "h.io/acme/app", "--path", "app"]), &time, 2);
}

#[test]
fn killed_build_removes_its_container() {
    let time = sleep_of_its_own();
    let mut tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      container: {image: img}\n",
    );
    let client = format!(
        "#!/bin/sh\ncd $(dirname $0)/..\n[ $1 = ps ] && exit\n[ $1 = rm ] && {{ echo \"$2 $3\" > removed.new; mv removed.new removed; exit; }}\n\
         while [ $1 != --cidfile ]; do shift; done\necho 0123abcd > $2\n{}",
        sleeper(&time)
    );
    tree.write("bin/docker", &client);
    let path = format!("{}:{}", tree.path().join("bin").display(), std::env::var_os("PATH").unwrap().to_str().unwrap());
    tree.variables.insert("PATH", path);
    let args = ["build", "--enable-alpha-plugins", "--plugin-timeout=1h"];
    kill_and_look(&tree, &mut tree.command(&args), &time, 3);
    let removed = tree.path().join("removed");
    wait_until(|| removed.exists());
    assert_eq!(fs::read_to_string(removed).unwrap(), "-f 0123abcd\n");
}

#[test]
fn forged_process_mark_saves_no_process() {
    let time = sleep_of_its_own();
    // The mark of another child of the build, its own with another number, one of no build; and the
    // end of whatever watches it.
    let marks = ["$PPID-9-9", "${RUSTOMIZE_CHILD%-*}-99", "1-1-1"];
    let daemons: String = marks
        .iter()
        .map(|mark| format!("(setsid env -i RUSTOMIZE_CHILD={mark} /bin/sleep {time} <&- >&- 2>&- &)\n"))
        .collect();
    let parents = "up=$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$PPID/stat)\n";
    let above = format!("(setsid env -i RUSTOMIZE_CHILD=$up-9-9 /bin/sleep {time} <&- >&- 2>&- &)\n");
    let made = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'\n";
    for (end, statuses) in [(made, [Some(0)]), ("kill -9 $PPID; sleep 60", [Some(1)])] {
        let tree = Tree::new(GENERATOR);
        tree.plugin("Make", &format!("#!/bin/sh\n{parents}{daemons}{above}sleep 0.2\n{end}"));
        // A plugin that kills its parent would kill the test's own command where nothing watches.
        let run = tree.build(&[]);
        assert!(statuses.contains(&run.status), "{:?} {}", run.status, run.stderr);
        assert_eq!(sleepers(&time).len(), 0, "{end}");
    }
}

/// Expects an error about memory.
#[track_caller]
fn lacks_memory(run: Run) {
    assert_eq!(run.status, Some(1), "{}{}", run.stdout, run.stderr);
    let said = run.stderr.to_lowercase();
    assert!(said.contains("memory"), "{said}");
}

/// A script that holds 100 MB in each of 10 processes.
const MANY: &str =
    "for i in 1 2 3 4 5 6 7 8 9 10; do head -c 100000000 /dev/zero | tail -c 100000000 | /bin/sleep 600 & done\nwait\n";

#[test]
fn memory_of_every_kind_of_plugin_is_limited() {
    let limit = "--plugin-memory-limit=512MiB";
    let act = "char *all = malloc(3ull << 30); if (all) memset(all, 1, 3ull << 30); note(\"took\", all ? 0 : -1); \
        char *shared = mmap(0, 3ull << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); \
        note(\"mapped\", shared != MAP_FAILED ? 0 : -1)";
    let Some(tree) = attack(act) else { return };
    for level in ["off", "auto", "strict"] {
        assert_eq!(got(tree.build(&[&format!("--plugin-isolation={level}"), limit])), "", "{level}");
    }
    // Memory that a process shares, and that of many processes.
    let shared = "char *all = mmap(0, 3ull << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); \
        if (all == MAP_FAILED) exit(7); memset(all, 1, 3ull << 30); for (;;) pause()";
    let Some(tree) = attack(shared) else { return };
    for level in ["--plugin-isolation=off", "--plugin-isolation=strict"] {
        lacks_memory(tree.build(&[level, limit]));
    }
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", &format!("#!/bin/sh\n{MANY}"));
    for level in ["--plugin-isolation=off", "--plugin-isolation=strict"] {
        lacks_memory(tree.build(&[level, limit]));
    }
}

#[test]
fn memory_of_helm_is_limited() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nhelmCharts: [{name: app, releaseName: r}]\n-- charts/app/values.yaml --\n",
    );
    tree.write("../home/helm", &format!("#!/bin/sh\n[ \"$1\" = version ] && echo v3.1.0 && exit\n{MANY}"));
    let helm = tree.home().join("helm").to_string_lossy().into_owned();
    lacks_memory(tree.run(&["build", "--enable-helm", "--helm-command", &helm, "--plugin-memory-limit=512MiB"]));
    tree.assert_nothing_left();
}

#[test]
fn number_of_processes_is_limited() {
    // With fewer processes than it wants, it says so; otherwise something has to end it.
    let act = "for (int i = 0; i < 300; i++) { int pid = fork(); if (pid < 0) { note(\"refused\", 0); break; } \
        if (pid == 0) { for (int f = 0; f < 64; f++) close(f); for (;;) pause(); } } if (!*got) for (;;) pause()";
    let make = || attack(act);
    if make().is_none() {
        return;
    }
    for level in ["off", "auto", "strict"] {
        let isolation = format!("--plugin-isolation={level}");
        let args = ["build", "--enable-alpha-plugins", "--plugin-process-limit=100", &isolation];
        as_each_user(
            || make().unwrap(),
            &args,
            |_, command| {
                let run = run(command);
                match run.status {
                    Some(0) => assert_eq!(got(run), "refused"),
                    _ => {
                        assert!(run.stderr.contains("--plugin-process-limit sets the limit"), "{level}: {}", run.stderr)
                    }
                }
            },
        );
    }
}
