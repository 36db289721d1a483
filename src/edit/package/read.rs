//! Files and texts into items.

use super::Item;
use super::annotations::{self, INDEX, PATH};
use crate::diag::{Code, Error, Result};
use crate::load::{FileLimit, clean};
use rustomize_base::windows_path::slashed;
use rustomize_sources::ReadFile;
use rustomize_yaml::noted::{Document, Noted, Unread};
use rustomize_yaml::{Arena, Pos, encoding};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file that makes its directory a package.
pub const PACKAGE_FILE: &str = "Krmfile";

/// The file with patterns of files to leave out, which only kustomize reads.
pub const IGNORE_FILE: &str = ".krmignore";

/// The files that are resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    Yaml,
    /// JSON files, too.
    YamlAndJson,
}

/// The directories of packages that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// A package ends where another one begins.
    OwnPackage,
    /// All directories.
    All,
}

/// The content of a text.
pub struct Content<'a> {
    pub items: Vec<Item<'a>>,
    /// The `results` of a ResourceList.
    pub results: Option<Noted<'a>>,
}

/// What a reader notes in the annotations of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotate<'p> {
    Nothing,
    /// The number of the document.
    Index,
    /// The number of the document, and this path of its file.
    IndexAndPath(&'p str),
}

/// Reads the text of a stream: one list, whose items are the resources, or documents.
///
/// # Errors
/// The text is not YAML, or has parts that cannot be printed again.
pub fn stream<'a>(arena: Arena<'a>, name: &str, text: String, annotate: Annotate<'_>) -> Result<Content<'a>> {
    let documents = documents(arena, name, text)?;
    if let [Document { root, .. }] = documents.as_slice()
        && matches!(root.get_text("kind"), Some("ResourceList" | "List"))
        && (root.get("items").is_some() || root.get("functionConfig").is_some())
    {
        let items = root.get("items").and_then(Noted::items).unwrap_or_default();
        let start = documents.first().map_or(Pos::NONE, |list| list.start);
        let item = |root: &Noted<'a>| Item { document: Document { start, ..Document::new(root.clone()) } };
        return Ok(Content { items: items.iter().map(item).collect(), results: root.get("results").cloned() });
    }
    let items = annotated(arena, documents, annotate).map_err(|e| e.located(arena.heap()))?;
    Ok(Content { items, results: None })
}

fn annotated<'a>(arena: Arena<'a>, documents: Vec<Document<'a>>, annotate: Annotate<'_>) -> Result<Vec<Item<'a>>> {
    let mut items = Vec::with_capacity(documents.len());
    for (i, document) in documents.into_iter().enumerate() {
        let mut item = Item { document };
        if annotate != Annotate::Nothing {
            annotations::complete(arena, &mut item)?;
            // The annotations are added in the order of their names.
            annotations::set(arena, &mut item, INDEX[1], &i.to_string())?;
            if let Annotate::IndexAndPath(path) = annotate {
                annotations::set(arena, &mut item, PATH[1], path)?;
            }
            annotations::set(arena, &mut item, INDEX[0], &i.to_string())?;
            if let Annotate::IndexAndPath(path) = annotate {
                annotations::set(arena, &mut item, PATH[0], path)?;
            }
        }
        items.push(item);
    }
    Ok(items)
}

fn documents<'a>(arena: Arena<'a>, name: &str, text: String) -> Result<Vec<Document<'a>>> {
    let text = if text.contains('\r') { text.replace("\r\n", "\n") } else { text };
    let source = arena.add_source(name, text);
    Document::read_all(arena, source).map_err(|unread| {
        let error = match unread {
            Unread::Malformed(malformed) => Error::from(malformed),
            Unread::Unsupported(pos) => {
                let fault = "the document has parts that cannot be printed with their comments";
                Error::new(Code::NotYaml, fault).at(pos).hint("write explicit keys ('? key') as 'key:'")
            }
        };
        error.located(arena.heap())
    })
}

/// Reads the text of a file.
///
/// # Errors
/// The file cannot be read, or is not text.
pub fn file(path: &Path) -> Result<String> {
    let name = path.display();
    let bytes = FileLimit::default().read(path).map_err(|e| Error::io(&e, format!("'{name}': {e}")))?;
    decoded(bytes, &format!("'{name}'"))
}

/// Reads the text of a stream, which may be as large as a file.
///
/// # Errors
/// The stream cannot be read, is too large, or is not text.
pub fn all_of(stream: impl Read, name: &str) -> Result<String> {
    let unreadable = |e: io::Error| Error::io(&e, format!("cannot read {name}: {e}"));
    let (limit, mut bytes) = (FileLimit::default(), Vec::new());
    stream.take(limit.0.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    limit.check(bytes.len() as u64).map_err(unreadable)?;
    decoded(bytes, name)
}

fn decoded(bytes: Vec<u8>, name: &str) -> Result<String> {
    let invalid = |invalid: encoding::Invalid| {
        let fault = format!("{name} is not valid {} at byte {}", invalid.encoding, invalid.offset);
        Error::new(Code::Encoding, fault).hint("save it as UTF-8")
    };
    encoding::decode(bytes).map(|text| text.text).map_err(invalid)
}

/// Reads the resources of a directory or a file. Each gets annotations with its file, which is
/// relative to the directory, or to the directory of the file.
///
/// # Errors
/// A file cannot be read.
pub fn directory<'a>(arena: Arena<'a>, place: &Path, files: Files, below: Below) -> Result<Vec<Item<'a>>> {
    let mut items = Vec::new();
    for found in self::files(place, files, below)? {
        let text = file(&found.path)?;
        let documents = documents(arena, &found.path.display().to_string(), text)?;
        let annotated = annotated(arena, documents, Annotate::IndexAndPath(&found.name));
        items.extend(annotated.map_err(|e| e.located(arena.heap()))?);
    }
    Ok(items)
}

