//! Containers and volumes of pods that Kubernetes refuses.

use super::finding::finding;
use super::names::is_in_labels;
use super::parts::{Container, Parts, fields, items, listed};
use crate::diag::{Code, Warning, is_placeholder, nearest};
use rustomize_base::meter::FastSet;
use rustomize_yaml::Node;
use std::collections::BTreeSet;

/// The first container without an image, or with a text that is not the name of an image.
pub(super) fn bad_image(parts: &Parts<'_, '_>) -> Option<Warning> {
    let containers = &parts.pod()?.containers;
    let container = containers.iter().find(|container| !has_good_image(container))?;
    let name = text(container.name);
    if is_placeholder(name) {
        return None;
    }
    if let Some(image) = container.image.filter(|image| !image.is_null_or_empty()) {
        let message = format!("'{}' is not the name of an image", image.scalar_text());
        let hint = "an image is NAME:TAG or NAME@sha256:SUM: one ':' before the tag, and no blanks";
        return Some(finding(Code::BadImage, parts.resource, image, message).hint(hint));
    }
    let others = containers.iter().filter(|other| has_good_image(other)).map(|other| text(other.name));
    let typed = fields(container.node).map(|(key, _)| key).find(|key| nearest(key, ["image"]).is_some());
    let hint = match (typed, nearest(name, others)) {
        (Some(typed), _) => format!("did you mean 'image' by '{typed}'?"),
        (None, Some(near)) => format!("did you mean the container '{near}'?"),
        (None, None) => "add the field 'image', or correct the name of the container".to_owned(),
    };
    let message = format!("the container '{name}' has no image");
    Some(finding(Code::BadImage, parts.resource, container.name.unwrap_or(container.node), message).hint(hint))
}

/// The text of a field of a container; empty if the field is missing, or is a list or mapping.
fn text<'a>(part: Option<&Node<'a>>) -> &'a str {
    part.map_or("", Node::scalar_text)
}

fn has_good_image(container: &Container<'_, '_>) -> bool {
    container.node.as_mapping().is_none() || container.image.is_some_and(|image| is_image(image.scalar_text()))
}

/// True for a name with at most one tag, as most images have. A registry may have a port.
fn is_usual_image(text: &str) -> bool {
    text.as_bytes().split(|b| *b == b'/').all(|part| match part.iter().position(|b| *b == b':') {
        Some(colon) => is_word(&part[..colon]) && is_word(&part[colon + 1..]),
        None => is_word(part),
    })
}

/// True for a part of the name of an image, a tag, or the kind or sum of a digest.
fn is_word(part: &[u8]) -> bool {
    !part.is_empty() && part.iter().copied().all(is_in_labels)
}

/// True for a text that may be the name of an image, or a placeholder for one.
fn is_image(text: &str) -> bool {
    if is_usual_image(text) {
        return true;
    }
    let (named, digest) = text.split_once('@').map_or((text, None), |(named, digest)| (named, Some(digest)));
    let (above, last) = named.rsplit_once('/').unwrap_or(("", named));
    let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)));
    let is_word = |text: &str| is_word(text.as_bytes());
    let is_digest = |digest: &str| digest.split_once(':').is_some_and(|(kind, sum)| is_word(kind) && is_word(sum));
    let is_path = !above.bytes().any(|b| b.is_ascii_whitespace() || b == b'@');
    let is_written_as_one = is_path && is_word(name) && tag.is_none_or(is_word) && digest.is_none_or(is_digest);
    // A finding of its own names characters that look like others.
    is_written_as_one || !text.is_ascii() || is_placeholder(named)
}

/// The first mount of a volume that its pod does not have, if the pod has one of nearly that name
/// which nothing mounts. Other volumes may come from elsewhere.
pub(super) fn dangling_mount(parts: &Parts<'_, '_>) -> Option<Warning> {
    let pod = parts.pod()?;
    let mounts = || pod.containers.iter().flat_map(|container| container.mounts).flat_map(listed);
    // Most pods mount nothing.
    mounts().next()?;
    let claims = parts.spec.into_iter().flat_map(|spec| items(spec, "volumeClaimTemplates"));
    let claimed = claims.filter_map(|claim| claim.get("metadata")?.get_text("name"));
    let own = listed(pod.volumes).filter_map(|volume| volume.get_text("name"));
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
    let pod = parts.pod()?;
    let container = repeated(pod.containers.iter().filter_map(|container| container.name));
    let volume = || repeated(listed(pod.volumes).filter_map(|volume| volume.get("name")));
    let (what, name) = match container {
        Some(name) => ("containers", name),
        None => ("volumes", volume()?),
    };
    let message = format!("two {what} of the pod have the name '{}': Kubernetes refuses it", name.scalar_text());
    let hint = "rename one of the two, or remove it";
    Some(finding(Code::DuplicateName, parts.resource, name, message).hint(hint))
}

/// The first name that is also an earlier one.
fn repeated<'n, 'a>(mut names: impl Iterator<Item = &'n Node<'a>>) -> Option<&'n Node<'a>> {
    // Most pods have one container, and need no set.
    let (first, second) = (names.next()?, names.next()?);
    let mut known = FastSet::from_iter([first.scalar_text()]);
    let is_repeated = |name: &&Node<'a>| !known.insert(name.scalar_text()) && !is_placeholder(name.scalar_text());
    std::iter::once(second).chain(names).find(is_repeated)
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
