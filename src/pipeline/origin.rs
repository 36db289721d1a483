//! Build metadata: where resources come from and what transformed them, written into the output.
//!
//! *Fields*: `buildMetadata`.
//! *Reads*: the words `managedByLabel`, `originAnnotations` and `transformerAnnotations`; others say nothing.
//! *Selects*: all resources.
//! *Writes*: the label `app.kubernetes.io/managed-by`, the annotations `config.kubernetes.io/origin` and
//! `alpha.config.kubernetes.io/transformations`.
//! *Order*: kept all along, written at the end. The root's list counts, not that of a base.
//! *Cost*: O(resources x transformers) for transformations, else O(resources).
//! *Quirks*: every transformer that ran while the resource was there is listed, whether it changed it or not; commonLabels is
//! listed as soon as there are `labels`.
//! *Example*: `testdata/reference/origin.txtar`

use super::{Session, Target};
use crate::diag::{Error, Result};
use crate::load::Root;
use crate::resource::{ResMap, Resource};
use crate::yaml::{Node, Scalar, Value, emit, first_document};

/// The annotation that says where a resource comes from.
pub const ORIGIN: &str = "config.kubernetes.io/origin";

/// The annotation that lists what transformed a resource.
pub const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// The source of a resource, or of a change: a file, or a configuration in one.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    path: String,
    repo: String,
    reference: String,
    configured_in: String,
    /// apiVersion, kind, name and namespace of the configuration.
    configured_by: Option<[String; 4]>,
}

impl Origin {
    /// A file that a root names.
    pub fn file(root: &Root, path: &str) -> Self {
        Origin { path: root.relative(path), ..Origin::of(root) }
    }

    fn of(root: &Root) -> Self {
        let (repo, reference) = root.remote().map_or_else(Default::default, |r| (r.url.clone(), r.reference.clone()));
        Origin { repo, reference, ..Origin::default() }
    }

    /// A built-in that a field of a kustomization asks for.
    pub fn builtin(target: &Target<'_>, kind: &str) -> Self {
        let by = ["builtin".to_owned(), kind.to_owned(), String::new(), String::new()];
        Origin {
            configured_in: target.root.relative(&target.file_name),
            configured_by: Some(by),
            ..Origin::of(&target.root)
        }
    }

    /// A plugin that a configuration object asks for. The object's own origin says where it was configured; an inline one
    /// was in the kustomization.
    pub fn plugin(target: &Target<'_>, config: &Resource<'_>) -> Self {
        let mut origin = Origin::of(&target.root);
        origin.configured_in = match config.rare().and_then(|rare| rare.origin).and_then(path_of) {
            Some(path) => path,
            None => target.root.relative(&target.file_name),
        };
        let id = config.id();
        let api_version = config.node().get_text("apiVersion").unwrap_or_default();
        origin.configured_by = Some([api_version, id.gvk.kind, id.name, id.namespace].map(str::to_owned));
        origin
    }

    /// The text of the origin annotation, or with `- ` in front an item of the list of transformations.
    fn text(&self, as_item: bool) -> Result<String> {
        let mut lines: Vec<(&str, &str, &str)> = vec![
            ("", "path", &self.path),
            ("", "repo", &self.repo),
            ("", "ref", &self.reference),
            ("", "configuredIn", &self.configured_in),
        ];
        if let Some(by) = &self.configured_by {
            lines.push(("", "configuredBy", ""));
            let keys = ["apiVersion", "kind", "name", "namespace"];
            lines.extend(keys.into_iter().zip(by).map(|(key, value)| ("  ", key, value.as_str())));
        }
        lines.retain(|(_, key, value)| *key == "configuredBy" || !value.is_empty());
        let mut out = String::new();
        for (i, (indent, key, value)) in lines.into_iter().enumerate() {
            if as_item {
                out.push_str(if i == 0 { "- " } else { "  " });
            }
            out.extend([indent, key, ":"]);
            if !value.is_empty() {
                out.push(' ');
                emit::scalar(&mut out, &Scalar::string(value)).map_err(|e| Error::input(e.message))?;
            }
            out.push('\n');
        }
        Ok(out)
    }
}

