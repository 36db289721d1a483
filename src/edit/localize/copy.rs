//! [`Copier`]: copies a kustomization, and through it all files and kustomizations that it names.

use super::arguments::{Bounds, check_reference};
use super::resources::resources;
use super::tree::Tree;
use super::{names, written};
use crate::config::{Decoder, Kustomization};
use crate::diag::{Code, Error, Result};
use crate::generator::key_values::file_source;
use crate::load::{NotLoaded, RepoSpec, Root, is_url};
use crate::pipeline::{find, on_stack};
use crate::stage::Context;
use rustomize_yaml::{Arena, Mapping, Node, Pos, Scalar, Source, Tag, emit, first_document, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

/// The hint about entries that hold resources.
pub(super) const K8S_RESOURCE_HINT: &str = "an entry is the path of a file with objects, or objects as text";

/// Makes the copy.
pub(super) struct Copier<'c, 'a> {
    cx: &'c Rc<Context<'a>>,
    bounds: &'c Bounds,
    pub(super) tree: Tree,
    /// The copied kustomizations, each with its directory in the copy: a base of several
    /// kustomizations is copied once.
    done: HashSet<(PathBuf, String)>,
}

/// A kustomization, and its directory in the copy.
pub(super) struct At<'r> {
    pub root: &'r Root,
    pub to: String,
}

impl<'c, 'a> Copier<'c, 'a> {
    /// A copier that has copied nothing yet.
    pub(super) fn new(cx: &'c Rc<Context<'a>>, bounds: &'c Bounds, tree: Tree) -> Self {
        Copier { cx, bounds, tree, done: HashSet::new() }
    }

