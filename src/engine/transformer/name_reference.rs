//! NameReferenceTransformer: makes references follow the names that changed.
//!
//! *Selects*: resources with fields that refer to others: the tables of [`crate::config::defaults`]
//! and the fields that `configurations` and `crds` add.
//! *Writes*: names, and namespaces where the reference is a mapping.
//! *Order*: once, at the root, after the hashes: names are final then.
//! *Cost*: O(nodes on the paths of references + references). All paths of a kind are one trie, so
//! that a resource is walked once; candidates are found by kind, old name and namespace.
//! *Quirks*: a JSON patch of `patches` that renames is followed, one of `patchesJson6902` is not
//! (cases ref-follows-json-patch-rename and ref-ignores-patchesjson6902-rename). Of two candidates
//! the one with the referrer's prefixes and suffixes is meant; two with the same new name are no
//! conflict (ref-two-candidates-same-new-name). The kind in the scaleTargetRef of a
//! HorizontalPodAutoscaler is not looked at (ref-hpa-target-kind-ignored).
//! *Example*: `testdata/reference/name_reference.txtar`

use super::referents::{Answer, Referents};
use crate::config::field_spec::{Step, split_into};
use crate::config::field_specs::keep_for_ever;
use crate::config::transformer_config::NameBackReferences;
use crate::config::{FieldSpec, TransformerConfig};
use crate::diag::{Code, Error, Result};
use crate::resource::{Changes, NOT_NAMESPACED, ResId, ResMap, Resource, set_untyped};
use crate::schema::Gvk;
use crate::stage::{Build, Transformer};
use rustomize_base::compat::Compat;
use rustomize_base::meter::{FastIndexMap, FastMap, FastSet};
use rustomize_base::parallel;
use rustomize_yaml::scalar::Kind;
use rustomize_yaml::{Arena, Mapping, Node, Pos, Scalar, Tag, Value, ValueMut, shared};
use smallvec::{SmallVec, smallvec};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The name reference fix-up, for the references of all layers.
pub struct NameReferenceTransformer<'a> {
    references: References<'a>,
}

/// The references of a configuration.
enum References<'a> {
    /// The references of the usual configuration.
    Usual(&'static UsualReferences),
    Own(Vec<NameBackReferences<'a>>),
}

/// The references of the usual configuration, and what is made of them once in a process.
struct UsualReferences {
    references: Vec<NameBackReferences<'static>>,
    fields: Fields<'static>,
    /// The paths of the kinds of earlier builds, by the places of their fields. Of these there are
    /// as many as the fields tell kinds apart, whatever kinds a tree has.
    paths: Mutex<FastMap<Vec<usize>, Arc<Paths<'static>>>>,
}

impl UsualReferences {
    fn get(config: &TransformerConfig<'static>) -> &'static Self {
        static MADE: OnceLock<UsualReferences> = OnceLock::new();
        MADE.get_or_init(|| {
            let references = config.references();
            UsualReferences { fields: Fields::of(&references, |_| true), references, paths: Mutex::default() }
        })
    }

    /// The paths of the references of one kind.
    fn paths(&self, referrer: &Gvk<'_>) -> Arc<Paths<'static>> {
        let places = self.fields.places(referrer);
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = paths.get(&places) {
            return Arc::clone(known);
        }
        let made = Arc::new(self.fields.paths(keep_for_ever, &places));
        paths.insert(places, Arc::clone(&made));
        made
    }
}

/// The paths of all references of one kind of referrer. Actions are the targets that a field may
/// refer to, in order.
#[derive(Default)]
struct Trie<'a> {
    /// The ways on, by the keys of their steps.
    children: FastIndexMap<&'a str, (Step<'a>, Trie<'a>)>,
    actions: Vec<Action<'a>>,
    /// True if a step of a child is not the name of a field: no mapping can be walked then.
    has_wrong_step: bool,
}

/// The paths of the references of one kind, and the kinds that they may refer to, in order. An
/// empty kind stands for any kind.
#[derive(Default)]
struct Paths<'a> {
    root: Trie<'a>,
    targets: Vec<&'a str>,
}

#[derive(Clone)]
struct Action<'a> {
    target: Gvk<'a>,
    path: &'a str,
    is_role_ref: bool,
}

