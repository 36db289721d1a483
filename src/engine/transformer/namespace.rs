//! NamespaceTransformer: sets the namespace of every namespaced resource.
//!
//! *Fields*: `namespace`.
//! *Kinds*: `NamespaceTransformer`, with `metadata.namespace`, `fieldSpecs`, `unsetOnly`, and
//! `setRoleBindingSubjects`: `defaultOnly`, `allServiceAccounts` or `none`.
//! *Selects*: all resources, but not what helm made for a kustomization's own charts.
//! *Writes*: `metadata/namespace`, the names of Namespaces, subjects of role bindings, and the
//! fields of the specs.
//! *Order*: after patches, before the names.
//! *Cost*: O(resources + subjects).
//! *Quirks*: only subjects named `default` move, unless a configuration object asks for more (case
//! ref-rolebinding-subject-other-ns); two v1 Namespaces under one `namespace` get the same name and
//! collide. Kubernetes 1.21.2 and an `openapi` file say which kinds have a namespace.
//! *Example*: `testdata/reference/namespace.txtar`

use super::edit_path;
use crate::config::FieldSpecs;
use crate::config::field_spec::Create;
use crate::diag::{Code, Error, Result};
use crate::resource::{Changes, HELM_GENERATED, ResMap, Resource};
use crate::stage::{Build, Editor, Overridden, TransformEach};
use rustomize_yaml::{Arena, Node, Pos, Scalar, Tag, Value};

/// The subjects of role bindings that get the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetRoleBindingSubjects {
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
    pub namespace: &'a str,
    pub specs: FieldSpecs<'a>,
    pub subjects: SetRoleBindingSubjects,
    /// Leaves namespaces that are set alone.
    pub unset_only: bool,
    /// True to leave the resources of charts alone.
    pub spares_charts: bool,
    /// The entry, which is the place of what is set.
    pub pos: Pos,
    /// The JSON patches of the kustomization, if the build is asked for findings. A merge patch
    /// says by its namespace which resource it is for.
    pub overridden: Option<Overridden>,
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
        map.check_unique_among(build.arena, |resource| !self.spares(resource))
            .map_err(|e| e.context("namespace transformation produces ID conflict"))
    }
}

impl<'a> NamespaceTransformer<'a> {
    /// Returns true if a resource keeps its namespace, for helm has made it. A manifest or a patch
    /// may say so by hand.
    fn spares(&self, resource: &Resource<'_>) -> bool {
        self.spares_charts
            && (resource.rare().is_some_and(|rare| rare.helm_generated)
                || resource.annotation(HELM_GENERATED) == Some("true"))
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
        let is_core_namespace = id.gvk.kind == "Namespace" && id.gvk.group.is_empty() && id.gvk.version == "v1";
        for (spec, path) in self.specs.for_node(id.gvk, resource.node()) {
            let skipped = match spec.path.trim_start_matches('/') {
                "metadata/namespace" => true,
                "subjects/namespace" => matches!(id.gvk.kind, "RoleBinding" | "ClusterRoleBinding"),
                "metadata/name" => !is_core_namespace || self.unset_only,
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
                    self.set(subject.get_or_insert_with("namespace", Node::null))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Gives a null another tag, as upstream does with a field that it would make: its spelling is then
/// a namespace.
fn forget_null(node: &mut Node<'_>, tag: Tag) {
    if node.is_null() {
        node.retag(tag);
    }
}