    pub(super) fn arena(&self) -> Arena<'a> {
        self.cx.arena
    }

    /// Copies the target to its directory in the copy.
    ///
    /// # Errors
    /// As [`super::localize`].
    pub(super) fn all(&mut self, to: &str) -> Result<()> {
        self.tree.make(to, ".")?;
        let bounds = self.bounds;
        self.kustomization(&At { root: &bounds.root, to: to.to_owned() })
    }

    /// Copies one kustomization file, and the files that it names.
    fn kustomization(&mut self, at: &At<'_>) -> Result<()> {
        if !self.done.insert((at.root.real.to_path_buf(), at.to.clone())) {
            return Ok(());
        }
        let arena = self.arena();
        let source = find(&self.cx.files, at.root)?;
        let invalid = |e: Error| e.at(source.pos(0)).prefixed("invalid Kustomization: ");
        let document = first_document(arena, source).map_err(|e| invalid(e.into()))?;
        document.as_ref().map_or(Ok(()), json::check_keys).map_err(|e| invalid(e.into()))?;
        Kustomization::as_written(document.as_ref(), &Decoder::strict(arena)).map_err(invalid)?;
        let mut fields = written::fields(arena, document.as_ref()).map_err(invalid)?;
        self.files_and_roots(at, &mut fields)?;
        self.generators(at, &mut fields)?;
        self.helm(at, &mut fields)?;
        self.patches(at, &mut fields)?;
        for field in ["generators", "transformers", "validators"] {
            each(arena, &mut fields, field, |entry, pos| self.plugins(at, entry, pos))
                .map_err(|e| e.prefixed(&format!("unable to load {field} entry: ")))?;
        }
        let mut text = String::new();
        emit::document(&mut text, &fields.into()).map_err(|fault| {
            Error::new(Code::NotYaml, format!("unable to serialize localized kustomization file: {}", fault.message))
                .at(fault.pos)
        })?;
        let name = source.name.rsplit('/').next().unwrap_or_default();
        self.tree.write(&at.to, name, text.as_bytes())
    }

    fn files_and_roots(&mut self, at: &At<'_>, fields: &mut Mapping<'a>) -> Result<()> {
        let arena = self.arena();
        if let Some(openapi) = fields.get_mut("openapi").and_then(Node::as_mapping_mut) {
            one(arena, openapi, "path", |path| self.file(at, path))
                .map_err(|e| e.prefixed("unable to localize openapi path: "))?;
        }
        for field in ["bases", "components", "configurations", "crds", "resources"] {
            let localized = each(arena, fields, field, |path, _| match field {
                "bases" | "components" => self.root(at, path),
                "resources" => self.resource(at, path),
                _ => self.file(at, path),
            });
            localized.map_err(|e| e.prefixed(&format!("unable to localize {field} entry: ")))?;
        }
        Ok(())
    }

    fn generators(&mut self, at: &At<'_>, fields: &mut Mapping<'a>) -> Result<()> {
        let arena = self.arena();
        for field in ["configMapGenerator", "secretGenerator"] {
            for entry in entries(fields, field) {
                let localized = one(arena, entry, "env", |path| self.file(at, path))
                    .and_then(|()| each(arena, entry, "envs", |path, _| self.file(at, path)))
                    .and_then(|()| each(arena, entry, "files", |source, _| self.file_source(at, source)));
                localized.map_err(|e| e.prefixed(&format!("unable to localize {field}: ")))?;
            }
        }
        Ok(())
    }

    fn helm(&mut self, at: &At<'_>, fields: &mut Mapping<'a>) -> Result<()> {
        let arena = self.arena();
        for (i, chart) in entries(fields, "helmChartInflationGenerator").enumerate() {
            one(arena, chart, "values", |path| self.file(at, path)).map_err(|e| {
                e.prefixed(&format!("unable to localize helmChartInflationGenerator entry {i} values: "))
            })?;
            self.chart_home(at, chart)
                .map_err(|e| e.prefixed(&format!("unable to copy helmChartInflationGenerator entry {i}: ")))?;
        }
        for (i, chart) in entries(fields, "helmCharts").enumerate() {
            let localized = one(arena, chart, "valuesFile", |path| self.file(at, path))
                .and_then(|()| each(arena, chart, "additionalValuesFiles", |path, _| self.file(at, path)));
            localized.map_err(|e| e.prefixed(&format!("unable to localize helmCharts entry {i}: ")))?;
        }
        if let Some(globals) = fields.get_mut("helmGlobals").and_then(Node::as_mapping_mut) {
            return self.chart_home(at, globals).map_err(|e| e.prefixed("unable to copy helmGlobals: "));
        }
        if fields.contains("helmCharts") {
            self.charts(at, "").map_err(|e| e.prefixed("unable to copy default chart home: "))?;
        }
        Ok(())
    }

    /// Copies the directory that `chartHome` names, or the default one.
    fn chart_home(&mut self, at: &At<'_>, entry: &mut Mapping<'a>) -> Result<()> {
        match entry.contains("chartHome") {
            true => one(self.arena(), entry, "chartHome", |path| self.charts(at, path)),
            false => self.charts(at, "").map(drop),
        }
    }

    fn patches(&mut self, at: &At<'_>, fields: &mut Mapping<'a>) -> Result<()> {
        let arena = self.arena();
        for field in ["patches", "patchesJson6902", "replacements"] {
            for entry in entries(fields, field) {
                one(arena, entry, "path", |path| self.file(at, path))
                    .map_err(|e| e.prefixed(&format!("unable to localize {field}: ")))?;
            }
        }
        each(arena, fields, "patchesStrategicMerge", |entry, pos| self.resource_or_text(at, entry, pos))
            .map_err(|e| e.prefixed("unable to localize patchesStrategicMerge entry: "))
    }

    /// Copies a file, and returns its path in the copy. An empty path names no file.
    ///
    /// # Errors
    /// The file cannot be read, or is out of bounds.
    pub(super) fn file(&mut self, at: &At<'_>, path: &str) -> Result<String> {
        if path.is_empty() {
            return Ok(String::new());
        }
        let bytes = self.bytes(at, path)?;
        self.put_file(at, path, &bytes)
    }

    /// Copies the file of a `KEY=FILE` or `FILE`.
    ///
    /// # Errors
    /// As [`Copier::file`], or the entry is malformed.
    pub(super) fn file_source(&mut self, at: &At<'_>, source: &str) -> Result<String> {
        let (key, path) = file_source(source)?;
        let file = self.file(at, path).map_err(|e| e.prefixed(&format!("invalid file source \"{source}\": ")))?;
        // If the path is a link, the copied file has another name, which would become the key.
        let has_key = file.rsplit('/').next() == Some(key);
        Ok(if source == path && has_key { file } else { format!("{key}={file}") })
    }

    fn bytes(&self, at: &At<'_>, path: &str) -> Result<Vec<u8>> {
        let loaded = self.cx.files.bytes(at.root, path);
        loaded.map_err(unloaded)
    }

    pub(super) fn text(&self, at: &At<'_>, path: &str) -> Result<&'a Source> {
        let loaded = self.cx.files.text(at.root, path);
        loaded.map_err(unloaded)
    }

    /// Writes the copy of a file that a path names, and returns its path. Links are followed: the
    /// copy does not contain any.
    pub(super) fn put_file(&mut self, at: &At<'_>, path: &str, content: &[u8]) -> Result<String> {
        let place = match is_url(path) {
            true => {
                self.check_free(at, path, "file")?;
                names::of_url(path)
            }
            false => {
                let loaded = self.cx.files.bytes_and_place(at.root, path).map_err(unloaded)?;
                names::relative(&at.root.real, loaded.1.as_deref().unwrap_or(&at.root.real))?
            }
        };
        self.tree.write(&at.to, &place, content)?;
        Ok(place)
    }

    /// Refuses a kustomization that already has a directory with the name of the one for remote
    /// files.
    fn check_free(&self, at: &At<'_>, path: &str, what: &str) -> Result<()> {
        if at.root.real.join(names::REMOTE).exists() {
            let (root, remote) = (at.root.real.display(), names::REMOTE);
            return Err(Error::new(
                Code::Exists,
                format!("{root} already contains {remote} needed to store {what} \"{path}\""),
            ));
        }
        Ok(())
    }

    /// Copies a file with resources or a kustomization.
    fn resource(&mut self, at: &At<'_>, path: &str) -> Result<String> {
        let arena = self.arena();
        let as_file = self.bytes(at, path).and_then(|bytes| {
            let read = self.text(at, path).and_then(|source| resources(arena, source));
            read.map_err(|e| e.prefixed(&format!("invalid resource at file \"{path}\": ")))?;
            self.put_file(at, path, &bytes)
        });
        let Err(as_file) = as_file else { return as_file };
        self.root(at, path).map_err(|as_root| {
            let message = format!(
                "could not localize path \"{path}\" as file: {}; could not localize path \"{path}\" as directory: {}",
                as_file.message(),
                as_root.message()
            );
            let hints = as_file.hints().iter().chain(as_root.hints());
            hints.fold(Error::new(Code::MissingFile, message), |error, hint| error.hint(hint.clone()))
        })
    }

    /// The kustomization or directory that a path names.
    ///
    /// # Errors
    /// The kustomization cannot be loaded, is out of bounds, or is a repository without a version.
    pub(super) fn base(&self, at: &At<'_>, path: &str) -> Result<Root> {
        if let Some(spec) = RepoSpec::parse(path) {
            check_reference(&spec)?;
        }
        let base = self.cx.files.base(at.root, path, false);
        let base = base.map_err(|e| e.prefixed("invalid root reference: "))?;
        if base.remote().is_none() && !base.real.starts_with(&self.bounds.scope) {
            let (root, scope) = (base.real.display(), self.bounds.scope.display());
            let error = Error::new(Code::OutsideRoot, format!("root \"{root}\" outside localize scope \"{scope}\""));
            return Err(error.hint("--scope names a directory that contains all"));
        }
        Ok(base)
    }

    /// Copies a kustomization that a path names, and returns its path in the copy.
    fn root(&mut self, at: &At<'_>, path: &str) -> Result<String> {
        if path.is_empty() {
            return Ok(String::new());
        }
        let base = self.base(at, path)?;
        let place = match (names::of_remote(path)?, base.remote()) {
            (Some(place), Some(remote)) => {
                self.check_free(at, path, "root")?;
                crate::load::join(&place, &names::relative(&remote.directory, &base.real)?)
            }
            _ => names::relative(&at.root.real, &base.real)?,
        };
        self.tree.make(&at.to, &place)?;
        let below = At { root: &base, to: crate::load::join(&at.to, &place) };
        on_stack(&base, || self.kustomization(&below))
            .map_err(|e| e.prefixed(&format!("unable to localize root \"{path}\": ")))?;
        Ok(place)
    }
}

