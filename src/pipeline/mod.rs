//! The entire build, as one flat list of steps: read this first.

mod accumulate;
mod builtin;
mod bundle;
mod call;
mod crds;
mod documents;
mod openapi;
mod origin;
pub mod plan;
mod print;
mod target;
mod validate;

pub use accumulate::Accumulator;
pub use call::{Call, call};
pub use documents::documents_to_resources;
pub(crate) use origin::{ORIGIN, TRANSFORMATIONS};
pub use print::{print, print_in_pieces, print_one};
pub use target::Target;

use crate::config::TransformerConfig;
use crate::diag::{Error, Result, Warning};
use crate::generator::helm_chart::HelmOptions;
use crate::load::{FileLimit, Files, RemoteOptions, Restrictor};
use crate::plugin::Plugins;
use crate::resource::{INTERNAL, Order, ResMap, Resource, order};
use crate::schema::Schemas;
use crate::transformer::Transformer;
use crate::transformer::hash::HashTransformer;
use crate::transformer::name_reference::NameReferenceTransformer;
use crate::transformer::ref_var::RefVarTransformer;
use crate::yaml::{Arena, Mapping, Node, Style, Tag};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

/// What a build is asked for, beside its directory.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub restrictor: Restrictor,
    /// How large the files may be that are read.
    pub file_limit: FileLimit,
    /// The order of the output, unless the kustomization says one.
    pub order: Option<Order>,
    /// Sets the label `app.kubernetes.io/managed-by` on everything.
    pub managed_by_label: bool,
    /// Whether and how external plugins run.
    pub plugins: crate::plugin::PluginOptions,
    /// Whether and how helm runs.
    pub helm: HelmOptions,
    /// Where remote files and repositories come from.
    pub remote: RemoteOptions,
    /// Files with what is to be known of kinds, beside Kubernetes' own: earlier ones win.
    pub schemas: Vec<PathBuf>,
}

/// One build: its memory, its files, its plugins. Two builds in one process share nothing.
pub struct Session<'a> {
    pub arena: &'a Arena,
    pub files: Files<'a>,
    pub plugins: Plugins,
    options: Options,
    warnings: RefCell<Vec<Warning>>,
    default_config: RefCell<Rc<TransformerConfig<'a>>>,
    /// Whether the root's `buildMetadata` asks for anything: then this build keeps account of what
    /// comes from where.
    keeps_origins: Cell<bool>,
    schema: openapi::SessionSchema<'a>,
    helm_api_versions: RefCell<Vec<String>>,
}

impl<'a> Session<'a> {
    /// Prepares a build whose texts live in `arena`.
    pub fn new(arena: &'a Arena, options: Options) -> Self {
        Session {
            arena,
            files: Files::new(arena, options.restrictor, options.file_limit, options.remote.clone()),
            plugins: Plugins::new(options.plugins.clone()),
            helm_api_versions: RefCell::new(options.helm.api_versions.clone()),
            options,
            warnings: RefCell::default(),
            default_config: RefCell::new(Rc::new(TransformerConfig::defaults())),
            keeps_origins: Cell::new(false),
            schema: openapi::SessionSchema::default(),
        }
    }

