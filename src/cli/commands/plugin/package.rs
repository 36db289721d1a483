//! `plugin package`: the files of a release.

use super::named::parse;
use crate::report::{Report, path_value};
use crate::writer;
use anyhow::Result;
use clap::Args;
use rustomize_manager::author::package::{self, PackageOptions};
use rustomize_manager::author::sign::SigningKey;
use rustomize_manager::id::name::Platform;
use rustomize_manager::install::describe::describe as describe_directory;
use rustomize_plugins::PluginOptions;
use serde_json::json;
use std::path::PathBuf;

/// Write the files of a release of a plugin or bundle: archives and their sums
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Package {
    /// The directory of a plugin or a bundle, as 'plugin new' writes it or with plugin.yaml, or an
    /// executable for this machine
    #[arg(value_name = "PATH", default_value = ".")]
    pub what: PathBuf,

    /// The directory for the files
    #[arg(short, long, value_name = "DIR", default_value = "dist")]
    pub output: PathBuf,

    /// The plugin's name [default: what plugin.yaml says, or the name of the file or directory]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// An executable, a shared object or the directory of a bundle for another platform, as in
    /// linux_arm64=FILE; may be repeated
    #[arg(long = "platform", value_name = "OS_ARCH=FILE", value_parser = platform)]
    pub platforms: Vec<(Platform, PathBuf)>,

    /// Sign the files with this secret key of minisign; its password is asked for, or in
    /// RUSTOMIZE_MINISIGN_PASSWORD; needs --source
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// The source under which others install the plugin, as in github.com/acme/app: each signature
    /// names it, so that it is not one of another plugin
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
}

/// Reads `linux_arm64=FILE`.
fn platform(text: &str) -> Result<(Platform, PathBuf), String> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let parts = text.split_once('=').and_then(|(platform, file)| Some((platform.split_once('_')?, file)));
    match parts {
        Some(((os, arch), file)) if is_word(os) && is_word(arch) && !file.is_empty() => {
            Ok((Platform { os: os.to_owned(), arch: arch.to_owned() }, file.into()))
        }
        _ => Err("expected OS_ARCH=FILE, as in linux_arm64=build/label".to_owned()),
    }
}

const ABOUT: &str = "Write the files of a release of a plugin, as installing from a release reads them: an archive for each platform, \
    <name>_SHA256SUMS with the sums, and with --key a signature of each. What could not be installed is not packaged, and the same input gives the same \
    archives.\n\nPATH is a directory with plugin.yaml, or with plugin/plugin.yaml as 'plugin new' makes it, or an executable for this machine.";

const EXAMPLES: &str = "Examples:
  # a plugin in a language that a runtime runs: one archive for all platforms
  rustomize plugin package -o dist

  # a compiled plugin, for two platforms, signed
  rustomize plugin package target/release/label --name label \\
    --platform linux_arm64=target/aarch64-unknown-linux-gnu/release/label \\
    --key ~/.minisign/minisign.key --source github.com/acme/label -o dist";

/// Runs `plugin package`.
///
/// # Errors
/// The plugin could not be installed, or the key cannot be used. Nothing is written then.
pub(crate) fn run(args: &Package, is_json: bool, options: &PluginOptions) -> Result<()> {
    let key = args.key.as_deref().map(|path| SigningKey::read(path, &*options.host)).transpose()?;
    let source = args.source.as_deref().map(parse).transpose()?;
    let wanted = PackageOptions {
        what: &args.what,
        describe: &|manifest, directory| describe_directory(manifest, directory, options),
        name: args.name.as_deref(),
        files: &args.platforms,
        out: &args.output,
        key: key.as_ref(),
        source: source.as_ref(),
    };
    let mut report = Report::default();
    for path in package::package(&wanted, options)? {
        report.add(path.display().to_string(), json!({ "path": path_value(&path) }));
    }
    report.print(is_json)?;
    if let Some((key, source)) = key.zip(source) {
        let line =
            format!("Users of the plugin check that with: rustomize plugin trust {source} --key {}", key.public());
        writer::say(&line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::platform;

    #[test]
    fn a_platform_is_a_system_a_processor_and_a_file() {
        let (found, file) = platform("linux_arm64=a=b").unwrap();
        assert_eq!((found.to_string().as_str(), file.to_str()), ("linux_arm64", Some("a=b")));
        for text in ["linux=x", "linux_arm64", "linux_arm64=", "_x=y", "Linux_arm64=x", "linux_a/b=x"] {
            assert!(platform(text).is_err(), "{text}");
        }
    }
}
