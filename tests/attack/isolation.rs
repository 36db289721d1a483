//! `--plugin-isolation`, with real plugins that try forbidden things: exec plugins, functions and
//! shared objects.

use crate::support::isolation::can_isolate;
use crate::support::{Run, Tree};
use std::net::TcpListener;

const GENERATOR: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\n-- beside --\nof the root\n";

/// An exec plugin whose `v` is what the shell leaves in it. Bash, for its sockets.
fn generate(tree: &Tree, script: &str, args: &[&str]) -> Run {
    let script = format!(
        "#!/bin/bash\n{script}\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: made\\ndata:\\n  v: \"%s\"\\n' \"$v\"\n"
    );
    tree.plugin("Make", &script);
    tree.build(args)
}

#[track_caller]
fn says(run: Run, v: &str) {
    let out = run.ok();
    assert!(out.contains(&format!("  v: {v}\n")), "{out}");
}

#[test]
fn a_plugin_reads_its_root_its_own_and_what_is_granted() {
    if !can_isolate() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    tree.write("../home/.secret/key", "hunter2");
    let key = tree.home().join(".secret/key").to_string_lossy().into_owned();
    let script = format!(
        "v=$(cat beside; cat '{key}' 2>/dev/null || echo refused; grep -c kind \"$1\"; test -r \"$0\" && echo own)\nv=$(echo $v)"
    );
    says(generate(&tree, &script, &[]), "of the root hunter21 own");
    for level in ["auto", "strict"] {
        let level = format!("--plugin-isolation={level}");
        says(generate(&tree, &script, &[&level]), "of the root refused 1 own");
        let folder = tree.home().join(".secret").to_string_lossy().into_owned();
        says(generate(&tree, &script, &[&level, "--plugin-allow-read", &folder]), "of the root hunter21 own");
    }
}

#[test]
fn a_plugin_writes_in_its_own_place_and_where_it_is_granted() {
    if !can_isolate() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let home = tree.home().to_string_lossy().into_owned();
    let script = format!(
        "f() {{ echo x 2>/dev/null > \"$1\" && echo wrote || echo refused; }} 2>/dev/null\nv=$(f here; f '{home}/x'; f \"$TMPDIR/x\"; f /dev/null; rm -f \"$TMPDIR/x\"); v=$(echo $v)"
    );
    says(generate(&tree, &script, &[]), "wrote wrote wrote wrote");
    for level in ["--plugin-isolation=auto", "--plugin-isolation=strict"] {
        says(generate(&tree, &script, &[level]), "refused refused wrote wrote");
        says(generate(&tree, &script, &[level, "--plugin-allow-write", &home]), "refused wrote wrote wrote");
    }
}

#[test]
fn a_plugin_has_no_network_unless_it_is_granted() {
    if !can_isolate() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "v=$( (exec 3<>/dev/tcp/127.0.0.1/{}) 2>/dev/null && echo connected || echo refused)",
        listener.local_addr().unwrap().port()
    );
    says(generate(&tree, &script, &[]), "connected");
    for level in ["--plugin-isolation=auto", "--plugin-isolation=strict"] {
        says(generate(&tree, &script, &[level]), "refused");
        says(generate(&tree, &script, &[level, "--plugin-allow-net"]), "connected");
    }
}

#[test]
fn strict_isolation_clears_the_environment() {
    if !can_isolate() {
        return;
    }
    let mut tree = Tree::new(GENERATOR);
    tree.variables.insert("TOKEN", "hunter2".to_owned());
    let script = "v=\"${TOKEN-none} ${KUSTOMIZE_PLUGIN_MODE} $(basename \"$KUSTOMIZE_PLUGIN_CONFIG_ROOT\") $(test \"$HOME\" = \"$TMPDIR\" && echo own || echo user)\"";
    says(generate(&tree, script, &["--plugin-isolation=auto"]), "hunter2 generate tree user");
    says(generate(&tree, script, &["--plugin-isolation=strict"]), "none generate tree own");
    let granted = ["--plugin-isolation=strict", "--plugin-allow-env", "TOKEN"];
    says(generate(&tree, script, &granted), "hunter2 generate tree own");
}