    /// What every root's configuration begins with; the same one for all.
    fn default_config(&self) -> Rc<TransformerConfig<'a>> {
        self.default_config.borrow().clone()
    }

    /// Which files may be read.
    pub fn restrictor(&self) -> Restrictor {
        self.options.restrictor
    }

    /// Whether and how helm runs.
    pub fn helm(&self) -> &HelmOptions {
        &self.options.helm
    }

    /// The API versions for charts that name none.
    pub fn helm_api_versions(&self) -> Vec<String> {
        self.helm_api_versions.borrow().clone()
    }

    /// Upstream reads a chart's own API versions over the ones that all charts share, if there are
    /// as many or more.
    pub fn note_helm_api_versions(&self, own: &[&str]) {
        let mut shared = self.helm_api_versions.borrow_mut();
        if own.len() <= shared.len() {
            shared.iter_mut().zip(own).for_each(|(into, version)| *into = (*version).to_owned());
        }
    }

    /// What is known of kinds, for merging.
    pub fn schemas(&self) -> &Schemas<'a> {
        self.schema.for_merging()
    }

    /// Whether this build keeps account of where resources come from and what transforms them.
    pub fn keeps_origins(&self) -> bool {
        self.keeps_origins.get()
    }

    /// Remembers something the user should know.
    pub fn warn(&self, message: impl Into<String>) {
        self.warnings.borrow_mut().push(Warning { message: message.into() });
    }

    /// What the build so far warns of, in order.
    pub fn take_warnings(&self) -> Vec<Warning> {
        self.warnings.take()
    }
}

/// Builds the kustomization in a directory. The result is in output order, ready to be printed.
///
/// # Errors
/// Anything that a user can have wrong; nothing is half done then.
pub fn build<'a>(session: &Session<'a>, directory: &str) -> Result<ResMap<'a>> {
    bundle::learn(session)?;
    let root = session.files.root(directory)?;
    let target = Target::load(session, root)?;
    let order = output_order(session, &target)?;
    openapi::set(session, &target)?;
    let asked = &target.kustomization.build_metadata;
    session.keeps_origins.set(!asked.is_empty());
    let mut all = Accumulator::default();
    accumulate::accumulate(session, &target, &mut all)?;
    let Accumulator { mut map, config, vars } = all;
    let config = config.unwrap_or_default();
    // No resource is added after this point.
    HashTransformer.transform(&mut map, session)?;
    // Names are final after this point.
    NameReferenceTransformer { references: config.references() }.transform(&mut map, session)?;
    RefVarTransformer { vars: vars.into_values().collect(), specs: config.var_reference.in_order() }
        .transform(&mut map, session)?;
    map.check_unique(session.arena)?;
    check_identities(session.arena, &map)?;
    drop_local_config(&mut map);
    order::sort(&mut map, &order);
    if session.options.managed_by_label || asked.contains(&"managedByLabel") {
        add_managed_by_label(session.arena, &mut map)?;
    }
    map.edit_content(|resource| {
        origin::adopt(resource);
        strip_build_annotations(resource);
        Ok(())
    })?;
    origin::annotate(session, &mut map, asked)?;
    Ok(map)
}

/// The order of the output: what the root's kustomization says, else the option, else legacy.
fn output_order(session: &Session<'_>, target: &Target<'_>) -> Result<Order> {
    let Some(options) = &target.kustomization.sort_options else {
        return Ok(session.options.order.clone().unwrap_or(Order::Legacy));
    };
    if session.options.order.is_some() {
        session.warn("Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI flag ('--reorder'). Using the kustomization file over the CLI flag.");
    }
    match (options.order, &options.legacy) {
        ("fifo", Some(_)) => Err(target.error(
            "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
        )),
        ("fifo", None) => Ok(Order::Fifo),
        ("legacy", None) => Ok(Order::Legacy),
        ("legacy", Some(lists)) => {
            let own = |list: &[&str]| list.iter().map(|k| (*k).to_owned()).collect();
            Ok(Order::Lists { first: own(&lists.first), last: own(&lists.last) })
        }
        _ => Err(target.error("the field 'sortOptions.order' must be one of [fifo, legacy]")),
    }
}