/// The error for a file. No flag of `localize` lifts the restriction to files below a
/// kustomization.
fn unloaded(fault: NotLoaded) -> Error {
    let error = Error::from(fault).prefixed("invalid file reference: ");
    match error.hints().iter().any(|hint| hint.contains("--load-restrictor")) {
        true => Error::new(error.code(), error.message())
            .hint("move the file there: a copy has the files in or below each of its kustomizations"),
        false => error,
    }
}

/// The mappings in a list.
fn entries<'m, 'a>(fields: &'m mut Mapping<'a>, field: &str) -> impl Iterator<Item = &'m mut Mapping<'a>> {
    let items = fields.get_mut(field).and_then(Node::as_sequence_mut);
    items.into_iter().flat_map(|items| items.iter_mut()).filter_map(Node::as_mapping_mut)
}

/// Replaces a text by the result of `localize` for it.
fn one<'a>(
    arena: Arena<'a>,
    fields: &mut Mapping<'a>,
    field: &str,
    localize: impl FnOnce(&str) -> Result<String>,
) -> Result<()> {
    let Some(node) = fields.get_mut(field) else { return Ok(()) };
    let pos = node.pos();
    let localized = localize(node.as_scalar().map_or("", Scalar::text)).map_err(|e| e.at(pos))?;
    node.set_text(arena.text(&localized), Tag::Str, pos);
    Ok(())
}

/// Replaces each text of a list by the result of `localize` for it.
fn each<'a>(
    arena: Arena<'a>,
    fields: &mut Mapping<'a>,
    field: &str,
    mut localize: impl FnMut(&str, Pos) -> Result<String>,
) -> Result<()> {
    let items = fields.get_mut(field).and_then(Node::as_sequence_mut).into_iter().flat_map(|items| items.iter_mut());
    for node in items {
        let pos = node.pos();
        let localized = localize(node.as_scalar().map_or("", Scalar::text), pos).map_err(|e| e.at(pos))?;
        *node = Node::new(Scalar::string(arena.text(&localized)), pos);
    }
    Ok(())
}
