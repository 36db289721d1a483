//! ConfigMaps and Secrets: entries of `configMapGenerator` and `secretGenerator`.

use super::draft::{self, Draft};
use super::{Place, glob, shown, usage, usage_as};
use crate::config::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::config::{Decode, Decoder, WrittenMap};
use crate::diag::{Code, Error, Result};
use crate::generator::{ConfigMapGenerator, SecretGenerator};
use crate::resource::Behavior;
use crate::schema::gvk::or;
use crate::stage::{Build, Generator};
use rustomize_yaml::{Arena, Key, Mapping, Node, Pos, Sequence, Tag};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The kind of object that an entry generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    ConfigMap,
    Secret,
}

impl Kind {
    fn field(self) -> &'static str {
        match self {
            Kind::ConfigMap => "configMapGenerator",
            Kind::Secret => "secretGenerator",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::ConfigMap => "configmap",
            Kind::Secret => "secret",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::ConfigMap => "ConfigMap",
            Kind::Secret => "Secret",
        }
    }

    /// The error of a step, with kustomize's prefix.
    fn failed(self, error: Error) -> Error {
        error.prefixed(&format!("failed to create {}: ", self.word()))
    }
}

/// kustomize's prefixes of errors: for a missing kustomization file, and for an invalid one.
const UNREAD: [&str; 2] = ["failed to load kustomization file: ", "failed to read kustomization file: "];
const UNREAD_TO_REMOVE: [&str; 2] =
    ["could not read kustomization file: ", "could not read kustomization file contents: "];

/// The data that is added to an entry.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `[key=]pattern`.
    pub files: Vec<String>,
    /// `key=value`.
    pub literals: Vec<String>,
    pub env_file: String,
    pub disable_name_suffix_hash: bool,
    pub behavior: String,
    pub namespace: String,
    /// The type of a new Secret.
    pub secret_type: String,
}

/// Returns true if two namespaces are the same; an empty text stands for the default namespace.
fn is_same_namespace(one: &str, other: &str) -> bool {
    or(one, "default") == or(other, "default")
}

fn is_entry(item: &Node<'_>, name: &str, namespace: &str) -> bool {
    draft::text(item, "name") == name && is_same_namespace(draft::text(item, "namespace"), namespace)
}

/// Replaces each pattern of `files` by the files that it matches. A pattern with a key must match
/// one file.
fn expand(place: &mut Place, patterns: &[String]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for source in patterns {
        let parts: Vec<&str> = source.split('=').collect();
        let (key, pattern) = match parts[..] {
            [key, pattern] => (key, pattern),
            _ => ("", parts[0]),
        };
        let found = glob::noted(place, &[pattern.to_owned()])?;
        match (key, found.as_slice()) {
            ("", found) => files.extend_from_slice(found),
            (key, [file]) => files.push(format!("{key}={file}")),
            (_, found) => {
                let count = "should catch only one";
                return Err(usage(format!("'pattern '{source}' catches files {}, {count}", shown(found))));
            }
        }
    }
    Ok(files)
}

