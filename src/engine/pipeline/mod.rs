//! The entire build, a flat list of steps: read this first.

mod absorb;
mod accumulate;
pub mod affected;
mod builtin;
mod bundle;
mod call;
mod crds;
mod glance;
pub mod object;
mod openapi;
mod origin;
pub mod outline;
mod phase;
pub mod plan;
pub mod roots;
mod shared;
mod survey;
mod target;
mod validate;

pub use accumulate::on_stack;
pub use call::{Call, call};
pub use target::{Target, find};

use crate::config::{FieldSpec, FieldSpecs, Written};
use crate::diag::{Code, Error, Result, Warned, Warning, allow};
use crate::lint::{for_kinds, result};
use crate::resource::{Changes, HELM_GENERATED, Order, ResMap, Resource, is_build_annotation, order};
use crate::stage::history::{History, StepRole};
use crate::stage::trace::{Step, Trace, traced};
use crate::stage::{Accumulator, Build, BuildMetadata, Context, Premises, TransformEach, Transformer};
use crate::transformer::hash::HashTransformer;
use crate::transformer::label::LabelTransformer;
use crate::transformer::name_reference::NameReferenceTransformer;
use crate::transformer::ref_var::RefVarTransformer;
use rustomize_base::compat::Compat;
use rustomize_base::observe::Work;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arena, Entry, Key, Mapping, Node, Pos};
use std::rc::Rc;

/// Builds the kustomization in a directory. The result is in output order, ready to be printed.
/// Builds with one context share the files that they read, and nothing else.
///
/// # Errors
/// The input has a fault. The build then gives no resources at all.
pub fn build<'a>(cx: &Rc<Context<'a>>, directory: &str) -> Warned<Result<Built<'a>>> {
    let noted = cx.options.observer.begin(Work::Root, || directory.to_owned());
    let explained = |e| survey::explained(cx, directory, e);
    let (mut build, target) = match begin(cx, directory) {
        Ok(begun) => begun,
        Err(e) => return Warned { value: Err(explained(e)), warnings: Vec::new() },
    };
    let value = run(&mut build, &target).map_err(explained);
    drop(noted);
    let mut found = build.findings.take().unwrap_or_default();
    let also = &cx.options.lint_also;
    found.retain(|finding| !Code::OFF_BY_DEFAULT.contains(&finding.code()) || also.contains(&finding.code()));
    let not_allowed = |found| allow::not_allowed(cx.arena.heap(), found);
    let findings = not_allowed(found);
    // A build that is not asked for findings warns as kustomize does.
    let warnings = if cx.options.lint { not_allowed(build.warnings) } else { build.warnings };
    let history = build.trace.map(Trace::finish);
    Warned { value: value.map(|map| Built { map, history, findings }), warnings }
}

/// The result of a build.
pub struct Built<'a> {
    pub map: ResMap<'a>,
    /// The writes of its steps, if a trace was asked for.
    pub history: Option<History<'a>>,
    /// The findings, if they were asked for, without those that a comment allows.
    pub findings: Vec<Warning>,
}

/// Reads the premises of a build: the schemas of the environment and the root's kustomization.
fn begin<'a>(cx: &Rc<Context<'a>>, directory: &str) -> Result<(Build<'a>, Target<'a>)> {
    let premises = bundle::premises(cx)?;
    let root = Target::read(cx, cx.files.root(directory)?)?;
    let metadata = BuildMetadata::of(&root.target.kustomization.build_metadata);
    let mut build = Build::with(cx, Premises { metadata, ..premises });
    let target = root.noted_in(&mut build);
    Ok((build, target))
}

