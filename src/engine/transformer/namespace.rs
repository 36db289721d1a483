//! NamespaceTransformer: sets the namespace of every namespaced resource.
//!
//! *Fields*: `namespace`.
//! *Kinds*: `NamespaceTransformer`, with `metadata.namespace`, `fieldSpecs`, `unsetOnly`, and
//! `setRoleBindingSubjects`: `defaultOnly`, `allServiceAccounts` or `none`.
//! *Selects*: all resources, but not those of charts.
//! *Writes*: `metadata/namespace`, the names of Namespaces, subjects of role bindings, and the
//! fields of the specs.
//! *Order*: after patches, before the names.
//! *Cost*: O(resources + subjects).
//! *Quirks*: only subjects named `default` move, unless a configuration object asks for more (case
//! ref-rolebinding-subject-other-ns); two v1 Namespaces under one `namespace` get the same name and
//! collide. Kubernetes 1.21.2 and an `openapi` file say which kinds have a namespace.
//! *Example*: `testdata/reference/namespace.txtar`

use super::edit_path;
use super::objects::Namespace;
use crate::config::field_spec::Create;
use crate::config::{FieldSpecs, UsualSpecs};
use crate::diag::{Code, Error, Result, Warning, is_placeholder};
use crate::resource::{Changes, HELM_GENERATED, ResMap, Resource};
use crate::schema::{Gvk, is_label};
use crate::stage::{Build, Editor, Fields, Object, Overridden, Overriding, Planned, Stage, TransformEach, Watched};
use rustomize_base::meter::FastSet;
use rustomize_yaml::{Arena, Node, Pos, Scalar, Tag, Value};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The subjects of role bindings that get the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SetRoleBindingSubjects {
    /// Subjects named `default`.
    #[default]
    DefaultOnly,
    /// Subjects of kind ServiceAccount.
    AllServiceAccounts,
    /// None.
    None,
}

/// `namespace`.
pub struct NamespaceTransformer<'a> {
    namespace: &'a str,
    specs: FieldSpecs<'a>,
    subjects: SetRoleBindingSubjects,
    /// True to leave namespaces alone that are set.
    unset_only: bool,
    /// True to leave the resources of charts alone.
    spares_charts: bool,
    /// The entry, which is the place of the values that are set.
    pos: Pos,
    /// The values of patches that it replaces, if the build is asked for findings.
    overridden: Option<Overridden>,
    /// Subjects named `default` that named another namespace, by their place; noted only if the
    /// build is asked for findings.
    moved: Mutex<BTreeMap<Pos, &'a str>>,
}

impl<'a> NamespaceTransformer<'a> {
    /// A transformer that sets a namespace everywhere, and in the subjects named `default`.
    pub fn new(arena: Arena<'a>, namespace: &'a str, specs: FieldSpecs<'a>, pos: Pos) -> Self {
        NamespaceTransformer {
            namespace,
            specs,
            subjects: SetRoleBindingSubjects::DefaultOnly,
            unset_only: false,
            spares_charts: arena.compat().leaves_namespaces_to_charts(),
            pos,
            overridden: None,
            moved: Mutex::default(),
        }
    }

    /// The transformer of `namespace`.
    ///
    /// # Errors
    /// A field spec is wrong.
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let namespace = fields.kustomization.namespace;
        if namespace.is_empty() {
            return Ok(Vec::new());
        }
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let (specs, pos) = (fields.specs(&USUAL, |config| &config.namespace)?, fields.pos("namespace"));
        let stage = NamespaceTransformer::new(fields.build.arena, namespace, specs, pos);
        Ok(vec![fields.each(stage, pos)])
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// A field has a wrong type, or `setRoleBindingSubjects` has an unknown word.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let Namespace { unset_only, set_role_binding_subjects } = object.read()?;
        let pos = object.pos();
        let subjects = match set_role_binding_subjects {
            "" | "defaultOnly" => SetRoleBindingSubjects::DefaultOnly,
            "allServiceAccounts" => SetRoleBindingSubjects::AllServiceAccounts,
            "none" => SetRoleBindingSubjects::None,
            other => {
                let error = Error::new(Code::BadValue, format!("invalid setRoleBindingSubjects '{other}'")).at(pos);
                return Err(error.hint("it is one of defaultOnly, allServiceAccounts, none"));
            }
        };
        let namespace = object.metadata()?.namespace;
        let stage = NamespaceTransformer::new(object.arena(), namespace, object.specs()?, pos);
        Ok(Stage::each(NamespaceTransformer { subjects, unset_only, ..stage }))
    }
}

/// Returns true for the kind of Kubernetes' own Namespaces.
fn is_core_namespace(gvk: &Gvk<'_>) -> bool {
    gvk.kind == "Namespace" && gvk.group.is_empty() && gvk.version == "v1"
}

