//! The flags for the files that a build reads.

use crate::flags::heading;
use crate::flags::size::size;
use crate::flags::word::Word;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The files that a build reads, and their sizes.
#[derive(Args)]
pub(crate) struct FileFlags {
    /// Read stdin in place of this file in DIR
    ///
    /// For post-renderers of helm. The kustomization has to name the file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "shard", "layout"], help_heading = heading::FILES, hide_short_help = true)]
    pub stdin_as: Option<PathBuf>,

    /// LoadRestrictionsNone: files may be outside of their root
    ///
    /// LoadRestrictionsRootOnly, the default, keeps files in or below the directory of their
    /// kustomization.
    #[arg(long, alias = "load_restrictor", value_name = "NAME", default_value = "LoadRestrictionsRootOnly", hide_default_value = true, hide_possible_values = true, help_heading = heading::FILES)]
    pub load_restrictor: Word<Restriction>,

    /// How large a file may be that the build reads
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size, help_heading = heading::FILES, hide_short_help = true)]
    pub file_size_limit: u64,

    /// How much the steps of the build may make: texts, copies of values, output
    ///
    /// [default: 4GiB, or a quarter of the memory that the system gives, if that is less]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = heading::FILES, hide_short_help = true)]
    pub build_size_limit: Option<u64>,

    /// Merge lists of custom resources by the keys that CRDs in the tree name
    ///
    /// CustomResourceDefinitions count that are resources or are named in 'crds'. This is an
    /// extension: kustomize replaces these lists.
    #[arg(long, help_heading = heading::FILES, hide_short_help = true)]
    pub crd_merge_keys: bool,
}

/// The files that a kustomization may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Restriction {
    #[value(name = "LoadRestrictionsRootOnly")]
    RootOnly,
    #[value(name = "LoadRestrictionsNone")]
    None,
}
