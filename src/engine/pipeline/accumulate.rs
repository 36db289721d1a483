//! Resources and components: the parts of a kustomization; [`root`] accumulates one kustomization
//! root, recursively.
//!
//! *Fields*: `resources`, `bases`, `components`.
//! *Reads*: files of resources, directories with kustomizations, URLs of files, and references to
//! git repositories, in order. A component gets everything that was accumulated so far, works on
//! it, and gives it back.
//! *Order*: resources, generators, components, transformers of the fields, `transformers`,
//! `validators`; then the layer is part of the one above.
//! *Cost*: O(size of the files). Git repositories are fetched side by side, ahead of their use, and
//! many files of one root are read on all cores.
//! *Quirks*: a base that two layers share is built twice, and its resources collide unless names
//! differ. A document whose kind ends in `List` is replaced by its items, and an empty one is
//! skipped (cases patch-list-kind-file and doc-empty-maps-in-metadata).
//! *Example*: `testdata/reference/accumulate.txtar`

use super::absorb::absorb;
use super::origin::{Origin, note_generated, note_origin, note_transformation};
use super::phase::Phase;
use super::plan::PlannedGenerator;
use super::validate::{Contents, adopt_labels};
use super::{Target, builtin, crds, openapi, plan, shared};
use crate::config::kustomization::{COMPONENT_API_VERSION, EMPTY_COMPONENT};
use crate::config::var::Var;
use crate::config::{Decode, Decoder, TransformerConfig, Written};
use crate::diag::{Code, Diagnostic, Error, Result};
use crate::generator::helm_charts::Charts;
use crate::generator::place_values;
use crate::lint::for_kinds;
use crate::load::kustomization_file::FILE_NAMES;
use crate::load::{PATTERN, RepoSpec, Root, is_url};
use crate::resource::{RESOURCE, ResMap, Resource};
use crate::schema::Document;
use crate::stage::history::StepRole;
use crate::stage::trace::{Step, trace_read, traced, traced_generator, traced_layer};
use crate::stage::{
    Accumulator, BoxedGenerator, Build, Generator, Given, KindField, Mode, PluginEntry, Running, Stage, documents,
    transform_each,
};
use crate::transformer::ref_var;
use rustomize_base::memory;
use rustomize_base::shell::quoted;
use rustomize_yaml::{Arena, Pos, Source, first_document};
use std::sync::Arc;

/// The result of accumulating the root of a build.
///
/// # Errors
/// The first fault of any step, with the chain of entries that led to it.
pub(super) fn root<'a>(build: &mut Build<'a>, target: &Target<'a>) -> Result<Accumulator<'a>> {
    shared::of_root(build, target).map_or_else(|| alone(build, target), Ok)
}

/// The result of accumulating a root that begins with nothing.
fn alone<'a>(build: &mut Build<'a>, target: &Target<'a>) -> Result<Accumulator<'a>> {
    let mut all = Accumulator::default();
    on_stack(&target.root, || accumulate(build, target, &mut all))?;
    Ok(all)
}

/// Accumulates a root into `all`: its resources and bases, what its generators make, its
/// components; then its transformers work on all resources.
fn accumulate<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    traced_layer(build, &target.file, target.kustomization.is_component(), |build| {
        resources(build, target, all)?;
        configurations(build, target, all)?;
        generators(build, target, all)?;
        components(build, target, all)?;
        // All resources of this root are there after this point.
        transformers(build, target, all)?;
        validators(build, target, &mut all.map)?;
        vars(build, target, all)
    })
}