/// The fields that refer to others, by the kinds that have them.
struct Fields<'a> {
    all: Vec<(Gvk<'a>, FieldSpec<'a>)>,
    by_kind: FastMap<&'a str, Vec<usize>>,
    /// Fields of all kinds.
    general: Vec<usize>,
}

impl<'a> Fields<'a> {
    /// The fields of those kinds for which `is_asked` returns true. O(references).
    fn of(references: &[NameBackReferences<'a>], is_asked: impl Fn(&str) -> bool) -> Self {
        // The list has room for all fields at once: if it grew, a small build would touch one more
        // huge page.
        let most = references.iter().map(|reference| reference.fields.len()).sum();
        let mut fields = Fields { all: Vec::with_capacity(most), by_kind: FastMap::default(), general: Vec::new() };
        for reference in references {
            for spec in &*reference.fields.in_order() {
                let places = match spec.gvk.kind {
                    "" => &mut fields.general,
                    kind if is_asked(kind) => fields.by_kind.entry(kind).or_default(),
                    _ => continue,
                };
                places.push(fields.all.len());
                fields.all.push((reference.gvk, spec.clone()));
            }
        }
        fields
    }

    /// The places of the fields of one kind. O(their number).
    fn places(&self, referrer: &Gvk<'_>) -> Vec<usize> {
        let own = self.by_kind.get(referrer.kind).map_or(&[][..], Vec::as_slice);
        let has = |at: &&usize| self.all[**at].1.gvk.selects(referrer);
        let mut places: Vec<usize> = own.iter().chain(&self.general).filter(has).copied().collect();
        places.sort_unstable();
        places
    }

    /// The paths of the references in some fields. `keep` copies a text that has to live as long.
    fn paths(&self, keep: impl Fn(&str) -> &'a str, places: &[usize]) -> Paths<'a> {
        let (mut paths, mut steps) = (Paths::default(), Vec::new());
        for (target, spec) in places.iter().map(|&at| &self.all[at]) {
            let mut trie = &mut paths.root;
            split_into(&keep, spec.path, &mut steps);
            for step in steps.drain(..) {
                trie.has_wrong_step |= step.check().is_err();
                let (known, child) = trie.children.entry(step.key).or_insert_with(|| (step, Trie::default()));
                known.list |= step.list;
                trie = child;
            }
            let is_role_ref = spec.path.ends_with("roleRef/name");
            trie.actions.push(Action { target: *target, path: spec.path, is_role_ref });
            paths.targets.push(target.kind);
        }
        paths.targets.sort_unstable();
        paths.targets.dedup();
        paths
    }
}

impl<'a> Trie<'a> {
    /// Calls `walk` for each field of a mapping that the paths go on in. O(fields or paths, the
    /// fewer).
    fn each_child(
        &self,
        m: &mut Mapping<'a>,
        mut walk: impl FnMut(&mut Node<'a>, &Trie<'a>) -> Result<()>,
    ) -> Result<()> {
        let mut enter = |value: &mut Node<'a>, (step, child): &(Step<'a>, Trie<'a>)| {
            step.settle(value);
            walk(value, child)
        };
        if self.has_wrong_step || self.children.len() <= m.len() {
            return self.children.values().try_for_each(|way| {
                way.0.check()?;
                m.get_mut(way.0.key).map_or(Ok(()), |value| enter(value, way))
            });
        }
        let mut last = None;
        m.try_for_each(|key, value| {
            // Of a key that is given twice the first value counts.
            let is_first = last.replace(key.text()) != Some(key.text());
            self.children.get(key.text()).filter(|_| is_first).map_or(Ok(()), |way| enter(value, way))
        })
    }
}

impl<'a> Transformer<'a> for NameReferenceTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        self.check_versions(map, arena)?;
        let is_quiet = map.iter().all(|r| r.previous().is_empty());
        // Walking the references of Kubernetes' own kinds would cost a tenth of a build in which
        // nothing is to be done.
        let suffix =
            if is_quiet && !self.has_own_references(build.arena.compat()) { Some("RoleBinding") } else { None };
        let paths = self.paths(map, arena, suffix);
        let walk = |resource: &Resource<'a>, node: &mut Node<'a>, renamed: Option<&Referents<'_, 'a>>| match paths
            .get(&referrer_gvk(resource))
        {
            Some(paths) if !paths.root.children.is_empty() => Referrer::of(resource, node, renamed)
                .and_then(|mut referrer| referrer.update(node, &paths.root))
                .map_err(|e| e.at(node.pos())),
            _ => Ok(()),
        };
        if is_quiet {
            if paths.is_empty() {
                return Ok(());
            }
            // Upstream walks here, too: it refuses fields that it cannot walk, and makes null lists
            // empty.
            return map.edit_each(arena, Changes::Content, |_| {
                |resource: &mut Resource<'a>| {
                    let mut node = resource.take_node();
                    let walked = walk(resource, &mut node, None);
                    resource.put_node(node);
                    walked
                }
            });
        }
        let mut nodes = map.take_nodes();
        let renamed = Referents::of(map, arena, &wanted_kinds(&paths));
        let mut pairs: Vec<_> = map.iter().zip(&mut nodes).enumerate().collect();
        let walked = parallel::runs_mut(&mut pairs, map.threads(arena), || {
            |run: &mut [(usize, (&Resource<'a>, &mut Node<'a>))]| {
                let mut changed = Vec::new();
                for (i, (resource, node)) in run {
                    walk(resource, node, Some(&renamed))?;
                    // A reference may have changed the resource's own name, and an earlier JSON
                    // patch the spelling of its name. The node is still in the processor's cache.
                    let id = resource.id_with(node);
                    if id != *resource.id() {
                        changed.push((*i, id));
                    }
                }
                Ok(changed)
            }
        });
        let changed = walked.into_iter().collect::<Result<Vec<_>>>()?;
        map.put_nodes(nodes, changed.concat());
        Ok(())
    }
}

