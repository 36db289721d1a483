//! `diff` as JSON, for programs.

use crate::commands::diff::report::{Report, RootReport};
use crate::commands::diff::versions::{Behaviour, Upgrade};
use rustomize_base::shown;
use rustomize_results::diff::summary;
use serde_json::{Value, json};

/// The differences as an object.
pub(crate) fn all(report: &Report<'_>) -> Value {
    let Report { total, upgrade, group_data, roots, .. } = report;
    let comparison = |compared: &RootReport<'_>| {
        json!({
            "root": compared.sides.root.as_deref().map(shown::masked),
            "before": shown::masked(&compared.sides.before.name),
            "after": shown::masked(&compared.sides.after.name),
            "summary": summary(&compared.summary),
            "resources": compared.changes,
        })
    };
    let all: Vec<Value> = roots.iter().map(comparison).collect();
    let mut members = json!({"summary": summary(total), "groups": group_data, "comparisons": all});
    if let Some(Upgrade { before, after, behaviours }) = upgrade {
        let behaviour = |behaviour: &Behaviour| {
            json!({
                "name": behaviour.question.name,
                "before": behaviour.question.says(*before),
                "after": behaviour.question.says(*after),
                "resources": behaviour.resources,
                "roots": behaviour.roots,
            })
        };
        let behaviours: Vec<Value> = behaviours.iter().map(behaviour).collect();
        members["upgrade"] = json!({"before": before.version(), "after": after.version(), "behaviours": behaviours});
    }
    members
}
