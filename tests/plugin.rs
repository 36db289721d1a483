//! Exec plugins, those that do as kustomize documents and those that misbehave. All with real
//! processes.

use crate::support::{Run, Tree};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

/// A generator that prints one ConfigMap with whatever `data` the shell makes.
fn config_map(script: &str) -> String {
    format!(
        "#!/bin/sh\n{script}\ncat <<Y\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\ndata:\n  v: \"$v\"\nY\n"
    )
}

const GENERATOR: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\n";

const TRANSFORMER: &str = "-- kustomization.yaml --\nresources: [cm.yaml]\ntransformers: [t.yaml]\n\
    -- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: old\n\
    -- t.yaml --\napiVersion: ex.io/v1\nkind: Change\nmetadata:\n  name: t\n";

/// A generator whose `v` is what `script` leaves in it.
fn generate(script: &str) -> String {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", &config_map(script));
    tree.build(&[]).ok()
}

fn transform(script: &str) -> Run {
    let tree = Tree::new(TRANSFORMER);
    tree.plugin("Change", script);
    tree.build(&[])
}

#[test]
fn every_object_of_an_entry_is_a_configuration() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: one\n---\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: two\n",
    );
    tree.plugin("Make", "#!/bin/sh\nsed -e 's/^apiVersion.*/apiVersion: v1/' -e 's/^kind.*/kind: ConfigMap/' \"$1\"\n");
    let out = tree.build(&[]).ok();
    assert!(out.contains("name: one") && out.contains("name: two"), "{out}");
}

#[test]
fn a_relative_file_is_looked_for_in_the_root() {
    let tree = Tree::new(
        "-- app/kustomization.yaml --\ngenerators: [g.yaml]\n-- app/g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\n",
    );
    tree.plugin("Make", &config_map("v=1"));
    tree.build(&["app"]).ok();
    Tree::new("-- app/kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\na: b\n")
        .build(&["app"])
        .fails_with(&["g.yaml", "no such file"]);
}

#[test]
fn kind_is_required_and_a_missing_api_version_is_named() {
    let entry =
        |object: &str| Tree::new(&format!("-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\n{object}"));
    entry("apiVersion: ex.io/v1\nmetadata:\n  name: g\n").build(&[]).fails_with(&["missing kind", "g.yaml:1:1"]);
    let tree = entry("kind: Make\nmetadata:\n  name: g\n");
    tree.plugin("Make", &config_map("v=1"));
    tree.build(&[]).fails_with(&["no plugin", "no apiVersion"]);
    // Its plugin is that of the kind alone, as with kustomize.
    tree.write("../home/.config/kustomize/plugin/make/Make", &config_map("v=of-the-kind"));
    assert!(tree.build(&[]).ok().contains("v: of-the-kind\n"));
}

#[test]
fn the_plugin_gets_the_whole_configuration() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\nkind: Make # a comment\napiVersion: ex.io/v1\nmetadata: {name: g}\nextra: {list: [1, two], text: 'x: y'}\n",
    );
    tree.plugin("Make", "#!/bin/sh\necho 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata:\n  c: |'\nsed 's/^/    /' \"$1\"\n");
    let out = tree.build(&[]).ok();
    let want = "  c: |\n    apiVersion: ex.io/v1\n    extra:\n      list:\n      - 1\n      - two\n      text: 'x: y'\n    kind: Make\n    metadata:\n      name: g\n";
    assert!(out.contains(want), "{out}");
}

#[test]
fn plugin_directory_is_api_version_and_lower_case_kind() {
    let mut tree = Tree::new(GENERATOR);
    tree.write("xdg/kustomize/plugin/ex.io/v1/make/Make", &config_map("v=xdg"));
    tree.variables.insert("XDG_CONFIG_HOME", tree.path().join("xdg").to_string_lossy().into_owned());
    assert!(tree.build(&[]).ok().contains("v: xdg"));
}

