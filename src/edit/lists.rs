//! Lists of files and words: `resources`, `components`, `generators`, `transformers`, `validators`,
//! `configurations` and `buildMetadata`.

use super::draft::{self, Draft};
use super::{Place, glob, shown, usage, usage_as};
use crate::diag::{Code, Error, Result, nearest};
use crate::stage::BuildMetadata;
use rustomize_yaml::{Arena, Key, Mapping, Node, Sequence};
use std::collections::{BTreeMap, BTreeSet};

/// A list of files, and kustomize's word for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    pub field: &'static str,
    pub entry: &'static str,
    /// A file that the examples of hints name.
    pub example: &'static str,
    /// The error if no file is given.
    pub missing: &'static str,
    /// The words in front of the errors of a command.
    pub prefixes: Prefixes,
}

/// The words that kustomize puts in front of errors, which are empty for most commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefixes {
    /// In front of the error for a malformed pattern.
    pub pattern: &'static str,
    /// In front of the error for a missing kustomization file.
    pub no_file: &'static str,
    /// In front of the error for a file that is not a kustomization.
    pub no_kustomization: &'static str,
}

const NO_PREFIXES: Prefixes = Prefixes { pattern: "", no_file: "", no_kustomization: "" };

pub const RESOURCES: List = List {
    field: "resources",
    entry: "resource",
    example: "deployment.yaml",
    missing: "must specify a resource file",
    prefixes: NO_PREFIXES,
};
pub const COMPONENTS: List = List {
    field: "components",
    entry: "component",
    example: "../components/tls",
    missing: "must specify a component file",
    prefixes: NO_PREFIXES,
};
/// `components`, for `remove component`.
pub const REMOVED_COMPONENTS: List = List {
    prefixes: Prefixes {
        no_file: "failed to read kustomization file: ",
        no_kustomization: "failed to read kustomization file content: ",
        ..NO_PREFIXES
    },
    ..COMPONENTS
};
pub const GENERATORS: List = List {
    field: "generators",
    entry: "generator",
    example: "maker.yaml",
    missing: "must specify a yaml file which contains a generator plugin resource",
    prefixes: NO_PREFIXES,
};
pub const TRANSFORMERS: List = List {
    field: "transformers",
    entry: "transformer",
    example: "changer.yaml",
    missing: "must specify a yaml file which contains a transformer plugin resource",
    prefixes: NO_PREFIXES,
};
pub const VALIDATORS: List = List {
    field: "validators",
    entry: "validator",
    example: "checker.yaml",
    missing: "must specify a yaml file which contains a validator plugin resource",
    prefixes: NO_PREFIXES,
};
pub const CONFIGURATIONS: List = List {
    field: "configurations",
    entry: "configuration",
    example: "names.yaml",
    missing: "must specify a yaml file which contains a configuration resource",
    prefixes: Prefixes {
        pattern: "glob patterns: ",
        no_file: "new kustomization file: ",
        no_kustomization: "read kustomization: ",
    },
};

/// A list of mappings with names, and the word for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedList {
    pub field: &'static str,
    pub entry: &'static str,
    /// A name that the examples of hints have.
    pub example: &'static str,
}

pub const IMAGES: NamedList = NamedList { field: "images", entry: "image", example: "nginx" };
pub const REPLICAS: NamedList = NamedList { field: "replicas", entry: "replicas", example: "web" };

/// The entries of a list that is getting further ones.
pub(super) struct Entries<'a> {
    field: &'static str,
    known: BTreeSet<&'a str>,
}

impl<'a> Entries<'a> {
    /// The entries of a list so far, those under its old name included.
    pub(super) fn of(draft: &Draft<'a>, field: &'static str) -> Self {
        Entries { field, known: draft.texts(field).into_iter().collect() }
    }

    /// Adds an entry; returns `false` if the list has it already. O(log n).
    pub(super) fn push(&mut self, draft: &mut Draft<'a>, entry: &str) -> Result<bool> {
        if self.known.contains(entry) {
            return Ok(false);
        }
        let text = draft.arena.text(entry);
        self.known.insert(text);
        draft.list(self.field)?.push(Node::string(text));
        Ok(true)
    }
}

/// Adds entries to a list, and makes a note for each that the list has already.
fn add(draft: &mut Draft<'_>, list: List, entries: &[String]) -> Result<()> {
    let mut known = Entries::of(draft, list.field);
    for entry in entries {
        if !known.push(draft, entry)? {
            draft.note(format!("{} {entry} already in kustomization file", list.entry));
        }
    }
    Ok(())
}

