//! `plugin trust`: adds a rule to the user's `trust.yaml`.

use crate::machine::machine;
use crate::report::{Report, path_value};
use crate::writer::{self, Shown};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use rustomize_files::atomic;
use rustomize_files::{self as files, RECORD, folder_of};
use rustomize_manager::fetch::origin::Origin;
use rustomize_manager::id::pattern::SourcePattern;
use rustomize_manager::id::source::SourceError;
use rustomize_manager::policy::amend::{Amended, Amendment};
use rustomize_plugins::permissions::Permissions;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Add a trust rule to your trust.yaml: whose plugins may be installed, and what they may do
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Trust {
    /// The source of the plugins; * matches a part, as in 'github.com/acme/*'
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// The place that they are fetched from, if it is not the source's own: as in plugins.yaml, or
    /// '**' for any place
    #[arg(long, value_name = "LOCATION", requires = "source")]
    pub from: Option<String>,

    /// A public key of minisign; every plugin must be signed with one of them; may be repeated
    #[arg(long = "key", value_name = "KEY", requires = "source", conflicts_with = "deny")]
    pub keys: Vec<String>,

    /// The least age of a release, as in 72h or 7d
    #[arg(long, value_name = "TIME", requires = "source", conflicts_with = "deny")]
    pub min_release_age: Option<String>,

    /// Never install or use them
    #[arg(long, requires = "source")]
    pub deny: bool,

    /// Grant them the network, if they ask for it
    #[arg(long, requires = "source", conflicts_with = "deny")]
    pub allow_net: bool,

    /// A file or directory that they may read, if they ask for it, as /etc/app or ~/.app; may be
    /// repeated
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_read: Vec<String>,

    /// A file or directory that they may write, if they ask for it; may be repeated
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_write: Vec<String>,

    /// A UNIX socket that they may connect to, if they ask for it; this opens every UNIX socket
    /// that you can connect to, because the system cannot tell them apart; may be repeated
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_socket: Vec<String>,

    /// A variable of the environment that they get, if they ask for it; * matches any part of its
    /// name; may be repeated
    #[arg(long, value_name = "NAME", requires = "source", conflicts_with = "deny")]
    pub allow_env: Vec<String>,
}

const ABOUT: &str = "Add a trust rule to your trust.yaml (RUSTOMIZE_TRUST names another file). The rules say whose plugins may be installed, and which permissions they \
    get. Without the file any source may be installed. With it every source needs a rule, and the first rule that matches decides. Without SOURCE, print the file.";

/// Runs `plugin trust`.
///
/// # Errors
/// The rule is not valid, or the file cannot be written.
pub(crate) fn run(args: &Trust, is_json: bool) -> Result<()> {
    let machine = machine();
    let path = machine.trust_file()?.path;
    let _lock = match args.source {
        Some(_) => {
            let folder = folder_of(&path);
            files::make_folders(folder).with_context(|| format!("cannot make the directory '{}'", folder.display()))?;
            files::lock(folder, || {})
        }
        None => None,
    };
    let old = match files::read_text(&path, RECORD) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("cannot read '{}'", path.display()))?,
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
    let granted = granted.without_links(machine.host.variable("HOME").map(PathBuf::from).as_deref());
    let amendment = Amendment {
        pattern: SourcePattern::parse(source).map_err(wrong)?,
        from: Origin::of_rule(source, args.from.as_deref().unwrap_or_default(), Path::new("."))?,
        is_denied: args.deny,
        keys: args.keys.clone(),
        min_age: args.min_release_age.clone(),
        granted,
    };
    let Amended { text, rule } = amendment.amend(&path, &old)?;
    atomic::write(&path, text.as_bytes(), 0o644).with_context(|| format!("cannot write '{}'", path.display()))?;
    let mut report = Report::default();
    report.add(format!("{}: - {rule}", path.display()), json!({ "path": path_value(&path), "rule": rule }));
    report.print(is_json)
}
