//! `edit`: changes of the kustomization file of the working directory.

pub(crate) mod args;
pub(crate) mod add;
pub(crate) mod set;
pub(crate) mod remove;
pub(crate) mod fix;
pub(crate) mod notes;
pub(crate) mod several;
pub(crate) mod words;

use self::args::{Edit, EditCommand};
use self::notes::show_notes;
use crate::flags::format::Format;
use crate::flags::switch::is_on;
use crate::messages::Messages;
use crate::request::plain_options;
use crate::writer::{self, Shown};

use anyhow::{Context, Result, bail};
use rustomize_edit::Place;
use rustomize_engine::pipeline::object;

/// Runs `edit`.
///
/// # Errors
/// The arguments do not fit, or the file cannot be changed.
pub(crate) fn run(command: &EditCommand, messages: &mut Messages) -> Result<()> {
    if let Some(directory) = &command.directory {
        std::env::set_current_dir(directory)
            .with_context(|| format!("cannot change to the directory '{directory}'"))?;
    }
    if command.leaves && command.all.is_none() {
        bail!("--leaves is for --all");
    }
    if command.all.is_some() || command.dry_run || command.output == Format::Json {
        return several::run(command, messages);
    }
    let mut place = Place::new(plain_options(command.compat)?);
    let result = match &command.verb {
        Edit::Add { what } => add::run(&mut place, what),
        Edit::Set { what } => set::run(&mut place, what),
        Edit::Remove { what } => remove::run(&mut place, what),
        Edit::Fix { vars, .. } => return fix::run(&mut place, is_on(*vars)),
        Edit::AlphaListBuiltinPlugin { .. } => return list_builtin_plugins(),
    };
    show_notes(&mut place);
    Ok(result?)
}

fn list_builtin_plugins() -> Result<()> {
    let mut names: Vec<&str> =
        object::GENERATORS.iter().chain(&object::TRANSFORMERS).map(|builtin| builtin.kind).collect();
    names.sort_unstable();
    let lines = names.iter().map(|name| format!(" * {name}\n"));
    Ok(writer::print(&Shown::message(&format!("Builtin plugins:\n\n{}", lines.collect::<String>())))?)
}
