//! The stages of one kustomization, in the order in which they run.

use super::Target;
use crate::config::TransformerConfig;
use crate::config::decode::for_builtin;
use crate::config::kustomization::GeneratorArgs;
use crate::diag::Result;
use crate::generator::helm_chart::{AskedBy, ChartRequest, HelmChartInflationGenerator};
use crate::generator::helm_charts::Charts;
use crate::generator::{ConfigMapGenerator, SecretGenerator};
use crate::lint::overridden;
use crate::resource::{RESOURCE, Resource};
use crate::stage::{BoxedGenerator, Build, Fields, Planned};
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::namespace::NamespaceTransformer;
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Pos};
use std::borrow::Cow;
use std::iter;

/// A generator that an entry of a field asks for.
pub struct PlannedGenerator<'t, 'a> {
    pub stage: BoxedGenerator<'t, 'a>,
    /// The kustomize kind.
    pub kind: &'static str,
    /// The entry.
    pub pos: Pos,
}

/// The built-in generators that the fields of a kustomization ask for, in kustomize's order. Charts
/// are checked before the first generator runs; each other generator is made when it is asked for.
///
/// # Errors
/// A chart is not valid.
pub fn generators<'t, 'a>(
    build: &mut Build<'a>,
    target: &'t Target<'a>,
    charts_of_target: &Charts<'a>,
) -> Result<impl Iterator<Item = PlannedGenerator<'t, 'a>> + use<'t, 'a>> {
    let (k, root) = (&target.kustomization, &target.root);
    let shared = k.generator_options.as_ref();
    let config_maps = k.config_map_generator.iter().map(move |args| PlannedGenerator {
        stage: Box::new(ConfigMapGenerator { args: Cow::Borrowed(args), shared, root }),
        kind: "ConfigMapGenerator",
        pos: args.pos,
    });
    let secrets = k.secret_generator.iter().map(move |args| PlannedGenerator {
        stage: Box::new(SecretGenerator { args: Cow::Borrowed(args), shared, root }),
        kind: "SecretGenerator",
        pos: args.pos,
    });
    let mut charts: Vec<PlannedGenerator<'t, 'a>> = Vec::new();
    for chart in &k.helm_charts {
        let mut globals = k.helm_globals.clone().unwrap_or_default();
        for text in [&mut globals.chart_home, &mut globals.config_home] {
            *text = for_builtin(build.arena, text)?;
        }
        let asked_by = AskedBy::Field { namespace: target.helm_namespace };
        let request = ChartRequest { root, chart: chart.clone(), globals, asked_by };
        let stage = HelmChartInflationGenerator::new(build, request, charts_of_target)?;
        charts.push(PlannedGenerator { stage: Box::new(stage), kind: "HelmChartInflationGenerator", pos: chart.pos });
    }
    Ok(config_maps.chain(secrets).chain(charts))
}

/// The results of the [`generators`] of a kustomization, in their order: `None` for a generator
/// that needs the build. They are made on all cores; for few entries all are `None`.
pub fn made_ahead<'a>(
    arena: Arena<'a>,
    target: &Target<'a>,
) -> impl Iterator<Item = Option<Result<Vec<Resource<'a>>>>> {
    let k = &target.kustomization;
    let shared = k.generator_options.as_ref();
    let config_map = |arena, args| ConfigMapGenerator::of_literals(arena, args, shared);
    let secret = |arena, args| SecretGenerator::of_literals(arena, args, shared);
    let config_maps = ahead(arena, &k.config_map_generator, config_map);
    let secrets = ahead(arena, &k.secret_generator, secret);
    config_maps.into_iter().chain(secrets).chain(iter::repeat_with(|| None))
}

/// The result of `make` for each entry, on all cores, or `None` for each if they are few.
fn ahead<'t, 'a, M: Send>(
    arena: Arena<'a>,
    entries: &'t [GeneratorArgs<'a>],
    make: impl Fn(Arena<'a>, &'t GeneratorArgs<'a>) -> Option<M> + Sync,
) -> Vec<Option<M>> {
    let (others, threads) = (arena.others(), arena.threads(entries.len() * RESOURCE));
    let of_run = |arena| {
        let make = &make;
        move |run: &'t [GeneratorArgs<'a>]| -> Vec<_> { run.iter().map(|args| make(arena, args)).collect() }
    };
    match threads {
        1 => iter::repeat_with(|| None).take(entries.len()).collect(),
        _ => parallel::runs(entries, threads, || of_run(others.arena())).into_iter().flatten().collect(),
    }
}

/// Makes the transformers of one kind that the fields of a kustomization ask for.
type FromFields<'a> = fn(&mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>>;

/// The built-in transformers, by kustomize kind, in the order in which kustomize runs them.
fn in_order<'a>() -> [(&'static str, FromFields<'a>); 11] {
    [
        ("PatchStrategicMergeTransformer", PatchStrategicMergeTransformer::from_fields),
        ("PatchTransformer", PatchTransformer::from_fields),
        ("NamespaceTransformer", NamespaceTransformer::from_fields),
        ("PrefixTransformer", NameAffixTransformer::prefix_from_fields),
        ("SuffixTransformer", NameAffixTransformer::suffix_from_fields),
        ("LabelTransformer", LabelTransformer::from_fields),
        ("AnnotationsTransformer", AnnotationsTransformer::from_fields),
        ("PatchJson6902Transformer", PatchJson6902Transformer::from_fields),
        ("ReplicaCountTransformer", ReplicaCountTransformer::from_fields),
        ("ImageTagTransformer", ImageTagTransformer::from_fields),
        ("ReplacementTransformer", ReplacementTransformer::from_fields),
    ]
}

/// The built-in transformers that the fields of a kustomization ask for, in kustomize's order. All
/// are configured, and their files read, before the first one runs.
///
/// # Errors
/// A patch cannot be read, or a pattern or field spec is wrong.
pub fn transformers<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    config: &TransformerConfig<'a>,
) -> Result<Vec<Planned<'a>>> {
    let (root, kustomization) = (&target.root, &target.kustomization);
    let mut planned = Vec::new();
    for (kind, from_fields) in in_order() {
        planned.extend(from_fields(&mut Fields { build: &mut *build, root, kustomization, config, kind })?);
    }
    if build.findings.is_some() {
        overridden::watch(build.arena, kustomization, &mut planned);
    }
    Ok(planned)
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use crate::pipeline::object::TRANSFORMERS;

    #[test]
    fn each_transformer_of_fields_can_be_a_configuration_object_too() {
        for (kind, _) in in_order() {
            assert!(TRANSFORMERS.iter().any(|builtin| builtin.kind == kind), "{kind}");
        }
    }
}
