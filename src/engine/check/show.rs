//! [`fields`]: the fields of a kind, as text: of a kind of Kubernetes, or of the kinds that
//! kustomize reads.

use super::kubernetes::Known;
use super::rules::{RuleId, Shape};
use crate::config::Described;
use crate::config::kustomization::Kustomization;
use crate::config::record;
use crate::schema::Gvk;
use std::fmt::{self, Write};

/// The kinds of kustomization files.
const OWN_KINDS: [&str; 2] = ["Kustomization", "Component"];

/// A kind or a field that cannot be shown: the reason, with a hint.
#[derive(Debug)]
pub struct NotShown(String);

impl fmt::Display for NotShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotShown {}

/// The fields below a path of fields of a kind, each in a line with its type. `kind` is `KIND` or
/// `GROUP/VERSION/KIND`, in any case of letters; an empty path shows the kind's own fields.
/// O(kinds + fields).
///
/// # Errors
/// The kind is unknown, several kinds have this name, or it has no such field.
pub fn fields(known: &Known, kind: &str, path: &str) -> Result<String, NotShown> {
    let names: Vec<&str> = path.split('.').filter(|name| !name.is_empty()).collect();
    if let Some(own) = OWN_KINDS.into_iter().find(|own| own.eq_ignore_ascii_case(kind)) {
        return of_kustomization(own, &names);
    }
    let gvk = found(known, kind)?;
    let mut rule = known.rule(&gvk).ok_or_else(|| NotShown(format!("the kind '{kind}' has no fields")))?;
    let mut above = Vec::new();
    for name in &names {
        let next = struct_of(known, rule).and_then(|shape| match shape {
            // The metadata of a kind has a rule of its own, because all kinds share it.
            Shape::Struct(_) if above.is_empty() && *name == "metadata" => Some(known.metadata()),
            Shape::Struct(fields) => fields.field(name).map(|field| field.rule),
            _ => None,
        });
        let Some(next) = next else {
            let mut all = String::new();
            write_fields(&mut all, known, rule);
            let all: Vec<&str> = all.lines().filter_map(|line| line.trim_start().split(':').next()).collect();
            let at = if above.is_empty() { spelled(&gvk) } else { above.join(".") };
            return Err(NotShown(format!("'{at}' has no field '{name}'\n  hint: it has {}", listed(&all))));
        };
        above.push(*name);
        rule = next;
    }
    let mut out = format!("{}, Kubernetes {}\n", spelled(&gvk), known.version());
    if !names.is_empty() {
        let _ = writeln!(out, "{}: {}", names.join("."), type_of(known, rule));
    }
    write_fields(&mut out, known, rule);
    Ok(out)
}

/// The only kind of Kubernetes that a text names.
fn found(known: &Known, kind: &str) -> Result<Gvk<'static>, NotShown> {
    let all = known.kinds();
    let fits = |gvk: &&Gvk<'static>| match kind.contains('/') {
        true => spelled(gvk).eq_ignore_ascii_case(kind),
        false => gvk.kind.eq_ignore_ascii_case(kind),
    };
    let found: Vec<&Gvk<'static>> = all.iter().filter(fits).collect();
    match found[..] {
        [gvk] => Ok(*gvk),
        [] => {
            let near = |gvk: &&Gvk<'static>| {
                let (name, asked) = (gvk.kind.to_lowercase(), kind.rsplit('/').next().unwrap_or(kind).to_lowercase());
                !asked.is_empty() && !name.ends_with("list") && (name.contains(&asked) || asked.contains(&name))
            };
            let near: Vec<String> = all.iter().filter(near).map(spelled).collect();
            let hint = match near.is_empty() {
                true => "name a kind as in Deployment or apps/v1/Deployment".to_owned(),
                false => format!("similar kinds are {}", listed(&near)),
            };
            Err(NotShown(format!("Kubernetes {} has no kind '{kind}'\n  hint: {hint}", known.version())))
        }
        _ => {
            let all: Vec<String> = found.into_iter().map(spelled).collect();
            Err(NotShown(format!("several kinds are named '{kind}'\n  hint: name one of {}", listed(&all))))
        }
    }
}

/// A kind as in `apps/v1/Deployment` and `v1/Pod`.
fn spelled(gvk: &Gvk<'_>) -> String {
    let group = if gvk.group.is_empty() { String::new() } else { format!("{}/", gvk.group) };
    format!("{group}{}/{}", gvk.version, gvk.kind)
}

/// The first of some names.
fn listed(names: &[impl AsRef<str>]) -> String {
    const MOST: usize = 60;
    let mut shown: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    if names.len() > MOST {
        shown.push("...");
    }
    shown.join(", ")
}

