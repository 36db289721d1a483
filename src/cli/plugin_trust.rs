//! `plugin trust`: one more rule in the user's `trust.yaml`.

use super::managed::{trust_file, variable};
use super::plugin_args::Trust;
use super::report::Report;
use super::writer::{self, Shown};
use crate::atomic;
use crate::files::{self, RECORD, folder_of};
use crate::manager::fetch::origin::Origin;
use crate::manager::id::pattern::SourcePattern;
use crate::manager::id::source::SourceError;
use crate::manager::policy::amend::{Amended, Amendment};
use crate::plugin::permissions::Permissions;
use anyhow::{Result, anyhow, bail};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Runs `plugin trust`.
///
/// # Errors
/// The rule is not valid, or the file cannot be written.
pub fn trust(args: &Trust, is_json: bool) -> Result<()> {
    let (path, _) = trust_file()?;
    let _lock = match args.source {
        Some(_) => {
            std::fs::create_dir_all(folder_of(&path))?;
            files::lock(folder_of(&path), || {})
        }
        None => None,
    };
    let old = match files::read_text(&path, RECORD) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let Some(source) = &args.source else {
        return Ok(writer::print(&Shown::values(&old))?);
    };
    let wrong = |e: SourceError| {
        let hint = e.hint().map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
        anyhow!("the pattern '{source}' {e}{hint}")
    };
    let granted = Permissions {
        network: args.allow_net,
        read: args.allow_read.clone(),
        write: args.allow_write.clone(),
        sockets: args.allow_socket.clone(),
        env: args.allow_env.clone(),
    };
    if let Some(fault) = granted.fault() {
        bail!("{fault}");
    }
    // A grant is for a place, not for what a link may lead to later.
    let granted = granted.without_links(variable("HOME").map(PathBuf::from).as_deref());
    let amendment = Amendment {
        pattern: SourcePattern::parse(source).map_err(wrong)?,
        from: Origin::of_rule(source, args.from.as_deref().unwrap_or_default(), Path::new("."))?,
        is_denied: args.deny,
        keys: args.keys.clone(),
        min_age: args.min_release_age.clone(),
        granted,
    };
    let Amended { text, rule } = amendment.amend(&path, &old)?;
    atomic::write(&path, text.as_bytes(), 0o644)?;
    let mut report = Report::default();
    report.add(format!("{}: - {rule}", path.display()), json!({ "path": path, "rule": rule }));
    report.print(is_json)
}
