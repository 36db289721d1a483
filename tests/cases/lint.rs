//! `lint`: testdata/lint has a folder for each code, with trees that fire (`fires*.txtar`) and
//! trees that do not (`silent*.txtar`).

use crate::support::findings::lint;
use crate::support::{Tree, files};
use crate::{of_file, testdata};
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    files(&testdata("lint"), ".txtar").iter().map(|path| of_file(path, check)).collect()
}

fn check(path: &Path) -> Result<(), String> {
    let code = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let tree = Tree::new(&fs::read_to_string(path).unwrap());
    // A tree that needs more than `lint` has a file `args`, as other cases have.
    let args = fs::read_to_string(tree.path().join("args")).unwrap_or_default();
    let args: Vec<&str> = args.split_whitespace().skip(1).collect();
    let lint = |flag: &str| lint(&tree, &[&args[..], &[flag, code]].concat());
    let (found, status) = lint("-W");
    let name = path.file_name().unwrap().to_str().unwrap();
    if name.starts_with("silent") {
        return expect((found, status), (vec![], Some(0)), "-W");
    }
    if !name.starts_with("fires") {
        return Err("the name of a case begins with `fires` or `silent`".into());
    }
    if found.is_empty() || found.iter().any(|found| found != code) {
        return Err(format!("-W finds {found:?}"));
    }
    expect((found.clone(), status), (found.clone(), Some(1)), "-W")?;
    expect(lint("--only"), (found, Some(1)), "--only")?;
    expect(lint("-A"), (vec![], Some(0)), "-A")
}

/// The codes of findings, and the exit status.
type Found = (Vec<String>, Option<i32>);

fn expect(found: Found, expected: Found, flag: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{flag} gives {found:?}, expected {expected:?}")) }
}