/// `add configmap`, `add secret`: adds sources to the entry with a name and namespace, or to a new
/// entry. The object of the entry is generated once, to check the entry.
///
/// # Errors
/// Arguments that do not fit together, or sources that cannot be read or have a key twice.
pub fn add(place: &mut Place, kind: Kind, arguments: &[String], sources: &Sources) -> Result<()> {
    let files = expand(place, &sources.files).map_err(|e| e.prefixed("failed to expand file source: "))?;
    let sources = Sources { files, ..sources.clone() };
    let example = format!("add {} settings --from-literal=key=value", kind.word());
    let invalid = |message: &str| Err(usage_as(format!("failed to validate flags: {message}"), &example));
    let [name] = arguments else { return invalid("name must be specified once") };
    let has_pairs = !sources.files.is_empty() || !sources.literals.is_empty();
    if sources.env_file.is_empty() && !has_pairs {
        return invalid("at least from-env-file, or from-file or from-literal must be set");
    }
    if !sources.env_file.is_empty() && has_pairs {
        return invalid("from-env-file cannot be combined with from-file or from-literal");
    }
    if !sources.behavior.is_empty() && !Behavior::WORDS.contains(&sources.behavior.as_str()) {
        return invalid("invalid behavior: must be one of \"create\", \"merge\", or \"replace\"");
    }
    place.change_with(UNREAD, |draft| {
        let arena = draft.arena;
        let list = draft.list(kind.field())?;
        let at = match list.iter().position(|item| is_entry(item, name, &sources.namespace)) {
            Some(at) => at,
            None => {
                let mut entry = Mapping::new();
                draft::set_text(arena, &mut entry, "name", name);
                draft::set_text(arena, &mut entry, "namespace", &sources.namespace);
                draft::set_text(arena, &mut entry, "type", &sources.secret_type);
                list.push(entry.into());
                list.len() - 1
            }
        };
        if let Some(entry) = list.get_mut(at).and_then(Node::as_mapping_mut) {
            merge(arena, entry, &sources);
        }
        settle(draft, kind, at).map_err(|e| kind.failed(e))
    })
}

/// Adds sources to an entry.
fn merge<'a>(arena: Arena<'a>, entry: &mut Mapping<'a>, sources: &Sources) {
    let env_files = [sources.env_file.clone()];
    let env_files = if sources.env_file.is_empty() { &[][..] } else { &env_files };
    if !env_files.is_empty() {
        let key = draft::written_key(entry, "env");
        if let Some(old) = key.and_then(|key| entry.remove(key)) {
            list(entry, "envs").push(old);
        }
    }
    for (name, values) in [("literals", &sources.literals[..]), ("files", &sources.files), ("envs", env_files)] {
        if !values.is_empty() {
            list(entry, name).extend(values.iter().map(|value| Node::string(arena.text(value))));
        }
    }
    if sources.disable_name_suffix_hash {
        let mut options = Mapping::new();
        draft::set_true(&mut options, "disableNameSuffixHash");
        entry.retain(|key, _| !key.text().eq_ignore_ascii_case("options"));
        entry.insert(Key::string("options"), options.into());
    }
    if !sources.behavior.is_empty() {
        draft::set_text(arena, entry, "behavior", &sources.behavior);
    }
}

/// The items of a field of an entry, for changes.
fn list<'e, 'a>(entry: &'e mut Mapping<'a>, name: &'static str) -> &'e mut Sequence<'a> {
    let key = draft::written_key(entry, name);
    let node = entry.get_or_insert_with(key.unwrap_or(name), Node::null);
    if node.as_sequence().is_none() {
        node.put(Sequence::default(), Pos::NONE);
    }
    match node.as_sequence_mut() {
        Some(items) => items,
        None => unreachable!("the list was put there"),
    }
}

/// A mapping in a mapping, for changes.
fn mapping<'e, 'a>(entry: &'e mut Mapping<'a>, name: &'static str) -> &'e mut Mapping<'a> {
    let key = draft::written_key(entry, name);
    let node = entry.get_or_insert_with(key.unwrap_or(name), Node::null);
    if node.as_mapping().is_none() {
        node.put(Mapping::new(), Pos::NONE);
    }
    match node.as_mapping_mut() {
        Some(fields) => fields,
        None => unreachable!("the mapping was put there"),
    }
}

