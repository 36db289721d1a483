//! References of custom kinds, and host names in texts, that hold the earlier name of a resource:
//! kustomize updates the references of Kubernetes' own kinds, and those that `nameReference` names.

use super::finding::finding;
use super::parts::{Parts, fields, list, listed};
use crate::diag::{Code, Mend, NameReference, Warning, is_placeholder};
use crate::resource::{ResId, ResMap, Resource};
use crate::schema::builtin_groups;
use memchr::memmem::Finder;
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_yaml::Node;
use std::sync::{LazyLock, OnceLock};

/// Resources with another name than before. The tables are made for the first custom resource, if
/// there are such resources.
pub(super) struct Renamed<'n, 'a> {
    map: &'n ResMap<'a>,
    has_none: OnceLock<bool>,
    tables: OnceLock<Tables<'n, 'a>>,
    hosts: OnceLock<Hosts<'n, 'a>>,
}

/// The Services by a namespace and a name that make an earlier host name; several if more than one
/// had it. Host names that a Service has today are not among them.
type Hosts<'n, 'a> = FastMap<(&'a str, &'a str), Vec<&'n Resource<'a>>>;

struct Tables<'n, 'a> {
    /// The resources by an earlier name.
    by_old_name: FastMap<&'a str, Vec<&'n Resource<'a>>>,
    /// The kinds and names of today.
    taken: FastSet<(&'a str, &'a str)>,
}

impl<'n, 'a> Renamed<'n, 'a> {
    pub(super) fn of(map: &'n ResMap<'a>) -> Self {
        Renamed { map, has_none: OnceLock::new(), tables: OnceLock::new(), hosts: OnceLock::new() }
    }

    /// True if all resources have the names that they had. O(resources) the first time, then O(1).
    fn has_none(&self) -> bool {
        let has_other = |r: &Resource<'_>| r.previous().iter().any(|p| p.name != r.id().name);
        *self.has_none.get_or_init(|| !self.map.iter().any(has_other))
    }

    /// O(all names) the first time, then O(1).
    fn tables(&self) -> &Tables<'n, 'a> {
        self.tables.get_or_init(|| {
            let (mut by_old_name, mut taken) = (FastMap::<_, Vec<_>>::default(), FastSet::default());
            for resource in self.map.iter() {
                let id = resource.id();
                taken.insert((id.gvk.kind, id.name));
                let mut old: Vec<&str> = resource.previous().iter().map(|p| p.name).filter(|n| *n != id.name).collect();
                old.sort_unstable();
                old.dedup();
                old.into_iter().for_each(|name| by_old_name.entry(name).or_default().push(resource));
            }
            Tables { by_old_name, taken }
        })
    }

    /// The earlier host names of Services: in a namespace that the Service had, or has.
    /// O(resources) the first time, then O(1).
    fn hosts(&self) -> &Hosts<'n, 'a> {
        self.hosts.get_or_init(|| {
            let services = || self.map.iter().filter(|r| r.id().gvk.kind == "Service" && r.id().gvk.group.is_empty());
            let now = |service: &Resource<'a>| (service.id().effective_namespace(), service.id().name);
            let mut hosts = Hosts::default();
            let has_other =
                |service: &Resource<'a>| service.previous().iter().any(|p| (p.namespace, p.name) != now(service));
            if !services().any(has_other) {
                return hosts;
            }
            let taken: FastSet<_> = services().map(now).collect();
            for service in services() {
                let (namespace, _) = now(service);
                let earlier = service.previous().iter().flat_map(|p| [(p.namespace, p.name), (namespace, p.name)]);
                let mut earlier: Vec<_> = earlier.filter(|host| !taken.contains(host)).collect();
                earlier.sort_unstable();
                earlier.dedup();
                earlier.into_iter().for_each(|host| hosts.entry(host).or_default().push(service));
            }
            hosts
        })
    }

