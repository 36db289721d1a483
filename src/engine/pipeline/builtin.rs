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
use super::object::{
    Affixes, Annotations, Builtin, GENERATORS, Identified, ImageTag, JsonPatch, Labels, MergePatches, Namespace,
    Replacements, ReplicaCount, Specs, TRANSFORMERS, ValueAdd,
};
use super::plan::BoxedGenerator;
use crate::config::helm::HelmChart;
use crate::config::kustomization::{GeneratorArgs, Metadata, Patch};
use crate::config::{Decode, Decoder, FieldSpecs};
use crate::diag::{Code, Error, Result, nearest};
use crate::generator::helm_chart::{AskedBy, HelmChartInflationGenerator};
use crate::generator::helm_charts::Charts;
use crate::generator::{ConfigMapGenerator, IamPolicyGenerator, SecretGenerator};
use crate::resource::Resource;
use crate::stage::{Build, Stage};
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::hash::HashTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::namespace::{NamespaceTransformer, SetRoleBindingSubjects};
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;
use crate::transformer::value_add::ValueAddTransformer;
use rustomize_yaml::reprint;
use std::borrow::Cow;

/// Returns true if a configuration object is for a built-in.
pub fn is_builtin(config: &Resource<'_>) -> bool {
    let gvk = &config.id().gvk;
    gvk.group.is_empty() && gvk.version == "builtin"
}

fn unknown(config: &Resource<'_>) -> Error {
    let kind = config.id().gvk.kind;
    let error = Error::new(Code::BadValue, format!("unable to load builtin {}", config.id().gvk)).at(config.pos());
    let known = || GENERATORS.iter().chain(&TRANSFORMERS).map(|builtin| builtin.kind);
    match nearest(kind, known()) {
        Some(name) if name != kind => error.hint(format!("did you mean '{name}'?")),
        _ => error.hint(format!("the built-ins are: {}", known().collect::<Vec<_>>().join(", "))),
    }
}

/// The object as its kind reads it: upstream prints it, decodes that, and makes JSON of it.
fn printed<'a>(build: &mut Build<'a>, config: &Resource<'a>) -> Result<Resource<'a>> {
    let arena = build.arena;
    let mut node = reprint::printed(arena, config.node())?.into_owned();
    reprint::make_keys_texts(arena, &mut node);
    reprint::through_map(arena, &mut node)?;
    let mut config = config.clone();
    *config.node_mut() = node;
    Ok(config)
}

fn is_one_of(config: &Resource<'_>, builtins: &[Builtin]) -> bool {
    builtins.iter().any(|builtin| builtin.kind == config.id().gvk.kind)
}

/// Reads what a configuration object has. Unknown fields do not count, as upstream.
fn read<'a, T: Decode<'a> + Default>(build: &Build<'a>, config: &Resource<'a>) -> Result<T> {
    let mut value = T::default();
    value.decode(config.node(), &Decoder::lenient(build.arena))?;
    Ok(value)
}

