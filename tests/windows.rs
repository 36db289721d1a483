//! The program for Windows, under wine: `.ci/windows` builds it and runs these tests. Its plugins
//! are real programs for Windows.

mod console;
mod git;
mod helm;
mod runtimes;

use crate::support::{Tree, is_under_wine, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns false, and says so, unless the program that is tested is one for Windows.
fn is_windows() -> bool {
    if !is_under_wine() {
        println!("skipped: .ci/windows runs this");
    }
    is_under_wine()
}

/// The path of a file of this machine under wine.
fn z(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}

/// Compiles a program for Windows to a path of the tree.
fn compile(tree: &Tree, path: &str, main: &str) -> PathBuf {
    compile_with(tree, path, &format!("int main(int argc, char **argv) {{\n{main}\nreturn 0;\n}}\n"), &[])
}

/// Compiles functions in C for Windows to a path of the tree.
fn compile_with(tree: &Tree, path: &str, functions: &str, flags: &[&str]) -> PathBuf {
    let headers = ["stdio.h", "stdlib.h", "string.h", "windows.h"].map(|name| format!("#include <{name}>\n"));
    let source = headers.concat() + functions;
    tree.write(&format!("{path}.c"), &source);
    let (source, program) = (tree.path().join(format!("{path}.c")), tree.path().join(path));
    #[expect(clippy::disallowed_methods, reason = "plugins are real programs")]
    let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
    let done = run(compiler.arg("-O1").args(flags).arg("-o").arg(&program).arg(&source));
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    fs::remove_file(source).unwrap();
    program
}

/// The statement of a plugin that prints a ConfigMap.
const PRINTS: &str = r#"puts("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {v: one}");"#;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map\n";

const GENERATOR: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n";

/// A tree with one resource.
fn tree_with(entry: &str) -> Tree {
    let tree = Tree::new("");
    tree.write("app/kustomization.yaml", &format!("resources: ['{entry}']\n"));
    tree.write("app/sub/map.yaml", MAP);
    tree.write("base/kustomization.yaml", "resources: [map.yaml]\n");
    tree.write("base/map.yaml", MAP);
    tree.write("outside.yaml", MAP);
    tree
}

#[test]
fn paths_in_files_have_either_separator() {
    if !is_windows() {
        return;
    }
    for entry in [r"sub\map.yaml", "sub/map.yaml", r"..\base", "../base", r".\sub\..\sub\map.yaml"] {
        assert_eq!(tree_with(entry).run(&["build", "app"]).ok(), MAP, "{entry}");
        assert_eq!(tree_with(entry).run(&["build", r".\app"]).ok(), MAP, "{entry}");
    }
    let tree = tree_with("sub/map.yaml");
    assert_eq!(tree.run(&["build", &z(&tree.path().join("app"))]).ok(), MAP);
    // The name of a file is the key, whatever is between the names.
    tree.write("app/kustomization.yaml", "configMapGenerator: [{name: m, files: ['sub\\map.yaml']}]\n");
    assert!(tree.run(&["build", "app"]).ok().contains("\n  map.yaml: |\n"));
}

#[test]
fn paths_that_are_not_what_they_seem_are_refused() {
    if !is_windows() {
        return;
    }
    for (entry, words) in [
        ("nul", "has the name of a device"),
        ("CON", "has the name of a device"),
        ("aux.yaml", "has the name of a device"),
        ("sub/com1.yaml", "has the name of a device"),
        ("map.yaml::$DATA", "stands for a stream"),
        ("sub/map.yaml:other", "stands for a stream"),
        ("sub/map.yaml.", "ends in a dot or a blank"),
        ("sub./map.yaml", "ends in a dot or a blank"),
        ("..\\base. ", "ends in a dot or a blank"),
        ("C:sub\\map.yaml", "working directory of a drive"),
        (r"\\?\Z:\etc\hostname", "cannot be absolute"),
        (r"\\.\Z:\etc\hostname", "cannot be absolute"),
        (r"..\outside.yaml", "is not in or below"),
    ] {
        let tree = tree_with(entry);
        tree.run(&["build", "app"]).fails_with(&[words]);
        assert!(!tree.run(&["build", "app"]).stderr.contains("panic"));
    }
    let tree = tree_with("");
    for outside in [z(&tree.path().join("outside.yaml")), r"\\server\share\map.yaml".to_owned()] {
        tree.write("app/kustomization.yaml", &format!("resources: ['{outside}']\n"));
        tree.run(&["build", "app"]).fails_with(&["is not in or below"]);
    }
    // Links are followed: what they lead to counts.
    std::os::unix::fs::symlink("../outside.yaml", tree.path().join("app/link.yaml")).unwrap();
    std::os::unix::fs::symlink("..", tree.path().join("app/up")).unwrap();
    for link in ["link.yaml", "up/outside.yaml", "UP/Outside.yaml"] {
        tree.write("app/kustomization.yaml", &format!("resources: [{link}]\n"));
        tree.run(&["build", "app"]).fails_with(&["is not in or below"]);
    }
    // Another spelling of a name is the same file.
    tree.write("app/kustomization.yaml", "resources: [SUB/Map.yaml]\n");
    assert_eq!(tree.run(&["build", "app"]).ok(), MAP);
}

#[test]
fn files_of_windows_have_their_line_ends() {
    if !is_windows() {
        return;
    }
    let tree = tree_with("sub/map.yaml");
    tree.write("app/kustomization.yaml", "# mine\r\nresources:\r\n- sub/map.yaml\r\n");
    let mut command = tree.command(&["edit", "set", "nameprefix", "a-"]);
    assert_eq!(run(command.current_dir(tree.path().join("app"))).status, Some(0));
    let text = fs::read_to_string(tree.path().join("app/kustomization.yaml")).unwrap();
    assert!(text.contains("# mine") && text.contains("namePrefix: a-"), "{text:?}");
    assert!(tree.run(&["build", "app"]).ok().contains("name: a-map\n"));
    let mut command = tree.command(&["edit", "add", "resource", r"..\base\*.yaml"]);
    assert_eq!(run(command.current_dir(tree.path().join("app"))).status, Some(0));
    let text = fs::read_to_string(tree.path().join("app/kustomization.yaml")).unwrap();
    assert!(text.contains("- ../base/map.yaml"), "{text:?}");
    tree.assert_nothing_left();
}

/// The statements of an interpreter that prints the lines of its script.
const TELLER: &str = r#"
        char line[999];
        FILE *script = fopen(argv[1], "r");
        while (script && fgets(line, sizeof line, script))
            if (line[0] != '#') fputs(line, stdout);
    "#;

#[test]
fn a_placed_plugin_is_an_exe_or_a_script() {
    if !is_windows() {
        return;
    }
    let mut tree = Tree::new(GENERATOR);
    let home = "../home/.config/kustomize/plugin/ex.io/v1/made";
    tree.write(&format!("{home}/README"), "a directory");
    tree.build(&[]).fails_with(&["Made.exe"]);
    compile(&tree, &format!("{home}/Made.exe"), PRINTS);
    assert!(tree.build(&[]).ok().contains("v: one\n"));
    // A script runs by the interpreter that its first line names, which is in PATH.
    fs::remove_file(tree.path().join(home).join("Made.exe")).unwrap();
    compile(&tree, "../home/two words/teller.exe", TELLER);
    tree.variables.insert("WINEPATH", z(&tree.home().join("two words")));
    let script = "#!/usr/bin/env teller\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\n";
    tree.write(&format!("{home}/Made"), script);
    assert!(tree.build(&[]).ok().contains("name: told\n"));
    tree.write(&format!("{home}/Made"), &script.replace("teller", "nobody"));
    tree.build(&[]).fails_with(&["cannot be started"]);
}

#[test]
fn nothing_that_a_plugin_starts_outlives_the_build() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let starts = r#"
        if (argc > 1 && !strcmp(argv[1], "linger")) { Sleep(60000); return 0; }
        char line[999];
        snprintf(line, sizeof line, "\"%s\" linger", argv[0]);
        STARTUPINFOA start = {.cb = sizeof start};
        PROCESS_INFORMATION process;
        if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &start, &process)) return 7;
    "#;
    let place = "../home/.config/kustomize/plugin/ex.io/v1/made/Made.exe";
    tree.write("../home/.config/kustomize/plugin/ex.io/v1/made/README", "");
    compile(&tree, place, &format!("{starts}{PRINTS}"));
    assert!(tree.build(&[]).ok().contains("v: one\n"));
    let own = tree.home().to_string_lossy().replace('/', "\\");
    assert_eq!(processes_with(&own), 0, "a process that the plugin has started still runs");
}

