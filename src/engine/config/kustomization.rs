//! [`Kustomization`]: the fields of a kustomization file. The docs of the fields here and in the
//! types that they use are the user's documentation.

use super::decode::{Decoder, Given, StringMap, Written, WrittenMap};
use super::examples;
use super::field_spec::FieldSpec;
use super::helm::{self, HelmChart, HelmChartArgs, HelmGlobals};
use super::selector::Selector;
use super::var::Var;
use super::{Decode, Described};
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::schema::Gvk;
use indexmap::IndexMap;
use rustomize_yaml::{Mapping, Node, Pos};
use std::mem::take;

const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";

/// The apiVersion of components.
pub const COMPONENT_API_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// A kustomization or component.
#[derive(Debug, Default, Decode, Described)]
pub struct Kustomization<'a> {
    /// `kustomize.config.k8s.io/v1beta1`, of a component `kustomize.config.k8s.io/v1alpha1`; may be
    /// left out.
    #[field(words("kustomize.config.k8s.io/v1beta1", "kustomize.config.k8s.io/v1alpha1"))]
    pub api_version: &'a str,
    /// `Kustomization` or `Component`.
    #[field(words("Kustomization", "Component"))]
    pub kind: &'a str,
    /// Has no effect; `name`, `namespace`, `labels` and `annotations` are allowed in it.
    pub metadata: Option<Metadata<'a>>,
    /// Files with objects, and directories with kustomizations of their own.
    pub resources: Vec<Written<'a>>,
    /// Old spelling of `resources`.
    #[field(deprecated)]
    bases: Vec<Written<'a>>,
    /// Directories with components, which work on the resources so far.
    pub components: Vec<Written<'a>>,
    /// ConfigMaps made from literals and files.
    #[field(for_builtin)]
    pub config_map_generator: Vec<GeneratorArgs<'a>>,
    /// Secrets made from literals and files.
    #[field(for_builtin)]
    pub secret_generator: Vec<GeneratorArgs<'a>>,
    /// Options for all generators of this file.
    pub generator_options: Option<GeneratorOptions<'a>>,
    /// Plugin configurations: files, directories with a kustomization, or inline objects.
    pub generators: Vec<Written<'a>>,
    /// Plugin configurations, run in order after the built-in transformers.
    pub transformers: Vec<Written<'a>>,
    /// Plugin configurations of checks, which must not change anything.
    pub validators: Vec<Written<'a>>,
    /// Put before every name.
    #[field(for_builtin)]
    pub name_prefix: &'a str,
    /// Put after every name.
    #[field(for_builtin)]
    pub name_suffix: &'a str,
    /// Set on every namespaced resource.
    #[field(for_builtin)]
    pub namespace: &'a str,
    /// Labels set everywhere, selectors included.
    #[field(for_builtin, deprecated)]
    pub common_labels: WrittenMap<'a>,
    /// Labels, with a choice of where they are set.
    #[field(for_builtin)]
    pub labels: Vec<Label<'a>>,
    /// Annotations set on resources and their pod templates.
    #[field(for_builtin)]
    pub common_annotations: WrittenMap<'a>,
    /// Strategic merge patches, each a file or inline.
    #[field(for_builtin, deprecated)]
    pub patches_strategic_merge: Vec<Written<'a>>,
    /// JSON patches with targets.
    #[field(for_builtin, deprecated)]
    pub patches_json6902: Vec<Patch<'a>>,
    /// Patches of either form, with optional targets.
    #[field(for_builtin)]
    pub patches: Vec<Patch<'a>>,
    /// New names, tags and digests for container images.
    #[field(for_builtin)]
    pub images: Vec<Image<'a>>,
    /// Old spelling of `images`.
    #[field(for_builtin, deprecated)]
    image_tags: Vec<Image<'a>>,
    /// Replica counts by name.
    #[field(for_builtin)]
    pub replicas: Vec<Replica<'a>>,
    /// Values copied from one resource into others.
    #[field(for_builtin)]
    pub replacements: Vec<Replacement<'a>>,
    /// The order of the output.
    pub sort_options: Option<SortOptions<'a>>,
    /// The provenance data that is written into the output.
    pub build_metadata: Vec<Written<'a>>,
    /// Extra field specs for transformers: files.
    pub configurations: Vec<Written<'a>>,
    /// Files that list the fields of custom kinds that hold labels, annotations, names and
    /// references.
    pub crds: Vec<Written<'a>>,
    /// The schema that lists are merged by, in place of the built-in one.
    pub openapi: OpenApi<'a>,
    /// Values that other fields use as `$(NAME)`.
    #[field(deprecated)]
    pub vars: Vec<Var<'a>>,
    /// Options for all charts.
    pub helm_globals: Option<HelmGlobals<'a>>,
    /// Charts from which helm makes resources.
    #[field(for_builtin)]
    pub helm_charts: Vec<HelmChart<'a>>,
    /// Old spelling of `helmCharts` and `helmGlobals`.
    #[field(for_builtin, deprecated)]
    helm_chart_inflation_generator: Vec<HelmChartArgs<'a>>,
    given: Given,
}

