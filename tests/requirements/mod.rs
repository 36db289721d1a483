//! The requirements of docs/requirements.md: tests of theirs, and the check that tests/mutate finds
//! the test of each row, and the text that switches its rule off.

mod kustomize;
mod packer;
mod pulumi;
mod puppet;

use crate::support::packages::{host, zip};
use crate::support::plugins::{root, script};
use crate::support::servers::{Files, git_server, sha256};
use crate::support::{Tree, files, git};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The letters of the tables: the number of a row begins with that of its table.
const TABLES: [char; 4] = ['K', 'P', 'U', 'M'];

/// A row of a table.
struct Row {
    number: String,
    /// The test, or the reason for its absence.
    test: String,
}

impl Row {
    /// The path of the row's test, if it has one.
    fn test(&self) -> Option<&str> {
        let is_without = self.test.starts_with("Out: ");
        let test = self.test.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        assert!(is_without || test.is_some(), "{} names no test: {}", self.number, self.test);
        test
    }
}

fn rows() -> Vec<Row> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/requirements.md");
    let text = fs::read_to_string(docs).unwrap();
    let is_number =
        |cell: &str| cell.len() == 3 && cell.starts_with(TABLES) && cell[1..].bytes().all(|b| b.is_ascii_digit());
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        if let [number, _, test, ..] = cells.as_slice()
            && is_number(number)
        {
            rows.push(Row { number: number.clone(), test: test.clone() });
        }
    }
    rows
}

/// Every test, by its path: `roots::NAME` of the program `main`, `attack::trust::NAME` of another
/// program, and `src::` before the name that the library gives to a test.
fn tests() -> BTreeSet<String> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for (folder, prefix, module) in [("tests", "", ""), ("src", "src::", "tests::")] {
        for path in files(&base.join(folder), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let below = path.strip_prefix(base.join(folder)).unwrap().with_extension("");
            let parts: Vec<_> = below
                .iter()
                .map(|part| part.to_str().unwrap())
                .filter(|part| !["mod", "main"].contains(part))
                .collect();
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for at in (0..lines.len()).filter(|at| lines[*at] == "#[test]") {
                let name = lines[at..].iter().find_map(|line| line.strip_prefix("fn ")).unwrap();
                let name = name.split('(').next().unwrap();
                found.insert(format!("{prefix}{}::{module}{name}", parts.join("::")));
            }
        }
    }
    found
}

/// tests/mutate runs these tests by their names.
#[test]
fn every_row_names_a_test_that_exists() {
    let tests = tests();
    for row in rows() {
        if let Some(test) = row.test() {
            assert!(tests.contains(test), "{}: there is no test '{test}'", row.number);
        }
    }
}

/// A change of tests/mutations.txt, which switches the rule of a row off.
struct Mutation {
    /// The row, or such as `K29.2` for another way to switch its rule off.
    switch: String,
    file: String,
    find: String,
    put: String,
}

/// The changes, as tests/mutate reads them.
fn mutations() -> Vec<Mutation> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutations.txt");
    let text = fs::read_to_string(path).unwrap();
    let mut mutations = Vec::new();
    for block in text.split("\n\n") {
        let mut lines = block.trim_start_matches('\n').lines().filter(|line| !line.starts_with('#'));
        let Some((switch, file)) = lines.next().and_then(|head| head.split_once(' ')) else { continue };
        let lines: Vec<&str> = lines.collect();
        let side = |sign: char| -> String {
            let of_side = lines.iter().filter_map(|line| line.strip_prefix(sign));
            of_side.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
        };
        let (find, put) = (side('-'), side('+'));
        mutations.push(Mutation { switch: switch.to_owned(), file: file.to_owned(), find, put });
    }
    mutations
}

/// `tests/mutate` switches the rule of a row off, and expects that the test of the row fails.
#[test]
fn every_row_with_a_test_can_be_switched_off() {
    let with_test: BTreeSet<String> =
        rows().into_iter().filter(|row| row.test().is_some()).map(|row| row.number).collect();
    let mutations = mutations();
    let row = |switch: &str| switch.split('.').next().unwrap_or_default().to_owned();
    let known: BTreeSet<String> = mutations.iter().map(|mutation| row(&mutation.switch)).collect();
    assert_eq!(known, with_test, "the rows of tests/mutations.txt are those with a test");
    for Mutation { switch, file, find, put } in mutations {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
        let text = text.unwrap_or_else(|e| panic!("{switch}: {file}: {e}"));
        assert_eq!(text.matches(&find).count(), 1, "{switch}: {file} has to have this once:\n{find}");
        assert_ne!(find, put, "{switch} changes nothing");
    }
}

/// A configuration object of a kind, in a file, and the list that names it.
fn object(kind: &str, name: &str) -> String {
    format!("apiVersion: ex.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n")
}

/// The name of a plugin's file for this machine.
fn file_name(name: &str, version: &str, api: &str) -> String {
    let (os, arch) = host();
    format!("rustomize-plugin-{name}_{version}_{api}_{os}_{arch}")
}

/// Puts an executable and its sum below the root for plugins, as an installation leaves them.
fn put(tree: &Tree, folder: &str, name: &str, script: &str) -> PathBuf {
    tree.write(&format!("../home/.config/rustomize/plugins/{folder}/{name}"), script);
    let path = root(tree).join(folder).join(name);
    fs::write(path.with_file_name(format!("{name}_SHA256SUM")), sha256(script.as_bytes())).unwrap();
    path
}

/// The names of the files and directories in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What `plugin list -o json` prints.
fn list(tree: &Tree) -> Vec<serde_json::Value> {
    let text = tree.run(&["plugin", "list", "-o", "json"]).ok();
    serde_json::from_str(&text).unwrap()
}

/// A server with the releases of one plugin, laid out as GitHub does.
struct Releases {
    /// The source of the plugin: the server is its host.
    source: String,
    server: String,
    files: Files,
}

impl Releases {
    /// Serves some versions of the plugin `app`; the script of each generates `v: release
    /// <version>`.
    fn new(tree: &Tree, versions: &[&str]) -> Releases {
        let files = Files::default();
        let repositories = tree.home().join("repositories/acme");
        let work = repositories.join("work");
        fs::create_dir_all(&work).unwrap();
        git(&work, &["init", "-q", "-b", "main"]);
        git(&work, &["commit", "-q", "--allow-empty", "-m", "one"]);
        for version in versions {
            git(&work, &["tag", &format!("v{version}")]);
            Releases::publish(&files, version, version);
        }
        git(&repositories, &["clone", "-q", "--bare", "work", "rustomize-plugin-app.git"]);
        let server = git_server(tree.home().join("repositories"), files.clone());
        Releases { source: format!("{server}/acme/app"), server, files }
    }

    /// Publishes the files of a version; the plugin says of itself that it is version `says`.
    fn publish(files: &Files, version: &str, says: &str) {
        let (os, arch) = host();
        let base = format!("/acme/rustomize-plugin-app/releases/download/v{version}");
        let stem = format!("rustomize-plugin-app_v{version}");
        let archive = zip(&format!("{stem}_x1.0_{os}_{arch}"), &script(says, &format!("release {version}")));
        let name = format!("{stem}_x1.0_{os}_{arch}.zip");
        files.put(&format!("{base}/{stem}_SHA256SUMS"), format!("{}  {name}\n", sha256(&archive)));
        files.put(&format!("{base}/{name}"), archive);
    }
}
