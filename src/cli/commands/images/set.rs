//! `images set`: gives images another version at the places that decide it.

use super::args::Set;
use super::survey::{FoundImage, TagSource, images};
use crate::changes::{self, Showing, below};
use crate::failures::Failures;
use crate::flags::format::Format;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::writer::{self, Shown};
use crate::{roots, status_line};
use anyhow::{Context, Result, anyhow, bail};
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_base::observe::Observer;
use rustomize_base::shell::quoted;
use rustomize_edit::Change;
use rustomize_edit::batch::Batch;
use rustomize_edit::images::{Version, with_versions};
use rustomize_engine::diag::nearest;
use rustomize_engine::load::{FileLimit, Loader, Memory, Overlay, kustomization_file};
use rustomize_engine::stage::Options;
use rustomize_engine::transformer::image_tag::split;
use rustomize_engine::workspace::{Output, Together, build_all};
use rustomize_sources::{Disk, ReadFile};
use serde_json::json;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The most images that an error names.
const SHOWN: usize = 10;

/// Images by their names, each with its new version.
type Versions = BTreeMap<String, Version>;

/// The images to change.
struct Wanted {
    /// By their names in the output.
    by_name: Versions,
    /// By the text that decides their tag: an image that `images` gives another name in one
    /// kustomization has that name there, and the version of the text.
    by_text: BTreeMap<TagSource, Version>,
}

/// The images of roots, each with the root.
type Surveys<'p> = Vec<(&'p str, FastSet<FoundImage>)>;

/// The changes of one file.
struct FileEdits {
    /// The file as messages name it.
    name: String,
    file: Rc<WrittenFile>,
    /// New versions of entries of `images`.
    entries: BTreeMap<usize, Version>,
    /// New entries, by the names of the images.
    added: BTreeMap<String, Version>,
    /// By the byte with which the image begins.
    texts: BTreeMap<usize, Replaced>,
}

impl FileEdits {
    /// The changes so far of a file with a name.
    fn of<'e>(all: &'e mut BTreeMap<PathBuf, FileEdits>, file: &Rc<WrittenFile>, name: &str) -> &'e mut FileEdits {
        let new = || FileEdits {
            name: name.to_owned(),
            file: Rc::clone(file),
            entries: BTreeMap::new(),
            added: BTreeMap::new(),
            texts: BTreeMap::new(),
        };
        all.entry(file.path.clone()).or_insert_with(new)
    }
}

/// An image in the text of a file.
#[derive(PartialEq, Eq)]
struct Replaced {
    old: String,
    new: String,
}

/// The files of a batch that builds have read.
struct Files<'b> {
    batch: &'b Batch,
    /// Each file by the name that builds give it; `None` if the file may not be changed.
    known: RefCell<FastMap<String, Option<Rc<WrittenFile>>>>,
}

/// A file, which was read once.
struct WrittenFile {
    path: PathBuf,
    text: String,
}

/// An image that is written in a file.
struct WrittenImage {
    file: Rc<WrittenFile>,
    /// The byte with which the image begins.
    at: usize,
}

impl Files<'_> {
    /// The file with a name that a build gives; `None` if the file may not be changed.
    fn get(&self, name: &str) -> Option<Rc<WrittenFile>> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let read = || {
            let path = dunce::canonicalize(name).ok().filter(|path| self.batch.has(path))?;
            let text = FileLimit::default().read_to_string(&path).ok()?;
            Some(Rc::new(WrittenFile { path, text }))
        };
        let file = read();
        self.known.borrow_mut().insert(name.to_owned(), file.clone());
        file
    }

    /// The image of a source, if its file may be changed and has the image at that place, in quotes
    /// or without.
    fn image(&self, source: &TagSource) -> Option<WrittenImage> {
        let TagSource::Text { file, offset, text, .. } = source else { return None };
        let file = self.get(file)?;
        let value = file.text.get(*offset..)?;
        let at = if value.starts_with(['"', '\'']) { offset + 1 } else { *offset };
        let after = file.text[at..].strip_prefix(text.as_str())?;
        let ends = after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || "\"',]}".contains(c));
        ends.then_some(WrittenImage { file, at })
    }
}