/// A referrer is chosen by the kind it had at first.
fn referrer_gvk<'a>(resource: &Resource<'a>) -> Gvk<'a> {
    let kind = resource.previous().first().map_or(resource.id().gvk.kind, |p| p.kind);
    Gvk { kind, ..resource.id().gvk }
}

impl<'a> NameReferenceTransformer<'a> {
    /// The fix-up for the references of a configuration.
    pub fn of(config: &TransformerConfig<'a>) -> Self {
        let references = match config.as_usual() {
            Some(config) => References::Usual(UsualReferences::get(config)),
            None => References::Own(config.references()),
        };
        NameReferenceTransformer { references }
    }

    fn list(&self) -> &[NameBackReferences<'a>] {
        match &self.references {
            References::Usual(usual) => &usual.references,
            References::Own(own) => own,
        }
    }

    /// Refuses an apiVersion that is null, or has a slash and no group, on a kind that has
    /// references: upstream finds another text there than the one that group and version make.
    fn check_versions(&self, map: &ResMap<'a>, arena: Arena<'a>) -> Result<()> {
        let fault = |r: &Resource<'a>| {
            let gvk = r.id().gvk;
            let is_null = matches!(gvk.version, "~" | "null" | "Null" | "NULL");
            if !gvk.group.is_empty() || !is_null && gvk.is_whole() {
                return None;
            }
            let api_version = r.node().get("apiVersion")?;
            let has_slash = api_version.as_scalar().is_some_and(|s| s.text().starts_with('/'));
            let faults = [(api_version.is_null(), "is null"), (has_slash, "has no group in front of its slash")];
            faults.into_iter().find(|(is_so, _)| *is_so).map(|(_, fault)| fault)
        };
        let places = map.places(arena, |r| fault(r).is_some());
        places.into_iter().map(|i| map.get(i)).try_for_each(|r| self.check_version(r, fault(r).unwrap_or_default()))
    }

    fn check_version(&self, resource: &Resource<'a>, fault: &str) -> Result<()> {
        let referrer = referrer_gvk(resource);
        if self.list().iter().all(|r| r.fields.in_order().iter().all(|spec| !spec.gvk.selects(&referrer))) {
            return Ok(());
        }
        let message = format!("the apiVersion of {} {fault}, and its kind has references to names", resource.id());
        let hint = "write GROUP/VERSION, or the version alone, or leave apiVersion out";
        Err(Error::new(Code::WrongType, message).at(resource.pos()).hint(hint))
    }

    /// Returns true if `configurations` or `crds` have added references.
    fn has_own_references(&self, compat: Compat) -> bool {
        let count = |references: &[NameBackReferences<'_>]| references.iter().map(|r| r.fields.len()).sum::<usize>();
        let References::Own(own) = &self.references else { return false };
        count(own) != count(&TransformerConfig::shared_defaults(compat).name_reference)
    }

    /// The paths of references of each kind in the map, or of the kinds with a suffix.
    fn paths(&self, map: &ResMap<'a>, arena: Arena<'a>, suffix: Option<&str>) -> FastMap<Gvk<'a>, Arc<Paths<'a>>> {
        let kinds = map.distinct(arena, |r| {
            let has_suffix = suffix.is_none_or(|suffix| r.id().gvk.kind.ends_with(suffix));
            has_suffix.then(|| referrer_gvk(r))
        });
        if kinds.is_empty() {
            return FastMap::default();
        }
        let own = match &self.references {
            References::Usual(usual) => return kinds.into_iter().map(|gvk| (gvk, usual.paths(&gvk) as _)).collect(),
            References::Own(own) => own,
        };
        let asked: FastSet<&str> = kinds.iter().map(|gvk| gvk.kind).collect();
        let fields = Fields::of(own, |kind| asked.contains(kind));
        let paths = |gvk| Arc::new(fields.paths(|text| arena.text(text), &fields.places(&gvk)));
        kinds.into_iter().map(|gvk| (gvk, paths(gvk))).collect()
    }
}

