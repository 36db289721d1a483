//! LabelTransformer: sets labels on resources, and in selectors and templates where asked.
//!
//! *Fields*: `labels`, `commonLabels`.
//! *Kinds*: `LabelTransformer`, with `labels` and `fieldSpecs`; without specs it does nothing.
//! *Entry*: `Label`, `FieldSpec`.
//! *Selects*: all resources.
//! *Writes*: the mappings that the field specs lead to. Those of an entry of `labels` are its own
//! `fields`, then `metadata/labels`, with `includeTemplates` also pod and claim templates, with
//! `includeSelectors` also selectors. `commonLabels` always sets selectors.
//! *Order*: after the names, before annotations; entries of `labels` in order, then `commonLabels`:
//! later ones win.
//! *Cost*: O(resources x specs of their kind).
//! *Quirks*: a spec for one kind hides a general one with the same path (cases
//! labels-fields-specific-hides-general and fs-specific-drops-general-labels). A new label is one
//! value in all its places: when a later label, patch or replacement changes it in one of them, all
//! change, selectors too, until a JSON patch or a plugin has rewritten the resource (cases
//! shared-label and shared-label-ends).
//! *Example*: `testdata/reference/label.txtar`

use super::edit_fields;
use super::foreign_selectors::ForeignSelectors;
use super::objects::Labels;
use crate::config::field_spec::{Create, MergedSpecs, Step, split};
use crate::config::kustomization::Label;
use crate::config::{FieldSpec, FieldSpecs, TransformerConfig, UsualSpecs, Written, WrittenMap};
use crate::diag::{Code, Error, Result, Warning};
use crate::resource::{Hint, ResMap, Resource};
use crate::schema::Gvk;
use crate::stage::{Build, Editor, Fields, Object, Overridden, Overriding, Planned, Stage, TransformEach, Watched};
use rustomize_base::meter::FastMap;
use rustomize_yaml::shared::Shared;
use rustomize_yaml::{Arena, Key, Node, Pos, Scalar, Style, Value, json};
use smallvec::SmallVec;

/// One entry of `labels`, or `commonLabels`.
pub struct LabelTransformer<'a> {
    labels: WrittenMap<'a>,
    /// The fields that the entry itself names; they are among the specs, too.
    fields: Vec<FieldSpec<'a>>,
    specs: FieldSpecs<'a>,
    /// The entry, which is the place of new keys.
    pos: Pos,
    /// The values of patches that it replaces, if the build is asked for findings.
    overridden: Option<Overridden>,
    /// Selectors of other pods that it changes.
    foreign: ForeignSelectors,
}

impl<'a> LabelTransformer<'a> {
    /// A transformer that sets labels in the fields of the specs.
    pub fn new(labels: WrittenMap<'a>, specs: FieldSpecs<'a>, pos: Pos) -> Self {
        LabelTransformer {
            labels,
            fields: Vec::new(),
            specs,
            pos,
            overridden: None,
            foreign: ForeignSelectors::default(),
        }
    }

    /// The transformers of `labels`, one for each entry, and of `commonLabels`.
    ///
    /// # Errors
    /// A field spec is wrong, or contradicts another one.
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let k = fields.kustomization;
        let mut stages: Vec<LabelTransformer<'a>> = Vec::new();
        for label in &k.labels {
            let parts = Parts::of(label);
            let specs = match fields.config.as_usual().filter(|_| label.fields.is_empty()) {
                Some(config) => parts.usual().get_or_make(|| specs_of(Vec::new(), parts, config))?,
                None => fields.read(&specs_of(label.fields.clone(), parts, fields.config)?)?,
            };
            let stage = LabelTransformer::new(label.pairs.clone(), specs, label.pos);
            stages.push(LabelTransformer { fields: label.fields.clone(), ..stage });
        }
        // Upstream has one for commonLabels as soon as there is one for labels.
        if !k.common_labels.is_empty() || (fields.build.keeps_origins() && !k.labels.is_empty()) {
            let specs = fields.specs(&USUAL, |config| &config.common_labels)?;
            stages.push(LabelTransformer::new(k.common_labels.clone(), specs, fields.pos("commonLabels")));
        }
        fields.build.find(|| replaced_labels(&stages));
        let planned = |stage: LabelTransformer<'a>| {
            let pos = stage.pos;
            fields.each(stage, pos)
        };
        Ok(stages.into_iter().map(planned).collect())
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// A field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let Labels { labels } = object.read()?;
        Ok(Stage::each(LabelTransformer::new(labels, object.specs()?, object.pos())))
    }
}