fn resources<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    let k = &target.kustomization;
    build.cx.files.prefetch(&target.root, k.resources.iter().chain(&k.components).map(|entry| entry.text));
    let paths: Vec<&str> = k.resources.iter().map(|entry| entry.text).collect();
    let read_resources = |arena, source| resources_in(arena, source).ok();
    let mut ahead = build.cx.files.ahead(&target.root, &paths, read_resources).into_iter();
    let mut phase = Phase::default();
    for entry in &k.resources {
        let in_entry = |e: Error| {
            let text = format!("accumulating resources from '{entry}' of {}", target.file);
            e.through(entry.pos, text).advised(|fault| advice_for_entry(fault, entry))
        };
        let loaded = match ahead.next().flatten() {
            Some((place, resources)) => {
                build.cx.files.note_local(&target.root, &place);
                scoped(build, resources).map(Entry::File)
            }
            None if !phase.reads(entry) => continue,
            None => load(build, &target.root, entry, Directories::Relative),
        };
        let added = loaded.and_then(|loaded| match loaded {
            Entry::File(found) if phase.is_sound() => add_file(build, target, all, entry, found),
            Entry::File(_) => Ok(()),
            Entry::Root(root) => {
                let base = load_base(build, target, entry, root)?;
                if phase.is_sound() { add_base(build, target, all, entry, &base) } else { Ok(()) }
            }
        });
        phase.note(added.map_err(in_entry));
    }
    phase.end(())
}

/// Adds the resources of a file that an entry names.
fn add_file<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    all: &mut Accumulator<'a>,
    entry: &Written<'a>,
    mut found: Vec<Resource<'a>>,
) -> Result<()> {
    note_origin(build, &mut found, &Origin::file(&target.root, entry))?;
    let step = Step { name: "resources", entry: entry.pos, role: StepRole::Read };
    trace_read(build, &mut found, step);
    memory::made(found.len() * RESOURCE);
    build.arena.check()?;
    all.map.append_all(build.arena, found.into_iter().collect())
}

/// Reads the kustomization of a base that an entry names.
fn load_base<'a>(build: &mut Build<'a>, target: &Target<'a>, entry: &Written<'a>, root: Root) -> Result<Target<'a>> {
    let is_component = |fault: &Diagnostic| fault.message() == EMPTY_COMPONENT;
    let listed = "list it under 'components', and add a field besides 'kind', such as 'patches'";
    let base = Target::load_below(build, root, target)
        .map_err(|e| e.advised(|fault| is_component(fault).then(|| listed.to_owned())))?;
    if base.kustomization.is_component() {
        let message = format!("expected kind != 'Component' for path '{entry}'");
        return Err(base.error("kind", message).with_code(Code::WrongKind).hint("list it under 'components'"));
    }
    Ok(base)
}

/// Adds the resources, field specs and vars that a base accumulates.
fn add_base<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    all: &mut Accumulator<'a>,
    entry: &Written<'a>,
    base: &Target<'a>,
) -> Result<()> {
    openapi::set(build, base)?;
    build.trace_entry(entry.pos);
    let below = shared::of_base(build, base, &target.root, alone)?;
    // A base of several layers is the same text each time, and other resources.
    memory::made(below.map.len() * RESOURCE);
    build.arena.check()?;
    all.map.append_all(build.arena, below.map)?;
    if let Some(config) = below.config {
        merge_config(all, config)?;
    }
    below.vars.into_values().try_for_each(|var| add_var(build, all, var))
}

/// Advice for an entry of `resources` that names a kustomization file, or is a pattern.
fn advice_for_entry(fault: &Diagnostic, entry: &str) -> Option<String> {
    let (directory, name) = entry.rsplit_once('/').unwrap_or((".", entry));
    if FILE_NAMES.contains(&name) {
        return Some(format!("name the directory of a kustomization, not its file: '{directory}'"));
    }
    let is_pattern = fault.hints().iter().any(|hint| hint == PATTERN);
    is_pattern.then(|| {
        format!("patterns are not expanded; put the files in its place: rustomize edit add resource {}", quoted(entry))
    })
}

/// At most this many layers upon each other fit into [`STACK_OF_LAYERS`].
const LAYERS: usize = 16;

/// The bytes that a stack must have left. A debug build takes ten times as much as a release build.
const STACK_OF_LAYERS: usize = 1 << 20;

/// The size of another one, in bytes.
const MORE_STACK: usize = 16 << 20;

