//! Shared objects that run: what they are given, and every way in which one can misbehave. A real
//! compiler makes them; without one the tests say that they are skipped.

use crate::support::compiler::cc;
use crate::support::{Run, Tree};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TRANSFORMER: &str = "-- kustomization.yaml --\nresources: [cm.yaml]\ntransformers: [t.yaml]\n\
    -- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: old\n\
    -- t.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\n";

const GENERATOR: &str = "-- kustomization.yaml --\ngenerators: [t.yaml]\n\
    -- t.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\n";

const VALIDATOR: &str = "-- kustomization.yaml --\nresources: [cm.yaml]\nvalidators: [t.yaml]\n\
    -- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: old\n\
    -- t.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\n";

/// Where the shared object for the kind lies.
fn place(tree: &Tree, kind: &str) -> PathBuf {
    let folder = tree.home().join(format!(".config/kustomize/plugin/ex.io/v1/{}", kind.to_lowercase()));
    fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{kind}.so"))
}

/// Places the plugin for tests, doing what the statement says; false without a compiler.
pub fn place_any(tree: &Tree, kind: &str, act: &str, more: &[&str]) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", root.join("plugin/abi/include").display());
    let act = format!("-DACT={act}");
    let args = [&["-shared", "-fPIC", "-Wall", "-Werror", &include, &act], more].concat();
    let made = cc(&root.join("testdata/plugin/any.c"), &place(tree, kind), &args).is_some();
    if !made {
        crate::support::skip("no C compiler");
    }
    made
}

/// A build of a tree whose plugin does what the statement says.
fn build(tree: &str, act: &str, args: &[&str]) -> Option<Run> {
    let tree = Tree::new(tree);
    place_any(&tree, "Any", act, &[]).then(|| tree.build(args))
}

/// Expects an error with the words, which says which plugin and which configuration.
#[track_caller]
fn fails(tree: &str, act: &str, args: &[&str], words: &[&str]) {
    if let Some(run) = build(tree, act, args) {
        run.fails_with(&[&["t.yaml:1:1", "Any"], words].concat());
    }
}

/// True if a process has ended.
fn is_gone(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).map_or(true, |stat| stat.contains(") Z "))
}