/// Removes the entries of a list that are patterns of a command, and no names of files. Such an
/// entry makes each build fail, because a build does not expand patterns; the command adds the
/// files.
fn drop_expanded(draft: &mut Draft<'_>, list: List, arguments: &[String]) -> Result<()> {
    let patterns = arguments.iter().map(String::as_str).filter(|p| glob::has_meta(p) && !glob::exists(p));
    let patterns: BTreeSet<&str> = patterns.collect();
    let listed: BTreeSet<&str> = draft.texts(list.field).into_iter().filter(|entry| patterns.contains(entry)).collect();
    if listed.is_empty() {
        return Ok(());
    }
    draft.list(list.field)?.retain(|item| item.as_scalar().is_none_or(|s| !listed.contains(s.text())));
    for pattern in listed {
        draft.note(format!("{} {pattern} is replaced by the files that it matches", list.entry));
    }
    Ok(())
}

/// The check of added references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// References are loaded, to check that they exist.
    Load,
    None,
}

/// `add resource` and `add component`: adds files, directories and repositories. A pattern that the
/// list has as an entry gives way to the files that it matches.
///
/// # Errors
/// No entry is given, or an entry does not exist.
pub fn add_references(place: &mut Place, list: List, entries: &[String], verification: Verification) -> Result<()> {
    if entries.is_empty() {
        return Err(usage_as(list.missing, &format!("add {} {}", list.entry, list.example)));
    }
    let found = match verification {
        Verification::Load => glob::references(place, entries)?,
        Verification::None => entries.to_owned(),
    };
    place.change(|draft| {
        let others: Vec<String> = found.into_iter().filter(|file| file != draft.name).collect();
        if verification == Verification::Load {
            drop_expanded(draft, list, entries)?;
        }
        add(draft, list, &others)
    })
}

/// `add base`: adds directories, separated by commas.
///
/// # Errors
/// The number of arguments is not one, a directory does not exist, or it is a resource already.
pub fn add_bases(place: &mut Place, arguments: &[String]) -> Result<()> {
    let [bases] = arguments else { return Err(usage_as("must specify a base directory", "add base ../base")) };
    place.change(|draft| {
        let mut known = Entries::of(draft, "resources");
        for base in bases.split(',') {
            if !glob::exists(base) {
                let error = Error::new(Code::MissingFile, format!("{base} does not exist"));
                return Err(error.hint("write its path from the directory of the kustomization, as in ../base"));
            }
            if !known.push(draft, base)? {
                return Err(Error::new(Code::Exists, format!("base {base} already in kustomization file")));
            }
        }
        Ok(())
    })
}

/// `add generator`, `add transformer`, `add validator`, `add configuration`: adds files.
///
/// # Errors
/// No entry is given, or a pattern is malformed.
pub fn add_files(place: &mut Place, list: List, entries: &[String]) -> Result<()> {
    if entries.is_empty() {
        return Err(usage_as(list.missing, &format!("add {} {}", list.entry, list.example)));
    }
    let found = glob::noted(place, entries).map_err(|e| e.prefixed(list.prefixes.pattern))?;
    if found.is_empty() {
        return Ok(());
    }
    change(place, list, |draft| add(draft, list, &found))
}

/// Changes the kustomization file, with the errors of a command for a list.
fn change(place: &mut Place, list: List, change: impl for<'a> FnOnce(&mut Draft<'a>) -> Result<()>) -> Result<()> {
    place.change_with([list.prefixes.no_file, list.prefixes.no_kustomization], change)
}

/// `remove resource`, `remove transformer`, `remove component`: removes the entries that patterns
/// match.
///
/// # Errors
/// No pattern is given, or a pattern is malformed.
pub fn remove(place: &mut Place, list: List, patterns: &[String]) -> Result<()> {
    if patterns.is_empty() {
        let example = format!("remove {} {}", list.entry, list.example);
        return Err(usage_as(format!("must specify a {} file", list.entry), &example));
    }
    let (globs, names): (Vec<&str>, Vec<&str>) = patterns.iter().map(String::as_str).partition(|p| glob::has_meta(p));
    let names: BTreeSet<&str> = names.into_iter().collect();
    change(place, list, |draft| {
        let mut meant = BTreeSet::new();
        for entry in draft.texts(list.field) {
            meant.extend(names.get(entry).map(|_| entry));
            for pattern in &globs {
                meant.extend(glob::matches(pattern, entry)?.then_some(entry));
            }
        }
        if meant.is_empty() {
            return Ok(());
        }
        let is_meant = |item: &Node<'_>| item.as_scalar().is_some_and(|s| meant.contains(s.text()));
        draft.list(list.field)?.retain(|item| !is_meant(item));
        draft.drop_if_empty(list.field)
    })
}

