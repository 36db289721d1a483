//! References that lead nowhere, where the output says that they are meant to lead to a resource
//! in it.

use super::finding::finding;
use super::index::{Index, Key};
use super::near::Near;
use super::parts::{Parts, fields, items, listed};
use crate::diag::{Code, Warning, is_placeholder};
use crate::resource::{DEFAULT_NAMESPACE, ResId, ResMap, Resource};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustomize_base::meter::{self, FastMap, FastSet};
use rustomize_yaml::{Arena, Node};
use std::sync::OnceLock;

/// The resources that are referred to.
pub(super) struct Named<'n, 'a> {
    map: &'n ResMap<'a>,
    now: Index<'n, 'a>,
    /// The kinds that the resources have or had. It is made for the first reference that leads
    /// nowhere.
    kinds: OnceLock<FastSet<&'a str>>,
    /// By names that resources had before prefixes, suffixes and hashes. It is made for the first
    /// reference that leads nowhere.
    before: OnceLock<ByName<'n, 'a>>,
    /// The names that references in the output name, by kind and namespace. It is made for the
    /// first reference that may name a resource of another kind by mistake.
    referred: OnceLock<FastSet<Key<'a>>>,
    /// The names of resources that nothing refers to, for mistyped references. It is made for the
    /// first reference that leads nowhere.
    unreferred: OnceLock<Near<'a>>,
    /// Resources with another name than before, by kind and earlier name, for references from
    /// another namespace. It is made for the first reference that leads nowhere.
    elsewhere: OnceLock<FastMap<(&'a str, &'a str), &'n Resource<'a>>>,
    /// Services and ServiceAccounts by kind and each name that they have or had. It is made for the
    /// first reference with a namespace of its own that leads nowhere.
    anywhere: OnceLock<FastMap<(&'a str, &'a str), Vec<&'n Resource<'a>>>>,
}

/// Resources by kind, namespace and name.
type ByName<'n, 'a> = FastMap<Key<'a>, &'n Resource<'a>>;

/// The kinds that are referred to here.
fn is_target(resource: &Resource<'_>) -> bool {
    let gvk = resource.id().gvk;
    match gvk.group {
        "" => matches!(gvk.kind, "ConfigMap" | "Secret" | "ServiceAccount" | "PersistentVolumeClaim" | "Service"),
        "apps" => matches!(gvk.kind, "Deployment" | "StatefulSet" | "ReplicaSet"),
        "rbac.authorization.k8s.io" => matches!(gvk.kind, "Role" | "ClusterRole"),
        _ => false,
    }
}

/// The kind, the namespace and the name of a resource.
fn key_of<'a>(resource: &Resource<'a>) -> Key<'a> {
    let id = resource.id();
    (id.gvk.kind, id.effective_namespace(), id.name)
}

/// A reference in a resource.
struct Reference<'n, 'a> {
    kind: &'a str,
    /// The node with the name.
    name: &'n Node<'a>,
    /// The nodes with keys of the object that must exist.
    keys: Vec<&'n Node<'a>>,
    /// True if the value of the key becomes a variable of a container.
    is_variable: bool,
}

impl<'n, 'a> Reference<'n, 'a> {
    /// A reference that needs no key of the object.
    fn to(kind: &'a str, name: &'n Node<'a>) -> Self {
        Reference { kind, name, keys: Vec::new(), is_variable: false }
    }
}

impl<'n, 'a> Named<'n, 'a> {
    /// The resources of these kinds. O(resources).
    pub(super) fn of(arena: Arena<'a>, map: &'n ResMap<'a>) -> Self {
        let target = |resource: &Resource<'a>| is_target(resource).then(|| key_of(resource));
        Named {
            map,
            now: Index::of(arena, map, target),
            kinds: OnceLock::new(),
            before: OnceLock::new(),
            referred: OnceLock::new(),
            unreferred: OnceLock::new(),
            elsewhere: OnceLock::new(),
            anywhere: OnceLock::new(),
        }
    }

