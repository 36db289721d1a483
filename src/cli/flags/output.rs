//! The flags for the result of a build.

use crate::flags::compat::{self, Versions};
use crate::flags::heading;
use crate::flags::roots::Layout;
use crate::flags::switch::Switch;
use crate::flags::word::Word;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of a result, and the place that it is written to.
#[derive(Args)]
pub(crate) struct OutputFlags {
    /// Write to this file, or one file per object into this directory
    ///
    /// A path that ends with '/' is a directory, which is made if it is missing. Of several roots,
    /// one file per root is written into this directory.
    #[arg(short, long, value_name = "PATH", value_parser = OsStringValueParser::new().map(PathBuf::from), help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,

    /// How the results of several roots are split into files
    #[arg(long, value_name = "LAYOUT", requires = "output", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub layout: Option<Layout>,

    /// Write the names of the files that were read, for make and ninja
    #[arg(long, value_name = "FILE", requires = "output", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub depfile: Option<PathBuf>,

    /// Print the bytes of this version of kustomize [default: 5.8.3]
    ///
    /// 5.4.2 to 5.8.3, or a tool that ships it: kubectl-1.34, argocd-3.2, flux-2.7. Without the
    /// flag RUSTOMIZE_COMPAT, the settings file or the name of the program decides.
    #[arg(long, value_name = "VERSION", value_parser = compat::version, help_heading = heading::OUTPUT)]
    pub compat: Option<Versions>,

    /// Order of the output: legacy or none
    ///
    /// Deprecated: use 'sortOptions' in the kustomization.
    #[arg(long, value_name = "ORDER", hide_possible_values = true, help_heading = heading::OUTPUT, hide_short_help = true)]
    pub reorder: Vec<Word<Reorder>>,

    /// Set the label app.kubernetes.io/managed-by on all objects
    ///
    /// Deprecated: use 'buildMetadata' in the kustomization.
    #[arg(long, alias = "enable_managedby_label", switch(), help_heading = heading::OUTPUT, hide_short_help = true)]
    pub enable_managedby_label: Option<bool>,

    /// Take warnings and findings of 'lint' for errors, and print nothing then
    #[arg(long, help_heading = heading::OUTPUT, hide_short_help = true)]
    pub strict: bool,
}

/// The orders of kustomize's flag `--reorder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reorder {
    Legacy,
    None,
}
