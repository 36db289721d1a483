//! [`Kustomization`]: the fields of a kustomization file.

use super::decode::{Decode, Decoder, ForBuiltin, Given, StringMap, Written};
use super::field_spec::FieldSpec;
use super::helm::{self, HelmChart, HelmChartArgs, HelmGlobals};
use super::selector::Selector;
use super::var::Var;
use crate::diag::{Error, Result, Warning};
use crate::schema::Gvk;
use crate::yaml::{Mapping, Node, Pos};

/// The names a kustomization file may have.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_API_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// A kustomization or component. Field docs are what a user reads about the field.
#[derive(Debug, Default)]
pub struct Kustomization<'a> {
    /// `kustomize.config.k8s.io/v1beta1`, of a component `kustomize.config.k8s.io/v1alpha1`; may be
    /// left out.
    pub api_version: &'a str,
    /// `Kustomization` or `Component`.
    pub kind: &'a str,
    /// Has no effect; `name`, `namespace`, `labels` and `annotations` are allowed in it.
    pub metadata: Option<Metadata<'a>>,
    /// Files with objects, and directories with kustomizations of their own.
    pub resources: Vec<Written<'a>>,
    /// Directories with components, which work on what has been accumulated so far.
    pub components: Vec<Written<'a>>,
    /// ConfigMaps made from literals and files.
    pub config_map_generator: Vec<GeneratorArgs<'a>>,
    /// Secrets made from literals and files.
    pub secret_generator: Vec<GeneratorArgs<'a>>,
    /// What holds for all generators of this file.
    pub generator_options: Option<GeneratorOptions<'a>>,
    /// Plugin configurations: files, directories with a kustomization, or inline objects.
    pub generators: Vec<Written<'a>>,
    /// Plugin configurations, run in order after the built-in transformers.
    pub transformers: Vec<Written<'a>>,
    /// Plugin configurations of checks that may not change anything.
    pub validators: Vec<Written<'a>>,
    /// Put before every name.
    pub name_prefix: &'a str,
    /// Put behind every name.
    pub name_suffix: &'a str,
    /// Set on every namespaced resource.
    pub namespace: &'a str,
    /// Labels set everywhere, selectors included.
    pub common_labels: StringMap<'a>,
    /// Labels, with a choice of where they are set.
    pub labels: Vec<Label<'a>>,
    /// Annotations set on resources and their pod templates.
    pub common_annotations: StringMap<'a>,
    /// Strategic merge patches, each a file or inline.
    pub patches_strategic_merge: Vec<Written<'a>>,
    /// JSON patches with targets.
    pub patches_json6902: Vec<Patch<'a>>,
    /// Patches of either form, with optional targets.
    pub patches: Vec<Patch<'a>>,
    /// New names, tags and digests for container images.
    pub images: Vec<Image<'a>>,
    /// Replica counts by name.
    pub replicas: Vec<Replica<'a>>,
    /// Values copied from one resource into others.
    pub replacements: Vec<Replacement<'a>>,
    /// How the output is ordered.
    pub sort_options: Option<SortOptions<'a>>,
    /// Which provenance is written into the output.
    pub build_metadata: Vec<Written<'a>>,
    /// Extra field specs for transformers: files.
    pub configurations: Vec<Written<'a>>,
    /// Files that tell which fields of custom kinds hold labels, annotations, names and references.
    pub crds: Vec<Written<'a>>,
    /// The schema that lists are merged by, in place of the built-in one.
    pub openapi: OpenApi<'a>,
    /// Values that other fields use as `$(NAME)`.
    pub vars: Vec<Var<'a>>,
    /// What holds for all charts.
    pub helm_globals: Option<HelmGlobals<'a>>,
    /// Charts that helm makes resources of.
    pub helm_charts: Vec<HelmChart<'a>>,
    given: Given,
}

