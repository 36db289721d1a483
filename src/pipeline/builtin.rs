//! Plugins and built-ins as configuration objects: what `generators` and `transformers` list. An
//! `apiVersion` of `builtin` means a kind of kustomize's own, any other a plugin, which
//! `--enable-alpha-plugins` allows.
//!
//! *Fields*: `generators`, `transformers`.
//! *Reads*: each entry is a file, a directory with a kustomization whose resources are the objects,
//! or an inline object.
//! *Order*: generators after those of the fields; transformers after those of the fields, before
//! validators. In each list the inline objects come first, then those of paths, as upstream.
//! *Cost*: that of the kind; a plugin costs its process, and printing and reading the resources
//! once each.
//! *Quirks*: SortOrderTransformer cannot be loaded, as upstream; `sortOptions` is its only door.
//! Unknown fields of an object do not count.
//! *Example*: `testdata/reference/builtin.txtar`

use super::Target;
use super::plan::{BoxedGenerator, BoxedTransformer};
use crate::config::helm::{HelmChart, HelmGlobals};
use crate::config::kustomization::{GeneratorArgs, Image, Patch, PatchOptions, Replacement, Replica};
use crate::config::{Decode, Decoder, FieldSpec, FieldSpecs, Selector, StringMap, Written};
use crate::diag::{Error, Result, nearest};
use crate::generator::helm_chart::{AskedBy, HelmChartInflationGenerator};
use crate::generator::{ConfigMapGenerator, IamPolicyGenerator, SecretGenerator};
use crate::resource::Resource;
use crate::stage::Build;
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::hash::HashTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::namespace::{NamespaceTransformer, SetRoleBindingSubjects};
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;
use crate::transformer::value_add::{self, ValueAddTransformer};
use crate::yaml::reprint;

const GENERATORS: [&str; 4] =
    ["ConfigMapGenerator", "HelmChartInflationGenerator", "IAMPolicyGenerator", "SecretGenerator"];

const TRANSFORMERS: [&str; 14] = [
    "AnnotationsTransformer",
    "HashTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "SuffixTransformer",
    "ValueAddTransformer",
];

/// Whether a configuration object is for a built-in.
pub fn is_builtin(config: &Resource<'_>) -> bool {
    let gvk = &config.id().gvk;
    gvk.group.is_empty() && gvk.version == "builtin"
}

fn unknown(config: &Resource<'_>) -> Error {
    let kind = config.id().gvk.kind;
    let error = Error::input(format!("unable to load builtin {}", config.id().gvk)).at(config.pos());
    match nearest(kind, GENERATORS.into_iter().chain(TRANSFORMERS)) {
        Some(name) if name != kind => error.hint(format!("did you mean '{name}'?")),
        _ => error.hint(format!("the built-ins are: {}, {}", GENERATORS.join(", "), TRANSFORMERS.join(", "))),
    }
}

/// The object as its kind reads it: upstream prints it, decodes that, and makes JSON of it.
fn printed<'a>(build: &mut Build<'a>, config: &Resource<'a>) -> Result<Resource<'a>> {
    let arena = build.arena;
    let mut node = reprint::printed(arena, config.node())?.into_owned();
    reprint::through_map(arena, &mut node)?;
    let mut config = config.clone();
    *config.node_mut() = node;
    Ok(config)
}

/// Reads a configuration object's fields. Unknown ones do not count, as upstream.
fn read<'a>(
    build: &mut Build<'a>,
    config: &Resource<'a>,
    fields: &mut [(&'static str, &mut dyn Decode<'a>)],
) -> Result<()> {
    Decoder::lenient(build.arena).object(config.node(), fields).map(drop)
}

