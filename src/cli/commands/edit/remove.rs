//! `edit remove`: removes items from the kustomization file.

use super::words::{MetadataWords, Patch, Words, text};
use crate::flags::switch::{Switch, is_on};
use clap::{Args, Subcommand};
use rustomize_edit::generators::{self, Kind};
use rustomize_edit::lists::{
    self, CONFIGURATIONS, GENERATORS, IMAGES, REMOVED_COMPONENTS, REPLICAS, RESOURCES, TRANSFORMERS, VALIDATORS,
};
use rustomize_edit::metadata::{self, Metadata};
use rustomize_edit::{Place, patches};
use rustomize_engine::diag;

/// `edit remove`.
#[derive(Subcommand)]
pub(crate) enum Remove {
    /// Remove entries from 'resources': PATTERN...
    Resource(Words),
    /// Remove entries from 'components': PATTERN...
    Component(Words),
    /// Remove entries from 'transformers': PATTERN...
    Transformer(Words),
    /// Remove entries from 'generators': PATTERN...
    Generator(Words),
    /// Remove entries from 'validators': PATTERN...
    Validator(Words),
    /// Remove entries from 'configurations': PATTERN...
    Configuration(Words),
    /// Remove entries from 'images': NAME...
    Image(Words),
    /// Remove entries from 'replicas': NAME...
    Replicas(Words),
    /// Remove a patch from 'patches', which has exactly these fields
    Patch(Patch),
    /// Remove ConfigMaps from 'configMapGenerator': NAME,NAME...
    Configmap(Named),
    /// Remove Secrets from 'secretGenerator': NAME,NAME...
    Secret(Named),
    /// Remove labels from 'commonLabels': KEY,KEY...
    Label(Keys),
    /// Remove annotations from 'commonAnnotations': KEY,KEY...
    Annotation(Keys),
    /// Remove words from 'buildMetadata': WORD,WORD...
    Buildmetadata(MetadataWords),
}

/// ConfigMaps or Secrets of a namespace.
#[derive(Args)]
pub(crate) struct Named {
    #[arg(value_name = "NAME")]
    pub words: Vec<String>,

    /// Their namespace
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub namespace: Option<String>,
}

/// Keys to remove.
#[derive(Args)]
pub(crate) struct Keys {
    #[arg(value_name = "KEY")]
    pub words: Vec<String>,

    /// Do not fail where a key is missing
    #[arg(short, long, switch())]
    pub ignore_non_existence: Option<bool>,
}

pub(crate) const EXAMPLES: &str = "Examples:
  # Remove all resources of a directory
  rustomize edit remove resource 'crds/*.yaml'

  # Remove labels
  rustomize edit remove label team,tier";

/// Runs `edit remove`.
///
/// # Errors
/// The words do not fit, or the file cannot be changed.
pub(crate) fn run(place: &mut Place, what: &Remove) -> diag::Result<()> {
    match what {
        Remove::Resource(words) => lists::remove(place, RESOURCES, &words.words),
        Remove::Component(words) => lists::remove(place, REMOVED_COMPONENTS, &words.words),
        Remove::Transformer(words) => lists::remove(place, TRANSFORMERS, &words.words),
        Remove::Generator(words) => lists::remove(place, GENERATORS, &words.words),
        Remove::Validator(words) => lists::remove(place, VALIDATORS, &words.words),
        Remove::Configuration(words) => lists::remove(place, CONFIGURATIONS, &words.words),
        Remove::Image(words) => lists::remove_named(place, IMAGES, &words.words),
        Remove::Replicas(words) => lists::remove_named(place, REPLICAS, &words.words),
        Remove::Patch(flags) => patches::remove(place, &flags.patch()),
        Remove::Configmap(named) => generators::remove(place, Kind::ConfigMap, &named.words, &text(&named.namespace)),
        Remove::Secret(named) => generators::remove(place, Kind::Secret, &named.words, &text(&named.namespace)),
        Remove::Label(keys) => metadata::remove(place, Metadata::Label, &keys.words, is_on(keys.ignore_non_existence)),
        Remove::Annotation(keys) => {
            metadata::remove(place, Metadata::Annotation, &keys.words, is_on(keys.ignore_non_existence))
        }
        Remove::Buildmetadata(words) => lists::remove_build_metadata(place, &words.words),
    }
}