/// The kinds to which some paths may lead, in order.
fn wanted_kinds<'a>(paths: &FastMap<Gvk<'a>, Arc<Paths<'a>>>) -> Vec<&'a str> {
    #[allow(clippy::iter_over_hash_type, reason = "the kinds are sorted")]
    let mut kinds: Vec<&str> = paths.values().flat_map(|paths| &paths.targets).copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Up to this many candidates are compared one by one.
const FEW: usize = 8;

/// Where a reference looks for a resource.
#[derive(Clone, Copy, Hash)]
enum Namespace<'a> {
    /// In the referrer's namespace, among resources without one, and in those of the accounts that
    /// a RoleBinding names.
    InReach,
    /// In a namespace that the reference names.
    Current(&'a str),
    /// In a namespace that the reference names, as it was at first.
    Original(&'a str),
}

/// The namespace of a subject of a RoleBinding that is a ServiceAccount and says one.
fn account_namespace<'a>(subject: &Node<'a>, binding: &ResId<'a>) -> Result<Option<&'a str>> {
    if subject.as_mapping().is_none() {
        let message = format!("a subject of {binding} is {}, not a mapping", subject.shape());
        let error = Error::new(Code::WrongType, message).at(subject.pos());
        return Err(error.hint("write it as in {kind: ServiceAccount, name: web, namespace: shop}"));
    }
    let (Some(kind), Some(namespace)) = (subject.get("kind"), subject.get("namespace")) else {
        return Ok(None);
    };
    let namespace_pos = namespace.pos();
    let string = |node: &Node<'a>| node.as_scalar().filter(|s| s.kind() == Kind::Str).map(|s| s.text());
    match (string(kind), string(namespace)) {
        (None, _) => Err(Error::new(Code::WrongType, format!("the kind of a subject of {binding} is not a string"))
            .at(kind.pos())
            .hint("write the kind as a text, as in kind: ServiceAccount")),
        (Some("ServiceAccount"), None) => {
            Err(Error::new(Code::MissingField, format!("Invalid Input: namespace is blank for resource {binding}"))
                .at(namespace_pos)
                .hint("write the namespace of the account as a text"))
        }
        (Some("ServiceAccount"), namespace) => Ok(namespace),
        _ => Ok(None),
    }
}

/// A resource that holds references.
struct Referrer<'c, 'a> {
    resource: &'c Resource<'a>,
    id: ResId<'a>,
    /// The role that roleRef names, in any version. `None` unless both its apiGroup and its kind
    /// are given.
    role_ref: Option<Gvk<'a>>,
    /// Namespaces of the ServiceAccounts that a RoleBinding names.
    subject_namespaces: FastSet<&'a str>,
    /// `None` where no name has changed.
    renamed: Option<&'c Referents<'c, 'a>>,
    /// True if a shared value was set, in one of its places.
    is_ahead: bool,
}

impl<'c, 'a> Referrer<'c, 'a> {
    fn of(resource: &'c Resource<'a>, node: &Node<'a>, renamed: Option<&'c Referents<'c, 'a>>) -> Result<Self> {
        let role_ref = node.get("roleRef").and_then(|role_ref| {
            let part = |key| Some(role_ref.get(key)?.as_scalar().map_or("", Scalar::text));
            Some(Gvk { group: part("apiGroup")?, version: "", kind: part("kind")? })
        });
        let mut subject_namespaces = FastSet::default();
        if resource.id().gvk.kind == "RoleBinding" {
            for subject in node.get("subjects").and_then(Node::as_sequence).into_iter().flatten() {
                subject_namespaces.extend(account_namespace(subject, resource.id())?);
            }
        }
        Ok(Referrer { resource, id: *resource.id(), role_ref, subject_namespaces, renamed, is_ahead: false })
    }

    /// Updates all references in a resource.
    fn update(&mut self, node: &mut Node<'a>, trie: &Trie<'a>) -> Result<()> {
        self.walk(node, trie)?;
        if self.is_ahead {
            shared::settle(node);
        }
        Ok(())
    }

    fn walk(&mut self, node: &mut Node<'a>, trie: &Trie<'a>) -> Result<()> {
        let pos = node.pos();
        for action in &trie.actions {
            self.field(node, action).map_err(|e| {
                e.through(pos, format!("updating name reference in '{}' field of '{}'", action.path, self.id))
            })?;
        }
        if trie.children.is_empty() {
            return Ok(());
        }
        self.walk_children(node, trie)
    }

    /// The paths that go on from here. A list has taken the actions already; its items go on with
    /// the same paths.
    fn walk_children(&mut self, node: &mut Node<'a>, trie: &Trie<'a>) -> Result<()> {
        let pos = node.pos();
        match node.value_mut() {
            ValueMut::Mapping(m) => trie.each_child(m, |value, child| self.walk(value, child)),
            ValueMut::Sequence(items) => items.iter_mut().try_for_each(|item| self.walk_children(item, trie)),
            ValueMut::Scalar(s) if s.is_null() => Ok(()),
            ValueMut::Scalar(_) => {
                let message = format!("expected sequence or mapping node in object {}, found a scalar", self.id);
                Err(Error::new(Code::WrongType, message).at(pos).hint("correct the path under 'nameReference'"))
            }
        }
    }

    fn field(&mut self, node: &mut Node<'a>, action: &Action<'a>) -> Result<()> {
        match node.value_mut() {
            ValueMut::Sequence(items) => items.iter_mut().try_for_each(|item| {
                let pos = item.pos();
                match item.value() {
                    Value::Sequence(_) => {
                        Err(Error::new(Code::WrongType, "path config error; a list in a list of references")
                            .hint("write each name in the list itself, or correct the path under 'nameReference'"))
                    }
                    _ => self.field(item, action),
                }
                .map_err(|e| e.at(pos))
            }),
            ValueMut::Scalar(s) if s.is_null() => Ok(()),
            ValueMut::Scalar(s) => {
                let name = s.text();
                if let Some(found) = self.resolve(name, None, action)?
                    && found.id().name != name
                {
                    node.set_untyped(found.id().name, Pos::NONE);
                    self.is_ahead |= node.is_ahead();
                }
                Ok(())
            }
            ValueMut::Mapping(m) => {
                let Some(name) = m.get("name").map(|n| n.scalar_text()) else {
                    return Err(Error::new(Code::MissingPath, "path config error; no 'name' field in node")
                        .hint("add 'name', or correct the path under 'nameReference'"));
                };
                let namespace = m.get("namespace").map(|n| n.scalar_text());
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

    /// The resource that a name refers to, if it is one whose name has changed. `namespace` is that
    /// of a reference that is a mapping.
    fn resolve(
        &self,
        name: &'a str,
        namespace: Option<Option<&'a str>>,
        action: &Action<'a>,
    ) -> Result<Option<&'c Resource<'a>>> {
        let Some(renamed) = self.renamed else { return Ok(None) };
        let wanted = match namespace.flatten() {
            None => Namespace::InReach,
            Some(text) if self.sees_original_namespace(renamed, text) => Namespace::Original(text),
            Some(text) => Namespace::Current(text),
        };
        let role = self.role_ref.filter(|_| action.is_role_ref);
        let is_meant = |i: &u32| self.is_meant(renamed.get(*i), name, &action.target, wanted, role);
        let answers = self.answers(renamed, name, &action.target, wanted);
        let count: usize = answers.iter().map(|answer| answer.places.len()).sum();
        let is_mapping = namespace.is_some();
        if count <= FEW {
            let mut found: SmallVec<[u32; FEW]> =
                answers.iter().flat_map(|a| a.places).copied().filter(is_meant).collect();
            found.sort_unstable();
            found.dedup();
            let chosen =
                if found.len() <= 1 { found.pop() } else { self.choose(renamed, found.into_vec(), is_mapping)? };
            return Ok(chosen.map(|i| renamed.get(i)));
        }
        // Other conditions of an answer are rare.
        let is_common = role.is_none() && self.subject_namespaces.is_empty();
        let affixes = (self.resource.prefixes(), self.resource.suffixes());
        let rest = (name, action.target, wanted, is_mapping, self.id.effective_namespace(), affixes);
        let key = renamed.key_of(&answers, rest);
        let known = renamed.known(key).filter(|_| is_common);
        let chosen = match known {
            Some(known) => known,
            None => self.choose_of_many(renamed, &answers, &is_meant, is_mapping)?,
        };
        if is_common {
            renamed.note(key, chosen);
        }
        Ok(chosen.map(|i| renamed.get(i)))
    }

    /// The resources that a name may refer to.
    fn answers(
        &self,
        renamed: &'c Referents<'c, 'a>,
        name: &str,
        target: &Gvk<'_>,
        wanted: Namespace<'a>,
    ) -> SmallVec<[Answer<'c>; 2]> {
        let kind = target.kind;
        let accounts = || self.subject_namespaces.iter().filter(|_| kind == "ServiceAccount");
        let mine = [self.id.effective_namespace(), NOT_NAMESPACED];
        match wanted {
            // Only a custom reference without a kind is without one.
            _ if kind.is_empty() => smallvec![renamed.named(name)],
            Namespace::Original(namespace) => smallvec![renamed.at_first_in(kind, name, namespace)],
            Namespace::Current(namespace) => smallvec![renamed.in_namespace(kind, name, namespace)],
            Namespace::InReach if self.id.is_cluster_scoped() => smallvec![renamed.anywhere(kind, name)],
            Namespace::InReach if accounts().nth(FEW).is_some() => smallvec![renamed.anywhere(kind, name)],
            Namespace::InReach => {
                mine.iter().chain(accounts()).map(|namespace| renamed.in_namespace(kind, name, namespace)).collect()
            }
        }
    }

    /// The one of many candidates that a reference means.
    fn choose_of_many(
        &self,
        renamed: &'c Referents<'c, 'a>,
        answers: &[Answer<'c>],
        is_meant: &dyn Fn(&u32) -> bool,
        is_mapping: bool,
    ) -> Result<Option<u32>> {
        let mut first: Vec<u32> = answers.iter().flat_map(|a| a.places).copied().filter(is_meant).take(3).collect();
        sort(&mut first);
        if first.len() <= 1 {
            return Ok(first.pop());
        }
        let mut fitting = Vec::new();
        for answer in answers {
            renamed.add_fitting(*answer, self.resource.prefixes(), self.resource.suffixes(), &mut fitting);
        }
        fitting.retain(is_meant);
        sort(&mut fitting);
        self.choose(renamed, fitting, is_mapping)
    }

    /// The one of several candidates that has the referrer's prefixes and suffixes.
    fn choose(&self, renamed: &'c Referents<'c, 'a>, mut found: Vec<u32>, is_mapping: bool) -> Result<Option<u32>> {
        let me = self.resource;
        let get = |i: &u32| renamed.get(*i);
        found.retain(|i| agree(get(i).prefixes(), me.prefixes()) && agree(get(i).suffixes(), me.suffixes()));
        if found.len() > 1 {
            let fits = |a: &[&str], b: &[&str]| agree_strictly(a, b);
            found.retain(|i| fits(get(i).prefixes(), me.prefixes()) && fits(get(i).suffixes(), me.suffixes()));
        }
        let Some(first) = found.first().map(get) else { return Ok(None) };
        let is_same = |c: &Resource<'_>| {
            c.id().name == first.id().name && (!is_mapping || c.id().namespace == first.id().namespace)
        };
        if !found.iter().all(|i| is_same(get(i))) {
            let ids: Vec<String> = found.iter().map(|i| get(i).id().to_string()).collect();
            return Err(Error::new(
                Code::AmbiguousMatch,
                format!("found multiple possible referrals: {}", ids.join(", ")),
            )
            .hint("rename one of them, or set the namespace of the reference"));
        }
        Ok(found.first().copied())
    }

    /// Returns true if any resource in reach had this namespace at first.
    fn sees_original_namespace(&self, renamed: &'c Referents<'c, 'a>, namespace: &str) -> bool {
        let Some(current) = renamed.namespaces.get(namespace) else { return false };
        let accounts = &self.subject_namespaces;
        self.id.is_cluster_scoped()
            || [self.id.effective_namespace(), NOT_NAMESPACED].iter().any(|mine| current.contains(mine))
            || if accounts.len() < current.len() {
                accounts.iter().any(|account| current.contains(account))
            } else {
                current.iter().any(|namespace| accounts.contains(namespace))
            }
    }

    /// Returns true if a candidate is in reach, had the name, and is of the target's kind, in the
    /// namespace and of the role's kind that the reference names.
    fn is_meant(
        &self,
        candidate: &Resource<'a>,
        name: &str,
        target: &Gvk<'a>,
        wanted: Namespace<'a>,
        role: Option<Gvk<'_>>,
    ) -> bool {
        let id = candidate.id();
        // A subject's namespace is compared with the written namespace of an account, and an
        // account without a written one is not in 'default'.
        let is_account = target.kind == "ServiceAccount"
            && [id.namespace, id.effective_namespace()]
                .iter()
                .all(|namespace| self.subject_namespaces.contains(namespace));
        let is_reached = self.is_in_reach(id) || is_account;
        let is_there = match wanted {
            Namespace::InReach => true,
            Namespace::Current(namespace) => id.effective_namespace() == namespace,
            Namespace::Original(namespace) => candidate.original_id().effective_namespace() == namespace,
        };
        let was_a = |gvk: &Gvk<'_>| candidate.previous().iter().any(|p| gvk.selects(&Gvk { kind: p.kind, ..id.gvk }));
        is_reached
            && is_there
            && candidate.previous().iter().any(|p| p.name == name)
            && was_a(target)
            && role.is_none_or(|role| was_a(&role))
    }

    fn is_in_reach(&self, candidate: &ResId<'a>) -> bool {
        self.id.is_cluster_scoped()
            || candidate.is_cluster_scoped()
            || candidate.effective_namespace() == self.id.effective_namespace()
    }
}

/// Writes the name or the namespace of a reference. As in kustomize, a field that has this text
/// already loses its type: a namespace `"1"` becomes a number. A new field gets quotes.
fn set<'a>(m: &mut Mapping<'a>, key: &'a str, text: &'a str) {
    match m.get_mut(key).map(|node| (node.as_scalar().map(|old| (old.text(), old.tag())), node)) {
        Some((Some((old, Tag::Auto | Tag::Untyped)), _)) if old == text => {}
        Some((Some(_), node)) => node.set_untyped(text, Pos::NONE),
        Some((None, node)) => node.put(Scalar::plain(text), Pos::NONE),
        None => set_untyped(m, key, text),
    }
}

fn sort(places: &mut Vec<u32>) {
    places.sort_unstable();
    places.dedup();
}

/// Returns true if two lists of affixes fit: one is empty, or the shorter is the end of the longer.
fn agree(a: &[&str], b: &[&str]) -> bool {
    a.is_empty() || b.is_empty() || agree_strictly(a, b)
}

/// As [`agree`], but an empty list fits only an empty one.
fn agree_strictly(a: &[&str], b: &[&str]) -> bool {
    a.is_empty() == b.is_empty() && (a.ends_with(b) || b.ends_with(a))
}
