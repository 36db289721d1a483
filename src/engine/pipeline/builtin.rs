//! Plugins and built-ins as configuration objects: the entries of `generators` and `transformers`.
//! An `apiVersion` of `builtin` means a kind of kustomize's own, any other a plugin, which
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
//! Unknown fields of an object have no effect.
//! *Example*: `testdata/reference/builtin.txtar`

use super::Target;
use super::object::{Builtin, GENERATORS, TRANSFORMERS};
use crate::diag::{Code, Error, Result, nearest};
use crate::generator::helm_chart::HelmChartInflationGenerator;
use crate::generator::helm_charts::Charts;
use crate::generator::{ConfigMapGenerator, IamPolicyGenerator, SecretGenerator};
use crate::lint::objects;
use crate::resource::Resource;
use crate::stage::{BoxedGenerator, Build, Object, Stage};
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::hash::HashTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::namespace::NamespaceTransformer;
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;
use crate::transformer::value_add::ValueAddTransformer;
use rustomize_yaml::reprint;

/// Returns true if a configuration object is for a built-in.
pub(super) fn is_builtin(config: &Resource<'_>) -> bool {
    let gvk = &config.id().gvk;
    gvk.group.is_empty() && gvk.version == "builtin"
}

/// The error about an external plugin that cannot run. An object with the kind of a built-in is
/// most likely meant for that.
pub(super) fn advised(error: Error, config: &Resource<'_>) -> Error {
    let is_builtin_kind = is_one_of(config, &GENERATORS) || is_one_of(config, &TRANSFORMERS);
    error.advised(|fault| {
        let is_missing = matches!(fault.code(), Code::NotEnabled | Code::PluginMissing);
        (is_missing && is_builtin_kind).then(|| "this kind is built in: write apiVersion: builtin".to_owned())
    })
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
    reprint::through_map(arena, &mut node)?;
    let mut config = config.clone();
    *config.node_mut() = node;
    Ok(config)
}

fn is_one_of(config: &Resource<'_>, builtins: &[Builtin]) -> bool {
    builtins.iter().any(|builtin| builtin.kind == config.id().gvk.kind)
}

/// Adds the findings about a configuration object of one of these kinds.
fn find(build: &mut Build<'_>, config: &Resource<'_>, builtins: &[Builtin]) {
    let builtin = builtins.iter().find(|builtin| builtin.kind == config.id().gvk.kind);
    build.find(|| builtin.into_iter().flat_map(|b| objects::findings(config, b.kind, b.records)));
}

/// The generator that a configuration object describes. A chart joins those of its kustomization.
///
/// # Errors
/// The object is not for a generator, or a field has a wrong type.
pub(super) fn generator<'t, 'a>(
    build: &mut Build<'a>,
    target: &'t Target<'a>,
    config: &Resource<'a>,
    charts: &Charts<'a>,
) -> Result<BoxedGenerator<'t, 'a>> {
    find(build, config, &GENERATORS);
    let config = &printed(build, config)?;
    if is_one_of(config, &TRANSFORMERS) {
        let error = Error::new(Code::WrongKind, format!("plugin {} not a generator", config.id())).at(config.pos());
        return Err(error.hint("list it under 'transformers'"));
    }
    let root = &target.root;
    let object = Object { build, root, config };
    Ok(match object.kind() {
        "ConfigMapGenerator" => Box::new(ConfigMapGenerator::from_object(&object, root)?),
        "HelmChartInflationGenerator" => Box::new(HelmChartInflationGenerator::from_object(object, charts)?),
        "IAMPolicyGenerator" => Box::new(object.read::<IamPolicyGenerator<'a>>()?),
        "SecretGenerator" => Box::new(SecretGenerator::from_object(&object, root)?),
        _ => return Err(unknown(config)),
    })
}

/// The transformers that a configuration object describes: one, or two for PrefixSuffixTransformer.
///
/// # Errors
/// The object is not for a transformer, a field has a wrong type, or a file that it names cannot be
/// read.
pub(super) fn transformers<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    config: &Resource<'a>,
) -> Result<Vec<Stage<'a>>> {
    find(build, config, &TRANSFORMERS);
    let config = &printed(build, config)?;
    if is_one_of(config, &GENERATORS) {
        let error = Error::new(Code::WrongKind, format!("plugin {} not a transformer", config.id())).at(config.pos());
        return Err(error.hint("list it under 'generators'"));
    }
    let object = &mut Object { build, root: &target.root, config };
    // Wrong field specs are a fault of an object of any kind.
    object.specs()?;
    let stage = match object.kind() {
        "AnnotationsTransformer" => AnnotationsTransformer::from_object(object)?,
        "HashTransformer" => Stage::whole(HashTransformer),
        "ImageTagTransformer" => ImageTagTransformer::from_object(object)?,
        "LabelTransformer" => LabelTransformer::from_object(object)?,
        "NamespaceTransformer" => NamespaceTransformer::from_object(object)?,
        "PatchJson6902Transformer" => PatchJson6902Transformer::from_object(object)?,
        "PatchStrategicMergeTransformer" => PatchStrategicMergeTransformer::from_object(object)?,
        "PatchTransformer" => PatchTransformer::from_object(object)?,
        "PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer" => {
            return NameAffixTransformer::from_object(object);
        }
        "ReplacementTransformer" => ReplacementTransformer::from_object(object)?,
        "ReplicaCountTransformer" => ReplicaCountTransformer::from_object(object)?,
        "ValueAddTransformer" => ValueAddTransformer::from_object(object)?,
        _ => return Err(unknown(config)),
    };
    Ok(vec![stage])
}