fn run<'a>(build: &mut Build<'a>, target: &Target<'a>) -> Result<ResMap<'a>> {
    let arena = build.arena;
    let order = output_order(build, target)?;
    openapi::set(build, target)?;
    let Accumulator { mut map, config, vars } = accumulate::root(build, target)?;
    let files = std::mem::take(&mut build.for_kinds);
    let used = build.cx.options.used_entries.clone();
    let places = Places::new(arena.heap());
    let note_used = |entry| places.place(entry).iter().for_each(|place| used.note(place));
    build.find(|| for_kinds::findings(&map, &files, note_used));
    if target.kustomization.is_component() {
        build.drop_without_effect(0);
    }
    let config = config.unwrap_or_default();
    // No resource is added after this point.
    let count = map.iter().len();
    step(build, &mut map, "HashTransformer", |build, map| HashTransformer.transform(map, build))?;
    // From here on only a var can change a name.
    let references = NameReferenceTransformer::of(&config);
    step(build, &mut map, "NameReferenceTransformer", |build, map| references.transform(map, build))?;
    let vars =
        RefVarTransformer { vars: vars.into_values().collect(), specs: config.var_reference.in_order().into_owned() };
    step(build, &mut map, "RefVarTransformer", |build, map| vars.transform(map, build))?;
    // Names are final after this point.
    map.check_unique(arena)?;
    check_identities(arena, &map)?;
    debug_assert_eq!(map.iter().len(), count, "names, references and vars make no resources");
    step(build, &mut map, "build annotations", |_, map| take_build_annotations_off(arena, map))?;
    if build.findings.is_some() {
        let noted = build.cx.options.observer.begin(Work::Step, || "lint".to_owned());
        let (uses, used) = (std::mem::take(&mut build.uses), &build.cx.options.used_entries);
        let generated = result::Generated { uses: &uses, used };
        let generated = Some(&generated).filter(|_| !target.kustomization.is_component());
        let found = result::findings(arena, &map, generated);
        let of_kind = std::mem::take(&mut build.of_kind);
        build.find(|| found.into_iter().chain(result::holding(&map, of_kind)));
        drop(noted);
    }
    order::sort(arena, &mut map, &order);
    if build.cx.options.managed_by_label || build.metadata().managed_by_label {
        step(build, &mut map, "managedByLabel", |build, map| add_managed_by_label(build, map))?;
    }
    step(build, &mut map, "buildMetadata", origin::annotate)?;
    Ok(map)
}

/// A step that no entry asks for.
fn step<'a>(
    build: &mut Build<'a>,
    map: &mut ResMap<'a>,
    name: &str,
    work: impl FnOnce(&mut Build<'a>, &mut ResMap<'a>) -> Result<()>,
) -> Result<()> {
    traced(build, map, Step { name, entry: Pos::NONE, role: StepRole::Finish }, work)
}

/// The order of the output: that of the root's kustomization, else that of the option, else legacy.
fn output_order(build: &mut Build<'_>, target: &Target<'_>) -> Result<Order> {
    let Some(options) = &target.kustomization.sort_options else {
        return Ok(build.cx.options.order.clone().unwrap_or(Order::Legacy));
    };
    if build.cx.options.order.is_some() {
        let message = "Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI flag ('--reorder'). Using the kustomization file over the CLI flag.";
        build.warnings.push(Warning::new(Code::Unused, message).at(target.kustomization.place_of("sortOptions")));
    }
    match (options.order, &options.legacy) {
        ("fifo", Some(_)) => Err(target
            .error(
                "sortOptions",
                "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
            )
            .with_code(Code::ConflictingFields)
            .hint("set 'order: legacy', or remove 'legacySortOptions'")),
        ("fifo", None) => Ok(Order::Fifo),
        ("legacy", None) => Ok(Order::Legacy),
        ("legacy", Some(lists)) => {
            let own = |list: &[&str]| list.iter().map(|k| (*k).to_owned()).collect();
            Ok(Order::Lists { first: own(&lists.first), last: own(&lists.last) })
        }
        _ => Err(target
            .error("sortOptions", "the field 'sortOptions.order' must be one of [fifo, legacy]")
            .hint("write 'order: fifo' or 'order: legacy'")),
    }
}