#[test]
fn the_config_home_defaults_to_dot_config_and_the_homes_have_an_order() {
    let mut tree = Tree::new(GENERATOR);
    tree.write("../home/kustomize/plugin/ex.io/v1/make/Make", &config_map("v=last"));
    assert!(tree.build(&[]).ok().contains("v: last"));
    tree.plugin("Make", &config_map("v=config"));
    assert!(tree.build(&[]).ok().contains("v: config"));
    tree.write("xdg/kustomize/plugin/ex.io/v1/make/Make", &config_map("v=xdg"));
    tree.variables.insert("XDG_CONFIG_HOME", tree.path().join("xdg").to_string_lossy().into_owned());
    assert!(tree.build(&[]).ok().contains("v: xdg"));
    tree.write("own/ex.io/v1/make/Make", &config_map("v=own"));
    tree.variables.insert("KUSTOMIZE_PLUGIN_HOME", tree.path().join("own").to_string_lossy().into_owned());
    assert!(tree.build(&[]).ok().contains("v: own"));
}

#[test]
fn other_files_in_the_plugins_directory_do_not_matter() {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", &config_map("v=1"));
    for name in ["go.mod", "Make_test.go", "data/x.yaml", "README.md"] {
        tree.write(&format!("../home/.config/kustomize/plugin/ex.io/v1/make/{name}"), "not for you {");
    }
    // Programs, too.
    for name in ["A", "make", "Make.sh", "Make.py"] {
        tree.write(&format!("../home/.config/kustomize/plugin/ex.io/v1/make/{name}"), &config_map("v=other"));
    }
    assert!(tree.build(&[]).ok().contains("v: \"1\"\n"));
}

#[test]
fn without_an_executable_the_shared_object_is_next() {
    let tree = Tree::new(GENERATOR);
    let so = "../home/.config/kustomize/plugin/ex.io/v1/make/Make.so";
    tree.write(so, "no ELF");
    tree.build(&[]).fails_with(&["Make.so", "shared object"]);
    tree.plugin("Make", &config_map("v=1"));
    tree.build(&[]).ok();
    let plugin = tree.home().join(".config/kustomize/plugin/ex.io/v1/make/Make");
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o644)).unwrap();
    tree.build(&[]).fails_with(&["Make.so", "shared object"]);
}

#[test]
fn a_plugin_that_is_missing_or_cannot_run_fails_the_build() {
    let tree = Tree::new(GENERATOR);
    tree.build(&[]).fails_with(&["unable to find plugin root", "KUSTOMIZE_PLUGIN_HOME"]);
    tree.plugin("Other", "#!/bin/sh\n");
    tree.build(&[]).fails_with(&["no plugin", "g.yaml:1:1"]);
    tree.plugin("Make", &config_map("v=1"));
    let plugin = tree.home().join(".config/kustomize/plugin/ex.io/v1/make/Make");
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o644)).unwrap();
    tree.build(&[]).fails_with(&["unexecutable plugin", "chmod +x"]);
    // Neither of the two files is fit for use.
    tree.write("../home/.config/kustomize/plugin/ex.io/v1/make/Make.so", "no ELF");
    tree.build(&[]).fails_with(&["Make.so", "shared object", "g.yaml:1:1"]);
    tree.plugin("Make", "#!/no/such/interpreter\n");
    tree.build(&[]).fails_with(&["cannot be started", "interpreter"]);
}

#[test]
fn transformers_run_in_the_order_of_the_list() {
    let tree = Tree::new(TRANSFORMER);
    tree.write("kustomization.yaml", "resources: [cm.yaml]\ntransformers: [t.yaml, u.yaml]\n");
    tree.write("t.yaml", "apiVersion: ex.io/v1\nkind: Change\nmetadata:\n  name: t\nargsOneLiner: one\n");
    tree.write("u.yaml", "apiVersion: ex.io/v1\nkind: Change\nmetadata:\n  name: u\nargsOneLiner: two\n");
    tree.plugin("Change", "#!/bin/sh\nsed \"s/k: .*/&-$2/\"\n");
    assert!(tree.build(&[]).ok().contains("k: old-one-two"));
    tree.write("kustomization.yaml", "resources: [cm.yaml]\ntransformers: [u.yaml, t.yaml]\n");
    assert!(tree.build(&[]).ok().contains("k: old-two-one"));
}

