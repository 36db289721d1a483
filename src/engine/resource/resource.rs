//! [`Resource`]: a node and the build's notes about it.

use super::annotations::INTERNAL;
use super::build_notes::BuildNotes;
use super::changes::Changes;
use super::known::{Known, Touched};
use super::metadata::{hint_of_field, hint_of_name, make_string, mapping_in, set_untyped, stringify};
use super::res_id::UNNAMED;
use super::{Behavior, PreviousId, ResId, Scope};
use crate::config::Written;
use crate::diag::{Code, Error, Result};
use crate::schema::Gvk;
use rustomize_base::meter::{self, ThinList};
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::{
    Arena, Key, Mapping, Node, Pos, Scalar, Style, json,
    shared::{self, Shared},
};
use thin_vec::ThinVec;

/// A resource: its node plus the notes that upstream keeps in internal annotations. The identity is
/// read from the node once. [`super::ResMap`] reads it again after edits that may change it, and so
/// does [`Resource::edit`], between two edits of one pass.
#[derive(Clone, Debug)]
pub struct Resource<'a> {
    node: Node<'a>,
    id: ResId<'a>,
    previous: ThinList<PreviousId<'a>>,
    prefixes: ThinVec<&'a str>,
    suffixes: ThinVec<&'a str>,
    /// Set on resources that generators made.
    pub behavior: Option<Behavior>,
    /// True if the name gets a hash of the content at the end.
    pub needs_hash: bool,
    known: Known,
    /// The numbers of the shared values of the node.
    numbers: shared::Numbers,
    /// Facts that few builds ask for.
    notes: Option<Box<BuildNotes<'a>>>,
}

/// The annotations of a manifest or patch, if one of them is upstream's own.
pub fn internal_annotations<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Mapping<'a>> {
    let annotations = node.get("metadata")?.get("annotations")?.as_mapping()?;
    annotations.iter().any(|entry| entry.key().text().starts_with(INTERNAL)).then_some(annotations)
}

impl<'a> Resource<'a> {
    /// Makes a resource of a node.
    ///
    /// # Errors
    /// The node is not a mapping, or kind or name are missing; kinds that end in `List` need no
    /// name.
    pub fn new(arena: Arena<'a>, node: Node<'a>) -> Result<Self> {
        let pos = node.pos();
        let fault = |message: String| Error::new(Code::NotAResource, message).at(pos);
        if node.as_mapping().is_none() {
            let is_operation = |item: &Node<'_>| item.get("op").is_some();
            let hint = match node.as_sequence() {
                Some(items) if items.iter().any(is_operation) => {
                    "this is a JSON patch: list it under 'patches', as in patches: [{path: patch.yaml, target: {kind: Deployment}}]"
                }
                Some(_) => "write the objects one after the other, with a line '---' between two",
                None => "each document must be an object with apiVersion, kind and metadata.name",
            };
            let message = format!("missing Resource metadata: expected a mapping, found {}", node.shape());
            return Err(fault(message).hint(hint));
        }
        let mut resource = Resource::unchecked(node);
        let (id, node) = (&resource.id, &resource.node);
        if node.get_text("kind").is_none_or(str::is_empty) {
            let has = |field: &str| node.get("metadata")?.get(field).filter(|n| !n.is_null_or_empty());
            let says_nothing = node.get_text("apiVersion").is_none() && node.get_text("kind").is_none();
            if says_nothing && !["name", "namespace", "labels", "annotations"].into_iter().any(|f| has(f).is_some()) {
                let hint = "this does not look like a Kubernetes object; if it is meant for a generator, name it there";
                return Err(fault("missing Resource metadata".into()).hint(hint));
            }
            let hint = hint_of_field(Some(node), "kind", "add the field 'kind', as in kind: ConfigMap");
            return Err(fault(format!("missing kind in {id}")).hint(hint));
        }
        if id.name.is_empty() && !id.gvk.kind.ends_with("List") {
            return Err(fault(format!("missing metadata.name in {id}")).hint(hint_of_name(&resource.node)));
        }
        resource.share_kind(arena);
        resource.adopt_own_history()?;
        Ok(resource)
    }

