//! The stages of one kustomization, in the order in which they run.

use super::Target;
use super::object::{Builtin, GENERATORS, TRANSFORMERS};
use crate::config::decode::for_builtin;
use crate::config::field_spec::MergedSpecs;
use crate::config::kustomization::{GeneratorArgs, Kustomization, Label};
use crate::config::{Decoder, FieldSpec, FieldSpecs, TransformerConfig, Written};
use crate::diag::Result;
use crate::generator::helm_chart::{AskedBy, HelmChartInflationGenerator};
use crate::generator::helm_charts::Charts;
use crate::generator::{ConfigMapGenerator, SecretGenerator};
use crate::resource::{RESOURCE, Resource};
use crate::schema::Gvk;
use crate::stage::{Build, Generator, Overridden, PatchTexts, Stage};
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::{self, LabelTransformer};
use crate::transformer::namespace::{NamespaceTransformer, SetRoleBindingSubjects};
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Pos};
use std::borrow::Cow;
use std::iter;
use std::rc::Rc;
use std::sync::Arc;

/// A configured generator, which may borrow from its kustomization.
pub type BoxedGenerator<'t, 'a> = Box<dyn Generator<'a> + 't>;

/// A generator that an entry asks for, its kustomize kind, and the place of the entry.
pub type PlannedGenerator<'t, 'a> = (BoxedGenerator<'t, 'a>, &'static str, Pos);

/// A transformer that a field asks for.
pub struct Planned<'a> {
    pub stage: Stage<'a>,
    /// The kustomize kind.
    pub kind: &'static str,
    /// The field or entry that asks for it.
    pub pos: Pos,
    /// For how many transformers of upstream it stands: most have one for each entry of a field.
    pub instances: usize,
}

/// The built-in generators that the fields of a kustomization ask for. Charts are checked before
/// the first generator comes; each other generator is made when it is asked for.
///
/// # Errors
/// A chart cannot be made.
pub fn generators<'t, 'a>(
    build: &mut Build<'a>,
    target: &'t Target<'a>,
    charts_of_target: &Charts<'a>,
) -> Result<impl Iterator<Item = PlannedGenerator<'t, 'a>> + use<'t, 'a>> {
    let (k, root) = (&target.kustomization, &target.root);
    let shared = k.generator_options.as_ref();
    let config_maps = k.config_map_generator.iter().map(move |args| -> PlannedGenerator<'t, 'a> {
        let stage = ConfigMapGenerator { args: Cow::Borrowed(args), shared, root };
        (Box::new(stage), "ConfigMapGenerator", args.pos)
    });
    let secrets = k.secret_generator.iter().map(move |args| -> PlannedGenerator<'t, 'a> {
        (Box::new(SecretGenerator { args: Cow::Borrowed(args), shared, root }), "SecretGenerator", args.pos)
    });
    let mut charts: Vec<PlannedGenerator<'t, 'a>> = Vec::new();
    for chart in &k.helm_charts {
        let mut globals = k.helm_globals.clone().unwrap_or_default();
        for text in [&mut globals.chart_home, &mut globals.config_home] {
            *text = for_builtin(build.arena, text)?;
        }
        let asked_by = AskedBy::Field { namespace: target.helm_namespace };
        let asked = (asked_by, charts_of_target);
        let stage = HelmChartInflationGenerator::new(build, root, chart.clone(), globals, asked)?;
        charts.push((Box::new(stage), "HelmChartInflationGenerator", chart.pos));
    }
    let is_known = |(_, kind, _): &PlannedGenerator<'t, 'a>| {
        debug_assert!(is_builtin(&GENERATORS, kind), "each is in the table");
    };
    Ok(config_maps.chain(secrets).chain(charts).inspect(is_known))
}

/// What the [`generators`] of a kustomization make, in their order, as far as that is known without
/// the build. It is made on all cores; few entries are not worth that, and nothing is made.
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

/// What `make` makes of each entry, on all cores, or `None` for each if they are few.
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

fn is_builtin(table: &[Builtin], kind: &str) -> bool {
    table.iter().any(|builtin| builtin.kind == kind)
}

