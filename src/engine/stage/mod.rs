//! The values that a build hands to its stages, and the interface of a stage.
//!
//! * [`Context`]: the input of a build, which it does not change: texts, files, options.
//! * [`Premises`]: the facts that decide a build and are read before it begins.
//! * [`Build`]: the state of one build, which each stage gets and may change.
//! * [`Generator`], [`Stage`]: the stages. Built-in ones are in
//!   [`crate::generator`] and [`crate::transformer`]; the [`Plugins`] of a build bring the others.
//! * [`Fields`], [`Object`]: the two ways to configure a built-in stage; [`Planned`]: a transformer
//!   that a field asks for.
//! * [`Hit`]: whether an entry has found something to work on; [`Overridden`]: values of patches
//!   that a later stage replaces.
//! * [`ForKinds`]: files that are for some kinds of resources.
//! * [`layers`]: layers that several builds share.
//! * [`documents`]: documents to resources; [`wire`]: resources to the bytes that plugins get, and
//!   back; [`mod@format`]: the same in YAML or JSON, as an exec plugin says; [`schema`]: the schema
//!   of a build; [`trace`]: which step wrote which field; [`compare`]: the differences that a step
//!   makes; [`history`]: the trace of a build that is done.

mod build_metadata;
pub mod compare;
mod configured;
pub mod documents;
mod for_kinds;
pub mod format;
mod helm;
pub mod history;
pub mod layers;
mod hits;
mod of_kind;
mod overridden;
mod plugins;
pub mod schema;
pub mod trace;
mod uses;
pub mod wire;

pub use build_metadata::BuildMetadata;
pub use configured::{Fields, Object, Planned, Specs};
pub use documents::{documents_to_resources, resources_in, scoped_resources_in};
pub use for_kinds::{ForKinds, KindField, NamedKind, UsedEntries};
pub use helm::{ChartEntry, Helm, NoHelm};
pub use hits::Hit;
pub use layers::{Accumulator, Layers};
pub use of_kind::OfKind;
pub use overridden::{Overridden, Overriding, PatchPart, PatchTexts, Watched};
pub use plugins::{Given, Mode, NoPlugins, Plugin, PluginEntry, Plugins, disabled};
pub use uses::{NameCopy, Uses};

use crate::config::{TransformerConfig, Written};
use crate::diag::{Code, Error, Result, Warning};
use crate::load::{Common, FileLimit, Files, Loader, NoRemotes, Remotes, Restrictor};
use crate::resource::{Changes, Order, ResMap, Resource};
use crate::schema::Document;
use rustomize_base::compat::Compat;
use rustomize_base::observe::Observer;
use rustomize_yaml::{Arena, Heap, Pos};
use schema::BuildSchema;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use trace::Trace;

/// Gives the time since some moment.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The options of a build, beside its directory.
#[derive(Clone)]
pub struct Options {
    /// The version of kustomize whose bytes the build prints.
    pub compat: Compat,
    /// The external plugins. There are none by default.
    pub plugins: Arc<dyn Plugins>,
    pub restrictor: Restrictor,
    /// How large the files may be that are read.
    pub file_limit: FileLimit,
    /// How many bytes the steps may make, as texts, copies and output; `None` for 4 GiB, or a
    /// quarter of the memory that the system gives, if that is less.
    pub build_limit: Option<u64>,
    /// The order of the output, unless the kustomization says one.
    pub order: Option<Order>,
    /// Sets the label `app.kubernetes.io/managed-by` on everything.
    pub managed_by_label: bool,
    /// True if and how helm runs.
    pub helm: HelmOptions,
    /// The source of remote files and repositories; none by default.
    pub remote: Arc<dyn Remotes>,
    /// True if builds note which step wrote which field: see [`trace`].
    pub trace: bool,
    /// Returns the time since some moment, for the times of the steps of a trace. A build reads no
    /// other clock for them.
    pub clock: Option<Clock>,
    /// Notes the work of builds, for progress and times.
    pub observer: Observer,
    /// True if builds look for entries without effect and for likely mistakes: see [`Build::find`].
    pub lint: bool,
    /// Gets the entries of `configurations`, `crds` and `openapi` whose files have an effect, from
    /// builds that look for findings.
    pub used_entries: UsedEntries,
    /// Codes of findings to look for that are off by default: see [`Code::OFF_BY_DEFAULT`].
    pub lint_also: Vec<Code>,
    /// Files with schemas of kinds that Kubernetes does not have, read from the machine of
    /// [`Options::remote`]. The first schema of a kind counts.
    pub schemas: Vec<PathBuf>,
    /// True to merge lists of custom kinds by the keys that CustomResourceDefinitions in the tree
    /// name: an extension.
    pub crd_merge_keys: bool,
    /// True if a schema of `openapi` adds to the built-in ones from the start, as in programs that
    /// have kustomize read these before a build. Otherwise it takes their place, unless the build
    /// has used them before.
    pub openapi_adds: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            compat: Compat::default(),
            plugins: Arc::new(NoPlugins),
            restrictor: Restrictor::default(),
            file_limit: FileLimit::default(),
            build_limit: None,
            order: None,
            managed_by_label: false,
            helm: HelmOptions::default(),
            remote: Arc::new(NoRemotes::new()),
            trace: false,
            clock: None,
            observer: Observer::default(),
            lint: false,
            used_entries: UsedEntries::default(),
            lint_also: Vec::new(),
            schemas: Vec::new(),
            crd_merge_keys: false,
            openapi_adds: false,
        }
    }
}

