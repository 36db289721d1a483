//! `edit add`: adds an item to the kustomization file.

use super::words::{DirectoryWords, FileWords, MetadataWords, Patch, text};
use crate::flags::complete;
use crate::flags::switch::{Switch, is_on};
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::generators::{self, Kind};
use rustomize_edit::lists::{
    self, COMPONENTS, CONFIGURATIONS, GENERATORS, RESOURCES, TRANSFORMERS, VALIDATORS, Verification,
};
use rustomize_edit::metadata::{self, Adding, Metadata};
use rustomize_edit::{Place, patches};
use rustomize_engine::diag;

/// `edit add`.
#[derive(Subcommand)]
pub(crate) enum Add {
    /// Add files, directories or repositories to 'resources': [--no-verify] PATH...
    Resource {
        #[arg(value_name = "PATH", add = ArgValueCompleter::new(complete::files))]
        words: Vec<String>,

        /// Add what is given, whether it exists or not
        #[arg(long, switch())]
        no_verify: Option<bool>,
    },
    /// Add directories to 'resources': DIR,DIR...
    Base(DirectoryWords),
    /// Add directories or repositories to 'components': PATH...
    Component(DirectoryWords),
    /// Add files to 'generators': FILE...
    Generator(FileWords),
    /// Add files to 'transformers': FILE...
    Transformer(FileWords),
    /// Add files to 'validators': FILE...
    Validator(FileWords),
    /// Add files to 'configurations': FILE...
    Configuration(FileWords),
    /// Add a patch to 'patches'
    Patch(Patch),
    /// Add a ConfigMap to 'configMapGenerator', or sources to one: NAME
    Configmap {
        #[arg(value_name = "NAME")]
        words: Vec<String>,

        #[command(flatten)]
        sources: Sources,

        /// The behavior for a ConfigMap of that name: create, merge or replace
        #[arg(long, value_name = "BEHAVIOR", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::behaviors))]
        behavior: Option<String>,
    },
    /// Add a Secret to 'secretGenerator', or sources to one: NAME
    Secret {
        #[arg(value_name = "NAME")]
        words: Vec<String>,

        #[command(flatten)]
        sources: Sources,

        /// The type of the Secret
        #[arg(long = "type", value_name = "TYPE", default_value = "Opaque", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::secret_types))]
        secret_type: String,
    },
    /// Add labels to 'commonLabels' or 'labels': KEY:VALUE...
    Label {
        #[arg(value_name = "KEY:VALUE")]
        words: Vec<String>,

        #[command(flatten)]
        force: Force,

        /// Add to 'labels', which leaves selectors alone
        #[arg(long, switch())]
        without_selector: Option<bool>,

        /// With --without-selector: label templates, too
        #[arg(long, switch())]
        include_templates: Option<bool>,
    },
    /// Add annotations to 'commonAnnotations': KEY:VALUE...
    Annotation {
        #[arg(value_name = "KEY:VALUE")]
        words: Vec<String>,

        #[command(flatten)]
        force: Force,
    },
    /// Add words to 'buildMetadata': originAnnotations, transformerAnnotations, managedByLabel
    Buildmetadata(MetadataWords),
}

/// The treatment of existing values.
#[derive(Args)]
pub(crate) struct Force {
    /// Replace values that are there
    #[arg(short, long, switch())]
    pub force: Option<bool>,
}

/// Where the content of a ConfigMap or Secret comes from.
#[derive(Args)]
pub(crate) struct Sources {
    /// A file whose content is a value, under its own name or KEY; may be a pattern and repeated
    #[arg(long, value_name = "[KEY=]FILE", value_delimiter = ',', allow_hyphen_values = true, add = ArgValueCompleter::new(complete::files))]
    pub from_file: Vec<String>,

    /// A key and its value; may be repeated
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub from_literal: Vec<String>,

    /// A file with lines of KEY=VALUE
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::files))]
    pub from_env_file: Option<String>,

    /// Keep the name as it is, without a hash
    #[arg(long = "disableNameSuffixHash", switch())]
    pub disable_name_suffix_hash: Option<bool>,

    /// The namespace of the ConfigMap or Secret
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub namespace: Option<String>,
}

pub(crate) const EXAMPLES: &str = "Examples:
  # Add files and directories as resources
  rustomize edit add resource deployment.yaml '../base' 'crds/*.yaml'

  # Add a patch for a Deployment
  rustomize edit add patch --path patch.yaml --kind Deployment --name web

  # Add a ConfigMap that is generated
  rustomize edit add configmap settings --from-literal=log=debug --from-file=app.ini

  # Add a label to all objects, and not to selectors
  rustomize edit add label team:blue --without-selector";

impl Sources {
    fn sources(&self) -> generators::Sources {
        generators::Sources {
            files: self.from_file.clone(),
            literals: self.from_literal.clone(),
            env_file: text(&self.from_env_file),
            disable_name_suffix_hash: is_on(self.disable_name_suffix_hash),
            namespace: text(&self.namespace),
            ..generators::Sources::default()
        }
    }
}

/// Runs `edit add`.
///
/// # Errors
/// The words do not fit, or the file cannot be changed.
pub(crate) fn run(place: &mut Place, what: &Add) -> diag::Result<()> {
    match what {
        Add::Resource { words, no_verify } => {
            let verification = if is_on(*no_verify) { Verification::None } else { Verification::Load };
            lists::add_references(place, RESOURCES, words, verification)
        }
        Add::Base(words) => lists::add_bases(place, &words.words),
        Add::Component(words) => lists::add_references(place, COMPONENTS, &words.words, Verification::Load),
        Add::Generator(words) => lists::add_files(place, GENERATORS, &words.words),
        Add::Transformer(words) => lists::add_files(place, TRANSFORMERS, &words.words),
        Add::Validator(words) => lists::add_files(place, VALIDATORS, &words.words),
        Add::Configuration(words) => lists::add_files(place, CONFIGURATIONS, &words.words),
        Add::Patch(flags) => patches::add(place, &flags.patch()),
        Add::Configmap { words, sources, behavior } => {
            let sources = generators::Sources { behavior: text(behavior), ..sources.sources() };
            generators::add(place, Kind::ConfigMap, words, &sources)
        }
        Add::Secret { words, sources, secret_type } => {
            let sources = generators::Sources { secret_type: secret_type.clone(), ..sources.sources() };
            generators::add(place, Kind::Secret, words, &sources)
        }
        Add::Label { words, force, without_selector, include_templates } => {
            let how = Adding {
                force: is_on(force.force),
                without_selector: is_on(*without_selector),
                include_templates: is_on(*include_templates),
            };
            metadata::add(place, Metadata::Label, how, words)
        }
        Add::Annotation { words, force } => {
            let how = Adding { force: is_on(force.force), ..Adding::default() };
            metadata::add(place, Metadata::Annotation, how, words)
        }
        Add::Buildmetadata(words) => lists::add_build_metadata(place, &words.words),
    }
}