#[track_caller]
fn assert_gone(pid: &str) {
    for _ in 0..1000 {
        if is_gone(pid) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the process {pid} is still there");
}

#[test]
fn a_shared_object_transforms_generates_and_validates() {
    let Some(run) = build(
        TRANSFORMER,
        r#"char *old = strstr((char *)q->resources.data, "old"); if (old) memcpy(old, "new", 3)"#,
        &[],
    ) else {
        return;
    };
    assert_eq!(run.ok(), "apiVersion: v1\ndata:\n  k: new\nkind: ConfigMap\nmetadata:\n  name: a\n");
    let made = build(GENERATOR, r#"out = made("1")"#, &[]).unwrap().ok();
    assert_eq!(made, "apiVersion: v1\ndata:\n  v: \"1\"\nkind: ConfigMap\nmetadata:\n  name: made\n");
    assert!(build(VALIDATOR, "", &[]).unwrap().ok().contains("k: old"));
    let changed = build(VALIDATOR, r#"out = made("1")"#, &[]).unwrap();
    changed.fails_with(&["validator shouldn't modify", "running the validator ex.io/v1 Any"]);
}

#[test]
fn shared_object_is_used_beside_a_non_executable_file_with_a_warning() {
    let tree = Tree::new(GENERATOR);
    if !place_any(&tree, "Any", r#"out = made("1")"#, &[]) {
        return;
    }
    let run = tree.build(&[]);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    run.ok();
    fs::write(place(&tree, "Any").with_extension(""), "no program").unwrap();
    let run = tree.build(&[]);
    assert!(run.stderr.contains("is not executable") && run.stderr.contains("Any.so' is used"), "{}", run.stderr);
    run.ok();
    tree.plugin(
        "Any",
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: of-the-executable}\\n'\n",
    );
    assert!(tree.build(&[]).ok().contains("of-the-executable"));
}

#[test]
fn a_call_gets_configuration_root_and_options_in_the_roots_directory() {
    let act = r#"char cwd[4096]; getcwd(cwd, sizeof cwd); char *t; char root[4096];
        snprintf(root, sizeof root, "%.*s", (int)q->root.len, (char *)q->root.data);
        if (asprintf(&t, "%d %d %s %d", q->mode, strcmp(cwd, root), strstr((char *)q->options.data, "RootOnly") ? "rooted" : "free",
            (int)q->resources.len) < 0) abort();
        out = made(strcmp(setting(q, "extra: "), "value") ? "other" : t)"#;
    let act = act.replace('\n', " ");
    let tree = Tree::new(GENERATOR);
    tree.write("t.yaml", "kind: Any # a comment\nextra: value\napiVersion: ex.io/v1\nmetadata: {name: t}\n");
    if place_any(&tree, "Any", &act, &[]) {
        assert!(tree.build(&[]).ok().contains("v: 1 0 rooted 0"));
        assert!(tree.build(&["--load-restrictor", "LoadRestrictionsNone"]).ok().contains("v: 1 0 free 0"));
    }
}

#[test]
fn one_process_serves_the_build() {
    let tree = Tree::new(GENERATOR);
    tree.write(
        "t.yaml",
        "apiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: one\n---\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: two\n",
    );
    let act = r#"char *t; if (asprintf(&t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made-%d, annotations: {pid: '%d'}}\n", calls, getpid()) < 0) abort(); out = t"#;
    if place_any(&tree, "Any", act, &[]) {
        let out = tree.build(&[]).ok();
        let pids: Vec<&str> = out.lines().filter_map(|line| line.trim().strip_prefix("pid: ")).collect();
        assert!(out.contains("made-1") && out.contains("made-2") && pids.len() == 2 && pids[0] == pids[1], "{out}");
        assert_gone(pids[0].trim_matches('"'));
    }
}

#[test]
fn what_a_shared_object_prints_stands_in_its_order() {
    let tree = Tree::new(TRANSFORMER);
    let one = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n");
    tree.write("cm.yaml", &[one("a"), one("b")].join("---\n"));
    tree.write("kustomization.yaml", "resources: [cm.yaml]\ntransformers: [t.yaml]\nsortOptions: {order: fifo}\n");
    let act = format!("out = \"{}\"", [one("c"), one("b"), one("a")].join("---\n").replace('\n', "\\n"));
    if place_any(&tree, "Any", &act, &[]) {
        let out = tree.build(&[]).ok();
        let at = |name: &str| out.find(name).unwrap();
        assert!(at("name: c") < at("name: b") && at("name: b") < at("name: a"), "{out}");
    }
}

#[test]
fn old_names_pass_through_a_shared_object() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [base]\ntransformers: [t.yaml]\nnameSuffix: -b\n\
         -- base/kustomization.yaml --\nresources: [pod.yaml]\nnamePrefix: a-\nconfigMapGenerator: [{name: cm, literals: [k=1]}]\n\
         -- base/pod.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes: [{name: v, configMap: {name: cm}}]\n\
         -- t.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\n",
    );
    let plain = Tree::new("");
    if place_any(&tree, "Any", "", &[]) {
        let out = tree.build(&[]).ok();
        assert!(out.contains("name: a-cm-b-") && !out.contains("internal.config"), "{out}");
        assert_eq!(out.matches("name: a-cm-b-").count(), 2, "{out}");
    }
    drop(plain);
}