#[test]
fn without_the_flag_the_build_fails_and_says_so() {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", &config_map("touch \"$HOME/ran\"; v=1"));
    tree.run(&["build"]).fails_with(&["external plugins disabled", "--enable-alpha-plugins"]);
    tree.run(&["build", "--enable-alpha-plugins=false"]).fails_with(&["external plugins disabled"]);
    assert!(!tree.home().join("ran").exists(), "the plugin ran without the flag");
    for flag in ["--enable-alpha-plugins", "--enable_alpha_plugins", "--enable-alpha-plugins=true"] {
        tree.run(&["build", flag]).ok();
        fs::remove_file(tree.home().join("ran")).unwrap();
    }
}

#[test]
fn a_placed_plugin_can_do_what_the_user_can() {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", &config_map("touch \"$HOME/mark\"; v=$OTHER"));
    let mut command = tree.command(&["build", "--enable-alpha-plugins"]);
    assert!(crate::support::run(command.env("OTHER", "inherited")).ok().contains("v: inherited"));
    assert!(tree.home().join("mark").exists());
}

#[test]
fn the_argument_is_a_file_named_as_the_users() {
    assert!(generate("v=$#-$(basename \"$1\")").contains("v: 1-g.yaml"));
    let out = generate("v=$(stat -c %a \"$1\")-$(stat -c %a \"$(dirname \"$1\")\")");
    assert!(out.contains("v: 600-700"), "{out}");
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators:\n- |-\n  apiVersion: ex.io/v1\n  kind: Make\n  metadata:\n    name: inline\n  argsOneLiner: \"a 'b c'\"\n  argsFromFile: args.txt\n-- args.txt --\n  lead\n\ntail # kept \n",
    );
    tree.plugin("Make", &config_map("v=\"$#-$(basename \"$1\")-$3-$4-$5\""));
    assert!(tree.build(&[]).ok().contains("v: '5-make-inline.yaml-b c-lead-tail # kept '"));
}

#[test]
fn one_executable_serves_as_generator_and_transformer() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [c.yaml]\ntransformers: [c.yaml]\n-- c.yaml --\napiVersion: ex.io/v1\nkind: Both\nmetadata:\n  name: c\n",
    );
    tree.plugin("Both", "#!/bin/sh\nif [ $KUSTOMIZE_PLUGIN_MODE = generate ]; then printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: m}\\ndata: {k: old}\\n'; else sed s/old/new/; fi\n");
    assert!(tree.build(&[]).ok().contains("k: new"));
}

#[test]
fn the_mode_and_the_configuration_are_in_the_environment() {
    let tree = Tree::new(&GENERATOR.replace("-- ", "-- app/"));
    tree.plugin(
        "Make",
        &config_map("v=$KUSTOMIZE_PLUGIN_MODE-$(basename \"$KUSTOMIZE_PLUGIN_CONFIG_ROOT\")-$(basename \"$PWD\")"),
    );
    let out = tree.build(&["app"]).ok();
    assert!(out.contains("v: generate-app-app"), "{out}");
    let out = generate("printf %s \"$KUSTOMIZE_PLUGIN_CONFIG_STRING\" | cmp -s - \"$1\"; v=$?-$(wc -c < \"$1\")");
    assert!(out.contains("v: 0-52"), "the string is the file, with the line break at its end: {out}");
    let out = transform("#!/bin/sh\nsed \"s/old/$KUSTOMIZE_PLUGIN_MODE/\"\n").ok();
    assert!(out.contains("k: transform"), "{out}");
    let tree = Tree::new(GENERATOR);
    tree.write(
        "g.yaml",
        &format!("apiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\nbig: {}\n", "x".repeat(131_072)),
    );
    tree.plugin("Make", &config_map("v=${KUSTOMIZE_PLUGIN_CONFIG_STRING-unset}"));
    let run = tree.build(&[]);
    assert!(run.stderr.contains("exceeds hard limit of 131071"), "{}", run.stderr);
    assert!(run.ok().contains("v: unset"));
}

#[test]
fn a_generator_reads_nothing() {
    assert!(generate("v=$(cat | wc -c | tr -d ' ')").contains("v: \"0\""));
}