/// Runs `images set`.
///
/// # Errors
/// A word is not an image, no image has the name, a root cannot be built, an image cannot be
/// changed without a change of another one, or a file cannot be written. No file has changed then.
pub(crate) fn run(set: Set, observer: Observer, messages: &mut Messages) -> Result<()> {
    let showing = Showing { is_dry: set.dry_run, is_json: set.printing.format == Format::Json };
    let mut build = set.build;
    let (words, directories) = std::mem::take(&mut build.directory).into_iter().partition(|word| is_image(word));
    build.directory = directories;
    let asked = parsed(&words)?;
    let request = BuildRequest::new(build, observer)?;
    let paths = roots::directories(&request)?;
    let mut options = request.options_of(&paths)?;
    options.iter_mut().for_each(|of_root| of_root.trace = true);
    let here = [".".to_owned()];
    let within = if request.directories.is_empty() { &here } else { request.directories.as_slice() };
    let mut batch = Batch::within(within)?;
    batch.lock(&paths)?;
    let together = Together { keep_going: true, ..request.together() };
    let before = surveyed(&Disk::new(), &paths, &options, together, messages)?;
    let files = Files { batch: &batch, known: RefCell::default() };
    let wanted = Wanted::new(named(asked, &before)?, &before, &files);
    let changed = changes_of(&wanted, &before);
    let variables: BTreeSet<(String, &str)> = before
        .iter()
        .flat_map(|(_, images)| images)
        .filter(|found| wanted.by_name.contains_key(split(&found.image).0) && has_variable(&found.image))
        .map(|found| (found.source.place(), found.image.as_str()))
        .collect();
    for (place, image) in variables {
        messages.note(&format!("{place}: '{image}' has a variable and stays"));
    }
    let edits = edits(&wanted, &before, &files)?;
    for edits in edits.into_values() {
        let options = options.first().cloned().unwrap_or_default();
        batch.add(applied(edits, options)?)?;
    }
    let texts = batch.changes().map(|change| (&change.path, change.after.as_bytes()));
    let loader = Overlay::new(Disk::new(), Memory::from_iter(texts));
    let after = surveyed(&loader, &paths, &options, together, messages)?;
    check(&wanted, &before, &after)?;
    if changed.is_empty() {
        messages.note("nothing to change: the images have these versions");
    }
    let values: Vec<_> =
        changed.iter().map(|((old, new), roots)| json!({"before": old, "after": new, "roots": roots})).collect();
    if !showing.is_json {
        let line = |((old, new), roots): (&(&str, String), &Vec<&str>)| {
            let roots =
                if let [root] = roots[..] { root.to_owned() } else { format!("{} kustomizations", roots.len()) };
            format!("{}\n", Shown::item(&format!("{old} -> {new} in {roots}")))
        };
        writer::data(changed.iter().map(line))?;
    }
    changes::finish(batch, showing, json!({"images": values}), messages)
}

/// Returns true for a word that is an image and not a directory.
fn is_image(word: &str) -> bool {
    word.contains([':', '@']) && !word.starts_with(['.', '/'])
}

/// The names and versions of words.
fn parsed(words: &[String]) -> Result<Versions> {
    let mut wanted = Versions::new();
    for word in words {
        let (name, tag, digest) = split(word);
        if name.is_empty() || word.contains('=') || (tag.is_empty() && digest.is_empty()) || word.contains(' ') {
            bail!(
                "'{word}' is not an image with a version\n  hint: write it as web:1.5, web@sha256:0a1b or reg:5000/web:1.5"
            );
        }
        let version = Version { tag: tag.to_owned(), digest: digest.to_owned() };
        if wanted.insert(name.to_owned(), version).is_some() {
            bail!("'{name}' is given twice");
        }
    }
    if wanted.is_empty() {
        bail!(
            "no word is an image with a version\n  hint: write it as web:1.5 or web@sha256:0a1b: rustomize images set web:1.5 --all"
        );
    }
    Ok(wanted)
}

