//! Errors, warnings and findings as JSON.

use rustomize_engine::diag::{Diagnostic, Severity};
use serde_json::{Value, json};

/// A message as an object. docs/errors.md has its members. O(size of the message).
pub fn message(message: &Diagnostic) -> Value {
    let links = message.chain().iter().map(|link| {
        let place = link.place();
        json!({
            "text": link.text(),
            "file": place.map(|p| &p.file),
            "line": place.map(|p| p.line),
            "column": place.map(|p| p.column),
        })
    });
    let place = message.place();
    json!({
        "severity": severity(message),
        "code": message.code().as_str(),
        "message": message.message(),
        "file": place.map(|p| &p.file),
        "line": place.map(|p| p.line),
        "column": place.map(|p| p.column),
        "endColumn": place.zip(message.excerpt()).map(|(p, e)| p.column + e.line()[e.marked()].chars().count()),
        "field": message.field(),
        "resource": message.resource(),
        "chain": links.collect::<Vec<_>>(),
        "hints": message.hints(),
    })
}

/// The word for a severity.
pub fn severity(message: &Diagnostic) -> &'static str {
    match message.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