#[test]
fn a_transformer_reads_all_resources_and_prints_what_stays() {
    let out = transform("#!/bin/sh\nsed s/old/new/\n").ok();
    assert_eq!(out, "apiVersion: v1\ndata:\n  k: new\nkind: ConfigMap\nmetadata:\n  name: a\n");
    assert_eq!(transform("#!/bin/sh\n").ok(), "");
    let added =
        transform("#!/bin/sh\ncat; printf -- '---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: b}\\n'\n").ok();
    assert!(added.contains("name: a") && added.contains("name: b"), "{added}");
    // All resources are on stdin, and what is not printed is gone.
    let tree = Tree::new(TRANSFORMER);
    let config_map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n");
    tree.write("cm.yaml", &["a", "b", "c"].map(config_map).join("---\n"));
    tree.plugin("Change", "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: only}\\ndata: {read: \"%s\"}\\n' $(grep -c '^kind: ')\n");
    let only = "apiVersion: v1\ndata:\n  read: \"3\"\nkind: ConfigMap\nmetadata:\n  name: only\n";
    assert_eq!(tree.build(&[]).ok(), only);
}

#[test]
fn a_transformer_does_not_see_variables_and_cannot_lose_them() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [base]\ntransformers: [t.yaml]\n\
         -- base/kustomization.yaml --\nresources: [cm.yaml]\nnamePrefix: p-\nvars:\n- name: V\n  objref: {apiVersion: v1, kind: ConfigMap, name: a}\n  fieldref: {fieldPath: data.k}\n\
         -- base/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {v: $(V)}\ndata:\n  k: old\n\
         -- t.yaml --\napiVersion: ex.io/v1\nkind: Change\nmetadata:\n  name: t\n",
    );
    tree.plugin("Change", "#!/bin/sh\ntee seen | sed -e '/internal.config/d' -e 's/old/new/'\n");
    let out = tree.build(&[]).ok();
    assert!(out.contains("    v: new\n") && out.contains("  name: p-a\n"), "{out}");
    let seen = fs::read_to_string(tree.path().join("seen")).unwrap();
    assert!(seen.contains("previousNames: a") && !seen.contains("refBy"), "{seen}");
}

#[test]
fn needs_hash_switches_the_suffix() {
    let generator = |value: &str| {
        let tree = Tree::new(GENERATOR);
        tree.plugin("Make", &format!("#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: cm-test\\n{value}data: {{foo: bar}}\\n'\n"));
        tree.build(&[])
    };
    let annotation = |v| format!("  annotations: {{kustomize.config.k8s.io/needs-hash: {v}}}\\n");
    assert!(generator(&annotation("\"true\"")).ok().contains("name: cm-test-798k5k7g9f"));
    assert!(generator(&annotation("\"false\"")).ok().contains("name: cm-test\n"));
    assert!(generator("").ok().contains("name: cm-test\n"));
    generator(&annotation("\"maybe\"")).fails_with(&["needs-hash", "invalid value (\"maybe\")"]);
}

#[test]
fn a_hash_on_another_kind_fails_the_build() {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: Service\\nmetadata:\\n  name: s\\n  annotations: {kustomize.config.k8s.io/needs-hash: \"true\"}\\n'\n");
    tree.build(&[]).fails_with(&["Service s", "only ConfigMap and Secret", "not from a file"]);
    // A file may ask for it as long as no step changes the resource.
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  annotations: \
        {internal.config.kubernetes.io/needsHashSuffix: enabled}\nspec: {a: b}\n";
    let changes = [
        "namePrefix: a-",
        "namespace: ns",
        "labels: [{pairs: {a: b}}]",
        "commonAnnotations: {a: b}",
        "patches:\n- patch: |-\n    - {op: replace, path: /spec/a, value: c}\n  target: {kind: Job}",
        "patches: [{patch: '{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {c: d}}'}]",
        "buildMetadata: [originAnnotations]",
    ];
    for change in changes {
        let tree = Tree::new(&format!("-- kustomization.yaml --\nresources: [j.yaml]\n{change}\n-- j.yaml --\n{job}"));
        tree.build(&[]).fails_with(&["Job", "asks for a name hash", "a step has changed this one"]);
    }
    let text = job.replace("spec: {a: b}", "x: &x {a: b}\nspec:\n  <<: *x");
    let tree = Tree::new(&format!("-- kustomization.yaml --\nresources: [j.yaml]\n-- j.yaml --\n{text}"));
    tree.build(&[]).fails_with(&["asks for a name hash", "merge keys"]);
}