/// Adds the options of the kustomization to an entry, as kustomize does, and generates its object.
fn settle(draft: &mut Draft<'_>, kind: Kind, at: usize) -> Result<()> {
    let cx = Decoder::strict(draft.arena);
    let mut shared = None::<GeneratorOptions<'_>>;
    if let Some(node) = draft.get("generatorOptions").filter(|node| !node.is_null()) {
        shared.decode(node, &cx)?;
    }
    let list = draft.list(kind.field())?;
    let Some(entry) = list.get_mut(at).and_then(Node::as_mapping_mut) else { return Ok(()) };
    if let Some(shared) = &shared {
        let options = mapping(entry, "options");
        let maps: [(&'static str, &WrittenMap<'_>); 2] =
            [("labels", &shared.labels), ("annotations", &shared.annotations)];
        for (name, pairs) in maps.into_iter().filter(|(_, pairs)| !pairs.is_empty()) {
            let own = mapping(options, name);
            for (key, value) in pairs {
                own.get_or_insert_with(key, || Node::string(value.text));
            }
        }
        let switches = [("disableNameSuffixHash", shared.disable_name_suffix_hash), ("immutable", shared.immutable)];
        for (name, _) in switches.into_iter().filter(|(_, is_on)| *is_on) {
            draft::set_true(options, name);
        }
    }
    let mut args = GeneratorArgs::default();
    args.decode(&list[at], &cx)?;
    let mut build = Build::new(&draft.cx);
    let root = &draft.cx.files.root(".")?;
    let args = Cow::Owned(args);
    match kind {
        Kind::ConfigMap => ConfigMapGenerator { args, shared: None, root }.generate(&mut build).map(drop),
        Kind::Secret => SecretGenerator { args, shared: None, root }.generate(&mut build).map(drop),
    }
}

/// The key and value of a literal, which must have exactly one `=`.
fn pair(literal: &str) -> Result<(&str, &str)> {
    match literal.split_once('=') {
        Some((key, value)) if !value.contains('=') => Ok((key, value)),
        _ => {
            let message = "invalid format: literal values must be specified in the key=value format";
            Err(Error::new(
                Code::BadSource,
                format!("failed to update literal sources: failed to update resource: {message}"),
            ))
        }
    }
}

/// `set configmap`, `set secret`: new values of literals that an entry has, and a new namespace.
///
/// # Errors
/// The entry or the literal does not exist, or one of its literals has more than one `=`.
pub fn set(place: &mut Place, kind: Kind, arguments: &[String], sources: &Sources, new_namespace: &str) -> Result<()> {
    let example = format!("set {} settings --from-literal=key=value", kind.word());
    let invalid = |message: &str| Err(usage_as(format!("failed to validate flags: {message}"), &example));
    let [name] = arguments else { return invalid("name must be specified once") };
    if sources.literals.is_empty() && new_namespace.is_empty() {
        return invalid("at least one of [--from-literal, --new-namespace] must be specified");
    }
    place.change_with(UNREAD, |draft| {
        let arena = draft.arena;
        let at = draft.items(kind.field()).position(|item| is_entry(item, name, &sources.namespace));
        let missing = || {
            let message = format!("unable to find {} with name \"{name}\"", kind.name());
            let error = Error::new(Code::BadSource, format!("could not set new {} value: {message}", kind.name()));
            let hint = format!("add it: rustomize edit add {} {name} --from-literal=key=value", kind.word());
            kind.failed(error.hint(hint))
        };
        let at = at.ok_or_else(missing)?;
        let entry = draft.list(kind.field())?.get_mut(at).and_then(Node::as_mapping_mut).ok_or_else(missing)?;
        if !sources.literals.is_empty() {
            update(arena, list(entry, "literals"), &sources.literals).map_err(|e| kind.failed(e))?;
        }
        if !new_namespace.is_empty() {
            draft::set_text(arena, entry, "namespace", new_namespace);
        }
        let structure = |e: Error| e.prefixed(&format!("failed to validate {} structure: ", kind.name()));
        settle(draft, kind, at).map_err(|e| kind.failed(structure(e)))
    })
}

