//! `plugin new`: a plugin that works, with an example that tests it. The files are those of
//! `plugin/new`, with the plugin's name and kind in the place of `@NAME@` and `@KIND@`.

use super::describe::Role;
use crate::diag::{Code, Error, Result};
use rustomize_files::atomic::folder_of;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The language of a new plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A script that reads and prints JSON with `jq`.
    Bash,
    /// A file, with the SDK beside it.
    Python,
    /// A module, with the SDK as a package in it.
    Go,
    /// A crate, with the SDK as a crate in it.
    Rust,
    /// A shared object that reads and prints YAML with libyaml.
    C,
}

/// Names that a language or a template uses itself, of crates and of types.
const TAKEN: [&str; 27] = [
    "alloc",
    "call",
    "core",
    "default",
    "deserialize",
    "dynamic-object",
    "err",
    "error",
    "exit-code",
    "false",
    "json-schema",
    "k8s-openapi",
    "none",
    "ok",
    "plugin",
    "proc-macro",
    "result",
    "role",
    "rustomize-plugin",
    "rustomize-plugin-abi",
    "schemars",
    "self",
    "serde",
    "some",
    "std",
    "true",
    "type-meta",
];

/// The version of the SDKs: that of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The thing that `plugin new` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewPlugin {
    Plugin(Language, Role),
    /// A bundle with a generator and a schema.
    Bundle,
}

/// Writes a new plugin or bundle into a directory that does not exist yet, in one step. Gives the
/// files.
///
/// # Errors
/// The directory exists, its name is not a valid name of a plugin, or it cannot be written.
pub fn scaffold(directory: &Path, new: NewPlugin) -> Result<Vec<PathBuf>> {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    check_name(name)?;
    let usage = |message: String| Error::new(Code::Usage, message);
    if directory.symlink_metadata().is_ok() {
        return Err(usage(format!("'{}' already exists", directory.display()))
            .hint("a new plugin gets a directory of its own: name one that does not exist"));
    }
    let cannot = |e: io::Error| Error::io(&e, format!("cannot write '{}': {e}", directory.display()));
    let parent = folder_of(directory);
    fs::create_dir_all(parent).map_err(cannot)?;
    // Whatever fails, no half of a plugin is left behind.
    let staged = tempfile::Builder::new().prefix(".rustomize-new-").tempdir_in(parent).map_err(cannot)?;
    let whole = staged.path().join(name);
    let files = match new {
        NewPlugin::Plugin(language, role) => files(name, language, role),
        NewPlugin::Bundle => bundle_files(name),
    };
    for (path, text, is_executable) in &files {
        let path = whole.join(path);
        let write = || {
            fs::create_dir_all(folder_of(&path))?;
            fs::write(&path, text)?;
            rustomize_files::set_mode(&path, if *is_executable { 0o755 } else { 0o644 })
        };
        write().map_err(cannot)?;
    }
    fs::rename(&whole, directory).map_err(cannot)?;
    Ok(files.into_iter().map(|(path, ..)| directory.join(path)).collect())
}

/// Refuses names that are not of a plugin, or that its source cannot have.
fn check_name(name: &str) -> Result<()> {
    let usage = |message: String| Error::new(Code::Usage, message);
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_name {
        return Err(usage(format!("invalid plugin name '{name}'"))
            .hint("the directory's name is the plugin's: lower-case letters, digits and dashes, as in team-label"));
    }
    if TAKEN.contains(&name) {
        return Err(usage(format!("the plugin name '{name}' has a meaning in the plugin's source"))
            .hint(format!("add a word to it, as in team-{name}")));
    }
    Ok(())
}

/// `team-label` as a kind: `TeamLabel`.
fn kind(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').filter(|part| !part.is_empty()).map(capital).collect()
}

/// A file of a new plugin: its path, its text, and whether it is executable.
type File = (String, String, bool);

/// The work of the new plugin of a role: the texts that its files are filled with.
struct Example {
    summary: &'static str,
    field: &'static str,
    field_doc: &'static str,
    object: &'static str,
    kustomization: &'static str,
    /// The resources that the example builds, and a resource that a validator refuses.
    resources: &'static [(&'static str, &'static str)],
    expected: &'static str,
    /// The part of `test.sh` that a validator has beside the others'.
    refused: &'static str,
}