/// Checks that each resource has a kind and a name, which a patch or plugin may have removed.
fn check_identities<'a>(arena: Arena<'a>, map: &ResMap<'a>) -> Result<()> {
    let lacks = |r: &Resource<'a>| match r.id() {
        _ if r.lacks_kind() => Some("kind"),
        id if id.name.is_empty() && !id.gvk.kind.ends_with("List") => Some("metadata.name"),
        _ => None,
    };
    let check = |r: &Resource<'a>| match lacks(r) {
        None => r.check_history(),
        Some(what) => {
            let error = Error::new(Code::NotAResource, format!("missing {what} in {}", r.id()));
            Err(error.at(r.pos()).hint("a patch or transformer has taken it away"))
        }
    };
    map.look_at_each(arena, check).map(drop)
}

/// Returns true if a resource exists for the build alone.
fn is_local_config(resource: &Resource<'_>) -> bool {
    let annotations = resource.node().get("metadata").and_then(|m| m.get("annotations"));
    let value = annotations.and_then(|m| m.get("config.kubernetes.io/local-config"));
    value.is_some_and(|v| v.as_scalar().is_none_or(|s| s.text() != "false"))
}

fn add_managed_by_label<'a>(build: &Build<'a>, map: &mut ResMap<'a>) -> Result<()> {
    let arena = build.arena;
    let value = arena.text(&format!("kustomize-{}", build.arena.compat()));
    let specs = [FieldSpec { path: "metadata/labels", create: true, ..FieldSpec::default() }];
    let labels = [("app.kubernetes.io/managed-by", Written { text: value, pos: Pos::NONE })].into_iter().collect();
    // The transformer of all other labels: a label that is in several places changes in all.
    let stage = LabelTransformer::new(labels, FieldSpecs::new(arena, specs), Pos::NONE);
    let mut set = stage.editor(arena);
    map.edit_content(|resource| {
        if let Some(labels) = resource.node().get("metadata").and_then(|m| m.get("labels"))
            && labels.as_mapping().is_none()
            && !labels.is_null()
        {
            let message = format!("wrong node kind: the labels of {} are {}", resource.id(), labels.shape());
            let error = Error::new(Code::WrongType, message).at(labels.pos());
            return Err(error.hint("write labels as lines of 'name: value'"));
        }
        set(resource)
    })
}

/// Takes quotes and types off the keys.
fn untype_keys(map: &mut Mapping<'_>) {
    let entries = map.take_entries().into_iter();
    let plain = entries.map(Entry::into_parts).map(|(key, value)| Entry::new(Key::made(key.text(), key.pos()), value));
    map.set_entries(plain.collect());
    map.set_braces(false);
}

/// Drops resources that exist for the build alone, refuses annotations that are not a map, and
/// removes annotations that are not for the output.
fn take_build_annotations_off<'a>(arena: Arena<'a>, map: &mut ResMap<'a>) -> Result<()> {
    let compat = arena.compat();
    map.edit_each(arena, Changes::Content, |_| {
        move |resource: &mut Resource<'a>| {
            resource.check_annotations()?;
            if is_local_config(resource) {
                resource.clear();
            } else {
                origin::adopt(resource);
                strip_build_annotations(compat, resource);
            }
            Ok(())
        }
    })?;
    map.drop_empty();
    Ok(())
}

/// Removes the annotations that are not for the output. The rest becomes a map of strings with
/// untyped keys, as upstream rebuilds it; an empty map is removed, and missing metadata is made.
fn strip_build_annotations(compat: Compat, resource: &mut Resource<'_>) {
    let metadata = resource.node().get("metadata");
    let has_annotations = metadata.is_some_and(|m| m.as_mapping().is_some_and(|m| m.contains("annotations")));
    if metadata.is_some() && !has_annotations {
        return;
    }
    let Some(metadata) = resource.metadata_mut() else {
        return;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Node::as_mapping_mut) {
        let is_kept =
            |key: &str| !is_build_annotation(key) || key == HELM_GENERATED && !compat.leaves_namespaces_to_charts();
        annotations.retain(|key, _| is_kept(key.text()));
        untype_keys(annotations);
    }
    crate::resource::stringify(metadata, "annotations");
}
