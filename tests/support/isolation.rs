//! The isolation that this machine can enforce.

use super::Tree;

/// True if this machine can enforce all parts. Where it cannot, the tests say so.
pub fn can_isolate() -> bool {
    let report = Tree::new("").run(&["doctor", "-o", "json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let enforced = report["isolation"]["enforced"] == true;
    if !enforced {
        super::skip(&report["isolation"]["missing"].to_string());
    }
    enforced
}