#[test]
fn a_field_that_asks_for_what_the_plugin_does_not_do_is_an_error() {
    let tree = Tree::new(GENERATOR);
    if place_any(&tree, "Any", "", &[r#"-DMODES="\"transform\"""#]) {
        tree.build(&[]).fails_with(&["t.yaml:1:1", "is not a generator", "it can: transform"]);
    }
    for (field, role) in [("transformers", "transformer"), ("validators", "validator")] {
        let tree = Tree::new(&GENERATOR.replace("generators", field));
        if place_any(&tree, "Any", "", &[r#"-DMODES="\"generate\"""#]) {
            tree.build(&[]).fails_with(&["t.yaml:1:1", &format!("is not a {role}"), "it can: generate"]);
        }
    }
    // An installed plugin says what it does, whatever runs it.
    for (lists, field, words) in [
        ("generators", "transformers", "is a generator for"),
        ("transformers", "generators", "is a transformer for"),
        ("transformers", "validators", "is a transformer for"),
        ("validators", "transformers", "is a validator for"),
    ] {
        let tree = Tree::new(&GENERATOR.replace("generators", field));
        let none = format!("[], \"{lists}\": [{{\"name\": \"any\", \"apiVersion\": \"ex.io/v1\", \"kind\": \"Any\"}}]");
        let none = if lists == "generators" { none.replace("[], \"generators\": ", "") } else { none };
        crate::support::plugins::install(
            &tree,
            "h.io/acme/any",
            &crate::support::plugins::script_with("1.0.0", "x1.0", &none, "x"),
        )
        .ok();
        tree.build(&[]).fails_with(&["t.yaml:1:1", words, &format!("list the object under '{lists}'")]);
    }
    fails(GENERATOR, "return RUSTOMIZE_UNSUPPORTED", &[], &["it cannot do what the field that lists it asks for"]);
}

#[test]
fn an_error_of_the_plugin_is_shown() {
    let act = r#"r->error = copy("no such token", 13); return RUSTOMIZE_ERROR"#;
    fails(TRANSFORMER, act, &[], &["plugin ex.io/v1 Any t", "no such token"]);
    fails(TRANSFORMER, &act.replace("ERROR", "PANIC"), &[], &["it panicked: no such token"]);
    fails(TRANSFORMER, "return 77", &[], &["broke the rules", "returned 77"]);
    fails(
        TRANSFORMER,
        "r->output.len = 9; return RUSTOMIZE_OK",
        &[],
        &["broke the rules", "9 bytes at a null address"],
    );
}

#[test]
fn shared_object_that_cannot_be_opened_is_explained() {
    let tree = Tree::new(TRANSFORMER);
    let open = |source: &str| {
        let from = tree.tmp().join("plugin.c");
        fs::write(&from, source).unwrap();
        let made = cc(&from, &place(&tree, "Any"), &["-shared", "-fPIC"]);
        fs::remove_file(from).unwrap();
        made.map(|()| tree.build(&[]))
    };
    let Some(foreign) = open("unsigned rustomize_plugin_abi_version(void) { return 99; }") else { return };
    foreign.fails_with(&["t.yaml:1:1", "is for version 99 of the plugin interface; this is version 1"]);
    let missing = open("unsigned rustomize_plugin_abi_version(void) { return 1; }").unwrap();
    missing.fails_with(&["does not export 'rustomize_plugin_describe'"]);
    let unresolved =
        open("int nowhere(void); unsigned rustomize_plugin_abi_version(void) { return nowhere(); }").unwrap();
    unresolved.fails_with(&["cannot be loaded", "undefined symbol: nowhere"]);
    let ends = "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { exit(3); }\nunsigned rustomize_plugin_abi_version(void) { return 1; }";
    open(ends).unwrap().fails_with(&["ended in the middle of a call", "exit status: 3"]);
}

#[test]
fn a_plugin_that_ends_its_process_is_an_error() {
    for (act, words) in [
        ("abort()", "SIGABRT"),
        ("signal(SIGSEGV, SIG_DFL); raise(SIGSEGV)", "SIGSEGV"),
        ("*(volatile int *)0 = 1", "SIGSEGV"),
        ("exit(0)", "exit status: 0"),
        ("_exit(7)", "exit status: 7"),
        (r#"fprintf(stderr, "last words\n"); abort()"#, "last words"),
    ] {
        fails(TRANSFORMER, act, &[], &["Any.so' ended in the middle of a call", words]);
    }
}

#[test]
fn a_plugin_that_never_returns_is_ended() {
    let limit = ["--plugin-timeout", "300ms"];
    for act in ["for (;;) pause()", "for (;;) ;", "close(0); close(1); close(2); for (;;) pause()", "raise(SIGSTOP)"] {
        fails(TRANSFORMER, act, &limit, &["Any.so' took longer than 0.3 s", "--plugin-timeout"]);
    }
    let tree = Tree::new(TRANSFORMER);
    if place_any(&tree, "Any", "", &["-DLOAD=for(;;)pause()"]) {
        tree.build(&limit).fails_with(&["took longer than 0.3 s"]);
    }
}

#[test]
fn a_request_larger_than_a_pipe_reaches_a_plugin_that_answers_with_more() {
    let tree = Tree::new(TRANSFORMER);
    let one = |i: usize| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i}\ndata:\n  k: {}\n", "x".repeat(1000))
    };
    tree.write("cm.yaml", &(0..4000).map(one).collect::<Vec<_>>().join("---\n"));
    if place_any(&tree, "Any", "", &[]) {
        assert_eq!(tree.build(&[]).ok().matches("xxxx\n").count(), 4000);
    }
}

#[test]
fn a_plugin_that_does_not_listen_is_ended() {
    let tree = Tree::new(TRANSFORMER);
    tree.write(
        "cm.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: {}\n", "x".repeat(8 << 20)),
    );
    if place_any(&tree, "Any", "", &["-DLOAD=if(!fork())for(;;)pause()"]) {
        tree.build(&[]).ok();
    }
    // The whole process stops after it has described itself: nobody reads.
    let stop = "-DMODES=\"\\\"transform\\\"\"";
    let late = "-DLOAD=signal(SIGALRM,SIG_DFL);if(!fork()){usleep(100000);kill(getppid(),SIGSTOP);_exit(0);}";
    if place_any(&tree, "Any", "usleep(3000000)", &[stop, late]) {
        tree.build(&["--plugin-timeout", "1s"]).fails_with(&["took longer than 1 s"]);
    }
}