fn example(role: Role) -> Example {
    match role {
        Role::Generator => Example {
            summary: "Generates a ConfigMap with a message.",
            field: "message",
            field_doc: "The message of the ConfigMap.",
            object: include_str!("plugin/new/generator/object.yaml"),
            kustomization: include_str!("plugin/new/generator/kustomization.yaml"),
            resources: &[],
            expected: include_str!("plugin/new/generator/expected.yaml"),
            refused: "",
        },
        Role::Transformer => Example {
            summary: "Sets the label team on all resources.",
            field: "team",
            field_doc: "The team that owns the resources.",
            object: include_str!("plugin/new/transformer/object.yaml"),
            kustomization: include_str!("plugin/new/transformer/kustomization.yaml"),
            resources: &[("example/resources.yaml", include_str!("plugin/new/transformer/resources.yaml"))],
            expected: include_str!("plugin/new/transformer/expected.yaml"),
            refused: "",
        },
        Role::Validator => Example {
            summary: "Refuses resources without a label.",
            field: "label",
            field_doc: "The label that every resource has to have.",
            object: include_str!("plugin/new/validator/object.yaml"),
            kustomization: include_str!("plugin/new/validator/kustomization.yaml"),
            resources: &[
                ("example/resources.yaml", include_str!("plugin/new/validator/resources.yaml")),
                ("example/refused.yaml", include_str!("plugin/new/validator/refused.yaml")),
            ],
            expected: include_str!("plugin/new/validator/expected.yaml"),
            refused: include_str!("plugin/new/validator/refused.sh"),
        },
    }
}

/// The files of a language. By default the plugin is run as it is written.
struct Layout {
    /// The part of the README that is about the language.
    readme: &'static str,
    /// The programs that `test.sh` needs beside the tool.
    needs: &'static str,
    /// The part of `test.sh` that makes the plugin out of its source.
    build: &'static str,
    /// Where `example/plugins.yaml` finds the plugin.
    from: &'static str,
    /// The files that the tests of a plugin leave behind, besides the lock file.
    ignored: &'static str,
    files: Vec<(&'static str, &'static str, bool)>,
    /// The files of an SDK that has more than one.
    sdk: Vec<File>,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { readme: "", needs: "", build: "", from: "../plugin", ignored: "", files: Vec::new(), sdk: Vec::new() }
    }
}

const SCHEMA: (&str, &str, bool) = ("plugin/schema.json", include_str!("plugin/new/schema.json"), false);