/// The number of processes of this machine whose command has a text.
fn processes_with(text: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.filter(|command| String::from_utf8_lossy(command).contains(text)).count()
}

/// A plugin that describes itself, for the manager.
fn installable(tree: &Tree) -> PathBuf {
    let describes = r#"
        if (argc > 1 && !strcmp(argv[1], "describe")) {
            puts("{\"version\": \"1.2.3\", \"api_version\": \"x1.0\", \"generators\": "
                 "[{\"name\": \"made\", \"apiVersion\": \"ex.io/v1\", \"kind\": \"Made\"}]}");
            return 0;
        }
    "#;
    compile(tree, "../home/built.exe", &format!("{describes}{PRINTS}"))
}

#[test]
fn the_root_of_plugins_is_in_appdata_alone() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    tree.write("../home/.rustomize.d/README", "an older place, on other systems");
    let built = z(&installable(&tree));
    tree.run(&["plugin", "install", "--path", &built, "h.io/acme/app"]).ok();
    // P18 and P36.
    let folder = tree.home().join("AppData/Roaming/rustomize.d/plugins/h.io/acme/app");
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    assert!(names.contains(&"rustomize-plugin-app_v1.2.3_x1.0_windows_amd64.exe".to_owned()), "{names:?}");
    assert!(!tree.home().join(".config").exists(), "plugins are in one place");
    assert_eq!(fs::read_dir(tree.home().join(".rustomize.d")).unwrap().count(), 1);
    assert_eq!(tree.listed(), ["h.io/acme/app v1.2.3 installed"]);
    assert!(tree.build(&[]).ok().contains("v: one\n"));
    // A file without the ending is not a plugin here.
    let binary = folder.join("rustomize-plugin-app_v1.2.3_x1.0_windows_amd64.exe");
    fs::rename(&binary, folder.join("rustomize-plugin-app_v1.2.3_x1.0_windows_amd64")).unwrap();
    assert!(!tree.build(&[]).stdout.contains("v: one"));
}

