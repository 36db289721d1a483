//! Hints of errors: each command that a hint prints runs with sh as it is printed, in the directory
//! where the user was, and mends the error.

use crate::support::isolation::can_isolate;
use crate::support::{Tree, git, run};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

/// A plugin in a directory of the tree, and a kustomization in another one that uses it.
const SHOP: &str = "\
-- parts/app/plugin.yaml --
apiVersion: rustomize.dev/v1
kind: Plugin
name: app
version: 1.0.0
runtime: bash
entry: main.sh
generators: [{apiVersion: ex.io/v1, kind: Made}]
-- parts/app/main.sh --
#!/bin/bash
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'
-- my shop/made.yaml --
apiVersion: ex.io/v1
kind: Made
metadata: {name: made}
-- my shop/kustomization.yaml --
generators: [made.yaml]
-- my shop/plugins.yaml --
apiVersion: rustomize.dev/v1
kind: PluginRequirements
requires:
  app: {source: h.io/acme/app, from: ../parts/app}
";

const BUILD: [&str; 4] = ["build", "--enable-alpha-plugins", "--offline", "my shop"];
const LOCK: [&str; 4] = ["plugin", "lock", "--directory", "my shop"];

/// The commands in an error: each from the word `rustomize`, or from `rm` or `chmod`, to the end of
/// its line.
fn commands(stderr: &str) -> Vec<&str> {
    let start = |line: &str| [": rustomize ", ": rm ", ": chmod "].iter().find_map(|begin| line.find(begin));
    stderr.lines().filter_map(|line| Some(&line[start(line)? + 2..])).collect()
}

/// Fails with a hint, runs its command as it is printed, and expects the first command to work
/// then.
#[track_caller]
fn mended(tree: &Tree, args: &[&str], says: &str) {
    let stderr = hinted(tree, args, says);
    let again = tree.run(args);
    assert_eq!(again.status, Some(0), "after the hint of\n{stderr}\n{}", again.stderr);
}

/// The same, where the command of the hint tells the user more, and mends nothing.
#[track_caller]
fn hinted(tree: &Tree, args: &[&str], says: &str) -> String {
    let failed = tree.run(args);
    assert_ne!(failed.status, Some(0), "{says}: it works");
    let stderr = failed.stderr;
    assert!(stderr.contains(says), "'{says}' is not in:\n{stderr}");
    let found = commands(&stderr);
    let [command] = found[..] else { panic!("one command in:\n{stderr}") };
    let bin = tree.home().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        symlink(crate::support::program(), bin.join("rustomize")).unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "a hint is pasted into a shell")]
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(tree.path()).env_clear().stdin(Stdio::null());
    shell.env("HOME", tree.home()).env("TMPDIR", tree.tmp()).envs(&tree.variables);
    shell.env("PATH", format!("{}:{}", bin.display(), std::env::var_os("PATH").unwrap().to_string_lossy()));
    run(&mut shell).ok();
    stderr
}

/// A tree whose plugin is locked and installed.
fn locked() -> Tree {
    let tree = Tree::new(SHOP);
    tree.run(&LOCK).ok();
    tree
}

