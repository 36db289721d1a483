//! ConfigMapGenerator: makes a ConfigMap from literals, files and env files.
//!
//! *Fields*: `configMapGenerator`, `generatorOptions`.
//! *Kinds*: `ConfigMapGenerator`, with the fields of an entry.
//! *Entry*: `GeneratorArgs`, `GeneratorOptions`.
//! *Reads*: the files of `files` and `envs`.
//! *Writes*: `data` for values that are UTF-8, `binaryData` in base64 for others.
//! *Order*: after `resources`, before SecretGenerator; components come later.
//! *Cost*: O(bytes of the sources).
//! *Quirks*: `behavior: merge` finds its target by any name that the target has had (case
//! gen-merge-across-prefix-and-namespace); the result has a hash if both objects have one
//! (gen-merge-hash-needs-both).
//! *Example*: `testdata/reference/config_map.txtar`

use super::key_values::{self, Pair};
use super::{args_of, env_lines, merged_options, object};
use crate::config::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::resource::Resource;
use crate::stage::{Build, Generator, Object};
use base64::Engine;
use rustomize_yaml::{Arena, Entries, Entry, Key, Mapping, Node, json};
use std::borrow::Cow;

/// One entry of `configMapGenerator`.
pub struct ConfigMapGenerator<'t, 'a> {
    pub args: Cow<'t, GeneratorArgs<'a>>,
    /// `generatorOptions` of the same kustomization.
    pub shared: Option<&'t GeneratorOptions<'a>>,
    pub root: &'t Root,
}

impl<'t, 'a> ConfigMapGenerator<'t, 'a> {
    /// The generator of a configuration object that the kustomization of a root lists.
    ///
    /// # Errors
    /// A field has a wrong type.
    pub fn from_object(object: &Object<'_, 'a>, root: &'t Root) -> Result<Self> {
        Ok(ConfigMapGenerator { args: Cow::Owned(args_of(object)?), shared: None, root })
    }

    /// The ConfigMap of an entry without files, which can be made on any thread; `None` for another
    /// entry.
    pub fn of_literals(
        arena: Arena<'a>,
        args: &GeneratorArgs<'a>,
        shared: Option<&GeneratorOptions<'a>>,
    ) -> Option<Result<Vec<Resource<'a>>>> {
        let pairs = key_values::of_literals(args)?;
        Some(check_name(args).and(pairs).and_then(|pairs| Self::of_pairs(arena, args, shared, pairs)))
    }

    fn of_pairs(
        arena: Arena<'a>,
        args: &GeneratorArgs<'a>,
        shared: Option<&GeneratorOptions<'a>>,
        pairs: Vec<Pair<'a>>,
    ) -> Result<Vec<Resource<'a>>> {
        let (mut data, mut binary) = (Entries::with_capacity(pairs.len()), Entries::new());
        for pair in pairs {
            let text = match &pair.value {
                Cow::Borrowed(value) => std::str::from_utf8(value),
                Cow::Owned(value) => std::str::from_utf8(value).map(|text| arena.text(text)),
            };
            match text {
                Ok(text) => data.push(entry(&pair, json::fresh_string(text).into())),
                Err(_) => binary.push(entry(&pair, base64_node(arena, &pair.value))),
            }
        }
        let fields = [("data", data), ("binaryData", binary)].into_iter().filter(|(_, entries)| !entries.is_empty());
        let fields = fields.map(|(name, entries)| (name, Mapping::from_entries(entries).into()));
        let options = merged_options(arena, args, shared)?;
        Ok(vec![object("ConfigMap", args, &options, fields)])
    }
}

impl<'a> Generator<'a> for ConfigMapGenerator<'_, 'a> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        check_name(&self.args)?;
        let pairs = key_values::load(build, self.root, &self.args)?;
        env_lines::find(build, self.root, &self.args);
        env_lines::find_conflicts(build, self.root, &self.args, &pairs);
        Self::of_pairs(build.arena, &self.args, self.shared, pairs)
    }

    fn only_reads_files(&self) -> bool {
        key_values::are_local(&self.args)
    }
}

/// As upstream, the message says configmap for Secrets as well.
pub(super) fn check_name(args: &GeneratorArgs<'_>) -> Result<()> {
    if args.name.is_empty() {
        let error = Error::new(Code::MissingField, "a configmap must have a name").at(args.pos);
        Err(error.hint("add 'name' to the entry; if it belongs to the entry above, remove its '-'"))
    } else {
        Ok(())
    }
}

/// A key without a type and its value: as upstream, a key that reads as a number fails at output.
pub(super) fn entry<'a>(pair: &Pair<'a>, value: Node<'a>) -> Entry<'a> {
    let value = match pair.line {
        Some(line) => Node::new(value.into_value(), line),
        None => value,
    };
    Entry::new(Key::made(pair.key, pair.pos), value)
}

/// Base64 as upstream writes it: 70 characters and more are put in lines of 70, each with a line
/// break.
pub fn base64_node<'a>(arena: Arena<'a>, bytes: &[u8]) -> Node<'a> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
    if encoded.len() < 70 {
        return json::fresh_string(arena.text(&encoded)).into();
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / 70 + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(70));
        lines.push_str(line);
        lines.push('\n');
        rest = after;
    }
    json::fresh_string(arena.text(&lines)).into()
}