#[test]
fn a_worker_is_started_once_and_asked_over_frames() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let object = |name: &str| format!("apiVersion: ex.io/v1\nkind: Made\nmetadata: {{name: {name}}}\n---\n");
    tree.write("g.yaml", &["a", "b"].map(object).concat());
    let main = r#"
        if (argc > 1 && !strcmp(argv[1], "describe")) {
            puts("{\"version\": \"1.2.3\", \"api_version\": \"x1.0\", \"worker\": true, \"generators\": "
                 "[{\"name\": \"made\", \"apiVersion\": \"ex.io/v1\", \"kind\": \"Made\"}]}");
            return 0;
        }
        HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
        DWORD n;
        char frame[999] = {0}, *text = frame + 17, byte;
        frame[1] = 2;
        memcpy(frame + 9, "{}", 2);
        WriteFile(out, frame, 11, &n, NULL);
        for (unsigned long long asked = 1;; asked++) {
            unsigned long long length = 0, at;
            for (at = 0; at < 9; at++) {
                if (!ReadFile(in, &byte, 1, &n, NULL) || n == 0) return 0;
                if (at) length |= (unsigned long long)(unsigned char)byte << 8 * (at - 1);
            }
            for (at = 0; at < length; at++) ReadFile(in, &byte, 1, &n, NULL);
            length = 8 + sprintf(text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made-%d}\n", (int)asked);
            frame[0] = 0;
            memcpy(frame + 1, &length, 8);
            memcpy(frame + 9, &asked, 8);
            WriteFile(out, frame, 9 + length, &n, NULL);
        }
    "#;
    let built = z(&compile(&tree, "../home/built.exe", main));
    tree.run(&["plugin", "install", "--path", &built, "h.io/acme/app"]).ok();
    let made = tree.build(&[]).ok();
    assert!(made.contains("name: made-1\n") && made.contains("name: made-2\n"), "{made}");
}

#[test]
fn strict_isolation_is_refused_and_doctor_says_why() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    tree.write("../home/.config/kustomize/plugin/ex.io/v1/made/README", "");
    compile(&tree, "../home/.config/kustomize/plugin/ex.io/v1/made/Made.exe", PRINTS);
    let warned = tree.build(&["--plugin-isolation", "auto"]);
    assert!(warned.stderr.contains("not restricted"), "{}", warned.stderr);
    assert!(warned.ok().contains("v: one\n"));
    tree.build(&["--plugin-isolation", "strict"]).fails_with(&["strict isolation is not to be had here"]);
    let said = tree.run(&["doctor"]);
    assert!(said.stdout.contains("not restricted"), "{}{}", said.stdout, said.stderr);
}

/// Compiles a shared object with the functions of the plugin interface, whose call makes a text
/// with `statements`.
fn compile_shared_object(tree: &Tree, path: &str, statements: &str) -> PathBuf {
    let functions = format!(
        r#"
        #include "rustomize_plugin.h"
        static int32_t text(rustomize_buffer *to, const char *text) {{
            to->len = strlen(text);
            to->data = (uint8_t *)strdup(text);
            return RUSTOMIZE_OK;
        }}
        uint32_t rustomize_plugin_abi_version(void) {{ return RUSTOMIZE_PLUGIN_ABI; }}
        int32_t rustomize_plugin_describe(rustomize_response *response) {{
            return text(&response->output, "{{\"name\": \"made\", \"version\": \"1.0.0\"}}");
        }}
        int32_t rustomize_plugin_run(const rustomize_request *request, rustomize_response *response) {{
            {statements}
        }}
        void rustomize_plugin_free(rustomize_buffer *buffer) {{
            free(buffer->data);
            memset(buffer, 0, sizeof *buffer);
        }}
        "#
    );
    let headers = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/plugin/abi/include");
    compile_with(tree, path, &functions, &["-shared", headers])
}

