//! Resources as a tree for people: by the directories of their files, or by their owners.

use super::annotations::{self, PATH};
use super::read::PACKAGE_FILE;
use super::{Item, filter, query};
use crate::diag::{Code, Error, Result};
use rustomize_yaml::Arena;
use rustomize_yaml::noted::Noted;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The structure of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// By owners if a resource has one, else by directories.
    Found,
    Directories,
    Owners,
}

/// A field to show.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name of the branch.
    name: String,
    /// The name of the value below a container's branch; without one, the value is in the branch.
    below: Option<String>,
    path: Vec<String>,
}

impl Field {
    /// A field at a path. The fields of containers are grouped by container.
    pub fn new(path: Vec<String>) -> Self {
        let name = path.join(".");
        let groups =
            ["spec.template.spec.containers", "spec.jobTemplate.spec.template.spec.containers", "spec.containers"];
        match groups.into_iter().find(|group| name.starts_with(group)) {
            Some(group) => Field { name: group.to_owned(), below: path.last().cloned(), path },
            None => Field { name, below: None, path },
        }
    }
}

/// A branch of a tree.
#[derive(Clone, Debug, Default)]
struct Branch {
    /// The text in brackets before the value.
    label: Option<String>,
    value: String,
    below: Vec<Branch>,
}

impl Branch {
    fn new(value: impl Into<String>) -> Self {
        Branch { value: value.into(), ..Branch::default() }
    }

    /// Prints what is below; `edges` are the signs before each line.
    fn print(&self, edges: &str, out: &mut String) {
        for (i, branch) in self.below.iter().enumerate() {
            let is_last = i + 1 == self.below.len();
            let edge = if is_last { "└──" } else { "├──" };
            let deeper = format!("{edges}{}", if is_last { "    " } else { "│   " });
            let label = branch.label.as_ref().map(|label| format!("[{label}]  ")).unwrap_or_default();
            let value = branch.value.replace('\n', &format!("\n{deeper}"));
            let _ = writeln!(out, "{edges}{edge} {label}{value}");
            branch.print(&deeper, out);
        }
    }
}

/// Prints a tree of resources; `root` is the directory that they are from. O(size of the
/// resources).
///
/// # Errors
/// A path does not fit the resources, or an owner is missing.
pub fn print<'a>(
    arena: Arena<'a>,
    mut items: Vec<Item<'a>>,
    root: &str,
    fields: &[Field],
    structure: Structure,
) -> Result<String> {
    let has_owner =
        |item: &Item<'_>| item.root().get("metadata").and_then(|metadata| metadata.get("ownerReferences")).is_some();
    let by_owners = match structure {
        Structure::Found => items.iter().any(has_owner),
        Structure::Directories => false,
        Structure::Owners => true,
    };
    let tree = if by_owners {
        owners(arena, &items, fields)?
    } else {
        for item in &mut items {
            annotations::complete(arena, item)?;
        }
        directories(arena, &items, root, fields)?
    };
    let mut out = format!("{}\n", tree.value);
    tree.print("", &mut out);
    Ok(out)
}

fn file<'a>(item: &Item<'a>) -> &'a str {
    annotations::get(item, PATH[0]).unwrap_or_default()
}

/// The last part of a path, as Go's `filepath.Base` gives it.
fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") if path.starts_with('/') => "/",
        Some("") | None => ".",
        Some(name) => name,
    }
}

/// The directory of a path, as Go's `filepath.Dir` gives it.
fn directory(path: &str) -> String {
    crate::load::clean(path.rfind('/').map_or("", |i| &path[..=i]))
}

/// Sorts by inserting one after the other, as Go sorts a short list: equal resources come in
/// reverse order.
fn sorted<'i, 'a>(mut items: Vec<&'i Item<'a>>) -> Vec<&'i Item<'a>> {
    items.reverse();
    items.sort_by(|a, b| compare(a, b));
    items
}

fn directories<'a>(arena: Arena<'a>, items: &[Item<'a>], root: &str, fields: &[Field]) -> Result<Branch> {
    let mut packages: BTreeMap<String, Vec<&Item<'a>>> = BTreeMap::new();
    for item in items.iter().filter(|item| !item.text("kind").is_empty()) {
        packages.entry(directory(file(item))).or_default().push(item);
    }
    // The path of each package's branch in the tree, as indices.
    let mut places: Vec<(String, Vec<usize>)> = Vec::new();
    let mut tree = Branch::new(root);
    for (package, items) in packages {
        let above =
            places.iter().filter(|(name, _)| package.starts_with(name.as_str())).max_by_key(|(name, _)| name.len());
        let mut place = above.map(|(_, place)| place.clone()).unwrap_or_default();
        let mut branch = &mut tree;
        for i in &place {
            branch = &mut branch.below[*i];
        }
        if package != "." {
            let name = base(&package).to_owned();
            let is_package = Path::new(root).join(&package).join(PACKAGE_FILE).symlink_metadata().is_ok();
            place.push(branch.below.len());
            branch.below.push(Branch::new(if is_package { format!("Pkg: {name}") } else { name }));
            let last = branch.below.len() - 1;
            branch = &mut branch.below[last];
        }
        places.push((package, place));
        for item in sorted(items) {
            branch.below.push(resource(arena, item, base(file(item)), fields)?);
        }
    }
    Ok(tree)
}

