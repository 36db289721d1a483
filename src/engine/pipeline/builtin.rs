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
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::generator::helm_chart::HelmChartInflationGenerator;
use crate::generator::helm_charts::Charts;
use crate::generator::{ConfigMapGenerator, IamPolicyGenerator, SecretGenerator};
use crate::lint::for_kinds;
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

/// The finding about each field of a configuration object that its kind does not have: kustomize
/// ignores it.
fn unknown_fields(config: &Resource<'_>, builtins: &[Builtin]) -> Vec<Warning> {
    let Some(builtin) = builtins.iter().find(|builtin| builtin.kind == config.id().gvk.kind) else { return Vec::new() };
    let records = || builtin.records.iter().filter_map(|shape| shape.record());
    let names = || records().flat_map(|record| record.fields).map(|field| field.name);
    let is_known = |key: &str| {
        let own = ["apiVersion", "kind", "metadata"];
        own.into_iter().chain(names()).any(|name| name.eq_ignore_ascii_case(key))
            || records().any(|record| record.is_open)
    };
    let fields = config.node().as_mapping().into_iter().flat_map(|fields| fields.iter());
    let mut found: Vec<Warning> = fields
        .filter(|field| !is_known(field.key().text()))
        .map(|field| {
            let (kind, key) = (builtin.kind, field.key().text());
            let message = format!("the kind {kind} has no field '{key}': kustomize ignores it");
            let hint = match nearest(key, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("the fields are: {}", names().collect::<Vec<_>>().join(", ")),
            };
            Warning::new(Code::UnknownField, message).at(field.key().pos()).hint(hint)
        })
        .collect();
    found.extend(config.node().get("fieldSpecs").into_iter().flat_map(for_kinds::dotted_paths));
    let needs_specs = matches!(builtin.kind, "AnnotationsTransformer" | "LabelTransformer");
    let fields = config.node().as_mapping().into_iter().flat_map(|fields| fields.iter());
    let mut specs = fields.filter(|field| field.key().text().eq_ignore_ascii_case("fieldSpecs"));
    if needs_specs && specs.all(|specs| specs.value().is_null_or_empty()) {
        let message = format!("the {} has no 'fieldSpecs': it changes nothing", builtin.kind);
        let map = if builtin.kind == "LabelTransformer" { "labels" } else { "annotations" };
        let hint = format!("add the fields to change, as in fieldSpecs: [{{path: metadata/{map}, create: true}}]");
        found.push(Warning::new(Code::NoEffect, message).at(config.pos()).hint(hint));
    }
    found
}

fn is_one_of(config: &Resource<'_>, builtins: &[Builtin]) -> bool {
    builtins.iter().any(|builtin| builtin.kind == config.id().gvk.kind)
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
    build.find(|| unknown_fields(config, &GENERATORS));
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
    build.find(|| unknown_fields(config, &TRANSFORMERS));
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
