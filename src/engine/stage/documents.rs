//! From documents to resources: empty ones are dropped, lists are replaced by their items.

use super::Build;
use crate::diag::{Code, Error, Errors, Result};
use crate::resource::{RESOURCE, Resource};
use rustomize_base::memory;
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Malformed, Node, Source, read_documents, reprint};

/// The resources of a text.
pub struct Resources<'a> {
    /// In the order of the text, but for the items of lists, which come last.
    pub all: Vec<Resource<'a>>,
    /// The faults of annotations; see [`Resource::check_annotations`].
    pub annotations: Result<()>,
}

/// Reads a text and makes resources of its documents, which do not know their scope yet. Each is
/// made on the thread that has read it. `malformed` makes the error of a text that is not YAML.
/// O(text), on all cores if it is large.
///
/// # Errors
/// The text is not valid YAML; else all documents that lack a kind or name, and all lists whose
/// items are not a list.
pub fn resources_in<'a>(
    arena: Arena<'a>,
    source: &'a Source,
    malformed: impl Fn(Malformed) -> Error,
) -> Result<Resources<'a>> {
    if source.note_read() {
        memory::made(source.text.len());
        arena.check()?;
    }
    let mut runs = read_documents(arena, source, &Made::of, &Made::add).map_err(malformed)?;
    let mut read = runs.iter_mut().filter(|run| run.count > 0);
    if let (Some(run), None) = (read.next(), read.next())
        && let Some(only) = run.first.take_if(|_| run.count == 1)
    {
        return in_rounds(arena, unwrap_list(only), Vec::new());
    }
    runs.iter_mut().for_each(|run| run.finish(arena));
    in_rounds(arena, Vec::new(), runs)
}

/// As [`resources_in`]; each resource has the scope that the build's schema gives its kind.
///
/// # Errors
/// As [`resources_in`].
pub fn scoped_resources_in<'a>(
    build: &mut Build<'a>,
    source: &'a Source,
    malformed: impl Fn(Malformed) -> Error,
) -> Result<Vec<Resource<'a>>> {
    let mut resources = resources_in(build.arena, source, malformed)?.all;
    build.schema.note_scope(build.arena, &mut resources)?;
    Ok(resources)
}

/// As [`scoped_resources_in`], of documents that were not read as YAML, or whose reader looks at
/// them first. O(n), on all cores if there are many.
///
/// # Errors
/// All documents without kind or name, and all lists whose items are not a list.
pub fn documents_to_resources<'a>(build: &mut Build<'a>, nodes: Vec<Node<'a>>) -> Result<Vec<Resource<'a>>> {
    let nodes: Vec<Node<'a>> = match <[Node<'a>; 1]>::try_from(nodes) {
        Ok([only]) => unwrap_list(only),
        Err(nodes) => nodes,
    };
    let mut resources = in_rounds(build.arena, nodes, Vec::new())?.all;
    build.schema.note_scope(build.arena, &mut resources)?;
    Ok(resources)
}

/// Makes resources of documents, then of the items of lists among them, and so on, and appends them
/// to `made`.
fn in_rounds<'a>(arena: Arena<'a>, mut nodes: Vec<Node<'a>>, mut made: Vec<Made<'a>>) -> Result<Resources<'a>> {
    let count = made.iter().map(|run| run.resources.len()).sum::<usize>() + nodes.len();
    let mut all = made.first_mut().map_or_else(Vec::new, |first| std::mem::take(&mut first.resources));
    all.reserve_exact(count - all.len());
    let (mut faults, mut annotations) = (Errors::default(), Errors::default());
    loop {
        for run in made {
            all.extend(run.resources);
            nodes.extend(run.items);
            faults.note(run.faults.end(()));
            annotations.note(run.annotations.end(()));
        }
        if nodes.is_empty() {
            return faults.end(Resources { all, annotations: annotations.end(()) });
        }
        let of_run = |arena| {
            move |run: &mut [Node<'a>]| {
                let mut made = Made::of(run.len());
                run.iter_mut().for_each(|node| made.sort(arena, std::mem::take(node)));
                made
            }
        };
        let (others, threads) = (arena.others(), arena.threads(nodes.len() * RESOURCE));
        made = match threads {
            1 => vec![of_run(arena)(&mut nodes)],
            _ => parallel::runs_mut(&mut nodes, threads, || of_run(others.arena())),
        };
        nodes.clear();
    }
}

