//! The stages of one kustomization, in the order in which they run.

use super::Target;
use super::object::{Builtin, GENERATORS, TRANSFORMERS};
use crate::config::decode::for_builtin;
use crate::config::field_spec::MergedSpecs;
use crate::config::kustomization::Label;
use crate::config::{Decoder, FieldSpec, FieldSpecs, TransformerConfig, Written};
use crate::diag::Result;
use crate::generator::helm_chart::{AskedBy, HelmChartInflationGenerator};
use crate::generator::{ConfigMapGenerator, SecretGenerator};
use crate::schema::Gvk;
use crate::stage::{Build, Generator, Overridden, PatchTexts, Stage};
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::namespace::{NamespaceTransformer, SetRoleBindingSubjects};
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;
use crate::yaml::Pos;
use std::rc::Rc;

/// A configured generator.
pub type BoxedGenerator<'a> = Box<dyn Generator<'a> + 'a>;

/// A generator that an entry asks for, its kustomize kind, and the place of the entry.
pub type PlannedGenerator<'a> = (BoxedGenerator<'a>, &'static str, Pos);

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

/// The built-in generators that the fields of a kustomization ask for.
///
/// # Errors
/// A chart cannot be made.
pub fn generators<'a>(build: &mut Build<'a>, target: &Target<'a>) -> Result<Vec<PlannedGenerator<'a>>> {
    let k = &target.kustomization;
    let mut stages: Vec<PlannedGenerator<'a>> = Vec::new();
    for args in &k.config_map_generator {
        let (pos, args) = (args.pos, args.clone());
        let (shared, root) = (k.generator_options.clone(), target.root.clone());
        stages.push((Box::new(ConfigMapGenerator { args, shared, root }), "ConfigMapGenerator", pos));
    }
    for args in &k.secret_generator {
        let (pos, args) = (args.pos, args.clone());
        let (shared, root) = (k.generator_options.clone(), target.root.clone());
        stages.push((Box::new(SecretGenerator { args, shared, root }), "SecretGenerator", pos));
    }
    for chart in &k.helm_charts {
        let mut globals = k.helm_globals.clone().unwrap_or_default();
        for text in [&mut globals.chart_home, &mut globals.config_home] {
            *text = for_builtin(build.arena, text)?;
        }
        let asked_by = AskedBy::Field { namespace: target.helm_namespace };
        let stage = HelmChartInflationGenerator::new(build, &target.root, chart.clone(), globals, asked_by)?;
        stages.push((Box::new(stage), "HelmChartInflationGenerator", chart.pos));
    }
    debug_assert!(stages.iter().all(|(_, kind, _)| is_builtin(&GENERATORS, kind)), "each is in the table");
    Ok(stages)
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
    if !k.patches_strategic_merge.is_empty() {
        let stage =
            PatchStrategicMergeTransformer::new(build, &target.root, &k.patches_strategic_merge, Written::default())?;
        if looks {
            all_patches = stage.positions();
        }
        add("PatchStrategicMergeTransformer", k.place_of("patchesStrategicMerge"), 1, Stage::whole(stage));
    }
    // Each entry is a transformer upstream, which counts where a build notes what transformed a
    // resource.
    let patches = PatchTransformer::new(build, &target.root, &k.patches)?;
    if looks {
        all_patches.extend(patches.positions(false));
        json_patches = patches.positions(true);
    }
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
    for label in &k.labels {
        let specs = specs(&label_specs(label, config)?)?;
        let (labels, fields) = (label.pairs.clone(), label.fields.clone());
        let stage = LabelTransformer { labels, fields, specs, pos: label.pos };
        add("LabelTransformer", label.pos, 1, Stage::each(stage));
    }
    // Upstream has one for commonLabels as soon as there is one for labels.
    if !k.common_labels.is_empty() || (build.keeps_origins && !k.labels.is_empty()) {
        let (labels, pos) = (k.common_labels.clone(), k.place_of("commonLabels"));
        let stage = LabelTransformer { labels, fields: Vec::new(), specs: specs(&config.common_labels)?, pos };
        add("LabelTransformer", pos, 1, Stage::each(stage));
    }
    if !k.common_annotations.is_empty() {
        let specs = specs(&config.common_annotations)?;
        let annotations = k.common_annotations.clone();
        let pos = k.place_of("commonAnnotations");
        let stage = AnnotationsTransformer { annotations, specs, pos, keeps_origins: build.keeps_origins };
        add("AnnotationsTransformer", pos, 1, Stage::each(stage));
    }
    let patches = PatchJson6902Transformer::new(build, &target.root, &k.patches_json6902)?;
    if looks {
        all_patches.extend(patches.positions());
    }
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
        let stage = ImageTagTransformer::new(&k.images, specs(&config.images)?, k.place_of("images"))?;
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
    let everywhere = FieldSpec { gvk: Gvk::default(), path: "metadata/labels", create: true };
    specs.merge([everywhere]).map_err(merging)?;
    Ok(specs)
}