/// `remove image` and `remove replicas`, which kustomize lacks: removes the entries with names.
///
/// # Errors
/// No name is given, or the list has no entry of a name; then nothing is removed.
pub fn remove_named(place: &mut Place, list: NamedList, names: &[String]) -> Result<()> {
    let NamedList { field, entry, example } = list;
    if names.is_empty() {
        return Err(usage_as(format!("no {entry} specified"), &format!("remove {entry} {example}")));
    }
    place.change(|draft| {
        let known: Vec<&str> = draft.items(field).map(|item| draft::text(item, "name")).collect();
        let all: BTreeSet<&str> = known.iter().copied().collect();
        if let Some(name) = names.iter().find(|name| !all.contains(name.as_str())) {
            let error = Error::new(Code::NoMatch, format!("'{field}' has no entry named {name}"));
            return Err(match (nearest(name, known.iter().copied()), known.is_empty()) {
                (Some(near), _) => error.hint(format!("did you mean '{near}'?")),
                (None, true) => error,
                (None, false) => error.hint(format!("the names are: {}", known.join(", "))),
            });
        }
        let meant: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        draft.list(field)?.retain(|item| !meant.contains(draft::text(item, "name")));
        draft.drop_if_empty(field)
    })
}

/// Gives a list of mappings an entry for each of some names, and calls `write` with each of these
/// entries. The first entry of a name is taken, and the others are removed. A new entry is inserted
/// as by [`insert_named`]. O(n log n).
pub(super) fn put_named<'a, T>(
    arena: Arena<'a>,
    list: &mut Sequence<'a>,
    wanted: &BTreeMap<String, T>,
    write: impl Fn(&mut Node<'a>, &T),
) {
    let mut found = BTreeSet::new();
    list.retain(|item| {
        let name = draft::text(item, "name");
        !wanted.contains_key(name) || found.insert(name)
    });
    for item in list.iter_mut() {
        if let Some(value) = wanted.get(draft::text(item, "name")) {
            write(item, value);
        }
    }
    let missing = wanted.iter().filter(|(name, _)| !found.contains(name.as_str()));
    let new = missing.map(|(name, value)| {
        let mut entry = named(arena, name);
        write(&mut entry, value);
        entry
    });
    insert_named(list, new.collect());
}

/// An entry that has a name alone.
pub(super) fn named<'a>(arena: Arena<'a>, name: &str) -> Node<'a> {
    let mut entry = Mapping::new();
    entry.insert(Key::string("name"), Node::string(arena.text(name)));
    entry.into()
}

/// Inserts entries with names, each before the first one with a greater name, so that a sorted list
/// stays sorted. O(n log n).
pub(super) fn insert_named<'a>(list: &mut Sequence<'a>, mut entries: Vec<Node<'a>>) {
    let name = |entry: &Node<'a>| draft::text(entry, "name");
    entries.sort_by_key(name);
    let mut entries = entries.into_iter().peekable();
    for item in list.take_items() {
        while let Some(entry) = entries.next_if(|entry| name(entry) < name(&item)) {
            list.push(entry);
        }
        list.push(item);
    }
    list.extend(entries);
}

/// The words of an argument of `add`, `set` and `remove buildmetadata`.
fn build_metadata(arguments: &[String]) -> Result<Vec<String>> {
    let words = match arguments {
        [] => return Err(usage_as("must specify a buildMetadata option", "add buildmetadata originAnnotations")),
        [words] => words.split(',').map(str::to_owned).collect::<Vec<_>>(),
        _ => {
            let message = "to provide multiple buildMetadata options, please separate options by comma";
            let example = format!("add buildmetadata {}", arguments.join(","));
            return Err(usage_as(format!("too many arguments: {}; {message}", shown(arguments)), &example));
        }
    };
    match words.iter().find(|word| !BuildMetadata::WORDS.contains(&word.as_str())) {
        Some(word) => Err(usage(format!("invalid buildMetadata option: {word}")).hint(
            match nearest(word, BuildMetadata::WORDS) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("the options are: {}", BuildMetadata::WORDS.join(", ")),
            },
        )),
        None => Ok(words),
    }
}