#[test]
fn a_plugin_cannot_leave_its_process_group() {
    if !can_isolate() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let script = "v=$(setsid true 2>/dev/null && echo left || echo stayed)";
    says(generate(&tree, script, &[]), "left");
    says(generate(&tree, script, &["--plugin-isolation=auto"]), "stayed");
    let script = "v=$(unshare -Ur true 2>/dev/null && echo left || echo stayed)";
    says(generate(&tree, script, &["--plugin-isolation=strict"]), "stayed");
}

#[test]
fn functions_are_isolated_too() {
    if !can_isolate() {
        return;
    }
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./f.sh}\n\
         -- f.sh --\n#!/bin/sh\nv=$(cat \"$OUTSIDE\" 2>/dev/null || echo refused)\nprintf 'apiVersion: config.kubernetes.io/v1\\nkind: ResourceList\\nitems:\\n- apiVersion: v1\\n  kind: ConfigMap\\n  metadata: {name: made}\\n  data: {v: %s}\\n' \"$v\"\n",
    );
    tree.write("../home/outside", "hunter2");
    let variable = format!("OUTSIDE={}", tree.home().join("outside").display());
    let build = |level: &str| tree.build(&["--enable-exec", "--env", &variable, level]);
    says(build("--plugin-isolation=off"), "hunter2");
    says(build("--plugin-isolation=strict"), "refused");
}

#[test]
fn shared_objects_are_isolated_and_serve_one_root_each() {
    if !can_isolate() {
        return;
    }
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [a, b]\n\
         -- a/kustomization.yaml --\ngenerators: [g.yaml]\nnamePrefix: a-\n-- a/g.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: g\nfile: ../b/x\n-- a/x --\nin a\n\
         -- b/kustomization.yaml --\ngenerators: [g.yaml]\nnamePrefix: b-\n-- b/g.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: g\nfile: x\n-- b/x --\nin b\n",
    );
    let act = r#"char t[64] = "", u[128]; int f = open(setting(q, "file: "), O_RDONLY); if (f >= 0) { if (read(f, t, 4) < 0) abort(); } else strcpy(t, "refused");
        snprintf(u, sizeof u, "%s %s %s", t, socket(AF_INET, SOCK_STREAM, 0) < 0 ? "no-socket" : "socket", setsid() < 0 ? "stays" : "leaves"); out = made(u)"#;
    if !crate::hostile::place_any(&tree, "Any", &act.replace('\n', " "), &[]) {
        return;
    }
    let off = tree.build(&[]).ok();
    assert_eq!(off.matches("v: in b socket").count(), 2, "{off}");
    let strict = tree.build(&["--plugin-isolation=strict"]).ok();
    assert!(
        strict.contains("v: refused no-socket stays\n") && strict.contains("v: in b no-socket stays\n"),
        "{strict}"
    );
}

#[test]
fn go_plugin_is_isolated_too() {
    if !can_isolate() {
        return;
    }
    let tree = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: SomeServiceGenerator\nmetadata:\n  name: g\nservice: web\nport: \"80\"\n";
    if let Some(run) = crate::support::go::build(tree, &["--plugin-isolation=strict"]) {
        assert!(run.ok().contains("name: web\n"));
    }
}

