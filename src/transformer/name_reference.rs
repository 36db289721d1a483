//! NameReferenceTransformer: makes references follow the names that changed.
//!
//! *Selects*: resources with fields that refer to others: the tables of [`crate::config::defaults`] and what `configurations` and
//! `crds` add.
//! *Writes*: names, and namespaces where the reference is a mapping.
//! *Order*: once, at the root, after the hashes: names are final then.
//! *Cost*: O(nodes on the paths of references + references). All paths of a kind are one trie, so that a resource is walked once;
//! candidates are found by kind, old name and namespace.
//! *Quirks*: a JSON patch of `patches` that renames is followed, one of `patchesJson6902` is not (cases
//! ref-follows-json-patch-rename and ref-ignores-patchesjson6902-rename). Of two candidates the one with the referrer's prefixes
//! and suffixes is meant; two with the same new name are as good as one (ref-two-candidates-same-new-name). The kind in the
//! scaleTargetRef of a HorizontalPodAutoscaler is not looked at (ref-hpa-target-kind-ignored).
//! *Example*: `testdata/reference/name_reference.txtar`

use super::Transformer;
use crate::config::TransformerConfig;
use crate::config::field_spec::{Step, split};
use crate::config::transformer_config::NameBackReferences;
use crate::diag::{Error, Result};
use crate::pipeline::Session;
use crate::resource::{Gvk, NOT_NAMESPACED, Places, ResId, ResMap, Resource};
use crate::yaml::scalar::Kind;
use crate::yaml::{Arena, Node, Tag, Value};
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use std::cell::OnceCell;
use std::hash::BuildHasher;

type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The name reference fix-up, for the references of all layers.
pub struct NameReferenceTransformer<'a> {
    pub references: Vec<NameBackReferences<'a>>,
}

/// What may be referred to, what has or has had another name: found by kind, a name it had, and its namespace.
struct Candidates<'m, 'a> {
    map: &'m ResMap<'a>,
    hasher: foldhash::fast::RandomState,
    /// By the hash of the three texts: there are many names, and few that are referred to. Who finds one looks at it again.
    by_namespace: Table<u64, Places>,
    /// The same without the namespace, made for the first cluster-scoped referrer.
    anywhere: OnceCell<Table<(&'a str, &'a str), Places>>,
    /// Pairs of original and current namespace that occur among all resources.
    namespaces: HashSet<(&'a str, &'a str), foldhash::fast::RandomState>,
}

impl<'m, 'a> Candidates<'m, 'a> {
    /// Only resources of kinds that may be referred to are looked at: a name after ten layers is ten names.
    fn of(map: &'m ResMap<'a>, kinds: &[&str]) -> Self {
        let is_wanted = |kind: &str| kinds.binary_search(&kind).is_ok();
        let wanted = |r: &&Resource<'a>| r.previous().iter().any(|p| is_wanted(p.kind));
        let names = map.iter().filter(wanted).map(|r| r.previous().len()).sum();
        let hasher = foldhash::fast::RandomState::default();
        let mut by_namespace: Table<u64, Places> = Table::with_capacity_and_hasher(names, Default::default());
        let mut namespaces = HashSet::default();
        let mut last = ("", "");
        for (i, resource) in map.iter().enumerate() {
            let namespace = resource.id().effective_namespace();
            let pair = (resource.original_id().effective_namespace(), namespace);
            if pair != last {
                namespaces.insert(pair);
                last = pair;
            }
            if !wanted(&resource) {
                continue;
            }
            each_name(resource, |kind, name| {
                add(by_namespace.entry(hasher.hash_one((kind, name, namespace))), i as u32)
            });
        }
        Candidates { map, hasher, by_namespace, anywhere: OnceCell::new(), namespaces }
    }

    fn anywhere(&self) -> &Table<(&'a str, &'a str), Places> {
        self.anywhere.get_or_init(|| {
            let mut table: Table<_, Places> = Table::default();
            for (i, resource) in self.map.iter().enumerate() {
                each_name(resource, |kind, name| add(table.entry((kind, name)), i as u32));
            }
            table
        })
    }
}

