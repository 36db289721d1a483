//! `plugin verify`: checks each installed plugin.

use crate::flags::format::Printing;
use crate::flags::project::Project;
use crate::machine::machine;
use crate::report::Report;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_manager::resolve::Resolver;
use rustomize_manager::resolve::inputs::Inputs;
use rustomize_manager::resolve::overview::PluginState;
use rustomize_plugins::PluginOptions;
use serde_json::json;

/// Check every installed plugin: its name, its content, and its description
#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub project: Project,

    #[command(flatten)]
    pub printing: Printing,
}

/// Runs `plugin verify`. Stored descriptions are ignored: each plugin is asked again, and its
/// answer is stored.
///
/// # Errors
/// A plugin has a fault. All plugins were printed then.
pub(crate) fn run(args: &Verify, is_json: bool, options: &PluginOptions) -> Result<()> {
    let machine = machine();
    let policy = machine.policy(None)?;
    let environment = machine.environment(None)?;
    let inputs = Inputs::of(&machine, args.project.path(), environment.as_ref(), &policy)?;
    let inputs = Inputs { asks_again: true, ..inputs };
    let rows = Resolver { inputs: &inputs, policy: &policy, options }.rows()?;
    let mut report = Report::default();
    let mut wrong = 0;
    for row in &rows {
        let names = row.required_by.iter().map(|(_, name)| name.clone());
        let what = match (&row.path, &row.source) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(source)) => format!("{} ({source})", names.collect::<Vec<_>>().join(", ")),
            (None, None) => names.collect::<Vec<_>>().join(", "),
        };
        let reason = match &row.state {
            PluginState::Installed(_) => None,
            PluginState::Present(why) | PluginState::Refused(why) => Some(why.clone()),
            PluginState::Absent(_) => Some("it is required and not installed".to_owned()),
        };
        wrong += usize::from(reason.is_some());
        let value = json!({ "what": what, "isRight": reason.is_none(), "reason": reason });
        report.add(format!("{what}: {}", reason.as_deref().unwrap_or("ok")), value);
    }
    report.print(is_json)?;
    match wrong {
        0 => Ok(()),
        n => bail!("plugins with a fault: {n}; each is listed with its reason"),
    }
}