fn layout(language: Language, role: Role) -> Layout {
    let of_role = |generator: &'static str, transformer: &'static str, validator: &'static str| match role {
        Role::Generator => generator,
        Role::Transformer => transformer,
        Role::Validator => validator,
    };
    match language {
        Language::Bash => Layout {
            readme: include_str!("plugin/new/bash/README.md"),
            needs: ", bash and jq",
            files: vec![
                ("plugin/plugin.yaml", include_str!("plugin/new/bash/plugin.yaml"), false),
                SCHEMA,
                (
                    "plugin/main.sh",
                    of_role(
                        include_str!("plugin/new/bash/generator.sh"),
                        include_str!("plugin/new/bash/transformer.sh"),
                        include_str!("plugin/new/bash/validator.sh"),
                    ),
                    true,
                ),
            ],
            ..Layout::default()
        },
        Language::Python => Layout {
            readme: include_str!("plugin/new/python/README.md"),
            needs: ", and Python 3.9 or later",
            ignored: "__pycache__/\n",
            files: vec![
                ("plugin/plugin.yaml", include_str!("plugin/new/python/plugin.yaml"), false),
                (
                    "plugin/main.py",
                    of_role(
                        include_str!("plugin/new/python/generator.py"),
                        include_str!("plugin/new/python/transformer.py"),
                        include_str!("plugin/new/python/validator.py"),
                    ),
                    false,
                ),
                ("plugin/rustomize_plugin.py", include_str!("plugin/sdk/python/rustomize_plugin.py"), false),
            ],
            ..Layout::default()
        },
        Language::Go => Layout {
            readme: include_str!("plugin/new/go/README.md"),
            needs: ", and Go 1.21 or later",
            files: vec![
                ("plugin/plugin.yaml", include_str!("plugin/new/go/plugin.yaml"), false),
                ("plugin/go.mod", include_str!("plugin/new/go/go.mod.in"), false),
                (
                    "plugin/main.go",
                    of_role(
                        include_str!("plugin/new/go/generator.go"),
                        include_str!("plugin/new/go/transformer.go"),
                        include_str!("plugin/new/go/validator.go"),
                    ),
                    false,
                ),
                ("plugin/rustomize/rustomize.go", include_str!("plugin/sdk/go/rustomize.go"), false),
            ],
            ..Layout::default()
        },
        Language::Rust => Layout {
            readme: include_str!("plugin/new/rust/README.md"),
            needs: ", and cargo",
            build: include_str!("plugin/new/rust/build.sh"),
            from: "../bin/@NAME@",
            ignored: "bin/\ntarget/\n",
            files: vec![
                ("Cargo.toml", include_str!("plugin/new/rust/Cargo.toml.in"), false),
                (
                    "src/main.rs",
                    of_role(
                        include_str!("plugin/new/rust/generator.rs.in"),
                        include_str!("plugin/new/rust/transformer.rs.in"),
                        include_str!("plugin/new/rust/validator.rs.in"),
                    ),
                    false,
                ),
            ],
            sdk: rust_sdk(),
        },
        Language::C => Layout {
            readme: include_str!("plugin/new/c/README.md"),
            needs: ", a C compiler as cc, pkg-config and libyaml",
            build: include_str!("plugin/new/c/build.sh"),
            ignored: "plugin.so\n",
            files: vec![
                ("plugin/plugin.yaml", include_str!("plugin/new/c/plugin.yaml"), false),
                SCHEMA,
                (
                    "src/plugin.c",
                    of_role(
                        include_str!("plugin/new/c/generator.c"),
                        include_str!("plugin/new/c/transformer.c"),
                        include_str!("plugin/new/c/validator.c"),
                    ),
                    false,
                ),
                ("src/yaml_plugin.h", include_str!("plugin/new/c/yaml_plugin.h"), false),
                ("src/rustomize_plugin.h", rustomize_plugin_abi::HEADER, false),
            ],
            ..Layout::default()
        },
    }
}

/// The SDK for Rust, which is two crates, and the versions of its dependencies.
fn rust_sdk() -> Vec<File> {
    let versioned = [
        ("Cargo.lock", include_str!("plugin/new/rust/Cargo.lock.in")),
        ("sdk/Cargo.toml", include_str!("plugin/sdk/rust/Cargo.toml.in")),
        ("sdk/abi/Cargo.toml", include_str!("plugin/sdk/rust/abi/Cargo.toml.in")),
    ];
    let sources = [
        ("sdk/src/describe.rs", include_str!("plugin/sdk/rust/src/describe.rs")),
        ("sdk/src/documents.rs", include_str!("plugin/sdk/rust/src/documents.rs")),
        ("sdk/src/lib.rs", include_str!("plugin/sdk/rust/src/lib.rs")),
        ("sdk/src/program.rs", include_str!("plugin/sdk/rust/src/program.rs")),
        ("sdk/src/test.rs", include_str!("plugin/sdk/rust/src/test.rs")),
    ];
    let versioned = versioned.map(|(path, text)| (path.to_owned(), text.replace("@VERSION@", VERSION), false));
    let sources = sources.map(|(path, text)| (path.to_owned(), text.to_owned(), false));
    let abi = rustomize_plugin_abi::SOURCES;
    let abi = abi.map(|(path, text)| (format!("sdk/abi/{path}"), text.to_owned(), false));
    versioned.into_iter().chain(sources).chain(abi).collect()
}

