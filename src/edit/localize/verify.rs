//! Checks that the original and the copy give the same build.

use super::LocalizeRequest;
use crate::diag::{Code, Error, Result, Warned};
use crate::resource::{ORIGIN, TRANSFORMATIONS};
use crate::stage::Options;
use crate::workspace::{self, Workspace};
use rustomize_sources::Disk;
use rustomize_yaml::{Node, emit};
use std::path::Path;

/// Builds both and compares the output, without the annotations about the origin of resources,
/// which must differ.
///
/// # Errors
/// A build fails, or the results differ.
pub(super) fn compare(request: &LocalizeRequest<'_>, copy: &Path) -> Warned<Result<()>> {
    let original = build(request.target, request.options);
    let warnings = original.warnings;
    let compared = || {
        let hint = "--no-verify makes the copy without a build; --enable-helm lets both builds run helm";
        let failed = |e: Error, what: &str| e.context(format!("verifying: building {what}")).hint(hint);
        let original = original.value.map_err(|e| failed(e, &format!("'{}'", request.target)))?;
        let shown =
            copy.to_str().ok_or_else(|| Error::new(Code::Encoding, format!("'{}' is not UTF-8", copy.display())))?;
        let copied = build(shown, request.options).value.map_err(|e| failed(e, "the localized copy"))?;
        if original == copied {
            return Ok(());
        }
        let line = original.lines().zip(copied.lines()).take_while(|(ours, theirs)| ours == theirs).count() + 1;
        let message = format!(
            "VERIFICATION FAILED: `kustomize build` for {} and its copy are different after localization, from line \
             {line} on",
            request.target
        );
        Err(Error::input(message).hint("--no-verify makes the copy without this check"))
    };
    let value = compared();
    Warned { value, warnings }
}

fn build(root: &str, options: &Options) -> Warned<Result<String>> {
    let workspace = Workspace::new();
    let disk = Disk::new();
    let built = workspace::build(&workspace, &disk, root, options);
    let print = |output: workspace::Output<'_>| {
        let mut text = String::new();
        for resource in output.resources() {
            let node = without_origins(resource.node());
            emit::document(&mut text, &node).map_err(|fault| Error::new(Code::NotYaml, fault.message))?;
            text.push_str("---\n");
        }
        Ok(text)
    };
    Warned { value: built.value.and_then(print), warnings: built.warnings }
}

fn without_origins<'a>(node: &Node<'a>) -> Node<'a> {
    let mut node = node.clone();
    let metadata = node.as_mapping_mut().and_then(|root| root.get_mut("metadata")).and_then(Node::as_mapping_mut);
    if let Some(metadata) = metadata
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Node::as_mapping_mut)
    {
        annotations.remove(ORIGIN);
        annotations.remove(TRANSFORMATIONS);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    node
}