/// The generator that a configuration object describes. A chart joins those of its kustomization.
///
/// # Errors
/// The object is not a generator, or a field has a wrong type.
pub fn generator<'t, 'a>(
    build: &mut Build<'a>,
    target: &'t Target<'a>,
    config: &Resource<'a>,
    charts: &Charts<'a>,
) -> Result<BoxedGenerator<'t, 'a>> {
    let config = &printed(build, config)?;
    let kind = config.id().gvk.kind;
    if is_one_of(config, &TRANSFORMERS) {
        return Err(Error::new(Code::WrongKind, format!("plugin {} not a generator", config.id())).at(config.pos()));
    }
    let root = &target.root;
    if kind == "IAMPolicyGenerator" {
        return Ok(Box::new(read::<IamPolicyGenerator<'a>>(build, config)?));
    }
    if kind == "HelmChartInflationGenerator" {
        let chart = HelmChart { pos: config.pos(), ..read(build, config)? };
        let globals = read(build, config)?;
        let asked = (AskedBy::Object, charts);
        return Ok(Box::new(HelmChartInflationGenerator::new(build, root, chart, globals, asked)?));
    }
    let mut args: GeneratorArgs<'a> = read(build, config)?;
    let Identified { metadata } = read(build, config)?;
    for (own, of_object) in [(&mut args.name, metadata.name), (&mut args.namespace, metadata.namespace)] {
        if own.is_empty() {
            *own = of_object;
        }
    }
    let args = Cow::Owned(args);
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
pub fn transformers<'a>(build: &mut Build<'a>, target: &Target<'a>, config: &Resource<'a>) -> Result<Vec<Stage<'a>>> {
    let arena = build.arena;
    let config = &printed(build, config)?;
    let kind = config.id().gvk.kind;
    if is_one_of(config, &GENERATORS) {
        return Err(Error::new(Code::WrongKind, format!("plugin {} not a transformer", config.id())).at(config.pos()));
    }
    let Specs { field_specs } = read(build, config)?;
    let has_specs = field_specs.is_some();
    let specs = FieldSpecs::new(arena, field_specs.unwrap_or_default());
    let stage: Stage<'a> = match kind {
        "AnnotationsTransformer" => {
            let Annotations { annotations } = read(build, config)?;
            Stage::each(AnnotationsTransformer {
                annotations,
                specs,
                pos: config.pos(),
                keeps_origins: build.keeps_origins,
                overridden: None,
            })
        }
        "LabelTransformer" => {
            let Labels { labels } = read(build, config)?;
            Stage::each(LabelTransformer { labels, fields: Vec::new(), specs, pos: config.pos(), overridden: None })
        }
        "HashTransformer" => Stage::whole(HashTransformer),
        "ImageTagTransformer" => {
            let ImageTag { image_tag } = read(build, config)?;
            Stage::each(ImageTagTransformer::new(build.arena.compat(), &[image_tag], specs, config.pos())?)
        }
        "NamespaceTransformer" => namespace(build, config, specs)?,
        "PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer" => {
            if !has_specs {
                return Err(Error::new(Code::MissingField, "fieldSpecs is not expected to be nil").at(config.pos()));
            }
            return affixes(build, config, specs);
        }
        "ReplicaCountTransformer" => {
            let ReplicaCount { replica } = read(build, config)?;
            Stage::whole(ReplicaCountTransformer {
                name: replica.name,
                count: replica.count,
                specs: specs.into(),
                pos: config.pos(),
                overridden: None,
                is_last: true,
            })
        }
        "ReplacementTransformer" => {
            let mut object = Replacements::default();
            let cx = Decoder::unconverted(arena);
            object.decode(config.node(), &cx)?;
            Stage::whole(ReplacementTransformer::new(build, &target.root, &object.replacements, &cx)?)
        }
        "PatchTransformer" => {
            let patch = Patch { pos: config.pos(), ..read(build, config)? };
            Stage::whole(PatchTransformer::new(build, &target.root, &[patch])?)
        }
        "PatchJson6902Transformer" => {
            let JsonPatch { path, json_op, target: selector, options } = read(build, config)?;
            let patch = Patch { path, patch: json_op, target: selector, options, pos: config.pos() };
            Stage::whole(PatchJson6902Transformer::new(build, &target.root, &[patch])?)
        }
        "PatchStrategicMergeTransformer" => {
            let MergePatches { paths, patches } = read(build, config)?;
            Stage::whole(PatchStrategicMergeTransformer::new(build, &target.root, &paths, patches)?)
        }
        "ValueAddTransformer" => {
            let ValueAdd { value, targets, target_file_path } = read(build, config)?;
            Stage::whole(ValueAddTransformer::new(
                build,
                &target.root,
                (value, config.pos()),
                targets,
                target_file_path,
            )?)
        }
        _ => return Err(unknown(config)),
    };
    Ok(vec![stage])
}

fn namespace<'a>(build: &mut Build<'a>, config: &Resource<'a>, specs: FieldSpecs<'a>) -> Result<Stage<'a>> {
    let Namespace { unset_only, set_role_binding_subjects } = read(build, config)?;
    let subjects = match set_role_binding_subjects {
        "" | "defaultOnly" => SetRoleBindingSubjects::DefaultOnly,
        "allServiceAccounts" => SetRoleBindingSubjects::AllServiceAccounts,
        "none" => SetRoleBindingSubjects::None,
        other => {
            let error =
                Error::new(Code::BadValue, format!("invalid setRoleBindingSubjects '{other}'")).at(config.pos());
            return Err(error.hint("it is one of defaultOnly, allServiceAccounts, none"));
        }
    };
    let Identified { metadata: Metadata { namespace, .. } } = read(build, config)?;
    let pos = config.pos();
    Ok(Stage::each(NamespaceTransformer {
        namespace,
        specs,
        subjects,
        unset_only,
        spares_charts: build.arena.compat().leaves_namespaces_to_charts(),
        pos,
        overridden: None,
    }))
}

fn affixes<'a>(build: &mut Build<'a>, config: &Resource<'a>, specs: FieldSpecs<'a>) -> Result<Vec<Stage<'a>>> {
    let Affixes { prefix, suffix } = read(build, config)?;
    let pos = config.pos();
    let kind = config.id().gvk.kind;
    let mut stages: Vec<Stage<'a>> = Vec::new();
    if kind != "SuffixTransformer" {
        stages.push(Stage::each(NameAffixTransformer { text: prefix, specs: specs.clone(), is_suffix: false, pos }));
    }
    if kind != "PrefixTransformer" {
        stages.push(Stage::each(NameAffixTransformer { text: suffix, specs, is_suffix: true, pos }));
    }
    Ok(stages)
}
