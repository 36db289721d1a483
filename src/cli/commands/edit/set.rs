//! `edit set`: sets the value of a field of the kustomization file.

use super::words::{MetadataWords, Words, text};
use clap::{Args, Subcommand};
use rustomize_edit::generators::{self, Kind};
use rustomize_edit::metadata::{self, Metadata};
use rustomize_edit::{Place, images, lists, replicas, texts};
use rustomize_engine::diag;

/// `edit set`.
#[derive(Subcommand)]
pub(crate) enum Set {
    /// Set names, tags and digests of images: IMAGE=NEWIMAGE:TAG..., IMAGE:TAG..., IMAGE@DIGEST...
    Image(Words),
    /// Set the number of replicas of workloads: NAME=COUNT...
    Replicas(Words),
    /// Set 'namespace': NAMESPACE
    Namespace(Words),
    /// Set 'namePrefix': PREFIX
    Nameprefix(Words),
    /// Set 'nameSuffix': SUFFIX
    Namesuffix(Words),
    /// Set labels in 'commonLabels': KEY:VALUE...
    Label(Words),
    /// Set annotations in 'commonAnnotations': KEY:VALUE...
    Annotation(Words),
    /// Set 'buildMetadata': WORD,WORD...
    Buildmetadata(MetadataWords),
    /// Set values that a ConfigMap in 'configMapGenerator' has, or its namespace: NAME
    Configmap(SetValues),
    /// Set values that a Secret in 'secretGenerator' has, or its namespace: NAME
    Secret(SetValues),
}

/// New values of a ConfigMap or Secret.
#[derive(Args)]
pub(crate) struct SetValues {
    #[arg(value_name = "NAME")]
    pub words: Vec<String>,

    /// An existing key, and its new value; may be repeated
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub from_literal: Vec<String>,

    /// The namespace that it has
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub namespace: Option<String>,

    /// The namespace that it gets
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub new_namespace: Option<String>,
}

pub(crate) const EXAMPLES: &str = "Examples:
  # Set the tag of an image, the name of another one, and the digest of a third one
  rustomize edit set image nginx:1.27 postgres=registry.example/postgres redis@sha256:0a1b

  # Keep the name that the image has, and set its tag
  rustomize edit set image 'nginx=*:1.27'

  # Set the number of replicas
  rustomize edit set replicas web=3

  # Set a suffix that begins with a dash
  rustomize edit set namesuffix -- -blue";

/// Runs `edit set`.
///
/// # Errors
/// The words do not fit, or the file cannot be changed.
pub(crate) fn run(place: &mut Place, what: &Set) -> diag::Result<()> {
    match what {
        Set::Image(words) => images::set(place, &words.words),
        Set::Replicas(words) => replicas::set(place, &words.words),
        Set::Namespace(words) => texts::set(place, "namespace", "namespace", &words.words),
        Set::Nameprefix(words) => texts::set(place, "namePrefix", "prefix", &words.words),
        Set::Namesuffix(words) => texts::set(place, "nameSuffix", "suffix", &words.words),
        Set::Label(words) => metadata::set(place, Metadata::Label, &words.words),
        Set::Annotation(words) => metadata::set(place, Metadata::Annotation, &words.words),
        Set::Buildmetadata(words) => lists::set_build_metadata(place, &words.words),
        Set::Configmap(values) => set_values(place, Kind::ConfigMap, values),
        Set::Secret(values) => set_values(place, Kind::Secret, values),
    }
}

fn set_values(place: &mut Place, kind: Kind, values: &SetValues) -> diag::Result<()> {
    let sources = generators::Sources {
        literals: values.from_literal.clone(),
        namespace: text(&values.namespace),
        ..generators::Sources::default()
    };
    generators::set(place, kind, &values.words, &sources, &text(&values.new_namespace))
}