impl<'a> TransformEach<'a> for NamespaceTransformer<'a> {
    fn editor(&self, _: Arena<'a>) -> Editor<'_, 'a> {
        Box::new(|resource| self.edit(resource))
    }

    fn changes(&self) -> Changes {
        Changes::Names
    }

    fn check(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let message = "this value is not in the output: 'namespace' replaces it";
        let overridden = self.overridden.iter().flat_map(|overridden| overridden.findings(map, message));
        build.find(|| overridden);
        build.find(|| self.findings(map));
        map.check_unique_among(build.arena, |resource| !self.spares(resource))
            .map_err(|e| e.context("namespace transformation produces ID conflict"))
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(self)
    }
}

impl Overriding for NamespaceTransformer<'_> {
    fn watched(&self) -> Watched {
        Watched::JsonPatches
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
    }
}

impl<'a> NamespaceTransformer<'a> {
    /// Returns true if a resource keeps its namespace, because helm has made it. A manifest or a
    /// patch may have that annotation too.
    fn spares(&self, resource: &Resource<'_>) -> bool {
        self.spares_charts
            && (resource.notes().is_some_and(|notes| notes.helm_generated)
                || resource.annotation(HELM_GENERATED) == Some("true"))
    }

    /// The Namespaces that have got another name, and the first resource of a chart that is left
    /// without a namespace. O(resources).
    fn findings(&self, map: &ResMap<'_>) -> Vec<Warning> {
        let mut found: Vec<Warning> = map.iter().filter_map(|resource| self.renamed(resource)).collect();
        let is_without = |resource: &&Resource<'_>| {
            let id = resource.id();
            id.namespace.is_empty() && !id.is_cluster_scoped() && self.spares(resource)
        };
        let mut without = map.iter().filter(is_without);
        if let Some(first) = without.next().filter(|_| !self.namespace.is_empty()) {
            let message = match without.count() {
                0 => format!("{} of a chart has no namespace", first.id()),
                others => format!("{} and {others} more resources of charts have no namespace", first.id()),
            };
            let message = format!("{message}: kustomize applies 'namespace' to no resource of a chart");
            let finding = Warning::new(Code::ChartWithoutNamespace, message).at(self.pos).in_resource(first.id());
            let value = self.namespace;
            let patch = format!(r#"[{{"op": "add", "path": "/metadata/namespace", "value": "{value}"}}]"#);
            found.push(finding.hint(format!("set it by a patch with a target of these resources: '{patch}'")));
        }
        let moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        if !moved.is_empty() {
            let had: FastSet<&str> =
                map.iter().flat_map(|resource| resource.previous().iter()).map(|previous| previous.namespace).collect();
            found.extend(moved.iter().filter(|(_, old)| !had.contains(*old)).map(|(pos, old)| self.moved(*pos, old)));
        }
        found
    }

    /// The finding about a Namespace to which this transformer has given another name. Scaffolds of
    /// operators call the Namespace `system` and mean it to be renamed. A name that Kubernetes
    /// would refuse, such as `_` or `${NAMESPACE}`, is meant to be renamed, too.
    fn renamed(&self, resource: &Resource<'_>) -> Option<Warning> {
        let id = resource.id();
        if !is_core_namespace(&id.gvk) || id.name != self.namespace {
            return None;
        }
        let old = resource.previous().last()?.name;
        if !is_label(old.as_bytes()) || [self.namespace, "system"].contains(&old) || is_placeholder(self.namespace) {
            return None;
        }
        let message = format!("'namespace' gives the Namespace '{old}' the name '{}'", self.namespace);
        let finding = Warning::new(Code::NamespaceRenamed, message).at(resource.pos()).in_resource(id);
        Some(finding.hint("remove this Namespace, or list it in a kustomization without 'namespace'"))
    }

    /// The finding about a subject that was in a namespace which no resource had.
    fn moved(&self, pos: Pos, old: &str) -> Warning {
        let message =
            format!("'namespace' moves the subject 'default' from the namespace '{old}' to '{}'", self.namespace);
        let hint = "in place of 'namespace', list a NamespaceTransformer with 'setRoleBindingSubjects: none' under 'transformers'";
        Warning::new(Code::SubjectMoved, message).at(pos).at(self.pos).hint(hint)
    }

    /// Changes one resource.
    ///
    /// # Errors
    /// A field for the namespace is not a scalar.
    pub(super) fn edit(&self, resource: &mut Resource<'a>) -> Result<()> {
        if self.namespace.is_empty() || self.spares(resource) {
            return Ok(());
        }
        resource.record_previous();
        self.resource(resource)
    }