    /// Refuses annotations that are a list with an odd number of items. Upstream reads a list whose
    /// items are keys and values by turns as a map.
    ///
    /// # Errors
    /// The list has an odd number of items.
    pub fn check_annotations(&self) -> Result<()> {
        let annotations = self.node.get("metadata").and_then(|m| m.get("annotations"));
        match annotations.and_then(Node::as_sequence) {
            Some(items) if items.len() % 2 == 1 => {
                let message = format!("the annotations of {} are a list, not a mapping", self.id);
                Err(Error::new(Code::WrongType, message)
                    .at(annotations.map_or(Pos::NONE, |a| a.pos()))
                    .hint("write annotations as lines of 'name: value'"))
            }
            _ => Ok(()),
        }
    }

    /// Replaces apiVersion and kind by texts that all resources share, because they are compared
    /// very often.
    fn share_kind(&mut self, arena: Arena<'a>) {
        let mut share = |field: &str| {
            let value = self.node.as_mapping_mut().and_then(|m| m.get_mut(field));
            value.and_then(|node| node.intern(|text| arena.shared_text(text))).unwrap_or_default()
        };
        let gvk = Gvk::new(share("apiVersion"), share("kind"));
        self.id = ResId::new(gvk, self.id.name, self.id.namespace);
    }

    /// Makes a resource of a node that is known to have kind and name.
    pub fn unchecked(node: Node<'a>) -> Self {
        Resource {
            id: read_id(&node, &ResId::default()),
            node,
            previous: ThinList::new(),
            prefixes: ThinVec::new(),
            suffixes: ThinVec::new(),
            behavior: None,
            needs_hash: false,
            known: Known::default(),
            numbers: shared::Numbers::default(),
            notes: None,
        }
    }