/// The resources of a run of documents, the items of its lists, and its faults.
#[derive(Default)]
struct Made<'a> {
    /// How many documents there are.
    count: usize,
    /// The first one. It waits for the second: the only document of a text is treated in its own
    /// way.
    first: Option<Node<'a>>,
    resources: Vec<Resource<'a>>,
    /// The items of lists: documents that are still to be looked at.
    items: Vec<Node<'a>>,
    /// The reasons why some of them are not resources.
    faults: Errors,
    /// The faults of annotations.
    annotations: Errors,
}

impl<'a> Made<'a> {
    /// An empty list, with room for the resources of this many documents.
    fn of(documents: usize) -> Self {
        Made { resources: Vec::with_capacity(documents), ..Made::default() }
    }

    /// Adds the next document of a text.
    fn add(&mut self, arena: Arena<'a>, node: Node<'a>) {
        self.count += 1;
        if self.count == 1 {
            self.first = Some(node);
        } else {
            self.finish(arena);
            self.sort(arena, node);
        }
    }

    /// Adds the document that waits.
    fn finish(&mut self, arena: Arena<'a>) {
        if let Some(first) = self.first.take() {
            self.sort(arena, first);
        }
    }

    /// Adds a document to the resources, or to the lists whose items are still to be read.
    fn sort(&mut self, arena: Arena<'a>, node: Node<'a>) {
        let sorted = self.try_sort(arena, node);
        self.faults.note(sorted);
    }

    fn try_sort(&mut self, arena: Arena<'a>, mut node: Node<'a>) -> Result<()> {
        if node.is_null_or_empty() && !is_empty_text(&node) {
            return Ok(());
        }
        if node.get_text("kind").is_some_and(|kind| kind.ends_with("List")) {
            // Upstream decodes a list as a whole, and looks for items then.
            reprint::make_keys_texts(arena, &mut node);
            reprint::check_decoded(&node)?;
            if let Some(items) = node.as_mapping_mut().and_then(|m| m.remove("items")) {
                return add_items(arena, &node, items, &mut self.items);
            }
            if !arena.compat().keeps_lists_without_items() {
                return Ok(());
            }
        }
        let resource = Resource::new(arena, node)?;
        self.annotations.note(resource.check_annotations());
        self.resources.push(resource);
        Ok(())
    }
}

/// Adds the items of a list to the documents that are still to be looked at.
fn add_items<'a>(arena: Arena<'a>, list: &Node<'a>, items: Node<'a>, nodes: &mut Vec<Node<'a>>) -> Result<()> {
    match items.into_sequence() {
        Ok(items) => {
            for mut item in items {
                reprint::through_map(arena, &mut item)?;
                nodes.extend(unwrap_list(item));
            }
        }
        Err(items) if items.is_null() => {}
        Err(items) => {
            let kind = list.get_text("kind").unwrap_or_default();
            let message = format!("expected array in {kind}/items, but found {}", items.shape());
            return Err(Error::new(Code::WrongType, message).at(items.pos()));
        }
    }
    Ok(())
}

/// The items of a `List` or `ResourceList` that is the only document of its file; else the document
/// itself.
fn unwrap_list(mut node: Node<'_>) -> Vec<Node<'_>> {
    let is_list = matches!(node.get_text("kind"), Some("List" | "ResourceList"));
    if !is_list || (node.get("items").is_none() && node.get("functionConfig").is_none()) {
        return vec![node];
    }
    match node.as_mapping_mut().and_then(|m| m.remove("items")).map(Node::into_sequence) {
        Some(Ok(items)) => items.into_iter().collect(),
        // Upstream takes the items of a node without a look at its shape: a text has none.
        None => Vec::new(),
        Some(Err(other)) if other.as_scalar().is_some() => Vec::new(),
        Some(Err(other)) => {
            if let Some(m) = node.as_mapping_mut() {
                m.insert("items", other);
            }
            vec![node]
        }
    }
}

/// An empty text in quotes is a document, and no resource.
fn is_empty_text(node: &Node<'_>) -> bool {
    node.as_scalar().is_some_and(|s| !s.is_null())
}
