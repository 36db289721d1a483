//! The entries of `nameReference` that mend findings of `lint`.

use super::draft::Draft;
use super::lists;
use crate::diag::{NameReference, Result};
use crate::stage::{Context, Options};
use rustomize_sources::Disk;
use rustomize_yaml::Heap;
use std::collections::BTreeSet;

/// The file beside a kustomization that gets the entries.
pub const FILE: &str = "name-references.yaml";

/// The field of [`FILE`] that has the entries.
const FIELD: &str = "nameReference:";

/// The text of [`FILE`] with further entries, which come last. `None` if the file has other fields,
/// or is not written as a list of lines. O(text + entries).
pub fn with_entries(before: Option<&str>, entries: &BTreeSet<NameReference>) -> Option<String> {
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
pub fn listed(name: &'static str, text: String, options: Options) -> Result<String> {
    let heap = Heap::new();
    let disk = Disk::new();
    let cx = Context::new(&heap, &disk, options);
    let changed = Draft::read(cx, name, text.clone()).and_then(|mut draft| {
        lists::push(&mut draft, "configurations", FILE)?;
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