#[test]
fn a_placed_shared_object_is_a_dll() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\nspec: {long: \"1\"}\n");
    let place = "../home/.config/kustomize/plugin/ex.io/v1/made/Made.dll";
    tree.write(place, "");
    tree.build(&[]).fails_with(&["Made.dll' is empty"]);
    tree.write(place, "echo made\n");
    tree.build(&[]).fails_with(&["is a text file, not a shared object", "ends in .exe"]);
    tree.write(place, &format!("\u{7f}ELF\u{2}\u{1}\u{1}{}", "\0".repeat(57)));
    tree.build(&[]).fails_with(&["is a ELF (Linux) file, which this system cannot load"]);
    compile(&tree, place, PRINTS);
    tree.build(&[]).fails_with(&["is an executable, not a shared object"]);
    compile_with(&tree, place, "int made(void) { return 1; }", &["-shared"]);
    tree.build(&[]).fails_with(&["is a shared object without 'rustomize_plugin_abi_version'"]);

    // Its stdin and stdout are not the pipes of the build, and its directory is the root.
    let statements = r#"
        char root[999], made[2999];
        int byte = getchar();
        puts("a line that is not a frame");
        fflush(stdout);
        GetCurrentDirectoryA(sizeof root, root);
        snprintf(made, sizeof made, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n"
            "data: {mode: '%u', read: '%d', root: '%s'}\n", request->mode, byte, root);
        return text(&response->output, made);
    "#;
    compile_shared_object(&tree, place, statements);
    let root = format!("root: {}", z(&tree.path()));
    let made = tree.run(&["build", "--enable-alpha-plugins"]);
    assert!(made.stderr.contains("a line that is not a frame"), "{}", made.stderr);
    let made = made.ok();
    let words = ["mode: \"1\"", "read: \"-1\""];
    assert!(words.iter().all(|word| made.contains(word)), "{made}");
    assert!(made.replace('\\', "/").contains(&root.replace("Z:", "").replace('\\', "/")), "{made} {root}");
    tree.build(&["--plugin-isolation", "auto"]).ok();

    // Faults are errors of the build, and end in time.
    compile_shared_object(&tree, place, "text(&response->error, \"no maps today\"); return RUSTOMIZE_ERROR;");
    tree.build(&[]).fails_with(&["plugin ex.io/v1 Made g: no maps today"]);
    compile_shared_object(&tree, place, "*(volatile int *)0 = 1; return 0;");
    tree.build(&[]).fails_with(&["Made.dll"]);
    compile_shared_object(&tree, place, "Sleep(600000); return 0;");
    tree.build(&["--plugin-timeout", "1s"]).fails_with(&["took longer"]);
    let own = tree.home().to_string_lossy().replace('/', "\\");
    assert_eq!(processes_with(&own), 0);
}

#[test]
fn a_batch_file_runs_only_where_it_is_named() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    tree.write("../home/.config/kustomize/plugin/ex.io/v1/made/Made.bat", "@echo kind: ConfigMap\r\n");
    tree.build(&[]).fails_with(&["Made.exe"]);
    let function = "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n  annotations:\n    \
                    config.kubernetes.io/function: 'exec: {path: ./it.bat}'\n";
    tree.write("g.yaml", function);
    let lines = ["kind: ResourceList", "items:", "- apiVersion: v1", "  kind: ConfigMap", "  metadata: {name: batch}"];
    tree.write("it.bat", &lines.map(|line| format!("@echo {line}\r\n")).concat());
    assert!(tree.build(&["--enable-exec"]).ok().contains("name: batch\n"));
}

#[test]
fn functions_write_in_their_directory_alone() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new("");
    tree.write("../outside.yaml", MAP);
    let outside = z(&tree.path().join("../stolen.yaml"));
    for (path, words) in [
        (&*outside, "may not be absolute"),
        (r"\\?\Z:\tmp\stolen.yaml", "may not be absolute"),
        (r"\\server\share\stolen.yaml", "may not be absolute"),
        (r"..\stolen.yaml", "must be written under package"),
        (r"sub\..\..\stolen.yaml", "must be written under package"),
        (r"\stolen.yaml", "must be written under package"),
        ("C:stolen.yaml", "working directory of a drive"),
        ("map.yaml:stolen", "stands for a stream"),
        ("nul.yaml", "has the name of a device"),
        ("map.yaml. ", "ends in a dot or a blank"),
    ] {
        tree.write("pkg/map.yaml", MAP);
        let made = format!("metadata: {{name: made, annotations: {{config.kubernetes.io/path: '{path}'}}}}");
        let list = format!("kind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  {made}\n");
        tree.write("list.yaml", &list);
        let text = r#"
            char line[999];
            FILE *list = fopen("list.yaml", "r");
            while (list && fgets(line, sizeof line, list)) fputs(line, stdout);
        "#;
        if !tree.path().join("prints.exe").is_file() {
            compile(&tree, "prints.exe", text);
        }
        tree.run(&["fn", "run", "pkg", "--enable-exec", "--exec-path", r".\prints.exe"]).fails_with(&[words]);
        let names: Vec<_> = fs::read_dir(tree.path().join("pkg")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["map.yaml"], "{path}");
        assert_eq!(fs::read_to_string(tree.path().join("pkg/map.yaml")).unwrap(), MAP, "{path}");
    }
    assert!(!tree.path().join("../stolen.yaml").exists());
}