impl<'a> Kustomization<'a> {
    /// Reads a kustomization file's document, converts deprecated fields, and tells what is
    /// deprecated.
    ///
    /// # Errors
    /// Unknown fields, wrong types, a wrong kind or apiVersion, or no content at all.
    pub fn from_node(node: Option<&Node<'a>>, cx: &Decoder<'a>) -> Result<(Self, Vec<Warning>)> {
        let mut k = Kustomization::default();
        let empty = Mapping::new().into();
        let node = node.unwrap_or(&empty);
        // Old spelling of `resources`.
        let mut bases: Vec<Written<'a>> = Vec::new();
        // Old spelling of `images`.
        let mut image_tags: Vec<Image<'a>> = Vec::new();
        // Old spelling of `helmCharts` and `helmGlobals`.
        let mut helm_generator: Vec<HelmChartArgs<'a>> = Vec::new();
        let given = cx.object(
            node,
            &mut [
                ("apiVersion", &mut k.api_version),
                ("kind", &mut k.kind),
                ("metadata", &mut k.metadata),
                ("resources", &mut k.resources),
                ("bases", &mut bases),
                ("components", &mut k.components),
                ("configMapGenerator", &mut ForBuiltin(&mut k.config_map_generator)),
                ("secretGenerator", &mut ForBuiltin(&mut k.secret_generator)),
                ("generatorOptions", &mut k.generator_options),
                ("generators", &mut k.generators),
                ("transformers", &mut k.transformers),
                ("validators", &mut k.validators),
                ("namePrefix", &mut ForBuiltin(&mut k.name_prefix)),
                ("nameSuffix", &mut ForBuiltin(&mut k.name_suffix)),
                ("namespace", &mut ForBuiltin(&mut k.namespace)),
                ("commonLabels", &mut ForBuiltin(&mut k.common_labels)),
                ("labels", &mut ForBuiltin(&mut k.labels)),
                ("commonAnnotations", &mut ForBuiltin(&mut k.common_annotations)),
                ("patchesStrategicMerge", &mut ForBuiltin(&mut k.patches_strategic_merge)),
                ("patchesJson6902", &mut ForBuiltin(&mut k.patches_json6902)),
                ("patches", &mut ForBuiltin(&mut k.patches)),
                ("images", &mut ForBuiltin(&mut k.images)),
                ("imageTags", &mut ForBuiltin(&mut image_tags)),
                ("replicas", &mut ForBuiltin(&mut k.replicas)),
                ("replacements", &mut ForBuiltin(&mut k.replacements)),
                ("sortOptions", &mut k.sort_options),
                ("buildMetadata", &mut k.build_metadata),
                ("configurations", &mut k.configurations),
                ("crds", &mut k.crds),
                ("openapi", &mut k.openapi),
                ("vars", &mut k.vars),
                ("helmGlobals", &mut k.helm_globals),
                ("helmCharts", &mut ForBuiltin(&mut k.helm_charts)),
                ("helmChartInflationGenerator", &mut ForBuiltin(&mut helm_generator)),
            ],
        )?;
        // An empty list under an old name becomes nothing under the new one.
        let old = [
            ("bases", bases.len()),
            ("imageTags", image_tags.len()),
            ("helmChartInflationGenerator", helm_generator.len()),
        ];
        let vanishes = |name: &str| old.contains(&(name, 0));
        k.resources.append(&mut bases);
        k.images.append(&mut image_tags);
        helm::upgrade(helm_generator, &mut k.helm_charts, &mut k.helm_globals);
        let says_something = given.names().any(|name| !vanishes(name) && k.has_content(name));
        let warnings = deprecations(&given);
        if !says_something {
            return Err(Error::input("kustomization.yaml is empty")
                .at(node.pos)
                .hint("add a 'resources' field with the files to build"));
        }
        k.given = given;
        k.check_type(node.pos)?;
        Ok((k, warnings))
    }