    /// The only resource of a kind that had a name, in a namespace that it has or had, if none has
    /// that name today. O(resources that had the name).
    fn by_name(&self, kind: &str, name: &str, namespace: &str) -> Option<&'n Resource<'a>> {
        let Tables { by_old_name, taken } = self.tables();
        let mut had = by_old_name.get(name)?.iter().copied().filter(|target| target.id().gvk.kind == kind);
        let target = had.next()?;
        let is_there = |id: ResId<'_>| id.effective_namespace() == namespace;
        let is_meant = had.next().is_none() && target.any_ids().any(is_there) && !taken.contains(&(kind, name));
        is_meant.then_some(target)
    }

    /// The resource of one of the kinds that had a name, if none of them has that name today.
    fn get(&self, reference: &Reference<'_, 'a>, name: &'a str) -> Option<&'n Resource<'a>> {
        let Tables { by_old_name, taken } = self.tables();
        let had = by_old_name.get(name)?.iter().copied();
        let mut meant = had.filter(|target| {
            let id = target.id();
            let is_meant = reference.kinds.is_meant(id.gvk.kind) || reference.is_like(id.gvk.kind, id.gvk.group);
            is_meant && !taken.contains(&(id.gvk.kind, name))
        });
        let target = meant.next()?;
        // Which of several is meant is not known.
        meant.next().is_none().then_some(target)
    }
}

/// A text that names a resource.
struct Reference<'n, 'a> {
    kinds: Kinds<'a>,
    name: &'n Node<'a>,
    /// The group of the resource that refers.
    group: &'a str,
}

impl Reference<'_, '_> {
    /// True for a field such as `masterInstanceRef`, and a kind of the same group whose last word
    /// is that of the field, as `SQLInstance`.
    fn is_like(&self, kind: &str, group: &str) -> bool {
        let Kinds::InField(stem) = self.kinds else { return false };
        group == self.group && !group.is_empty() && last_word(stem).eq_ignore_ascii_case(last_word(kind))
    }
}

/// The last word of a name in camel case; the name itself if it is one word.
fn last_word(name: &str) -> &str {
    name.rfind(|c: char| c.is_ascii_uppercase()).and_then(|at| name.get(at..)).unwrap_or(name)
}

/// The kinds that a reference may lead to.
#[derive(Clone, Copy)]
enum Kinds<'a> {
    /// The kind that stands beside the name.
    Given(&'a str),
    /// The kinds that a field is known for.
    Known(&'static [&'static str]),
    /// The kind whose name begins the name of a field, as `gatewayRef`.
    InField(&'a str),
}

impl Kinds<'_> {
    fn is_meant(self, kind: &str) -> bool {
        match self {
            Kinds::Given(given) => given == kind,
            Kinds::Known(known) => known.contains(&kind),
            Kinds::InField(stem) => stem.eq_ignore_ascii_case(kind),
        }
    }
}

/// Adds a finding for each reference of a custom resource to an earlier name. O(size of the
/// resource).
pub(super) fn find<'a>(resource: &Resource<'a>, renamed: &Renamed<'_, 'a>, found: &mut Vec<Warning>) {
    let gvk = resource.id().gvk;
    if renamed.has_none() {
        return;
    }
    found.extend(of_parameters(resource, renamed));
    if builtin_groups(gvk.kind).contains(&gvk.group) {
        return;
    }
    let mut path = Vec::new();
    for (field, value) in fields(resource.node()).filter(|(field, _)| !NOT_READ.contains(field)) {
        path.push(field);
        walk(value, &mut path, &mut |path, kinds, name| {
            let reference = Reference { kinds, name, group: gvk.group };
            found.extend(fault(resource, path, &reference, renamed));
        });
        path.pop();
    }
}