/// Does the work on a layer, on another stack if the layers above have used this one up.
pub fn on_stack<T>(root: &Root, work: impl FnOnce() -> T) -> T {
    if root.depth().is_multiple_of(LAYERS) { stacker::maybe_grow(STACK_OF_LAYERS, MORE_STACK, work) } else { work() }
}

/// The thing that an entry of `resources` names.
pub(super) enum Entry<'a> {
    File(Vec<Resource<'a>>),
    Root(Root),
}

/// The paths by which an entry may name a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directories {
    Relative,
    /// Relative and absolute paths, as in lists of configuration objects.
    Any,
}

/// Loads the thing that an entry names: a file with resources, else a repository or directory with
/// a kustomization.
pub(super) fn load<'a>(build: &mut Build<'a>, root: &Root, entry: &str, directories: Directories) -> Result<Entry<'a>> {
    let allow_absolute = directories == Directories::Any;
    let is_remote = RepoSpec::parse(entry).is_some();
    let as_file = match build.cx.files.text(root, entry) {
        Ok(source) => match read(build, source) {
            Ok(resources) => return Ok(Entry::File(resources)),
            // A server that has a page for everything may have a repository too.
            Err(e) if is_remote && is_url(entry) => e,
            Err(e) => return Err(e),
        },
        Err(e) if !e.missing && !entry.is_empty() => return Err(e.error),
        Err(e) => e.error,
    };
    match build.cx.files.base(root, entry, allow_absolute) {
        Ok(base) => Ok(Entry::Root(base)),
        Err(e) if is_remote && is_url(entry) => Err(e.context(format!("as a file: {}", as_file.message()))),
        Err(e) => Err(e),
    }
}

fn read<'a>(build: &mut Build<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    let resources = resources_in(build.arena, source)?;
    scoped(build, resources)
}

fn resources_in<'a>(arena: Arena<'a>, source: &'a Source) -> Result<documents::Resources<'a>> {
    documents::resources_in(arena, source, Error::from)
}

/// The resources of a file, which know their scope now.
fn scoped<'a>(build: &mut Build<'a>, resources: documents::Resources<'a>) -> Result<Vec<Resource<'a>>> {
    let documents::Resources { mut all, annotations } = resources;
    build.schema.note_scope(build.arena, &mut all)?;
    if build.cx.options.crd_merge_keys {
        let definitions = all.iter().filter(|resource| resource.id().gvk.kind == "CustomResourceDefinition");
        definitions.for_each(|definition| build.schema.learn_keys(Document::Crd(definition.node().clone())));
    }
    annotations.map(|()| all)
}

/// Adds a configuration to the present one. Most roots have just the defaults: those are shared,
/// not merged.
fn merge_config<'a>(all: &mut Accumulator<'a>, config: Arc<TransformerConfig<'a>>) -> Result<()> {
    match &mut all.config {
        Some(have) if Arc::ptr_eq(have, &config) => Ok(()),
        Some(have) => Arc::make_mut(have).merge((*config).clone()),
        None => {
            all.config = Some(config);
            Ok(())
        }
    }
}

fn configurations<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    if target.kustomization.configurations.is_empty() && target.kustomization.crds.is_empty() {
        return merge_config(all, Arc::clone(build.default_config()));
    }
    let mut own = (**build.default_config()).clone();
    let mut phase = Phase::default();
    for path in &target.kustomization.configurations {
        if phase.reads(path) {
            let in_file =
                |e: Error| e.through(path.pos, format!("in configurations entry '{path}' of {}", target.file));
            phase.note(configuration(build, target, *path, &mut own).map_err(in_file));
        }
    }
    let merging = |e: Error| e.context(format!("merging the crds of {}", target.file));
    if let Some(of_crds) = crds::config(build, target, &mut phase) {
        phase.note(own.merge(of_crds).map_err(merging));
    }
    phase.end(())?;
    // Merged item by item, also into nothing: a specific spec stands before a general default and
    // takes its place.
    let merging = |e: Error| e.context(format!("merging the configurations of {}", target.file));
    let into = all.config.get_or_insert_default();
    Arc::make_mut(into).merge(own).map_err(merging)
}

