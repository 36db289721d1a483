//! `set image`: names, tags and digests of images.

use super::draft::{self, Draft};
use super::{Place, lists, usage_as};
use crate::diag::Result;
use crate::stage::{Context, Options};
use rustomize_base::shell::quoted;
use rustomize_sources::Disk;
use rustomize_yaml::{Arena, Heap, Node};
use std::collections::BTreeMap;

/// Stands for the current value of an entry.
const KEPT: &str = "*";

const INVALID: &str = "invalid format of image, use one of the following options:
- <image>=<newimage>:<newtag>
- <image>=<newimage>@<digest>
- <image>=<newimage>:<newtag>@<digest>
- <image>=<newimage>
- <image>:<newtag>
- <image>:<newtag>@<digest>
- <image>@<digest>";

/// The new values of an image. An empty text means no change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Change {
    name: String,
    tag: String,
    digest: String,
}

/// Name, tag and digest of an image. A colon before the first slash belongs to a port.
fn split(image: &str) -> (&str, &str, &str) {
    let slash = image.find('/').unwrap_or(0);
    let find = |c| image[slash..].find(c).map(|i| slash + i);
    match (find(':'), find('@')) {
        (None, None) => (image, "", ""),
        (Some(colon), Some(at)) if colon < at => (&image[..colon], &image[colon + 1..at], &image[at + 1..]),
        (_, Some(at)) => (&image[..at], "", &image[at + 1..]),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
    }
}

/// The name that an argument is for, and the change of the image.
fn parse(argument: &str) -> Result<(String, Change)> {
    let (image, value) = argument.split_once('=').map_or((None, argument), |(image, value)| (Some(image), value));
    let (name, tag, digest) = split(value);
    if name == argument {
        let name = if argument.is_empty() { "nginx" } else { argument };
        return Err(usage_as(INVALID, &format!("set image {}", quoted(&format!("{name}:1.27")))));
    }
    let new_name = if image.is_none_or(str::is_empty) { "" } else { name };
    let image = image.filter(|image| !image.is_empty()).unwrap_or(name);
    Ok((image.to_owned(), Change { name: new_name.to_owned(), tag: tag.to_owned(), digest: digest.to_owned() }))
}

/// `set image`: replaces the entry of that name, or inserts a new one before the first entry with a
/// greater name, so that a sorted list stays sorted.
///
/// # Errors
/// No argument is given, or an argument changes nothing.
pub fn set(place: &mut Place, arguments: &[String]) -> Result<()> {
    if arguments.is_empty() {
        return Err(usage_as("no image specified", "set image nginx:1.27"));
    }
    let changes = arguments.iter().map(|argument| parse(argument)).collect::<Result<BTreeMap<_, _>>>()?;
    place.change(|draft| {
        let arena = draft.arena;
        lists::put_named(arena, draft.list("images")?, &changes, |entry, change| apply(arena, entry, change));
        Ok(())
    })
}

/// The tag and the digest of an image; empty texts for what it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub tag: String,
    pub digest: String,
}

/// The text of a kustomization file after entries of `images` have got other versions; `None` if
/// it stays as it is. `name` is the name of the file. `versions` has the entries by their places:
/// those of `images`, then those of `imageTags`. The images of `added` get entries, if they have
/// none.
///
/// # Errors
/// The file cannot be read as a kustomization, or cannot be changed.
pub fn with_versions(
    name: &'static str,
    text: String,
    options: Options,
    versions: &BTreeMap<usize, Version>,
    added: &BTreeMap<String, Version>,
) -> Result<Option<String>> {
    let heap = Heap::new();
    let disk = Disk::new();
    let cx = Context::new(&heap, &disk, options);
    let change =
        |Version { tag, digest }: &Version| Change { name: KEPT.to_owned(), tag: tag.clone(), digest: digest.clone() };
    let changed = Draft::read(cx, name, text).and_then(|mut draft| {
        let arena = draft.arena;
        let mut at = 0;
        for field in ["images", "imageTags"] {
            let Some(list) = draft.written_list(field)? else { continue };
            for entry in list.iter_mut() {
                if let Some(version) = versions.get(&at) {
                    apply(arena, entry, &change(version));
                }
                at += 1;
            }
        }
        if !added.is_empty() {
            let list = draft.list("images")?;
            lists::put_named(arena, list, added, |entry, version| apply(arena, entry, &change(version)));
        }
        draft.finish()
    });
    changed.map_err(|error| error.located(&heap))
}

fn apply<'a>(arena: Arena<'a>, entry: &mut Node<'a>, change: &Change) {
    let fields = [("newName", &change.name), ("newTag", &change.tag), ("digest", &change.digest)];
    if let Some(entry) = entry.as_mapping_mut() {
        for (name, value) in fields.into_iter().filter(|(_, value)| *value != KEPT) {
            draft::set_text(arena, entry, name, value);
        }
        draft::set_text(arena, entry, "tagSuffix", "");
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Version, parse, with_versions};
    use crate::stage::Options;

    #[track_caller]
    fn check(argument: &str, image: &str, [name, tag, digest]: [&str; 3]) {
        let want = Change { name: name.into(), tag: tag.into(), digest: digest.into() };
        assert_eq!(parse(argument).unwrap(), (image.to_owned(), want), "{argument}");
    }

    #[test]
    fn versions_are_set_where_an_entry_is() {
        let text = "imageTags:\n- {name: a, newTag: '1'} # one\n- name: b\n  digest: sha256:0\n";
        let version = |tag: &str| Version { tag: tag.into(), ..Version::default() };
        let set = |versions: &[(usize, &str)], added: &[(&str, &str)]| {
            let versions = versions.iter().map(|(at, tag)| (*at, version(tag))).collect();
            let added = added.iter().map(|(name, tag)| ((*name).to_owned(), version(tag))).collect();
            with_versions("kustomization.yaml", text.to_owned(), Options::default(), &versions, &added).unwrap()
        };
        let want = "imageTags:\n- {name: a, newTag: '2'} # one\n- name: b\n  newTag: \"3\"\n";
        assert_eq!(set(&[(0, "2"), (1, "3")], &[]).unwrap(), want);
        assert_eq!(set(&[(0, "1"), (7, "3")], &[]), None);
        let want =
            "images:\n- {name: a, newTag: '1'} # one\n- name: b\n  digest: sha256:0\n- name: c\n  newTag: \"4\"\n";
        assert_eq!(set(&[], &[("c", "4")]).unwrap(), want);
    }

    #[test]
    fn arguments() {
        check("a=b", "a", ["b", "", ""]);
        check("a=b:1", "a", ["b", "1", ""]);
        check("a=reg:5000/x/b:1@sha256:f", "a", ["reg:5000/x/b", "1", "sha256:f"]);
        check("a@sha256:f", "a", ["", "", "sha256:f"]);
        check("a:1", "a", ["", "1", ""]);
        check("reg:5000/a:1", "reg:5000/a", ["", "1", ""]);
        check("a=*:2", "a", ["*", "2", ""]);
        check("a=", "a", ["", "", ""]);
        check("=b:1", "b", ["", "1", ""]);
        check("a=b=c:1", "a", ["b=c", "1", ""]);
        assert!(parse("a").is_err() && parse("reg/a").is_err());
    }
}