/// The order of resources: file, namespace, name, kind, version.
fn compare(a: &Item<'_>, b: &Item<'_>) -> Ordering {
    base(file(a))
        .cmp(base(file(b)))
        .then_with(|| a.metadata("namespace").cmp(b.metadata("namespace")))
        .then_with(|| a.metadata("name").cmp(b.metadata("name")))
        .then_with(|| a.text("kind").cmp(b.text("kind")))
        .then_with(|| a.text("apiVersion").cmp(b.text("apiVersion")))
}

/// The name by which resources refer to their owner.
fn id(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind} {namespace}/{name}")
}

fn owner(item: &Item<'_>) -> Result<Option<String>> {
    let owners = item.root().get("metadata").and_then(|metadata| metadata.get("ownerReferences"));
    let Some(owners) = owners else { return Ok(None) };
    let items =
        owners.items().ok_or_else(|| super::wrong_kind("SequenceNode", owners).at(item.document.pos(owners)))?;
    let text = |owner: &Noted<'_>, key: &str| owner.get(key).map(Noted::value).unwrap_or_default().to_owned();
    Ok(items.first().map(|owner| id(&text(owner, "kind"), item.metadata("namespace"), &text(owner, "name"))))
}

fn owners<'a>(arena: Arena<'a>, items: &[Item<'a>], fields: &[Field]) -> Result<Branch> {
    let mut below: BTreeMap<Option<String>, Vec<&Item<'a>>> = BTreeMap::new();
    let mut known: BTreeMap<String, &Item<'a>> = BTreeMap::new();
    for item in items {
        below.entry(owner(item)?).or_default().push(item);
        known.insert(id(item.text("kind"), item.metadata("namespace"), item.metadata("name")), item);
    }
    if let Some(missing) = below.keys().flatten().find(|owner| !known.contains_key(*owner)) {
        let fault = format!("owner '{missing}' not found in input, but found as an owner of input objects");
        return Err(Error::new(Code::Input, fault));
    }
    let mut tree = Branch::new(".");
    owned(arena, &None, &mut below, fields, &mut tree, 0)?;
    Ok(tree)
}

/// The longest chain of owners.
const MAX_DEPTH: usize = 1_000;

/// Adds the resources of an owner, and the resources that these own. Of several owners with one
/// kind, namespace and name, the first one gets the resources. O(resources).
fn owned<'a>(
    arena: Arena<'a>,
    owner: &Option<String>,
    all: &mut BTreeMap<Option<String>, Vec<&Item<'a>>>,
    fields: &[Field],
    into: &mut Branch,
    depth: usize,
) -> Result<()> {
    let Some(items) = all.remove(owner) else { return Ok(()) };
    if depth > MAX_DEPTH {
        let fault = format!("a chain of owners has more than {MAX_DEPTH} resources");
        return Err(Error::new(Code::TooLarge, fault).hint("show the directories: --graph-structure directory"));
    }
    for item in sorted(items) {
        let mut branch = resource(arena, item, "Resource", fields)?;
        let own = id(item.text("kind"), item.metadata("namespace"), item.metadata("name"));
        owned(arena, &Some(own), all, fields, &mut branch, depth + 1)?;
        into.below.push(branch);
    }
    Ok(())
}

/// The branch of a resource, with its fields.
fn resource<'a>(arena: Arena<'a>, item: &Item<'a>, label: &str, fields: &[Field]) -> Result<Branch> {
    let (kind, name, namespace) = (item.text("kind"), item.metadata("name"), item.metadata("namespace"));
    let value = if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") };
    let below = self::fields(arena, item.root(), fields).map_err(|e| e.at(item.document.pos(item.root())))?;
    Ok(Branch { label: Some(label.to_owned()), value, below })
}

/// The fields of one name.
#[derive(Default)]
struct Group {
    value: String,
    /// The values of each container, by its name.
    elements: BTreeMap<String, Vec<(String, String)>>,
}

fn fields<'a>(arena: Arena<'a>, root: &Noted<'a>, fields: &[Field]) -> Result<Vec<Branch>> {
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for field in fields {
        let mut found = query::find(arena, root, &field.path)?;
        if found.is_empty() {
            continue;
        }
        found.iter_mut().for_each(|found| found.node.strip_comments());
        let group = groups.entry(&field.name).or_default();
        let Some(below) = &field.below else {
            group.value = found[0].node.print_in_braces();
            continue;
        };
        for value in found {
            let element = group.elements.entry(value.chosen.join("/")).or_default();
            element.push((below.clone(), value.node.print_in_braces()));
        }
    }
    let mut groups: Vec<(&str, Group)> = groups.into_iter().collect();
    groups.sort_by(|(a, _), (b, _)| filter::compare(a, b));
    Ok(groups.into_iter().map(|(name, group)| branch(name, group)).collect())
}

fn branch(name: &str, group: Group) -> Branch {
    if group.elements.is_empty() {
        return Branch::new(format!("{name}: {}", group.value));
    }
    let mut elements: Vec<_> = group.elements.into_iter().collect();
    elements.sort_by(|(a, _), (b, _)| filter::compare(a, b));
    let element = |(i, (_, mut values)): (usize, (String, Vec<(String, String)>))| {
        values.sort_by(|(a, x), (b, y)| filter::compare(a, b).then_with(|| x.cmp(y)));
        let below = values.into_iter().map(|(name, value)| Branch::new(format!("{name}: {value}"))).collect();
        Branch { below, ..Branch::new(i.to_string()) }
    };
    Branch { below: elements.into_iter().enumerate().map(element).collect(), ..Branch::new(name) }
}
