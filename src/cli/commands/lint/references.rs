//! `lint --fix` for references of custom kinds to renamed resources: the kustomization that lists
//! the file of a reference gets an entry of `nameReference`, in a file of `configurations`.

use super::fix::{Changes, Fixing, MOST_BYTES, show, told};
use crate::messages::Messages;
use crate::settings::real;
use anyhow::Context;
use rustomize_edit::name_references::{FILE, Mended, Referring, Stays, mended};
use rustomize_engine::diag::{Mend, NameReference, Warning};
use rustomize_engine::load::{Memory, kustomization_file};
use rustomize_sources::Disk;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A kustomization whose resources have references to mend.
struct Referrer<'f> {
    /// The directory as messages name it; empty for the working directory.
    shown: String,
    /// The name of the kustomization file.
    name: &'static str,
    findings: Vec<&'f Warning>,
    /// The files of the findings, without links.
    files: Vec<PathBuf>,
    entries: BTreeSet<NameReference>,
}

/// Mends references, and reports them. Returns the number of files that have changed, or would
/// change.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn mend(findings: &[Warning], fixing: &Fixing<'_>, messages: &Messages) -> anyhow::Result<usize> {
    let mut referrers: BTreeMap<PathBuf, Referrer<'_>> = BTreeMap::new();
    for finding in findings {
        let (Some(place), Some(Mend::NameReference(entry))) = (finding.place(), finding.mend()) else { continue };
        // Files of clones and charts have names that lead to no file here.
        let Some(file) = real(&place.file).filter(|path| path.is_file()) else { continue };
        let Some((directory, shown, name)) = kustomization_above(&file, &place.file) else { continue };
        let (findings, files, entries) = Default::default();
        let referrer = referrers.entry(directory).or_insert(Referrer { shown, name, findings, files, entries });
        referrer.findings.push(finding);
        referrer.files.push(file);
        referrer.entries.insert(entry.clone());
    }
    let mut changed = 0;
    for (directory, referrer) in referrers {
        changed += mend_in(&directory, &referrer, fixing, messages)?;
    }
    Ok(changed)
}

/// The nearest directory at or above that of a file with a kustomization file: its path, its name
/// in messages, and the name of the kustomization file. Messages name the file `shown`.
fn kustomization_above(path: &Path, shown: &str) -> Option<(PathBuf, String, &'static str)> {
    let disk = Disk::new();
    let mut shown = Path::new(shown).ancestors().skip(1);
    path.ancestors().skip(1).find_map(|directory| {
        let shown = shown.next().unwrap_or(directory).to_string_lossy().into_owned();
        let name = kustomization_file::name_in(&disk, directory)?;
        Some((directory.to_owned(), shown, name))
    })
}

/// Writes the entries of one kustomization. Returns the number of changed files.
fn mend_in(
    directory: &Path,
    referrer: &Referrer<'_>,
    fixing: &Fixing<'_>,
    messages: &Messages,
) -> anyhow::Result<usize> {
    let at = |name: &str| Path::new(&referrer.shown).join(name).display().to_string();
    let leave = |why: &str| {
        messages.note(&format!("{}: references stay: {why}", at(referrer.name)));
        Ok(0)
    };
    let (kustomization, file) = (directory.join(referrer.name), directory.join(FILE));
    let mut changes = Changes::of([&*kustomization, &file])?;
    // The file may be what others have put there: a pipe would never end.
    let read = |path: &Path, name: &str| match rustomize_files::read_text(path, MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(fault) if fault.kind() == ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(fault).with_context(|| format!("cannot read '{}'", at(name))),
    };
    let Some(before) = read(&kustomization, referrer.name)? else { return Ok(0) };
    let entries_before = read(&file, FILE)?;
    let root = if referrer.shown.is_empty() { "." } else { &referrer.shown };
    let options = (fixing.options)(root)?;
    let referring = Referring {
        directory,
        name: referrer.name,
        text: &before,
        entries: entries_before.as_deref(),
        files: &referrer.files,
    };
    let mended = mended(&referring, &referrer.entries, Memory::new(), &options);
    let Mended { kustomization: after, entries } = match mended {
        Ok(mended) => mended,
        Err(Stays::HasOtherFields) => {
            return leave(&format!("'{}' has more than a list of 'nameReference'", at(FILE)));
        }
        Err(why) => return leave(&why.to_string()),
    };
    let is_listed = after == before;
    if fixing.is_dry {
        referrer.findings.iter().for_each(|finding| told(finding, fixing, messages));
        messages.note(&format!("{}:", at(FILE)));
        // The lines are this program's own: none has a secret.
        let start = entries_before.as_deref().map_or(0, str::len);
        entries[start..].lines().for_each(|line| messages.note(&format!("+ {line}")));
        if !is_listed {
            messages.note(&format!("{}:", at(referrer.name)));
            show(&before, &after, messages);
        }
        return Ok(1 + usize::from(!is_listed));
    }
    match entries_before {
        Some(before) => changes.add(at(FILE), &file, before, entries)?,
        None => changes.batch.create(at(FILE), file, entries)?,
    }
    changes.add(at(referrer.name), &kustomization, before, after)?;
    changes.batch.write()?;
    referrer.findings.iter().for_each(|finding| told(finding, fixing, messages));
    Ok(1 + usize::from(!is_listed))
}