    /// A string field that is empty says nothing; anything else that was given does.
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
            return Err(Error::input("kind should be Kustomization or Component")
                .at(self.place_of("kind"))
                .hint(format!("it is '{}' here", self.kind)));
        }
        if self.api_version != wanted {
            let message = format!("apiVersion for {} should be {wanted}", self.kind);
            let error = Error::input(message).at(self.place_of("apiVersion")).at(self.place_of("kind")).at(pos);
            return Err(error.hint(format!("it is '{}' here", self.api_version)));
        }
        Ok(())
    }

    /// The place of a field; of a field that is not given none.
    pub fn place_of(&self, field: &str) -> Pos {
        self.given.pos(field).unwrap_or(Pos::NONE)
    }

    /// Whether this is a component.
    pub fn is_component(&self) -> bool {
        self.kind == "Component"
    }
}

/// Upstream's words for deprecated fields, in its order.
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
        Some(Warning::new(message).at(pos))
    };
    fields.into_iter().filter_map(warning).collect()
}

/// The metadata of a kustomization, which nothing reads.
#[derive(Debug, Default)]
pub struct Metadata<'a> {
    pub name: &'a str,
    pub namespace: &'a str,
    pub labels: StringMap<'a>,
    pub annotations: StringMap<'a>,
}

impl<'a> Decode<'a> for Metadata<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("name", &mut self.name),
                ("namespace", &mut self.namespace),
                ("labels", &mut self.labels),
                ("annotations", &mut self.annotations),
            ],
        )?;
        Ok(())
    }
}

/// One ConfigMap or Secret to make.
#[derive(Clone, Debug, Default)]
pub struct GeneratorArgs<'a> {
    /// The name, before prefixes and the hash.
    pub name: &'a str,
    /// The namespace, if it is to have one.
    pub namespace: &'a str,
    /// What to do with one that is there already: `create`, `merge` or `replace`.
    pub behavior: &'a str,
    /// `key=value` pairs.
    pub literals: Vec<Written<'a>>,
    /// Files whose content is a value: `path` or `key=path`.
    pub files: Vec<Written<'a>>,
    /// Files with `key=value` lines.
    pub envs: Vec<Written<'a>>,
    /// The type of a Secret.
    pub secret_type: &'a str,
    /// Labels and so on; they win over `generatorOptions`.
    pub options: Option<GeneratorOptions<'a>>,
    pub pos: Pos,
}

impl<'a> Decode<'a> for GeneratorArgs<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        let mut env = Written::default();
        cx.object(
            node,
            &mut [
                ("name", &mut self.name),
                ("namespace", &mut self.namespace),
                ("behavior", &mut self.behavior),
                ("literals", &mut self.literals),
                ("files", &mut self.files),
                ("envs", &mut self.envs),
                ("env", &mut env),
                ("type", &mut self.secret_type),
                ("options", &mut self.options),
            ],
        )?;
        // The old spelling of one more entry. Upstream knows it in kustomization files alone.
        if !env.is_empty() && cx.strict {
            self.envs.push(env);
        }
        Ok(())
    }
}

/// What generated objects get beside their data.
#[derive(Clone, Debug, Default)]
pub struct GeneratorOptions<'a> {
    /// Labels for what is generated.
    pub labels: StringMap<'a>,
    /// Annotations for what is generated.
    pub annotations: StringMap<'a>,
    /// Leaves the name as it is, without a hash of the content.
    pub disable_name_suffix_hash: bool,
    /// Sets `immutable: true`.
    pub immutable: bool,
}

impl<'a> Decode<'a> for GeneratorOptions<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("labels", &mut self.labels),
                ("annotations", &mut self.annotations),
                ("disableNameSuffixHash", &mut self.disable_name_suffix_hash),
                ("immutable", &mut self.immutable),
            ],
        )?;
        Ok(())
    }
}

/// An entry of `labels`.
#[derive(Clone, Debug, Default)]
pub struct Label<'a> {
    /// The labels.
    pub pairs: StringMap<'a>,
    /// Also sets them in selectors and templates.
    pub include_selectors: bool,
    /// Also sets them in templates.
    pub include_templates: bool,
    /// More fields to set them in.
    pub fields: Vec<FieldSpec<'a>>,
    pub pos: Pos,
}