/// Adds a finding for each host name of a Service by an earlier name, in the environment and the
/// arguments of containers, in the data of ConfigMaps and in the names of Certificates; and for the
/// annotation by which cert-manager finds a Certificate. O(size of these texts).
pub(super) fn in_texts<'a>(parts: &Parts<'_, 'a>, renamed: &Renamed<'_, 'a>, found: &mut Vec<Warning>) {
    let resource = parts.resource;
    let annotation = parts.metadata.and_then(|metadata| metadata.get("annotations")?.get(INJECTED));
    found.extend(annotation.and_then(|node| of_certificate(resource, node, renamed)));
    let mut look = |node: &Node<'a>| {
        let text = node.as_scalar().map_or("", |scalar| scalar.text());
        found.extend(hosts(text).find_map(|host| of_host(resource, node, host, renamed)));
    };
    let gvk = resource.id().gvk;
    let data = resource.node().get("data").filter(|_| gvk.kind == "ConfigMap" && gvk.group.is_empty());
    data.into_iter().flat_map(fields).for_each(|(_, value)| look(value));
    let names = parts.spec.and_then(|spec| spec.get("dnsNames")).filter(|_| gvk.group == "cert-manager.io");
    listed(names).for_each(&mut look);
    for container in parts.pod().into_iter().flat_map(|pod| &pod.containers) {
        listed(container.env).filter_map(|item| item.get("value")).for_each(&mut look);
        [container.args, container.command].into_iter().flat_map(listed).for_each(&mut look);
    }
}

/// The annotation with the namespace and name of a Certificate whose CA cert-manager injects.
const INJECTED: &str = "cert-manager.io/inject-ca-from";

/// The part of a host name behind the names of the Service and of its namespace.
const SVC: &str = ".svc";

/// A host name of a Service in a cluster.
#[derive(Clone, Copy)]
struct Host<'t> {
    service: &'t str,
    namespace: &'t str,
}

/// The host names in a text: `SERVICE.NAMESPACE.svc`, also where more labels follow, as in
/// `web.shop.svc.cluster.local`. O(size of the text).
fn hosts(text: &str) -> impl Iterator<Item = Host<'_>> {
    let is_of_label = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let last_label = move |text| -> (_, _) {
        let text: &str = text;
        text.split_at(text.trim_end_matches(is_of_label).len())
    };
    static SEARCH: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(SVC));
    SEARCH.find_iter(text.as_bytes()).filter_map(move |at| {
        if text[at + SVC.len()..].starts_with(is_of_label) {
            return None;
        }
        let (before, namespace) = last_label(&text[..at]);
        let (_, service) = last_label(before.strip_suffix('.')?);
        (!namespace.is_empty() && !service.is_empty()).then_some(Host { service, namespace })
    })
}

/// The finding about a host name whose Service has another name by now.
fn of_host<'a>(resource: &Resource<'a>, node: &Node<'a>, host: Host<'_>, renamed: &Renamed<'_, 'a>) -> Option<Warning> {
    let [target] = renamed.hosts().get(&(host.namespace, host.service))?.as_slice() else { return None };
    let (now, Host { service, namespace }) = (target.id(), host);
    let message = match now.namespace {
        "" => {
            format!("'{service}.{namespace}.svc' is the host of a Service that is named '{}' in the output", now.name)
        }
        here => format!(
            "'{service}.{namespace}.svc' is the host of a Service that is '{}.{here}.svc' in the output",
            now.name
        ),
    };
    let message = format!("{message}: kustomize changes no texts");
    let hint = "write the new host, or copy its parts here with entries of 'replacements'";
    Some(finding(Code::OldName, resource, node, message).hint(hint))
}

/// The finding about the annotation of a Certificate that has another name by now.
fn of_certificate<'a>(resource: &Resource<'a>, node: &Node<'a>, renamed: &Renamed<'_, 'a>) -> Option<Warning> {
    let (namespace, name) = node.as_scalar()?.text().split_once('/')?;
    let target = renamed.by_name("Certificate", name, namespace)?;
    let message = format!(
        "the Certificate '{name}' is named '{}' in the output: kustomize does not update this annotation",
        target.id().name
    );
    let hint = "copy its namespace and name here with entries of 'replacements' and the delimiter '/'";
    Some(finding(Code::OldName, resource, node, message).hint(hint))
}

/// The finding about the parameters of a binding of an admission policy, which may be of any kind:
/// kustomize does not know this reference of Kubernetes.
fn of_parameters<'a>(resource: &Resource<'a>, renamed: &Renamed<'_, 'a>) -> Option<Warning> {
    let gvk = resource.id().gvk;
    if !matches!(gvk.kind, "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding") {
        return None;
    }
    let name = resource.node().get("spec")?.get("paramRef")?.get("name")?;
    let Tables { by_old_name, .. } = renamed.tables();
    let [target] = by_old_name.get(name.as_scalar()?.text())?.as_slice() else { return None };
    let reference = Reference { kinds: Kinds::Given(target.id().gvk.kind), name, group: gvk.group };
    fault(resource, &["spec", "paramRef", "name"], &reference, renamed)
}

