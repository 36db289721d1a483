//! Generators: what adds resources to those that were read.

mod config_map;
pub mod helm_chart;
mod iam_policy;
pub mod key_values;
pub mod name_hash;
mod secret;

pub use config_map::ConfigMapGenerator;
pub use iam_policy::IamPolicyGenerator;
pub use secret::SecretGenerator;

use crate::diag::Result;
use crate::pipeline::Session;
use crate::resource::{Behavior, Resource};
use crate::yaml::{Mapping, Node, json};

/// Makes resources.
pub trait Generator<'a> {
    /// The resources, in order; each with its behavior and whether its name gets a hash.
    ///
    /// # Errors
    /// What the generator reads is missing or wrong.
    fn generate(&self, session: &Session<'a>) -> Result<Vec<Resource<'a>>>;
}

use crate::config::kustomization::{GeneratorArgs, GeneratorOptions};

/// The options of an entry: its own, merged with those of its kustomization. The entry's labels and annotations win;
/// a switch is on if either turns it on.
fn merged_options<'a>(args: &GeneratorArgs<'a>, shared: Option<&GeneratorOptions<'a>>) -> GeneratorOptions<'a> {
    let mut options = shared.cloned().unwrap_or_default();
    if let Some(own) = &args.options {
        options.labels.extend(own.labels.iter().map(|(k, v)| (*k, *v)));
        options.annotations.extend(own.annotations.iter().map(|(k, v)| (*k, *v)));
        options.disable_name_suffix_hash |= own.disable_name_suffix_hash;
        options.immutable |= own.immutable;
    }
    options
}

/// An object with what ConfigMaps and Secrets have in common.
fn object<'a>(
    kind: &'a str,
    args: &GeneratorArgs<'a>,
    options: &GeneratorOptions<'a>,
    fields: Vec<(&'a str, Node<'a>)>,
) -> Resource<'a> {
    let mut metadata = Mapping::new();
    metadata.insert("name", json::new_string(args.name).into());
    if !args.namespace.is_empty() {
        metadata.insert("namespace", json::new_string(args.namespace).into());
    }
    let mut root = Mapping::new();
    root.insert("apiVersion", Node::string("v1"));
    root.insert("kind", Node::string(kind));
    root.insert("metadata", metadata.into());
    for (name, value) in fields {
        root.insert(name, value);
    }
    if options.immutable {
        root.insert("immutable", crate::yaml::Scalar::plain("true").into());
    }
    let node = Node { value: crate::yaml::Value::Mapping(root), pos: args.pos };
    let mut resource = Resource::unchecked(node);
    resource.add_metadata_entries("labels", &options.labels);
    resource.add_metadata_entries("annotations", &options.annotations);
    resource.behavior = Some(Behavior::parse(args.behavior));
    resource.needs_hash = !options.disable_name_suffix_hash;
    resource
}
