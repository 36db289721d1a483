//! Explanations as JSON. docs/explain.md documents the fields.

use super::field::{DottedPaths, Fields};
use super::view::{Hidden, Subject, View, origin_of};
use rustomize_base::shown;
use rustomize_engine::resource::ResId;
use rustomize_engine::stage::history::{Field, LayerRole, StepRole, Write};
use rustomize_yaml::Pos;
use serde_json::{Value, json};

/// All resources of the output, the resources that a step has removed, and the steps.
pub fn all(view: &View<'_, '_>) -> Value {
    let history = view.history;
    let layers = history
        .layers
        .iter()
        .map(|layer| json!({"file": shown::masked(layer.file), "role": layer_role(layer.role), "above": layer.above}));
    let steps = history.runs.iter().map(|run| {
        let (role, is_plugin) = step_role(run.role);
        let mut value = json!({
            "step": run.step,
            "role": role,
            "isPlugin": is_plugin,
            "layer": run.layer,
            "resources": run.resources,
            "seconds": run.time.map(|time| time.as_secs_f64()),
        });
        put_place(view, &mut value, run.entry);
        value
    });
    let resources = view.subjects().map(|subject| {
        let mut value = head(view, &subject);
        value["writes"] = view.history.writes_of(subject.number).iter().filter(|w| !w.path.is_empty()).count().into();
        value
    });
    let removed = view.removed().map(|subject| head(view, &subject));
    json!({
        "root": shown::masked(view.root),
        "resources": resources.collect::<Vec<_>>(),
        "removed": removed.collect::<Vec<_>>(),
        "layers": layers.collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
    })
}

/// Fields of a resource.
pub fn one(view: &View<'_, '_>, subject: &Subject<'_, '_>, fields: &Fields<'_, '_>) -> Value {
    let hidden = view.hidden(subject);
    let dotted = subject.node.map(DottedPaths::of);
    let one = |field: &Field<'_, '_>| {
        let paths = [field.path.as_str(); 2];
        let shown = |value: &'_ str| hidden.shown(paths, value).to_owned();
        let origin = field.origin.map(|(value, pos)| {
            let mut origin = json!({"value": shown(value)});
            put_place(view, &mut origin, pos);
            origin
        });
        json!({
            "pointer": field.path,
            "field": dotted.as_ref().map(|paths| paths.dotted(&field.path)),
            "value": shown(field.value),
            "isHidden": hidden.hides(paths, field.value),
            "origin": origin,
            "writes": field.writes.iter().map(|write| written(view, &hidden, &field.path, write)).collect::<Vec<_>>(),
        })
    };
    let removals = fields.removals.iter().map(|write| {
        let mut value = written(view, &hidden, &write.path, write);
        value["pointer"] = (&*write.path).into();
        value
    });
    json!({
        "root": shown::masked(view.root),
        "resource": head(view, subject),
        "fields": fields.fields.iter().map(one).collect::<Vec<_>>(),
        "removed": removals.collect::<Vec<_>>(),
    })
}

/// A resource, its origin, and the step that has removed it.
fn head(view: &View<'_, '_>, subject: &Subject<'_, '_>) -> Value {
    let mut value = identity(&subject.id);
    value["origin"] = subject.origin.map_or(Value::Null, |write| {
        let mut origin = json!({});
        put_place(view, &mut origin, origin_of(write));
        origin
    });
    value["broughtBy"] = subject.origin.map_or(Value::Null, |write| step(view, write));
    if let Some(write) = subject.removal {
        value["removedBy"] = step(view, write);
    }
    value
}

/// The name of a resource.
pub fn identity(id: &ResId<'_>) -> Value {
    json!({
        "group": id.gvk.group,
        "version": id.gvk.version,
        "kind": id.gvk.kind,
        "name": id.name,
        "namespace": id.namespace,
    })
}

/// The step of a write, with the place of its entry.
fn step(view: &View<'_, '_>, write: &Write<'_>) -> Value {
    let mut value = json!({"step": write.step});
    put_place(view, &mut value, write.entry);
    value
}

/// A write in a field, which is at `path` now.
fn written(view: &View<'_, '_>, hidden: &Hidden<'_>, path: &str, write: &Write<'_>) -> Value {
    let shown = |value: Option<&str>| value.map(|value| hidden.shown([path, &write.path], value).to_owned());
    let mut value = json!({"step": write.step});
    put_place(view, &mut value, view.cause(write));
    value["before"] = shown(write.before).into();
    value["after"] = shown(write.after).into();
    value
}

/// Adds the file, line and column of a position to an object.
pub fn put_place(view: &View<'_, '_>, value: &mut Value, pos: Pos) {
    let spot = view.spot(pos);
    value["file"] = spot.map(|spot| shown::masked(&spot.source.name)).into();
    value["line"] = spot.map(|spot| spot.line).into();
    value["column"] = spot.map(|spot| spot.column).into();
}

fn layer_role(role: LayerRole) -> &'static str {
    match role {
        LayerRole::Root => "root",
        LayerRole::Base => "base",
        LayerRole::Component => "component",
    }
}

/// The word for a role, and true if a plugin has it.
fn step_role(role: StepRole) -> (&'static str, bool) {
    match role {
        StepRole::Read => ("read", false),
        StepRole::Generate => ("generate", false),
        StepRole::Transform => ("transform", false),
        StepRole::Validate => ("validate", false),
        StepRole::Finish => ("finish", false),
        StepRole::PluginGenerate => ("generate", true),
        StepRole::PluginTransform => ("transform", true),
        StepRole::PluginValidate => ("validate", true),
    }
}
