//! The parts of roots, for `tree`: bases, components, files, plugins and remote parts.
//! Kustomization files are read, and the configurations of plugins. Nothing is built or fetched,
//! and no plugin runs.

use super::glance::{documents_in, documents_of};
use crate::load::artifact_reference::is_artifact;
use crate::load::{FileLimit, Loader, RepoSpec, clean, host, is_url, kustomization_file};
use hashbrown::HashMap;
use rustomize_yaml::{Node, Value};
use std::path::{Path, PathBuf};

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A directory with a kustomization.
    Kustomization,
    /// A directory with a component.
    Component,
    File,
    /// A text in the kustomization in the place of a file.
    Inline,
    /// A plugin or function, by the `apiVersion` and `kind` of its configuration.
    Plugin,
    /// A Helm chart.
    Chart,
    /// A file, repository or artifact elsewhere, which is not fetched.
    Remote,
    /// A place without a file or kustomization.
    Missing,
    /// A kustomization file that cannot be read.
    Unreadable,
}

impl Kind {
    /// The word for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Kustomization => "kustomization",
            Kind::Component => "component",
            Kind::File => "file",
            Kind::Inline => "inline",
            Kind::Plugin => "plugin",
            Kind::Chart => "chart",
            Kind::Remote => "remote",
            Kind::Missing => "missing",
            Kind::Unreadable => "unreadable",
        }
    }
}

/// A part of a root.
#[derive(Clone, Debug)]
pub struct Part {
    pub kind: Kind,
    /// A path from where the process was started, or a name. Users and passwords in URLs are left
    /// out.
    pub name: String,
    /// The parts that this part names, in their order.
    pub links: Vec<Link>,
}

/// A part that another part names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The field that names it.
    pub field: &'static str,
    /// Its place among the parts.
    pub to: usize,
}

/// All parts of some roots. A part that is named twice comes once.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub parts: Vec<Part>,
    /// The roots, by their places among the parts.
    pub roots: Vec<usize>,
}

/// Finds all parts of roots, which are directories. O(size of the kustomizations and configurations
/// that they lead to).
pub fn outline(loader: &dyn Loader, roots: &[String], limit: FileLimit) -> Outline {
    let mut reader = Reader { loader, limit, found: Outline::default(), known: HashMap::new(), open: Vec::new() };
    for root in roots {
        let part = reader.root(root);
        reader.found.roots.push(part);
    }
    while let Some(open) = reader.open.pop() {
        reader.read(open);
    }
    reader.found
}

/// A field of a kustomization that names parts, and the shape of its entries.
struct Field {
    name: &'static str,
    shape: Shape,
}