/// A patch or plugin may have taken what a resource must have.
fn check_identities(arena: &Arena, map: &ResMap<'_>) -> Result<()> {
    let lacks = |r: &Resource<'_>| match (r.id().gvk.kind, r.id().name) {
        ("", _) => Some("kind"),
        (kind, "") if !kind.ends_with("List") => Some("metadata.name"),
        // Upstream counts the names a resource has had, and an empty one is not among them.
        // Upstream leaves out what is empty and finds lists of different lengths, unless there is
        // no name at all. A single name may have come without a kind, from a manifest.
        _ if r.previous().len() > 1
            && r.previous().iter().any(|p| p.name.is_empty() || p.kind.is_empty())
            && r.previous().iter().any(|p| !p.name.is_empty()) =>
        {
            Some("an earlier name or kind")
        }
        _ => None,
    };
    match map.iter().find_map(|r| Some((r, lacks(r)?))) {
        None => map.iter().try_for_each(|r| r.check_annotations(arena)),
        Some((resource, what)) => {
            let error = Error::input(format!("missing {what} in object {}", resource.id()));
            Err(error.at(arena.place(resource.pos())).hint("a patch or transformer has taken it away"))
        }
    }
}

/// Drops resources that exist for the build alone.
fn drop_local_config(map: &mut ResMap<'_>) {
    let is_local = |r: &Resource<'_>| {
        let annotations = r.node().get("metadata").and_then(|m| m.get("annotations"));
        let value = annotations.and_then(|m| m.get("config.kubernetes.io/local-config"));
        value.is_some_and(|v| v.as_scalar().is_none_or(|s| s.text != "false"))
    };
    if map.iter().any(is_local) {
        map.retain(|r| !is_local(r));
    }
}

fn add_managed_by_label(arena: &Arena, map: &mut ResMap<'_>) -> Result<()> {
    map.edit_content(|resource| {
        if let Some(labels) = resource.node().get("metadata").and_then(|m| m.get("labels"))
            && labels.as_mapping().is_none()
            && !labels.is_null()
        {
            let message = format!("wrong node kind: the labels of {} are {}", resource.id(), labels.shape());
            return Err(Error::input(message).at(arena.place(labels.pos)));
        }
        resource.add_metadata_entries("labels", [(&"app.kubernetes.io/managed-by", &MANAGED_BY)]);
        Ok(())
    })
}

/// The value of the managed-by label: the version of kustomize whose output this is.
const MANAGED_BY: &str = "kustomize-v5.8.1";

/// Annotations that tools keep for themselves and that no output has.
pub(crate) fn is_build_annotation(key: &str) -> bool {
    if let Some(name) = key.strip_prefix(INTERNAL) {
        return matches!(
            name,
            "previousKinds"
                | "previousNames"
                | "previousNamespaces"
                | "prefixes"
                | "suffixes"
                | "allowNameChange"
                | "allowKindChange"
                | "refBy"
                | "generatorBehavior"
                | "needsHashSuffix"
                | "path"
                | "index"
                | "seqindent"
                | "id"
                | "annotations-migration-resource-id"
                | "helm-generated"
        );
    }
    matches!(
        key,
        "config.kubernetes.io/path"
            | "config.kubernetes.io/index"
            | "config.k8s.io/id"
            | "config.kubernetes.io/origin"
            | "alpha.config.kubernetes.io/transformations"
    )
}

/// Takes quotes and types off the keys.
fn untype_keys(map: &mut Mapping<'_>) {
    let mut entries = std::mem::take(map).into_entries();
    entries.iter_mut().for_each(|e| (e.key.style, e.key.tag) = (Style::Plain, Tag::Auto));
    *map = Mapping::from_entries(entries);
}

/// Takes the annotations off that are not for the output. What is left becomes a map of strings
/// with untyped keys, as upstream rebuilds it; an empty map goes, and metadata that is missing is
/// made.
fn strip_build_annotations(resource: &mut Resource<'_>) {
    let metadata = resource.node().get("metadata");
    let has_annotations = metadata.is_some_and(|m| m.as_mapping().is_some_and(|m| m.contains("annotations")));
    if metadata.is_some() && !has_annotations {
        return;
    }
    let Some(metadata) = resource.metadata_mut() else {
        return;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Node::as_mapping_mut) {
        annotations.retain(|key, _| !is_build_annotation(key.text));
        untype_keys(annotations);
    }
    crate::resource::stringify(metadata, "annotations");
}
