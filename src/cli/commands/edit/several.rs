//! `edit --all`: one edit in many directories. All changes are prepared before the first file is
//! written.

use super::args::{Edit, EditCommand};
use super::{add, remove, set};
use crate::changes::{self, Showing, below};
use crate::failures::Failures;
use crate::flags::format::Format;
use crate::flags::switch::is_on;
use crate::git;
use crate::messages::Messages;
use crate::request::plain_options;
use crate::roots::{cannot_look, none_found};
use anyhow::{Context, Result, bail};
use rustomize_base::parallel;
use rustomize_edit::batch::Batch;
use rustomize_edit::{Change, Place, fix};
use rustomize_engine::diag::{self, Code, Error, Warned};
use rustomize_engine::load::{FileLimit, Memory, Overlay};
use rustomize_engine::pipeline::roots::find;
use rustomize_engine::workspace::{Together, build_all};
use rustomize_sources::Disk;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the verb in each directory.
///
/// # Errors
/// A directory has no kustomization, the verb fails in one of them, or a file cannot be written. No
/// file has changed then.
pub(crate) fn run(command: &EditCommand, messages: &mut Messages) -> Result<()> {
    let showing = Showing { is_dry: command.dry_run, is_json: command.output == Format::Json };
    let directories = command.all.as_deref().unwrap_or_default();
    let roots = if command.all.is_some() { roots(directories, command.leaves)? } else { vec![".".to_owned()] };
    if let Edit::Fix { vars, .. } = &command.verb
        && is_on(*vars)
    {
        bail!(
            "'fix --vars' changes the resources of one kustomization, and their files may be shared\n  hint: run it in \
             one directory at a time, without --all, --dry-run and --output"
        );
    }
    if command.all.is_some() {
        messages.note(&format!("kustomizations: {}", roots.len()));
    }
    let within = if command.all.is_some() { directories } else { &roots };
    let mut batch = Batch::within(within)?;
    batch.lock(&roots)?;
    let mut failures = Failures::default();
    for root in &roots {
        let prepared = prepare(command, root, messages)?;
        let added = prepared.and_then(|changes| changes.into_iter().try_for_each(|change| batch.add(change)));
        if let Err(error) = added {
            failures.add(root, &error);
        }
    }
    if !failures.is_empty() {
        messages.note("no file has changed");
    }
    failures.report(roots.len(), messages)?;
    if matches!(command.verb, Edit::Fix { .. }) {
        compare(command, &roots, &batch, messages)?;
    }
    let count = batch.changes().count();
    changes::finish(batch, showing, json!({"roots": roots}), messages)?;
    if command.all.is_some() {
        let word = if showing.is_dry { "would change" } else { "changed" };
        messages.note(&format!("{word}: {count} of {}", roots.len()));
    }
    Ok(())
}

/// The kustomizations at and below directories, each once.
fn roots(directories: &[String], leaves: bool) -> Result<Vec<String>> {
    let mut roots = BTreeSet::new();
    for directory in directories {
        let found = find(&Disk::new(), directory, FileLimit::default()).map_err(|e| cannot_look(directory, &e))?;
        if found.is_empty() {
            return Err(none_found(directory, FileLimit::default()));
        }
        let wanted = found.into_iter().filter(|root| !(leaves && root.is_used));
        roots.extend(wanted.map(|root| root.path));
    }
    Ok(roots.into_iter().collect())
}

/// The changes of the verb in one directory. The outer error ends the command.
fn prepare(command: &EditCommand, root: &str, messages: &Messages) -> Result<diag::Result<Vec<Change>>> {
    let directory = Path::new(root);
    git::within(directory, || {
        let mut place = Place::of_batch(plain_options(command.compat)?);
        let done = match &command.verb {
            Edit::Add { what } => add::run(&mut place, what),
            Edit::Set { what } => set::run(&mut place, what),
            Edit::Remove { what } => remove::run(&mut place, what),
            Edit::Fix { .. } => fix::fix(&mut place, false),
            Edit::AlphaListBuiltinPlugin { .. } => Err(Error::new(Code::Usage, "this command changes no file")),
        };
        for note in place.take_notes() {
            messages.note(&format!("{root}: {note}"));
        }
        let named = |change: Change| Change { name: below(root, &change.name), ..change };
        let changes = place.take_changes().into_iter().map(named).collect();
        Ok(done.map(|()| changes).map_err(|error| error.with_files(|file| below(root, file))))
    })
    .with_context(|| format!("in {root}"))
}

/// Warns of kustomizations whose build prints other bytes after the changes.
fn compare(command: &EditCommand, roots: &[String], batch: &Batch, messages: &Messages) -> Result<()> {
    let mut options = Vec::new();
    for root in roots {
        options.push(git::within(Path::new(root), || plain_options(command.compat))?);
    }
    let together = Together { jobs: parallel::cores(), keep_going: true };
    let printed = |_: usize, output: rustomize_engine::workspace::Output<'_>| output.print();
    let before = build_all(&Disk::new(), roots, |i| options[i].clone(), together, printed);
    let texts = batch.changes().map(|change| (&change.path, change.after.as_bytes()));
    let changed = Overlay::new(Disk::new(), Memory::from_iter(texts));
    let after = build_all(&changed, roots, |i| options[i].clone(), together, printed);
    for ((root, before), after) in roots.iter().zip(before).zip(after) {
        let text = |built: Option<Warned<diag::Result<String>>>| built.and_then(|built| built.value.ok());
        let (before, after) = (text(before), text(after));
        if before != after {
            messages.note(&format!("Warning: {root}: the build prints other bytes after 'fix'"));
        }
    }
    Ok(())
}