/// The `path` of an origin's text.
fn path_of(text: &str) -> Option<String> {
    let path = text.strip_prefix("path: ")?.lines().next()?;
    let arena = crate::yaml::Arena::new();
    let source = arena.add_source("origin", path.to_owned());
    let node = first_document(&arena, source).ok()??;
    node.as_scalar().map(|s| s.text.to_owned())
}

/// Notes where resources come from, if this build keeps account of it.
///
/// # Errors
/// A name that cannot be printed.
pub fn note_origin<'a>(session: &Session<'a>, resources: &mut [Resource<'a>], origin: &Origin) -> Result<()> {
    if session.keeps_origins() && !resources.is_empty() {
        let text = session.arena.text(&origin.text(false)?);
        for resource in resources {
            resource.rare_mut().origin = Some(text);
        }
    }
    Ok(())
}

/// Notes that a transformer ran, `times` times, on all that is there now. A resource without an origin is one that it made.
///
/// # Errors
/// A name that cannot be printed, or transformations in a resource's annotations that are no list.
pub fn note_transformation<'a>(
    session: &Session<'a>,
    map: &mut ResMap<'a>,
    origin: &Origin,
    times: usize,
) -> Result<()> {
    let text = session.arena.text(&origin.text(false)?);
    let item = session.arena.text(&origin.text(true)?);
    map.edit_content(|resource| {
        if times > 0 {
            // Upstream writes all annotations anew with this one.
            resource.stringify_metadata("annotations");
        }
        let mut times = times;
        if times > 0 && resource.rare().is_none_or(|rare| rare.origin.is_none()) {
            resource.rare_mut().origin = Some(text);
            times -= 1;
        }
        if times == 0 {
            return Ok(());
        }
        if resource.rare().is_some_and(|rare| rare.transformations.is_empty()) {
            take_listed(session, resource)?;
        }
        resource.rare_mut().transformations.push((item, times));
        Ok(())
    })
}

/// Transformations that the resource came with: they stay in front.
fn take_listed<'a>(session: &Session<'a>, resource: &mut Resource<'a>) -> Result<()> {
    let Some(text) = resource.annotation(TRANSFORMATIONS) else { return Ok(()) };
    let source = session.arena.add_source("annotation", text.to_owned());
    let fault = |message: String| {
        Error::input(message).at(session.arena.place(resource.pos())).context(format!("in {}", resource.id()))
    };
    let listed = first_document(session.arena, source).map_err(|m| fault(m.message))?;
    match listed.map(|node| node.value) {
        None => Ok(()),
        Some(Value::Sequence(items)) => {
            let mut texts = Vec::with_capacity(items.len());
            for item in &items {
                texts.push((session.arena.text(&listed_origin(item).text(true)?), 1));
            }
            resource.rare_mut().transformations = texts;
            Ok(())
        }
        Some(_) => Err(fault(format!("the annotation {TRANSFORMATIONS} is no list"))),
    }
}

fn listed_origin(item: &Node<'_>) -> Origin {
    let text = |node: &Node<'_>, key: &str| node.get_text(key).unwrap_or_default().to_owned();
    Origin {
        path: text(item, "path"),
        repo: text(item, "repo"),
        reference: text(item, "ref"),
        configured_in: text(item, "configuredIn"),
        configured_by: item
            .get("configuredBy")
            .map(|by| ["apiVersion", "kind", "name", "namespace"].map(|key| text(by, key))),
    }
}

/// Writes the annotations that the root asks for.
pub fn annotate<'a>(session: &Session<'a>, map: &mut ResMap<'a>, asked: &[&str]) -> Result<()> {
    let [origins, transformations] = ["originAnnotations", "transformerAnnotations"].map(|word| asked.contains(&word));
    if !origins && !transformations {
        return Ok(());
    }
    map.edit_content(|resource| {
        let Some(rare) = resource.rare() else { return Ok(()) };
        let mut entries: Vec<(&str, &str)> = Vec::new();
        if origins {
            entries.extend(rare.origin.map(|text| (ORIGIN, text)));
        }
        if transformations && !rare.transformations.is_empty() {
            entries.push((TRANSFORMATIONS, session.arena.text(&rare.transformations_text())));
        }
        resource.add_metadata_entries("annotations", entries.iter().map(|(k, v)| (k, v)));
        Ok(())
    })
}