/// Merges the configuration in a file.
fn configuration<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    path: Written<'a>,
    into: &mut TransformerConfig<'a>,
) -> Result<()> {
    let source = build.cx.files.text(&target.root, &path)?;
    let Some(node) = first_document(build.arena, source)? else { return Ok(()) };
    build.note_for_kinds(path, KindField::Configurations, || for_kinds::in_configuration(&node));
    build.find(|| for_kinds::dotted_paths(&node));
    let mut config = TransformerConfig::default();
    config.decode(&node, &Decoder::of_configuration(build.arena))?;
    into.merge(config)
}

fn generators<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    let charts = Charts::default();
    let planned = plan::generators(build, target, &charts).map_err(|e| e.context(format!("in {}", target.file)))?;
    // A broken entry fails before any generator of this root has run.
    let mut configured: Vec<ConfiguredGenerator<'_, 'a>> = Vec::new();
    for config in plugin_configs(build, target, &target.kustomization.generators, "generators")? {
        let name = format!("running the generator {} of {}", config.id(), target.file);
        let origin = Origin::plugin(target, &config);
        let (stage, role): (BoxedGenerator<'_, 'a>, _) = match builtin::is_builtin(&config) {
            true => {
                let in_config = |e: Error| e.through(config.pos(), name.clone());
                (builtin::generator(build, target, &config, &charts).map_err(in_config)?, StepRole::Generate)
            }
            false => {
                let entry = PluginEntry { root: &target.root, config: &config, mode: Mode::Generate };
                let plugin = build.plugin(entry);
                let plugin = plugin.map_err(|e| builtin::advised(e, &config).context(name.clone()))?;
                (plugin, StepRole::PluginGenerate)
            }
        };
        configured.push(ConfiguredGenerator { stage, pos: config.pos(), entry: GeneratorEntry { name, origin, role } });
    }
    let mut phase = Phase::default();
    let mut of_field: Option<GeneratorEntry> = None;
    all.map.reserve(planned.size_hint().0);
    for (PlannedGenerator { stage, kind, pos }, made) in planned.zip(plan::made_ahead(build.arena, target)) {
        // Entries of one field differ in their places alone.
        let entry = match of_field.take().filter(|last| last.origin.tool() == kind) {
            Some(same) => same,
            None => GeneratorEntry {
                name: format!("generating for {}", target.file),
                origin: Origin::builtin(target, kind),
                role: StepRole::Generate,
            },
        };
        generate(build, &mut all.map, GeneratorRun { stage: &*stage, made, pos, entry: &entry }, &mut phase);
        of_field = Some(entry);
    }
    for ConfiguredGenerator { stage, pos, entry } in configured {
        generate(build, &mut all.map, GeneratorRun { stage: &*stage, made: None, pos, entry: &entry }, &mut phase);
    }
    phase.end(())
}

/// A generator of a configuration object.
struct ConfiguredGenerator<'t, 'a> {
    stage: BoxedGenerator<'t, 'a>,
    pos: Pos,
    entry: GeneratorEntry,
}

/// The names of a generator: one for messages, one for the origin of the resources that it makes.
struct GeneratorEntry {
    name: String,
    origin: Origin,
    role: StepRole,
}

/// One run of a generator.
struct GeneratorRun<'g, 'a> {
    stage: &'g dyn Generator<'a>,
    /// The resources, if they were made ahead.
    made: Option<Result<Vec<Resource<'a>>>>,
    /// The place of the entry that asks for the generator.
    pos: Pos,
    entry: &'g GeneratorEntry,
}