#[test]
fn commands_write_the_files_that_other_systems_write() {
    if !is_windows() {
        return;
    }
    let tree = tree_with(r"..\base");
    tree.run(&["localize", "app", "copy", "--scope", "."]).ok();
    let copied = fs::read_to_string(tree.path().join("copy/app/kustomization.yaml")).unwrap();
    assert_eq!(copied, "resources:\n- ../base\n");
    assert_eq!(tree.run(&["build", r"copy\app"]).ok(), MAP);
    let mut command = tree.command(&["create", "--autodetect", "--recursive"]);
    assert_eq!(run(command.current_dir(tree.path().join("app/sub"))).status, Some(0));
    let text = fs::read_to_string(tree.path().join("app/sub/kustomization.yaml")).unwrap();
    assert!(text.contains("resources:\n- map.yaml\n"), "{text}");
    // A file that may not be written stays as it is.
    let file = tree.path().join("app/sub/kustomization.yaml");
    let mut rights = fs::metadata(&file).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(&file, rights).unwrap();
    let mut command = tree.command(&["edit", "set", "nameprefix", "a-"]);
    let edited = run(command.current_dir(tree.path().join("app/sub")));
    assert!(!edited.stderr.contains("panic"), "{}", edited.stderr);
    let after = fs::read_to_string(&file).unwrap();
    assert_eq!((edited.status, &after), (Some(1), &text), "{}", edited.stderr);
    assert!(fs::metadata(&file).unwrap().permissions().readonly());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn plugins_of_a_directory_are_added_listed_and_removed() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    installable(&tree);
    fs::create_dir(tree.path().join("built")).unwrap();
    fs::rename(tree.home().join("built.exe"), tree.path().join("built/app.exe")).unwrap();
    tree.run(&["plugin", "add", "h.io/acme/app", "--from", r".\built\app.exe"]).ok();
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    assert!(lock.contains("h.io/acme/app") && lock.contains("1.2.3"), "{lock}");
    assert!(!lock.contains('\\'), "paths of the lock are those of all systems: {lock}");
    assert!(tree.build(&[]).ok().contains("v: one\n"));
    assert!(tree.listed().iter().any(|row| row.contains("h.io/acme/app v1.2.3")), "{:?}", tree.listed());
    tree.run(&["plugin", "verify"]).ok();
    tree.run(&["plugin", "remove", "h.io/acme/app"]).ok();
    assert!(!tree.listed().iter().any(|row| row.ends_with(" installed")), "{:?}", tree.listed());
}

#[test]
fn the_cache_is_in_localappdata() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new("");
    let place = format!("{}/AppData/Local/rustomize/cache\n", tree.home().display());
    assert_eq!(tree.run(&["cache", "dir"]).ok().trim_start_matches("Z:").replace('\\', "/"), place);
}

#[test]
fn a_reader_that_ends_is_not_an_error_of_the_build() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new("");
    let object = |n: usize| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{n}}}\n---\n");
    tree.write("kustomization.yaml", "resources: [maps.yaml]\n");
    tree.write("maps.yaml", &(0..20_000).map(object).collect::<String>());
    for reads in [0, 1, 70_000] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = tree.command(&["build"]);
        let mut child = command.stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap();
        drop(command);
        std::io::Read::read_exact(&mut reader, &mut vec![0; reads]).unwrap();
        drop(reader);
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        let status = child.wait().unwrap().code();
        assert_eq!((status, &*said), (Some(141), ""), "after {reads} bytes");
    }
}