/// The generator that a configuration object describes.
///
/// # Errors
/// It is none, or a field has a wrong type.
pub fn generator<'a>(build: &mut Build<'a>, target: &Target<'a>, config: &Resource<'a>) -> Result<BoxedGenerator<'a>> {
    let arena = build.arena;
    let config = &printed(build, config)?;
    let kind = config.id().gvk.kind;
    if TRANSFORMERS.contains(&kind) {
        return Err(Error::input(format!("plugin {} not a generator", config.id())).at(config.pos()));
    }
    let root = target.root.clone();
    if kind == "IAMPolicyGenerator" {
        let mut stage = IamPolicyGenerator::default();
        stage.decode(config.node(), &Decoder::lenient(arena))?;
        return Ok(Box::new(stage));
    }
    if kind == "HelmChartInflationGenerator" {
        let (mut chart, mut globals) =
            (HelmChart { pos: config.pos(), ..HelmChart::default() }, HelmGlobals::default());
        read(build, config, &mut chart.fields())?;
        globals.decode(config.node(), &Decoder::lenient(arena))?;
        return Ok(Box::new(HelmChartInflationGenerator::new(build, &root, chart, globals, AskedBy::Object)?));
    }
    let mut args = GeneratorArgs::default();
    args.decode(config.node(), &Decoder::lenient(arena))?;
    if args.name.is_empty() {
        args.name = config.id().name;
    }
    if args.namespace.is_empty() {
        args.namespace = config.id().namespace;
    }
    match kind {
        "ConfigMapGenerator" => Ok(Box::new(ConfigMapGenerator { args, shared: None, root })),
        "SecretGenerator" => Ok(Box::new(SecretGenerator { args, shared: None, root })),
        _ => Err(unknown(config)),
    }
}

/// The transformers that a configuration object describes: one, or two for PrefixSuffixTransformer.
///
/// # Errors
/// It describes none, a field has a wrong type, or what it names cannot be read.
pub fn transformers<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    config: &Resource<'a>,
) -> Result<Vec<BoxedTransformer<'a>>> {
    let arena = build.arena;
    let config = &printed(build, config)?;
    let kind = config.id().gvk.kind;
    if GENERATORS.contains(&kind) {
        return Err(Error::input(format!("plugin {} not a transformer", config.id())).at(config.pos()));
    }
    let mut field_specs: Option<Vec<FieldSpec<'a>>> = None;
    read(build, config, &mut [("fieldSpecs", &mut field_specs)])?;
    let has_specs = field_specs.is_some();
    let specs = FieldSpecs::new(arena, field_specs.unwrap_or_default());
    let stage: BoxedTransformer<'a> = match kind {
        "AnnotationsTransformer" => {
            let mut annotations = StringMap::default();
            read(build, config, &mut [("annotations", &mut annotations)])?;
            Box::new(AnnotationsTransformer {
                annotations,
                specs,
                pos: config.pos(),
                keeps_origins: build.keeps_origins,
            })
        }
        "LabelTransformer" => {
            let mut labels = StringMap::default();
            read(build, config, &mut [("labels", &mut labels)])?;
            Box::new(LabelTransformer { labels, specs, pos: config.pos() })
        }
        "HashTransformer" => Box::new(HashTransformer),
        "ImageTagTransformer" => {
            let mut image = Image::default();
            read(build, config, &mut [("imageTag", &mut image)])?;
            Box::new(ImageTagTransformer::new(&[image], specs)?)
        }
        "NamespaceTransformer" => namespace(build, config, specs)?,
        "PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer" => {
            if !has_specs {
                return Err(Error::input("fieldSpecs is not expected to be nil").at(config.pos()));
            }
            return affixes(build, config, specs);
        }
        "ReplicaCountTransformer" => {
            let mut replica = Replica::default();
            read(build, config, &mut [("replica", &mut replica)])?;
            Box::new(ReplicaCountTransformer { name: replica.name, count: replica.count, specs: specs.into() })
        }
        "ReplacementTransformer" => {
            let mut replacements: Vec<Replacement<'a>> = Vec::new();
            let cx = Decoder::unconverted(arena);
            cx.object(config.node(), &mut [("replacements", &mut replacements)])?;
            Box::new(ReplacementTransformer::new(build, &target.root, &replacements, &cx)?)
        }
        "PatchTransformer" => {
            let patch = patch(build, config, "patch")?;
            Box::new(PatchTransformer::new(build, &target.root, &[patch])?)
        }
        "PatchJson6902Transformer" => {
            let patch = patch(build, config, "jsonOp")?;
            Box::new(PatchJson6902Transformer::new(build, &target.root, &[patch])?)
        }
        "PatchStrategicMergeTransformer" => {
            let mut paths: Vec<Written<'a>> = Vec::new();
            let mut patches = Written::default();
            read(build, config, &mut [("paths", &mut paths), ("patches", &mut patches)])?;
            Box::new(PatchStrategicMergeTransformer::new(build, &target.root, &paths, patches)?)
        }
        "ValueAddTransformer" => {
            let (mut value, mut file) = ("", "");
            let mut targets: Vec<value_add::Target<'a>> = Vec::new();
            let fields: &mut [(&'static str, &mut dyn Decode<'a>)] =
                &mut [("value", &mut value), ("targets", &mut targets), ("targetFilePath", &mut file)];
            read(build, config, fields)?;
            Box::new(ValueAddTransformer::new(build, &target.root, value, targets, file)?)
        }
        _ => return Err(unknown(config)),
    };
    Ok(vec![stage])
}