/// Runs a generator, and adds the resources that it makes.
fn generate<'a>(build: &mut Build<'a>, map: &mut ResMap<'a>, run: GeneratorRun<'_, 'a>, phase: &mut Phase) {
    let GeneratorRun { stage, made, pos, entry } = run;
    let in_stage = |e: Error| e.through(pos, entry.name.clone());
    let make = |build: &mut Build<'a>| made.unwrap_or_else(|| stage.generate(build)).map_err(in_stage);
    if !phase.is_sound() {
        if stage.only_reads_files() {
            phase.note(make(build));
        }
        return;
    }
    let step = Step { name: entry.origin.tool(), entry: pos, role: entry.role };
    let absorbed = traced_generator(build, map, step, |build, map| {
        let mut generated = make(build)?;
        if build.trace.is_some() {
            generated.iter_mut().for_each(place_values);
        }
        note_generated(build, &mut generated, &entry.origin)?;
        let add = |resource| {
            let place = absorb(build, map, resource)?;
            build.note_generated(map.get(place));
            Ok(place)
        };
        generated.into_iter().map(add).collect::<Result<_>>().map_err(in_stage)
    });
    phase.note(absorbed);
}

fn components<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    let mut phase = Phase::default();
    for entry in target.kustomization.components.iter() {
        if !phase.reads(entry) {
            continue;
        }
        let in_entry =
            |e: Error| e.through(entry.pos, format!("accumulating components from '{entry}' of {}", target.file));
        let added = load_component(build, target, entry).and_then(|component| {
            // After a fault the resources are unknown on which the component would work.
            if phase.is_sound() { add_component(build, entry, &component, all) } else { Ok(()) }
        });
        phase.note(added.map_err(in_entry));
    }
    phase.end(())
}

/// Reads the kustomization of a component that an entry names.
fn load_component<'a>(build: &mut Build<'a>, target: &Target<'a>, entry: &Written<'a>) -> Result<Target<'a>> {
    let root = build.cx.files.base(&target.root, entry, false)?;
    let component = Target::load_below(build, root, target)?;
    if !component.kustomization.is_component() {
        let message = format!("expected kind 'Component' for path '{entry}' but got 'Kustomization'");
        let (kustomization, file) = (&component.kustomization, &component.file);
        let says_so = kustomization.place_of("kind").is_in_source();
        let hint = match says_so || !kustomization.resources.is_empty() {
            true => "list it under 'resources'".to_owned(),
            false => format!(
                "write 'kind: Component' and 'apiVersion: {COMPONENT_API_VERSION}' into {file}, or list it under 'resources'"
            ),
        };
        return Err(component.error("kind", message).with_code(Code::WrongKind).hint(hint));
    }
    Ok(component)
}

/// Lets a component work on the resources so far.
fn add_component<'a>(
    build: &mut Build<'a>,
    entry: &Written<'a>,
    component: &Target<'a>,
    all: &mut Accumulator<'a>,
) -> Result<()> {
    openapi::set(build, component)?;
    build.trace_entry(entry.pos);
    let count = build.finding_count();
    on_stack(&component.root, || accumulate(build, component, all))?;
    build.drop_without_effect(count);
    all.map.check_unique(build.arena)
}

/// A stage that an entry asks for.
struct Asked<'a> {
    stage: Stage<'a>,
    /// Its name in errors.
    name: String,
    /// The entry that asks for it.
    pos: Pos,
    /// Its name in annotations, and the number of plugins with that name.
    origin: Origin,
    instances: usize,
    role: StepRole,
}

impl<'a> Asked<'a> {
    /// How it runs if it looks at one resource at a time.
    fn running(&self) -> Option<Running<'_, 'a>> {
        match &self.stage {
            Stage::Each(stage) => Some(Running { stage: &**stage, name: &self.name, pos: self.pos }),
            Stage::Whole(_) => None,
        }
    }
}