#[test]
fn behavior_governs_conflicts() {
    let with = |behavior: &str| {
        let tree = Tree::new(
            "-- kustomization.yaml --\nresources: [base]\ngenerators: [g.yaml]\n-- base/kustomization.yaml --\nconfigMapGenerator: [{name: cm, literals: [a=1, b=2]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\n",
        );
        tree.plugin("Make", &format!("#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: cm\\n  annotations: {{kustomize.config.k8s.io/behavior: {behavior}}}\\ndata: {{b: new}}\\n'\n"));
        tree.build(&[])
    };
    assert!(with("merge").ok().contains("data:\n  a: \"1\"\n  b: new\n"));
    assert!(with("replace").ok().contains("data:\n  b: new\nkind"));
    with("create").fails_with(&["exists", "behavior must be merge or replace"]);
    let odd = with("sometimes");
    assert!(odd.stderr.contains("counts as none"), "{}", odd.stderr);
    odd.fails_with(&["exists"]);
}

#[test]
fn neither_annotation_is_in_the_output() {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: cm\\n  annotations:\\n    kustomize.config.k8s.io/behavior: create\\n    kustomize.config.k8s.io/needs-hash: \"true\"\\n    mine: kept\\n'\n");
    let out = tree.build(&[]).ok();
    assert!(out.contains("mine: kept") && !out.contains("kustomize.config"), "{out}");
    // What a file or a transformer sets stays, as with kustomize.
    let annotations =
        "    kustomize.config.k8s.io/behavior: create\n    kustomize.config.k8s.io/needs-hash: \"true\"\n";
    let tree = Tree::new(TRANSFORMER);
    let of_file =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n".to_owned() + annotations + "  name: a\n";
    tree.write("cm.yaml", &of_file);
    tree.plugin("Change", "#!/bin/sh\ncat\n");
    assert_eq!(tree.build(&[]).ok(), of_file);
    tree.write("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
    let shown = annotations.replace('\n', "\\n").replace('"', "\\\"");
    tree.plugin("Change", &format!("#!/bin/sh\nprintf \"apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  annotations:\\n{shown}  name: a\\n\"\n"));
    assert_eq!(tree.build(&[]).ok(), of_file);
}

#[test]
fn a_failing_plugin_is_named_with_its_configuration_and_its_last_words() {
    let error = transform("#!/bin/sh\necho first >&2\necho 'no such token' >&2\necho half\nexit 3\n").fails_with(&[
        "t.yaml:1:1",
        "Change",
        "exit status: 3",
        "no such token",
    ]);
    assert!(error.contains("ex.io/v1 Change t"), "{error}");
}

#[test]
fn stderr_is_shown_when_all_is_well() {
    let run = transform("#!/bin/sh\necho 'a word' >&2\ncat\n");
    assert!(run.stderr.contains("a word"));
    run.ok();
}

#[test]
fn a_hanging_plugin_is_ended() {
    for script in ["#!/bin/sh\nsleep 600\n", "#!/bin/sh\nsleep 600 &\nsleep 600\n"] {
        let tree = Tree::new(TRANSFORMER);
        tree.plugin("Change", script);
        tree.build(&["--plugin-timeout", "300ms"]).fails_with(&["took longer", "--plugin-timeout"]);
    }
}

#[test]
fn a_background_process_that_holds_the_output_counts_as_hanging() {
    let tree = Tree::new(TRANSFORMER);
    tree.plugin("Change", "#!/bin/sh\nsleep 600 &\ncat\n");
    tree.build(&["--plugin-timeout", "300ms"]).fails_with(&["took longer", "left a process behind"]);
}