/// The built-in transformers that the fields of a kustomization ask for, in kustomize's fixed
/// order. All are configured, and their files read, before the first one runs.
///
/// # Errors
/// A patch cannot be read, a pattern or field spec is wrong.
pub fn transformers<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    config: &TransformerConfig<'a>,
) -> Result<Vec<Planned<'a>>> {
    let arena = build.arena;
    let k = &target.kustomization;
    let specs = |list: &MergedSpecs<'a>| -> Result<FieldSpecs<'a>> {
        let mut specs = list.in_order();
        specs.iter_mut().try_for_each(|spec| spec.read_for_builtin(arena))?;
        Ok(FieldSpecs::new(arena, specs))
    };
    let mut stages: Vec<Planned<'a>> = Vec::new();
    let mut add = |kind: &'static str, pos: Pos, instances: usize, stage: Stage<'a>| {
        debug_assert!(is_builtin(&TRANSFORMERS, kind), "{kind} is not in the table of transformers");
        stages.push(Planned { stage, kind, pos, instances });
    };
    // The texts of patches; without findings to look for there are none.
    let looks = build.findings.is_some();
    let (mut all_patches, mut json_patches): (Vec<Pos>, Vec<Pos>) = Default::default();
    // Values of patches that a later patch or label replaces: not of components, which work on
    // whatever their users have, nor where a patch may ask for the value.
    let looks_at_patches = looks && !k.is_component() && !asks_for_labels(k);
    let of_patches = |positions: &[Pos], has_test: bool| {
        let texts = (looks_at_patches && !has_test).then(|| PatchTexts::of(arena, positions.iter().copied()));
        texts.filter(PatchTexts::are_several).map(|texts| Arc::new(Overridden::of(texts)))
    };
    if !k.patches_strategic_merge.is_empty() {
        let stage =
            PatchStrategicMergeTransformer::new(build, &target.root, &k.patches_strategic_merge, Written::default())?;
        if looks {
            all_patches = stage.positions();
        }
        let stage = stage.overriding(of_patches(&all_patches, false));
        add("PatchStrategicMergeTransformer", k.place_of("patchesStrategicMerge"), 1, Stage::whole(stage));
    }
    // Each entry is a transformer upstream, which counts where a build notes what transformed a
    // resource.
    let patches = PatchTransformer::new(build, &target.root, &k.patches)?;
    if looks {
        all_patches.extend(patches.positions(false));
        json_patches = patches.positions(true);
    }
    let mut has_test = looks && patches.has_test();
    let patches = patches.overriding(of_patches(&all_patches, has_test));
    let texts = |positions: &[Pos]| looks.then(|| PatchTexts::of(arena, positions.iter().copied()));
    for stage in patches.apart() {
        add("PatchTransformer", k.place_of("patches"), stage.count(), Stage::whole(stage));
    }
    if !k.namespace.is_empty() {
        let stage = NamespaceTransformer {
            namespace: k.namespace,
            specs: specs(&config.namespace)?,
            subjects: SetRoleBindingSubjects::DefaultOnly,
            unset_only: false,
            spares_charts: build.arena.compat().leaves_namespaces_to_charts(),
            pos: k.place_of("namespace"),
            overridden: texts(&json_patches).map(Overridden::of),
        };
        add("NamespaceTransformer", stage.pos, 1, Stage::each(stage));
    }
    if !k.name_prefix.is_empty() {
        let stage = NameAffixTransformer {
            text: k.name_prefix,
            specs: specs(&config.name_prefix)?,
            is_suffix: false,
            pos: k.place_of("namePrefix"),
        };
        add("PrefixTransformer", stage.pos, 1, Stage::each(stage));
    }
    if !k.name_suffix.is_empty() {
        let stage = NameAffixTransformer {
            text: k.name_suffix,
            specs: specs(&config.name_suffix)?,
            is_suffix: true,
            pos: k.place_of("nameSuffix"),
        };
        add("SuffixTransformer", stage.pos, 1, Stage::each(stage));
    }
    let before_labels = texts(&all_patches).filter(|_| looks_at_patches);
    let overridden = || before_labels.clone().map(Overridden::of);
    let mut labels: Vec<LabelTransformer<'a>> = Vec::new();
    for label in &k.labels {
        let specs = specs(&label_specs(label, config)?)?;
        let (pairs, fields) = (label.pairs.clone(), label.fields.clone());
        labels.push(LabelTransformer { labels: pairs, fields, specs, pos: label.pos, overridden: overridden() });
    }
    // Upstream has one for commonLabels as soon as there is one for labels.
    if !k.common_labels.is_empty() || (build.keeps_origins && !k.labels.is_empty()) {
        let (pairs, pos) = (k.common_labels.clone(), k.place_of("commonLabels"));
        let (fields, specs) = (Vec::new(), specs(&config.common_labels)?);
        labels.push(LabelTransformer { labels: pairs, fields, specs, pos, overridden: overridden() });
    }
    build.find(|| label::overridden(&labels));
    for stage in labels {
        add("LabelTransformer", stage.pos, 1, Stage::each(stage));
    }
    if !k.common_annotations.is_empty() {
        let specs = specs(&config.common_annotations)?;
        let annotations = k.common_annotations.clone();
        let pos = k.place_of("commonAnnotations");
        let (keeps_origins, overridden) = (build.keeps_origins, overridden());
        let stage = AnnotationsTransformer { annotations, specs, pos, keeps_origins, overridden };
        add("AnnotationsTransformer", pos, 1, Stage::each(stage));
    }
    let patches = PatchJson6902Transformer::new(build, &target.root, &k.patches_json6902)?;
    if looks {
        all_patches.extend(patches.positions());
        has_test |= patches.has_test();
    }
    let patches = patches.overriding(of_patches(&all_patches, has_test));
    let texts = texts(&all_patches);
    for stage in patches.apart() {
        add("PatchJson6902Transformer", k.place_of("patchesJson6902"), stage.count(), Stage::whole(stage));
    }
    let replica_specs = if k.replicas.is_empty() { Rc::default() } else { Rc::new(specs(&config.replicas)?) };
    let overridden = texts.clone().map(|texts| Rc::new(Overridden::of(texts)));
    for (i, replica) in k.replicas.iter().enumerate() {
        let (name, count, pos) = (replica.name, replica.count, replica.pos);
        let (specs, overridden) = (replica_specs.clone(), overridden.clone());
        let is_last = i + 1 == k.replicas.len();
        let stage = ReplicaCountTransformer { name, count, specs, pos, overridden, is_last };
        add("ReplicaCountTransformer", replica.pos, 1, Stage::whole(stage));
    }
    if !k.images.is_empty() {
        let pos = k.place_of("images");
        let stage = ImageTagTransformer::new(arena.compat(), &k.images, specs(&config.images)?, pos)?;
        let stage = stage.overriding(texts.map(Overridden::of));
        add("ImageTagTransformer", k.place_of("images"), k.images.len(), Stage::each(stage));
    }
    if !k.replacements.is_empty() {
        let cx = Decoder::strict(arena);
        let stage = ReplacementTransformer::new(build, &target.root, &k.replacements, &cx)?;
        add("ReplacementTransformer", k.place_of("replacements"), 1, Stage::whole(stage));
    }
    Ok(stages)
}