fn transformers<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    let mut stages: Vec<Asked<'a>> = Vec::new();
    let config = all.config.clone().unwrap_or_else(|| Arc::clone(build.default_config()));
    let configurations = target.kustomization.place_of("configurations");
    let in_file = |e: Error| e.through(configurations, format!("in {}", target.file));
    for planned in plan::transformers(build, target, &config).map_err(in_file)? {
        stages.push(Asked {
            stage: planned.stage,
            name: format!("transforming in {}", target.file),
            pos: planned.pos,
            origin: Origin::builtin(target, planned.kind),
            instances: planned.instances,
            role: StepRole::Transform,
        });
    }
    // Post-processors of plugins, in the order in which they are listed.
    let mut last: Vec<Asked<'a>> = Vec::new();
    for config in plugin_configs(build, target, &target.kustomization.transformers, "transformers")? {
        let name = format!("running the transformer {} of {}", config.id(), target.file);
        let in_config = |e: Error| e.through(config.pos(), name.clone());
        let origin = Origin::plugin(target, &config);
        let entry = PluginEntry { root: &target.root, config: &config, mode: Mode::Transform };
        let is_builtin = builtin::is_builtin(&config);
        let role = if is_builtin { StepRole::Transform } else { StepRole::PluginTransform };
        let (loaded, runs_last): (Vec<Stage<'a>>, bool) = match is_builtin {
            true => (builtin::transformers(build, target, &config).map_err(in_config)?, false),
            false => {
                let plugin = build.plugin(entry).map_err(|e| in_config(builtin::advised(e, &config)))?;
                let runs_last = plugin.runs_last();
                (vec![Stage::Whole(plugin)], runs_last)
            }
        };
        let final_part = loaded.len() - 1;
        let into = if runs_last { &mut last } else { &mut stages };
        for (i, stage) in loaded.into_iter().enumerate() {
            let instances = usize::from(i == final_part);
            let (name, origin) = (name.clone(), origin.clone());
            into.push(Asked { stage, name, pos: config.pos(), origin, instances, role });
        }
    }
    stages.append(&mut last);
    run(build, &stages, &mut all.map)
}

/// Runs transformers in order; neighbours that look at one resource at a time share a pass, unless
/// each of them is traced.
fn run<'a>(build: &mut Build<'a>, stages: &[Asked<'a>], map: &mut ResMap<'a>) -> Result<()> {
    let is_traced = build.trace.is_some();
    for group in stages.chunk_by(|a, b| !is_traced && a.running().is_some() && b.running().is_some()) {
        let is_observed = build.cx.options.observer.is_on() && group.len() > 1;
        let names = is_observed.then(|| group.iter().map(|asked| asked.origin.tool()).collect::<Vec<_>>().join(", "));
        let name = names.as_deref().unwrap_or(group[0].origin.tool());
        let step = Step { name, entry: group[0].pos, role: group[0].role };
        traced(build, map, step, |build, map| transform(build, group, map))?;
        if build.keeps_origins() {
            for stage in group {
                note_transformation(build, map, &stage.origin, stage.instances)?;
            }
        }
    }
    Ok(())
}

/// Runs neighbours: one, or several that look at one resource at a time.
fn transform<'a>(build: &mut Build<'a>, group: &[Asked<'a>], map: &mut ResMap<'a>) -> Result<()> {
    let each: Vec<_> = group.iter().filter_map(Asked::running).collect();
    if !each.is_empty() {
        return transform_each(&each, map, build);
    }
    let in_stage = |asked: &Asked<'_>, e: Error| e.through(asked.pos, &asked.name);
    group.iter().try_for_each(|asked| asked.stage.transform(map, build).map_err(|e| in_stage(asked, e)))
}

