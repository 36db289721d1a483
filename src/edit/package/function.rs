//! Functions of a directory, for `fn run`: the resources that a function gets, and the place of
//! those that it prints.

use super::annotations::{self, ID, INDEX, PATH};
use super::read::{self, Annotate, Content};
use super::write::{self, Writing};
use super::{Item, comments};
use crate::diag::{Code, Error, Result};
use crate::load::clean;
use crate::schema::Schemas;
use rustomize_yaml::noted::{Document, Noted, Shape};
use rustomize_yaml::{Arena, Scalar, Style};
use std::cmp::Reverse;

/// The directory whose functions are for the directory above it.
const FUNCTIONS: &str = "functions";

/// One call of a function.
pub struct FunctionCall<'c, 'a> {
    /// The configuration of the function.
    pub config: &'c Item<'a>,
    /// True if the function gets all resources, not only those of its directory.
    pub is_global: bool,
    /// True if the configuration is one of the resources.
    pub is_resource: bool,
}

/// Returns true if two items are from one document.
fn is_same(a: &Item<'_>, b: &Item<'_>) -> bool {
    let index = |item: &Item<'_>| annotations::get(item, INDEX[0]).map(str::to_owned);
    path(a).is_some() && path(a) == path(b) && index(a) == index(b)
}

/// The path of an item's file.
fn path<'a>(item: &Item<'a>) -> Option<&'a str> {
    PATH.into_iter().find_map(|key| annotations::get(item, key))
}

/// The directory of a path; a directory for functions counts as the one above it.
fn scope(path: &str) -> String {
    let above = |path: &str| clean(path.rfind('/').map_or("", |i| &path[..i]));
    let directory = above(path);
    let is_functions = directory == FUNCTIONS || directory.ends_with("/functions");
    if is_functions { above(&directory) } else { directory }
}

/// Sorts functions: those of the deepest directories first, those of a file in their order.
pub fn sort(functions: &mut [Item<'_>]) {
    let depth = |scope: &str| if scope == "." { 0 } else { scope.split('/').count() };
    functions.sort_by_cached_key(|item| {
        let file = path(item).unwrap_or_default();
        let scope = scope(file);
        (Reverse(depth(&scope)), scope)
    });
}

impl<'a> FunctionCall<'_, 'a> {
    /// Runs a function: `run` gets a ResourceList and returns what the function prints. Returns the
    /// resources that the function prints and those that it does not get, and its results.
    ///
    /// # Errors
    /// The function fails, or its output is not a list of resources.
    pub fn run(
        &self,
        arena: Arena<'a>,
        items: Vec<Item<'a>>,
        run: impl FnOnce(Vec<u8>) -> Result<Vec<u8>>,
    ) -> Result<(Vec<Item<'a>>, Option<Noted<'a>>)> {
        let directory = path(self.config).map(scope).unwrap_or_default();
        let is_all = self.is_global || directory.is_empty() || directory == ".";
        let is_below = |item: &Item<'a>| path(item).is_some_and(|path| scope(path).starts_with(&directory));
        let (mut given, mut others) = (Vec::new(), Vec::new());
        for item in items {
            let into = if is_all || is_below(&item) { &mut given } else { &mut others };
            into.push(item);
        }
        for (i, item) in given.iter_mut().enumerate() {
            for key in ID {
                annotations::set(arena, item, key, &(i + 1).to_string())?;
            }
        }
        // A function that is one of the resources has the annotations of that resource.
        let own = given.iter().find(|item| self.is_resource && is_same(item, self.config));
        let config = own.unwrap_or(self.config).root().clone();
        let writing = Writing {
            keeps_annotations: true,
            wrapping: Some(("ResourceList", "config.kubernetes.io/v1")),
            function_config: Some(config),
            ..Writing::default()
        };
        let input = write::print(arena, &given, &writing)?;
        let printed = String::from_utf8(run(input.into_bytes())?)
            .map_err(|_| Error::new(Code::BadOutput, "the output of the function is not valid UTF-8"))?;
        let Content { items: mut output, results, .. } =
            read::stream(arena, "the output of the function", printed, Annotate::Index)?;
        let schemas = Schemas::default();
        for item in &mut output {
            let id = ID.into_iter().find_map(|key| annotations::get(item, key));
            let before = id.and_then(|id| given.get(id.parse::<usize>().ok()?.checked_sub(1)?));
            if let Some(before) = before {
                let (from, to) = (before.root(), &mut item.document.root);
                comments::copy(&schemas, from, to);
                comments::sync_order(from, to);
                comments::move_heads(to);
                ID.into_iter().for_each(|key| annotations::clear(item, key));
            }
            set_path(arena, item, &directory)?;
        }
        output.append(&mut others);
        Ok((output, results))
    }
}