impl<'a> Decode<'a> for Label<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("pairs", &mut self.pairs),
                ("includeSelectors", &mut self.include_selectors),
                ("includeTemplates", &mut self.include_templates),
                ("fields", &mut self.fields),
            ],
        )?;
        Ok(())
    }
}

/// An entry of `patches` or `patchesJson6902`.
#[derive(Clone, Debug, Default)]
pub struct Patch<'a> {
    /// A file with the patch.
    pub path: &'a str,
    /// The patch itself.
    pub patch: Written<'a>,
    /// Which resources it is for. A strategic merge patch can do without: it names its resource.
    pub target: Option<Selector<'a>>,
    /// What the patch may change beside content.
    pub options: PatchOptions,
    pub pos: Pos,
}

/// What a patch may change that it otherwise cannot.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchOptions {
    /// Takes a new `metadata.name` from the patch.
    pub allow_name_change: bool,
    /// Takes a new `kind` from the patch.
    pub allow_kind_change: bool,
    /// Whether the entry had options at all.
    pub given: bool,
}

impl<'a> Decode<'a> for PatchOptions {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let fields: &mut [(&'static str, &mut dyn Decode<'a>)] =
            &mut [("allowNameChange", &mut self.allow_name_change), ("allowKindChange", &mut self.allow_kind_change)];
        let given = cx.object(node, fields)?;
        self.given = given.names().next().is_some();
        Ok(())
    }
}

impl<'a> Decode<'a> for Patch<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("path", &mut self.path),
                ("patch", &mut self.patch),
                ("target", &mut self.target),
                ("options", &mut self.options),
            ],
        )?;
        Ok(())
    }
}

/// An entry of `images`.
#[derive(Clone, Debug, Default)]
pub struct Image<'a> {
    /// The image to change, without tag; read as a pattern.
    pub name: &'a str,
    /// Takes the place of the name.
    pub new_name: &'a str,
    /// Appended to the tag that is there.
    pub tag_suffix: &'a str,
    /// Takes the place of tag and digest.
    pub new_tag: &'a str,
    /// As in `sha256:...`; takes the place of a tag.
    pub digest: &'a str,
    pub pos: Pos,
}

impl<'a> Decode<'a> for Image<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("name", &mut self.name),
                ("newName", &mut self.new_name),
                ("tagSuffix", &mut self.tag_suffix),
                ("newTag", &mut self.new_tag),
                ("digest", &mut self.digest),
            ],
        )?;
        Ok(())
    }
}

/// An entry of `replicas`.
#[derive(Clone, Debug, Default)]
pub struct Replica<'a> {
    /// The name of the workload, now or before.
    pub name: &'a str,
    /// How many replicas it gets.
    pub count: i64,
    pub pos: Pos,
}

impl<'a> Decode<'a> for Replica<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(node, &mut [("name", &mut self.name), ("count", &mut self.count)])?;
        Ok(())
    }
}

/// `openapi`: one of the two.
#[derive(Clone, Debug, Default)]
pub struct OpenApi<'a> {
    /// A built-in version: `v1.21.2` is the only one.
    pub version: &'a str,
    /// A file with a schema, JSON or YAML.
    pub path: &'a str,
    pub pos: Pos,
}

impl<'a> Decode<'a> for OpenApi<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut fields = StringMap::default();
        fields.decode(node, cx)?;
        let field = |name: &str| fields.get(name).copied().unwrap_or_default();
        (self.version, self.path, self.pos) = (field("version"), field("path"), node.pos);
        Ok(())
    }
}

/// `sortOptions`.
#[derive(Clone, Debug, Default)]
pub struct SortOptions<'a> {
    /// `fifo` or `legacy`.
    pub order: &'a str,
    /// Kinds for `legacy`, in place of the usual ones.
    pub legacy: Option<LegacySortOptions<'a>>,
}