/// Runs the checks: they see all resources, and may change nothing but a label that says that they
/// were here.
fn validators<'a>(build: &mut Build<'a>, target: &Target<'a>, map: &mut ResMap<'a>) -> Result<()> {
    let mut given = Given::default();
    for config in plugin_configs(build, target, &target.kustomization.validators, "validators")? {
        let name = format!("running the validator {} of {}", config.id(), target.file);
        let in_validator = |e: Error| e.through(config.pos(), name.clone());
        let step = |role| Step { name: config.id().gvk.kind, entry: config.pos(), role };
        if builtin::is_builtin(&config) {
            let before = Contents::of(map);
            for transformer in builtin::transformers(build, target, &config).map_err(in_validator)? {
                traced(build, map, step(StepRole::Validate), |build, map| transformer.transform(map, build))
                    .map_err(in_validator)?;
            }
            before.check_all(map.iter()).map_err(in_validator)?;
            given = Given::default();
        } else {
            let plugin = build
                .plugin(PluginEntry { root: &target.root, config: &config, mode: Mode::Validate })
                .map_err(in_validator)?;
            let is_labelled = traced(build, map, step(StepRole::PluginValidate), |build, map| {
                plugin.check(map, &mut given, build)?.map_or(Ok(false), |printed| adopt_labels(map, &*plugin, &printed))
            });
            if is_labelled.map_err(in_validator)? {
                given = Given::default();
            }
        }
    }
    Ok(())
}

/// The last step of a root: its vars are bound to the resources that have their values now.
fn vars<'a>(build: &mut Build<'a>, target: &Target<'a>, all: &mut Accumulator<'a>) -> Result<()> {
    for var in &target.kustomization.vars {
        let in_file = |e: Error| e.through(var.pos, format!("in 'vars' of {}", target.file));
        ref_var::attach(&mut all.map, var).map_err(in_file)?;
        add_var(build, all, var.clone()).map_err(in_file)?;
    }
    Ok(())
}

fn add_var<'a>(build: &mut Build<'a>, all: &mut Accumulator<'a>, var: Var<'a>) -> Result<()> {
    let arena = build.arena;
    if let Some(first) = all.vars.get(var.name) {
        let error = Error::new(Code::DuplicateId, format!("var '{}' already encountered", var.name)).at(var.pos);
        return Err(match arena.place(first.pos) {
            Some(place) => error.hint(format!("the first one is at {place}")),
            None => error,
        });
    }
    all.vars.insert(var.name, var);
    Ok(())
}

/// The plugin configuration objects that the entries of a field give: all inline ones first, then
/// those of paths.
pub(super) fn plugin_configs<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    entries: &[Written<'a>],
    field: &str,
) -> Result<Vec<Resource<'a>>> {
    let arena = build.arena;
    let mut configs = ResMap::new();
    let noted = build.for_kinds.len();
    let in_entry = |entry: &Written<'_>, e: Error| {
        let shown = if entry.contains('\n') { "an inline object" } else { entry };
        e.through(entry.pos, format!("loading the entry '{shown}' of '{field}' of {}", target.file))
    };
    let mut phase = Phase::default();
    let mut paths = Vec::new();
    for entry in entries {
        let source = arena.add_inline(format!("inline object in '{field}' of {}", target.file), entry, entry.pos, 0);
        match read(build, source) {
            Ok(inline) => {
                for config in inline {
                    phase.note(configs.append(arena, config).map_err(|e| in_entry(entry, e)));
                }
            }
            // A text of several lines cannot be a path: its own fault says more than a missing file
            // would.
            Err(e) if entry.contains('\n') => {
                phase.note::<()>(Err(in_entry(entry, e)));
            }
            Err(_) => paths.push(entry),
        }
    }
    for entry in paths {
        if !phase.reads(entry) {
            continue;
        }
        let found = load(build, &target.root, entry, Directories::Any).and_then(|loaded| match loaded {
            Entry::File(mut found) => {
                note_origin(build, &mut found, &Origin::file(&target.root, entry))?;
                Ok(found.into_iter().collect())
            }
            Entry::Root(root) => {
                let target = Target::load_below(build, root, target)?;
                openapi::set(build, &target)?;
                if phase.is_sound() { Ok(alone(build, &target)?.map) } else { Ok(ResMap::new()) }
            }
        });
        let added = found.and_then(|found| configs.append_all(arena, found));
        phase.note(added.map_err(|e| in_entry(entry, e)));
    }
    // Configurations of these roots are for configuration objects, which are not in the result.
    build.for_kinds.truncate(noted);
    phase.end(configs.into_resources())
}
