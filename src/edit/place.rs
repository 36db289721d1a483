//! [`Place`]: the kustomization file of the working directory.

use super::change::Change;
use super::draft::Draft;
use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use crate::load::kustomization_file::FILE_NAMES;
use crate::stage::{Context, Options};
use rustomize_files as files;
use rustomize_files::atomic;
use rustomize_sources::{Disk, ReadFile};
use rustomize_yaml::{Heap, encoding};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The kustomization file to change, and the options for loading the files that it names.
pub struct Place {
    options: Options,
    /// Notes for the user, in order.
    notes: Vec<String>,
    writing: Writing,
}

/// What becomes of a new text.
enum Writing {
    /// The file is locked, read, changed and written.
    AtOnce,
    /// The caller has locked the directory, and gets the changes.
    Later(Vec<Change>),
}

impl Place {
    /// The kustomization file of the working directory.
    pub fn new(options: Options) -> Self {
        Place { options, notes: Vec::new(), writing: Writing::AtOnce }
    }

    /// The kustomization file of the working directory, whose directory the caller has locked. A
    /// change writes nothing: [`Place::take_changes`] returns it.
    pub fn of_batch(options: Options) -> Self {
        Place { writing: Writing::Later(Vec::new()), ..Place::new(options) }
    }

    /// Returns the changes that were not written, and forgets them.
    pub fn take_changes(&mut self) -> Vec<Change> {
        match &mut self.writing {
            Writing::AtOnce => Vec::new(),
            Writing::Later(changes) => std::mem::take(changes),
        }
    }

    /// Adds a note for the user.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Returns the notes for the user, and forgets them.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The options for loading the files that the kustomization names.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Changes the fields of the kustomization file. If two changes are made at the same time, the
    /// second one waits. The file is replaced in one step, and only if the change succeeds and
    /// changes anything.
    ///
    /// # Errors
    /// The directory has several kustomization files or none; the file cannot be read as a
    /// kustomization or cannot be changed; or `change` fails.
    pub fn change(&mut self, change: impl for<'a> FnOnce(&mut Draft<'a>) -> Result<()>) -> Result<()> {
        self.change_with(["", ""], change)
    }

    /// As [`Place::change`], with prefixes for two kinds of errors: if there is not exactly one
    /// file, and if it is not a kustomization.
    ///
    /// # Errors
    /// As [`Place::change`].
    pub fn change_with(
        &mut self,
        [no_file, no_kustomization]: [&str; 2],
        change: impl for<'a> FnOnce(&mut Draft<'a>) -> Result<()>,
    ) -> Result<()> {
        let name = find().map_err(|e| e.prefixed(no_file))?;
        let _lock = matches!(self.writing, Writing::AtOnce).then(|| lock(Path::new(".")));
        let heap = Heap::new();
        let disk = Disk::new();
        let cx = Context::new(&heap, &disk, self.options.clone());
        let text = read(name)?;
        let located = |e: Error| e.located(&heap);
        let mut draft = Draft::read(cx, name, text).map_err(|e| located(e).prefixed(no_kustomization))?;
        let changed = change(&mut draft);
        self.notes.append(&mut draft.take_notes());
        changed.map_err(located)?;
        let before = draft.written().to_owned();
        let Some(after) = draft.finish().map_err(located)? else { return Ok(()) };
        match &mut self.writing {
            Writing::AtOnce => write(Path::new(name), after.as_bytes()).map_err(|e| unusable(name, &e)),
            Writing::Later(changes) => {
                let path = dunce::canonicalize(name).map_err(|e| unusable(name, &e))?;
                changes.push(Change { name: name.to_owned(), path, before, after });
                Ok(())
            }
        }
    }
}

/// The only kustomization file of the working directory: its name and its text.
///
/// # Errors
/// The directory has several kustomization files or none, or the file cannot be read or changed.
pub fn only_file() -> Result<(&'static str, String)> {
    let name = find()?;
    Ok((name, read(name)?))
}

/// The text of a kustomization file.
fn read(name: &str) -> Result<String> {
    let bytes = FileLimit::default().read(Path::new(name)).map_err(|e| unusable(name, &e))?;
    let invalid = |e: encoding::Invalid| {
        Error::new(Code::Encoding, format!("'{name}' is not valid {} at byte {}", e.encoding, e.offset))
    };
    let text = encoding::decode(bytes).map_err(invalid)?;
    if text.is_wide {
        let error = Error::new(Code::Encoding, format!("'{name}' is UTF-16, and only UTF-8 can be changed"));
        return Err(error.hint(format!("convert it: iconv -f UTF-16 -t UTF-8 {name} > new.yaml && mv new.yaml {name}")));
    }
    Ok(text.text)
}

fn unusable(name: &str, fault: &io::Error) -> Error {
    Error::io(fault, format!("'{name}': {fault}"))
}

/// The name of the only kustomization file.
fn find() -> Result<&'static str> {
    let found: Vec<&'static str> = FILE_NAMES.into_iter().filter(|name| Path::new(name).exists()).collect();
    match found[..] {
        [] => Err(Error::new(Code::NoKustomization, format!("Missing kustomization file '{}'.", FILE_NAMES[0]))
            .hint("change to its directory, or write one here: rustomize create --autodetect")),
        [name] if Path::new(name).is_dir() => {
            let error = Error::new(Code::NoKustomization, format!("{name} should be a file"));
            Err(error.hint(format!("it is a directory: rename it, as with mv {name} {name}.old")))
        }
        [name] => Ok(name),
        _ => Err(Error::new(
            Code::NoKustomization,
            format!("Found multiple kustomization file: {}", super::shown(&found)),
        )
        .hint("remove all but one of them")),
    }
}

/// Waits until no other change of a directory is in progress. The directory is locked, because the
/// file itself is replaced. `None` on a file system without locks.
pub fn lock(directory: &Path) -> Option<File> {
    files::lock(directory, || {})
}

/// Writes a file that must not exist yet; a link is not followed. A file that cannot be written to
/// its end is removed.
///
/// # Errors
/// The path is taken, or the file cannot be written.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(content).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Replaces the file that a path leads to, in one step, and keeps its mode; links are followed. A
/// file that cannot be renamed, such as a file with a mount of its own, is written in place.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = dunce::canonicalize(path)?;
    let facts = fs::metadata(&target)?;
    if files::refuses_writing(&facts) {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let mode = files::mode(&facts);
    match atomic::write(&target, content, mode) {
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ResourceBusy | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            write_in_place(&target, content, &fs::read(&target)?)
        }
        result => result,
    }
}

/// Writes a file without replacing it. If the file cannot be written to its end, it gets the
/// content `before` again.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_in_place(path: &Path, content: impl AsRef<[u8]>, before: &[u8]) -> io::Result<()> {
    fs::write(path, content).inspect_err(|_| {
        // The first fault is the one that counts.
        let _ = fs::write(path, before);
    })
}
