//! What is made of a plugin's directory when it is installed: the dependencies that its language
//! has, or its binary (U42).
//!
//! It lies in the directory itself, under a name that is no part of the content. Only what a file
//! of the plugin pins is fetched, and nothing of it is run: no install scripts.

use super::content::MADE;
use super::manifest::{Manifest, Runtime};
use crate::diag::{Error, ErrorKind, Result};
use crate::plugin::PluginOptions;
use crate::process::{Call, Failure, Limits, run};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long one step may take: compilers and package managers fetch and build.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Makes a directory ready to run.
///
/// # Errors
/// The language's own tool is missing or fails, or dependencies are not pinned.
pub fn prepare(manifest: &Manifest, directory: &Path, options: &PluginOptions) -> Result<()> {
    let made = directory.join(MADE);
    let has = |name: &str| directory.join(name).is_file();
    let path = |path: &Path| path.display().to_string();
    let environment = manifest.environment(directory);
    let step = |program: &str, args: &[&str]| step(program, args, directory, &environment, options);
    match &manifest.runtime {
        // An environment of its own in any case: the interpreter stays the same one, wherever PATH
        // leads later.
        Runtime::Python if !has("requirements.txt") => {
            step("python3", &["-m", "venv", "--without-pip", &path(&made.join("venv"))])
        }
        Runtime::Python => {
            let venv = made.join("venv");
            step("python3", &["-m", "venv", &path(&venv)])?;
            let pip =
                ["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", "install", "--require-hashes"];
            step(&path(&venv.join("bin").join("python")), &[&pip[..], &["-r", "requirements.txt"]].concat())
        }
        Runtime::Nodejs if has("package-lock.json") => {
            step("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"])
        }
        Runtime::Nodejs if has("package.json") && needs_packages(directory) => {
            let error =
                Error::new(ErrorKind::Plugin, format!("'{}' has dependencies that nothing pins", path(directory)));
            Err(error.hint("put the plugin's package-lock.json beside its package.json"))
        }
        Runtime::Deno if has("deno.lock") => step("deno", &["cache", "--frozen", &manifest.entry]),
        Runtime::Go => {
            fs::create_dir_all(made.join("bin"))
                .map_err(|e| Error::new(ErrorKind::Io, format!("cannot write to '{}': {e}", path(&made))))?;
            let binary = path(&made.join("bin").join("plugin"));
            step("go", &["build", "-trimpath", "-mod=readonly", "-o", &binary, &manifest.entry])
        }
        Runtime::Program(name) => step(&format!("rustomize-runtime-{name}"), &["install-deps", &path(directory)]),
        _ => Ok(()),
    }
}

/// Whether a `package.json` names packages that the plugin runs with.
fn needs_packages(directory: &Path) -> bool {
    let text = fs::read(directory.join("package.json")).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    package["dependencies"].as_object().is_some_and(|dependencies| !dependencies.is_empty())
}

fn step(
    program: &str,
    args: &[&str],
    directory: &Path,
    environment: &[(&'static str, OsString)],
    options: &PluginOptions,
) -> Result<()> {
    let call = Call {
        program: Path::new(program),
        args: args.iter().map(OsString::from).collect(),
        directory: Some(directory),
        environment: environment.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        inherits: true,
        without: &["PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "GOFLAGS", "NODE_OPTIONS"],
        stdin: None,
    };
    let limits = Limits { timeout: Some(TIMEOUT), output: options.output_limit, stderr: |_| {} };
    let shown = format!("{program} {}", args.join(" "));
    run(call, &limits).map(drop).map_err(|failed| {
        let fault = |message: String| Error::new(ErrorKind::Plugin, message);
        let said = failed.stderr.trim_end().replace('\n', "\n    ");
        match failed.failure {
            Failure::NotStarted(e) if e.kind() == std::io::ErrorKind::NotFound => {
                fault(format!("'{program}' is not in PATH, and the plugin needs it"))
                    .hint("install it, then install the plugin again")
            }
            Failure::Status(status) | Failure::Ended(status) => {
                fault(format!("'{shown}' failed: {status}\n    {said}"))
            }
            Failure::TimedOut(t) => fault(format!("'{shown}' took longer than {} s", t.as_secs())),
            other => fault(format!("'{shown}' failed: {other:?}")),
        }
    })
}