/// `add buildmetadata`.
///
/// # Errors
/// A word is unknown, or in the list already.
pub fn add_build_metadata(place: &mut Place, arguments: &[String]) -> Result<()> {
    let words = build_metadata(arguments)?;
    place.change(|draft| {
        let mut known = Entries::of(draft, "buildMetadata");
        for word in words {
            if !known.push(draft, &word)? {
                return Err(Error::new(
                    Code::Exists,
                    format!("buildMetadata option {word} already in kustomization file"),
                ));
            }
        }
        Ok(())
    })
}

/// `set buildmetadata`.
///
/// # Errors
/// A word is unknown.
pub fn set_build_metadata(place: &mut Place, arguments: &[String]) -> Result<()> {
    let words = build_metadata(arguments)?;
    place.change(|draft| {
        let arena = draft.arena;
        let list = draft.list("buildMetadata")?;
        let mut old = list.take_items();
        for word in words {
            let is_it = |item: &Node<'_>| item.as_scalar().is_some_and(|s| s.text() == word);
            let kept = old.iter().position(is_it).map(|i| old.remove(i));
            list.push(kept.unwrap_or_else(|| Node::string(arena.text(&word))));
        }
        Ok(())
    })
}

/// `remove buildmetadata`: words that are not in the list are ignored.
///
/// # Errors
/// A word is unknown.
pub fn remove_build_metadata(place: &mut Place, arguments: &[String]) -> Result<()> {
    let words = build_metadata(arguments)?;
    place.change(|draft| {
        let is_meant = |item: &Node<'_>| item.as_scalar().is_some_and(|s| words.iter().any(|word| word == s.text()));
        draft.list("buildMetadata")?.retain(|item| !is_meant(item));
        draft.drop_if_empty("buildMetadata")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{Context, Options};
    use rustomize_base::meter;
    use rustomize_sources::Disk;
    use rustomize_yaml::{Heap, first_document};

    /// A list of mappings with names, in the order of the text.
    fn list<'a>(arena: Arena<'a>, names: &str) -> Sequence<'a> {
        let items: String = names.split(' ').map(|name| format!("- {{name: {name}}}\n")).collect();
        let node = first_document(arena, arena.add_source("file", items)).unwrap().unwrap();
        node.into_sequence().unwrap()
    }

    /// The names of a list, each with `*` if it was written to.
    #[track_caller]
    fn check(before: &str, wanted: &[&str], after: &str) {
        let heap = Heap::new();
        let mut list = list(heap.arena(), before);
        let wanted: BTreeMap<String, &str> = wanted.iter().map(|name| ((*name).to_owned(), "*")).collect();
        put_named(heap.arena(), &mut list, &wanted, |entry, mark| {
            draft::set_text(heap.arena(), entry.as_mapping_mut().unwrap(), "mark", mark);
        });
        let shown = |item: &Node<'_>| format!("{}{}", draft::text(item, "name"), draft::text(item, "mark"));
        assert_eq!(list.iter().map(shown).collect::<Vec<_>>().join(" "), after);
    }

    #[test]
    fn a_new_name_comes_before_the_first_greater_one() {
        check("b d", &["a", "c", "e"], "a* b c* d e*");
        check("d b", &["a", "c"], "a* c* d b");
        check("b d b c b", &["b", "c"], "b* d c*");
        check("d d b", &["c", "d"], "c* d* b");
    }

    #[test]
    fn many_entries_take_linear_time() {
        let by_name = |n: usize| {
            let heap = Heap::new();
            let names: Vec<String> = (0..n).map(|i| format!("e{i}")).collect();
            let mut list = list(heap.arena(), &names.join(" "));
            let wanted = (0..n).map(|i| (format!("e{}", 2 * i), ())).collect();
            meter::reset();
            put_named(heap.arena(), &mut list, &wanted, |_, ()| ());
            meter::taken()
        };
        let of_texts = |n: usize| {
            let (heap, disk) = (Heap::new(), Disk::new());
            let text = format!("resources:\n{}", (0..n).map(|i| format!("- r{i}\n")).collect::<String>());
            let cx = Context::new(&heap, &disk, Options::default());
            let mut draft = Draft::read(cx, "kustomization.yaml", text).unwrap();
            meter::reset();
            let mut known = Entries::of(&draft, "resources");
            let is_new = |i: usize| known.push(&mut draft, &format!("r{}", 2 * i)).unwrap();
            assert_eq!((0..n).map(is_new).filter(|is_new| *is_new).count(), n / 2);
            meter::taken()
        };
        for steps in [&by_name as &dyn Fn(usize) -> u64, &of_texts] {
            let (few, many) = (steps(1_000), steps(4_000));
            assert!(many <= 5 * few, "{few} steps for 1,000, {many} for 4,000");
        }
    }
}