/// The message about a file without content.
pub const EMPTY: &str = "kustomization.yaml is empty";

/// The message about a component without content.
pub const EMPTY_COMPONENT: &str = "kustomization.yaml is empty: a Component without fields";

impl<'a> Kustomization<'a> {
    /// Reads a kustomization file's document, converts deprecated fields, and returns warnings
    /// about them.
    ///
    /// # Errors
    /// Unknown fields, wrong types, a wrong kind or apiVersion, or a file without content.
    pub fn from_node(node: Option<&Node<'a>>, cx: &Decoder<'a>) -> Result<(Self, Vec<Warning>)> {
        let mut k = Kustomization::as_written(node, cx)?;
        let empty = Mapping::new().into();
        let node = node.unwrap_or(&empty);
        // An empty list under an old name sets nothing under the new name.
        let old = [
            ("bases", k.bases.len()),
            ("imageTags", k.image_tags.len()),
            ("helmChartInflationGenerator", k.helm_chart_inflation_generator.len()),
        ];
        let vanishes = |name: &str| old.contains(&(name, 0));
        k.resources.append(&mut k.bases);
        k.images.append(&mut k.image_tags);
        helm::upgrade(take(&mut k.helm_chart_inflation_generator), &mut k.helm_charts, &mut k.helm_globals);
        let says_something = k.given.names().any(|name| !vanishes(name) && k.has_content(name));
        let warnings = deprecations(&k.given);
        if !says_something && k.is_component() {
            return Err(Error::new(Code::MissingField, EMPTY_COMPONENT)
                .at(k.place_of("kind"))
                .hint("add a field besides 'kind', such as 'patches'"));
        }
        if !says_something {
            return Err(Error::new(Code::MissingField, EMPTY)
                .at(node.pos())
                .hint("add a 'resources' field with the files to build"));
        }
        k.check_type(node.pos())?;
        Ok((k, warnings))
    }

    /// Reads a kustomization file's document without checking its content, which may be empty.
    ///
    /// # Errors
    /// Unknown fields and wrong types.
    pub fn as_written(node: Option<&Node<'a>>, cx: &Decoder<'a>) -> Result<Self> {
        let mut k = Kustomization::default();
        node.map_or(Ok(()), |node| k.decode(node, cx)).map_err(|e| e.advised(|fault| examples::advice(fault, node)))?;
        Ok(k)
    }

    /// Returns true if a field that was given counts as content. An empty string field does not,
    /// nor do `apiVersion` and `kind`.
    fn has_content(&self, given: &str) -> bool {
        match given {
            "apiVersion" | "kind" => false,
            "namePrefix" => !self.name_prefix.is_empty(),
            "nameSuffix" => !self.name_suffix.is_empty(),
            "namespace" => !self.namespace.is_empty(),
            _ => true,
        }
    }

    fn check_type(&mut self, pos: Pos) -> Result<()> {
        if self.kind.is_empty() {
            self.kind = "Kustomization";
        }
        let wanted = if self.kind == "Component" { COMPONENT_API_VERSION } else { API_VERSION };
        if self.api_version.is_empty() {
            self.api_version = wanted;
        }
        if self.kind != "Kustomization" && self.kind != "Component" {
            return Err(Error::new(Code::WrongKind, "kind should be Kustomization or Component")
                .at(self.place_of("kind"))
                .hint(match nearest(self.kind, ["Kustomization", "Component"]) {
                    Some(kind) => format!("did you mean '{kind}'?"),
                    None if self.kind.to_lowercase().starts_with("kust") => "did you mean 'Kustomization'?".to_owned(),
                    None => format!("a {} is a resource: list its file under 'resources'", self.kind),
                }));
        }
        if self.api_version != wanted {
            let message = format!("apiVersion for {} should be {wanted}", self.kind);
            let error =
                Error::new(Code::WrongKind, message).at(self.place_of("apiVersion")).at(self.place_of("kind")).at(pos);
            return Err(error.hint(format!("write 'apiVersion: {wanted}', or leave it out")));
        }
        Ok(())
    }

    /// The place of a field, or no place if the field is not given.
    pub fn place_of(&self, field: &str) -> Pos {
        self.given.pos(field).unwrap_or(Pos::NONE)
    }

    /// Returns true if this is a component.
    pub fn is_component(&self) -> bool {
        self.kind == "Component"
    }
}