/// The parts of resources in which an entry of `labels` sets its pairs, beside their metadata.
#[derive(Clone, Copy)]
struct Parts {
    selectors: bool,
    templates: bool,
    volume_claim_templates: bool,
}

impl Parts {
    fn of(label: &Label<'_>) -> Self {
        Parts {
            selectors: label.include_selectors,
            templates: label.include_templates,
            volume_claim_templates: label.include_volume_claim_templates,
        }
    }

    /// The fields of these parts in the usual configuration.
    fn usual(self) -> &'static UsualSpecs {
        static USUAL: [UsualSpecs; 8] = [const { UsualSpecs::unmade() }; 8];
        let Parts { selectors, templates, volume_claim_templates } = self;
        let bits = [selectors, templates, volume_claim_templates];
        &USUAL[bits.into_iter().fold(0, |number, bit| number << 1 | usize::from(bit))]
    }
}

/// The fields in which an entry of `labels` sets its pairs: its own fields first, which may
/// restrict the common ones.
fn specs_of<'a>(own: Vec<FieldSpec<'a>>, parts: Parts, config: &TransformerConfig<'a>) -> Result<MergedSpecs<'a>> {
    let merging = |e: Error| e.context("failed to merge labels");
    let mut specs = MergedSpecs::from(own);
    specs.merge(config.labels.in_order().iter().cloned()).map_err(merging)?;
    if parts.selectors {
        specs.merge(config.common_labels.in_order().iter().cloned()).map_err(merging)?;
        return Ok(specs);
    }
    if parts.templates {
        specs.merge(config.template_labels.in_order().iter().cloned()).map_err(merging)?;
    }
    if parts.volume_claim_templates {
        specs.merge(config.volume_claim_template_labels.in_order().iter().cloned()).map_err(merging)?;
    }
    let everywhere = FieldSpec { gvk: Gvk::default(), path: "metadata/labels", create: true };
    specs.merge([everywhere]).map_err(merging)?;
    Ok(specs)
}

impl<'a> TransformEach<'a> for LabelTransformer<'a> {
    fn editor(&self, _: Arena<'a>) -> Editor<'_, 'a> {
        let entries = NewEntries::of(&self.labels, self.pos, self.overridden.as_ref());
        Box::new(move |resource| {
            if self.overridden.is_some() {
                self.foreign.look_at(resource, &self.specs, &self.labels);
            }
            entries.set(resource, &self.specs)
        })
    }

    fn check(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        build
            .find(|| self.fields.iter().filter_map(|field| self.without_effect(map, arena, field)).collect::<Vec<_>>());
        let message = "this value is not in the output: a label of the kustomization replaces it";
        build.find(|| self.overridden.iter().flat_map(|overridden| overridden.findings(map, message)));
        build.find(|| self.foreign.findings(self.pos));
        Ok(())
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(self)
    }
}

impl Overriding for LabelTransformer<'_> {
    fn watched(&self) -> Watched {
        Watched::UnaskedFor
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
    }
}