    /// The facts that only few builds need, if there are any.
    pub fn notes(&self) -> Option<&BuildNotes<'a>> {
        meter::count(1);
        self.notes.as_deref()
    }

    /// The number by which a trace knows the resource; 0 if it has none.
    pub fn number(&self) -> u32 {
        self.notes.as_ref().map_or(0, |notes| notes.number)
    }

    /// Sets the number by which a trace knows the resource.
    pub fn set_number(&mut self, number: u32) {
        self.notes_mut().number = number;
    }

    /// The facts that only few builds need; an empty set is made if there are none.
    pub fn notes_mut(&mut self) -> &mut BuildNotes<'a> {
        self.notes.get_or_insert_default()
    }

    /// Names of the vars whose values this resource has.
    pub fn vars(&self) -> &[&'a str] {
        self.notes().map_or(&[], |notes| &notes.vars)
    }

    /// The current identity.
    pub fn id(&self) -> &ResId<'a> {
        meter::count(1);
        &self.id
    }

    /// The oldest identity: the first previous one, or the current one.
    pub fn original_id(&self) -> ResId<'a> {
        self.previous.first().map_or(self.id, |p| self.with_history(p))
    }

    /// Identities the resource has had, oldest first, without the current one.
    pub fn previous(&self) -> &ThinList<PreviousId<'a>> {
        meter::count(1);
        &self.previous
    }

    pub(crate) fn set_previous(&mut self, previous: Vec<PreviousId<'a>>) {
        self.previous = previous.into();
    }

    /// Name prefixes that were added, innermost first.
    pub fn prefixes(&self) -> &[&'a str] {
        &self.prefixes
    }

    /// Name suffixes that were added, innermost first.
    pub fn suffixes(&self) -> &[&'a str] {
        &self.suffixes
    }

    /// Notes a prefix that is added to the name.
    pub fn add_prefix(&mut self, prefix: &'a str) {
        self.prefixes.push(prefix);
    }

    /// Notes a suffix that is added to the name.
    pub fn add_suffix(&mut self, suffix: &'a str) {
        self.suffixes.push(suffix);
    }

    pub(crate) fn set_prefixes(&mut self, prefixes: impl Iterator<Item = &'a str>) {
        self.prefixes = prefixes.collect();
    }

    pub(crate) fn set_suffixes(&mut self, suffixes: impl Iterator<Item = &'a str>) {
        self.suffixes = suffixes.collect();
    }

    /// All identities, previous ones first.
    pub fn any_ids(&self) -> impl Iterator<Item = ResId<'a>> + '_ {
        self.ids_from(0)
    }

    /// All identities from number `first` on, the current one last.
    pub fn ids_from(&self, first: usize) -> impl Iterator<Item = ResId<'a>> + '_ {
        self.previous.iter().skip(first).map(|p| self.with_history(p)).chain(std::iter::once(self.id))
    }

    /// Returns true if the resource has or had the identity. O(1) for the current one.
    pub fn has_or_had(&self, id: &ResId<'_>) -> bool {
        self.id == *id || self.previous.iter().rev().any(|p| p.name == id.name && self.with_history(p) == *id)
    }

    fn with_history(&self, p: &PreviousId<'a>) -> ResId<'a> {
        ResId::new(Gvk { kind: p.kind, ..self.id.gvk }, p.name, p.namespace)
    }

    /// Returns true if the kind is still the one that the resource had at first.
    pub fn keeps_kind(&self) -> bool {
        self.previous.first().is_none_or(|first| first.kind == self.id.gvk.kind)
    }

    /// Remembers the current identity, before a step that may change it.
    pub fn record_previous(&mut self) {
        if self.previous.is_empty() {
            self.clear_empty_annotations();
        }
        let id = &self.id;
        // Few resources have more than a few: doubling would keep more room than is used.
        if self.previous.len() == self.previous.capacity() {
            self.previous.reserve_exact((self.previous.len() / 2).max(2));
        }
        let noted = PreviousId { kind: id.gvk.kind, name: id.name, namespace: id.effective_namespace() };
        self.previous.push(noted);
        // A note with all its parts adds one item to each of upstream's lists: if their lengths
        // differ, they still do.
        if noted.name.is_empty() || noted.kind.is_empty() {
            self.close_gaps();
        }
    }

    /// Puts former names, kinds and namespaces together as upstream does, which keeps a list of
    /// each without the empty ones: a name of one note and a kind of another are one identity if
    /// the lists have one length. O(history).
    fn close_gaps(&mut self) {
        let list = |part: fn(&PreviousId<'a>) -> &'a str| -> Vec<&'a str> {
            self.previous.iter().map(part).filter(|text| !text.is_empty()).collect()
        };
        let (names, kinds, namespaces) = (list(|p| p.name), list(|p| p.kind), list(|p| p.namespace));
        if names.len() == kinds.len() && names.len() == namespaces.len() {
            let parts = names.into_iter().zip(kinds).zip(namespaces);
            self.previous = parts.map(|((name, kind), namespace)| PreviousId { kind, name, namespace }).collect();
        }
    }

    /// Removes annotations that are empty or a scalar, as upstream does before it notes the first
    /// identity there.
    fn clear_empty_annotations(&mut self) {
        let annotations = self.node.get("metadata").and_then(|m| m.get("annotations"));
        let holds_nothing = |node: &Node<'_>| node.as_scalar().is_some() || node.is_null_or_empty();
        if annotations.is_some_and(holds_nothing)
            && let Some(metadata) = self.node.as_mapping_mut().and_then(|m| m.get_mut("metadata"))
        {
            metadata.as_mapping_mut().map(|m| m.remove("annotations"));
            self.known = self.known.after_edit_in_form();
        }
    }

    /// As [`Resource::adopt_history`], for the resource's own annotations.
    ///
    /// # Errors
    /// The numbers of former names, former namespaces and former kinds differ.
    fn adopt_own_history(&mut self) -> Result<()> {
        let Some(annotations) = internal_annotations(&self.node).cloned() else { return Ok(()) };
        if self.adopt_history(&annotations) {
            return Ok(());
        }
        let message = format!(
            "the annotations of {} do not have as many previousNamespaces and previousKinds as previousNames",
            self.id
        );
        Err(Error::new(Code::WrongType, message)
            .at(self.node.pos())
            .hint("remove the annotations internal.config.kubernetes.io/previous*: the tool makes them"))
    }

    /// Refuses a history in which an identity lacks its name or kind. Upstream keeps a list of
    /// former names and one of former kinds, without the empty ones, and fails if they have
    /// different lengths. It does not look at them if there is no name at all. A single name may
    /// have come from a manifest, without a kind. O(history).
    ///
    /// # Errors
    /// One of several former identities lacks its name or kind.
    pub fn check_history(&self) -> Result<()> {
        let lacks_any = self.previous.iter().any(|p| p.name.is_empty() || p.kind.is_empty());
        if self.previous.len() < 2 || !lacks_any || self.previous.iter().all(|p| p.name.is_empty()) {
            return Ok(());
        }
        let error = Error::new(Code::NotAResource, format!("missing an earlier name or kind in {}", self.id));
        Err(error.at(self.pos()).hint("a patch or transformer has taken it away"))
    }

    /// Reads the annotations in which upstream keeps a history, from a manifest that has them by
    /// hand or from a patch that was merged into the resource. Each of them replaces the value that
    /// the resource had. `annotations` is the result of [`internal_annotations`]. Returns true if
    /// the numbers of former names, former namespaces and former kinds are equal; surplus items are
    /// ignored.
    pub fn adopt_history(&mut self, annotations: &Mapping<'a>) -> bool {
        let list = |name: &str| {
            let entry = annotations.iter().find(|e| e.key().text().strip_prefix(INTERNAL) == Some(name))?;
            Some(entry.value().scalar_text().split(',').collect::<ThinVec<&'a str>>())
        };
        // An empty item did not come from an annotation: upstream's list does not contain it.
        let former = |name: &str, part: fn(&PreviousId<'a>) -> &'a str| {
            let known = || self.previous.iter().map(part).filter(|item| !item.is_empty()).collect::<ThinVec<&'a str>>();
            list(name).or_else(|| Some(known()).filter(|known| !known.is_empty()))
        };
        let names = former("previousNames", |p| p.name);
        // An annotation without text is one empty item.
        let namespaces = former("previousNamespaces", |p| p.namespace).unwrap_or_else(|| [""].into());
        let kinds = former("previousKinds", |p| p.kind).unwrap_or_else(|| [""].into());
        let (prefixes, suffixes) = (list("prefixes"), list("suffixes"));
        let mut are_as_many = true;
        if let Some(names) = names {
            are_as_many = [namespaces.len(), kinds.len()] == [names.len(); 2];
            let ids = names.into_iter().zip(namespaces).zip(kinds);
            self.previous = ids.map(|((name, namespace), kind)| PreviousId { kind, name, namespace }).collect();
        }
        self.prefixes = prefixes.unwrap_or_else(|| std::mem::take(&mut self.prefixes));
        self.suffixes = suffixes.unwrap_or_else(|| std::mem::take(&mut self.suffixes));
        are_as_many
    }

    /// Returns true if upstream keeps notes about this resource in annotations while it builds the
    /// layers.
    pub fn has_notes(&self) -> bool {
        let is_noted = |notes: &BuildNotes<'a>| {
            let allows_change = notes.allows_name_change || notes.allows_kind_change;
            let is_transformed = notes.origin.is_some() || !notes.transformations.is_empty();
            allows_change || is_transformed || notes.helm_generated
        };
        let has_affixes = !self.prefixes.is_empty() || !self.suffixes.is_empty();
        let is_generated = self.behavior.is_some() || self.needs_hash;
        !self.previous.is_empty() || has_affixes || is_generated || self.notes.as_deref().is_some_and(is_noted)
    }

    /// Forgets the notes that upstream keeps in internal annotations, as a patch does that removes
    /// all annotations. Variables, which upstream keeps beside the annotations, stay.
    pub fn forget_history(&mut self) {
        self.previous.clear();
        self.prefixes.clear();
        self.suffixes.clear();
        self.behavior = None;
        self.needs_hash = false;
        self.notes = self.notes.take().map(|notes| {
            let BuildNotes { vars, scope, number, .. } = *notes;
            Box::new(BuildNotes { vars, scope, number, ..BuildNotes::default() })
        });
    }

    /// Takes over the history and the options of `old`, the resource that this one replaces;
    /// upstream keeps them in annotations. If the two are merged, the origin is taken over as well.
    pub fn inherit(&mut self, old: &Resource<'a>, is_merge: bool) {
        self.behavior = old.behavior;
        self.needs_hash &= old.needs_hash;
        self.prefixes.clone_from(&old.prefixes);
        self.suffixes.clone_from(&old.suffixes);
        self.previous.clone_from(&old.previous);
        if let Some(notes) = old.notes() {
            let origin = if is_merge { notes.origin } else { self.notes().and_then(|own| own.origin) };
            *self.notes_mut() = BuildNotes { origin, ..notes.clone() };
        }
    }

    /// Returns true if the node is known to be in the form that a detour through JSON gives it.
    pub fn is_in_json_form(&self) -> bool {
        self.known.is_in_json_form
    }

    /// Notes that the node is in the form that a detour through JSON gives it.
    pub fn note_json_form(&mut self) {
        self.known.is_in_json_form = true;
    }

    /// Returns true if a JSON patch may change the text of the apiVersion, kind, name or namespace:
    /// upstream turns the resource into JSON and back, and values like `1.0`, `0x1F` and `~`, which
    /// YAML does not read as text, are written in another way then.
    pub fn may_be_respelled(&self) -> bool {
        let is_other = |node: &Node<'_>| node.as_scalar().is_some_and(|s| s.kind() != Kind::Str);
        let has_other = |node: &Node<'_>, keys: [&str; 2]| keys.iter().any(|key| node.get(key).is_some_and(is_other));
        !self.known.is_in_json_form
            && (has_other(&self.node, ["apiVersion", "kind"])
                || self.node.get("metadata").is_some_and(|metadata| has_other(metadata, ["name", "namespace"])))
    }

    /// Returns true if the kind is missing, empty or printed as null.
    pub fn lacks_kind(&self) -> bool {
        let is_plain = || self.node.get("kind").and_then(Node::as_scalar).is_some_and(|s| s.style() == Style::Plain);
        let kind = self.id.gvk.kind;
        kind.is_empty() || scalar::is_null(kind) && is_plain()
    }

    /// Returns true if the metadata is null. Upstream sets fields of such metadata without effect.
    pub fn has_null_metadata(&self) -> bool {
        self.node.get("metadata").is_some_and(Node::is_null)
    }

    /// Returns true if `data` and `binaryData` are known to hold texts as a generator writes them.
    pub fn data_is_text(&self) -> bool {
        self.known.has_text_data
    }

    /// Notes that `data` and `binaryData` hold texts as a generator writes them.
    pub fn note_text_data(&mut self) {
        self.known.has_text_data = true;
    }

    /// The node.
    pub fn node(&self) -> &Node<'a> {
        meter::count(1);
        &self.node
    }

    /// The node, for an edit. The known facts about it are forgotten.
    pub fn node_mut(&mut self) -> &mut Node<'a> {
        self.node_mut_below("")
    }

    /// As [`Resource::node_mut`], for an edit that changes nothing but a field of the node.
    pub fn node_mut_below(&mut self, field: &str) -> &mut Node<'a> {
        meter::count(1);
        self.known = self.known.after_edit_below(field);
        &mut self.node
    }

    /// Takes the node out, for an edit of names in it that needs the resource beside it. Until
    /// [`Resource::put_node`] is called the resource is empty.
    pub fn take_node(&mut self) -> Node<'a> {
        meter::count(1);
        std::mem::take(&mut self.node)
    }

    /// Puts the node back that [`Resource::take_node`] took out. Other names leave it in the form
    /// that it had.
    pub fn put_node(&mut self, node: Node<'a>) {
        meter::count(1);
        self.known = self.known.after_edit_in_form();
        self.node = node;
    }

    /// Lets `edit` change the resource, and reads the identity again if `changes` says that it may
    /// be another one.
    ///
    /// # Errors
    /// The errors of the edit.
    pub fn edit<T>(&mut self, changes: Changes, edit: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let edited = edit(self)?;
        if changes != Changes::Content {
            self.refresh_id();
        }
        Ok(edited)
    }

    /// The part of the node that may have changed since the last call, or since it was made.
    pub fn take_touched(&mut self) -> Touched {
        self.known.take_touched()
    }

    /// The numbers of the shared values of the node.
    pub fn numbers(&mut self) -> &mut shared::Numbers {
        &mut self.numbers
    }

    /// Returns true if several places of the node may share a value.
    pub fn shares_values(&self) -> bool {
        self.known.shares_values
    }

    /// Says that several places of the node share a value ([`shared`]).
    pub fn mark_shared(&mut self) {
        self.known.shares_values = true;
    }

    /// Copies a change of a shared value to all its places. O(1) if no value is shared, else
    /// O(nodes).
    pub fn settle_shared(&mut self) {
        if self.known.shares_values {
            self.known = self.known.after_edit_in_form();
            shared::settle(&mut self.node);
        }
    }

    /// Sets shared values in all their places, for the entry at `by`. O(1) if no value is shared,
    /// else O(nodes).
    pub fn set_shared(&mut self, values: &[(Shared, Scalar<'a>)], by: Pos) {
        if self.known.shares_values && !values.is_empty() {
            self.known = self.known.after_edit_in_form();
            shared::set(&mut self.node, values, by);
        }
    }

    /// Separates shared values: every place gets a value of its own. O(1) if no value is shared,
    /// else O(nodes).
    pub fn unshare(&mut self) {
        if std::mem::take(&mut self.known.shares_values) {
            shared::unshare(&mut self.node);
        }
    }

    /// As [`Resource::unshare`], for the annotations alone. O(annotations).
    pub fn unshare_annotations(&mut self) {
        let metadata = self.node.as_mapping_mut().and_then(|m| m.get_mut("metadata")).and_then(Node::as_mapping_mut);
        if let Some(annotations) = metadata.and_then(|m| m.get_mut("annotations")) {
            shared::unshare(annotations);
        }
    }

    /// Returns the node and drops the rest.
    pub fn into_node(self) -> Node<'a> {
        self.node
    }

    /// Notes the scope of the kind, which is part of the identity.
    pub fn set_scope(&mut self, scope: Scope) {
        self.notes_mut().scope = Some(scope);
        self.refresh_id();
    }

    /// Reads the identity from the node again.
    pub(super) fn refresh_id(&mut self) {
        self.id = self.id_with(&self.node);
    }

    /// The identity that this resource has if its node is `node`.
    pub fn id_with(&self, node: &Node<'a>) -> ResId<'a> {
        let id = read_id(node, &self.id);
        self.notes().and_then(|notes| notes.scope).map_or(id, |scope| id.in_scope(scope))
    }

    /// Sets the identity, which was read from the node.
    pub(super) fn set_id(&mut self, id: ResId<'a>) {
        self.id = id;
    }

    fn metadata_entry(&self, map: &str, key: &str) -> Option<&'a str> {
        let value = self.node.get("metadata")?.get(map)?.get(key)?;
        Some(value.scalar_text())
    }

    /// The text of a label, which is empty for a list and a mapping, as in upstream.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.metadata_entry("labels", key)
    }

    /// The text of an annotation, which is empty for a list and a mapping, as in upstream.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.metadata_entry("annotations", key)
    }

    /// Returns true if a transformer has emptied this resource.
    pub fn is_deleted(&self) -> bool {
        self.node.is_null_or_empty()
    }

    /// Empties this resource: see [`Resource::is_deleted`].
    pub fn clear(&mut self) {
        *self.node_mut() = Node::null();
    }

    /// The place of the resource in its source.
    pub fn pos(&self) -> Pos {
        self.node.pos()
    }

    /// `metadata`, made if it is missing or null.
    pub fn metadata_mut(&mut self) -> Option<&mut Mapping<'a>> {
        mapping_in(self.node_mut_below("metadata").as_mapping_mut()?, "metadata")
    }

    /// Sets `metadata.name`, as [`set_untyped`] does.
    pub fn set_name(&mut self, name: &'a str) {
        if let Some(metadata) = self.metadata_mut() {
            set_untyped(metadata, "name", name);
        }
    }

    /// Sets `metadata.namespace`, as [`set_untyped`] does; an empty one is removed.
    pub fn set_namespace(&mut self, namespace: &'a str) {
        match self.metadata_mut() {
            Some(metadata) if namespace.is_empty() => drop(metadata.remove("namespace")),
            Some(metadata) => set_untyped(metadata, "namespace", namespace),
            None => {}
        }
    }

    /// Adds string entries, each with its place, to `metadata.<map>`; they replace others.
    pub fn add_metadata_entries(&mut self, map: &'a str, entries: impl IntoIterator<Item = (&'a str, Written<'a>)>) {
        let mut entries = entries.into_iter().peekable();
        if entries.peek().is_none() {
            return;
        }
        if let Some(into) = self.metadata_mut().and_then(|m| mapping_in(m, map)) {
            for (key, value) in entries {
                into.insert(Key::made(key, value.pos), Node::new(json::new_string(value.text), value.pos));
            }
        }
    }

    /// Removes an annotation; an annotations map that is empty then is removed as well.
    pub fn take_annotation(&mut self, key: &str) -> Option<Scalar<'a>> {
        self.annotation(key)?;
        let metadata = self.metadata_mut()?;
        let annotations = metadata.get_mut("annotations")?.as_mapping_mut()?;
        let taken = annotations.remove(key);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
        taken?.as_scalar().copied()
    }

    /// Removes annotations, and returns their texts: a value that is not a scalar has an empty one.
    /// The node stays in the form that it had.
    pub fn remove_annotations<const N: usize>(&mut self, keys: [&str; N]) -> [Option<&'a str>; N] {
        let metadata = self.node.as_mapping_mut().and_then(|root| root.get_mut("metadata"));
        let annotations = metadata.and_then(Node::as_mapping_mut).and_then(|m| m.get_mut("annotations"));
        let Some(annotations) = annotations.and_then(Node::as_mapping_mut) else { return [None; N] };
        self.known = self.known.after_edit_in_form();
        keys.map(|key| annotations.remove(key).map(|value| value.scalar_text()))
    }

    /// Turns `metadata.<map>` into a map of strings: a scalar becomes its text, without its style,
    /// and other values become empty. An empty or null map is removed.
    pub fn stringify_metadata(&mut self, map: &'a str) {
        if self.node.get("metadata").and_then(|m| m.get(map)).is_none() {
            return;
        }
        if let Some(metadata) = self.metadata_mut() {
            stringify(metadata, map);
        }
    }

    /// As [`Resource::stringify_metadata`] for the annotations in `keys`; the other annotations are
    /// strings already. O(keys x log annotations).
    pub fn stringify_annotations(&mut self, keys: &[&str]) {
        self.known = self.known.after_edit_in_form();
        let Some(metadata) = self.node.as_mapping_mut().and_then(|root| root.get_mut("metadata")) else { return };
        let Some(metadata) = metadata.as_mapping_mut() else { return };
        match metadata.get_mut("annotations").map(Node::as_mapping_mut) {
            Some(Some(annotations)) if !annotations.is_empty() => {
                for key in keys {
                    annotations.get_mut(key).into_iter().for_each(make_string);
                }
            }
            Some(_) => stringify(metadata, "annotations"),
            None => {}
        }
    }
}

/// Reads the identity of an object, which has had the identity `known`.
fn read_id<'a>(node: &Node<'a>, known: &ResId<'a>) -> ResId<'a> {
    // Upstream takes the spelling of a null for a version and for a kind, not for a name.
    let [api_version, kind] = ["apiVersion", "kind"].map(|key| node.get(key).map_or("", Node::scalar_text));
    let metadata = node.get("metadata");
    let name = metadata.and_then(|m| m.get_text("name")).unwrap_or_default();
    let namespace = metadata.and_then(|m| m.get_text("namespace")).unwrap_or(UNNAMED);
    if known.gvk.is_made_of(api_version, kind) {
        known.renamed(name, namespace)
    } else {
        ResId::new(Gvk::new(api_version, kind), name, namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::{ResId, Resource};

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_resource_is_small() {
        assert_eq!([size_of::<ResId<'_>>(), size_of::<Resource<'_>>()], [96, 160]);
    }
}