/// The warnings about deprecated fields, in the words and the order of upstream.
fn deprecations(given: &Given) -> Vec<Warning> {
    let fields = [
        ("bases", "resources", ""),
        ("commonLabels", "labels", ""),
        ("imageTags", "images", ""),
        ("patchesJson6902", "patches", ""),
        ("patchesStrategicMerge", "patches", ""),
        ("vars", "replacements", "[EXPERIMENTAL] "),
    ];
    let warning = |(old, new, note): (&str, &str, &str)| {
        let pos = given.pos(old)?;
        let message = format!(
            "# Warning: '{old}' is deprecated. Please use '{new}' instead. {note}Run 'kustomize edit fix' to update your Kustomization automatically."
        );
        Some(Warning::new(Code::Deprecated, message).at(pos))
    };
    fields.into_iter().filter_map(warning).collect()
}

/// The metadata of a kustomization, without effect.
#[derive(Debug, Default, Decode, Described)]
pub struct Metadata<'a> {
    /// The name of the kustomization.
    pub name: &'a str,
    /// The namespace of the kustomization.
    pub namespace: &'a str,
    /// Labels of the kustomization.
    pub labels: StringMap<'a>,
    /// Annotations of the kustomization.
    pub annotations: StringMap<'a>,
}

/// One ConfigMap or Secret to make.
#[derive(Clone, Debug, Default, Decode, Described)]
#[record(finish)]
pub struct GeneratorArgs<'a> {
    /// The name, before prefixes and the hash.
    pub name: &'a str,
    /// The namespace of the object, if it should have one.
    pub namespace: &'a str,
    /// The effect on an existing object of the same name: `create`, `merge` or `replace`.
    pub behavior: &'a str,
    /// `key=value` pairs.
    pub literals: Vec<Written<'a>>,
    /// Files whose content is a value: `path` or `key=path`.
    pub files: Vec<Written<'a>>,
    /// Files with `key=value` lines.
    pub envs: Vec<Written<'a>>,
    /// Old spelling of one more entry of `envs`, in kustomization files only.
    #[field(deprecated)]
    env: Written<'a>,
    /// The type of a Secret.
    #[field(name = "type")]
    pub secret_type: &'a str,
    /// Labels and so on; they win over `generatorOptions`.
    pub options: Option<GeneratorOptions<'a>>,
    pub pos: Pos,
}

impl<'a> GeneratorArgs<'a> {
    /// Upstream knows the old spelling in kustomization files only.
    fn finish(&mut self, _: &Given, cx: &Decoder<'a>) -> Result<()> {
        let env = take(&mut self.env);
        if !env.is_empty() && cx.strict {
            self.envs.push(env);
        }
        Ok(())
    }
}

/// Options for generated objects, apart from their data.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct GeneratorOptions<'a> {
    /// Labels of the generated objects.
    pub labels: WrittenMap<'a>,
    /// Annotations of the generated objects.
    pub annotations: WrittenMap<'a>,
    /// Leaves the name as it is, without a hash of the content.
    pub disable_name_suffix_hash: bool,
    /// Sets `immutable: true`.
    pub immutable: bool,
}

/// An entry of `labels`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Label<'a> {
    /// The labels.
    pub pairs: WrittenMap<'a>,
    /// Also sets them in selectors and templates.
    pub include_selectors: bool,
    /// Also sets them in templates.
    pub include_templates: bool,
    /// Also set the labels of the volume claim templates of StatefulSets.
    #[field(only_if(takes_volume_claim_template_labels))]
    pub include_volume_claim_templates: bool,
    /// More fields to set them in.
    pub fields: Vec<FieldSpec<'a>>,
    pub pos: Pos,
}

/// An entry of `patches` or `patchesJson6902`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Patch<'a> {
    /// A file with the patch.
    pub path: &'a str,
    /// The patch itself.
    pub patch: Written<'a>,
    /// The resources to patch. A strategic merge patch may leave it out: it names its resource.
    pub target: Option<Selector<'a>>,
    /// Options that let the patch change more than content.
    pub options: PatchOptions,
    pub pos: Pos,
}

/// Options that let a patch change the name or the kind of a resource.
#[derive(Clone, Copy, Debug, Default, Described)]
pub struct PatchOptions {
    /// Takes a new `metadata.name` from the patch.
    pub allow_name_change: bool,
    /// Takes a new `kind` from the patch.
    pub allow_kind_change: bool,
    /// True if the entry has options.
    #[field(skip)]
    pub given: bool,
}

