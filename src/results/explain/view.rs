//! [`View`]: a traced build for output: resources by their names, places as text, and secret values
//! hidden.

use rustomize_base::meter::FastSet;
use rustomize_base::parallel;
use rustomize_base::shown::{self, says_secret};
use rustomize_engine::diff::secrets::{is_secret_field, is_secret_text, secrets};
use rustomize_engine::resource::{ResId, Resource};
use rustomize_engine::stage::history::{History, StepRole, Write};
use rustomize_engine::workspace::{Output, Printable};
use rustomize_yaml::places::{Places, Spot};
use rustomize_yaml::{Node, Pos, Source};

/// The text that is shown in place of a secret value.
pub const HIDDEN: &str = "(hidden)";

/// A traced build for output.
pub struct View<'o, 'w> {
    /// The kustomization, as the user named it.
    pub root: &'o str,
    pub output: Printable<'o, 'w>,
    pub history: &'o History<'w>,
    places: Places<'w>,
    shows_secrets: bool,
}

/// A resource that is explained.
pub struct Subject<'o, 'w> {
    pub number: u32,
    pub id: ResId<'w>,
    /// `None` if a step has removed the resource.
    pub node: Option<&'o Node<'w>>,
    /// The write that brought the resource.
    pub origin: Option<&'o Write<'w>>,
    /// The write that removed the resource.
    pub removal: Option<&'o Write<'w>>,
}

impl<'o, 'w> View<'o, 'w> {
    /// A view of a build.
    pub fn new(root: &'o str, output: &'o Output<'w>, history: &'o History<'w>, shows_secrets: bool) -> Self {
        View { root, output: output.printable(), history, places: output.places(), shows_secrets }
    }

    /// Cuts `items` into runs, works on these on all cores, and returns the results in their order.
    /// Each thread has a view of its own.
    pub fn on_all_cores<'i, I: Sync, R: Send>(
        &self,
        items: &'i [I],
        work: impl Fn(&View<'o, 'w>, &'i [I]) -> R + Sync,
    ) -> Vec<R> {
        let View { root, output, history, shows_secrets, .. } = *self;
        let work = &work;
        parallel::runs(items, output.threads, || {
            let view = View { root, output, history, places: Places::new(output.heap), shows_secrets };
            move |run| work(&view, run)
        })
    }

    /// The place of a position.
    pub fn spot(&self, pos: Pos) -> Option<Spot<'w>> {
        self.places.spot(pos)
    }

    /// The place of a position, as `FILE:LINE:COLUMN`.
    pub fn place(&self, pos: Pos) -> Option<String> {
        self.spot(pos).map(|spot| format!("{}:{}:{}", shown::masked(&spot.source.name), spot.line, spot.column))
    }

    /// The place of a position, as `FILE:LINE`.
    pub fn line(&self, pos: Pos) -> Option<String> {
        self.line_of(pos).map(|(source, line)| format!("{}:{line}", shown::masked(&source.name)))
    }

    /// The source and the line of a position.
    pub fn line_of(&self, pos: Pos) -> Option<(&'w Source, usize)> {
        self.places.line(pos)
    }

    /// The position that is shown for a write: the position of the new value if it is in a file,
    /// for example in a patch, else that of the entry that asked for the step. For a whole
    /// resource, it is the entry. A value that kept its former position was edited in place, so its
    /// position does not explain the change.
    pub fn cause(&self, write: &Write<'_>) -> Pos {
        let has_place = !write.path.is_empty() && write.value != write.former;
        if has_place && self.is_in_file(write.value) { write.value } else { write.entry }
    }

    /// The step that has generated a resource, if its values are in files: a value of a resource
    /// that was read needs no step beside its place.
    pub fn generator(&self, subject: &Subject<'_, '_>, pos: Pos) -> Option<&'w str> {
        let run = self.history.runs.get(subject.origin?.run as usize)?;
        (run.role != StepRole::Read && self.is_in_file(pos)).then_some(run.step)
    }

    /// Returns true if a position is in a file, and not in a text that a program has printed.
    pub fn is_in_file(&self, pos: Pos) -> bool {
        self.places.outermost(pos).is_some_and(|(source, _)| source.is_file)
    }

    /// The place in a file of a resource that a step has added: the place of its text, or that of
    /// the entry that asked for the step.
    pub fn file_of(&self, write: &Write<'_>) -> Pos {
        if self.is_in_file(write.value) { write.value } else { write.entry }
    }

    /// A resource of the output.
    pub fn subject(&self, resource: &'o Resource<'w>) -> Subject<'o, 'w> {
        let number = resource.number();
        let origin = self.history.writes_of(number).iter().find(|write| write.path.is_empty());
        Subject { number, id: *resource.id(), node: Some(resource.node()), origin, removal: None }
    }

    /// All resources of the output, in its order.
    pub fn subjects(&self) -> impl Iterator<Item = Subject<'o, 'w>> {
        self.output.resources.iter().map(|resource| self.subject(resource))
    }

    /// The resources that a step has removed, in order.
    pub fn removed(&self) -> impl Iterator<Item = Subject<'o, 'w>> {
        self.history.removed().into_iter().map(|(origin, removal)| Subject {
            number: removal.number,
            id: *removal.resource,
            node: None,
            origin: Some(origin),
            removal: Some(removal),
        })
    }

    /// The secret values of a resource. O(its nodes and writes).
    pub fn hidden<'s>(&self, subject: &Subject<'_, 's>) -> Hidden<'s> {
        let mut hidden = Hidden { is_asked: self.shows_secrets, id: subject.id, paths: FastSet::default() };
        if self.shows_secrets {
            return hidden;
        }
        let mut paths = Vec::new();
        subject.node.into_iter().for_each(|node| secrets(subject.id.gvk.kind, node, &mut paths));
        hidden.paths.extend(paths);
        for write in self.history.writes_of(subject.number) {
            let pair = write.path.strip_suffix("/name").or_else(|| write.path.strip_suffix("/key"));
            // Only an item of a list has its name beside its value.
            let is_item = |pair: &&str| pair.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit());
            let pair = pair.filter(is_item);
            let is_secret = || write.before.is_some_and(says_secret) || write.after.is_some_and(says_secret);
            if let Some(pair) = pair.filter(|_| is_secret()) {
                hidden.paths.insert(format!("{pair}/value"));
            }
        }
        hidden
    }
}