/// True if and how helm runs.
#[derive(Clone)]
pub struct HelmOptions {
    pub enabled: bool,
    /// A path, or a name to look for in PATH.
    pub command: String,
    /// The items of `.Capabilities.APIVersions`, for charts that do not name any.
    pub api_versions: Vec<String>,
    /// The value of `.Capabilities.KubeVersion`, for charts that do not name one.
    pub kube_version: String,
    pub debug: bool,
    /// The runner of helm; none by default.
    pub program: Arc<dyn Helm>,
}

impl Default for HelmOptions {
    fn default() -> Self {
        HelmOptions {
            enabled: false,
            command: "helm".to_owned(),
            api_versions: Vec::new(),
            kube_version: String::new(),
            debug: false,
            program: Arc::new(NoHelm),
        }
    }
}

/// The input of builds. No build changes it.
pub struct Context<'a> {
    /// The texts of all that is built.
    pub arena: Arena<'a>,
    /// The files that may be read.
    pub files: Files<'a>,
    pub options: Options,
    /// The layers that it shares with other builds; `None` in a build on its own.
    pub layers: Option<Arc<Layers<'a>>>,
}

impl<'a> Context<'a> {
    /// The input of a build whose texts live in `heap`.
    pub fn new(heap: &'a Heap, loader: &'a dyn Loader, options: Options) -> Rc<Self> {
        let arena = heap.arena_of_build(options.compat, options.build_limit);
        let common = Arc::new(Common::new(&options.remote, options.observer.clone()));
        let files = Files::new(arena, loader, options.restrictor, options.file_limit, common);
        Rc::new(Context { arena, files, options, layers: None })
    }

    /// The input of a build that shares files and layers with others.
    pub fn sharing(
        heap: &'a Heap,
        loader: &'a dyn Loader,
        options: Options,
        common: Arc<Common<'a>>,
        layers: Arc<Layers<'a>>,
    ) -> Rc<Self> {
        let arena = heap.arena_of_build(options.compat, options.build_limit);
        let files = Files::new(arena, loader, options.restrictor, options.file_limit, common);
        Rc::new(Context { arena, files, options, layers: Some(layers) })
    }
}

/// The facts that decide a build. They are read before it begins, and do not change.
#[derive(Default)]
pub struct Premises<'a> {
    /// The notes that the root asks for.
    pub metadata: BuildMetadata,
    /// The schemas of the environment.
    pub schemas: Vec<Document<'a>>,
    /// The transformer configuration that every root begins with, if the schemas add to the usual
    /// one.
    pub default_config: Option<Arc<TransformerConfig<'a>>>,
}

/// The reason for a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The result of its own root.
    Root,
    /// A layer that several builds share.
    Layer,
}

/// The state of one build, from its first file to its result. The next build begins with a new one.
pub struct Build<'a> {
    pub cx: Rc<Context<'a>>,
    pub arena: Arena<'a>,
    /// The known facts about kinds.
    pub schema: BuildSchema<'a>,
    default_config: Arc<TransformerConfig<'a>>,
    metadata: BuildMetadata,
    purpose: Purpose,
    /// The API versions for charts that name none.
    pub helm_api_versions: Vec<String>,
    /// The writes of its steps, if a trace is asked for.
    pub trace: Option<Trace<'a>>,
    /// Warnings for the user, in order.
    pub warnings: Vec<Warning>,
    /// The findings so far, if they are asked for.
    pub findings: Option<Vec<Warning>>,
    /// Files that are for some kinds of resources, if findings are asked for.
    pub for_kinds: Vec<ForKinds<'a>>,
    /// The findings about resources that may still get another kind.
    pub of_kind: Vec<OfKind<'a>>,
    /// Generated objects and sources, if findings are asked for.
    pub uses: Uses,
}

impl<'a> Build<'a> {
    /// A build with the usual premises.
    pub fn new(cx: &Rc<Context<'a>>) -> Self {
        Build::with(cx, Premises::default())
    }

