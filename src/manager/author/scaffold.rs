//! `plugin new`: a plugin that works, with an example that tests it. The files are those of
//! `plugin/new`.

use crate::diag::{Code, Error, Result};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a plugin is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Bash,
    Python,
    Go,
    Rust,
}

/// Writes a new plugin, a generator, into a directory that is not there yet. Gives the files.
///
/// # Errors
/// The directory is there, its name is none for a plugin, or it cannot be written.
pub fn scaffold(directory: &Path, language: Language) -> Result<Vec<PathBuf>> {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_name {
        let message = format!("'{name}' is no name for a plugin");
        return Err(Error::new(Code::Usage, message).hint("lower-case letters, digits and dashes, as in team-label"));
    }
    if directory.exists() {
        return Err(Error::new(Code::Usage, format!("'{}' is there already", directory.display())));
    }
    let cannot = |path: &Path, e: io::Error| Error::new(Code::Io, format!("cannot write '{}': {e}", path.display()));
    let mut written = Vec::new();
    for (path, text, is_executable) in files(name, language) {
        let path = directory.join(path);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(directory))?;
            fs::write(&path, text)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(if is_executable { 0o755 } else { 0o644 }))
        };
        write().map_err(|e| cannot(&path, e))?;
        written.push(path);
    }
    Ok(written)
}

/// `team-label` as a kind: `TeamLabel`.
fn kind(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').filter(|part| !part.is_empty()).map(capital).collect()
}

/// The files: their paths, their content, and whether they run.
fn files(name: &str, language: Language) -> Vec<(&'static str, String, bool)> {
    let kind = kind(name);
    let fill = |text: &str| text.replace("NAME", name).replace("KIND", &kind);
    let from = if language == Language::Rust { fill("../target/release/NAME") } else { "../plugin".to_owned() };
    let build = if language == Language::Rust { "cargo build --release\n" } else { "" };
    let mut files = vec![
        ("README.md", fill(README), false),
        ("test.sh", fill(TEST).replace("BUILD", build), true),
        ("example/kustomization.yaml", "generators: [object.yaml]\n".to_owned(), false),
        ("example/object.yaml", fill(OBJECT), false),
        ("example/plugins.yaml", fill(REQUIREMENTS).replace("FROM", &from), false),
        ("example/expected.yaml", EXPECTED.to_owned(), false),
        (".gitignore", "target/\nexample/plugins.lock\n.rustomize/\n".to_owned(), false),
    ];
    let manifest = |runtime: &str| ("plugin/plugin.yaml", fill(MANIFEST).replace("RUNTIME", runtime), false);
    match language {
        Language::Bash => files.extend([manifest("bash"), ("plugin/main.sh", fill(BASH), true)]),
        Language::Python => files.extend([manifest("python"), ("plugin/main.py", fill(PYTHON), true)]),
        Language::Go => {
            files.extend([
                manifest("go"),
                ("plugin/main.go", fill(GO), false),
                ("plugin/go.mod", fill("module NAME\n\ngo 1.21\n"), false),
            ]);
        }
        Language::Rust => files.extend([("Cargo.toml", fill(CARGO), false), ("src/main.rs", fill(RUST), false)]),
    }
    files
}

const README: &str = include_str!("../../../plugin/new/README.md");
const TEST: &str = include_str!("../../../plugin/new/test.sh");
const OBJECT: &str = include_str!("../../../plugin/new/object.yaml");
const REQUIREMENTS: &str = include_str!("../../../plugin/new/plugins.yaml");
const EXPECTED: &str = include_str!("../../../plugin/new/expected.yaml");
const MANIFEST: &str = include_str!("../../../plugin/new/plugin.yaml");
const BASH: &str = include_str!("../../../plugin/new/main.sh");
const PYTHON: &str = include_str!("../../../plugin/new/main.py");
const GO: &str = include_str!("../../../plugin/new/main.go");
const CARGO: &str = include_str!("../../../plugin/new/Cargo.toml.in");
const RUST: &str = include_str!("../../../plugin/new/main.rs");

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn names_become_kinds() {
        assert_eq!([kind("team-label"), kind("a"), kind("x1-y")], ["TeamLabel", "A", "X1Y"]);
    }
}