    /// Returns true if a resource of a kind is or was there, or one of a kind that is easily
    /// confused: without any, nothing can be said of a reference. O(resources) the first time, then
    /// O(1).
    fn knows(&self, kind: &str) -> bool {
        let kinds = self.kinds.get_or_init(|| {
            let targets = self.map.iter().filter(|resource| is_target(resource));
            let kinds = |resource: &'n Resource<'a>| {
                resource.previous().iter().map(|previous| previous.kind).chain([resource.id().gvk.kind])
            };
            targets.flat_map(kinds).collect()
        });
        kinds.contains(kind) || confused(kind).iter().any(|other| kinds.contains(other))
    }

    /// The resources by their earlier names. O(all earlier names) the first time, then O(1).
    fn before(&self) -> &ByName<'n, 'a> {
        self.before.get_or_init(|| {
            let targets = self.map.iter().filter(|resource| is_target(resource));
            let names =
                targets.flat_map(|resource| resource.previous().iter().map(move |previous| (previous, resource)));
            names.map(|(p, r)| ((p.kind, r.id().effective_namespace(), p.name), r)).collect()
        })
    }

    /// The name of a resource that a mistyped name most likely stands for: one that nothing in the
    /// output refers to. Names that resources had earlier count, too. O(resources and references)
    /// the first time, then O(length of the name).
    fn meant(&self, kind: &'a str, namespace: &'a str, name: &str) -> Option<&'a str> {
        let unreferred = self.unreferred.get_or_init(|| {
            let referred = self.referred.get_or_init(|| self.all_referred());
            let mut near = Near::default();
            for resource in self.map.iter().filter(|resource| is_target(resource)) {
                let (kind, namespace, name) = key_of(resource);
                let names = || std::iter::once(name).chain(resource.previous().iter().map(|p| p.name));
                if !names().any(|name| referred.contains(&(kind, namespace, name))) {
                    names().for_each(|name| near.add(kind, namespace, name));
                }
            }
            near
        });
        unreferred.get(kind, namespace, name)
    }

    /// The resource that a reference from another namespace means: it had the name before it got
    /// another one, and one of the two sides names no namespace. O(all earlier names) the first
    /// time, then O(1).
    fn in_other_namespace(&self, referrer: &Resource<'a>, kind: &'a str, name: &'a str) -> Option<&'n Resource<'a>> {
        let elsewhere = self.elsewhere.get_or_init(|| {
            let renamed = self.map.iter().filter(|resource| is_target(resource));
            let names = renamed.flat_map(|resource| {
                let id = resource.id();
                let earlier = resource.previous().iter().filter(move |p| p.name != id.name);
                earlier.map(move |p| ((p.kind, p.name), resource))
            });
            names.collect()
        });
        let target = *elsewhere.get(&(kind, name))?;
        let namespaces = [referrer.id().namespace, target.id().namespace];
        (namespaces[0] != namespaces[1] && namespaces.contains(&"")).then_some(target)
    }

    /// The only Service or ServiceAccount that has or had a name, in any namespace. O(all names)
    /// the first time, then O(1).
    fn only(&self, kind: &str, name: &str) -> Option<&'n Resource<'a>> {
        let anywhere = self.anywhere.get_or_init(|| {
            let mut anywhere: FastMap<_, Vec<&Resource<'a>>> = FastMap::default();
            let is_wanted = |resource: &&Resource<'a>| {
                is_target(resource) && matches!(resource.id().gvk.kind, "Service" | "ServiceAccount")
            };
            for resource in self.map.iter().filter(is_wanted) {
                let mut names: Vec<&str> = resource.any_ids().map(|id| id.name).collect();
                names.sort_unstable();
                names.dedup();
                let kind = resource.id().gvk.kind;
                names.into_iter().for_each(|name| anywhere.entry((kind, name)).or_default().push(resource));
            }
            anywhere
        });
        match anywhere.get(&(kind, name))?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The Service that a name and a namespace mean, if it has another name or namespace than in
    /// its file: it had the namespace, or none.
    fn moved_service(&self, namespace: &str, name: &str) -> Option<&'n Resource<'a>> {
        let service = self.only("Service", name)?;
        let (now, first) = (service.id(), service.original_id());
        let had = |id: ResId<'_>| id.namespace == namespace;
        let is_meant = service.any_ids().any(had) || ["", DEFAULT_NAMESPACE].contains(&first.namespace);
        let has_moved = (first.name, first.effective_namespace()) != (now.name, now.effective_namespace());
        (is_meant && has_moved).then_some(service)
    }

    /// The resource of another kind that a reference names by mistake. There is none if somebody
    /// refers to that resource by its own kind: a ConfigMap and a Secret often have one name, and
    /// one of the two is not in the output. Nor if it lacks a key that the reference names.
    /// O(references in the output) the first time, then O(1).
    fn mistaken(&self, reference: &Reference<'_, 'a>, namespace: &'a str, name: &'a str) -> Option<&'static str> {
        let is_referred = |key: &Key<'a>| self.referred.get_or_init(|| self.all_referred()).contains(key);
        let is_meant = |kind: &'static str| {
            let key = (kind, namespace, name);
            let Some(target) = self.now.get(key).or_else(|| self.before().get(&key).copied()) else { return false };
            // References by its own kind have followed its name.
            let is_known = || is_referred(&(kind, namespace, target.id().name));
            !reference.keys.iter().any(|key| lacks(target, key)) && !is_known()
        };
        confused(reference.kind).iter().copied().find(|kind| is_meant(kind))
    }

    /// The names that references in the output name.
    fn all_referred(&self) -> FastSet<Key<'a>> {
        let mut all = FastSet::default();
        for resource in self.map.iter() {
            let namespace = resource.id().effective_namespace();
            each_reference(&Parts::of(resource), &mut |reference| {
                all.extend(reference.name.as_scalar().map(|name| (reference.kind, namespace, name.text())));
            });
        }
        all
    }
}