fn add<K: std::hash::Hash>(entry: Entry<'_, K, Places, foldhash::fast::RandomState>, i: u32) {
    entry.and_modify(|places| places.add(i)).or_insert(Places::One(i));
}

/// Each different pair of a kind and a name that a resource has had; they need not have been together.
fn each_name<'a>(resource: &Resource<'a>, mut take: impl FnMut(&'a str, &'a str)) {
    let previous = resource.previous();
    for (i, p) in previous.iter().enumerate() {
        if previous[..i].iter().any(|q| q.kind == p.kind) {
            continue;
        }
        for (j, n) in previous.iter().enumerate() {
            if !previous[..j].iter().any(|q| q.name == n.name) {
                take(p.kind, n.name);
            }
        }
    }
}

/// The paths of all references of one kind of referrer. Actions are the targets that a field may refer to, in order.
#[derive(Default)]
struct Trie<'a> {
    children: Vec<(Step<'a>, Trie<'a>)>,
    actions: Vec<Action<'a>>,
}

#[derive(Clone)]
struct Action<'a> {
    target: Gvk<'a>,
    path: &'a str,
    is_role_ref: bool,
}

impl<'a> Trie<'a> {
    fn of(arena: &'a Arena, references: &[NameBackReferences<'a>], referrer: &Gvk<'_>) -> Self {
        let mut root = Trie::default();
        for reference in references {
            for spec in reference.fields.iter().filter(|spec| spec.gvk.selects(referrer)) {
                let mut trie = &mut root;
                for step in split(arena, spec.path) {
                    let at = trie.children.iter().position(|(have, _)| have.key == step.key).unwrap_or_else(|| {
                        trie.children.push((step, Trie::default()));
                        trie.children.len() - 1
                    });
                    trie.children[at].0.list |= step.list;
                    trie = &mut trie.children[at].1;
                }
                trie.actions.push(Action {
                    target: reference.gvk,
                    path: spec.path,
                    is_role_ref: spec.path.ends_with("roleRef/name"),
                });
            }
        }
        root
    }
}

impl<'a> Transformer<'a> for NameReferenceTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()> {
        map.iter().try_for_each(|resource| self.check_version(resource, session.arena))?;
        let is_quiet = map.iter().all(|r| r.previous().is_empty());
        // Walking the references of Kubernetes' own kinds would cost a tenth of a build in which nothing is to be done.
        let suffix = if is_quiet && !self.has_own_references() { Some("RoleBinding") } else { None };
        let tries = self.tries(map, session.arena, suffix);
        let walk = |resource: &Resource<'a>, node: &mut Node<'a>, candidates: Option<&Candidates<'_, 'a>>| match tries
            .get(&referrer_gvk(resource))
        {
            Some(trie) if !trie.children.is_empty() => Referrer::of(resource, node, candidates)
                .and_then(|referrer| referrer.walk(node, trie))
                .map_err(|e| e.at(session.arena.place(node.pos))),
            _ => Ok(()),
        };
        if is_quiet {
            if tries.is_empty() {
                return Ok(());
            }
            // Upstream walks here, too: it refuses what it cannot walk, and makes null lists empty.
            return map.edit_content(|resource| {
                let mut node = std::mem::take(resource.node_mut_in_form());
                let walked = walk(resource, &mut node, None);
                *resource.node_mut_in_form() = node;
                walked
            });
        }
        map.edit_nodes(|map, nodes| {
            let candidates = Candidates::of(map, &wanted_kinds(&tries));
            map.iter().zip(nodes).try_for_each(|(resource, node)| walk(resource, node, Some(&candidates)))
        })
    }
}

/// A referrer is chosen by the kind it had at first.
fn referrer_gvk<'a>(resource: &Resource<'a>) -> Gvk<'a> {
    let kind = resource.previous().first().map_or(resource.id().gvk.kind, |p| p.kind);
    Gvk { kind, ..resource.id().gvk }
}

