//! `plugin new`: the files of a new plugin or bundle.

use crate::flags::role::RunAs;
use crate::report::{Report, path_value};
use crate::writer;
use anyhow::Result;
use clap::{Args, ValueEnum};
use rustomize_base::shell::quoted;
use rustomize_manager::author::scaffold;
use serde_json::json;
use std::path::PathBuf;

/// Write a new plugin or bundle, with an example that tests it
#[derive(Args)]
pub(crate) struct New {
    /// The directory to make; its name is that of the plugin or bundle
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// The language of the plugin
    #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
    pub lang: Language,

    /// The field of a kustomization that the plugin is for
    #[arg(long, value_name = "ROLE", default_value = "generator")]
    pub role: RunAs,

    /// Write a bundle, with a generator and a schema
    #[arg(long, conflicts_with_all = ["lang", "role"])]
    pub bundle: bool,
}

/// The languages of `plugin new`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Language {
    Bash,
    Python,
    Go,
    Rust,
    C,
}

/// Runs `plugin new`.
///
/// # Errors
/// The directory exists, or a file cannot be written.
pub(crate) fn run(args: &New, is_json: bool) -> Result<()> {
    let language = match args.lang {
        Language::Bash => scaffold::Language::Bash,
        Language::Python => scaffold::Language::Python,
        Language::Go => scaffold::Language::Go,
        Language::Rust => scaffold::Language::Rust,
        Language::C => scaffold::Language::C,
    };
    let new = match args.bundle {
        true => scaffold::NewPlugin::Bundle,
        false => scaffold::NewPlugin::Plugin(language, args.role.into()),
    };
    let mut report = Report::default();
    for path in scaffold::scaffold(&args.directory, new)? {
        report.add(path.display().to_string(), json!({ "path": path_value(&path) }));
    }
    let test = args.directory.join("test.sh");
    writer::say(&format!("Test it: {}", quoted(&test.to_string_lossy())));
    report.print(is_json)
}