impl<'a> Decode<'a> for SortOptions<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(node, &mut [("order", &mut self.order), ("legacySortOptions", &mut self.legacy)])?;
        Ok(())
    }
}

/// The kinds that come first and last in the legacy order.
#[derive(Clone, Debug, Default)]
pub struct LegacySortOptions<'a> {
    /// Kinds that come first, in this order.
    pub first: Vec<&'a str>,
    /// Kinds that come last, in this order.
    pub last: Vec<&'a str>,
}

impl<'a> Decode<'a> for LegacySortOptions<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(node, &mut [("orderFirst", &mut self.first), ("orderLast", &mut self.last)])?;
        Ok(())
    }
}

/// An entry of `replacements`.
#[derive(Clone, Debug, Default)]
pub struct Replacement<'a> {
    /// A file with one replacement or a list of them.
    pub path: &'a str,
    /// The field the value comes from.
    pub source: Option<SourceSelector<'a>>,
    /// The value itself.
    pub source_value: Option<&'a str>,
    /// Where the value goes. An empty list is taken in a file and in a configuration object.
    pub targets: Option<Vec<TargetSelector<'a>>>,
    pub pos: Pos,
}

impl<'a> Decode<'a> for Replacement<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("path", &mut self.path),
                ("source", &mut self.source),
                ("sourceValue", &mut self.source_value),
                ("targets", &mut self.targets),
            ],
        )?;
        Ok(())
    }
}

/// The field of one resource. Texts are exact, empty ones match anything.
#[derive(Clone, Debug, Default)]
pub struct SourceSelector<'a> {
    /// Which types of resources; empty for any.
    pub gvk: Gvk<'a>,
    /// The name, now or before.
    pub name: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// `metadata.name` if it is empty.
    pub field_path: &'a str,
    /// Which piece of the value is meant.
    pub options: FieldOptions<'a>,
    pub pos: Pos,
}

impl<'a> Decode<'a> for SourceSelector<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("group", &mut self.gvk.group),
                ("version", &mut self.gvk.version),
                ("kind", &mut self.gvk.kind),
                ("name", &mut self.name),
                ("namespace", &mut self.namespace),
                ("fieldPath", &mut self.field_path),
                ("options", &mut self.options),
            ],
        )?;
        Ok(())
    }
}

/// Where a value goes.
#[derive(Clone, Debug, Default)]
pub struct TargetSelector<'a> {
    /// The resources, by patterns.
    pub select: Option<Selector<'a>>,
    /// Resources that are selected and left alone.
    pub reject: Vec<Selector<'a>>,
    /// `metadata.name` if there are none.
    pub field_paths: Vec<Written<'a>>,
    /// How the value is put into the fields.
    pub options: FieldOptions<'a>,
    pub pos: Pos,
}

impl<'a> Decode<'a> for TargetSelector<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("select", &mut self.select),
                ("reject", &mut self.reject),
                ("fieldPaths", &mut self.field_paths),
                ("options", &mut self.options),
            ],
        )?;
        Ok(())
    }
}

/// Which piece of a text is meant, and whether missing fields are made.
#[derive(Clone, Debug, Default)]
pub struct FieldOptions<'a> {
    /// Splits a text into pieces.
    pub delimiter: &'a str,
    /// The piece. In a target, a negative one goes in front and one beyond the end behind.
    pub index: i64,
    /// Is accepted and has no effect.
    pub encoding: &'a str,
    /// Makes fields that are missing.
    pub create: bool,
    pub pos: Pos,
}

impl<'a> Decode<'a> for FieldOptions<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos;
        cx.object(
            node,
            &mut [
                ("delimiter", &mut self.delimiter),
                ("index", &mut self.index),
                ("encoding", &mut self.encoding),
                ("create", &mut self.create),
            ],
        )?;
        Ok(())
    }
}