#[test]
fn invalid_output_is_shown_with_its_line() {
    transform("#!/bin/sh\nprintf 'apiVersion: v1\\nkind: [\\n'\n").fails_with(&[
        "the output of plugin ex.io/v1 Change t",
        ":3:",
        "not YAML",
    ]);
    transform("#!/bin/sh\necho hello\n")
        .fails_with(&["the output of plugin ex.io/v1 Change t", "missing Resource metadata"]);
    transform("#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n'\n")
        .fails_with(&["missing metadata.name"]);
    transform("#!/bin/sh\nprintf '\\377\\376'\n").fails_with(&["not valid UTF-8"]);
    transform("#!/bin/sh\ncat > /tmp/x.$$; cat /tmp/x.$$; echo ---; cat /tmp/x.$$; rm /tmp/x.$$\n")
        .fails_with(&["duplicate resource"]);
}

#[test]
fn endless_output_is_stopped() {
    let tree = Tree::new(GENERATOR);
    tree.plugin("Make", "#!/bin/sh\nexec cat /dev/zero\n");
    tree.build(&["--plugin-output-limit", "64KiB"])
        .fails_with(&["printed more than 65536 bytes", "--plugin-output-limit"]);
}

/// Far more than a pipe holds, both ways.
fn large_tree() -> Tree {
    let tree = Tree::new(TRANSFORMER);
    let one = |i: usize| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i}\ndata:\n  k: {}\n", "x".repeat(1000))
    };
    tree.write("cm.yaml", &(0..4000).map(one).collect::<Vec<_>>().join("---\n"));
    tree
}

#[test]
fn large_inputs_and_outputs_do_not_block_each_other() {
    let tree = large_tree();
    tree.plugin("Change", "#!/bin/sh\nexec sed s/xxxx/yyyy/\n");
    assert_eq!(tree.build(&[]).ok().matches("yyyyxxxx").count(), 4000);
}