/// Reads the objects of a file or directory without annotations.
///
/// # Errors
/// A file cannot be read.
pub fn plain<'a>(arena: Arena<'a>, place: &Path) -> Result<Vec<Item<'a>>> {
    let mut items = Vec::new();
    for found in self::files(place, Files::Yaml, Below::All)? {
        let documents = documents(arena, &found.path.display().to_string(), file(&found.path)?)?;
        items.extend(documents.into_iter().map(|document| Item { document }));
    }
    Ok(items)
}

/// A file of a package.
pub struct FoundFile {
    pub path: PathBuf,
    /// Relative to the directory that was read.
    pub name: String,
}

/// The files of a directory that are resources, in the order of their names; or the file itself.
///
/// # Errors
/// The directory cannot be read, or has a file with patterns of files to leave out.
pub fn files(place: &Path, files: Files, below: Below) -> Result<Vec<FoundFile>> {
    let unreadable = |path: &Path, e: &std::io::Error| Error::io(e, format!("'{}': {e}", path.display()));
    let metadata = fs::metadata(place).map_err(|e| unreadable(place, &e))?;
    let name = |path: &Path| match path.file_name().unwrap_or_default().to_str() {
        Some(name) => Ok(name.to_owned()),
        None => {
            let fault = format!("'{}' has a name that is not valid UTF-8", path.display());
            Err(Error::new(Code::Encoding, fault).hint("rename it: annotations name the files of resources"))
        }
    };
    let is_resource = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let ends_with = |ending: &str| name.ends_with(ending.as_bytes());
        ends_with(".yaml") || ends_with(".yml") || files == Files::YamlAndJson && ends_with(".json")
    };
    if !metadata.is_dir() {
        let found = || Ok(FoundFile { path: place.to_owned(), name: name(place)? });
        return is_resource(place).then(found).into_iter().collect();
    }
    let (mut found, mut open) = (Vec::new(), vec![(place.to_owned(), String::new(), true)]);
    while let Some((path, relative, is_directory)) = open.pop() {
        if !is_directory {
            found.push(FoundFile { path, name: relative });
            continue;
        }
        let entries = fs::read_dir(&path).map_err(|e| unreadable(&path, &e))?;
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(|e| unreadable(&path, &e))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        // `open` is a stack: the entry that is added last is read next.
        for entry in entries.into_iter().rev() {
            let kind = entry.file_type().map_err(|e| unreadable(&entry.path(), &e))?;
            let own = entry.file_name();
            let below_here = if path == Path::new(".") { PathBuf::from(&own) } else { slashed(entry.path()) };
            if own == IGNORE_FILE {
                let fault = format!("{}: files with patterns to leave out are not supported", below_here.display());
                let hint = "remove it, or name the directories below that have the resources";
                return Err(Error::new(Code::Input, fault).hint(hint));
            }
            if !kind.is_dir() && !is_resource(&below_here) {
                continue;
            }
            let name = name(&below_here)?;
            let relative = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            if kind.is_dir() {
                if below == Below::All || fs::symlink_metadata(below_here.join(PACKAGE_FILE)).is_err() {
                    open.push((below_here, relative, true));
                }
            } else {
                open.push((below_here, relative, false));
            }
        }
    }
    Ok(found)
}

/// The packages of a directory, as kustomize finds them: the directory itself, or with `is_deep`
/// each directory with a package file, and `root` in any case.
///
/// # Errors
/// A directory cannot be read.
pub fn packages(root: &str, is_deep: bool) -> Result<Vec<String>> {
    let clean = clean(root);
    let mut found = Vec::new();
    if is_deep {
        collect(Path::new(&clean), &mut found)?;
    } else if fs::metadata(Path::new(root).join(PACKAGE_FILE)).is_ok() {
        found.push(clean);
    }
    // kustomize compares the texts: 'x/' is not 'x', and is read twice.
    if !found.iter().any(|package| package == root) {
        found.insert(0, root.to_owned());
    }
    Ok(found)
}

fn collect(directory: &Path, found: &mut Vec<String>) -> Result<()> {
    let unreadable = |e: std::io::Error| Error::io(&e, format!("'{}': {e}", directory.display()));
    if !fs::symlink_metadata(directory).map_err(unreadable)?.is_dir() {
        return Ok(());
    }
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = if directory == Path::new(".") { PathBuf::from(entry.file_name()) } else { slashed(entry.path()) };
        if entry.file_name() == PACKAGE_FILE {
            found.push(directory.to_string_lossy().into_owned());
        }
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(&path, found)?;
        }
    }
    Ok(())
}