    /// A build of a layer that several builds share.
    pub fn of_layer(cx: &Rc<Context<'a>>) -> Self {
        Build { purpose: Purpose::Layer, ..Build::new(cx) }
    }

    /// A build with these premises.
    pub fn with(cx: &Rc<Context<'a>>, premises: Premises<'a>) -> Self {
        let Premises { metadata, schemas, default_config } = premises;
        let usual = || match &cx.layers {
            Some(layers) => Arc::clone(&layers.default_config),
            None => TransformerConfig::shared_defaults(cx.options.compat),
        };
        let mut schema = BuildSchema::with(schemas);
        if cx.options.openapi_adds {
            schema.use_builtin();
        }
        Build {
            cx: Rc::clone(cx),
            arena: cx.arena,
            schema,
            default_config: default_config.unwrap_or_else(usual),
            metadata,
            purpose: Purpose::Root,
            helm_api_versions: cx.options.helm.api_versions.clone(),
            trace: cx.options.trace.then(Trace::default),
            warnings: Vec::new(),
            findings: cx.options.lint.then(Vec::new),
            for_kinds: Vec::new(),
            of_kind: Vec::new(),
            uses: Uses::default(),
        }
    }

    /// The notes that the root asks for.
    pub fn metadata(&self) -> BuildMetadata {
        self.metadata
    }

    /// Returns true if the build notes the origin of each resource.
    pub fn keeps_origins(&self) -> bool {
        self.metadata.keeps_origins
    }

    /// Returns true if this build makes a layer that several builds share.
    pub fn is_of_layer(&self) -> bool {
        self.purpose == Purpose::Layer
    }

    /// The transformer configuration that every root begins with.
    pub fn default_config(&self) -> &Arc<TransformerConfig<'a>> {
        &self.default_config
    }

    /// The external plugin for a configuration object.
    ///
    /// # Errors
    /// As [`Plugins::load`].
    pub fn plugin(&mut self, entry: PluginEntry<'_, 'a>) -> Result<Box<dyn Plugin<'a>>> {
        let cx = Rc::clone(&self.cx);
        cx.options.plugins.load(self, entry)
    }

    /// Adds findings, if they are asked for. Otherwise `look` does not run.
    pub fn find<I: IntoIterator<Item = Warning>>(&mut self, look: impl FnOnce() -> I) {
        if let Some(findings) = &mut self.findings {
            findings.extend(look());
        }
    }

    /// Notes a generated object that something should refer to, if findings are asked for.
    pub fn note_generated(&mut self, resource: &Resource<'a>) {
        if self.findings.is_none() || !resource.needs_hash || !matches!(resource.id().gvk.kind, "ConfigMap" | "Secret")
        {
            return;
        }
        let metadata = resource.node().get("metadata");
        let is_marked = |field: &str| metadata.and_then(|m| m.get(field)).is_some_and(|map| !map.is_null_or_empty());
        if !is_marked("labels") && !is_marked("annotations") {
            self.uses.generated.insert(resource.pos());
        }
    }

    /// Notes a resource whose value the build copies elsewhere, if findings are asked for.
    pub fn note_source(&mut self, resource: &Resource<'a>) {
        if self.findings.is_some() {
            self.uses.read.insert(resource.pos());
        }
    }

    /// Notes a name that the build copies, if findings are asked for. Beyond [`Uses::MOST_COPIES`]
    /// of them, further ones are not noted: each replacement may copy to each resource.
    pub fn note_copy(&mut self, copy: impl FnOnce() -> NameCopy) {
        if self.findings.is_some() && self.uses.copies.len() < Uses::MOST_COPIES {
            self.uses.copies.push(copy());
        }
    }

    /// Notes a file that an entry names, if findings are asked for. `kinds` returns `None` for a
    /// file that has an effect whatever the kinds of the resources are.
    pub fn note_for_kinds(
        &mut self,
        entry: Written<'a>,
        field: KindField,
        kinds: impl FnOnce() -> Option<Vec<NamedKind<'a>>>,
    ) {
        if self.findings.is_some() {
            self.for_kinds.extend(kinds().map(|kinds| ForKinds { entry, field, kinds }));
        }
    }

    /// How many findings there are.
    pub fn finding_count(&self) -> usize {
        self.findings.as_ref().map_or(0, Vec::len)
    }

    /// Drops the findings about entries without effect behind the first `count` findings. A
    /// component works on whatever its user has, so an entry may have an effect for another user.
    pub fn drop_without_effect(&mut self, count: usize) {
        if let Some(findings) = &mut self.findings {
            let mut rest = findings.split_off(count);
            rest.retain(|finding| finding.code() != Code::NoEffect);
            findings.append(&mut rest);
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: Code, message: impl Into<String>) {
        self.warnings.push(Warning::new(code, message));
    }
}