#[test]
fn processes_that_a_plugin_starts_do_not_outlive_it() {
    let tree = Tree::new(GENERATOR);
    tree.write(
        "t.yaml",
        &format!(
            "apiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\nfile: {}\n",
            tree.home().join("pids").display()
        ),
    );
    // One that stays in the group and holds all pipes, one that leaves it, one that leaves it
    // twice.
    let act = r#"
        int gate[2]; char c; if (pipe(gate)) abort();
        for (int i = 0; i < 3; i++) if (!fork()) {
            if (i > 0) setsid();
            if (i > 1 && fork()) _exit(0);
            int f = open(setting(q, "file: "), O_WRONLY|O_APPEND|O_CREAT, 0600); dprintf(f, "%d\n", getpid()); close(f);
            if (write(gate[1], "x", 1) != 1) abort();
            for (;;) pause();
        }
        for (int i = 0; i < 3; i++) if (read(gate[0], &c, 1) != 1) abort();
        out = made("1"); @END@"#
        .replace('\n', " ");
    for (end, args, ok) in
        [("", &[][..], true), ("abort()", &[], false), ("for (;;) pause()", &["--plugin-timeout", "1s"], false)]
    {
        if !place_any(&tree, "Any", &act.replace("@END@", end), &[]) {
            return;
        }
        let run = tree.build(args);
        assert_eq!(run.status, Some(if ok { 0 } else { 1 }), "{}", run.stderr);
        let pids = fs::read_to_string(tree.home().join("pids")).unwrap();
        assert_eq!(pids.lines().count(), 3);
        pids.lines().for_each(assert_gone);
        fs::remove_file(tree.home().join("pids")).unwrap();
    }
}

#[test]
fn memory_and_output_have_limits() {
    let eat = "for (;;) { char *p = malloc(1 << 24); if (!p) { r->error = copy(\"no memory\", 9); return RUSTOMIZE_ERROR; } memset(p, 1, 1 << 24); }";
    fails(TRANSFORMER, eat, &["--plugin-memory-limit", "3GiB"], &["no memory"]);
    let flood = "static char big[1 << 20]; memset(big, 'x', sizeof big - 1); out = big";
    fails(
        TRANSFORMER,
        flood,
        &["--plugin-output-limit", "64KiB"],
        &["printed more than 65536 bytes", "--plugin-output-limit"],
    );
    let shout = "static char big[1 << 20]; memset(big, 'x', sizeof big - 1); for (int i = 0; i < 64; i++) fputs(big, stdout); fflush(stdout)";
    let Some(run) = build(TRANSFORMER, shout, &[]) else { return };
    // The plugin writes 64 MiB to stderr. The first 16 MiB are shown, and the build goes on.
    assert!((15 << 20..17 << 20).contains(&run.stderr.len()), "{}", run.stderr.len());
    assert!(run.stderr.ends_with("no more is shown)\n"));
    assert!(run.ok().starts_with("apiVersion"));
}

#[test]
fn stray_prints_do_not_reach_stdout() {
    let act = r#"printf("to stdout\n"); fflush(stdout); if (write(1, "to 1\n", 5) != 5) abort(); if (system("echo of a child")) abort()"#;
    let Some(run) = build(TRANSFORMER, act, &[]) else { return };
    for word in ["to stdout", "to 1", "of a child"] {
        assert!(run.stderr.contains(word), "{}", run.stderr);
    }
    assert_eq!(run.ok(), "apiVersion: v1\ndata:\n  k: old\nkind: ConfigMap\nmetadata:\n  name: a\n");
}