/// Returns true if a patch of the kustomization finds its resources by labels or annotations, which
/// an earlier patch may have set.
fn asks_for_labels(k: &Kustomization<'_>) -> bool {
    let mut targets = k.patches.iter().chain(&k.patches_json6902).filter_map(|patch| patch.target.as_ref());
    targets.any(|target| !target.label_selector.is_empty() || !target.annotation_selector.is_empty())
}

/// Where an entry of `labels` sets its pairs: its own fields first, which may restrict the common
/// ones.
fn label_specs<'a>(label: &Label<'a>, config: &TransformerConfig<'a>) -> Result<MergedSpecs<'a>> {
    let merging = |e: crate::diag::Error| e.context("failed to merge labels");
    let mut specs = MergedSpecs::from(label.fields.clone());
    specs.merge(config.labels.in_order()).map_err(merging)?;
    if label.include_selectors {
        specs.merge(config.common_labels.in_order()).map_err(merging)?;
        return Ok(specs);
    }
    if label.include_templates {
        specs.merge(config.template_labels.in_order()).map_err(merging)?;
    }
    if label.include_volume_claim_templates {
        specs.merge(config.volume_claim_template_labels.in_order()).map_err(merging)?;
    }
    let everywhere = FieldSpec { gvk: Gvk::default(), path: "metadata/labels", create: true };
    specs.merge([everywhere]).map_err(merging)?;
    Ok(specs)
}