impl<'a> NameReferenceTransformer<'a> {
    /// Refuses a null apiVersion on a kind that has references: upstream finds its spelling where it expects nothing.
    fn check_version(&self, resource: &Resource<'a>, arena: &Arena) -> Result<()> {
        let gvk = resource.id().gvk;
        let is_null = || resource.node().get("apiVersion").is_some_and(Node::is_null);
        if !matches!(gvk.version, "~" | "null" | "Null" | "NULL") || !gvk.group.is_empty() || !is_null() {
            return Ok(());
        }
        let referrer = referrer_gvk(resource);
        if self.references.iter().all(|r| r.fields.iter().all(|spec| !spec.gvk.selects(&referrer))) {
            return Ok(());
        }
        let message = format!("the apiVersion of {} is null, and its kind has references to names", resource.id());
        Err(Error::input(message).at(arena.place(resource.pos())).hint("leave apiVersion out, or give it a value"))
    }

    /// Whether `configurations` or `crds` have added references.
    fn has_own_references(&self) -> bool {
        let count = |references: &[NameBackReferences<'_>]| references.iter().map(|r| r.fields.len()).sum::<usize>();
        count(&self.references) != count(&TransformerConfig::defaults().name_reference)
    }

    /// The paths of references of each kind that is there, or of the kinds with a suffix.
    fn tries(&self, map: &ResMap<'a>, arena: &'a Arena, suffix: Option<&str>) -> Table<Gvk<'a>, Trie<'a>> {
        let mut tries: Table<Gvk<'a>, Trie<'a>> = Table::default();
        for resource in map.iter().filter(|r| suffix.is_none_or(|suffix| r.id().gvk.kind.ends_with(suffix))) {
            let gvk = referrer_gvk(resource);
            tries.entry(gvk).or_insert_with(|| Trie::of(arena, &self.references, &gvk));
        }
        tries
    }
}

/// The kinds that anything there may refer to; an empty one stands for any.
fn wanted_kinds<'a>(tries: &Table<Gvk<'a>, Trie<'a>>) -> Vec<&'a str> {
    fn collect<'a>(trie: &Trie<'a>, kinds: &mut Vec<&'a str>) {
        kinds.extend(trie.actions.iter().map(|action| action.target.kind));
        trie.children.iter().for_each(|(_, child)| collect(child, kinds));
    }
    let mut kinds = Vec::new();
    #[allow(clippy::iter_over_hash_type, reason = "what is collected is sorted")]
    for trie in tries.values() {
        collect(trie, &mut kinds);
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The namespace of a subject of a RoleBinding that is a ServiceAccount and says one.
fn account_namespace<'a>(subject: &Node<'a>, binding: &ResId<'a>) -> Result<Option<&'a str>> {
    if subject.as_mapping().is_none() {
        return Err(Error::input(format!("a subject of {binding} is {}, not a mapping", subject.shape())));
    }
    let (Some(kind), Some(namespace)) = (subject.get("kind"), subject.get("namespace")) else {
        return Ok(None);
    };
    let string = |node: &Node<'a>| node.as_scalar().filter(|s| s.kind() == Kind::Str).map(|s| s.text);
    match (string(kind), string(namespace)) {
        (None, _) => Err(Error::input(format!("the kind of a subject of {binding} is not a string"))),
        (Some("ServiceAccount"), None) => {
            Err(Error::input(format!("Invalid Input: namespace is blank for resource {binding}")))
        }
        (Some("ServiceAccount"), namespace) => Ok(namespace),
        _ => Ok(None),
    }
}

/// A resource that holds references.
struct Referrer<'c, 'a> {
    resource: &'c Resource<'a>,
    id: ResId<'a>,
    role_ref: Option<(&'a str, &'a str)>,
    /// Namespaces of the ServiceAccounts that a RoleBinding names.
    subject_namespaces: Vec<&'a str>,
    /// `None` where no name has changed.
    candidates: Option<&'c Candidates<'c, 'a>>,
}

impl<'c, 'a> Referrer<'c, 'a> {
    fn of(resource: &'c Resource<'a>, node: &Node<'a>, candidates: Option<&'c Candidates<'c, 'a>>) -> Result<Self> {
        let role_ref = node.get("roleRef").and_then(|r| Some((r.get_text("apiGroup")?, r.get_text("kind")?)));
        let mut subject_namespaces = Vec::new();
        if resource.id().gvk.kind == "RoleBinding" {
            for subject in node.get("subjects").and_then(Node::as_sequence).unwrap_or_default() {
                subject_namespaces.extend(account_namespace(subject, resource.id())?);
            }
        }
        Ok(Referrer { resource, id: *resource.id(), role_ref, subject_namespaces, candidates })
    }

    fn walk(&self, node: &mut Node<'a>, trie: &Trie<'a>) -> Result<()> {
        for action in &trie.actions {
            self.field(node, action).map_err(|e| {
                e.context(format!("updating name reference in '{}' field of '{}'", action.path, self.id))
            })?;
        }
        if trie.children.is_empty() {
            return Ok(());
        }
        self.walk_children(node, trie)
    }

    /// The paths that go on from here. A list has taken the actions already; its items go on with the same paths.
    fn walk_children(&self, node: &mut Node<'a>, trie: &Trie<'a>) -> Result<()> {
        match &mut node.value {
            Value::Mapping(m) => {
                for (step, child) in &trie.children {
                    step.check()?;
                    if let Some(value) = m.get_mut(step.key) {
                        step.settle(value);
                        self.walk(value, child)?;
                    }
                }
                Ok(())
            }
            Value::Sequence(items) => items.iter_mut().try_for_each(|item| self.walk_children(item, trie)),
            Value::Scalar(s) if s.is_null() => Ok(()),
            Value::Scalar(_) => {
                Err(Error::input(format!("expected sequence or mapping node in object {}, found a scalar", self.id)))
            }
        }
    }

    fn field(&self, node: &mut Node<'a>, action: &Action<'a>) -> Result<()> {
        match &mut node.value {
            Value::Sequence(items) => items.iter_mut().try_for_each(|item| match &item.value {
                Value::Sequence(_) => Err(Error::input("path config error; a list in a list of references")),
                _ => self.field(item, action),
            }),
            Value::Scalar(s) if s.is_null() => Ok(()),
            Value::Scalar(s) => {
                if let Some(found) = self.resolve(s.text, None, action)?
                    && found.id().name != s.text
                {
                    (s.text, s.tag) = (found.id().name, Tag::Untyped);
                }
                Ok(())
            }
            Value::Mapping(m) => {
                let Some(name) = m.get("name").map(|n| n.as_scalar().map_or("", |s| s.text)) else {
                    return Err(Error::input("path config error; no 'name' field in node"));
                };
                let namespace = m.get("namespace").map(|n| n.as_scalar().map_or("", |s| s.text));
                let Some(found) = self.resolve(name, Some(namespace), action)? else {
                    return Ok(());
                };
                set(m, "name", found.id().name);
                if !found.id().namespace.is_empty() {
                    set(m, "namespace", found.id().namespace);
                }
                Ok(())
            }
        }
    }

    /// The resource that a name refers to, if it is one whose name has changed. `namespace` is that of a reference that
    /// is a mapping.
    fn resolve(
        &self,
        name: &'a str,
        namespace: Option<Option<&'a str>>,
        action: &Action<'a>,
    ) -> Result<Option<&'c Resource<'a>>> {
        let Some(candidates) = self.candidates else { return Ok(None) };
        let mut found = self.by_name(candidates, name, &action.target);
        if let Some(Some(namespace)) = namespace {
            let by_original = self.sees_original_namespace(candidates, namespace);
            found.retain(|c| {
                let id = if by_original { c.original_id() } else { *c.id() };
                id.effective_namespace() == namespace
            });
        }
        if action.is_role_ref
            && let Some((group, kind)) = self.role_ref
        {
            found.retain(|c| c.id().gvk.group == group && c.previous().iter().any(|p| p.kind == kind));
        }
        if found.len() <= 1 {
            return Ok(found.pop());
        }
        let me = self.resource;
        found.retain(|c| agree(&c.prefixes, &me.prefixes) && agree(&c.suffixes, &me.suffixes));
        if found.len() > 1 {
            found.retain(|c| agree_strictly(&c.prefixes, &me.prefixes) && agree_strictly(&c.suffixes, &me.suffixes));
        }
        let Some(first) = found.first().copied() else { return Ok(None) };
        let is_same = |c: &Resource<'_>| {
            c.id().name == first.id().name && (namespace.is_none() || c.id().namespace == first.id().namespace)
        };
        if !found.iter().all(|c| is_same(c)) {
            let ids: Vec<String> = found.iter().map(|c| c.id().to_string()).collect();
            return Err(Error::input(format!("found multiple possible referrals: {}", ids.join(", "))));
        }
        Ok(Some(first))
    }

    /// Whether any resource in reach had this namespace at first.
    fn sees_original_namespace(&self, candidates: &Candidates<'c, 'a>, namespace: &str) -> bool {
        let seen = &candidates.namespaces;
        if self.id.is_cluster_scoped() {
            return seen.iter().any(|(original, _)| *original == namespace);
        }
        let mine = [self.id.effective_namespace(), NOT_NAMESPACED];
        mine.iter().chain(&self.subject_namespaces).any(|current| seen.contains(&(namespace, *current)))
    }

    /// Candidates in reach that had this name and are of the target's kind, in the order of the resources.
    fn by_name(&self, c: &Candidates<'c, 'a>, name: &'a str, target: &Gvk<'a>) -> Vec<&'c Resource<'a>> {
        let mut places: Vec<u32> = Vec::new();
        if target.kind.is_empty() {
            // Only a custom reference without a kind gets here.
            let had_name = |r: &Resource<'a>| self.is_in_reach(r.id()) && r.previous().iter().any(|p| p.name == name);
            places.extend(c.map.iter().enumerate().filter(|(_, r)| had_name(r)).map(|(i, _)| i as u32));
        } else if self.id.is_cluster_scoped() {
            places.extend(c.anywhere().get(&(target.kind, name)).map_or(&[][..], Places::as_slice));
        } else {
            let mine = [self.id.effective_namespace(), NOT_NAMESPACED];
            let accounts = self.subject_namespaces.iter().filter(|_| target.kind == "ServiceAccount");
            for namespace in mine.iter().chain(accounts) {
                let key = c.hasher.hash_one((target.kind, name, *namespace));
                places.extend(c.by_namespace.get(&key).map_or(&[][..], Places::as_slice));
            }
        }
        places.sort_unstable();
        places.dedup();
        // A subject's namespace is compared with what an account says, and an account that says none is not in 'default'.
        let is_reached = |id: &ResId<'a>| {
            target.kind.is_empty() || self.is_in_reach(id) || self.subject_namespaces.contains(&id.namespace)
        };
        let is_target = |r: &&Resource<'a>| {
            let gvk = r.id().gvk;
            is_reached(r.id())
                && r.previous().iter().any(|p| p.name == name)
                && r.previous().iter().any(|p| target.selects(&Gvk { kind: p.kind, ..gvk }))
        };
        places.into_iter().map(|i| c.map.get(i as usize)).filter(is_target).collect()
    }

    fn is_in_reach(&self, candidate: &ResId<'a>) -> bool {
        self.id.is_cluster_scoped()
            || candidate.is_cluster_scoped()
            || candidate.effective_namespace() == self.id.effective_namespace()
    }
}

fn set<'a>(m: &mut crate::yaml::Mapping<'a>, key: &'a str, text: &'a str) {
    match m.get_mut(key).map(|n| &mut n.value) {
        Some(Value::Scalar(s)) => {
            if s.text != text {
                (s.text, s.tag) = (text, Tag::Untyped);
            }
        }
        Some(other) => *other = Value::Scalar(crate::yaml::Scalar::plain(text)),
        None => drop(m.insert(key, crate::yaml::Scalar::plain(text).into())),
    }
}

/// Whether two lists of affixes fit: one is empty, or the shorter is the end of the longer.
fn agree(a: &[&str], b: &[&str]) -> bool {
    a.is_empty() || b.is_empty() || agree_strictly(a, b)
}

/// As [`agree`], but an empty list fits only an empty one.
fn agree_strictly(a: &[&str], b: &[&str]) -> bool {
    a.is_empty() == b.is_empty() && (a.ends_with(b) || b.ends_with(a))
}