/// How a field names parts.
#[derive(Clone, Copy)]
enum Shape {
    /// A list of files, directories, repositories, or texts in their place, which have a line break
    /// or a key.
    Entries,
    /// As [`Shape::Entries`]: the files and texts are configurations of plugins.
    Configurations,
    /// An object, or a list of objects, with a file under each of these keys, and a text in its
    /// place under the last.
    Objects(&'static [&'static str]),
    /// A list of generators of ConfigMaps or Secrets.
    Sources,
    /// A list of charts, with the keys of a chart's name, version and repository.
    Charts([&'static str; 3]),
}

/// The fields that name parts, in the order in which they are shown.
const FIELDS: [Field; 17] = [
    Field { name: "resources", shape: Shape::Entries },
    Field { name: "bases", shape: Shape::Entries },
    Field { name: "components", shape: Shape::Entries },
    Field { name: "helmCharts", shape: Shape::Charts(["name", "version", "repo"]) },
    Field { name: "helmChartInflationGenerator", shape: Shape::Charts(["chartName", "chartVersion", "chartRepoUrl"]) },
    Field { name: "configMapGenerator", shape: Shape::Sources },
    Field { name: "secretGenerator", shape: Shape::Sources },
    Field { name: "generators", shape: Shape::Configurations },
    Field { name: "patches", shape: Shape::Objects(&["path", "patch"]) },
    Field { name: "patchesStrategicMerge", shape: Shape::Entries },
    Field { name: "patchesJson6902", shape: Shape::Objects(&["path", "patch"]) },
    Field { name: "replacements", shape: Shape::Objects(&["path"]) },
    Field { name: "transformers", shape: Shape::Configurations },
    Field { name: "validators", shape: Shape::Configurations },
    Field { name: "configurations", shape: Shape::Entries },
    Field { name: "crds", shape: Shape::Entries },
    Field { name: "openapi", shape: Shape::Objects(&["path"]) },
];

/// A part that a kustomization names.
struct Named {
    field: &'static str,
    what: What,
}

/// How a part is named.
enum What {
    /// A file, directory, repository, or text.
    Entry {
        text: String,
        configures: bool,
    },
    /// A file, or its address.
    File(String),
    Inline(&'static str),
    Chart(String),
}

/// A part whose own parts are still to be read.
enum Open {
    /// A kustomization: its part, its directory, and the parts that it names.
    Kustomization { part: usize, directory: PathBuf, named: Vec<Named> },
    /// A file with configurations of plugins.
    Configuration { part: usize, file: PathBuf },
    /// Configurations in the kustomization itself.
    Text { part: usize, text: String },
}

struct Reader<'l> {
    loader: &'l dyn Loader,
    limit: FileLimit,
    found: Outline,
    /// The part of each thing that was found; of files and directories by their places.
    known: HashMap<(Kind, PathBuf), usize>,
    open: Vec<Open>,
}

impl Reader<'_> {
    fn root(&mut self, path: &str) -> usize {
        match self.loader.directory(Path::new(path)) {
            Ok(directory) => self.directory(&directory, &clean(path)),
            Err(_) => self.part(Kind::Missing, PathBuf::from(path), path),
        }
    }

    /// The part of a thing, made where it is new.
    fn part(&mut self, kind: Kind, place: PathBuf, name: &str) -> usize {
        let next = self.found.parts.len();
        let part = *self.known.entry((kind, place)).or_insert(next);
        if part == next {
            self.found.parts.push(Part { kind, name: name.to_owned(), links: Vec::new() });
        }
        part
    }

    fn is_new(&self, kind: Kind, place: &Path) -> bool {
        !self.known.contains_key(&(kind, place.to_owned()))
    }

    /// A directory, which should have a kustomization.
    fn directory(&mut self, place: &Path, name: &str) -> usize {
        let Some(file) = kustomization_file::name_in(self.loader, place).map(|name| place.join(name)) else {
            return self.part(Kind::Missing, place.to_owned(), name);
        };
        if let Some(known) = [Kind::Kustomization, Kind::Component, Kind::Unreadable]
            .into_iter()
            .find_map(|kind| self.known.get(&(kind, place.to_owned())))
        {
            return *known;
        }
        let (mut is_component, mut named) = (false, Vec::new());
        let is_readable = documents_of(self.loader, &file, self.limit, |node| {
            is_component |= node.get_text("kind") == Some("Component");
            named.extend(named_in(node));
        });
        let kind = match (is_readable, is_component) {
            (false, _) => Kind::Unreadable,
            (true, true) => Kind::Component,
            (true, false) => Kind::Kustomization,
        };
        let part = self.part(kind, place.to_owned(), name);
        self.open.push(Open::Kustomization { part, directory: place.to_owned(), named });
        part
    }

    /// Finds the parts of a part.
    fn read(&mut self, open: Open) {
        match open {
            Open::Kustomization { part, directory, named } => {
                for Named { field, what } in named {
                    let to = self.named(part, &directory, what);
                    self.found.parts[part].links.push(Link { field, to });
                }
            }
            Open::Configuration { part, file } => {
                let mut plugins = Vec::new();
                documents_of(self.loader, &file, self.limit, |node| plugins.extend(plugin_of(node)));
                self.plugins(part, plugins);
            }
            Open::Text { part, text } => {
                let mut plugins = Vec::new();
                documents_in(text, |node| plugins.extend(plugin_of(node)));
                self.plugins(part, plugins);
            }
        }
    }

    fn plugins(&mut self, part: usize, plugins: Vec<String>) {
        for plugin in plugins {
            let to = self.part(Kind::Plugin, PathBuf::from(&plugin), &plugin);
            self.found.parts[part].links.push(Link { field: "plugin", to });
        }
    }

    /// The part that a kustomization in a directory names.
    fn named(&mut self, user: usize, directory: &Path, what: What) -> usize {
        match what {
            What::Inline(name) => self.inline(name),
            What::Chart(name) => self.part(Kind::Chart, PathBuf::from(&name), &name),
            What::File(text) => self.file(user, directory, &text, false),
            What::Entry { text, configures } if is_inline(&text) => {
                let part = self.inline(if configures { "configuration" } else { "patch" });
                if configures {
                    self.open.push(Open::Text { part, text });
                }
                part
            }
            What::Entry { text, configures } => self.file(user, directory, &text, configures),
        }
    }

    /// A text in the kustomization: each one is a part of its own.
    fn inline(&mut self, name: &str) -> usize {
        self.found.parts.push(Part { kind: Kind::Inline, name: name.to_owned(), links: Vec::new() });
        self.found.parts.len() - 1
    }

    /// A file, directory or remote part.
    fn file(&mut self, user: usize, directory: &Path, text: &str, configures: bool) -> usize {
        let path: PathBuf = clean(&directory.join(text).to_string_lossy()).into();
        let name = self.name_of(user, text);
        if !is_url(text) && !is_artifact(text) && !text.is_empty() {
            if let Ok(place) = self.loader.directory(&path) {
                return self.directory(&place, &name);
            }
            if let Ok(opened) = self.loader.open(&path) {
                if configures && self.is_new(Kind::File, &opened.place) {
                    let part = self.part(Kind::File, opened.place, &name);
                    self.open.push(Open::Configuration { part, file: path });
                    return part;
                }
                return self.part(Kind::File, opened.place, &name);
            }
        }
        match is_url(text) || is_artifact(text) || RepoSpec::parse(text).is_some() {
            true => self.part(Kind::Remote, PathBuf::from(text), &host::without_user(text)),
            false => self.part(Kind::Missing, path, &name),
        }
    }

    /// The path of an entry, from where the process was started.
    fn name_of(&self, user: usize, text: &str) -> String {
        let above = &self.found.parts[user].name;
        let path = if text.starts_with('/') || above == "." { text.to_owned() } else { format!("{above}/{text}") };
        clean(&path)
    }
}

