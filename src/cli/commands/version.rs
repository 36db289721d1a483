//! `version`, in kustomize's formats.

use crate::flags::compat::{self, Versions};
use crate::flags::switch::Switch;
use crate::flags::word::Word;
use crate::invoked_as::InvokedAs;
use crate::kustomize_version;
use crate::writer::{self, Shown};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use std::fmt::Write;

/// `version`.
#[derive(Args)]
pub(crate) struct Version {
    /// Print just the version, in braces (deprecated)
    #[arg(long, switch())]
    pub short: Option<bool>,

    /// yaml or json
    #[arg(short, long, value_name = "FORMAT", hide_possible_values = true)]
    pub output: Option<Word<VersionFormat>>,

    /// The version of kustomize that counts, as in 5.7.1 or kubectl-1.34 [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::version)]
    pub compat: Option<Versions>,

    #[arg(hide = true)]
    pub ignored: Vec<String>,
}

/// The formats of kustomize's `version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VersionFormat {
    Yaml,
    Json,
}

/// Runs `version`. If it was called as kustomize, it prints the output of a kustomize of the
/// requested version, built from its Go module. Under its own name it prints that version and,
/// after a plus, its own version. The text compares as kustomize's: Argo CD, chartify and scripts
/// look for the first version in the output, and choose flags by it.
///
/// # Errors
/// The version is unknown, `--short` is given together with `--output`, or stdout is closed.
pub(crate) fn run(args: &Version, invoked_as: InvokedAs) -> Result<()> {
    let kustomize = kustomize_version::of_command(args.compat)?.to_string();
    let version = match invoked_as {
        InvokedAs::Kustomize => kustomize,
        _ => format!("{kustomize}+rustomize.{}", env!("CARGO_PKG_VERSION")),
    };
    let fields = [
        ("version", version.as_str()),
        ("gitCommit", "unknown"),
        ("buildDate", "unknown"),
        ("goOs", std::env::consts::OS),
        (
            "goArch",
            match std::env::consts::ARCH {
                "x86_64" => "amd64",
                "aarch64" => "arm64",
                other => other,
            },
        ),
        ("goVersion", "unknown"),
    ];
    let mut out = String::new();
    let is_short = args.short.unwrap_or(false);
    if args.short.is_some() {
        writer::say("Flag --short has been deprecated, and will be removed in the future.");
    }
    let is_empty = |format: &&Word<VersionFormat>| matches!(format, Word::Other(word) if word.is_empty());
    match (is_short, args.output.as_ref().filter(|format| !is_empty(format))) {
        (true, Some(_)) => bail!("--short and --output are mutually exclusive"),
        (true, None) => {
            writeln!(out, "{{{version}  {}   }}", fields[2].1)?;
        }
        (false, None) => writeln!(out, "{version}")?,
        (false, Some(Word::Known(VersionFormat::Json))) => {
            let lines: Vec<String> = fields.iter().map(|(key, value)| format!("  \"{key}\": \"{value}\"")).collect();
            writeln!(out, "{{\n{}\n}}", lines.join(",\n"))?;
        }
        (false, Some(Word::Known(VersionFormat::Yaml))) => {
            for (key, value) in fields {
                writeln!(out, "{key}: {value}")?;
            }
            writeln!(out)?;
        }
        // kustomize prints nothing for other words.
        (false, Some(Word::Other(_))) => {}
    }
    Ok(writer::print(&Shown::message(&out))?)
}