/// The mapping with known fields that a value is, or that its items are.
fn struct_of(known: &Known, rule: RuleId) -> Option<&Shape<'static>> {
    let shape = &known.table().rules.get(rule as usize)?.shape;
    match shape {
        Shape::List(item) | Shape::Map(item) => struct_of(known, *item),
        Shape::Struct(_) => Some(shape),
        _ => None,
    }
}

fn write_fields(out: &mut String, known: &Known, rule: RuleId) {
    let Some(Shape::Struct(fields)) = struct_of(known, rule) else { return };
    for field in fields.fields() {
        let mark = if field.is_required { "!" } else { "" };
        let _ = writeln!(out, "  {}: {}{mark}", field.name, type_of(known, field.rule));
    }
}

/// The type of a value in words.
fn type_of(known: &Known, rule: RuleId) -> String {
    match known.table().rules.get(rule as usize).map(|rule| &rule.shape) {
        Some(Shape::List(item)) => format!("list of {}", type_of(known, *item)),
        Some(Shape::Map(item)) => format!("map of {}", type_of(known, *item)),
        Some(Shape::Struct(_)) => "object".to_owned(),
        Some(Shape::Text) => "string".to_owned(),
        Some(Shape::Bool) => "boolean".to_owned(),
        Some(Shape::Int32 | Shape::Int64) => "integer".to_owned(),
        Some(Shape::Number) => "number".to_owned(),
        Some(Shape::Quantity) => "quantity, as 500m or 2Gi".to_owned(),
        Some(Shape::IntOrString) => "integer or string".to_owned(),
        Some(Shape::Any) | None => "any".to_owned(),
    }
}

/// The fields of a kustomization, with their docs.
fn of_kustomization(kind: &str, names: &[&str]) -> Result<String, NotShown> {
    let mut shape = Kustomization::SHAPE;
    for (i, name) in names.iter().enumerate() {
        let fields = shape.record().map(|record| record.fields).unwrap_or_default();
        let Some(field) = fields.iter().find(|field| field.name == *name) else {
            let all: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let at = if i == 0 { kind.to_owned() } else { names[..i].join(".") };
            return Err(NotShown(format!("'{at}' has no field '{name}'\n  hint: it has {}", listed(&all))));
        };
        shape = field.shape;
    }
    let mut out = format!("{kind}\n");
    if !names.is_empty() {
        let _ = writeln!(out, "{}: {}", names.join("."), own_type(&shape));
    }
    for field in shape.record().map(|record| record.fields).unwrap_or_default() {
        let deprecated = if field.is_deprecated { " (deprecated)" } else { "" };
        let words = if field.words.is_empty() { String::new() } else { format!(" ({})", field.words.join(", ")) };
        let _ = writeln!(out, "  {}: {}{words}{deprecated}: {}", field.name, own_type(&field.shape), field.doc);
    }
    Ok(out)
}

/// The type of a value of a kustomization in words.
fn own_type(shape: &record::Shape) -> String {
    match shape {
        record::Shape::Text => "string".to_owned(),
        record::Shape::Number => "number".to_owned(),
        record::Shape::Boolean => "boolean".to_owned(),
        record::Shape::Anything => "any".to_owned(),
        record::Shape::Texts => "map of string".to_owned(),
        record::Shape::List(item) => format!("list of {}", own_type(item)),
        record::Shape::Record(_) => "object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, path: &str, expect: &str) {
        let known = Known::new(Some("1.31")).unwrap();
        let text = fields(&known, kind, path).unwrap_or_else(|e| format!("error: {e}"));
        assert!(text.starts_with(expect), "{text}");
    }

    #[test]
    fn fields_of_kinds_are_listed() {
        check(
            "networking.k8s.io/v1/ingress",
            "spec.rules",
            "networking.k8s.io/v1/Ingress, Kubernetes 1.31\nspec.rules: list of object\n  host: string",
        );
        check("deployment", "metadata.labels", "apps/v1/Deployment, Kubernetes 1.31\nmetadata.labels: map of string");
        check("Component", "sortOptions.order", "Component\nsortOptions.order: string");
    }

    #[test]
    fn what_is_unknown_has_a_hint() {
        check(
            "Deploy",
            "",
            "error: Kubernetes 1.31 has no kind 'Deploy'\n  hint: similar kinds are apps/v1/Deployment",
        );
        check("v1/Pod", "spec.x", "error: 'spec' has no field 'x'\n  hint: it has activeDeadlineSeconds, affinity, ");
        check(
            "Kustomization",
            "x",
            "error: 'Kustomization' has no field 'x'\n  hint: it has apiVersion, kind, metadata, resources, ",
        );
        let several = fields(&Known::new(None).unwrap(), "Event", "").unwrap_err().to_string();
        assert!(several.contains("name one of v1/Event, events.k8s.io/v1/Event"), "{several}");
    }
}