/// The values of a resource that are not shown.
pub struct Hidden<'w> {
    /// True if the user asks to see the values of Secrets.
    is_asked: bool,
    id: ResId<'w>,
    /// The JSON pointers of values that are secret by their names, now or before a step.
    paths: FastSet<String>,
}

impl Hidden<'_> {
    /// Returns true if the value of a field must not be shown: it may be secret now, or was at
    /// another path. `paths` are the paths of the field.
    pub fn hides(&self, paths: [&str; 2], value: &str) -> bool {
        let is_by_name = self.hides_field(paths[0]) || paths[0] != paths[1] && self.hides_field(paths[1]);
        is_by_name || self.hides_text(value)
    }

    /// The part of [`Hidden::hides`] that is about a path.
    pub fn hides_field(&self, path: &str) -> bool {
        !self.is_asked && (self.has(path) || is_secret_field(self.id.gvk.kind, path))
    }

    /// The part of [`Hidden::hides`] that is about a value.
    pub fn hides_text(&self, value: &str) -> bool {
        !self.is_asked && is_secret_text(value)
    }

    /// Returns true if the value that a field has now must not be shown.
    pub fn hides_now(&self, path: &str) -> bool {
        !self.is_asked && self.has(path)
    }

    fn has(&self, path: &str) -> bool {
        !self.paths.is_empty() && self.paths.contains(path) || may_be_secret(&self.id, path)
    }

    /// A value of a field, or the text that is shown in its place.
    pub fn shown<'t>(&self, paths: [&str; 2], value: &'t str) -> &'t str {
        if self.hides(paths, value) { HIDDEN } else { value }
    }
}

/// Returns true if a field may hold a secret: any field of a Secret except its identity, and the
/// annotation in which `kubectl apply` keeps the whole Secret.
fn may_be_secret(id: &ResId<'_>, path: &str) -> bool {
    if id.gvk.kind != "Secret" {
        return false;
    }
    let top = path.split('/').nth(1).unwrap_or_default();
    let is_head = ["apiVersion", "kind", "type", "immutable", "metadata"].contains(&top);
    !is_head || path.ends_with("last-applied-configuration")
}

/// A resource as `KIND/NAMESPACE/NAME`, or `KIND/NAME` without a namespace.
pub fn label(id: &ResId<'_>) -> String {
    full(id.gvk.kind, id)
}

/// A resource as `KIND.GROUP/NAMESPACE/NAME`.
pub fn full_label(id: &ResId<'_>) -> String {
    match id.gvk.group {
        "" => label(id),
        group => full(&format!("{}.{group}", id.gvk.kind), id),
    }
}

fn full(kind: &str, id: &ResId<'_>) -> String {
    match id.namespace {
        "" => format!("{kind}/{}", id.name),
        namespace => format!("{kind}/{namespace}/{}", id.name),
    }
}

/// The place of a resource that a step has added: the place of its text, or of the entry.
pub fn origin_of(write: &Write<'_>) -> Pos {
    if write.value.is_in_source() { write.value } else { write.entry }
}
