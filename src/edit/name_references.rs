//! The entries of `nameReference` that mend findings of `lint`.

use super::draft::Draft;
use super::lists;
use crate::diag::{NameReference, Result};
use crate::load::{Memory, Overlay};
use crate::stage::{Context, Options};
use crate::workspace::{self, Workspace};
use rustomize_sources::Disk;
use rustomize_yaml::Heap;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// The file beside a kustomization that gets the entries.
pub const FILE: &str = "name-references.yaml";

/// The field of [`FILE`] that has the entries.
const FIELD: &str = "nameReference:";

/// A kustomization whose resources have references to mend.
pub struct Referring<'k> {
    /// Its directory, without links.
    pub directory: &'k Path,
    /// The name of its file.
    pub name: &'static str,
    /// Its text.
    pub text: &'k str,
    /// The text of [`FILE`] beside it; `None` if the file does not exist.
    pub entries: Option<&'k str>,
    /// The files with the references, without links.
    pub files: &'k [PathBuf],
}

/// The texts that mend the references of a kustomization.
pub struct Mended {
    /// The text of the kustomization.
    pub kustomization: String,
    /// The text of [`FILE`].
    pub entries: String,
}

/// The reason why references stay.
pub enum Stays {
    /// [`FILE`] has more than a list of `nameReference`.
    HasOtherFields,
    /// The kustomization cannot be changed: the message of the error.
    CannotList(String),
    DoesNotBuild,
    OfAnother,
}

impl Display for Stays {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Stays::HasOtherFields => write!(f, "'{FILE}' has more than a list of 'nameReference'"),
            Stays::CannotList(why) => f.write_str(why),
            Stays::DoesNotBuild => f.write_str("the directory does not build on its own with the entries"),
            Stays::OfAnother => f.write_str("their file belongs to another kustomization"),
        }
    }
}

/// The texts with which the fields of `further` are updated. `unsaved` has texts that replace files
/// of the disk. Nothing is written; the directory is built with the new texts.
///
/// # Errors
/// The reason why an entry is not sure to help.
pub fn mended(
    of: &Referring<'_>,
    further: &BTreeSet<NameReference>,
    mut unsaved: Memory,
    options: &Options,
) -> std::result::Result<Mended, Stays> {
    let entries = with_entries(of.entries, further).ok_or(Stays::HasOtherFields)?;
    let kustomization = listed(of.name, of.text.to_owned(), options.clone())
        .map_err(|error| Stays::CannotList(error.message().to_owned()))?;
    unsaved.set(of.directory.join(of.name), kustomization.as_bytes());
    unsaved.set(of.directory.join(FILE), entries.as_bytes());
    let loader = Overlay::new(Disk::new(), unsaved);
    let workspace = Workspace::new();
    let built = workspace::build(&workspace, &loader, &of.directory.to_string_lossy(), options);
    let read = built.value.and_then(|output| output.check_printable().map(|()| output.files()));
    let read = read.map_err(|_| Stays::DoesNotBuild)?;
    match of.files.iter().all(|file| read.contains(file)) {
        true => Ok(Mended { kustomization, entries }),
        false => Err(Stays::OfAnother),
    }
}

/// The text of [`FILE`] with further entries, which come last. `None` if the file has other fields,
/// or is not written as a list of lines. O(text + entries).
fn with_entries(before: Option<&str>, entries: &BTreeSet<NameReference>) -> Option<String> {
    let mut text = match before {
        None => format!("{FIELD}\n"),
        Some(before) => {
            let content = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
            let mut lines = before.lines().filter(content);
            let has_list = lines.next().is_some_and(|first| first.trim_end() == FIELD);
            if !has_list || lines.any(|line| !line.starts_with("- ") && !line.starts_with("  ")) {
                return None;
            }
            let mut text = before.to_owned();
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text
        }
    };
    let mut target = None;
    for entry in entries {
        if target != Some(&entry.target) {
            text += &format!("- kind: {}\n  fieldSpecs:\n", entry.target());
            target = Some(&entry.target);
        }
        text += &format!("  - {}\n", entry.field_spec());
    }
    Some(text)
}

/// The text of a kustomization file that lists [`FILE`] under `configurations`. `name` is the name
/// of the file.
///
/// # Errors
/// The file cannot be read as a kustomization, or is written in a way that cannot be changed.
fn listed(name: &'static str, text: String, options: Options) -> Result<String> {
    let heap = Heap::new();
    let disk = Disk::new();
    let cx = Context::new(&heap, &disk, options);
    let changed = Draft::read(cx, name, text.clone()).and_then(|mut draft| {
        lists::Entries::of(&draft, "configurations").push(&mut draft, FILE)?;
        draft.finish()
    });
    Ok(changed.map_err(|e| e.located(&heap))?.unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> BTreeSet<NameReference> {
        let entry = |target: &str, kind: &str, path: &str| NameReference {
            target: target.to_owned(),
            kind: kind.to_owned(),
            group: "example.com".to_owned(),
            path: path.to_owned(),
        };
        let path = "spec/rules/backendRefs/name";
        [entry("Service", "Route", path), entry("Secret", "b: c", "spec/a"), entry("Service", "Door", path)].into()
    }

    const ADDED: &str = "- kind: Secret
  fieldSpecs:
  - {kind: \"b: c\", group: example.com, path: spec/a}
- kind: Service
  fieldSpecs:
  - {kind: Door, group: example.com, path: spec/rules/backendRefs/name}
  - {kind: Route, group: example.com, path: spec/rules/backendRefs/name}
";

    #[test]
    fn a_file_gets_an_entry_for_each_kind() {
        assert_eq!(with_entries(None, &entries()), Some(format!("nameReference:\n{ADDED}")));
        let before = "# ours\nnameReference:\n- kind: X\n\n  fieldSpecs: []";
        assert_eq!(with_entries(Some(before), &entries()), Some(format!("{before}\n{ADDED}")));
    }

    #[test]
    fn a_file_of_another_form_stays() {
        for before in ["", "nameReference: []\n", "images: []\n", "nameReference:\n- a\nimages:\n- b\n", "a:\n- b\n"] {
            assert_eq!(with_entries(Some(before), &entries()), None, "{before}");
        }
    }
}