/// Adds a finding for each reference of a resource that surely leads nowhere. O(size of its pods).
///
/// A name is reported if nothing has it and kind, and one of these is in the output: a resource of
/// that kind that had the name before it got another one; a resource of another kind that is easily
/// confused, with the name and without a reference by its own kind; a resource of that kind whose
/// name differs in one character, to which nothing refers. A key is reported if the ConfigMap or
/// Secret is in the output, has keys, and lacks it.
pub(super) fn dangling<'a>(parts: &Parts<'_, 'a>, named: &Named<'_, 'a>, found: &mut Vec<Warning>) {
    if !named.now.is_empty() {
        each_reference(parts, &mut |reference| found.extend(fault(parts.resource, &reference, named)));
    }
}

/// Adds a finding for each webhook, API and conversion of a resource whose Service was renamed, or
/// was moved to another namespace, without the reference; and for subjects without a namespace.
/// O(webhooks and subjects of the resource).
pub(super) fn stranded<'a>(parts: &Parts<'_, 'a>, named: &Named<'_, 'a>, found: &mut Vec<Warning>) {
    let (node, gvk) = (parts.resource.node(), parts.resource.id().gvk);
    let clients: Vec<&Node<'a>> = match (gvk.group, gvk.kind) {
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            items(node, "webhooks").filter_map(|webhook| webhook.get("clientConfig")).collect()
        }
        ("apiregistration.k8s.io", "APIService") => parts.spec.into_iter().collect(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let conversion = parts.spec.and_then(|spec| spec.get("conversion")?.get("webhook")?.get("clientConfig"));
            conversion.into_iter().collect()
        }
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => {
            found.extend(
                items(node, "subjects").filter_map(|subject| without_namespace(parts.resource, subject, named)),
            );
            return;
        }
        _ => return,
    };
    for service in clients.into_iter().filter_map(|client| client.get("service")) {
        let text = |field| service.get_text(field).filter(|text| !text.is_empty() && !is_placeholder(text));
        let (Some(name), Some(namespace)) = (text("name"), text("namespace")) else { continue };
        if named.now.get(("Service", namespace, name)).is_some() {
            continue;
        }
        let (Some(target), Some(at)) = (named.moved_service(namespace, name), service.get("name")) else { continue };
        let id = target.id();
        let message = format!("the output has no Service '{name}' in the namespace '{namespace}'");
        let place = match id.namespace {
            "" => String::new(),
            now => format!(" in the namespace '{now}'"),
        };
        let hint =
            format!("the Service is '{}'{place} by now: write the same namespace here and in the Service", id.name);
        found.push(finding(Code::DanglingReference, parts.resource, at, message).hint(hint));
    }
}