#[test]
fn output_that_is_not_resources_is_shown_with_its_line() {
    fails(TRANSFORMER, r#"out = "\xff\xfe""#, &[], &["not valid UTF-8"]);
    let tree = |act: &str| build(TRANSFORMER, act, &[]);
    let Some(run) = tree(r#"out = "apiVersion: v1\nkind: [\n""#) else { return };
    run.fails_with(&["the output of plugin ex.io/v1 Any t", ":3:", "not YAML"]);
    tree(r#"out = "hello\n""#)
        .unwrap()
        .fails_with(&["the output of plugin ex.io/v1 Any t", "missing Resource metadata"]);
    tree(r#"out = "apiVersion: v1\nkind: A\nmetadata: {}\n""#).unwrap().fails_with(&["missing metadata.name"]);
    let one = r"apiVersion: v1\nkind: A\nmetadata: {name: a}\n";
    tree(&format!("out = \"{one}---\\n{one}\"")).unwrap().fails_with(&["already registered id", "A a"]);
}

#[test]
fn a_plugin_that_tampers_with_its_pipes_hurts_only_itself() {
    // All descriptors, the private ones too.
    fails(TRANSFORMER, "for (int i = 0; i < 1000; i++) close(i)", &[], &["ended in the middle of a call"]);
    let noise = "for (int i = 3; i < 100; i++) { struct stat s; if (!fstat(i, &s) && S_ISFIFO(s.st_mode) && (fcntl(i, F_GETFL) & O_ACCMODE) != O_RDONLY) if (write(i, \"\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\", 10) != 10) abort(); }";
    fails(TRANSFORMER, noise, &[], &["printed more than"]);
}

#[test]
fn secrets_do_not_stay_in_files_or_messages() {
    for act in ["abort()", "for (;;) ;", "return 5", ""] {
        let tree = Tree::new(TRANSFORMER);
        tree.write("t.yaml", "apiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\npassword: hunter2\n");
        if !place_any(&tree, "Any", act, &[]) {
            return;
        }
        let run = tree.build(&["--plugin-timeout", "300ms"]);
        assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
        let found = crate::support::files(&tree.home(), "");
        assert!(
            found.iter().all(|path| !String::from_utf8_lossy(&fs::read(path).unwrap()).contains("hunter2")),
            "{found:?}"
        );
    }
}

#[test]
fn an_interrupted_build_ends_its_plugins() {
    let tree = Tree::new(TRANSFORMER);
    tree.write(
        "t.yaml",
        &format!(
            "apiVersion: ex.io/v1\nkind: Any\nmetadata:\n  name: t\nfile: {}\n",
            tree.home().join("pid").display()
        ),
    );
    let act = r#"char n[5000]; snprintf(n, sizeof n, "%s.new", setting(q, "file: ")); FILE *f = fopen(n, "w"); fprintf(f, "%d", getpid()); fclose(f); rename(n, setting(q, "file: ")); for (;;) pause()"#;
    if !place_any(&tree, "Any", act, &[]) {
        return;
    }
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let mut child =
            tree.command(&["build", "--enable-alpha-plugins"]).stderr(std::process::Stdio::null()).spawn().unwrap();
        while !tree.home().join("pid").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = fs::read_to_string(tree.home().join("pid")).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        assert_gone(&pid);
        fs::remove_file(tree.home().join("pid")).unwrap();
    }
}

#[test]
fn plugin_host_cannot_be_called_by_hand() {
    let tree = Tree::new("");
    let host = rustomize_plugins::isolation::ARGUMENT;
    tree.run(&[host]).fails_with(&["is internal"]);
    tree.run(&[host, "{}"]).fails_with(&["is internal"]);
    tree.run(&[host, "nonsense", "/x"]).fails_with(&["is internal"]);
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let other = std::process::Command::new(env!("CARGO_BIN_EXE_rustomize-plugin-host"))
        .args(["__plugin-host@0.0.0", "{}", "/x"])
        .output()
        .unwrap();
    assert!(!other.status.success());
    assert!(String::from_utf8_lossy(&other.stderr).contains("builds of this version"));
}