/// The parts that a kustomization names, in the order of [`FIELDS`].
fn named_in(node: &Node<'_>) -> Vec<Named> {
    let mut named = Vec::new();
    for Field { name: field, shape } in FIELDS {
        let Some(value) = node.get(field) else { continue };
        let mut add = |what: What| named.push(Named { field, what });
        let entries = || texts(Some(value));
        match shape {
            Shape::Entries => entries().for_each(|text| add(What::Entry { text, configures: false })),
            Shape::Configurations => entries().for_each(|text| add(What::Entry { text, configures: true })),
            Shape::Objects(keys) => {
                for object in items(value) {
                    match keys.iter().find_map(|key| Some((*key, text(object, key)?))) {
                        Some(("patch", _)) => add(What::Inline("patch")),
                        Some((_, path)) => add(What::File(path)),
                        None => {}
                    }
                }
            }
            Shape::Sources => {
                for object in items(value) {
                    let path = |text: String| text.split_once('=').map_or(text.clone(), |(_, path)| path.to_owned());
                    texts(object.get("files")).for_each(|text| add(What::File(path(text))));
                    texts(object.get("envs")).chain(text(object, "env")).for_each(|text| add(What::File(text)));
                }
            }
            Shape::Charts([chart, version, repository]) => {
                for object in items(value) {
                    let Some(mut name) = text(object, chart) else { continue };
                    name.extend(text(object, version).map(|version| format!(" {version}")));
                    name.extend(text(object, repository).map(|url| format!(" from {}", host::without_user(&url))));
                    add(What::Chart(name));
                    let files = ["valuesFile", "values"].into_iter().filter_map(|key| text(object, key));
                    files.for_each(|text| add(What::File(text)));
                    texts(object.get("additionalValuesFiles")).for_each(|text| add(What::File(text)));
                }
            }
        }
    }
    named
}

/// The plugin that a configuration asks for.
fn plugin_of(node: &Node<'_>) -> Option<String> {
    let kind = node.get_text("kind")?;
    let name = format!("{} {kind}", node.get_text("apiVersion").unwrap_or_default());
    Some(name.trim_start().to_owned())
}

/// The items of a list, or the one object in its place.
fn items<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    let (list, one) = match node.value() {
        Value::Sequence(items) => (Some(items), None),
        _ => (None, Some(node)),
    };
    list.into_iter().flatten().chain(one)
}

/// The scalars of a list that are not empty.
fn texts(node: Option<&Node<'_>>) -> impl Iterator<Item = String> {
    let items = node.and_then(Node::as_sequence).into_iter().flatten();
    items.filter_map(|item| item.as_scalar()).map(|scalar| scalar.text().to_owned()).filter(|text| !text.is_empty())
}

