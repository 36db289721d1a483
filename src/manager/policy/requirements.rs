//! [`Requirements`]: `plugins.yaml`, the file beside a kustomization that says which plugins it
//! needs.

use super::project_directory::ProjectDirectory;
use crate::config::{Decode, Decoder, Written, read_alone};
use crate::diag::{Code, Error, Result};
use crate::id::head::{API_VERSION, FileHead, check_head};
use crate::id::requirement::{Requirement, requirements};
use rustomize_yaml::Node;
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "plugins.yaml";

/// Its `kind`.
pub const KIND: &str = "PluginRequirements";

/// Most plugins that one file requires.
const MOST: usize = 100_000;

/// The plugins that a directory's kustomization needs, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    pub plugins: Vec<Requirement>,
}

#[derive(Default, Decode)]
struct RawRequirements<'a> {
    api_version: Written<'a>,
    kind: Written<'a>,
    requires: Node<'a>,
}

impl Requirements {
    /// Reads the file of a directory; none is the same as an empty one.
    ///
    /// # Errors
    /// The file cannot be read, or is not valid.
    pub fn read(directory: &Path) -> Result<Requirements> {
        Requirements::read_in(&ProjectDirectory::named(directory))
    }

    /// As [`Requirements::read`], of a directory whose files may have to belong to the user.
    ///
    /// # Errors
    /// As [`Requirements::read`] and [`ProjectDirectory::read`].
    pub fn read_in(directory: &ProjectDirectory) -> Result<Requirements> {
        match directory.read(FILE)? {
            Some(text) => Requirements::parse(&directory.path.join(FILE).display().to_string(), text),
            None => Ok(Requirements::default()),
        }
    }

    /// Returns true if a directory has the file, and the file names its kind. Other programs may
    /// use the same file name.
    ///
    /// # Errors
    /// The file belongs to a user who does not count.
    pub fn are_in(directory: &ProjectDirectory) -> Result<bool> {
        match directory.read(FILE) {
            Err(e) if e.code() == Code::Refused => Err(e),
            text => Ok(text.is_ok_and(|text| text.is_some_and(|text| text.contains(KIND)))),
        }
    }

    /// Reads a text; `name` is what errors call it.
    ///
    /// # Errors
    /// The text is not a list of requirements.
    pub fn parse(name: &str, text: String) -> Result<Requirements> {
        read_alone(name, text, |arena, node| {
            let Some(node) = node else { return Ok(Requirements::default()) };
            let cx = Decoder::strict(arena);
            let mut file = RawRequirements::default();
            file.decode(node, &cx)?;
            check_head(&cx, node.pos(), FileHead { api_version: file.api_version, kind: file.kind }, KIND)?;
            Ok(Requirements { plugins: requirements(&cx, &file.requires, "requires", MOST)? })
        })
    }
}

/// The text of a file with one more plugin in it, everything else as it was; an empty text becomes
/// a file.
///
/// # Errors
/// The plugin is required already, or the form of the file does not let a line be added.
pub fn with(text: &str, name: &str, plugin: &str) -> Result<String> {
    let before = Requirements::parse(FILE, text.to_owned())?.plugins;
    if before.iter().any(|known| known.name == name) {
        return Err(
            Error::new(Code::Exists, format!("'{name}' is required already")).hint("change its line in plugins.yaml")
        );
    }
    let says_nothing = text.lines().all(|line| matches!(line.trim_start().chars().next(), None | Some('#')));
    let text = match text {
        "" => String::new(),
        text if text.ends_with('\n') => text.to_owned(),
        text => format!("{text}\n"),
    };
    let text = match says_nothing {
        true => format!("{text}apiVersion: {API_VERSION}\nkind: {KIND}\nrequires:\n"),
        false => text,
    };
    let is_field = |line: &&str| line.starts_with("requires:");
    let Some(field) = text.lines().find(is_field) else {
        return checked(format!("{text}requires:\n  {name}: {plugin}\n"), before.len() + 1);
    };
    let rest = field["requires:".len()..].trim_start();
    if !(rest.is_empty() || rest.starts_with('#')) {
        let error = Error::input("'requires' is written on one line, so no line can be added to it");
        return Err(error.hint(format!("add it by hand: {name}: {plugin}")));
    }
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("requires:")).map_or(lines.len(), |at| at + 1);
    // Indented as the first entry, after the last one.
    let is_entry =
        |line: &&&str| line.starts_with(' ') && !line.trim_start().starts_with('#') && !line.trim().is_empty();
    let entries: Vec<&&str> = lines[at..]
        .iter()
        .take_while(|line| line.starts_with([' ', '#']) || line.trim().is_empty())
        .filter(is_entry)
        .collect();
    let indent = entries.first().map_or(2, |line| line.len() - line.trim_start().len());
    let last = lines.iter().rposition(|line| entries.last().is_some_and(|last| std::ptr::eq(**last, *line)));
    let new = format!("{}{name}: {plugin}", " ".repeat(indent));
    lines.insert(last.map_or(at, |last| last + 1), &new);
    checked(lines.join("\n") + "\n", before.len() + 1)
}

