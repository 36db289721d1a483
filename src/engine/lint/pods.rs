//! Containers and volumes of pods that Kubernetes refuses.

use super::finding::finding;
use super::parts::{Parts, fields, items};
use crate::diag::{Code, Warning, is_placeholder, nearest};
use rustomize_base::meter::FastSet;
use rustomize_yaml::Node;
use std::collections::BTreeSet;

/// The fields of a pod with containers.
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// The first container without an image, or with a text that is not the name of an image.
pub(super) fn bad_image(parts: &Parts<'_, '_>) -> Option<Warning> {
    let pod = parts.pods?.get("spec")?;
    let at_fault = |field: &'static str| Some((field, items(pod, field).find(|container| !has_good_image(container))?));
    let (field, container) = CONTAINERS.into_iter().find_map(at_fault)?;
    let name = container.get_text("name").unwrap_or_default();
    if is_placeholder(name) {
        return None;
    }
    if let Some(image) = container.get("image").filter(|image| !image.is_null_or_empty()) {
        let message = format!("'{}' is not the name of an image", image.scalar_text());
        let hint = "an image is NAME:TAG or NAME@sha256:SUM: one ':' before the tag, and no blanks";
        return Some(finding(Code::BadImage, parts.resource, image, message).hint(hint));
    }
    let others = items(pod, field).filter(|other| has_good_image(other)).filter_map(|other| other.get_text("name"));
    let typed = fields(container).map(|(key, _)| key).find(|key| nearest(key, ["image"]).is_some());
    let hint = match (typed, nearest(name, others)) {
        (Some(typed), _) => format!("did you mean 'image' by '{typed}'?"),
        (None, Some(near)) => format!("did you mean the container '{near}'?"),
        (None, None) => "add the field 'image', or correct the name of the container".to_owned(),
    };
    let message = format!("the container '{name}' has no image");
    let at = container.get("name").unwrap_or(container);
    Some(finding(Code::BadImage, parts.resource, at, message).hint(hint))
}

fn has_good_image(container: &Node<'_>) -> bool {
    container.as_mapping().is_none() || container.get_text("image").is_some_and(is_image)
}

/// True for a text that may be the name of an image, or a placeholder for one.
fn is_image(text: &str) -> bool {
    let (named, digest) = text.split_once('@').map_or((text, None), |(named, digest)| (named, Some(digest)));
    let (above, last) = named.rsplit_once('/').unwrap_or(("", named));
    let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)));
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    let is_digest = |digest: &str| digest.split_once(':').is_some_and(|(kind, sum)| is_word(kind) && is_word(sum));
    let is_path = !above.bytes().any(|b| b.is_ascii_whitespace() || b == b'@');
    let is_written_as_one = is_path && is_word(name) && tag.is_none_or(is_word) && digest.is_none_or(is_digest);
    // A finding of its own names characters that look like others.
    is_written_as_one || !text.is_ascii() || is_placeholder(named)
}

/// The first mount of a volume that its pod does not have, if the pod has one of nearly that name
/// which nothing mounts. Other volumes may come from elsewhere.
pub(super) fn dangling_mount(parts: &Parts<'_, '_>) -> Option<Warning> {
    let pod = parts.pods?.get("spec")?;
    let mounts = || {
        let containers = CONTAINERS.iter().flat_map(|field| items(pod, field));
        let fields = ["volumeMounts", "volumeDevices"];
        containers.flat_map(move |container| fields.into_iter().flat_map(|field| items(container, field)))
    };
    // Most pods mount nothing.
    mounts().next()?;
    let claims = parts.spec.into_iter().flat_map(|spec| items(spec, "volumeClaimTemplates"));
    let claimed = claims.filter_map(|claim| claim.get("metadata")?.get_text("name"));
    let own = items(pod, "volumes").filter_map(|volume| volume.get_text("name"));
    let volumes: BTreeSet<&str> = own.chain(claimed).collect();
    let name = mounts().filter_map(|mount| mount.get("name")).find(|name| {
        let text = name.scalar_text();
        !text.is_empty() && !is_placeholder(text) && !volumes.contains(&text)
    })?;
    let mounted: BTreeSet<&str> = mounts().filter_map(|mount| mount.get_text("name")).collect();
    let near = nearest(name.scalar_text(), volumes.difference(&mounted).copied())?;
    let message = format!("the pod has no volume '{}'", name.scalar_text());
    Some(finding(Code::DanglingReference, parts.resource, name, message).hint(format!("did you mean '{near}'?")))
}

/// The first container or volume of a pod that has the name of an earlier one.
pub(super) fn duplicate_name(parts: &Parts<'_, '_>) -> Option<Warning> {
    let pod = parts.pods?.get("spec")?;
    let containers = CONTAINERS.into_iter().flat_map(|field| items(pod, field));
    let container = repeated_name(containers).map(|name| ("containers", name));
    let (what, name) = container.or_else(|| Some(("volumes", repeated_name(items(pod, "volumes"))?)))?;
    let message = format!("two {what} of the pod have the name '{}': Kubernetes refuses it", name.scalar_text());
    let hint = "rename one of the two, or remove it";
    Some(finding(Code::DuplicateName, parts.resource, name, message).hint(hint))
}

/// The first name that an earlier item has, too.
fn repeated_name<'n, 'a>(items: impl Iterator<Item = &'n Node<'a>>) -> Option<&'n Node<'a>> {
    let mut names = items.filter_map(|item| item.get("name")).filter(|name| !is_placeholder(name.scalar_text()));
    // Most pods have one container, and need no set.
    let (first, second) = (names.next()?, names.next()?);
    let mut known = FastSet::from_iter([first.scalar_text()]);
    std::iter::once(second).chain(names).find(|name| !known.insert(name.scalar_text()))
}

#[cfg(test)]
mod tests {
    use super::is_image;

    #[test]
    fn names_of_images() {
        for text in
            ["nginx", "nginx:1.25", "host:5000/a/b:v1_2-x", "a@sha256:0a1b", "a:1@sha256:0a1b", "$(A):1", "{{ x }}"]
        {
            assert!(is_image(text), "{text}");
        }
        for text in ["", "nginx:1.25:1.24", "nginx::1", "nginx:", "nginx@abc", "a b", "nginx: 1", "host/", "a@sha256:"]
        {
            assert!(!is_image(text), "{text}");
        }
    }
}