/// Gives literals new values. If several literals have the same key, only the last one is kept.
fn update<'a>(arena: Arena<'a>, literals: &mut Sequence<'a>, new: &[String]) -> Result<()> {
    let text = |item: &Node<'a>| item.as_scalar().map_or("", |scalar| scalar.text());
    literals.iter().try_for_each(|item| pair(text(item)).map(drop))?;
    let key = |item: &Node<'a>| text(item).split('=').next().unwrap_or_default();
    let last: BTreeMap<&str, usize> = literals.iter().enumerate().map(|(i, item)| (key(item), i)).collect();
    let mut places = 0..;
    literals.retain(|item| last.get(key(item)).copied() == places.next());
    let mut items: BTreeMap<&str, &mut Node<'a>> = literals.iter_mut().map(|item| (key(item), item)).collect();
    for literal in new {
        let (key, _) = pair(literal)?;
        match items.get_mut(key) {
            Some(item) if text(item) == literal => {}
            Some(item) => item.set_text(arena.text(literal), Tag::Str, Pos::NONE),
            None => {
                let message = format!("key '{key}' not found in resource");
                let error = Error::new(Code::BadSource, format!("failed to update literal sources: {message}"));
                let keys: Vec<&str> = items.keys().copied().collect();
                return Err(error.hint(match keys[..] {
                    [] => "the entry has no literals; 'edit add' with the same flag adds one".to_owned(),
                    _ => format!("the keys are: {}; 'edit add' with the same flag adds another one", keys.join(", ")),
                }));
            }
        }
    }
    Ok(())
}

/// `remove configmap`, `remove secret`: removes entries, by names that are separated by commas.
///
/// # Errors
/// The number of arguments is not one, or none of the entries exists.
pub fn remove(place: &mut Place, kind: Kind, arguments: &[String], namespace: &str) -> Result<()> {
    let word = kind.word();
    let names: Vec<&str> = match arguments {
        [] => {
            let example = format!("remove {word} settings");
            return Err(usage_as(format!("at least one {word} name must be specified"), &example));
        }
        [names] => names.split(',').collect(),
        _ => {
            let advice = format!("to provide multiple {word}s to remove, please separate {word} names by commas");
            let example = format!("remove {word} {}", arguments.join(","));
            return Err(usage_as(format!("too many arguments: {}; {advice}", shown(arguments)), &example));
        }
    };
    place.change_with(UNREAD_TO_REMOVE, |draft| {
        let is_here = |item: &Node<'_>| is_same_namespace(draft::text(item, "namespace"), namespace);
        let items = draft.items(kind.field()).filter(|item| is_here(item));
        let found: BTreeSet<&str> = items.map(|item| draft::text(item, "name")).collect();
        let missing: Vec<&str> = names.iter().copied().filter(|name| !found.contains(name)).collect();
        if missing.len() == names.len() {
            let message = format!("no specified {word}(s) were found in the kustomization.yaml file");
            return Err(Error::new(Code::Exists, message));
        }
        missing.iter().for_each(|name| draft.note(format!("{word} {name} doesn't exist in kustomization file")));
        let meant: BTreeSet<&str> = names.iter().copied().collect();
        draft.list(kind.field())?.retain(|item| !(is_here(item) && meant.contains(draft::text(item, "name"))));
        draft.drop_if_empty(kind.field())
    })
}

#[cfg(test)]
mod tests {
    use super::update;
    use rustomize_base::meter;
    use rustomize_yaml::{Heap, Node, Sequence};

    /// Gives literals other values, and returns all of them and the steps that this takes.
    fn updated(literals: &[&str], new: &[String]) -> (String, u64) {
        let heap = Heap::new();
        let mut list: Sequence<'_> = literals.iter().map(|text| Node::string(text)).collect();
        meter::reset();
        update(heap.arena(), &mut list, new).unwrap();
        let steps = meter::taken();
        let texts: Vec<&str> = list.iter().filter_map(|item| Some(item.as_scalar()?.text())).collect();
        (texts.join(" "), steps)
    }

    #[test]
    fn the_last_literal_of_a_key_stays() {
        let new = ["a=7".to_owned(), "b=8".to_owned(), "a=9".to_owned()];
        assert_eq!(updated(&["a=1", "b=2", "a=3", "c=4"], &new).0, "b=8 a=9 c=4");
    }

    #[test]
    fn many_literals_take_linear_time() {
        let steps = |n: usize| {
            let all: Vec<String> = (0..n).map(|i| format!("k{i}=v")).collect();
            updated(&all.iter().map(String::as_str).collect::<Vec<_>>(), &all).1
        };
        assert!(steps(4_000) <= 5 * steps(1_000), "{} steps, {}", steps(1_000), steps(4_000));
    }
}