/// Builds roots and finds their images.
fn surveyed<'p>(
    loader: &dyn Loader,
    paths: &'p [String],
    options: &[Options],
    together: Together,
    messages: &mut Messages,
) -> Result<Surveys<'p>> {
    let look = |_: usize, output: Output<'_>| Ok(images(&output));
    let built = build_all(loader, paths, |i| options[i].clone(), together, look);
    status_line::end();
    let mut failures = Failures::default();
    let mut found = Vec::new();
    for (root, built) in paths.iter().zip(built) {
        match built.map(|built| built.value) {
            Some(Ok(images)) => found.push((root.as_str(), images)),
            Some(Err(error)) => failures.add(root, &error),
            None => {}
        }
    }
    if !failures.is_empty() {
        messages.note("no file has changed");
    }
    failures.report(paths.len(), messages)?;
    Ok(found)
}

/// The wanted images by the names that the output has. A name stands for the only image that ends
/// with it.
fn named(asked: Versions, surveys: &Surveys<'_>) -> Result<Versions> {
    let all: BTreeSet<&str> =
        surveys.iter().flat_map(|(_, images)| images).map(|found| split(&found.image).0).collect();
    let mut wanted = Versions::new();
    for (name, version) in asked {
        let ends = |image: &&&str| image.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('/'));
        let full = if all.contains(name.as_str()) {
            name
        } else {
            let found: Vec<&&str> = all.iter().filter(ends).collect();
            match found[..] {
                [one] => (*one).to_owned(),
                [] => {
                    let last = |image: &'_ str| image.rsplit('/').next().unwrap_or_default().to_owned();
                    let ends: Vec<String> = all.iter().map(|image| last(image)).collect();
                    let known = all.iter().copied().chain(ends.iter().map(String::as_str));
                    let hint = match nearest(&name, known) {
                        Some(near) => format!("did you mean '{near}'?"),
                        None => "the images are listed by: rustomize images".to_owned(),
                    };
                    bail!("no image is named '{name}'\n  hint: {hint}");
                }
                _ => {
                    let names: Vec<String> = found.iter().take(SHOWN).map(|name| format!("\n    {name}")).collect();
                    bail!("'{name}' names {} images\n  hint: name one of them:{}", found.len(), names.concat());
                }
            }
        };
        wanted.insert(full, version);
    }
    Ok(wanted)
}

/// An image with another version.
fn renamed(name: &str, version: &Version) -> String {
    let part = |mark: &str, part: &str| if part.is_empty() { String::new() } else { format!("{mark}{part}") };
    format!("{name}{}{}", part(":", &version.tag), part("@", &version.digest))
}

/// Returns true for an image that another tool completes.
fn has_variable(image: &str) -> bool {
    image.contains(['$', '{', '%', '<'])
}

impl Wanted {
    fn new(by_name: Versions, surveys: &Surveys<'_>, files: &Files<'_>) -> Wanted {
        let mut by_text = BTreeMap::new();
        for found in surveys.iter().flat_map(|(_, images)| images) {
            if let (TagSource::Text { .. }, Some(version)) = (&found.source, by_name.get(split(&found.image).0))
                && files.image(&found.source).is_some()
            {
                by_text.insert(found.source.clone(), version.clone());
            }
        }
        Wanted { by_name, by_text }
    }

    /// The new version of an image; `None` for an image that nobody asks for, or that has a
    /// variable.
    fn version(&self, found: &FoundImage) -> Option<&Version> {
        let named = self.by_name.get(split(&found.image).0);
        named.or_else(|| self.by_text.get(&found.source)).filter(|_| !has_variable(&found.image))
    }

    /// The image that a found image is to become; `None` if it stays as it is.
    fn target(&self, found: &FoundImage) -> Option<(String, Version)> {
        let version = self.version(found)?;
        let new = renamed(split(&found.image).0, version);
        (new != found.image).then(|| (new, version.clone()))
    }
}

/// The old and new images, each pair with its roots.
fn changes_of<'s>(wanted: &Wanted, surveys: &'s Surveys<'_>) -> BTreeMap<(&'s str, String), Vec<&'s str>> {
    let mut changed: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for (root, images) in surveys {
        let new: BTreeSet<(&str, String)> = images
            .iter()
            .filter_map(|found| wanted.target(found).map(|(new, _)| (found.image.as_str(), new)))
            .collect();
        new.into_iter().for_each(|pair| changed.entry(pair).or_default().push(root));
    }
    changed
}

