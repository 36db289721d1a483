//! `validate --schema`: the trees of testdata/check and their findings.

use crate::support::findings::findings;
use crate::support::{Tree, files, split};
use crate::{is_update, of_file, testdata};
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    files(&testdata("check"), ".txtar").iter().map(|path| of_file(path, check)).collect()
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).unwrap();
    let (_, parts) = split(&text);
    let part = |name: &str| parts.iter().find(|(n, _)| n == name).map(|(_, text)| text.clone());
    let (want, flags) = (part("findings").unwrap(), part("flags").unwrap_or_default());
    let (status, found) = findings(&Tree::new(&text), &flags.split_whitespace().collect::<Vec<_>>());
    if is_update() {
        let head = text.split_once("-- findings --\n").unwrap().0;
        fs::write(path, format!("{head}-- findings --\n{found}")).unwrap();
        return Ok(());
    }
    if found != want {
        return Err(format!("the findings are\n{found}--- expected\n{want}"));
    }
    match status == Some(i32::from(found.contains("error "))) {
        true => Ok(()),
        false => Err(format!("exit status {status:?}")),
    }
}