    fn resource(&self, resource: &mut Resource<'a>) -> Result<()> {
        let id = *resource.id();
        if !id.is_cluster_scoped()
            && let Some(metadata) = resource.metadata_mut()
        {
            let node = metadata.get_or_insert_with("namespace", || Scalar::string("").into());
            forget_null(node, Tag::Untyped);
            self.set(node)?;
        }
        if matches!(id.gvk.kind, "RoleBinding" | "ClusterRoleBinding") {
            self.subjects(resource).map_err(|e| e.in_resource(id).context(format!("in the subjects of {id}")))?;
        }
        for (spec, path) in self.specs.for_node(id.gvk, resource.node()) {
            let skipped = match spec.path.trim_start_matches('/') {
                "metadata/namespace" => true,
                "subjects/namespace" => matches!(id.gvk.kind, "RoleBinding" | "ClusterRoleBinding"),
                "metadata/name" => !is_core_namespace(&id.gvk) || self.unset_only,
                _ => false,
            };
            if skipped {
                continue;
            }
            let create = if spec.create { Create::Scalar } else { Create::No };
            let mut edit = |node: &mut Node<'a>| {
                if spec.create {
                    forget_null(node, Tag::Str);
                }
                self.set(node)
            };
            edit_path(resource, path, create, &mut edit)
                .map_err(|e| e.in_resource(id).context(format!("considering field '{}' of object {id}", spec.path)))?;
        }
        Ok(())
    }

    fn set(&self, node: &mut Node<'a>) -> Result<()> {
        let Value::Scalar(old) = node.value() else {
            return Err(Error::new(Code::WrongType, "namespace field specs must target scalar nodes")
                .at(node.pos())
                .hint("write the namespace as one text here"));
        };
        let is_set = !old.is_null() && !old.text().is_empty();
        if !(self.unset_only && is_set) {
            if let Some(overridden) = self.overridden.as_ref().filter(|_| old.text() != self.namespace) {
                overridden.note(node.pos());
            }
            node.set_text(self.namespace, Tag::Str, self.pos);
        }
        Ok(())
    }

    fn subjects(&self, resource: &mut Resource<'a>) -> Result<()> {
        if self.subjects == SetRoleBindingSubjects::None {
            return Ok(());
        }
        let Some(subjects) = resource.node_mut().as_mapping_mut().and_then(|m| m.get_mut("subjects")) else {
            return Ok(());
        };
        if subjects.is_null() {
            return Ok(());
        }
        let pos = subjects.pos();
        let Some(items) = subjects.as_sequence_mut() else {
            return Err(Error::new(Code::WrongType, "wrong node kind: 'subjects' must be a list")
                .at(pos)
                .hint("write each subject as an item, with '- ' in front of it"));
        };
        let (field, wanted) = match self.subjects {
            SetRoleBindingSubjects::DefaultOnly => ("name", "default"),
            _ => ("kind", "ServiceAccount"),
        };
        for item in items.iter_mut().filter(|item| !item.is_null()) {
            let pos = item.pos();
            let Some(subject) = item.as_mapping_mut() else {
                return Err(Error::new(Code::WrongType, "wrong node kind: each of 'subjects' must be a mapping")
                    .at(pos)
                    .hint("write it as in {kind: ServiceAccount, name: web, namespace: shop}"));
            };
            match subject.get(field).map(|node| (node.as_scalar(), node)) {
                Some((None, node)) => {
                    let shape = node.shape();
                    let message = format!("wrong node kind: the {field} of a subject must be a scalar, found {shape}");
                    return Err(Error::new(Code::WrongType, message).at(node.pos()).hint("write one text here"));
                }
                Some((Some(scalar), _)) if !scalar.is_null() && scalar.text() == wanted => {
                    let node = subject.get_or_insert_with("namespace", Node::null);
                    if self.overridden.is_some() && self.subjects == SetRoleBindingSubjects::DefaultOnly {
                        self.note_moved(node);
                    }
                    self.set(node)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<'a> NamespaceTransformer<'a> {
    /// Notes the namespace of a subject, if it is another one.
    fn note_moved(&self, node: &Node<'a>) {
        let old = node.as_scalar().filter(|scalar| !scalar.is_null()).map_or("", |scalar| scalar.text());
        // Scaffolds of operators call their namespace so.
        let is_meant = old == "system" || is_placeholder(old) || is_placeholder(self.namespace);
        if !old.is_empty() && old != self.namespace && !is_meant {
            self.moved.lock().unwrap_or_else(PoisonError::into_inner).entry(node.pos()).or_insert(old);
        }
    }
}

/// Sets another tag of a null, as upstream does with a field that it would make: its spelling is
/// then a namespace.
fn forget_null(node: &mut Node<'_>, tag: Tag) {
    if node.is_null() {
        node.retag(tag);
    }
}
