//! The house rules that a program can check.

use crate::support::{files, members};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Linked: the files of new plugins.
    let linked = root.join("src/manager/author/plugin");
    let src = files(&root.join("src"), ".rs").into_iter().filter(|path| !path.starts_with(&linked));
    src.map(|p| (p.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&p).unwrap())).collect()
}

/// The part of a file that is not its tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap()
}

#[test]
fn every_module_says_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//!") || text.starts_with("#![forbid"), "{} has no module doc", path.display());
    }
}

#[test]
fn public_items_are_documented() {
    let is_item = |line: &str| {
        let line = line.trim_start();
        ["pub fn ", "pub const fn ", "pub struct ", "pub enum ", "pub trait ", "pub static ", "pub type "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let mut bare = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| is_item(line)) {
            let above = lines[..i].iter().rev().find(|l| !l.trim_start().starts_with("#["));
            if !above.is_some_and(|l| l.trim_start().starts_with("///")) {
                bare.push(format!("{}:{}: {}", path.display(), i + 1, line.trim()));
            }
        }
    }
    assert!(bare.is_empty(), "{}", bare.join("\n"));
}

/// A line of prose is not longer than this, in characters.
const WIDEST_COMMENT: usize = 100;

#[test]
fn comments_are_narrow_enough_to_be_read() {
    let is_wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > WIDEST_COMMENT;
    let mut wide = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().enumerate().filter(|(_, line)| is_wide(line));
        wide.extend(lines.map(|(i, _)| format!("{}:{}", path.display(), i + 1)));
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// A file that outgrows this is two.
const MOST_LINES: usize = 700;

#[test]
fn files_are_of_a_size_to_be_read() {
    for (path, text) in sources() {
        let is_table = path.ends_with("defaults.rs") || path.ends_with("schema/builtin.rs");
        let lines = code(&text).lines().count();
        assert!(is_table || lines <= MOST_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn systems_differ_in_the_files_that_are_listed() {
    let differs = |line: &str| {
        ["#[cfg(", "#[cfg_attr(", "cfg!("].iter().any(|cfg| line.contains(cfg))
            && ["unix", "windows", "target_os", "target_vendor", "target_family"].iter().any(|word| line.contains(word))
    };
    let sources = sources().into_iter().filter(|(_, text)| code(text).lines().any(differs));
    let found: Vec<String> =
        sources.map(|(path, _)| path.strip_prefix("src").unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(found, listed("Systems"), "docs/architecture.md lists them");
}

/// The list of names in code, with dots between them, that a section of docs/architecture.md has.
fn listed(section: &str) -> Vec<String> {
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md")).unwrap();
    let after = docs.split_once(&format!("\n## {section}\n")).unwrap().1;
    let is_list = |line: &&str| line.starts_with('`') && line.contains("` ·");
    let list: Vec<&str> = after.lines().skip_while(|line| !is_list(line)).collect();
    let list = list.iter().take_while(|line| !line.is_empty());
    let names = list.flat_map(|line| line.split('·')).map(|name| name.trim_matches([' ', '`']).to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// The modules that a file names behind `crate::`, its tests included: in a `use` with braces, each
/// of them.
fn mentions(text: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let of = |after: &str| match after.strip_prefix('{') {
        Some(list) => {
            let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
            for (at, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        names.push(word(list[start..at].trim_start()));
                        break;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        names.push(word(list[start..at].trim_start()));
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            names
        }
        None => vec![word(after)],
    };
    text.split("crate::").skip(1).flat_map(of).filter(|name| !name.is_empty()).collect()
}

/// A file without its lines of comment.
fn uncommented(text: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// Returns true for a folder of src that is a crate: the compiler holds it to its dependencies.
fn is_crate(folder: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("Cargo.toml").is_file()
}

/// The modules of the engine that use a module which comes after them in `layers`.
fn upward_uses(layers: &[String]) -> Vec<String> {
    let place = |name: &str| layers.iter().position(|layer| layer == name);
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Ok(inside) = path.strip_prefix("src/engine") else { continue };
        let module = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = module.trim_end_matches(".rs");
        // Derives are a crate of their own, beside the types that have them.
        if module == "lib" || inside.starts_with("config/derive") {
            continue;
        }
        let own = place(module).unwrap_or_else(|| panic!("docs/architecture.md has no layer '{module}'"));
        for name in mentions(&uncommented(&text)) {
            match place(&name) {
                Some(other) if other > own => wrong.push(format!("{} uses crate::{name}", path.display())),
                None => wrong.push(format!("{}: crate::{name} is no layer", path.display())),
                _ => {}
            }
        }
    }
    wrong
}

#[test]
fn layers_look_down_only() {
    let wrong = upward_uses(&listed("The engine and the outside"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of the modules in `src/FOLDER`, each with the modules of the same folder that it uses.
fn uses_within(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let top = format!("src/{folder}");
    let (first, rest) = folder.split_once('/').unwrap_or((folder, ""));
    let within = if is_crate(first) { rest } else { folder };
    let prefix = match within {
        "" => "crate::".to_owned(),
        path => format!("crate::{}::", path.replace('/', "::")),
    };
    let files: Vec<(PathBuf, String)> = sources().into_iter().filter(|(path, _)| path.starts_with(&top)).collect();
    let name = |path: &Path| {
        let below = path.strip_prefix(&top).unwrap().components().next().unwrap();
        below.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
    };
    let names: BTreeSet<String> =
        files.iter().map(|(path, _)| name(path)).filter(|name| name != "mod" && name != "lib").collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in &files {
        let own = name(path);
        let is_top = path.parent() == Some(Path::new(&top));
        let own_code = uncommented(code(text));
        let within = if is_top { own_code.replace("super::", &prefix) } else { own_code };
        for after in within.split(&prefix).skip(1) {
            let listed = mentions(&format!("crate::{after}"));
            let others = listed.into_iter().filter(|other| names.contains(other) && *other != own);
            uses.entry(own.clone()).or_default().extend(others);
        }
    }
    // A folder's own mod.rs or lib.rs is for all of its modules.
    uses.remove("mod");
    uses.remove("lib");
    uses
}

/// Modules of one folder that lead to each other in a circle cannot be read one after the other.
#[test]
fn no_modules_of_a_folder_form_a_circle() {
    let mut found = Vec::new();
    let modules = listed("The engine and the outside").into_iter().map(|module| format!("engine/{module}"));
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let crates = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).filter(|name| is_crate(name));
    let groups = listed("Groups of the manager").into_iter().map(|group| format!("manager/{group}"));
    let others = ["cli", "edit/localize", "edit/package"].map(str::to_owned);
    for folder in crates.chain(modules).chain(groups).chain(others) {
        let mut edges = uses_within(&folder);
        // Leaves go, one after the other; what is left leads in circles.
        while let Some(leaf) =
            edges.iter().find(|(_, to)| !to.iter().any(|to| edges.contains_key(to))).map(|(n, _)| n.clone())
        {
            edges.remove(&leaf);
        }
        for (from, to) in &edges {
            let to: Vec<&str> = to.iter().filter(|to| edges.contains_key(*to)).map(String::as_str).collect();
            found.push(format!("{folder}: {from} -> {}", to.join(", ")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The paths that code names behind `crate::` and `super::`, and the modules that it declares, each
/// as a path from the root of the crate. `module` is the path of the file.
fn paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    fn add(tree: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = tree.find(|c: char| !is_word(c)).unwrap_or(tree.len());
        let mut path = before.to_vec();
        match (&tree[..end], &tree[end..]) {
            ("", list) if list.starts_with('{') => {
                let (mut depth, mut start) = (0, 1);
                for (at, c) in list.char_indices() {
                    depth += match c {
                        '{' => 1,
                        '}' => -1,
                        _ => 0,
                    };
                    if (c == ',' && depth == 1) || depth == 0 {
                        add(list[start..at].trim(), before, paths);
                        start = at + 1;
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            ("super", rest) if rest.starts_with("::") => {
                path.pop();
                add(&rest[2..], &path, paths);
            }
            ("self" | "", _) => paths.push(path),
            (word, rest) => {
                path.push(word.to_owned());
                match rest.strip_prefix("::") {
                    Some(rest) => add(rest, &path, paths),
                    None => paths.push(path),
                }
            }
        }
    }
    let mut found = Vec::new();
    let is_start = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    for (at, word) in text.match_indices("crate::").filter(|(at, _)| is_start(*at)) {
        add(&text[at + word.len()..], &[], &mut found);
    }
    for (at, word) in text.match_indices("super::").filter(|(at, _)| is_start(*at)) {
        add(&text[at + word.len()..], &module[..module.len() - 1], &mut found);
    }
    for line in text.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")) {
        found.extend(line.strip_suffix(';').map(|name| [module, &[name.to_owned()]].concat()));
    }
    found
}

/// Each file of the command can be read after the files that it uses: a folder's `mod.rs` uses the
/// files of the folder, and none of them uses it.
#[test]
fn no_files_of_the_command_form_a_circle() {
    let module = |path: &Path| {
        let parts = path.strip_prefix("src").unwrap().with_extension("");
        let parts = parts.iter().map(|part| part.to_string_lossy().into_owned()).filter(|part| part != "mod");
        parts.collect::<Vec<_>>()
    };
    let files: BTreeMap<Vec<String>, String> = sources()
        .into_iter()
        .filter(|(path, _)| path.starts_with("src/cli"))
        .map(|(path, text)| (module(&path), uncommented(code(&text))))
        .collect();
    fn file_of<'p>(path: &'p [String], files: &BTreeMap<Vec<String>, String>) -> Option<&'p [String]> {
        (1..=path.len()).rev().map(|n| &path[..n]).find(|path| files.contains_key(*path))
    }
    let mut edges: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    let uses = files.iter().map(|(own, text)| (own, paths(text, own))).collect::<Vec<_>>();
    for (own, paths) in &uses {
        let used = paths.iter().filter_map(|path| file_of(path, &files)).filter(|used| used != &own.as_slice());
        edges.entry(own.as_slice()).or_default().extend(used);
    }
    assert!(edges.len() > 80, "{} files", edges.len());
    while let Some(leaf) =
        edges.iter().find(|(_, to)| !to.iter().any(|to| edges.contains_key(*to))).map(|(own, _)| *own)
    {
        edges.remove(leaf);
    }
    let circle = edges.iter().map(|(from, to)| {
        let to: Vec<String> = to.iter().filter(|to| edges.contains_key(**to)).map(|to| to.join("::")).collect();
        format!("{} -> {}", from.join("::"), to.join(", "))
    });
    let circle: Vec<String> = circle.collect();
    assert!(circle.is_empty(), "{}", circle.join("\n"));
}

#[test]
fn groups_of_the_manager_look_down_only() {
    let groups = listed("Groups of the manager");
    assert_eq!(groups.len(), 8, "{groups:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manager");
    let place = |name: &str| groups.iter().position(|group| group == name);
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_own = matches!(name.as_str(), "Cargo.toml" | "lib.rs");
        assert!(is_own || place(&name).is_some(), "docs/architecture.md has no group '{name}'");
    }
    for (group, used) in uses_within("manager") {
        let above: Vec<&String> = used.iter().filter(|used| place(used) > place(&group)).collect();
        assert!(above.is_empty(), "manager/{group} uses {above:?}");
    }
}

#[test]
fn only_the_command_speaks_to_the_outside() {
    // Windows cannot lock a directory: the lock is a file in the user's own place for such files. Nor
    // can a process become another one there: it ends as its child did.
    let of_windows =
        ["src/files/lock_file.rs", "src/plugins/confined_process_in_job.rs", "src/process/keeper_of_job.rs"];
    for (path, text) in sources() {
        let knows_the_outside = path.starts_with("src/cli")
            || path.ends_with("main.rs")
            || of_windows.iter().any(|other| path == Path::new(other));
        // The machine that the code was built for does not count as environment, nor does the
        // form of a list of paths.
        let code = code(&text)
            .replace("std::env::consts", "")
            .replace("std::env::split_paths", "")
            .replace("std::env::join_paths", "");
        let mentions = ["println!", "std::env::", "process::exit"].iter().any(|word| code.contains(word));
        assert!(knows_the_outside || !mentions, "{} speaks to the outside", path.display());
    }
}

/// Everything that a person, a terminal, CI or a program reads goes through one module.
#[test]
fn one_module_writes_to_stdout_and_stderr() {
    // The process of a plugin, and its keeper, write to pipes of the build, whose writer shows what
    // comes.
    let others = [
        "src/cli/writer.rs",
        "src/cli/plugin_host.rs",
        "src/plugins/confined_process.rs",
        "src/plugins/confined_process_in_job.rs",
        "src/process/keeper.rs",
        "src/process/keeper_of_job.rs",
    ];
    for (path, text) in sources().into_iter().filter(|(path, _)| !others.iter().any(|other| path == Path::new(other))) {
        // A bar draws texts that went through `shown`, and asks the terminal itself.
        let code = uncommented(code(&text)).replace("ProgressDrawTarget::stderr()", "");
        let is_call = |(at, _): (usize, &str)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let streams = ["stdout()", "stderr()", "print!(", "println!(", "eprint!(", "eprintln!(", "dbg!("];
        for word in streams.into_iter().chain(["/dev/tty", "/dev/stdout", "/dev/stderr"]) {
            let is_used = code.match_indices(word).any(is_call);
            assert!(!is_used, "{} has '{word}': src/cli/writer.rs writes", path.display());
        }
    }
}

#[test]
fn nothing_is_left_for_later_without_a_word() {
    for (path, text) in sources() {
        for word in ["todo!", "unimplemented!", "FIXME", "XXX"] {
            assert!(!text.contains(word), "{} has {word}", path.display());
        }
        assert!(!code(&text).contains("use super::*"), "{} uses super::*", path.display());
    }
}

/// The compiler refuses unsafe code in every crate but one: this holds each to the lint that does
/// so.
#[test]
fn unsafe_code_stands_in_one_crate_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"), "the lint is gone");
    for member in members() {
        let manifest = fs::read_to_string(root.join(&member).join("Cargo.toml")).unwrap();
        let library = manifest
            .split("\n[lib]\n")
            .nth(1)
            .and_then(|table| table.lines().find_map(|line| line.strip_prefix("path = ")));
        let library = library.map_or("src/lib.rs", |path| path.trim_matches('"'));
        let text = || fs::read_to_string(root.join(&member).join(library)).unwrap();
        let inherits = manifest.contains("[lints]\nworkspace = true\n");
        let forbids = inherits || text().contains("\n#![forbid(unsafe_code)]\n");
        assert_eq!(forbids, member != "plugin/abi", "{member}");
    }
}

/// Licences of which one is enough, for each part of a dependency: none asks anything of those who
/// use the tool.
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "ISC",
    "Zlib",
    "BSD-3-Clause",
    "Unicode-3.0",
    "CDLA-Permissive-2.0",
    "Unlicense",
];

/// Has its licence, which is MIT's, in a file, and is for tests alone.
const LICENCE_IN_A_FILE: &str = "libyaml-safer";

/// All dependencies come from the registry, under licences that are known.
#[test]
fn dependencies_come_from_the_registry_under_known_licences() {
    #[expect(clippy::disallowed_methods, reason = "cargo knows what is locked")]
    let metadata = std::process::Command::new(env!("CARGO"))
        // Dependencies of other platforms may be missing.
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform"])
        .arg(env!("RUSTOMIZE_TARGET"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let metadata = match metadata {
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            return crate::support::skip("cargo is another user's");
        }
        metadata => metadata.unwrap(),
    };
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let others: Vec<_> = packages.iter().filter(|package| !package["source"].is_null()).collect();
    assert!(others.len() > 100);
    for package in others {
        let name = &package["name"];
        let source = package["source"].as_str().unwrap();
        assert!(source.starts_with("registry+"), "{name} comes from {source}");
        if name == LICENCE_IN_A_FILE {
            continue;
        }
        let licence = package["license"].as_str().unwrap_or_default().replace(['(', ')'], "").replace('/', " OR ");
        let is_known = |part: &str| part.split(" OR ").any(|one| LICENCES.contains(&one));
        assert!(licence.split(" AND ").all(is_known), "{name}: {licence}");
    }
}
