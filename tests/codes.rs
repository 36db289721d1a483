//! The pages of codes, src/engine/diag/codes: the example of each page must show its code, and what
//! the page says against it must mend it. A page has the parts Why, Example and Mend. The example is a
//! tree, with the arguments of the command in `args` unless it is `build`; the mend has the files
//! that change. `https://missing.example.com` stands for a server without files.

use crate::support::{Run, Tree, split};
use rustomize::diag::Code;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;

/// Codes that no tree can show, and why.
const WITHOUT_EXAMPLE: [(&str, &str); 3] = [
    ("internal", "a fault of the tool is mended when it is known"),
    ("permission", "a tree of texts has no permissions, and tests may run as root, who may read all"),
    ("encoding", "the text of a page is valid UTF-8"),
];

/// The parts of a page, by their headings; the first part lacks a heading.
fn parts(page: &str) -> BTreeMap<&str, &str> {
    let mut parts = page.split("\n## ");
    let head = parts.next().unwrap_or_default();
    parts.filter_map(|part| part.split_once('\n')).chain([("", head)]).collect()
}

/// The one block of a part that holds files.
fn files(part: &str) -> Vec<(String, String)> {
    let mut blocks = part.split("```txtar\n").skip(1).map(|rest| rest.split_once("```\n").unwrap().0);
    let block = blocks.next().unwrap();
    assert_eq!(blocks.next(), None, "one block of files");
    split(block).1
}

/// A server that answers every request with 404, and its address.
fn server_without_files() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    address
}

/// Writes files into a tree, and keeps the arguments of the command.
fn write(tree: &Tree, files: &[(String, String)], server: &str, args: &mut String) {
    for (name, text) in files {
        let text = text.replace("https://missing.example.com", server);
        match (name.as_str(), name.split_once(" -> ")) {
            ("args", _) => *args = text.trim().to_owned(),
            (_, Some((link, target))) => std::os::unix::fs::symlink(target, tree.path().join(link)).unwrap(),
            _ => {
                let _ = std::fs::remove_file(tree.path().join(name));
                tree.write(name, &text);
            }
        }
    }
}

/// The codes that a command says.
fn codes(tree: &mut Tree, args: &str) -> (Run, Vec<String>) {
    let mut args: Vec<&str> = args.split_whitespace().collect();
    args.extend(["--error-format", "json"]);
    tree.variables.insert("KUSTOMIZE_PLUGIN_HOME", tree.path().join("plugins").to_string_lossy().into_owned());
    let run = tree.run(&args);
    let values = run.stderr.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let codes = values.filter_map(|value| Some(value["code"].as_str()?.to_owned())).collect();
    (run, codes)
}

#[test]
fn pages_have_their_parts() {
    for code in Code::all() {
        let (word, page) = (code.as_str(), code.page());
        let parts = parts(page);
        assert!(page.starts_with(&format!("# {word}\n\n{}\n", code.meaning())), "{word}: the head");
        assert!(parts.contains_key("Why"), "{word} does not say why");
        assert!(code.meaning().ends_with('.') && !code.meaning().contains('\n'), "{word}: one sentence");
        let is_excepted = WITHOUT_EXAMPLE.iter().any(|(without, _)| *without == word);
        assert_eq!(parts.contains_key("Example"), !is_excepted, "{word}: Example");
        assert!(parts.contains_key("Mend"), "{word} does not say how it is mended");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{word} has a line that is too long");
    }
}

#[test]
fn examples_show_their_code_and_the_mend_mends_it() {
    let server = server_without_files();
    let mut failures = String::new();
    for code in Code::all() {
        let (word, parts) = (code.as_str(), parts(code.page()));
        let Some(example) = parts.get("Example") else { continue };
        let (mut tree, mut args) = (Tree::new(""), "build".to_owned());
        write(&tree, &files(example), &server, &mut args);
        let (run, shown) = codes(&mut tree, &args);
        if !shown.iter().any(|code| code == word) {
            failures += &format!("{word}: the example shows {shown:?}:\n{}{}\n", run.stdout, run.stderr);
            continue;
        }
        write(&tree, &files(parts["Mend"]), &server, &mut args);
        let (run, shown) = codes(&mut tree, &args);
        if run.status != Some(0) || shown.iter().any(|code| code == word) {
            failures += &format!("{word}: after the mend:\n{}\n", run.stderr);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn explain_prints_the_page_of_a_code() {
    let tree = Tree::new("");
    let page = tree.run(&["explain", "no-match"]).ok();
    assert!(page.starts_with("no-match\n\nAn entry is for resources that do not exist.\n\nWhy\n"), "{page}");
    assert!(page.contains("\n    -- patch.yaml --\n") && !page.contains("```"), "{page}");
    let list = tree.run(&["explain", "--list"]).ok();
    assert_eq!(list.lines().count(), Code::all().count());
    tree.run(&["explain", "no-macth"]).fails_with(&["'no-macth': no such file", "rustomize explain no-match"]);
    // A directory of that name is a root.
    tree.write("usage/kustomization.yaml", "configMapGenerator: [{name: settings}]\n");
    assert!(tree.run(&["explain", "usage"]).ok().contains("settings"));
}
