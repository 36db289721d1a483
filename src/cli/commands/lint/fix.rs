//! `lint --fix`: mends findings that have a safe mend.

use crate::messages::Messages;
use crate::settings::real;
use rustomize_edit::batch::Batch;
use rustomize_edit::change::Change;
use rustomize_edit::fix;
use rustomize_edit::mend::mended;
use rustomize_engine::diag::{Code, Excerpt, Mend, Result, Warning};
use rustomize_engine::load::{Memory, Overlay, kustomization_file};
use rustomize_engine::stage::Options;
use rustomize_engine::workspace::{self, Workspace};
use rustomize_sources::Disk;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most changed lines of a file that --dry-run shows, on each side.
const SHOWN: usize = 40;

/// A file with more bytes is not changed.
pub(super) const MOST_BYTES: u64 = 16 << 20;

/// The way in which findings are mended.
pub(crate) struct Fixing<'o> {
    /// True to show the changes of files, and to make none.
    pub is_dry: bool,
    /// The options for the build of a directory.
    pub options: &'o dyn Fn(&str) -> anyhow::Result<Options>,
}

/// Mends findings, and reports them. Returns the number of files that have changed, or would
/// change.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn fix(findings: &[Warning], fixing: &Fixing<'_>, messages: &Messages) -> anyhow::Result<usize> {
    let mut files: BTreeMap<&str, Vec<&Warning>> = BTreeMap::new();
    for finding in findings {
        let is_of_text = matches!(finding.mend(), Some(Mend::Text { .. })) || finding.code() == Code::Deprecated;
        if let Some(place) = finding.place().filter(|_| is_of_text) {
            files.entry(&place.file).or_default().push(finding);
        }
    }
    let mut changed = 0;
    for (file, findings) in files {
        changed += usize::from(fix_file(file, &findings, fixing, messages)?);
    }
    Ok(changed)
}

/// Changes of files, whose directories are locked.
pub(super) struct Changes {
    pub batch: Batch,
}

impl Changes {
    /// Locks the directories of files, before these are read.
    ///
    /// # Errors
    /// A directory is gone, or the system gives no more descriptors.
    pub(super) fn of<'p>(files: impl IntoIterator<Item = &'p Path>) -> Result<Changes> {
        let places = files.into_iter().flat_map(|file| [Some(file.to_owned()), target(file)]).flatten();
        let directories: Vec<PathBuf> = places.filter_map(|file| Some(file.parent()?.to_owned())).collect();
        let mut batch = Batch::within(&directories)?;
        batch.lock(&directories)?;
        Ok(Changes { batch })
    }

    /// Adds a change of the file that a path leads to.
    ///
    /// # Errors
    /// As [`Batch::add`].
    pub(super) fn add(&mut self, name: String, file: &Path, before: String, after: String) -> Result<()> {
        let path = target(file).unwrap_or_else(|| file.to_owned());
        self.batch.add(Change { name, path, before, after })
    }
}

/// The file that a path leads to, if it exists.
fn target(file: &Path) -> Option<PathBuf> {
    dunce::canonicalize(file).ok()
}

/// Mends the findings in one file. Returns true if the file changes.
fn fix_file(file: &str, findings: &[&Warning], fixing: &Fixing<'_>, messages: &Messages) -> anyhow::Result<bool> {
    // Files of clones and plugins have names that lead to no file here.
    let Some(path) = real(file) else { return Ok(false) };
    let mut changes = Changes::of([&*path])?;
    // The file may be what others have put there: a pipe would never end.
    let Ok(before) = rustomize_files::read_text(&path, MOST_BYTES) else { return Ok(false) };
    let (mut after, mut done) = mended(&before, findings.iter().copied());
    let deprecated = || findings.iter().copied().filter(|finding| finding.code() == Code::Deprecated);
    if deprecated().next().is_some() {
        match current(file, &path, &after, fixing)? {
            Current::Text(text) => {
                after = text;
                done.extend(deprecated());
            }
            Current::Unchanged => {}
            Current::Stays(why) => messages.note(&format!("{file}: deprecated fields stay: {why}")),
        }
    }
    if after == before {
        return Ok(false);
    }
    for finding in &done {
        told(finding, fixing, messages);
    }
    if fixing.is_dry {
        if !done.iter().any(|finding| finding.hides_line()) {
            show(&before, &after, messages);
        }
    } else {
        changes.add(file.to_owned(), &path, before, after)?;
        changes.batch.write()?;
    }
    Ok(true)
}