/// The finding about a subject of a ClusterRoleBinding that names no namespace, where the
/// ServiceAccount in the output has one.
fn without_namespace<'a>(resource: &Resource<'a>, subject: &Node<'a>, named: &Named<'_, 'a>) -> Option<Warning> {
    let has_namespace = subject.get_text("namespace").is_some_and(|namespace| !namespace.is_empty());
    if has_namespace || subject.get_text("kind") != Some("ServiceAccount") {
        return None;
    }
    let name = subject.get("name")?;
    let account = named.only("ServiceAccount", name.as_scalar()?.text())?.id();
    let message = format!("the subject '{}' has no namespace: Kubernetes refuses it", account.name);
    let hint = format!("write 'namespace: {}' beside its name", account.namespace);
    let finding = finding(Code::DanglingReference, resource, name, message);
    (!account.namespace.is_empty()).then(|| finding.hint(hint))
}

/// Looks at each reference of a resource. O(size of its pods).
fn each_reference<'n, 'a>(parts: &Parts<'n, 'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    if let Some(pod) = parts.pod() {
        for container in &pod.containers {
            in_environment(listed(container.env).filter_map(|item| item.get("valueFrom")), look);
            in_environment(listed(container.env_from), look);
        }
        listed(pod.volumes).for_each(|volume| in_volume(volume, &mut *look));
        pod.service_account.into_iter().for_each(|name| look(Reference::to("ServiceAccount", name)));
        let pull_secrets = listed(pod.pull_secrets).filter_map(|item| item.get("name"));
        pull_secrets.for_each(|name| look(Reference::to("Secret", name)));
    }
    scaled(parts).into_iter().for_each(&mut *look);
    bound(parts, look);
    backends(parts, look);
}

/// Looks at the references in sources of variables.
fn in_environment<'n, 'a>(sources: impl Iterator<Item = &'n Node<'a>>, look: &mut impl FnMut(Reference<'n, 'a>))
where
    'a: 'n,
{
    for (field, node) in sources.flat_map(fields) {
        let kind = match field {
            "configMapKeyRef" | "configMapRef" => "ConfigMap",
            "secretKeyRef" | "secretRef" => "Secret",
            _ => continue,
        };
        let found = reference(kind, node, "name", node.get("key"));
        found.map(|found| Reference { is_variable: true, ..found }).map(&mut *look);
    }
}

/// Looks at the references in a volume.
fn in_volume<'n, 'a>(volume: &'n Node<'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    for (field, node) in fields(volume) {
        match field {
            "persistentVolumeClaim" => {
                reference("PersistentVolumeClaim", node, "claimName", None).map(&mut *look);
            }
            "projected" => items(node, "sources")
                .flat_map(fields)
                .for_each(|(field, node)| in_source(field, node, "name", &mut *look)),
            _ => in_source(field, node, "secretName", &mut *look),
        }
    }
}

