//! Configurations of plugins: the configurations of built-in plugins name files.

use super::copy::{At, Copier, K8S_RESOURCE_HINT};
use super::resources::resources;
use crate::diag::{Code, Error, Result};
use crate::resource::Resource;
use rustomize_yaml::{Node, Pos, Scalar, emit};

/// The version of the objects that configure built-in plugins.
const BUILTIN: &str = "builtin";

/// The kind of the plugin that runs helm.
const HELM: &str = "HelmChartInflationGenerator";

/// The meaning of a field of a configuration that names files.
#[derive(Clone, Copy)]
enum Names {
    File,
    /// `KEY=FILE` or `FILE`.
    FileSource,
    /// A file with resources, or resources as text.
    Resource,
}

/// The resources of an entry.
struct Loaded<'a> {
    resources: Vec<Resource<'a>>,
    /// True if the entry is the path of a file, false for resources as text.
    is_path: bool,
}

/// The fields that name files, by kind, in kustomize's order.
const FIELDS: [(&str, &[&str], Names); 12] = [
    ("ConfigMapGenerator", &["env"], Names::File),
    ("ConfigMapGenerator", &["envs"], Names::File),
    ("SecretGenerator", &["env"], Names::File),
    ("SecretGenerator", &["envs"], Names::File),
    (HELM, &["valuesFile"], Names::File),
    (HELM, &["additionalValuesFiles"], Names::File),
    ("PatchTransformer", &["path"], Names::File),
    ("PatchJson6902Transformer", &["path"], Names::File),
    ("ReplacementTransformer", &["replacements", "path"], Names::File),
    ("ConfigMapGenerator", &["files"], Names::FileSource),
    ("SecretGenerator", &["files"], Names::FileSource),
    ("PatchStrategicMergeTransformer", &["paths"], Names::Resource),
];

impl<'a> Copier<'_, 'a> {
    /// Copies the files that an entry of `generators`, `transformers` or `validators` names.
    /// Returns the entry of the copy: a path, or objects as text.
    ///
    /// # Errors
    /// The entry is neither a file with objects nor objects as text, or a file that they name is
    /// missing or out of bounds.
    pub(super) fn plugins(&mut self, at: &At<'_>, entry: &str, pos: Pos) -> Result<String> {
        let Loaded { resources: mut configs, is_path } = self.load_resources(at, entry, pos)?;
        let mut text = String::new();
        for (i, config) in configs.iter_mut().enumerate() {
            self.config(at, config)?;
            if i > 0 {
                text.push_str("---\n");
            }
            emit::document(&mut text, config.node()).map_err(|fault| {
                Error::new(Code::NotYaml, format!("unable to serialize localized entry \"{entry}\": {}", fault.message))
                    .at(fault.pos)
            })?;
        }
        match is_path {
            true => self.put_file(at, entry, text.as_bytes()),
            false => Ok(text),
        }
    }

    fn config(&mut self, at: &At<'_>, config: &mut Resource<'a>) -> Result<()> {
        let gvk = config.id().gvk;
        for (kind, path, names) in FIELDS {
            if gvk.version == BUILTIN && gvk.kind == kind {
                let node = config.node_mut();
                self.fields_at(node, path, &mut |copier, text| match names {
                    Names::File => copier.file(at, text),
                    Names::FileSource => copier.file_source(at, text),
                    Names::Resource => copier.resource_or_text(at, text, Pos::NONE),
                })?;
            }
        }
        if gvk.version == BUILTIN && gvk.group.is_empty() && gvk.kind == HELM {
            let in_plugin = |e: Error, id: String| e.prefixed(&format!("plugin {id}: "));
            let id = config.id().to_string();
            let home = config.node_mut().as_mapping_mut().and_then(|fields| fields.get_mut("chartHome"));
            match home.filter(|home| !home.is_null()) {
                None => drop(self.charts(at, "").map_err(|e| in_plugin(e, id))?),
                Some(home) => {
                    let charts = &mut |copier: &mut Self, text: &str| copier.charts(at, text);
                    self.fields_at(home, &[], charts).map_err(|e| in_plugin(e, id))?;
                }
            }
        }
        Ok(())
    }

    /// Replaces each text at a path, which may lead through lists, by the result of `localize` for
    /// it.
    fn fields_at(
        &mut self,
        node: &mut Node<'a>,
        path: &[&str],
        localize: &mut dyn FnMut(&mut Self, &str) -> Result<String>,
    ) -> Result<()> {
        if let Some(items) = node.as_sequence_mut() {
            return items.iter_mut().try_for_each(|item| self.fields_at(item, path, localize));
        }
        match path {
            [] if node.is_null() => Ok(()),
            [] => {
                let pos = node.pos();
                let text = node.as_scalar().map(Scalar::text);
                let text =
                    text.ok_or_else(|| Error::new(Code::WrongType, "expected sequence or scalar node").at(pos))?;
                let localized = localize(self, text).map_err(|e| e.at(pos))?;
                if !localized.is_empty() {
                    node.put(Scalar::plain(self.arena().text(&localized)), pos);
                }
                Ok(())
            }
            [first, rest @ ..] => {
                let field = node.as_mapping_mut().and_then(|fields| fields.get_mut(first));
                field.map_or(Ok(()), |field| self.fields_at(field, rest, localize))
            }
        }
    }

    /// Returns the entry of the copy for a file with resources, which is copied, or for resources
    /// as text.
    ///
    /// # Errors
    /// The entry is neither a file with resources nor resources as text.
    pub(super) fn resource_or_text(&mut self, at: &At<'_>, entry: &str, pos: Pos) -> Result<String> {
        match self.load_resources(at, entry, pos)?.is_path {
            true => self.file(at, entry),
            false => Ok(entry.to_owned()),
        }
    }

    /// The resources of an entry.
    fn load_resources(&mut self, at: &At<'_>, entry: &str, pos: Pos) -> Result<Loaded<'a>> {
        let arena = self.arena();
        let inline = resources(arena, arena.add_inline("inline object", entry, pos, 0));
        let inline = match inline {
            Ok(resources) => return Ok(Loaded { resources, is_path: false }),
            Err(fault) => fault,
        };
        let file = self.text(at, entry).and_then(|source| resources(arena, source));
        let resources = file.map_err(|file| {
            let message = format!(
                "unable to load resource entry \"{entry}\": when parsing as inline received error: {}\nwhen parsing \
                 as filepath received error: {}",
                inline.message(),
                file.message()
            );
            Error::new(Code::NotAResource, message).at(pos).hint(K8S_RESOURCE_HINT)
        })?;
        Ok(Loaded { resources, is_path: true })
    }
}