/// The text of a key of an object, if it is not empty.
fn text(node: &Node<'_>, key: &str) -> Option<String> {
    node.get_text(key).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns true for an entry that has an object instead of the path of a file: it has several
/// lines, a field with a value, or braces.
fn is_inline(entry: &str) -> bool {
    entry.contains('\n') || entry.contains(": ") || entry.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::{Outline, outline};
    use crate::load::{FileLimit, Memory};

    /// The links of an outline, a line each.
    fn links(outline: &Outline) -> Vec<String> {
        let shown = |at: usize| format!("{}({})", outline.parts[at].kind.as_str(), outline.parts[at].name);
        let of = |(at, part): (usize, &super::Part)| {
            let lines = part.links.iter().map(|link| format!("{} {} {}", shown(at), link.field, shown(link.to)));
            lines.collect::<Vec<_>>()
        };
        let mut lines: Vec<String> = outline.parts.iter().enumerate().flat_map(of).collect();
        lines.sort();
        lines
    }

    #[test]
    fn every_field_that_names_parts() {
        let files = Memory::from_iter([
            (
                "app/kustomization.yaml",
                "resources: [base, a.yaml, gone.yaml, 'https://u:p@h/o/r?ref=1', empty, broken]\ncomponents: [part]\nconfigMapGenerator: [{files: [k=c.ini, d.ini], envs: [e.env]}]\nsecretGenerator: [{env: s.env}]\ngenerators: [gen.yaml, \"apiVersion: ex.io/v1\\nkind: Two\\n\"]\npatches: [{path: p.yaml}, {patch: 'x: y'}]\npatchesStrategicMerge: [m.yaml, \"a: b\\nc: d\\n\"]\nopenapi: {path: o.json}\nreplacements: [{path: r.yaml}, {source: {kind: X}}]\nhelmCharts: [{name: web, version: '1', repo: 'https://c.io', valuesFile: v.yaml}]\n",
            ),
            ("app/base/kustomization.yaml", "resources: [../a.yaml, ..]\n"),
            ("app/part/kustomization.yaml", "kind: Component\n"),
            ("app/broken/kustomization.yaml", "resources: [\n"),
            ("app/empty/x", ""),
            ("app/a.yaml", ""),
            ("app/c.ini", ""),
            ("app/d.ini", ""),
            ("app/e.env", ""),
            ("app/s.env", ""),
            ("app/gen.yaml", "apiVersion: ex.io/v1\nkind: One\n---\napiVersion: builtin\nkind: PrefixTransformer\n"),
            ("app/p.yaml", ""),
            ("app/m.yaml", ""),
            ("app/o.json", ""),
            ("app/r.yaml", ""),
            ("app/v.yaml", ""),
        ]);
        let found = outline(&files, &["app".to_owned()], FileLimit::default());
        let app = "kustomization(app)";
        let mut want = vec![
            format!("{app} resources kustomization(app/base)"),
            format!("{app} resources file(app/a.yaml)"),
            format!("{app} resources missing(app/gone.yaml)"),
            format!("{app} resources missing(app/empty)"),
            format!("{app} resources unreadable(app/broken)"),
            format!("{app} resources remote(https://...@h/o/r?ref=1)"),
            format!("{app} components component(app/part)"),
            format!("{app} configMapGenerator file(app/c.ini)"),
            format!("{app} configMapGenerator file(app/d.ini)"),
            format!("{app} configMapGenerator file(app/e.env)"),
            format!("{app} secretGenerator file(app/s.env)"),
            format!("{app} generators file(app/gen.yaml)"),
            format!("{app} generators inline(configuration)"),
            "file(app/gen.yaml) plugin plugin(ex.io/v1 One)".to_owned(),
            "file(app/gen.yaml) plugin plugin(builtin PrefixTransformer)".to_owned(),
            "inline(configuration) plugin plugin(ex.io/v1 Two)".to_owned(),
            format!("{app} patches file(app/p.yaml)"),
            format!("{app} patches inline(patch)"),
            format!("{app} patchesStrategicMerge file(app/m.yaml)"),
            format!("{app} patchesStrategicMerge inline(patch)"),
            format!("{app} openapi file(app/o.json)"),
            format!("{app} replacements file(app/r.yaml)"),
            format!("{app} helmCharts chart(web 1 from https://c.io)"),
            format!("{app} helmCharts file(app/v.yaml)"),
            "kustomization(app/base) resources file(app/a.yaml)".to_owned(),
            format!("kustomization(app/base) resources {app}"),
        ];
        want.sort();
        assert_eq!(links(&found), want);
    }
}