/// The files of a new plugin.
fn files(name: &str, language: Language, role: Role) -> Vec<File> {
    let (mut layout, example, kind, role) = (layout(language, role), example(role), kind(name), role.to_string());
    let sdk = std::mem::take(&mut layout.sdk);
    let fill = |text: &str| {
        // Texts that contain others come first.
        let values = [
            ("@FROM@", layout.from),
            ("@BUILD@", layout.build),
            ("@REFUSED@", example.refused),
            ("@LANGUAGE@", layout.readme),
            ("@OBJECT@", example.object),
            ("@NEEDS@", layout.needs),
            ("@SUMMARY@", example.summary),
            ("@FIELD_DOC@", example.field_doc),
            ("@FIELD@", example.field),
            ("@WHAT@", "plugin"),
            ("@ROLE@", &role),
            ("@KIND@", &kind),
            ("@NAME@", name),
        ];
        values.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value))
    };
    let ignored = format!("{}dist/\nexample/plugins.lock\n.rustomize/\n", layout.ignored);
    let of_all = [
        ("README.md", include_str!("plugin/new/README.md"), false),
        ("test.sh", include_str!("plugin/new/test.sh"), true),
        (".gitignore", ignored.as_str(), false),
        ("example/kustomization.yaml", example.kustomization, false),
        ("example/object.yaml", example.object, false),
        ("example/plugins.yaml", include_str!("plugin/new/plugins.yaml"), false),
        ("example/expected.yaml", example.expected, false),
    ];
    let resources = example.resources.iter().map(|(path, text)| (*path, *text, false));
    let all = of_all.into_iter().chain(resources).chain(layout.files.iter().copied());
    let filled = all.map(|(path, text, is_executable)| (path.to_owned(), fill(text), is_executable));
    filled.chain(sdk).collect()
}

/// The files of a new bundle.
fn bundle_files(name: &str) -> Vec<File> {
    let kind = kind(name);
    let lower = kind.to_lowercase();
    let values = [
        ("@FROM@", "../bundle"),
        ("@BUILD@", ""),
        ("@REFUSED@", ""),
        ("@WHAT@", "bundle"),
        ("@KIND@", kind.as_str()),
        ("@LOWER@", lower.as_str()),
        ("@NAME@", name),
    ];
    let fill = |text: &str| values.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value));
    let generator = "bundle/plugin/example.com/v1/@LOWER@/@KIND@";
    let all = [
        ("README.md", include_str!("plugin/new/bundle/README.md"), false),
        ("test.sh", include_str!("plugin/new/test.sh"), true),
        (".gitignore", "dist/\nexample/plugins.lock\n", false),
        ("bundle/plugin.yaml", include_str!("plugin/new/bundle/plugin.yaml"), false),
        (generator, include_str!("plugin/new/bundle/generator.sh"), true),
        ("bundle/schemas/fleet.yaml", include_str!("plugin/new/bundle/fleet-crd.yaml"), false),
        ("example/kustomization.yaml", include_str!("plugin/new/bundle/kustomization.yaml"), false),
        ("example/object.yaml", include_str!("plugin/new/generator/object.yaml"), false),
        ("example/fleet.yaml", include_str!("plugin/new/bundle/fleet.yaml"), false),
        ("example/patch.yaml", include_str!("plugin/new/bundle/patch.yaml"), false),
        ("example/plugins.yaml", include_str!("plugin/new/plugins.yaml"), false),
        ("example/expected.yaml", include_str!("plugin/new/bundle/expected.yaml"), false),
    ];
    all.into_iter().map(|(path, text, is_executable)| (fill(path), fill(text), is_executable)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Language, Role, bundle_files, check_name, files, kind};

    #[test]
    fn names_become_kinds() {
        assert_eq!([kind("team-label"), kind("a"), kind("x1-y")], ["TeamLabel", "A", "X1Y"]);
    }

    #[test]
    fn names_that_a_source_cannot_have_are_refused() {
        for (name, words) in
            [("Team", "invalid plugin name 'Team'"), ("", "invalid"), ("-x", "invalid"), ("self", "has a meaning")]
        {
            let error = check_name(name).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
        assert!(check_name("team-label").is_ok());
    }

    #[test]
    fn no_file_keeps_a_placeholder() {
        for language in [Language::Bash, Language::Python, Language::Go, Language::Rust, Language::C] {
            for role in [Role::Generator, Role::Transformer, Role::Validator] {
                for (path, text, _) in files("team-label", language, role).into_iter().chain(bundle_files("team-label"))
                {
                    // An at sign before a capital letter is a placeholder that nothing has filled.
                    let left = text
                        .match_indices('@')
                        .find(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_uppercase()));
                    assert_eq!(left, None, "{language:?} {role}: {path}");
                }
            }
        }
    }
}