#[test]
fn a_plugin_may_close_its_stdin_early() {
    let tree = large_tree();
    tree.plugin(
        "Change",
        "#!/bin/sh\nexec <&-\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: only}\\n'\n",
    );
    assert!(tree.build(&[]).ok().contains("name: only"));
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    let tree = Tree::new(TRANSFORMER);
    tree.plugin("Change", "#!/bin/sh\necho $$ > \"$HOME/pid.new\"\nmv \"$HOME/pid.new\" \"$HOME/pid\"\nsleep 600\n");
    let mut child =
        tree.command(&["build", "--enable-alpha-plugins"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let pid_file = tree.home().join("pid");
    while !pid_file.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid: i32 = fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    tree.assert_nothing_left();
    let is_gone = || match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    while !is_gone() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn the_configuration_is_gone_after_a_failure_too() {
    let tree = Tree::new(GENERATOR);
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\npassword: hunter2\n");
    tree.plugin("Make", "#!/bin/sh\necho \"$1\" > \"$HOME/where\"\nls -ld \"$1\" > \"$HOME/mode\"\nexit 1\n");
    let error = tree.build(&[]).fails_with(&["exit status: 1"]);
    assert!(!error.contains("hunter2"), "{error}");
    let place = fs::read_to_string(tree.home().join("where")).unwrap();
    assert!(fs::metadata(place.trim()).is_err(), "{place} is still there");
    assert!(fs::read_to_string(tree.home().join("mode")).unwrap().starts_with("-rw-------"));
    assert_eq!(fs::metadata(tree.tmp()).unwrap().nlink(), 2);
}

#[test]
fn the_examples_work() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/example/exec");
    let tree = Tree::new("");
    let mut command = tree.command(&["build", "--enable-alpha-plugins"]);
    command.arg(root.join("shop")).env("KUSTOMIZE_PLUGIN_HOME", root.join("home"));
    let out = crate::support::run(&mut command).ok();
    for part in [
        "name: demo-greeting-64592dt546",
        "image: registry.example.com/shop:1.4.2",
        "replicas: 1",
        "name: demo-shop-443",
    ] {
        assert!(out.contains(part), "'{part}' is not in\n{out}");
    }
}

/// Exec plugins of the public shapes that the documentation of kustomize shows, in scripts of our
/// own.
#[test]
fn the_public_shapes_of_exec_plugins_run() {
    // A script that makes a ConfigMap of its arguments.
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: g\nargsOneLiner: reader 's3 cret'\n",
    );
    tree.plugin("Make", &config_map("shift\nv=\"$1+$2\""));
    assert!(tree.build(&[]).ok().contains("v: reader+s3 cret"));
    // sed, whose arguments are partly in a file.
    let tree = Tree::new(TRANSFORMER);
    tree.write(
        "t.yaml",
        "apiVersion: ex.io/v1\nkind: Change\nmetadata:\n  name: t\nargsOneLiner: s/old/new/\nargsFromFile: more.txt\n",
    );
    tree.write("more.txt", "s/k:/l:/\n\n");
    tree.plugin("Change", "#!/bin/bash\nshift\nexec sed \"${@/#/-e}\"\n");
    assert!(tree.build(&[]).ok().contains("  l: new\n"));
    // A chart, rendered by a command that is asked for with what the configuration says.
    let tree = Tree::new(GENERATOR);
    tree.write(
        "g.yaml",
        "apiVersion: ex.io/v1\nkind: Make\nmetadata:\n  name: release\nchart: web\nvalues: values.yaml\n",
    );
    tree.write("values.yaml", "replicas: 3\n");
    tree.write("../home/bin/helm", "#!/bin/sh\n[ \"$1 $2 $3\" = 'template release web' ] || exit 1\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: %s}\\ndata: {v: \"%s\"}\\n---\\n' \"$2\" \"$(sed 's/.*: //' \"$5\")\"\n");
    let field = |name: &str| format!("$(sed -n 's/^ *{name}: //p' \"$1\")");
    tree.plugin(
        "Make",
        &format!(
            "#!/bin/sh\nexec \"$HOME/bin/helm\" template \"{}\" \"{}\" -f \"{}\"\n",
            field("name"),
            field("chart"),
            field("values")
        ),
    );
    assert!(tree.build(&[]).ok().contains("  v: \"3\"\nkind: ConfigMap\nmetadata:\n  name: release\n"));
    // Something fetched from elsewhere, and built.
    let tree = Tree::new(GENERATOR);
    tree.write("../home/elsewhere/kustomization.yaml", "resources: [cm.yaml]\nnamePrefix: far-\n");
    tree.write("../home/elsewhere/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    tree.plugin("Make", &format!("#!/bin/sh\nset -e\nd=$(mktemp -d)\ntrap 'rm -r \"$d\"' EXIT\ncp -r \"$HOME/elsewhere/.\" \"$d\"\n'{}' build \"$d\"\n", crate::support::program()));
    assert!(tree.build(&[]).ok().contains("name: far-a\n"));
}

#[test]
fn each_validator_sees_what_the_ones_before_it_left() {
    let entry = |name: &str| format!("- |-\n  apiVersion: ex.io/v1\n  kind: Check\n  metadata: {{name: {name}}}\n");
    // Each notes what it reads. The third one prints a label, and the last one changes a value.
    let script = "#!/bin/sh\nname=$(sed -n 's/^  name: //p' \"$1\")\ncat > \"seen-$name\"\ncase $name in\n\
                  second) ;;\n\
                  third) sed 's/^  labels:/  labels:\\n    validated-by: third/' seen-third ;;\n\
                  last) sed 's/v: one/v: two/' seen-last ;;\n*) cat \"seen-$name\" ;;\nesac\n";
    let tree = Tree::new(
        "-- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    a: b\n  name: a\ndata:\n  v: one\n",
    );
    tree.plugin("Check", script);
    let build = |names: &[&str]| {
        let entries: String = names.iter().map(|name| entry(name)).collect();
        tree.write("kustomization.yaml", &format!("resources: [cm.yaml]\nvalidators:\n{entries}"));
        tree.build(&[])
    };
    let printed = build(&["first", "second", "third", "fourth"]).ok();
    let seen = |name: &str| fs::read_to_string(tree.path().join(format!("seen-{name}"))).unwrap();
    let label = "    validated-by: third\n";
    assert!(printed.contains(label) && printed.contains("  v: one\n"), "{printed}");
    assert!(seen("first").contains("kustomize.config.k8s.io/id") && !seen("first").contains(label));
    assert_eq!(seen("second"), seen("first"));
    assert_eq!(seen("third"), seen("first"));
    assert!(seen("fourth").contains(label), "{}", seen("fourth"));
    build(&["first", "last"]).fails_with(&["validator shouldn't modify the resource map"]);
}