fn namespace<'a>(build: &mut Build<'a>, config: &Resource<'a>, specs: FieldSpecs<'a>) -> Result<BoxedTransformer<'a>> {
    let (mut unset_only, mut subjects) = (false, "");
    read(build, config, &mut [("unsetOnly", &mut unset_only), ("setRoleBindingSubjects", &mut subjects)])?;
    let subjects = match subjects {
        "" | "defaultOnly" => SetRoleBindingSubjects::DefaultOnly,
        "allServiceAccounts" => SetRoleBindingSubjects::AllServiceAccounts,
        "none" => SetRoleBindingSubjects::None,
        other => {
            let error = Error::input(format!("invalid setRoleBindingSubjects '{other}'")).at(config.pos());
            return Err(error.hint("it is one of defaultOnly, allServiceAccounts, none"));
        }
    };
    Ok(Box::new(NamespaceTransformer { namespace: config.id().namespace, specs, subjects, unset_only }))
}

fn affixes<'a>(
    build: &mut Build<'a>,
    config: &Resource<'a>,
    specs: FieldSpecs<'a>,
) -> Result<Vec<BoxedTransformer<'a>>> {
    let (mut prefix, mut suffix) = ("", "");
    read(build, config, &mut [("prefix", &mut prefix), ("suffix", &mut suffix)])?;
    let kind = config.id().gvk.kind;
    let mut stages: Vec<BoxedTransformer<'a>> = Vec::new();
    if kind != "SuffixTransformer" {
        stages.push(Box::new(NameAffixTransformer { text: prefix, specs: specs.clone(), is_suffix: false }));
    }
    if kind != "PrefixTransformer" {
        stages.push(Box::new(NameAffixTransformer { text: suffix, specs, is_suffix: true }));
    }
    Ok(stages)
}

/// The patch of a configuration object; `inline` is the field that holds its text.
fn patch<'a>(build: &mut Build<'a>, config: &Resource<'a>, inline: &'static str) -> Result<Patch<'a>> {
    let mut patch = Patch { pos: config.pos(), ..Patch::default() };
    let mut target: Option<Selector<'a>> = None;
    let mut options = PatchOptions::default();
    read(
        build,
        config,
        &mut [
            ("path", &mut patch.path),
            (inline, &mut patch.patch),
            ("target", &mut target),
            ("options", &mut options),
        ],
    )?;
    Ok(Patch { target, options, ..patch })
}
