//! The arguments that several verbs of `edit` have.

use crate::flags::complete;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::patches;

/// Arguments without a flag.
#[derive(Args)]
pub(crate) struct Words {
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Files, without a flag.
#[derive(Args)]
pub(crate) struct FileWords {
    #[arg(hide = true, add = ArgValueCompleter::new(complete::files))]
    pub words: Vec<String>,
}

/// Directories, without a flag.
#[derive(Args)]
pub(crate) struct DirectoryWords {
    #[arg(hide = true, add = ArgValueCompleter::new(complete::directories))]
    pub words: Vec<String>,
}

/// Words of 'buildMetadata', without a flag.
#[derive(Args)]
pub(crate) struct MetadataWords {
    #[arg(hide = true, add = ArgValueCompleter::new(complete::build_metadata))]
    pub words: Vec<String>,
}

/// A patch and its target.
#[derive(Args)]
pub(crate) struct Patch {
    /// The file with the patch
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::files))]
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
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::kinds))]
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

impl Patch {
    /// The patch, as `edit` takes it.
    pub(crate) fn patch(&self) -> patches::Patch {
        patches::Patch {
            path: text(&self.path),
            patch: text(&self.patch),
            target: vec![
                ("group", text(&self.group)),
                ("version", text(&self.version)),
                ("kind", text(&self.kind)),
                ("name", text(&self.name)),
                ("namespace", text(&self.namespace)),
                ("annotationSelector", text(&self.annotation_selector)),
                ("labelSelector", text(&self.label_selector)),
            ],
        }
    }
}

/// The value of a flag; an empty text if the flag is not given.
pub(crate) fn text(flag: &Option<String>) -> String {
    flag.clone().unwrap_or_default()
}
