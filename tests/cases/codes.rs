//! The pages of codes, src/engine/diag/codes: the example of each page must show its code, and what
//! the page says against it must mend it. A page has the parts Why, Example and Mend. The example is a
//! tree, with the arguments of the command in `args` unless it is `build`; the mend has the files
//! that change. `https://missing.example.com` stands for a server without files.

use crate::support::{Run, Tree, split};
use libtest_mimic::Trial;
use rustomize::diag::Code;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::OnceLock;

/// Codes that no tree can show, and why.
const WITHOUT_EXAMPLE: [(&str, &str); 3] = [
    ("internal", "a fault of the tool is mended when it is known"),
    ("permission", "a tree of texts has no permissions, and tests may run as root, who may read all"),
    ("encoding", "the text of a page is valid UTF-8"),
];

pub fn tests() -> Vec<Trial> {
    Code::all()
        .map(|code| {
            Trial::test(format!("codes/{}", code.as_str()), move || {
                check_parts(code);
                Ok(check_example(code)?)
            })
        })
        .collect()
}

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

/// The address of a server that answers every request with 404.
fn server_without_files() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
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
    })
}

/// Writes files into a tree, and keeps the arguments of the command.
fn write(tree: &Tree, files: &[(String, String)], args: &mut String) {
    for (name, text) in files {
        let text = text.replace("https://missing.example.com", server_without_files());
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

fn check_parts(code: Code) {
    let (word, page) = (code.as_str(), code.page());
    let parts = parts(page);
    assert!(page.starts_with(&format!("# {word}\n\n{}\n", code.meaning())), "the head");
    assert!(parts.contains_key("Why"), "the page does not say why");
    assert!(code.meaning().ends_with('.') && !code.meaning().contains('\n'), "one sentence");
    let is_excepted = WITHOUT_EXAMPLE.iter().any(|(without, _)| *without == word);
    assert_eq!(parts.contains_key("Example"), !is_excepted, "Example");
    assert!(parts.contains_key("Mend"), "the page does not say how the fault is mended");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "a line is too long");
}

fn check_example(code: Code) -> Result<(), String> {
    let (word, parts) = (code.as_str(), parts(code.page()));
    let Some(example) = parts.get("Example") else { return Ok(()) };
    let (mut tree, mut args) = (Tree::new(""), "build".to_owned());
    write(&tree, &files(example), &mut args);
    let (run, shown) = codes(&mut tree, &args);
    if !shown.iter().any(|code| code == word) {
        return Err(format!("the example shows {shown:?}:\n{}{}", run.stdout, run.stderr));
    }
    write(&tree, &files(parts["Mend"]), &mut args);
    let (run, shown) = codes(&mut tree, &args);
    match run.status != Some(0) || shown.iter().any(|code| code == word) {
        true => Err(format!("after the mend:\n{}", run.stderr)),
        false => Ok(()),
    }
}
