//! The report of a Go plugin that was built or adopted.

use crate::report::{Report, path_value};
use rustomize_plugins::go;
use serde_json::json;

/// Adds a Go plugin that was built to a report.
pub(crate) fn add_built(report: &mut Report, built: &go::Built) {
    let modes = built.modes.join(", ");
    let value = json!({ "path": path_value(&built.path), "modes": built.modes, "go": built.go });
    report.add(format!("{}: {modes} ({})", built.path.display(), built.go), value);
}