/// Writes another version of the plugin.
fn release(tree: &Tree, version: &str) {
    let path = tree.path().join("parts/app/plugin.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text.replace("version: 1.0.0", &format!("version: {version}"))).unwrap();
}

fn installed(tree: &Tree) -> std::path::PathBuf {
    tree.home().join(".config/rustomize/plugins/h.io/acme/app/rustomize-plugin-app_v1.0.0_x1.0_any_any")
}

#[test]
fn a_required_plugin_that_is_not_installed_is_installed_by_the_hint() {
    mended(&Tree::new(SHOP), &BUILD, "is required and not installed");
}

/// A build of SHOP with flags. The plugin has another main program, which is installed anew.
fn built(main: &str, flags: &[&str]) -> (Tree, crate::support::Run) {
    let tree = Tree::new(SHOP);
    tree.write(
        "parts/app/main.sh",
        &format!("#!/bin/bash\n{main}\nprintf 'apiVersion: v1\\nkind: A\\nmetadata: {{name: a}}\\n'\n"),
    );
    tree.run(&LOCK).ok();
    let run = tree.run(&[&BUILD, flags].concat());
    (tree, run)
}

#[test]
fn a_kind_without_a_plugin_leads_to_the_commands_for_plugins() {
    let tree = locked();
    tree.write("my shop/made.yaml", "apiVersion: ex.io/v1\nkind: Other\nmetadata: {name: made}\n");
    let stderr = tree.run(&BUILD).fails_with(&["no plugin provides ex.io/v1/Other", "plugins.yaml requires app"]);
    assert!(stderr.contains("rustomize plugin add SOURCE --directory 'my shop'"), "{stderr}");
    assert!(!stderr.contains("KUSTOMIZE_PLUGIN_HOME"), "{stderr}");
    let asked = "rustomize plugin why ex.io/v1/Other --directory 'my shop'";
    assert!(stderr.contains(asked), "{stderr}");
    tree.write("my shop/made.yaml", "apiVersion: ex.io/v1\nkind: Mad\nmetadata: {name: made}\n");
    tree.run(&BUILD).fails_with(&["did you mean ex.io/v1/Made?"]);
}

#[test]
fn a_sandbox_that_refuses_a_file_or_a_variable_names_the_flag_that_lets_the_plugin_have_it() {
    if !can_isolate() {
        return;
    }
    let (tree, run) = built("cat ~/mine.txt > /dev/null || exit 1", &[]);
    assert_ne!(run.status, Some(0));
    // A file that the user does not have is not the sandbox's fault.
    assert!(!run.stderr.contains("--plugin-allow"), "{}", run.stderr);
    tree.write("../home/mine.txt", "x");
    let stderr = tree.run(&BUILD).fails_with(&["it ran in a sandbox", "without ~/mine.txt"]);
    let flags = ["--plugin-allow-env", "HOME", "--plugin-allow-read", "~/mine.txt"];
    assert!(stderr.contains(&flags.join(" ")), "{stderr}");
    let file = tree.home().join("mine.txt").to_string_lossy().into_owned();
    let flags = [&flags[..3], &[file.as_str()]].concat();
    tree.run(&[&BUILD, &flags[..]].concat()).ok();

    let (mut tree, run) = built("set -u; test \"$COLOR\" = blue", &[]);
    assert!(!run.stderr.contains("--plugin-allow"), "{}", run.stderr);
    tree.variables.insert("COLOR", "blue".into());
    tree.run(&BUILD).fails_with(&["it does not have your variable COLOR: pass --plugin-allow-env COLOR"]);
    tree.run(&[&BUILD, &["--plugin-allow-env", "COLOR"][..]].concat()).ok();
}

#[test]
fn a_sandbox_that_refuses_the_network_says_so_and_a_plugin_without_a_word_runs_without_it_for_comparison() {
    if !can_isolate() {
        return;
    }
    let (_, run) = built("echo 'curl: (6) Could not resolve host: a.example' >&2; exit 6", &[]);
    run.fails_with(&["without the network", "pass --plugin-allow-net", "permissions: {network: true}"]);
    let (_, run) = built("exit 3", &[]);
    run.fails_with(&["it ran in a sandbox", "pass --plugin-isolation off"]);
    let (_, run) = built("echo 'the count is missing' >&2; exit 3", &[]);
    let stderr = run.fails_with(&["it ran in a sandbox"]);
    assert!(!stderr.contains("--plugin-"), "{stderr}");
    let (_, run) = built("exit 3", &["--plugin-isolation", "off"]);
    assert!(!run.stderr.contains("sandbox"), "{}", run.stderr);
}

#[test]
fn an_error_about_a_required_plugin_shows_its_line_and_a_relative_path() {
    let tree = Tree::new(&SHOP.replace("from: ../parts/app", "from: ../parts/none"));
    let stderr = tree.run(&LOCK).fails_with(&[" --> my shop/plugins.yaml:4:3\n", "4 |   app: {source: h.io/acme/app"]);
    assert!(stderr.contains("\nError: ") || stderr.starts_with("Error: "), "{stderr}");
    let stderr = tree.run(&["build", "--enable-alpha-plugins", "my shop"]);
    stderr.fails_with(&[" --> my shop/plugins.yaml:4:3\n", "4 |   app: {source: h.io/acme/app"]);
    // Errors of arguments begin in the same way.
    tree.run(&["plugin", "new"]).fails_with(&["Error: the following required arguments"]);
    tree.run(&["build", "--helm"]).fails_with(&["Error: unexpected argument '--helm'", "'--enable-helm'"]);
}

#[test]
fn plugin_remove_takes_the_short_name_of_an_installed_plugin() {
    let tree = locked();
    tree.run(&["plugin", "remove", "ap"]).fails_with(&["fewer than three parts", "github.com/acme/app"]);
    tree.run(&["plugin", "remove", "app"]).ok();
    assert!(!installed(&tree).exists());
    tree.run(&["plugin", "remove", "app"]).fails_with(&["fewer than three parts"]);
}

#[test]
fn an_address_in_place_of_a_source_becomes_one() {
    let tree = Tree::new("");
    let add = |what: &str| tree.run(&["plugin", "add", what]).fails_with(&["has a scheme"]);
    assert!(add("https://github.com/acme/app.git").contains("write it as 'github.com/acme/app'"));
    let archive = "http://localhost:1/rustomize-plugin-app_v0.1.0_x1.0_any_any.tar.gz";
    assert!(add(archive).contains(&format!("rustomize plugin add example.com/you/app --from {archive}")));
}

#[test]
fn a_placed_plugin_that_cannot_run_is_made_executable_by_the_hint() {
    let mut tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Make\nmetadata: {name: g}\n",
    );
    let plugins = "../home/it's my config/kustomize/plugin/ex.io/v1/make/Make";
    tree.variables.insert("XDG_CONFIG_HOME", tree.home().join("it's my config").to_string_lossy().into_owned());
    let script = "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'\n";
    tree.write(plugins, script);
    fs::set_permissions(tree.path().join(plugins), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    mended(&tree, &["build", "--enable-alpha-plugins"], "unexecutable plugin");
}

#[test]
fn in_the_directory_itself_the_hint_works_too() {
    let tree = Tree::new(SHOP);
    let lock = tree.path().join("my shop/plugins.lock");
    mended(&tree, &["plugin", "install", "--frozen", "--directory", "my shop"], "plugins.lock' does not exist");
    assert!(lock.exists());
}

#[test]
fn a_plugin_that_is_not_in_the_lock_is_locked_by_the_hint() {
    let tree = locked();
    let lock = tree.path().join("my shop/plugins.lock");
    fs::write(&lock, "{\"lockVersion\": 1, \"plugins\": {}}\n").unwrap();
    mended(&tree, &BUILD, "is required and not locked");
    fs::write(&lock, "{\"lockVersion\": 1, \"plugins\": {}}\n").unwrap();
    let frozen = ["plugin", "install", "--frozen", "--directory", "my shop"];
    mended(&tree, &frozen, "is not locked as plugins.yaml requires it");
}

#[test]
fn a_lock_with_a_plugin_that_nothing_requires_is_locked_again_by_the_hint() {
    let tree = locked();
    tree.write("my shop/plugins.yaml", "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {}\n");
    mended(&tree, &[&LOCK[..], &["--check"]].concat(), "does not match 'plugins.yaml'");
}

#[test]
fn a_lock_that_a_merge_broke_is_written_again_by_the_hint() {
    let tree = locked();
    for broken in ["<<<<<<< ours\n", "", "{\"lockVersion\": 1}", "[]"] {
        tree.write("my shop/plugins.lock", broken);
        mended(&tree, &BUILD, "my shop/plugins.lock' is not a valid lock file");
    }
}

#[test]
fn a_plugin_that_may_not_be_used_unlocked_is_locked_by_the_hint() {
    let tree = locked();
    for file in ["plugins.yaml", "plugins.lock"] {
        fs::remove_file(tree.path().join("my shop").join(file)).unwrap();
    }
    // A build does not ask installed plugins for their kinds, so its hint does not name a source.
    let failed = tree.run(&[&BUILD[..], &["--frozen"]].concat()).stderr;
    assert!(failed.contains("rustomize plugin add SOURCE --directory '"), "{failed}");
    assert!(failed.contains("my shop'"), "{failed}");
    let install =
        ["plugin", "install", "--frozen", "--from", "../parts/app", "--directory", "my shop", "h.io/acme/app"];
    hinted(&tree, &install, "'h.io/acme/app' is not locked");
    tree.run(&[&BUILD[..], &["--frozen"]].concat()).ok();
}

#[test]
fn another_origin_or_version_is_locked_by_the_hint() {
    let tree = locked();
    let file = "my shop/plugins.yaml";
    let text = fs::read_to_string(tree.path().join(file)).unwrap();
    tree.write(file, &text.replace("../parts/app", "./../parts/app"));
    mended(&tree, &BUILD, "is locked from '../parts/app', and required from './../parts/app'");
    tree.write(file, &text);
    tree.run(&LOCK).ok();
    release(&tree, "2.0.0");
    tree.write(file, &text.replace("from:", "version: '2.0.0', from:"));
    mended(&tree, &BUILD, "is locked as v1.0.0, which is not");
}

#[test]
fn a_plugin_of_the_tree_that_changed_is_locked_by_the_hint() {
    let tree = locked();
    release(&tree, "1.0.1");
    mended(&tree, &BUILD, "has changed since it was locked");
    release(&tree, "1.0.2");
    let text = fs::read_to_string(tree.path().join("parts/app/main.sh")).unwrap();
    tree.write("parts/app/main.sh", &format!("{text}# changed\n"));
    let frozen = ["plugin", "install", "--frozen", "--directory", "my shop"];
    mended(&tree, &frozen, "is not what was locked");
}

#[test]
fn an_installed_plugin_that_changed_is_installed_again_by_the_hint() {
    let tree = locked();
    fs::write(installed(&tree).join("main.sh"), "changed").unwrap();
    mended(&tree, &[&BUILD[..], &["--frozen"]].concat(), "has changed since it was installed");
}

#[test]
fn permissions_and_sources_are_granted_by_the_hint() {
    let tree = Tree::new(SHOP);
    let path = "parts/app/plugin.yaml";
    let text = fs::read_to_string(tree.path().join(path)).unwrap();
    tree.write(path, &format!("{text}permissions: {{network: true, env: ['A B']}}\n"));
    tree.run(&LOCK).ok();
    mended(&tree, &BUILD, "which is not granted");
    tree.write("../home/.config/rustomize/trust.yaml", "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules:\n");
    let tree = Tree::new(SHOP);
    tree.write(
        "../home/.config/rustomize/trust.yaml",
        "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules:\n- source: h.io/other/*\n",
    );
    mended(&tree, &LOCK, "is not trusted");
}

#[test]
fn what_a_plugin_does_not_provide_leads_to_the_list() {
    let tree = locked();
    tree.write(
        "my shop/made.yaml",
        "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: made, annotations: {rustomize.dev/plugin: other}}\n",
    );
    hinted(&tree, &BUILD, "no installed plugin provides 'other'");
    hinted(&tree, &["plugin", "remove", "h.io/acme/app@> 3"], "'h.io/acme/app' is not installed");
}

#[test]
fn a_locked_version_that_the_release_does_not_have_is_updated_by_the_hint() {
    let tree = Tree::new(SHOP);
    let repository = tree.path().join("parts/app");
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    git(&repository, &["tag", "v1.0.0"]);
    let file = "my shop/plugins.yaml";
    let text = fs::read_to_string(tree.path().join(file)).unwrap();
    tree.write(file, &text.replace("../parts/app", &format!("git::file://{}", repository.display())));
    tree.run(&LOCK).ok();
    let lock = "my shop/plugins.lock";
    let text = fs::read_to_string(tree.path().join(lock)).unwrap();
    let moved = text.replace("\"url\": \"git::file:///", "\"url\": \"git::file:///elsewhere/");
    assert_ne!(moved, text);
    tree.write(lock, &moved);
    fs::remove_dir_all(tree.home().join(".config/rustomize/plugins")).unwrap();
    mended(&tree, &LOCK, "which is not where plugins.yaml fetches it");
    tree.write(lock, &text.replace("any_any", "plan9_mips"));
    mended(&tree, &LOCK, "plugins.lock has no file of v1.0.0");
}
