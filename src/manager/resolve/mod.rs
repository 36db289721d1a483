//! [`Resolver`]: which plugin a configuration object is for.
//!
//! Plugins are looked for in seven places, the [`Tier`]s, in one order. A build stops at the first
//! tier that has one; `plugin why` asks and shows all tiers. Both read one [`Resolution`], so
//! they cannot disagree.
//!
//! * [`build_scope`]: where a build looks for plugins; [`inputs`]: these places, and what was
//!   found; [`project`]: `plugins.yaml` and `plugins.lock` of a directory, and of those above it.
//! * [`tiers`]: what each tier has for an object.
//! * [`schemas`]: the schemas of installed bundles.
//! * [`plugins`]: a build's view, the plugins that it runs; [`overview`]: the view of `plugin list`
//!   and `plugin verify`.

pub mod build_scope;
pub mod inputs;
pub mod overview;
pub mod plugins;
pub mod project;
pub mod schemas;
pub mod tiers;

use crate::author::describe::{Component, Protocol, Role};
use crate::diag::Result;
use crate::load::Remote;
use crate::policy::{ADD_SOURCE, Policy};
use crate::resource::ResId;
use crate::stage::format::Format;
use crate::store::discover::Installed;
use inputs::Inputs;
use rustomize_plugins::PluginOptions;
use rustomize_plugins::locate::Placed;
use rustomize_plugins::permissions::Permissions;
use rustomize_process::Launch;
use std::fmt;
use std::path::{Path, PathBuf};

/// A configuration object's annotation with the name of the component that it is for:
/// `<plugin>-<component>`, or `<plugin>` alone.
pub const COMPONENT: &str = "rustomize.dev/plugin";

/// A configuration object that asks for a plugin.
#[derive(Clone, Copy)]
pub struct PluginRequest<'r> {
    /// Its apiVersion and kind name the plugin.
    pub id: &'r ResId<'r>,
    /// The field that lists it says which role it asks for.
    pub role: Role,
    /// The component that its annotation [`COMPONENT`] names.
    pub component: Option<&'r str>,
    /// True if the object says itself which KRM function it is for.
    pub is_function: bool,
    /// The root that lists it, absolute and without links.
    pub directory: &'r Path,
    /// The clone that the root belongs to.
    pub clone: Option<&'r Remote>,
}

impl PluginRequest<'_> {
    /// The apiVersion of the object.
    pub fn api_version(&self) -> String {
        match self.id.gvk.group {
            "" => self.id.gvk.version.to_owned(),
            group => format!("{group}/{}", self.id.gvk.version),
        }
    }
}

/// A place in which plugins are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The KRM function that the object itself names.
    Function,
    /// The plugin directory of the user, as under kustomize.
    Placed,
    /// Plugins that a `plugins.yaml` requires.
    Required,
    /// The bundles of the environment.
    Bundle,
    /// The bundles that were synced for the environment.
    Synced,
    /// Installed plugins that nothing requires.
    Installed,
    /// Programs in `PATH`.
    Path,
}

impl Tier {
    /// All tiers: an earlier one beats a later one.
    pub const ORDER: [Tier; 7] =
        [Tier::Function, Tier::Placed, Tier::Required, Tier::Bundle, Tier::Synced, Tier::Installed, Tier::Path];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Function => "function",
            Tier::Placed => "placed",
            Tier::Required => "required",
            Tier::Bundle => "bundle",
            Tier::Synced => "synced",
            Tier::Installed => "installed",
            Tier::Path => "path",
        }
    }

    /// The reason in words why a plugin of this tier is used.
    fn reason(self) -> &'static str {
        match self {
            Tier::Function => "named by the object",
            Tier::Placed => "placed by hand",
            Tier::Required => "required by plugins.yaml",
            Tier::Bundle => "in a bundle of the environment",
            Tier::Synced => "in a synced bundle of the environment",
            Tier::Installed => "installed",
            Tier::Path => "in PATH",
        }
    }

    /// Returns whether a lock file, or the user's own hand, says exactly which plugin this is.
    fn is_pinned(self) -> bool {
        matches!(self, Tier::Function | Tier::Placed | Tier::Required)
    }
}

/// The plugin of a configuration object.
#[derive(Debug)]
pub enum Chosen {
    /// The KRM function that the object names.
    Function,
    /// A file that no installation knows: the user's own, a bundle's, or a program in `PATH`.
    Placed(Tier, Placed),
    /// A component of an installed plugin.
    Installed(Box<Provider>),
}

impl Chosen {
    /// The file that runs; `None` for a function.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Chosen::Function => None,
            Chosen::Placed(_, placed) => Some(placed.path()),
            Chosen::Installed(provider) => Some(&provider.installed.path),
        }
    }

    /// The file that runs and why, in words.
    pub fn reason(&self) -> String {
        match self {
            Chosen::Function => "the function that the object names".to_owned(),
            Chosen::Placed(tier, placed) => format!("{}, {}", placed.path().display(), tier.reason()),
            Chosen::Installed(provider) => {
                let file = &provider.installed.file;
                format!("{}, {} v{}", provider.installed.path.display(), file.name, file.version)
            }
        }
    }
}