/// The fields of a resource that refer to nothing.
const NOT_READ: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// Looks at the references below a field. `path` leads to it from the resource.
fn walk<'n, 'a>(
    node: &'n Node<'a>,
    path: &mut Vec<&'a str>,
    look: &mut impl FnMut(&[&'a str], Kinds<'a>, &'n Node<'a>),
) {
    let field = path.last().copied().unwrap_or_default();
    if node.as_scalar().is_some() {
        if let Some(kinds) = of_text(field) {
            look(path, kinds, node);
        }
        return;
    }
    list(node).for_each(|item| walk(item, path, look));
    if node.as_mapping().is_none() {
        return;
    }
    let kinds = node.get_text("kind").map(Kinds::Given).or_else(|| of_mapping(field));
    for (inner, value) in fields(node) {
        path.push(inner);
        match kinds {
            Some(kinds) if inner == "name" && value.as_scalar().is_some() => {
                look(path, kinds, value);
            }
            _ => walk(value, path, look),
        }
        path.pop();
    }
}

/// The kinds that a field with a name leads to.
fn of_text(field: &str) -> Option<Kinds<'_>> {
    let known: &'static [&'static str] = match field {
        "secretName" => &["Secret"],
        "configMapName" => &["ConfigMap"],
        "serviceAccountName" => &["ServiceAccount"],
        "serviceName" => &["Service"],
        "claimName" => &["PersistentVolumeClaim"],
        _ => return None,
    };
    Some(Kinds::Known(known))
}

/// The kinds that a field leads to which has a mapping with a name and without a kind, or a list of
/// such mappings.
fn of_mapping(field: &str) -> Option<Kinds<'_>> {
    let known: &'static [&'static str] = match field {
        "backendRef" | "backendRefs" => &["Service"],
        "parentRef" | "parentRefs" => &["Gateway"],
        "issuerRef" => &["Issuer", "ClusterIssuer"],
        "scaleTargetRef" | "targetRef" => &["Deployment", "StatefulSet"],
        _ => {
            let stem = ["KeyRef", "KeySelector", "Refs", "Ref", "Reference", "References"]
                .into_iter()
                .find_map(|end| field.strip_suffix(end))?;
            return Some(match stem {
                _ if ends_with_word(stem, "secret") => Kinds::Known(&["Secret"]),
                _ if ends_with_word(stem, "configMap") => Kinds::Known(&["ConfigMap"]),
                _ => Kinds::InField(stem),
            });
        }
    };
    Some(Kinds::Known(known))
}

/// Returns true if a name in camel case is a word, or ends with it, as `accessSecret` with
/// `secret`.
fn ends_with_word(name: &str, word: &str) -> bool {
    let Some(at) = name.len().checked_sub(word.len()) else { return false };
    name.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// The finding about a reference.
fn fault<'a>(
    resource: &Resource<'a>,
    path: &[&str],
    reference: &Reference<'_, 'a>,
    renamed: &Renamed<'_, 'a>,
) -> Option<Warning> {
    let name = reference.name.as_scalar().map(|s| s.text()).filter(|name| !name.is_empty() && !is_placeholder(name))?;
    let target = renamed.get(reference, name)?.id();
    let message = format!(
        "the {} '{name}' is named '{}' in the output: kustomize does not update this reference",
        target.gvk.kind, target.name
    );
    let referrer = &resource.id().gvk;
    let entry = NameReference {
        target: target.gvk.kind.to_owned(),
        kind: referrer.kind.to_owned(),
        group: referrer.group.to_owned(),
        path: path.iter().map(|field| field.replace('/', "\\/")).collect::<Vec<_>>().join("/"),
    };
    let hint = format!("'rustomize lint --fix' lists a file under 'configurations' with: {entry}");
    Some(finding(Code::OldName, resource, reference.name, message).hint(hint).mended(Mend::NameReference(entry)))
}