/// Looks at a volume that is a ConfigMap or a Secret, whose name is in the field `name_of_secret`.
fn in_source<'n, 'a>(field: &str, node: &'n Node<'a>, name_of_secret: &str, look: &mut impl FnMut(Reference<'n, 'a>)) {
    let (kind, name) = match field {
        "configMap" => ("ConfigMap", "name"),
        "secret" => ("Secret", name_of_secret),
        _ => return,
    };
    let keys = items(node, "items").filter_map(|item| item.get("key"));
    reference(kind, node, name, keys).map(look);
}

/// The reference in a node, unless the node says that its target may be missing.
fn reference<'n, 'a>(
    kind: &'a str,
    node: &'n Node<'a>,
    name: &str,
    keys: impl IntoIterator<Item = &'n Node<'a>>,
) -> Option<Reference<'n, 'a>> {
    let is_optional = node.get("optional").and_then(Node::as_scalar).is_some_and(|s| s.text() == "true");
    let name = node.get(name).filter(|_| !is_optional)?;
    Some(Reference { kind, name, keys: keys.into_iter().collect(), is_variable: false })
}

/// The workload that a HorizontalPodAutoscaler scales.
fn scaled<'n, 'a>(parts: &Parts<'n, 'a>) -> Option<Reference<'n, 'a>> {
    let gvk = parts.resource.id().gvk;
    if (gvk.group, gvk.kind) != ("autoscaling", "HorizontalPodAutoscaler") {
        return None;
    }
    let target = parts.spec?.get("scaleTargetRef")?;
    let is_workload = target.get_text("apiVersion").is_some_and(|version| version.starts_with("apps/"));
    let kind = target.get_text("kind").filter(|_| is_workload)?;
    Some(Reference::to(kind, target.get("name")?))
}

/// Looks at the role and the ServiceAccounts of the same namespace that a RoleBinding names.
fn bound<'n, 'a>(parts: &Parts<'n, 'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    let id = parts.resource.id();
    if (id.gvk.group, id.gvk.kind) != ("rbac.authorization.k8s.io", "RoleBinding") {
        return;
    }
    let node = parts.resource.node();
    let role = node.get("roleRef").filter(|role| role.get_text("kind") == Some("Role"));
    role.and_then(|role| role.get("name")).into_iter().for_each(|name| look(Reference::to("Role", name)));
    let is_here = |subject: &&Node<'_>| {
        let namespace = subject.get_text("namespace").unwrap_or_default();
        subject.get_text("kind") == Some("ServiceAccount") && [id.namespace, ""].contains(&namespace)
    };
    let names = items(node, "subjects").filter(is_here).filter_map(|subject| subject.get("name"));
    names.for_each(|name| look(Reference::to("ServiceAccount", name)));
}

/// Looks at the Services behind an Ingress.
fn backends<'n, 'a>(parts: &Parts<'n, 'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    let gvk = parts.resource.id().gvk;
    if (gvk.group, gvk.kind) != ("networking.k8s.io", "Ingress") {
        return;
    }
    let Some(spec) = parts.spec else { return };
    let paths = items(spec, "rules").filter_map(|rule| rule.get("http")).flat_map(|http| items(http, "paths"));
    let of_paths = paths.filter_map(|path| path.get("backend"));
    let services = spec.get("defaultBackend").into_iter().chain(of_paths).filter_map(|backend| backend.get("service"));
    services.filter_map(|service| service.get("name")).for_each(|name| look(Reference::to("Service", name)));
}

/// The kinds that one is easily confused with.
fn confused(kind: &str) -> &'static [&'static str] {
    match kind {
        "ConfigMap" => &["Secret"],
        "Secret" => &["ConfigMap"],
        "Deployment" => &["StatefulSet"],
        "StatefulSet" => &["Deployment"],
        _ => &[],
    }
}

