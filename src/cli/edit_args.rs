//! The flags of `edit`, exactly as typed: those of kustomize.

use super::compat::{self, Versions};
use super::switch::switch;
use clap::{Args, Subcommand};

/// `edit`.
#[derive(Args)]
pub struct EditCommand {
    #[command(subcommand)]
    pub verb: Edit,

    /// The version of kustomize whose fields the file may have, as in 5.7.1 or kubectl-1.34
    /// [default: the newest]
    #[arg(long, global = true, value_name = "VERSION", value_parser = compat::flag)]
    pub compat: Option<Versions>,
}

/// The commands of `edit`.
#[derive(Subcommand)]
pub enum Edit {
    /// Add an item to the kustomization file
    #[command(after_long_help = ADD_EXAMPLES)]
    Add {
        #[command(subcommand)]
        what: Add,
    },
    /// Set the value of a field of the kustomization file
    #[command(after_long_help = SET_EXAMPLES)]
    Set {
        #[command(subcommand)]
        what: Set,
    },
    /// Remove items from the kustomization file
    #[command(after_long_help = REMOVE_EXAMPLES)]
    Remove {
        #[command(subcommand)]
        what: Remove,
    },
    /// Turn deprecated fields of the kustomization file into current ones
    #[command(long_about = FIX)]
    Fix {
        /// Turn variables into replacements, too: the resource files that use them are changed
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
        vars: Option<bool>,

        #[arg(hide = true)]
        ignored: Vec<String>,
    },
    /// List the plugins that are built in
    AlphaListBuiltinPlugin {
        #[arg(hide = true)]
        ignored: Vec<String>,
    },
}

const ADD_EXAMPLES: &str = "Examples:
  # Add files and directories as resources
  rustomize edit add resource deployment.yaml '../base' 'crds/*.yaml'

  # Add a patch for a Deployment
  rustomize edit add patch --path patch.yaml --kind Deployment --name web

  # Add a ConfigMap that is generated
  rustomize edit add configmap settings --from-literal=log=debug --from-file=app.ini

  # Add a label to all objects, and not to selectors
  rustomize edit add label team:blue --without-selector";

const SET_EXAMPLES: &str = "Examples:
  # Set the tag of an image, the name of another one, and the digest of a third one
  rustomize edit set image nginx:1.27 postgres=registry.example/postgres redis@sha256:0a1b

  # Keep the name that the image has, and set its tag
  rustomize edit set image 'nginx=*:1.27'

  # Set the number of replicas
  rustomize edit set replicas web=3

  # Set a suffix that begins with a dash
  rustomize edit set namesuffix -- -blue";

const REMOVE_EXAMPLES: &str = "Examples:
  # Remove all resources of a directory
  rustomize edit remove resource 'crds/*.yaml'

  # Remove labels
  rustomize edit remove label team,tier";

const FIX: &str = "Turn deprecated fields of the kustomization file into current ones: bases, imageTags, patchesJson6902, \
    patchesStrategicMerge, commonLabels and helmChartInflationGenerator, and vars with --vars. The kustomization is \
    built before and after, and a difference is shown.";

