//! [`Requirements`]: `plugins.yaml`, which stands beside a kustomization and says which plugins it
//! needs (P41).

use super::location::{Location, LocationError};
use super::source::{Source, SourceError};
use super::version::Constraint;
use crate::config::{Decode, Decoder, read_alone};
use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use crate::yaml::{Node, Place, Pos, Value, json};
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "plugins.yaml";

/// The `apiVersion` of the file.
pub const API_VERSION: &str = "rustomize.dev/v1";

/// Its `kind`.
pub const KIND: &str = "PluginRequirements";

/// The plugins that a directory's kustomization needs, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    pub plugins: Vec<Requirement>,
}

/// One plugin that is needed.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// What the file calls it.
    pub name: String,
    pub source: Source,
    pub constraint: Constraint,
    /// Where it is fetched from, as it is written; empty for the releases of its source.
    pub from: String,
    /// What it is told in each call, as JSON; empty for nothing (U38).
    pub parameters: String,
    /// The kinds of configuration objects that ask for it; empty if the file does not say.
    pub provides: Vec<Provided>,
    /// Where it stands, for messages.
    pub place: Option<Place>,
}

/// A kind of configuration objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provided {
    pub api_version: String,
    pub kind: String,
}

#[derive(Default, Decode)]
struct RawFile<'a> {
    api_version: &'a str,
    kind: &'a str,
    requires: Node<'a>,
}

#[derive(Default, Decode)]
struct RawRequirement<'a> {
    source: &'a str,
    version: &'a str,
    from: &'a str,
    parameters: Node<'a>,
    provides: Vec<RawProvided<'a>>,
}

#[derive(Default, Decode)]
struct RawProvided<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// Holds the `apiVersion` and `kind` of a file of the manager, which begins at `pos`, to what they
/// have to be.
///
/// # Errors
/// They are others.
pub fn check_head(cx: &Decoder<'_>, pos: Pos, (api_version, kind): (&str, &str), want: &str) -> Result<()> {
    for (field, found, want) in [("apiVersion", api_version, API_VERSION), ("kind", kind, want)] {
        if found != want {
            return Err(cx.error(pos, format!("{field} should be {want}, not '{found}'")));
        }
    }
    Ok(())
}

impl Requirements {
    /// Reads the file of a directory; none is the same as an empty one.
    ///
    /// # Errors
    /// It cannot be read, or is not of its form.
    pub fn read(directory: &Path) -> Result<Requirements> {
        let path = directory.join(FILE);
        match FileLimit::default().read_to_string(&path) {
            Ok(text) => Requirements::parse(&path.display().to_string(), text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Requirements::default()),
            Err(e) => Err(Error::new(Code::Io, format!("cannot read '{}': {e}", path.display()))),
        }
    }

    /// Reads a text; `name` is what errors call it.
    ///
    /// # Errors
    /// It is not of the form.
    pub fn parse(name: &str, text: String) -> Result<Requirements> {
        read_alone(name, text, |arena, node| {
            let Some(node) = node else { return Ok(Requirements::default()) };
            let cx = Decoder::strict(arena);
            let mut file = RawFile::default();
            file.decode(node, &cx)?;
            check_head(&cx, node.pos(), (file.api_version, file.kind), KIND)?;
            Ok(Requirements { plugins: requirements(&cx, &file.requires, "requires")? })
        })
    }
}

/// The text of a file with one more plugin in it, everything else as it was; an empty text becomes
/// a file.
///
/// # Errors
/// It is required already, or the file is written in a way that no line can be added to.
pub fn with(text: &str, name: &str, plugin: &str) -> Result<String> {
    let before = Requirements::parse(FILE, text.to_owned())?.plugins;
    if before.iter().any(|known| known.name == name) {
        return Err(Error::input(format!("'{name}' is required already")).hint("change its line in plugins.yaml"));
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
        let error = Error::input("'requires' is written on one line, and nothing can be added to that");
        return Err(error.hint(format!("add it by hand: {name}: {plugin}")));
    }
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("requires:")).map_or(lines.len(), |at| at + 1);
    // Indented as the first one that is there, and behind the last.
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
        false => Err(Error::input("'requires' stands twice in plugins.yaml").hint("make one mapping of both")),
    }
}

