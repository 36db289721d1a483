//! `version`, in kustomize's formats.

use super::args::Version;
use anyhow::{Result, bail};
use std::io::Write;

/// The version of kustomize whose output and commands these are.
const KUSTOMIZE: &str = "v5.8.1";

/// Runs `version`. Called as kustomize, it is kustomize's version that counts.
///
/// # Errors
/// `--short` together with `--output`, or a closed stdout.
pub fn run(args: &Version, as_kustomize: bool) -> Result<()> {
    let own = concat!("v", env!("CARGO_PKG_VERSION"));
    let version = if as_kustomize { KUSTOMIZE } else { own };
    let fields = [
        ("version", version),
        ("gitCommit", "unknown"),
        ("buildDate", "1970-01-01T00:00:00Z"),
        ("goOs", std::env::consts::OS),
        (
            "goArch",
            match std::env::consts::ARCH {
                "x86_64" => "amd64",
                "aarch64" => "arm64",
                other => other,
            },
        ),
        ("goVersion", "none"),
    ];
    let mut out = std::io::stdout().lock();
    match (args.short, args.output.as_deref()) {
        (true, Some(_)) => bail!("--short and --output are mutually exclusive"),
        (true, None) => {
            eprintln!("Flag --short has been deprecated, and will be removed in the future.");
            writeln!(out, "{{{version}  {}   }}", fields[2].1)?;
        }
        (false, None) => writeln!(out, "{version}")?,
        (false, Some("json")) => {
            let lines: Vec<String> = fields.iter().map(|(key, value)| format!("  \"{key}\": \"{value}\"")).collect();
            writeln!(out, "{{\n{}\n}}", lines.join(",\n"))?;
        }
        (false, Some("yaml")) => {
            for (key, value) in fields {
                let quote = if key == "buildDate" { "\"" } else { "" };
                writeln!(out, "{key}: {quote}{value}{quote}")?;
            }
            writeln!(out)?;
        }
        (false, Some(_)) => {}
    }
    Ok(())
}