/// Says that a finding is mended.
pub(super) fn told(finding: &Warning, fixing: &Fixing<'_>, messages: &Messages) {
    let word = if fixing.is_dry { "would fix" } else { "fixed" };
    let place = finding.place().map(ToString::to_string).unwrap_or_default();
    messages.note(&format!("{word}: {place}: {} [{}]", short(finding), finding.code().as_str()));
}

/// The first sentence of a finding.
fn short(finding: &Warning) -> &str {
    let message = finding.message().trim_start_matches("# Warning: ");
    message.split_once(". ").map_or(message, |(first, _)| first)
}

/// A kustomization file with current fields in place of deprecated ones.
enum Current {
    Text(String),
    /// The file has no deprecated fields.
    Unchanged,
    /// The file keeps its deprecated fields, for this reason.
    Stays(String),
}

/// Replaces the deprecated fields in the text of a kustomization file. They stay if the
/// kustomization does not build the same bytes with both texts.
///
/// # Errors
/// The options of the build are not valid.
fn current(file: &str, path: &Path, text: &str, fixing: &Fixing<'_>) -> anyhow::Result<Current> {
    let (Some(name), Some(directory)) = (kustomization_file::name_of(path), path.parent()) else {
        return Ok(Current::Unchanged);
    };
    let root = Path::new(file).parent().map(|parent| parent.to_string_lossy().into_owned()).unwrap_or_default();
    let options = (fixing.options)(if root.is_empty() { "." } else { &root })?;
    let fixed = match fix::fixed(directory, name, text.to_owned(), options.clone()) {
        Ok(Some(fixed)) => fixed,
        Ok(None) => return Ok(Current::Unchanged),
        Err(error) => return Ok(Current::Stays(error.message().to_owned())),
    };
    let built = |text: &str| {
        let workspace = Workspace::new();
        let loader = Overlay::new(Disk::new(), Memory::from_iter([(path, text.as_bytes())]));
        workspace::build(&workspace, &loader, &directory.to_string_lossy(), &options).value?.print()
    };
    let why = match (built(text), built(&fixed)) {
        (Ok(before), Ok(after)) if before == after => return Ok(Current::Text(fixed)),
        (Err(_), _) => "the directory does not build on its own, so nothing shows that the output stays the same",
        _ => "the output would change; see it with: rustomize edit fix",
    };
    Ok(Current::Stays(why.to_owned()))
}

/// Shows the lines in which two texts differ, except lines that may contain a secret.
pub(super) fn show(before: &str, after: &str, messages: &Messages) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let ends = old[first..].iter().rev().zip(new[first..].iter().rev());
    let last = ends.take_while(|(old, new)| old == new).count();
    for (sign, text, lines) in
        [('-', before, &old[first..old.len() - last]), ('+', after, &new[first..new.len() - last])]
    {
        for line in lines.iter().take(SHOWN) {
            let offset = line.as_ptr().addr() - text.as_ptr().addr();
            let is_shown = Excerpt::of(text, offset).is_some();
            messages.note(&format!("{sign} {}", if is_shown { line } else { "(not shown: may have a secret)" }));
        }
        if lines.len() > SHOWN {
            messages.note(&format!("{sign} ({} more lines)", lines.len() - SHOWN));
        }
    }
}
