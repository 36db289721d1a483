//! The stages of one kustomization, in the order in which they run.

use super::{Session, Target};
use crate::config::field_spec;
use crate::config::kustomization::Label;
use crate::config::{Decoder, FieldSpec, FieldSpecs, TransformerConfig};
use crate::diag::Result;
use crate::generator::{ConfigMapGenerator, Generator, SecretGenerator};
use crate::resource::Gvk;
use crate::transformer::Transformer;
use crate::transformer::annotations::AnnotationsTransformer;
use crate::transformer::image_tag::ImageTagTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::namespace::{NamespaceTransformer, SetRoleBindingSubjects};
use crate::transformer::patch::{PatchJson6902Transformer, PatchStrategicMergeTransformer, PatchTransformer};
use crate::transformer::prefix::NameAffixTransformer;
use crate::transformer::replacement::ReplacementTransformer;
use crate::transformer::replica_count::ReplicaCountTransformer;

/// A configured generator.
pub type BoxedGenerator<'a> = Box<dyn Generator<'a> + 'a>;

/// A configured transformer.
pub type BoxedTransformer<'a> = Box<dyn Transformer<'a> + 'a>;

/// The built-in generators that the fields of a kustomization ask for.
pub fn generators<'a>(target: &Target<'a>) -> Vec<BoxedGenerator<'a>> {
    let k = &target.kustomization;
    let mut stages: Vec<BoxedGenerator<'a>> = Vec::new();
    for args in &k.config_map_generator {
        stages.push(Box::new(ConfigMapGenerator {
            args: args.clone(),
            shared: k.generator_options.clone(),
            root: target.root.clone(),
        }));
    }
    for args in &k.secret_generator {
        stages.push(Box::new(SecretGenerator {
            args: args.clone(),
            shared: k.generator_options.clone(),
            root: target.root.clone(),
        }));
    }
    stages
}

/// The built-in transformers that the fields of a kustomization ask for, in kustomize's fixed order. All are configured,
/// and their files read, before the first one runs.
///
/// # Errors
/// A patch cannot be read, a pattern or field spec is wrong.
pub fn transformers<'a>(
    session: &Session<'a>,
    target: &Target<'a>,
    config: &TransformerConfig<'a>,
) -> Result<Vec<BoxedTransformer<'a>>> {
    let k = &target.kustomization;
    let specs = |list: &[FieldSpec<'a>]| FieldSpecs::new(session.arena, list.iter().cloned());
    let mut stages: Vec<BoxedTransformer<'a>> = Vec::new();
    if !k.patches_strategic_merge.is_empty() {
        stages.push(Box::new(PatchStrategicMergeTransformer::new(session, &target.root, &k.patches_strategic_merge)?));
    }
    if !k.patches.is_empty() {
        stages.push(Box::new(PatchTransformer::new(session, &target.root, &k.patches)?));
    }
    if !k.namespace.is_empty() {
        stages.push(Box::new(NamespaceTransformer {
            namespace: k.namespace,
            specs: specs(&config.namespace),
            subjects: SetRoleBindingSubjects::DefaultOnly,
            unset_only: false,
        }));
    }
    if !k.name_prefix.is_empty() {
        stages.push(Box::new(NameAffixTransformer {
            text: k.name_prefix,
            specs: specs(&config.name_prefix),
            is_suffix: false,
        }));
    }
    if !k.name_suffix.is_empty() {
        stages.push(Box::new(NameAffixTransformer {
            text: k.name_suffix,
            specs: specs(&config.name_suffix),
            is_suffix: true,
        }));
    }
    for label in &k.labels {
        stages.push(Box::new(LabelTransformer {
            labels: label.pairs.clone(),
            specs: specs(&label_specs(label, config)?),
        }));
    }
    if !k.common_labels.is_empty() {
        stages
            .push(Box::new(LabelTransformer { labels: k.common_labels.clone(), specs: specs(&config.common_labels) }));
    }
    if !k.common_annotations.is_empty() {
        let specs = specs(&config.common_annotations);
        stages.push(Box::new(AnnotationsTransformer { annotations: k.common_annotations.clone(), specs }));
    }
    if !k.patches_json6902.is_empty() {
        stages.push(Box::new(PatchJson6902Transformer::new(session, &target.root, &k.patches_json6902)?));
    }
    for replica in &k.replicas {
        stages.push(Box::new(ReplicaCountTransformer {
            name: replica.name,
            count: replica.count,
            specs: specs(&config.replicas),
        }));
    }
    if !k.images.is_empty() {
        stages.push(Box::new(ImageTagTransformer::new(&k.images, specs(&config.images))?));
    }
    if !k.replacements.is_empty() {
        let cx = Decoder::strict(session.arena);
        stages.push(Box::new(ReplacementTransformer::new(session, &target.root, &k.replacements, &cx)?));
    }
    Ok(stages)
}

/// Where an entry of `labels` sets its pairs: its own fields first, which may restrict the common ones.
fn label_specs<'a>(label: &Label<'a>, config: &TransformerConfig<'a>) -> Result<Vec<FieldSpec<'a>>> {
    let merging = |e: crate::diag::Error| e.context("failed to merge labels");
    let mut specs = label.fields.clone();
    field_spec::merge(&mut specs, config.labels.iter().cloned()).map_err(merging)?;
    if label.include_selectors {
        field_spec::merge(&mut specs, config.common_labels.iter().cloned()).map_err(merging)?;
        return Ok(specs);
    }
    if label.include_templates {
        field_spec::merge(&mut specs, config.template_labels.iter().cloned()).map_err(merging)?;
    }
    let everywhere = FieldSpec { gvk: Gvk::default(), path: "metadata/labels", create: true };
    field_spec::merge(&mut specs, [everywhere]).map_err(merging)?;
    Ok(specs)
}