/// A program that becomes another one, to which the kernel has no Landlock.
const WITHOUT_LANDLOCK: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int n, char **args) {
    struct sock_filter of[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, of};
    if (n < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 99;
    execv(args[1], args + 1);
    return 98;
}
"#;

#[test]
fn missing_kernel_features_are_named_alike_by_doctor_auto_and_strict() {
    if !can_isolate() {
        return;
    }
    let mut tree = Tree::new(GENERATOR);
    tree.write("../home/without.c", WITHOUT_LANDLOCK);
    let without = tree.home().join("without");
    if crate::support::compiler::cc(&tree.home().join("without.c"), &without, &[]).is_none() {
        return crate::support::skip("no C compiler");
    }
    let run = |tree: &Tree, args: &[&str]| {
        let inner = tree.command(args);
        let mut outer = crate::sandbox::build_like(&inner, &without.to_string_lossy());
        crate::support::run(outer.arg(inner.get_program()).args(inner.get_args()))
    };
    let report: serde_json::Value = serde_json::from_str(&run(&tree, &["doctor", "-o", "json"]).ok()).unwrap();
    let missing = report["isolation"]["missing"].as_array().unwrap();
    let missing: Vec<&str> = missing.iter().map(|missing| missing.as_str().unwrap()).collect();
    for part in ["files are not restricted: ", "TCP is not", "devices can be", "signals to other"] {
        assert!(missing.iter().any(|missing| missing.starts_with(part)), "{part}: {missing:?}");
    }
    let said = run(&tree, &["doctor"]).ok();
    assert!(missing.iter().all(|missing| said.contains(missing)), "{said}");
    let all = format!("strict isolation is not to be had here: {}", missing.join("; "));
    let script = "#!/bin/sh\necho IT RUNS >&2\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'\n";
    tree.plugin("Make", script);
    let build = |tree: &Tree, level: &str| run(tree, &["build", "--enable-alpha-plugins", level, "."]);
    let strict = build(&tree, "--plugin-isolation=strict").fails_with(&[&all]);
    assert!(!strict.contains("IT RUNS"), "{strict}");
    let auto = build(&tree, "--plugin-isolation=auto");
    for missing in &missing {
        assert!(auto.stderr.contains(&format!("Warning: plugin isolation: {missing}")), "{}", auto.stderr);
    }
    auto.ok();
    // A plugin that is installed on the way is not asked what it does, either.
    std::fs::remove_dir_all(tree.home().join(".config/kustomize")).unwrap();
    let plugin =
        crate::support::plugins::script_with("1.0.0", "x1.0", r#"[{"apiVersion": "ex.io/v1", "kind": "Make"}]"#, "v");
    tree.write("app", &plugin.replacen('\n', "\necho IT RUNS >&2\n", 1));
    crate::support::plugins::require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    let strict = build(&tree, "--plugin-isolation=strict").fails_with(&["'describe' failed", &all]);
    assert!(!strict.contains("IT RUNS"), "{strict}");
    assert!(build(&tree, "--plugin-isolation=auto").ok().contains("name: made"));
    // An installed plugin of which nothing is remembered is not asked, either.
    tree.variables.insert("XDG_CACHE_HOME", tree.home().join("other").to_string_lossy().into_owned());
    let strict = build(&tree, "--plugin-isolation=strict").fails_with(&[&all]);
    assert!(!strict.contains("IT RUNS"), "{strict}");
}

#[test]
fn doctor_reports_isolation() {
    let tree = Tree::new("");
    let text = tree.run(&["doctor"]).ok();
    assert!(
        text.contains("Isolation of plugins")
            && text.contains(" modes: ")
            && text.contains(" calls: ")
            && text.contains("looked for")
            && text.contains("C compiler"),
        "{text}"
    );
    let mut command = tree.command(&["doctor", "-o", "json"]);
    let report = crate::support::run(command.env("PATH", "/nowhere")).ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    // Each part is enforced, or one of what is missing.
    let (parts, missing) =
        (report["isolation"]["parts"].as_array().unwrap(), report["isolation"]["missing"].as_array());
    let lacking: Vec<_> = parts.iter().map(|part| &part["missing"]).filter(|missing| !missing.is_null()).collect();
    assert_eq!(lacking, missing.unwrap().iter().collect::<Vec<_>>());
    assert_eq!(report["isolation"]["enforced"], lacking.is_empty());
    assert!(report["programs"].as_array().unwrap().iter().all(|program| program["path"].is_null()));
    tree.run(&["doctor", "--output", "xml"]).fails_with(&["xml"]);
}

/// A plugin that notes which of these it reaches: the network, UNIX sockets, the terminal, a call
/// that is not on the list, and the session of its parent. It prints them where
/// it describes itself, where it runs, and where it is the program of a runtime.
const PROBE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>
static char got[256] = "got";
static void note(const char *what, long result) { if (result >= 0) { strcat(got, "-"); strcat(got, what); } }
int main(int n, char **args) {
    const char *first = n > 1 ? args[1] : "";
    note("inet", socket(AF_INET, SOCK_STREAM, 0));
    note("unix", socket(AF_UNIX, SOCK_STREAM, 0));
    note("terminal", open("/dev/tty", O_RDWR));
    note("typed", ioctl(0, TIOCSTI, "x"));
    note("shm", syscall(SYS_shmget, 7, 4096, 0600 | IPC_CREAT));
    note("session", getsid(0) == getsid(getppid()) ? 0 : -1);
    if (!strcmp(first, "describe"))
        printf("{\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"sdk_version\": \"%s\", "
               "\"generators\": [{\"apiVersion\": \"ex.io/v1\", \"kind\": \"Made\"}]}\n", got);
    else if (!strcmp(first, "steps"))
        puts("fetch-deps install-deps");
    else if (!strcmp(first, "fetch-deps") || !strcmp(first, "install-deps")) {
        char path[4096];
        const char *place = first[0] == 'f' ? args[3] : args[2];
        snprintf(path, sizeof path, first[0] == 'f' ? "%s/got" : "%s/.rustomize/got", place);
        FILE *to = fopen(path, "w");
        if (!to) return 9;
        fputs(got, to);
        fclose(to);
        if (first[0] == 'i') {
            char fetched[256] = "", more[4096];
            snprintf(path, sizeof path, "%s/got", args[3]);
            FILE *from = fopen(path, "r");
            if (!from || !fgets(fetched, sizeof fetched, from)) return 8;
            snprintf(more, sizeof more, "%s/.rustomize/fetched", args[2]);
            to = fopen(more, "w");
            fputs(fetched, to);
            fclose(to);
        }
    } else
        printf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\ndata:\n  v: %s\n", got);
    return 0;
}
"#;

/// Describing, the steps of an installation, calls, synced and bundled plugins: each is confined,
/// and only a step that fetches has the network.
#[test]
fn every_way_to_run_a_plugin_uses_the_same_sandbox() {
    if !can_isolate() {
        return;
    }
    let mut tree = crate::support::plugins::tree();
    tree.write("../home/probe.c", PROBE);
    let probe = tree.home().join("probe");
    if crate::support::compiler::cc(&tree.home().join("probe.c"), &probe, &["-Wall", "-Werror"]).is_none() {
        return crate::support::skip("no C compiler");
    }
    // Without a sandbox all calls succeed. The test may lack a terminal.
    tree.plugin("Made", "");
    let placed = tree.home().join(".config/kustomize/plugin/ex.io/v1/made/Made");
    std::fs::copy(&probe, &placed).unwrap();
    let free = tree.build(&[]).ok();
    assert!(["inet-unix", "shm", "session"].iter().all(|what| free.contains(what)), "{free}");
    std::fs::remove_file(&placed).unwrap();
    // A description, and a call of what was installed.
    let path = probe.to_string_lossy().into_owned();
    let described: serde_json::Value = serde_json::from_str(&tree.run(&["plugin", "describe", &path]).ok()).unwrap();
    assert_eq!(described["sdk_version"], "got");
    tree.run(&["plugin", "install", "h.io/acme/app", "--path", &path]).ok();
    says(tree.build(&[]), "got");
    std::fs::remove_dir_all(crate::support::plugins::root(&tree)).unwrap();
    // A bundle that is installed.
    for (name, text) in crate::support::bundles::bundle("tools", "1.0.0") {
        tree.write(&format!("tools/{name}"), &text);
    }
    std::fs::copy(&probe, tree.path().join("tools/plugin/ex.io/v1/made/Made")).unwrap();
    tree.run(&["plugin", "install", "h.io/acme/tools", "--path", "tools"]).ok();
    says(tree.build(&[]), "got");
    std::fs::remove_dir_all(crate::support::plugins::root(&tree)).unwrap();
    // A synced plugin.
    let host = Tree::new("");
    host.write("../home/.config/rustomize/environments/prod/modules/one/plugin/ex.io/v1/made/Made", "");
    let made = crate::support::environments::environments(&host).join("prod/modules/one/plugin/ex.io/v1/made/Made");
    std::fs::copy(&probe, made).unwrap();
    let server = crate::support::environments::Server::start(&host, "prod");
    crate::support::environments::environment(&tree, "prod", &format!("sync: {}\n", server.url));
    says(tree.build(&["--environment", "prod"]), "got");
    // The two steps of a language.
    let bin = tree.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::copy(&probe, bin.join("rustomize-runtime-probe")).unwrap();
    let variable = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{variable}", bin.display()));
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: probe\ngenerators: [{apiVersion: ex.io/v1, kind: Made}]\n";
    tree.write("app/plugin.yaml", manifest);
    tree.write("app/main", "");
    tree.run(&["plugin", "install", "h.io/acme/app", "--path", "app"]).ok();
    let made =
        crate::support::plugins::root(&tree).join("h.io/acme/app/rustomize-plugin-app_v1.0.0_x1.0_any_any/.rustomize");
    let read = |name: &str| std::fs::read_to_string(made.join(name)).unwrap();
    assert_eq!((read("fetched").as_str(), read("got").as_str()), ("got-inet", "got"));
    says(tree.build(&[]), "got");
}