/// Sets the path of an item without one: a path made of its kind and name.
pub(super) fn set_path<'a>(arena: Arena<'a>, item: &mut Item<'a>, directory: &str) -> Result<()> {
    annotations::complete(arena, item)?;
    if path(item).is_some() {
        return Ok(());
    }
    let file = format!("{}_{}.yaml", item.text("kind").to_lowercase(), item.metadata("name"));
    let path = clean(&[directory, item.metadata("namespace"), &file].join("/"));
    let path = path.trim_start_matches('/').to_owned();
    PATH.into_iter().try_for_each(|key| annotations::set(arena, item, key, &path))
}

/// A function that the command line names.
#[derive(Clone, Copy, Debug)]
pub enum NamedFunction<'f> {
    Container {
        image: &'f str,
        has_network: bool,
    },
    /// An executable.
    Exec {
        path: &'f str,
    },
}

impl NamedFunction<'_> {
    /// The content of the annotation that names the function.
    pub fn annotation(self) -> String {
        let entry = |key, value| (Noted::text(key), Noted::scalar(Scalar::plain(value)));
        let (kind, entries) = match self {
            NamedFunction::Container { image, has_network: false } => ("container", vec![entry("image", image)]),
            NamedFunction::Container { image, has_network: true } => {
                ("container", vec![entry("image", image), entry("network", "true")])
            }
            NamedFunction::Exec { path } => ("exec", vec![entry("path", path)]),
        };
        let program = Noted::new(Shape::Mapping { entries, in_braces: true });
        Noted::mapping(vec![(Noted::text(kind), program)]).print()
    }
}

/// The configuration of a function that the command line names. `data` has the words after `--`:
/// `[KIND] KEY=VALUE...`.
///
/// # Errors
/// A word is not of this form.
pub fn config<'a>(arena: Arena<'a>, function: NamedFunction<'_>, data: &[String]) -> Result<Item<'a>> {
    let (mut kind, mut entries) = ("ConfigMap", Vec::<(Noted<'a>, Noted<'a>)>::new());
    for (i, word) in data.iter().enumerate() {
        match word.split_once('=') {
            Some((key, value)) => {
                let value = Noted::scalar(Scalar::plain(arena.text(value)));
                match entries.iter_mut().find(|(known, _)| known.value() == key) {
                    Some((_, old)) => *old = value,
                    None => entries.push((Noted::text(arena.text(key)), value)),
                }
            }
            None if i == 0 => kind = arena.text(word),
            None => return Err(Error::new(Code::Usage, "args must have keys and values separated by =")),
        }
    }
    let annotation =
        Noted::scalar(Scalar::new(arena.text(&function.annotation()), Style::Literal, rustomize_yaml::Tag::Str));
    let function = (Noted::text("config.kubernetes.io/function"), annotation);
    let metadata = vec![
        (Noted::text("name"), Noted::text("function-input")),
        (Noted::text("annotations"), Noted::mapping(vec![function])),
    ];
    let root = Noted::mapping(vec![
        (Noted::text("metadata"), Noted::mapping(metadata)),
        (Noted::text("data"), Noted::new(Shape::Mapping { entries, in_braces: true })),
        (Noted::text("kind"), Noted::scalar(Scalar::plain(kind))),
        (Noted::text("apiVersion"), Noted::text("v1")),
    ]);
    Ok(Item { document: Document::new(root) })
}