/// The changes of each file, by its path.
fn edits(wanted: &Wanted, surveys: &Surveys<'_>, files: &Files<'_>) -> Result<BTreeMap<PathBuf, FileEdits>> {
    let mut edits: BTreeMap<PathBuf, FileEdits> = BTreeMap::new();
    let differ = |place: String| anyhow!("{place}: images that would get different versions have this line");
    for (root, found) in surveys.iter().flat_map(|(root, images)| images.iter().map(move |found| (root, found))) {
        let Some((_, version)) = wanted.target(found) else { continue };
        if let TagSource::Entry { file: name, entry, .. } = &found.source
            && let Some(file) = files.get(name)
        {
            let file_edits = FileEdits::of(&mut edits, &file, name);
            if file_edits.entries.insert(*entry, version.clone()).is_some_and(|other| other != version) {
                return Err(differ(found.source.place()));
            }
            continue;
        }
        if let TagSource::Text { file: name, text: old, .. } = &found.source
            && let Some(WrittenImage { file, at }) = files.image(&found.source)
        {
            let replaced = Replaced { old: old.clone(), new: renamed(split(old).0, &version) };
            match FileEdits::of(&mut edits, &file, name).texts.entry(at) {
                Entry::Vacant(place) => drop(place.insert(replaced)),
                Entry::Occupied(other) if *other.get() == replaced => {}
                Entry::Occupied(_) => return Err(differ(found.source.place())),
            }
            continue;
        }
        let name = kustomization_file::name_in(&Disk::new(), Path::new(root)).map(|name| below(root, name));
        let name = name.with_context(|| format!("'{root}' is not on this machine, so its images cannot be set"))?;
        let file = files.get(&name).with_context(|| {
            format!("'{name}' cannot be changed: it cannot be read, or leads out of the directories that are changed")
        })?;
        let is_same = |known: &str| files.get(known).is_some_and(|known| known.path == file.path);
        let own = found.last_entry.as_ref().filter(|entry| is_same(&entry.file));
        let file_edits = FileEdits::of(&mut edits, &file, &name);
        match own {
            // An entry that gives the image another name can give it the version, too.
            Some(entry) => drop(file_edits.entries.insert(entry.index, version)),
            None => drop(file_edits.added.insert(split(&found.image).0.to_owned(), version)),
        }
    }
    Ok(edits)
}

/// The change of a file.
fn applied(edits: FileEdits, options: Options) -> Result<Change> {
    let FileEdits { name, file, .. } = edits;
    let (path, before) = (file.path.clone(), file.text.clone());
    let (mut after, mut from) = (String::with_capacity(before.len()), 0);
    for (at, Replaced { old, new }) in &edits.texts {
        after.extend([&before[from..*at], new]);
        from = at + old.len();
    }
    after.push_str(&before[from..]);
    if !edits.entries.is_empty() || !edits.added.is_empty() {
        let file_name = kustomization_file::name_of(&path).unwrap_or(kustomization_file::FILE_NAMES[0]);
        let changed = with_versions(file_name, after.clone(), options, &edits.entries, &edits.added);
        let directory = Path::new(&name).parent().map(|parent| parent.to_string_lossy()).unwrap_or_default();
        let changed = changed.map_err(|error| error.with_files(|file| below(&directory, file)))?;
        after = changed.unwrap_or(after);
    }
    Ok(Change { name, path, before, after })
}

/// Compares the images of builds before and after.
fn check(wanted: &Wanted, before: &Surveys<'_>, after: &Surveys<'_>) -> Result<()> {
    for ((root, before), (_, after)) in before.iter().zip(after) {
        let new = |found: &FoundImage| wanted.target(found).map(|(new, _)| new);
        let expected: BTreeSet<String> =
            before.iter().map(|found| new(found).unwrap_or_else(|| found.image.clone())).collect();
        let built: BTreeSet<&str> = after.iter().map(|found| found.image.as_str()).collect();
        if let Some(missing) = before.iter().filter_map(new).find(|image| !built.contains(image.as_str())) {
            bail!(
                "'{root}' would not get the image '{missing}': no file has changed\n  hint: see where it is set: rustomize images {}",
                quoted(root)
            );
        }
        if let Some(other) = built.iter().find(|image| !expected.contains(**image)) {
            bail!(
                "'{root}' would get the image '{other}', too: no file has changed\n  hint: an entry of 'images' is for several images; \
                 give this one an entry of its own"
            );
        }
    }
    Ok(())
}