/// The findings about labels that the next transformer with the same label sets to another value,
/// at each field that the first one writes. O(labels x specs).
fn replaced_labels(stages: &[LabelTransformer<'_>]) -> Vec<Warning> {
    let mut later: FastMap<&str, (&str, &LabelTransformer<'_>)> = FastMap::default();
    let mut findings = Vec::new();
    for stage in stages.iter().rev() {
        for (label, value) in &stage.labels {
            if let Some((other, next)) = later.insert(label, (value.text, stage))
                && other != value.text
                && next.specs.cover(&stage.specs)
            {
                let message = format!("the label '{label}' is not in the output: a later entry sets another value");
                findings.push(Warning::new(Code::Overridden, message).at(stage.pos).hint("remove one of the two"));
            }
        }
    }
    findings
}

impl<'a> LabelTransformer<'a> {
    /// The finding about a field of the entry that no resource has. O(resources of the kind).
    fn without_effect(&self, map: &mut ResMap<'a>, arena: Arena<'a>, field: &FieldSpec<'a>) -> Option<Warning> {
        let kind = Some(field.gvk.kind).filter(|kind| !kind.is_empty());
        let path = split(arena, field.path);
        let mut candidates = map.candidates(&Hint::of_kind(kind)).into_iter().map(|i| map.get(i));
        if candidates.any(|resource| field.gvk.selects(&resource.id().gvk) && leads(resource.node(), &path)) {
            return None;
        }
        let of_kind = kind.map_or_else(String::new, |kind| format!(" of kind '{kind}'"));
        let message = format!("the labels change nothing at '{}': no resource{of_kind} has this field", field.path);
        let finding = Warning::new(Code::NoEffect, message).at(self.pos);
        Some(if field.create { finding } else { finding.hint("'create: true' makes a field that is missing") })
    }
}

/// Returns true if a path leads to a mapping, in any item of the lists on the way.
fn leads(node: &Node<'_>, path: &[Step<'_>]) -> bool {
    match (path.split_first(), node.value()) {
        (_, Value::Sequence(items)) => items.iter().any(|item| leads(item, path)),
        (None, value) => matches!(value, Value::Mapping(_)),
        (Some((step, rest)), Value::Mapping(fields)) => fields.get(step.key).is_some_and(|value| leads(value, rest)),
        (Some(_), Value::Scalar(_)) => false,
    }
}

/// Labels or annotations that a stage sets, each as a new key with a new string.
pub(super) struct NewEntries<'s, 'a> {
    /// The key, the value, and the place of the value.
    entries: Vec<(Key<'a>, Scalar<'a>, Pos)>,
    pos: Pos,
    overridden: Option<&'s Overridden>,
}

impl<'s, 'a> NewEntries<'s, 'a> {
    /// Keys have the place `at` of the entry, and values their own. Values of patches that the
    /// entries replace are noted in `overridden`.
    pub(super) fn of(entries: &WrittenMap<'a>, at: Pos, overridden: Option<&'s Overridden>) -> Self {
        let entry = |(key, value): (&&'a str, &Written<'a>)| {
            let pos = if value.pos.is_in_source() { value.pos } else { at };
            (Key::made(key, at), json::new_string(value.text), pos)
        };
        NewEntries { entries: entries.iter().map(entry).collect(), pos: at, overridden }
    }

    /// Sets the entries in every mapping that the specs lead to. Values are strings and keep the
    /// old style; where the key is new, the places share the value. Upstream has one value for all
    /// places, which takes over the style of each value that it replaces.
    pub(super) fn set(&self, resource: &mut Resource<'a>, specs: &FieldSpecs<'a>) -> Result<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        let mut numbers = *resource.numbers();
        let mut values: SmallVec<[(Option<Shared>, Scalar<'a>); 4]> =
            self.entries.iter().map(|(_, new, _)| (None, *new)).collect();
        let mut places = 0;
        let mut is_ahead = false;
        let mut sets_shared = false;
        edit_fields(resource, specs, Create::Mapping, &mut |node| {
            if node.is_null() {
                return Ok(());
            }
            let shape = node.shape();
            let Some(m) = node.as_mapping_mut() else {
                let error = Error::new(Code::WrongType, format!("wrong node kind: expected a mapping, found {shape}"));
                return Err(error.hint("write lines of 'name: value' here"));
            };
            for ((key, new, pos), (shared, value)) in self.entries.iter().zip(&mut values) {
                match m.get_mut(key.text()) {
                    Some(node) => {
                        let style = node.as_scalar().map_or(value.style(), Scalar::style);
                        is_ahead |= places > 0 && style != value.style();
                        *value = value.with_style(style);
                        if let Some(overridden) = self.overridden
                            && node.as_scalar().is_some_and(|old| old.text() != value.text())
                        {
                            overridden.note(node.pos());
                        }
                        node.set_scalar(*value, *pos);
                        sets_shared |= node.is_ahead();
                    }
                    None => {
                        if value.style() == Style::Plain {
                            *value = *new;
                        }
                        *shared = shared.or_else(|| numbers.give());
                        m.insert(*key, Node::shared_scalar(*value, *pos, *shared));
                    }
                }
            }
            places += 1;
            Ok(())
        })?;
        *resource.numbers() = numbers;
        if sets_shared {
            resource.settle_shared();
        }
        if places > 1 {
            resource.mark_shared();
        }
        if is_ahead {
            let values: Vec<_> = values.into_iter().filter_map(|(shared, value)| Some((shared?, value))).collect();
            resource.set_shared(&values, self.pos);
        }
        Ok(())
    }
}