/// Makes resources.
pub trait Generator<'a> {
    /// The resources, in order; each with its behavior and whether its name gets a hash.
    ///
    /// # Errors
    /// An input of the generator is missing or wrong.
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>>;

    /// Returns true if the generator only reads files of this machine: it starts no program and
    /// fetches nothing.
    fn only_reads_files(&self) -> bool {
        false
    }

    /// Checks that a remote part that the generator needs can be had without the network.
    ///
    /// # Errors
    /// The part would have to be fetched, or is not in the lock.
    fn check_fetched(&self, _build: &Build<'a>) -> Result<()> {
        Ok(())
    }
}

/// A configured generator, which may borrow from its kustomization.
pub type BoxedGenerator<'t, 'a> = Box<dyn Generator<'a> + 't>;

/// Changes resources.
pub trait Transformer<'a> {
    /// Works on all resources accumulated so far.
    ///
    /// # Errors
    /// A resource lacks the shape that the transformer needs, or a file of the transformer
    /// is missing or wrong.
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()>;

    /// The stage as one that brings or replaces values of patches.
    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        None
    }
}

/// Changes one resource, on one thread.
pub type Editor<'s, 'a> = Box<dyn FnMut(&mut Resource<'a>) -> Result<()> + 's>;

/// A transformer whose work on a resource depends on that resource alone. Neighbours of this kind
/// run in one pass: a resource that has come into the processor's cache passes all of them. Many
/// resources are shared among threads.
pub trait TransformEach<'a>: Sync {
    /// The editor of resources on the thread of an arena. It fails where a resource is not as the
    /// transformer needs it.
    fn editor(&self, arena: Arena<'a>) -> Editor<'_, 'a>;

    /// Its changes of identities.
    fn changes(&self) -> Changes {
        Changes::Content
    }

    /// Checks the result as a whole.
    ///
    /// # Errors
    /// The result is not valid, as with two resources of one id.
    fn check(&self, _map: &mut ResMap<'a>, _build: &mut Build<'a>) -> Result<()> {
        Ok(())
    }

    /// The stage as one that brings or replaces values of patches.
    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        None
    }
}

/// A transformer that runs, with its name in errors and the place of the entry that asks for it.
#[derive(Clone, Copy)]
pub struct Running<'s, 'a> {
    pub stage: &'s dyn TransformEach<'a>,
    pub name: &'s str,
    pub pos: Pos,
}

impl Running<'_, '_> {
    fn fault(&self, error: Error) -> Error {
        error.through(self.pos, self.name)
    }
}

/// Runs neighbouring transformers in one pass. O(resources x transformers).
///
/// # Errors
/// A transformer fails. The error of the first resource is returned; without a place of its own it
/// gets that of the resource.
pub fn transform_each<'a>(stages: &[Running<'_, 'a>], map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
    let changes = stages.iter().map(|running| running.stage.changes()).max().unwrap_or(Changes::Content);
    map.edit_each(build.arena, changes, |arena| {
        let mut editors: Vec<_> = stages.iter().map(|running| (running, running.stage.editor(arena))).collect();
        move |resource: &mut Resource<'a>| {
            editors.iter_mut().try_for_each(|(running, edit)| {
                let edited = resource.edit(running.stage.changes(), &mut **edit);
                edited.map_err(|e| running.fault(e.at(resource.pos())))
            })
        }
    })?;
    stages.iter().try_for_each(|running| running.stage.check(map, build).map_err(|e| running.fault(e)))
}

/// A transformer, ready to run.
pub enum Stage<'a> {
    /// Looks at one resource at a time.
    Each(Box<dyn TransformEach<'a> + 'a>),
    /// Looks at all of them.
    Whole(Box<dyn Transformer<'a> + 'a>),
}

impl<'a> Stage<'a> {
    /// A stage that looks at one resource at a time.
    pub fn each(stage: impl TransformEach<'a> + 'a) -> Self {
        Stage::Each(Box::new(stage))
    }

    /// A stage that looks at all resources.
    pub fn whole(stage: impl Transformer<'a> + 'a) -> Self {
        Stage::Whole(Box::new(stage))
    }

    /// The stage as one that brings or replaces values of patches.
    pub fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        match self {
            Stage::Each(stage) => stage.overriding(),
            Stage::Whole(stage) => stage.overriding(),
        }
    }

    /// Works on all resources. The caller adds the name of the stage to its errors.
    ///
    /// # Errors
    /// The stage fails. The error of the first resource is returned; without a place of its own it
    /// gets that of the resource.
    pub fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        match self {
            Stage::Each(stage) => transform_each(&[Running { stage: &**stage, name: "", pos: Pos::NONE }], map, build),
            Stage::Whole(stage) => stage.transform(map, build),
        }
    }
}