#[test]
fn a_build_that_is_killed_ends_its_plugins() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let place = "../home/.config/kustomize/plugin/ex.io/v1/made/Made.exe";
    tree.write("../home/.config/kustomize/plugin/ex.io/v1/made/README", "");
    compile(&tree, place, r#"fclose(fopen("started", "w")); Sleep(600000);"#);
    let mut build = tree.command(&["build", "--enable-alpha-plugins"]).spawn().unwrap();
    while !tree.path().join("started").exists() {
        assert!(build.try_wait().unwrap().is_none(), "the plugin was not started");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    build.kill().unwrap();
    build.wait().unwrap();
    // The plugin sleeps for minutes: if it is not ended, the test does not end either.
    let own = tree.home().to_string_lossy().replace('/', "\\");
    while processes_with(&own) > 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A line of a kustomization for each field that names a file or a directory, with `@` for the
/// name.
const FIELDS: [&str; 21] = [
    "bases: ['@']",
    "components: ['@']",
    "configurations: ['@']",
    "crds: ['@']",
    "generators: ['@']",
    "openapi: {path: '@'}",
    "patches: [{path: '@'}]",
    "patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: map}, path: '@'}]",
    "patchesStrategicMerge: ['@']",
    "replacements: [{path: '@'}]",
    "transformers: ['@']",
    "validators: ['@']",
    "configMapGenerator: [{name: m, env: '@'}]",
    "configMapGenerator: [{name: m, envs: ['@']}]",
    "configMapGenerator: [{name: m, files: ['@']}]",
    "configMapGenerator: [{name: m, files: ['key=@']}]",
    "secretGenerator: [{name: m, env: '@'}]",
    "secretGenerator: [{name: m, envs: ['@']}]",
    "secretGenerator: [{name: m, files: ['@']}]",
    "secretGenerator: [{name: m, files: ['key=@']}]",
    "resources: [sub/map.yaml, '@']",
];

#[test]
fn every_field_refuses_a_name_that_is_not_that_of_a_file() {
    if !is_windows() {
        return;
    }
    let tree = tree_with("");
    // Such files exist here: to open one would succeed.
    for name in ["sub/map.yaml:s", "sub/map.yaml.", "sub/nul.yaml"] {
        tree.write(&format!("app/{name}"), MAP);
    }
    for field in FIELDS {
        for (name, words) in [
            ("sub/map.yaml:s", "stands for a stream"),
            ("sub/map.yaml.", "ends in a dot or a blank"),
            (r"sub\nul.yaml", "has the name of a device"),
            ("Z:app/sub/map.yaml", "working directory of a drive"),
        ] {
            let resources = if field.starts_with("resources") { "" } else { "resources: [sub/map.yaml]\n" };
            tree.write("app/kustomization.yaml", &format!("{resources}{}\n", field.replace('@', name)));
            tree.run(&["build", "app"]).fails_with(&[words]);
        }
    }
}

/// The names of all files below the tree, with the bytes of each.
fn content(tree: &Tree) -> Vec<(PathBuf, Vec<u8>)> {
    let files = crate::support::files(&tree.path(), "").into_iter();
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn commands_write_to_no_name_that_is_not_that_of_a_file() {
    if !is_windows() {
        return;
    }
    let tree = tree_with("sub/map.yaml");
    let before = content(&tree);
    for name in ["nul", "CON", "com1.yaml", "outside.yaml:s", "outside.yaml.", "outside.yaml ", r"made\aux.yaml"] {
        let made = format!(r"made\{name}\");
        for args in [
            &["build", "app", "-o", name][..],
            &["build", "app", "-o", &made],
            &["build", "app", "-o", "made/", "--depfile", name],
            &["localize", "app", name, "--scope", "."],
            &["install-to", "made", "--as", "rustomize", name],
            &["install-to", name],
        ] {
            let done = tree.run(args);
            assert_ne!(done.status, Some(0), "{args:?} {}", done.stdout);
            assert!(!done.stderr.contains("panic"), "{}", done.stderr);
            // The result is written before its list of files is.
            let _ = fs::remove_dir_all(tree.path().join("made"));
            assert_eq!(content(&tree), before, "{args:?}");
        }
    }
    // In a directory of results each resource has a file.
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:map'}\n";
    tree.write("app/kustomization.yaml", "resources: [role.yaml, sub/map.yaml]\n");
    tree.write("app/role.yaml", role);
    tree.run(&["build", "app", "-o", "made/"]).fails_with(&["cannot have a file of its own", "stands for a stream"]);
    assert!(!tree.path().join("made").exists());
}

#[test]
fn edits_add_no_name_that_is_not_that_of_a_file() {
    if !is_windows() {
        return;
    }
    let tree = tree_with("sub/map.yaml");
    tree.write("app/sub/map.yaml:s", MAP);
    let before = content(&tree);
    let edited = |args: &[&str]| {
        let mut command = tree.command(args);
        run(command.current_dir(tree.path().join("app")))
    };
    for name in ["nul", "sub/map.yaml:s", "sub/map.yaml.", r"\\?\Z:\etc\hostname", "C:map.yaml"] {
        for args in [
            &["edit", "add", "resource", name][..],
            &["edit", "add", "resource", "sub/map.yaml?*"],
            &["edit", "add", "component", name],
            &["edit", "add", "generator", name],
            &["edit", "add", "transformer", name],
            &["edit", "add", "configmap", "m", "--from-file", name],
            &["edit", "add", "configmap", "m", "--from-env-file", name],
        ] {
            // kustomize, too, only says that nothing matches, and that this is no error.
            let said = edited(args);
            assert!(!said.stderr.contains("panic"), "{args:?} {}", said.stderr);
            assert_eq!(content(&tree), before, "{args:?} {}{}", said.stdout, said.stderr);
        }
    }
}

/// A program for Windows that makes the file `ran` in its working directory.
const LEAVES_A_MARK: &str = r#"fclose(fopen("ran", "w")); puts("v3.14.0");"#;

const CHART: &str = "helmCharts: [{name: c, version: 1.0.0, repo: 'https://127.0.0.1:1/charts'}]\n";

#[test]
fn programs_come_from_path_alone_which_may_have_quotes_and_blanks() {
    if !is_windows() {
        return;
    }
    let mut tree = Tree::new("");
    tree.write("kustomization.yaml", CHART);
    // The system itself would take a program in the working directory first.
    compile(&tree, "helm.exe", LEAVES_A_MARK);
    tree.write("helm.bat", "@echo made > ran\r\n");
    tree.write("helm", "#!helm\n");
    tree.run(&["build", "--enable-helm"]).fails_with(&["helm"]);
    assert!(!tree.path().join("ran").exists(), "a program of the tree was started");
    for folder in ["two words", "semi;colon", "(x86)"] {
        compile(&tree, &format!("../home/{folder}/helm.exe"), LEAVES_A_MARK);
        let place = z(&tree.home().join(folder));
        tree.variables.insert("UNDER_WINE_PATH", format!("\"{place}\";C:\\windows\\system32"));
        tree.run(&["build", "--enable-helm"]);
        assert!(tree.path().join("ran").exists(), "{folder}: the program in PATH was not started");
        fs::remove_file(tree.path().join("ran")).unwrap();
    }
    // An empty directory in PATH is not the working directory, as it is on other systems.
    for path in ["", ";", "\"\"", "C:"] {
        tree.variables.insert("UNDER_WINE_PATH", format!("{path};C:\\windows\\system32"));
        tree.run(&["build", "--enable-helm"]);
        assert!(!tree.path().join("ran").exists(), "PATH {path:?}: a program of the tree was started");
    }
}

#[test]
fn bundles_are_synced_without_links() {
    if !is_windows() {
        return;
    }
    let place = "../home/AppData/Roaming/rustomize.d/environments/prod";
    let script = |v: &str| format!("#!/usr/bin/env teller\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {v}}}\n");
    let host = Tree::new("");
    let plugin = format!("{place}/modules/one/plugin/ex.io/v1/made");
    host.write(&format!("{plugin}/Made"), &script("first"));
    host.write(&format!("{plugin}/lines.txt"), "one\n");
    let served = host.home().join("www");
    let export = || {
        host.run(&["plugin", "export", "--mounts", &z(&served), "--environment", "prod"]).ok();
    };
    export();
    let server = crate::support::servers::FileServer::start(served.clone());
    let mut client = Tree::new(GENERATOR);
    let environment = format!("apiVersion: rustomize.dev/v1\nkind: Environment\nsync: {}\n", server.url);
    client.write(&format!("{place}/environment.yaml"), &environment);
    compile(&client, "../home/bin/teller.exe", TELLER);
    client.variables.insert("WINEPATH", z(&client.home().join("bin")));
    let built = |name: &str| {
        let made = client.build(&["--environment", "prod"]).ok();
        assert!(made.contains(&format!("name: {name}\n")), "{made}");
    };
    built("first");
    let synced = client.home().join("AppData/Local/rustomize/cache/sync/prod");
    let counts = || fs::read_to_string(synced.join("current")).unwrap();
    let first = counts();
    assert!(synced.join(&first).join("plugin/ex.io/v1/made/Made").is_file(), "{first}");
    // Nothing has changed: no content is fetched, and the same directory counts.
    server.asked();
    built("first");
    assert!(server.asked().iter().all(|path| path.contains("metadatas")));
    assert_eq!(counts(), first);
    // One file has changed, and one is gone.
    host.write(&format!("{plugin}/Made"), &script("second"));
    fs::remove_file(host.path().join(&plugin).join("lines.txt")).unwrap();
    export();
    let said = client.run(&["plugin", "sync", "--environment", "prod"]).ok();
    assert!(said.contains("prod: 1 files, 1 fetched, 1 removed"), "{said}");
    built("second");
    assert_ne!(counts(), first);
    // A server that lies changes nothing.
    let contents = crate::support::files(&served.join("v3/file_content"), "");
    host.write(&format!("{plugin}/Made"), &script("third"));
    export();
    for content in crate::support::files(&served.join("v3/file_content"), "") {
        if !contents.contains(&content) {
            fs::write(content, "something else").unwrap();
        }
    }
    client.run(&["plugin", "sync", "--environment", "prod"]).fails_with(&["differs from the list of the server"]);
    assert!(client.build(&["--environment", "prod", "--no-sync"]).ok().contains("name: second\n"));
}

#[test]
fn a_server_names_no_file_outside_of_its_place() {
    if !is_windows() {
        return;
    }
    let place = "../home/AppData/Roaming/rustomize.d/environments/prod";
    let client = Tree::new(GENERATOR);
    let served = client.home().join("www");
    fs::create_dir_all(served.join("v3/file_metadatas")).unwrap();
    fs::create_dir_all(served.join("v3/file_content")).unwrap();
    let server = crate::support::servers::FileServer::start(served.clone());
    let environment = format!("apiVersion: rustomize.dev/v1\nkind: Environment\nsync: {}\n", server.url);
    client.write(&format!("{place}/environment.yaml"), &environment);
    // The SHA-256 of no bytes.
    let sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    fs::write(served.join("v3/file_content").join(sum), "").unwrap();
    fs::write(served.join("v3/file_metadatas/schemas"), "[]").unwrap();
    for path in [
        "../a",
        r"..\\a",
        "/a",
        r"\\a",
        "Z:/a",
        "C:a",
        "v1/made/Made:s",
        "v1/made/nul",
        "v1/made/Made.",
        "v1/made /x",
        r"\\\\?\\Z:\\a",
        "//server/share/a",
    ] {
        let file = format!(r#"[{{"path": "{path}", "sha256": "{sum}", "size": 0, "mode": 420, "uid": 0, "gid": 0}}]"#);
        fs::write(served.join("v3/file_metadatas/plugins"), file).unwrap();
        client.run(&["plugin", "sync", "--environment", "prod"]).fails_with(&["names the file"]);
        let left = crate::support::files(&client.home().join("AppData/Local"), "");
        assert!(left.iter().all(|path| path.ends_with(".rustomize-lock")), "{path}: {left:?}");
    }
}

#[test]
fn an_installed_shared_object_is_a_dll() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: so\nentry: plugin.dll\n\
                    generators: [{apiVersion: ex.io/v1, kind: Made}]\n";
    tree.write("plugins/app/plugin.yaml", manifest);
    let made = r#"return text(&response->output, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-dll}\n");"#;
    compile_shared_object(&tree, "plugins/app/plugin.dll", made);
    crate::support::plugins::require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--offline"]).ok().contains("name: from-dll\n"));
    // What was installed counts, and a change of it is found.
    fs::remove_dir_all(tree.path().join("plugins")).unwrap();
    assert!(tree.build(&["--offline"]).ok().contains("name: from-dll\n"));
    let root = tree.home().join("AppData/Roaming/rustomize.d/plugins");
    let installed = crate::support::files(&root, ".dll");
    assert_eq!(installed.len(), 1, "{installed:?}");
    let mut bytes = fs::read(&installed[0]).unwrap();
    bytes.push(0);
    fs::write(&installed[0], bytes).unwrap();
    tree.build(&["--offline"]).fails_with(&["h.io/acme/app"]);
}

#[test]
fn an_installed_bundle_has_programs_and_scripts() {
    if !is_windows() {
        return;
    }
    let mut tree = Tree::new(GENERATOR);
    compile(&tree, "../home/bin/teller.exe", TELLER);
    tree.variables.insert("WINEPATH", z(&tree.home().join("bin")));
    let script = "#!/usr/bin/env teller\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\n";
    tree.write("tools/plugin.yaml", &crate::support::bundles::manifest("tools", "1.0.0"));
    tree.write("tools/plugin/ex.io/v1/made/Made", script);
    tree.write("tools/plugin/ex.io/v1/made/deep/values.txt", "");
    crate::support::plugins::require(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}");
    // The lock of another system holds here: the sum of the bundle is the same.
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let mut on_linux = Command::new(env!("CARGO_BIN_EXE_rustomize"));
    let here = tree.command(&["plugin", "install"]);
    on_linux.args(here.get_args()).current_dir(tree.path()).env_clear();
    on_linux.envs(here.get_envs().filter_map(|(name, value)| Some((name, value?))));
    run(&mut on_linux).ok();
    let lock = fs::read(tree.path().join("plugins.lock")).unwrap();
    tree.run(&["plugin", "install", "--frozen"]).ok();
    assert!(tree.build(&["--offline", "--frozen"]).ok().contains("name: told\n"));
    assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), lock);
    // A program for Windows counts before a file for other systems.
    tree.write("tools/plugin.yaml", &crate::support::bundles::manifest("tools", "2.0.0"));
    compile(&tree, "tools/plugin/ex.io/v1/made/Made.exe", PRINTS);
    tree.run(&["plugin", "upgrade"]).ok();
    assert!(tree.build(&["--offline", "--frozen"]).ok().contains("v: one\n"));
}

#[test]
fn plugins_are_named_and_taken_by_names_of_files() {
    if !is_windows() {
        return;
    }
    let tree = Tree::new(GENERATOR);
    let built = z(&installable(&tree));
    let root = tree.home().join("AppData/Roaming/rustomize.d/plugins");
    for source in
        ["h.io/acme/nul", "h.io/con/app", "h.io/acme/app.", "h.io/acme/app:s", r"h.io/acme\..\..\app", "aux/acme/app"]
    {
        let done = tree.run(&["plugin", "install", "--path", &built, source]);
        assert_eq!(done.status, Some(1), "{source}: {}", done.stdout);
        let left = if root.exists() { crate::support::files(&root, ".exe") } else { Vec::new() };
        assert!(left.is_empty(), "{source}: {left:?}");
    }
    // A file of requirements may be somebody else's. The plugin would be read: it exists.
    for name in ["built.exe:s", "built.exe.", "nul.exe"] {
        fs::copy(tree.home().join("built.exe"), tree.path().join(name)).unwrap();
    }
    for (from, words) in [
        (r".\nul.exe", "has the name of a device"),
        ("./built.exe:s", "stands for a stream"),
        ("./built.exe.", "ends in a dot or a blank"),
        (r"\\?\Z:\built.exe", "a path of the system's own"),
        ("C:built.exe", "is no place to fetch a plugin from"),
    ] {
        crate::support::plugins::require(&tree, &format!("{{app: {{source: h.io/acme/app, from: '{from}'}}}}"));
        tree.run(&["plugin", "install"]).fails_with(&[words]);
        assert!(!tree.path().join("plugins.lock").exists(), "{from}");
    }
}