/// The finding about a reference of a resource.
fn fault<'a>(resource: &Resource<'a>, reference: &Reference<'_, 'a>, named: &Named<'_, 'a>) -> Option<Warning> {
    let (kind, namespace) = (reference.kind, resource.id().effective_namespace());
    let name = reference.name.as_scalar().map(|s| s.text()).filter(|name| !name.is_empty() && !is_placeholder(name))?;
    let about = |at: &Node<'_>, message| finding(Code::DanglingReference, resource, at, message);
    if let Some(target) = named.now.get((kind, namespace, name)) {
        let Some(key) = reference.keys.iter().find(|key| lacks(target, key)) else {
            let key = reference.keys.iter().find(|key| reference.is_variable && ends_with_break(target, key))?;
            let message = format!("this variable ends with a line break, as the value of '{}' does", key.scalar_text());
            let hint = "end the file of the value without a line break, or take the value from 'literals' or 'envs'";
            return Some(finding(Code::LineBreak, resource, key, message).hint(hint));
        };
        let message = format!("the {kind} '{name}' has no key '{}'", key.as_scalar()?.text());
        return Some(about(key, message));
    }
    if !named.knows(kind) {
        return None;
    }
    let had = named.before().get(&(kind, namespace, name)).map(|target| {
        format!("the resource got the name '{}' later: kustomize does not update this reference", target.id().name)
    });
    let other = || {
        let kind = named.mistaken(reference, namespace, name)?;
        Some(format!("it has a {kind} of this name: refer to that"))
    };
    let elsewhere = || named.in_other_namespace(resource, kind, name).map(|target| beside(target, resource, kind));
    let meant = || named.meant(kind, namespace, name).map(|near| format!("did you mean '{near}'?"));
    let hint = had.or_else(other).or_else(elsewhere).or_else(meant)?;
    let message = format!("the output has no {kind} '{name}' in this namespace");
    Some(about(reference.name, message).hint(hint))
}

/// The hint for a reference to a resource without a namespace, or from one. kustomize takes a
/// missing namespace for another one than any that is named.
fn beside(target: &Resource<'_>, referrer: &Resource<'_>, kind: &str) -> String {
    let (target, referrer) = (target.id(), referrer.id());
    match target.namespace {
        "" => format!(
            "the {kind} '{}' names no namespace: write 'namespace: {}' where it is made",
            target.name, referrer.namespace
        ),
        namespace => format!(
            "the {kind} '{}' is in the namespace '{namespace}': write 'namespace: {namespace}' in this resource",
            target.name
        ),
    }
}

/// Values with more bytes are not asked for a line break: each variable reads its value again.
const LONGEST_LINE: usize = 4_096;

/// True if the value of a key of a ConfigMap or Secret is a single line that ends with a line
/// break. O(size of the value, up to a limit).
fn ends_with_break(target: &Resource<'_>, key: &Node<'_>) -> bool {
    let value = |field: &str| Some(target.node().get(field)?.get(key.scalar_text())?.as_scalar()?.text());
    let is_line = |text: &str| text.strip_suffix('\n').is_some_and(|line| !line.is_empty() && !line.contains('\n'));
    let data = value("data");
    let Some(text) = data.or_else(|| value("stringData")).filter(|text| text.len() <= LONGEST_LINE) else {
        return false;
    };
    meter::count_text(text);
    if data.is_none() || target.id().gvk.kind != "Secret" {
        return is_line(text);
    }
    let decoded = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|text| is_line(&text))
}

/// True if a ConfigMap or Secret has keys, and lacks one.
fn lacks(target: &Resource<'_>, key: &Node<'_>) -> bool {
    let Some(key) = key.as_scalar().map(|scalar| scalar.text()).filter(|key| !is_placeholder(key)) else {
        return false;
    };
    let fields =
        ["data", "stringData", "binaryData"].into_iter().filter_map(|field| target.node().get(field)?.as_mapping());
    let mut has_keys = false;
    for mapping in fields {
        has_keys |= !mapping.is_empty();
        if mapping.contains(key) {
            return false;
        }
    }
    has_keys
}