impl Requirement {
    /// Where it is fetched from.
    ///
    /// # Errors
    /// None after the file was read.
    pub fn location(&self) -> std::result::Result<Location, LocationError> {
        Location::parse(&self.from)
    }
}

/// Reads a mapping of names to plugins, the value of `field`.
///
/// # Errors
/// It is something else, or one of them is not of the form.
pub fn requirements<'a>(cx: &Decoder<'a>, node: &Node<'a>, field: &str) -> Result<Vec<Requirement>> {
    let Value::Mapping(entries) = node.value() else {
        if node.is_null() {
            return Ok(Vec::new());
        }
        let error = cx.error(node.pos(), format!("'{field}' is a mapping of names to plugins"));
        return Err(error.hint(format!("as in {field}: {{app: {{source: github.com/acme/app, version: '~> 1.2'}}}}")));
    };
    let mut plugins: Vec<Requirement> = Vec::new();
    for entry in entries.iter() {
        let name = entry.key().text();
        if plugins.iter().any(|known| known.name == name) {
            return Err(cx.error(entry.key().pos(), format!("'{name}' is required twice")));
        }
        let in_entry = |e: Error| e.context(format!("in the requirement '{name}'"));
        plugins.push(requirement(cx, name, entry.value(), entry.key().pos()).map_err(in_entry)?);
    }
    Ok(plugins)
}

fn requirement<'a>(cx: &Decoder<'a>, name: &str, node: &Node<'a>, pos: Pos) -> Result<Requirement> {
    let mut raw = RawRequirement::default();
    raw.decode(node, cx)?;
    let source = raw.source.parse().map_err(|e: SourceError| {
        let error = cx.error(node.pos(), format!("the source '{}' {e}", raw.source));
        e.hint().into_iter().fold(error, Error::hint)
    })?;
    let constraint = match raw.version {
        "" => Constraint::default(),
        text => text.parse().map_err(|e: super::version::ConstraintError| cx.error(node.pos(), e.to_string()))?,
    };
    let provides = raw.provides.iter();
    let provides =
        provides.map(|p| Provided { api_version: p.api_version.to_owned(), kind: p.kind.to_owned() }).collect();
    Location::parse(raw.from).map_err(|e| cx.error(node.pos(), e.to_string()))?;
    let from = raw.from.to_owned();
    let mut parameters = String::new();
    match raw.parameters.value() {
        Value::Mapping(_) => json::write(&mut parameters, &raw.parameters),
        _ if raw.parameters.is_null() => {}
        _ => return Err(cx.error(raw.parameters.pos(), "'parameters' is a mapping of names to values")),
    }
    Ok(Requirement {
        name: name.to_owned(),
        source,
        constraint,
        from,
        parameters,
        provides,
        place: cx.arena.place(pos),
    })
}

#[cfg(test)]
mod tests {
    use super::{Requirements, with};

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\n";

    fn parse(text: &str) -> Result<Requirements, String> {
        Requirements::parse("plugins.yaml", format!("{HEAD}{text}")).map_err(|e| e.to_string())
    }

    #[test]
    fn p41_requirements_have_a_source_and_a_constraint() {
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
        assert!(with(&twice, "b", plugin).unwrap_err().to_string().contains("stands twice"));
        let flow = format!("{HEAD}requires: {{a: {{source: h.io/a/a}}}}\n");
        assert!(with(&flow, "b", plugin).unwrap_err().to_string().contains("on one line"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, words) in [
            ("requires: {app: {source: 'https://x/y'}}\n", "plugins.yaml:3:"),
            ("requires: {app: {source: a/b}}\n", "fewer than three parts"),
            ("requires: {app: {source: h.io/a/b, version: '^1'}}\n", "no constraint"),
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
        let other = Requirements::parse("plugins.yaml", "kind: X\n".to_owned()).unwrap_err().to_string();
        assert!(other.contains("apiVersion should be rustomize.dev/v1"), "{other}");
    }
}