/// Arguments without a flag.
#[derive(Args)]
pub struct Words {
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// `add`.
#[derive(Subcommand)]
pub enum Add {
    /// Add files, directories or repositories to 'resources': [--no-verify] PATH...
    Resource {
        #[arg(value_name = "PATH")]
        words: Vec<String>,

        /// Add what is given, whether it exists or not
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
        no_verify: Option<bool>,
    },
    /// Add directories to 'resources': DIR,DIR...
    Base(Words),
    /// Add directories or repositories to 'components': PATH...
    Component(Words),
    /// Add files to 'generators': FILE...
    Generator(Words),
    /// Add files to 'transformers': FILE...
    Transformer(Words),
    /// Add files to 'validators': FILE...
    Validator(Words),
    /// Add files to 'configurations': FILE...
    Configuration(Words),
    /// Add a patch to 'patches'
    Patch(Patch),
    /// Add a ConfigMap to 'configMapGenerator', or sources to one: NAME
    Configmap {
        #[arg(value_name = "NAME")]
        words: Vec<String>,

        #[command(flatten)]
        sources: Sources,

        /// The behavior for a ConfigMap of that name: create, merge or replace
        #[arg(long, value_name = "BEHAVIOR", allow_hyphen_values = true)]
        behavior: Option<String>,
    },
    /// Add a Secret to 'secretGenerator', or sources to one: NAME
    Secret {
        #[arg(value_name = "NAME")]
        words: Vec<String>,

        #[command(flatten)]
        sources: Sources,

        /// The type of the Secret
        #[arg(long = "type", value_name = "TYPE", default_value = "Opaque", allow_hyphen_values = true)]
        secret_type: String,
    },
    /// Add labels to 'commonLabels' or 'labels': KEY:VALUE...
    Label {
        #[arg(value_name = "KEY:VALUE")]
        words: Vec<String>,

        #[command(flatten)]
        force: Force,

        /// Add to 'labels', which leaves selectors alone
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
        without_selector: Option<bool>,

        /// With --without-selector: label templates, too
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
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
    Buildmetadata(Words),
}

/// The treatment of existing values.
#[derive(Args)]
pub struct Force {
    /// Replace values that are there
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub force: Option<bool>,
}

/// Where the content of a ConfigMap or Secret comes from.
#[derive(Args)]
pub struct Sources {
    /// A file whose content is a value, under its own name or KEY; may be a pattern and repeated
    #[arg(long, value_name = "[KEY=]FILE", value_delimiter = ',', allow_hyphen_values = true)]
    pub from_file: Vec<String>,

    /// A key and its value; may be repeated
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub from_literal: Vec<String>,

    /// A file with lines of KEY=VALUE
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub from_env_file: Option<String>,

    /// Keep the name as it is, without a hash
    #[arg(long = "disableNameSuffixHash", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub disable_name_suffix_hash: Option<bool>,

    /// The namespace of the ConfigMap or Secret
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub namespace: Option<String>,
}

/// A patch and its target.
#[derive(Args)]
pub struct Patch {
    /// The file with the patch
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub path: Option<String>,

    /// The patch itself
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub patch: Option<String>,

    /// The group of the resources
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub group: Option<String>,

    /// The version of the resources
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub version: Option<String>,

    /// The kind of the resources
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub kind: Option<String>,

    /// The name of the resources
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub name: Option<String>,

    /// The namespace of the resources
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub namespace: Option<String>,

    /// A selector for the annotations of the resources
    #[arg(long, value_name = "SELECTOR", allow_hyphen_values = true)]
    pub annotation_selector: Option<String>,

    /// A selector for the labels of the resources
    #[arg(long, value_name = "SELECTOR", allow_hyphen_values = true)]
    pub label_selector: Option<String>,

    #[arg(hide = true)]
    pub ignored: Vec<String>,
}

/// `set`.
#[derive(Subcommand)]
pub enum Set {
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
    Buildmetadata(Words),
    /// Set values that a ConfigMap in 'configMapGenerator' has, or its namespace: NAME
    Configmap(SetValues),
    /// Set values that a Secret in 'secretGenerator' has, or its namespace: NAME
    Secret(SetValues),
}

/// New values of a ConfigMap or Secret.
#[derive(Args)]
pub struct SetValues {
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

/// `remove`.
#[derive(Subcommand)]
pub enum Remove {
    /// Remove entries from 'resources': PATTERN...
    Resource(Words),
    /// Remove entries from 'components': PATTERN...
    Component(Words),
    /// Remove entries from 'transformers': PATTERN...
    Transformer(Words),
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
    Buildmetadata(Words),
}

/// ConfigMaps or Secrets of a namespace.
#[derive(Args)]
pub struct Named {
    #[arg(value_name = "NAME")]
    pub words: Vec<String>,

    /// Their namespace
    #[arg(long, value_name = "NAMESPACE", allow_hyphen_values = true)]
    pub namespace: Option<String>,
}

/// Keys to remove.
#[derive(Args)]
pub struct Keys {
    #[arg(value_name = "KEY")]
    pub words: Vec<String>,

    /// Do not fail where a key is missing
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub ignore_non_existence: Option<bool>,
}