/// Holds a text to what it should have become: a file that requires so many plugins.
fn checked(text: String, plugins: usize) -> Result<String> {
    match Requirements::parse(FILE, text.clone())?.plugins.len() == plugins {
        true => Ok(text),
        false => {
            Err(Error::new(Code::DuplicateKey, "'requires' occurs twice in plugins.yaml")
                .hint("make one mapping of both"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Requirements, with};

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\n";

    fn parse(text: &str) -> Result<Requirements, String> {
        Requirements::parse("plugins.yaml", format!("{HEAD}{text}")).map_err(|e| e.to_string())
    }

    #[test]
    fn requirements_have_a_source_and_a_constraint() {
        let read = parse(
            "requires:\n  app: {source: github.com/acme/app, version: '~> 1.2'}\n  other:\n    source: h.io/a/b\n    provides: [{apiVersion: ex.io/v1, kind: B}]\n",
        )
        .unwrap();
        let [app, other] = read.plugins.as_slice() else { panic!("{read:?}") };
        assert_eq!((app.name.as_str(), app.source.to_string().as_str()), ("app", "github.com/acme/app"));
        assert!(app.constraint.allows(&"1.9.0".parse().unwrap()) && !app.constraint.allows(&"2.0.0".parse().unwrap()));
        assert_eq!((other.provides[0].api_version.as_str(), other.provides[0].kind.as_str()), ("ex.io/v1", "B"));
        assert_eq!(other.constraint.to_string(), "any version");
        assert!(parse("").unwrap().plugins.is_empty() && parse("requires: null\n").unwrap().plugins.is_empty());
    }

    #[test]
    fn a_plugin_is_added_and_everything_else_stays() {
        let plugin = "{source: h.io/a/b}";
        let added = with("", "b", plugin).unwrap();
        assert_eq!(added, format!("{HEAD}requires:\n  b: {plugin}\n"));
        let text = format!(
            "{HEAD}# why\nrequires: # these\n    a: # the first\n      source: h.io/a/a\n    # end\n\n# behind\n"
        );
        let added = with(&text, "b", plugin).unwrap();
        let want = format!(
            "{HEAD}# why\nrequires: # these\n    a: # the first\n      source: h.io/a/a\n    b: {plugin}\n    # end\n\n# behind\n"
        );
        assert_eq!(added, want);
        let commented = "# ours\n\n  # and nothing else";
        assert_eq!(with(commented, "b", plugin).unwrap(), format!("{commented}\n{HEAD}requires:\n  b: {plugin}\n"));
        assert_eq!(with(HEAD, "b", plugin).unwrap(), format!("{HEAD}requires:\n  b: {plugin}\n"));
        assert!(with(&added, "b", plugin).unwrap_err().to_string().contains("required already"));
        let twice = format!("{HEAD}requires:\n  c: {plugin}\nrequires:\n  a: {plugin}\n");
        assert!(with(&twice, "b", plugin).unwrap_err().to_string().contains("occurs twice"));
        let flow = format!("{HEAD}requires: {{a: {{source: h.io/a/a}}}}\n");
        assert!(with(&flow, "b", plugin).unwrap_err().to_string().contains("on one line"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, words) in [
            ("requires: {app: {source: 'https://x/y'}}\n", "plugins.yaml:3:"),
            ("requires: {app: {source: a/b}}\n", "fewer than three parts"),
            ("requires: {app: {source: h.io/a/b, version: '^1'}}\n", "invalid version constraint"),
            ("requires: {app: {source: h.io/a/b, version: 1.2}}\n", "put quotes around it"),
            ("requires: {app: {sorce: h.io/a/b}}\n", "did you mean 'source'"),
            ("requires: [app]\n", "a mapping of names"),
            ("requires: {app: {source: h.io/a/b, parameters: [x]}}\n", "'parameters' is a mapping"),
            ("requires: {app: {source: h.io/a/b}, app: {source: h.io/a/b}}\n", "twice"),
            ("requires: [\n", "plugins.yaml:"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let other = |text: &str| Requirements::parse("plugins.yaml", text.to_owned()).unwrap_err().to_string();
        assert!(other("kind: X\n").contains("missing field \"apiVersion\""));
        assert!(other("apiVersion: v1\n").contains("apiVersion should be rustomize.dev/v1"));
    }
}
