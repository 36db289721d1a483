//! Generators: stages that add resources to those that were read.

mod config_map;
mod env_lines;
pub mod helm_chart;
pub mod helm_charts;
pub mod helm_values;
mod iam_policy;
pub mod key_values;
mod secret;

pub use config_map::{ConfigMapGenerator, base64_node};
pub use iam_policy::IamPolicyGenerator;
pub use secret::SecretGenerator;

use crate::config::decode::for_builtin;
use crate::config::{Written, WrittenMap};
use crate::diag::{Code, Error, Result};
use crate::resource::{Behavior, Resource};
use crate::stage::Object;
use rustomize_yaml::{Arena, Entries, Entry, Mapping, Node, Scalar, json, reprint};

use crate::config::kustomization::{GeneratorArgs, GeneratorOptions};

/// The entry that a configuration object of ConfigMapGenerator or SecretGenerator stands for: name
/// and namespace may be those of its metadata.
///
/// # Errors
/// A field has a wrong type.
fn args_of<'a>(object: &Object<'_, 'a>) -> Result<GeneratorArgs<'a>> {
    let mut args: GeneratorArgs<'a> = object.read()?;
    let metadata = object.metadata()?;
    for (own, of_object) in [(&mut args.name, metadata.name), (&mut args.namespace, metadata.namespace)] {
        if own.is_empty() {
            *own = of_object;
        }
    }
    Ok(args)
}

/// The options of an entry, merged with those of its kustomization. The entry's own labels and
/// annotations win; a switch is on if either turns it on.
///
/// # Errors
/// A label or annotation of the kustomization has a control character.
fn merged_options<'a>(
    arena: Arena<'a>,
    args: &GeneratorArgs<'a>,
    shared: Option<&GeneratorOptions<'a>>,
) -> Result<GeneratorOptions<'a>> {
    let mut options = args.options.clone().unwrap_or_default();
    if let Some(shared) = shared {
        add_shared(arena, &mut options.labels, &shared.labels).map_err(|e| e.in_field("labels"))?;
        add_shared(arena, &mut options.annotations, &shared.annotations).map_err(|e| e.in_field("annotations"))?;
        options.disable_name_suffix_hash |= shared.disable_name_suffix_hash;
        options.immutable |= shared.immutable;
    }
    Ok(options)
}

/// Adds the labels or annotations of a kustomization that an entry lacks. Others do not reach the
/// generator.
fn add_shared<'a>(arena: Arena<'a>, own: &mut WrittenMap<'a>, shared: &WrittenMap<'a>) -> Result<()> {
    for (key, value) in shared {
        if !own.contains_key(key) {
            reprint::check_json_key(key)
                .map_err(|message| Error::new(Code::BadSource, message).hint("rename the key or its file"))?;
            own.insert(key, Written { text: for_builtin(arena, value.text)?, pos: value.pos });
        }
    }
    own.sort_unstable_keys();
    Ok(())
}

/// Gives each value of a generated ConfigMap or Secret the place of its key: for a trace. In other
/// builds these values have no place, so that no message shows the line of a secret.
pub fn place_values(resource: &mut Resource<'_>) {
    let Some(fields) = resource.node_mut().as_mapping_mut() else { return };
    for field in ["data", "binaryData"] {
        let Some(values) = fields.get_mut(field).and_then(Node::as_mapping_mut) else { continue };
        for (key, value) in values.iter_mut().filter(|(_, value)| !value.pos().is_in_source()) {
            *value = Node::new(std::mem::take(value).into_value(), key.pos());
        }
    }
}

/// The labels or annotations of a map, each with its place.
fn pairs<'m, 'a>(map: &'m WrittenMap<'a>) -> impl Iterator<Item = (&'a str, Written<'a>)> + use<'m, 'a> {
    map.iter().map(|(key, value)| (*key, *value))
}

/// An object with the fields that ConfigMaps and Secrets have in common.
fn object<'a>(
    kind: &'a str,
    args: &GeneratorArgs<'a>,
    options: &GeneratorOptions<'a>,
    fields: impl IntoIterator<Item = (&'a str, Node<'a>)>,
) -> Resource<'a> {
    let mut metadata = Entries::with_capacity(2);
    metadata.push(Entry::new("name", json::new_string(args.name).into()));
    if !args.namespace.is_empty() {
        metadata.push(Entry::new("namespace", json::new_string(args.namespace).into()));
    }
    let mut root = Entries::with_capacity(5);
    root.push(Entry::new("apiVersion", Node::string("v1")));
    root.push(Entry::new("kind", Node::string(kind)));
    root.push(Entry::new("metadata", Mapping::from_entries(metadata).into()));
    root.extend(fields.into_iter().map(|(name, value)| Entry::new(name, value)));
    if options.immutable {
        root.push(Entry::new("immutable", Scalar::plain("true").into()));
    }
    let node = Node::new(Mapping::from_entries(root), args.pos);
    let mut resource = Resource::unchecked(node);
    resource.add_metadata_entries("labels", pairs(&options.labels));
    resource.add_metadata_entries("annotations", pairs(&options.annotations));
    resource.behavior = Some(Behavior::parse(args.behavior));
    resource.needs_hash = !options.disable_name_suffix_hash;
    resource
}