impl<'a> Decode<'a> for PatchOptions {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        if cx.arena.compat().refuses_unknown_patch_options() {
            let mut fields: [(&'static str, &mut dyn Decode<'a>); 2] =
                [("allowNameChange", &mut self.allow_name_change), ("allowKindChange", &mut self.allow_kind_change)];
            self.given = cx.object(node, &mut fields)?.names().next().is_some();
            return Ok(());
        }
        let mut options: IndexMap<&str, bool> = IndexMap::new();
        options.decode(node, cx)?;
        self.given = !options.is_empty();
        self.allow_name_change = options.get("allowNameChange").is_some_and(|given| *given);
        self.allow_kind_change = options.get("allowKindChange").is_some_and(|given| *given);
        Ok(())
    }
}

/// An entry of `images`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Image<'a> {
    /// The image to change, without tag; read as a pattern.
    pub name: &'a str,
    /// Replaces the name.
    pub new_name: &'a str,
    /// Appended to the existing tag.
    pub tag_suffix: &'a str,
    /// Replaces tag and digest.
    pub new_tag: &'a str,
    /// As in `sha256:...`; replaces a tag.
    pub digest: &'a str,
    pub pos: Pos,
    pub given: Given,
}

impl Image<'_> {
    /// The place of the part of an image that is set: of the tag or digest, if the entry has one.
    pub fn set_at(&self) -> Pos {
        let fields = ["newTag", "digest", "tagSuffix", "newName"];
        fields.into_iter().find_map(|field| self.given.pos(field)).unwrap_or(self.pos)
    }
}

/// An entry of `replicas`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Replica<'a> {
    /// The name of the workload, now or before a change.
    pub name: &'a str,
    /// The number of replicas.
    pub count: i64,
    pub pos: Pos,
    pub given: Given,
}

/// `openapi`: one of the two.
#[derive(Clone, Debug, Default, Described)]
#[record(open)]
pub struct OpenApi<'a> {
    /// A built-in version: `v1.21.2` is the only one.
    #[field(words("v1.21.2"))]
    pub version: &'a str,
    /// A file with a schema, JSON or YAML.
    pub path: &'a str,
    pub pos: Pos,
}

// Not a record: upstream reads a map of texts, where keys are exact and unknown keys are ignored.
impl<'a> Decode<'a> for OpenApi<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut fields = StringMap::default();
        fields.decode(node, cx)?;
        let field = |name: &str| fields.get(name).copied().unwrap_or_default();
        (self.version, self.path, self.pos) = (field("version"), field("path"), node.pos());
        Ok(())
    }
}

/// `sortOptions`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct SortOptions<'a> {
    /// `fifo` or `legacy`.
    #[field(words("fifo", "legacy"))]
    pub order: &'a str,
    /// Kinds for `legacy`, in place of the usual ones.
    #[field(name = "legacySortOptions")]
    pub legacy: Option<LegacySortOptions<'a>>,
}

/// The kinds that come first and last in the legacy order.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct LegacySortOptions<'a> {
    /// Kinds that come first, in this order.
    #[field(name = "orderFirst")]
    pub first: Vec<&'a str>,
    /// Kinds that come last, in this order.
    #[field(name = "orderLast")]
    pub last: Vec<&'a str>,
}

/// An entry of `replacements`.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct Replacement<'a> {
    /// A file with one replacement or a list of them.
    pub path: &'a str,
    /// The field the value comes from.
    pub source: Option<SourceSelector<'a>>,
    /// The value itself.
    #[field(only_if(takes_source_values))]
    pub source_value: Option<&'a str>,
    /// The fields that the value is written to. An empty list is accepted in a file and in a
    /// configuration object.
    pub targets: Option<Vec<TargetSelector<'a>>>,
    pub pos: Pos,
}

/// The field of one resource. Texts must match exactly; empty texts match anything.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct SourceSelector<'a> {
    /// The type of the resource; empty parts match any.
    #[field(parts(group, version, kind))]
    pub gvk: Gvk<'a>,
    /// The name, now or before a change.
    pub name: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// `metadata.name` if it is empty.
    pub field_path: Written<'a>,
    /// The piece of the value that is taken.
    pub options: FieldOptions<'a>,
    pub pos: Pos,
}

/// Fields that a value is written to.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct TargetSelector<'a> {
    /// The resources, by patterns.
    pub select: Option<Selector<'a>>,
    /// Resources that are selected but not changed.
    pub reject: Vec<Selector<'a>>,
    /// `metadata.name` if there are none.
    pub field_paths: Vec<Written<'a>>,
    /// How the value is put into the fields.
    pub options: FieldOptions<'a>,
    pub pos: Pos,
}

/// Selects a piece of a text, and says whether missing fields are made.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct FieldOptions<'a> {
    /// Splits a text into pieces.
    pub delimiter: &'a str,
    /// The piece. In a target, a negative index adds a piece in front, and one beyond the end adds
    /// a piece at the end.
    pub index: i64,
    /// Accepted without effect.
    pub encoding: &'a str,
    /// Makes fields that are missing.
    pub create: bool,
    pub pos: Pos,
}