/// A component of an installed plugin, with everything that a call needs.
#[derive(Clone, Debug)]
pub struct Provider {
    pub installed: Installed,
    pub launch: Launch,
    pub component: Component,
    /// True if the component is a post-processor, which runs after all other transformers.
    pub runs_last: bool,
    pub protocol: Protocol,
    /// The notation that it reads and prints as an exec plugin.
    pub format: Format,
    /// True if it is started once and called over frames.
    pub worker: bool,
    /// The parameters that each call gets, as JSON; empty for none.
    pub parameters: String,
    /// The permissions that the plugin asks for, and was granted.
    pub permissions: Permissions,
}

/// The result of one place that was looked at, for the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    pub tier: Tier,
    /// The file, source or requirement.
    pub what: String,
    pub verdict: Verdict,
}

/// Why a plugin is used or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Chosen,
    /// An earlier tier has a plugin for the object.
    Shadowed,
    /// The file does not exist.
    Absent,
    /// It is for these other objects.
    NotFor(String),
    /// It cannot be used, for this reason.
    Refused(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Chosen => f.write_str("used"),
            Verdict::Shadowed => f.write_str("not used: an earlier place has a plugin"),
            Verdict::Absent => f.write_str("does not exist"),
            Verdict::NotFor(why) => write!(f, "not for this kind: {why}"),
            Verdict::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}

/// The plugin for an object, and how it was found.
#[derive(Debug)]
pub struct Resolution {
    /// `None` if no tier has a plugin.
    pub chosen: Result<Option<Chosen>>,
    /// The places that were looked at, in order, for [`Thoroughness::AllTiers`].
    pub trace: Vec<TraceStep>,
}

/// Collects steps where somebody reads them.
#[derive(Default)]
pub struct Trace {
    steps: Vec<TraceStep>,
    is_kept: bool,
}

impl Trace {
    /// Notes what a tier had; `make` is called where the trace is kept.
    fn note(&mut self, tier: Tier, make: impl FnOnce() -> (String, Verdict)) {
        if self.is_kept {
            let (what, verdict) = make();
            self.steps.push(TraceStep { tier, what, verdict });
        }
    }

    /// Says of the steps from `start` on that nothing of them is used.
    fn shadow(&mut self, start: usize) {
        self.steps[start..].iter_mut().for_each(|step| {
            if step.verdict == Verdict::Chosen {
                step.verdict = Verdict::Shadowed;
            }
        });
    }

    /// Notes something that is for the object.
    fn candidate(&mut self, tier: Tier, path: &Path) {
        self.note(tier, || (path.display().to_string(), Verdict::Chosen));
    }
}

/// How far the resolver looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoroughness {
    /// Up to the first tier that has a plugin, or one that cannot be used.
    FirstFound,
    /// At all tiers, with a trace.
    AllTiers,
}

/// Finds the plugins of configuration objects.
#[derive(Clone, Copy)]
pub struct Resolver<'r> {
    pub inputs: &'r Inputs,
    pub policy: &'r Policy,
    pub options: &'r PluginOptions,
}

impl Resolver<'_> {
    /// The plugin for an object.
    pub fn resolve(&self, request: &PluginRequest<'_>, thoroughness: Thoroughness) -> Resolution {
        self.search(&Tier::ORDER, request, thoroughness)
    }

    /// The same of the tiers that need no [`Inputs`]: the first two.
    ///
    /// # Errors
    /// The plugin cannot be used.
    pub fn by_hand(&self, request: &PluginRequest<'_>) -> Result<Option<Chosen>> {
        let [function, placed, ..] = Tier::ORDER;
        self.search(&[function, placed], request, Thoroughness::FirstFound).chosen
    }

    fn search(&self, tiers: &[Tier], request: &PluginRequest<'_>, thoroughness: Thoroughness) -> Resolution {
        let is_thorough = thoroughness == Thoroughness::AllTiers;
        let mut trace = Trace { is_kept: is_thorough, ..Trace::default() };
        let mut chosen: Option<Result<Chosen>> = None;
        for &tier in tiers {
            if chosen.is_some() && !is_thorough {
                break;
            }
            let start = trace.steps.len();
            let found = self.allowed(tier, request).and_then(|()| self.look(tier, request, &mut trace));
            for step in &mut trace.steps[start..] {
                match (&found, &step.verdict) {
                    (_, Verdict::Chosen) if chosen.is_some() => step.verdict = Verdict::Shadowed,
                    (Err(e), Verdict::Chosen) => step.verdict = Verdict::Refused(e.to_string()),
                    _ => {}
                }
            }
            chosen = chosen.or(found.transpose());
        }
        Resolution { chosen: chosen.transpose(), trace: trace.steps }
    }

    /// Lets a tier be asked. Plugins that no lock knows are not even asked what they do where only
    /// locked ones may be used.
    fn allowed(&self, tier: Tier, request: &PluginRequest<'_>) -> Result<()> {
        if tier.is_pinned() {
            return Ok(());
        }
        let directory = self.inputs.top.as_deref().unwrap_or(request.directory);
        self.policy.check_unlocked(&format!("a plugin for {}", request.id), ADD_SOURCE, directory)
    }

    /// The name of a program in `PATH` that is a plugin for a kind of configuration objects.
    pub fn program_name(request: &PluginRequest<'_>) -> String {
        format!("rustomize-{}-{}", request.role, request.id.gvk.kind.to_lowercase())
    }
}

/// The files that a plugin directory may have for an object, and which of them counts first.
fn places(home: &Path, request: &PluginRequest<'_>) -> [PathBuf; 2] {
    let kind = request.id.gvk.kind;
    let folder = home.join(request.api_version()).join(kind.to_lowercase());
    [folder.join(kind), folder.join(format!("{kind}.so"))]
}
