//! The plugin that each [`Tier`] has for a configuration object.

use super::inputs::{Inputs, relock};
use super::project::{Need, Project, upwards};
use super::{Chosen, PluginRequest, Provider, Resolver, Tier, Trace, Verdict, places};
use crate::author::bundle::is_shared_object;
use crate::author::client;
use crate::author::describe::{Component, Description, Protocol, Role};
use crate::diag::{Code, Error, Result};
use crate::fetch::identity::PluginId;
use crate::fetch::origin::Origin;
use crate::id::content;
use crate::id::requirement::{ObjectKind, Requirement};
use crate::id::shell::in_directory;
use crate::id::source::Source;
use crate::policy::amend::quoted as in_yaml;
use crate::policy::environment::MachineBundle;
use crate::policy::trust::not_granted;
use crate::store::discover::{Candidate, Installed, Refusal};
use crate::store::installed_artifacts;
use crate::store::record::AskedBy;
use rustomize_base::shell::quoted;
use rustomize_plugins::failure::bad_plugin;
use rustomize_plugins::isolation::Level;
use rustomize_plugins::locate::{Placed, locate, locate_in};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The component of an installed plugin for an object.
enum Match {
    Component(Arc<Description>, Component),
    /// It is for such objects in another role.
    Misplaced(Error),
    /// It is for other objects: a sentence that names them.
    Other(String),
}

impl Resolver<'_> {
    /// The plugin that a tier has for an object.
    ///
    /// # Errors
    /// The tier has one that cannot be used, or several.
    pub(super) fn look(&self, tier: Tier, request: &PluginRequest<'_>, trace: &mut Trace) -> Result<Option<Chosen>> {
        match tier {
            Tier::Function => Ok(request.is_function.then_some(Chosen::Function)),
            // A component belongs to an installed plugin, whatever is placed for the kind.
            Tier::Placed | Tier::Bundle | Tier::Synced if request.component.is_some() => Ok(None),
            Tier::Placed => self.placed(request, trace),
            Tier::Required => self.provider(request, trace, Self::required),
            Tier::Bundle => self.bundled(request, trace),
            Tier::Synced => self.synced(request, trace),
            Tier::Installed => self.provider(request, trace, Self::discovered),
            Tier::Path => Ok(self.program(request, trace)),
        }
    }

    /// The file of a plugin directory for an object.
    fn in_home(
        &self,
        tier: Tier,
        home: &Path,
        request: &PluginRequest<'_>,
        trace: &mut Trace,
    ) -> Result<Option<Placed>> {
        let found = match tier {
            Tier::Placed => locate(self.options, request.id),
            _ => locate_in(home, self.options, request.id),
        };
        let used = found.as_ref().ok().and_then(|found| Some(found.as_ref()?.path().to_owned()));
        for place in places(home, request) {
            trace.note(tier, || {
                let verdict = match (place.exists(), used.as_ref() == Some(&place), &found) {
                    (_, true, _) => Verdict::Chosen,
                    (false, ..) => Verdict::Absent,
                    (true, _, Err(e)) => Verdict::Refused(e.to_string()),
                    (true, ..) => Verdict::Shadowed,
                };
                (place.display().to_string(), verdict)
            });
        }
        found
    }

    fn placed(&self, request: &PluginRequest<'_>, trace: &mut Trace) -> Result<Option<Chosen>> {
        let Some(home) = self.options.homes.iter().find(|home| home.is_dir()) else {
            trace.note(Tier::Placed, || ("plugin directory of kustomize".to_owned(), Verdict::Absent));
            return Ok(None);
        };
        let placed = self.in_home(Tier::Placed, home, request, trace)?;
        Ok(placed.map(|placed| Chosen::Placed(Tier::Placed, placed)))
    }

    /// The plugin of a bundle: the first directory of the module path that has one decides. Two
    /// bundles of that directory are two sources, and neither comes before the other.
    fn bundled(&self, request: &PluginRequest<'_>, trace: &mut Trace) -> Result<Option<Chosen>> {
        let mut found: Vec<(&MachineBundle, Placed)> = Vec::new();
        for bundle in &self.inputs.bundles {
            let is_later = found.first().is_some_and(|(first, _)| first.folder() != bundle.folder());
            if is_later && !trace.is_kept {
                break;
            }
            let start = trace.steps.len();
            let placed = self.in_home(Tier::Bundle, &bundle.home(), request, trace);
            match is_later {
                true => trace.shadow(start),
                false => found.extend(placed?.map(|placed| (bundle, placed))),
            }
        }
        if found.len() > 1 {
            let bundles: Vec<&MachineBundle> = found.iter().map(|(bundle, _)| *bundle).collect();
            return Err(ambiguous_bundles(request, &bundles));
        }
        Ok(found.pop().map(|(_, placed)| Chosen::Placed(Tier::Bundle, placed)))
    }

    fn synced(&self, request: &PluginRequest<'_>, trace: &mut Trace) -> Result<Option<Chosen>> {
        let Some(bundle) = &self.inputs.synced else { return Ok(None) };
        let Some(placed) = self.in_home(Tier::Synced, &bundle.bundle.home(), request, trace)? else { return Ok(None) };
        bundle.check(&self.policy.trust)?;
        Ok(Some(Chosen::Placed(Tier::Synced, placed)))
    }

    fn program(&self, request: &PluginRequest<'_>, trace: &mut Trace) -> Option<Chosen> {
        let name = Self::program_name(request);
        let is_name = !name.contains(['/', '\0']);
        let is_program =
            |path: &Path| File::open(path).and_then(|file| content::counts_as_executable(&file)).unwrap_or(false);
        let found = if is_name { self.inputs.path.find(&name, is_program) } else { None };
        trace.note(Tier::Path, || match &found {
            Some(path) => (path.display().to_string(), Verdict::Chosen),
            None => (name, Verdict::Absent),
        });
        found.map(|path| Chosen::Placed(Tier::Path, Placed::Executable(path)))
    }

    /// A component of an installed plugin that may be used: its source is trusted, and its
    /// permissions are granted.
    fn provider(
        &self,
        request: &PluginRequest<'_>,
        trace: &mut Trace,
        find: fn(&Self, &PluginRequest<'_>, &mut Trace) -> Result<Option<Provider>>,
    ) -> Result<Option<Chosen>> {
        if !trace.is_kept
            && let Some(known) = self.inputs.known_provider(request)
        {
            return Ok(Some(Chosen::Installed(Box::new(known))));
        }
        let Some(mut provider) = find(self, request, trace)? else { return Ok(None) };
        let home = self.options.home();
        // What is compared with the grants is what is opened: a path that is a link later is not.
        provider.permissions = provider.permissions.without_links(home.as_deref());
        let PluginId { source, origin, .. } = &provider.installed.id();
        let trust = &self.policy.trust;
        trust.check_installed(&provider.installed)?;
        let flags = self.options.isolation.permissions();
        let beyond = trust.ungranted(source, origin, &provider.permissions, &flags, home.as_deref())?;
        if self.options.isolation.installed != Level::Off {
            if !beyond.is_empty() {
                return Err(not_granted(source, origin, &beyond));
            }
            if let Some(why) = provider.permissions.clone().and(&flags).below_write(home.as_deref()) {
                return Err(bad_plugin(format!("'{source}' does not run: {why}")).with_code(Code::PluginRefused));
            }
        }
        self.inputs.keep_provider(request, &provider);
        Ok(Some(Chosen::Installed(Box::new(provider))))
    }

    /// The plugin that a `plugins.yaml` requires for an object: the nearest file that has one
    /// decides.
    fn required(&self, request: &PluginRequest<'_>, trace: &mut Trace) -> Result<Option<Provider>> {
        let mut names = HashSet::new();
        let mut found = None;
        for project in self.inputs.projects(request)? {
            let project = self.inputs.complete(project, self.policy)?;
            let nearest: Vec<&Need> =
                project.needs.iter().filter(|need| names.insert(need.wanted.name.clone())).collect();
            let mut here = self.required_by(&project, &nearest, request, trace)?;
            if here.is_none() {
                let brought = self.inputs.brought(&project, self.policy);
                here = self.required_by(&project, &brought.iter().collect::<Vec<_>>(), request, trace)?;
            }
            found = found.or(here);
            if found.is_some() && !trace.is_kept {
                break;
            }
        }
        if found.is_none() {
            self.requested_by_clone(request)?;
        }
        Ok(found)
    }

    /// Refuses a plugin that the `plugins.yaml` of a clone asks for, and the local tree does not:
    /// nothing of a remote base is installed or run before the local tree has locked it.
    fn requested_by_clone(&self, request: &PluginRequest<'_>) -> Result<()> {
        let Some(clone) = request.clone else { return Ok(()) };
        let own = self.inputs.own_projects()?;
        let is_known = |wanted: &Requirement| {
            own.iter().flat_map(|project| &project.needs).any(|known| known.wanted.source == wanted.source)
        };
        for directory in upwards(request.directory, Some(&clone.directory), &self.inputs.safe) {
            let project = self.inputs.project(&directory)?;
            let asks = |wanted: &&Requirement| may_provide(wanted, request) && !is_known(wanted);
            let Some(wanted) = project.needs.iter().map(|need| &need.wanted).find(asks) else { continue };
            let message = format!(
                "the remote base '{}' requires the plugin '{}' ({}), which the local plugins.yaml does not",
                clone.raw, wanted.name, wanted.source
            );
            let top = self.inputs.top.as_deref().unwrap_or(Path::new("."));
            let add = match wanted.constraint.is_any() {
                true => format!("rustomize plugin add {}", quoted(&wanted.source.to_string())),
                false => {
                    format!("rustomize plugin add {}", quoted(&format!("{}@{}", wanted.source, wanted.constraint)))
                }
            };
            let add = if wanted.from.is_empty() { add } else { format!("{add} --from {}", quoted(&wanted.from)) };
            let command = in_directory(&add, top);
            return Err(bad_plugin(message)
                .with_code(Code::PluginRefused)
                .hint(format!("if you trust it, require and lock it here: {command}")));
        }
        Ok(())
    }

    /// The plugin that some requirements of a project name for an object.
    fn required_by(
        &self,
        project: &Project,
        needs: &[&Need],
        request: &PluginRequest<'_>,
        trace: &mut Trace,
    ) -> Result<Option<Provider>> {
        let mut missing: Option<&Requirement> = None;
        let mut required: Vec<Provider> = Vec::new();
        let mut misplaced: Option<Error> = None;
        for need in needs {
            let requirement = &need.wanted;
            let shown = || format!("{} ({}) in {}", requirement.name, requirement.source, project.file().display());
            if !may_provide(requirement, request) {
                trace.note(Tier::Required, || (shown(), Verdict::NotFor("'provides' names other kinds".to_owned())));
                continue;
            }
            let installed = self.inputs.required(project, need, self.policy);
            if let Err(e) = &installed {
                trace.note(Tier::Required, || (shown(), Verdict::Refused(e.to_string())));
            }
            let Some(installed) = installed.map_err(|e| e.at(requirement.place.clone()))? else {
                trace.note(Tier::Required, || (shown(), Verdict::Refused("it is not installed".to_owned())));
                missing = missing.or(Some(requirement));
                continue;
            };
            match self.component(&installed, &requirement.name, request) {
                Ok(Match::Misplaced(error)) => {
                    trace.note(Tier::Required, || (shown(), Verdict::NotFor(error.to_string())));
                    misplaced.get_or_insert(error);
                }
                Err(why) => {
                    let error = unusable(project, requirement, &why);
                    trace.note(Tier::Required, || (shown(), Verdict::Refused(error.to_string())));
                    return Err(error);
                }
                Ok(Match::Other(kinds)) => trace.note(Tier::Required, || (shown(), Verdict::NotFor(kinds))),
                Ok(Match::Component(description, component)) => {
                    check_locked_permissions(project, need, &description)?;
                    let provider = provider(&installed, &description, component)?;
                    trace.candidate(Tier::Required, &installed.path);
                    required.push(Provider { parameters: requirement.parameters.clone(), ..provider });
                }
            }
        }
        match required.len() {
            0 => misplaced.map_or(Ok(()), Err)?,
            1 => return Ok(required.pop()),
            _ => return Err(ambiguous(request, &required)),
        }
        // A requirement beats every plugin of a later tier, also while it is not installed.
        missing.map_or(Ok(None), |requirement| Err(not_installed(project, requirement)))
    }

    /// The installed plugin for an object that nothing requires.
    fn discovered(&self, request: &PluginRequest<'_>, trace: &mut Trace) -> Result<Option<Provider>> {
        let mut discovered: Vec<Provider> = Vec::new();
        let mut misplaced: Option<Error> = None;
        let projects = self.inputs.projects(request)?;
        let mut required: HashSet<Source> = HashSet::new();
        for project in &projects {
            let brought = self.inputs.brought(project, self.policy);
            required.extend(project.needs.iter().chain(&brought).map(|need| need.id.source.clone()));
        }
        let is_required = |c: &Candidate| c.source.as_ref().is_some_and(|source| required.contains(source));
        let everything = self.inputs.installed();
        for group in everything.chunk_by(|a, b| a.source == b.source).filter(|group| !is_required(&group[0])) {
            let mut is_decided = false;
            // The best version comes first; one that contradicts its name gives way to the next.
            for candidate in group {
                let shown = || candidate.path.display().to_string();
                let installed = match &candidate.verdict {
                    Ok(_) if is_decided => {
                        trace.note(Tier::Installed, || (shown(), Verdict::NotFor("another version is better".into())));
                        continue;
                    }
                    Ok(installed) if !is_users(installed) => {
                        trace.note(Tier::Installed, || (shown(), Verdict::Refused(of_others(installed))));
                        continue;
                    }
                    Ok(installed) => installed,
                    Err(why) => {
                        trace.note(Tier::Installed, || (shown(), Verdict::Refused(why.to_string())));
                        continue;
                    }
                };
                match self.component(installed, installed.source.name(), request) {
                    Err(why) => {
                        trace.note(Tier::Installed, || (shown(), Verdict::Refused(why.to_string())));
                    }
                    Ok(Match::Misplaced(error)) => {
                        trace.note(Tier::Installed, || (shown(), Verdict::NotFor(error.to_string())));
                        misplaced.get_or_insert(error);
                        is_decided = true;
                    }
                    Ok(Match::Other(kinds)) => {
                        trace.note(Tier::Installed, || (shown(), Verdict::NotFor(kinds)));
                        is_decided = true;
                    }
                    // Only a plugin that is used is hashed.
                    Ok(Match::Component(description, component)) => match self.inputs.verified(installed) {
                        Err(why) => trace.note(Tier::Installed, || (shown(), Verdict::Refused(why.to_string()))),
                        Ok(verified) => {
                            discovered.push(provider(&verified, &description, component)?);
                            trace.candidate(Tier::Installed, &candidate.path);
                            is_decided = true;
                        }
                    },
                }
            }
        }
        match (discovered.len(), misplaced) {
            (0, Some(misplaced)) => Err(misplaced),
            (0 | 1, _) => Ok(discovered.pop()),
            _ => Err(ambiguous(request, &discovered)),
        }
    }

    /// The component of a plugin for an object.
    ///
    /// # Errors
    /// The plugin does not describe itself, or contradicts its file name.
    fn component(
        &self,
        installed: &Installed,
        name: &str,
        request: &PluginRequest<'_>,
    ) -> std::result::Result<Match, Refusal> {
        let description = self.inputs.describe(self.options, installed)?;
        let api_version = request.api_version();
        let is_for = |component: &Component| match request.component {
            Some(asked) => {
                asked == name && is_default(component, name) || asked == format!("{name}-{}", component.name)
            }
            None => component.kind == request.id.gvk.kind && component.api_version == api_version,
        };
        let all: Vec<(Role, &Component)> =
            description.components().filter(|(_, component)| is_for(component)).collect();
        match (all.iter().find(|(role, _)| *role == request.role), all.first()) {
            (Some((_, component)), _) => {
                let component = (*component).clone();
                Ok(Match::Component(description, component))
            }
            (None, None) => Ok(Match::Other(format!("it is for {}", kinds(&description)))),
            (None, Some((role, _))) => {
                let message = format!("'{}' is a {role} for {}, not a {}", installed.source, request.id, request.role);
                Ok(Match::Misplaced(bad_plugin(message).hint(format!("list the object under '{role}s'"))))
            }
        }
    }
}

/// The kinds that a plugin is for, or the names of its components.
pub(super) fn kinds(description: &Description) -> String {
    let mut shown: Vec<String> = description.components().map(|(_, component)| component.title()).collect();
    let mut known = HashSet::new();
    shown.retain(|kind| known.insert(kind.clone()));
    if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
}

/// A component of an installed plugin, with everything that its calls need.
///
/// # Errors
/// Its manifest cannot be read, or a plugin that it needs has changed.
pub(super) fn provider(installed: &Installed, description: &Description, component: Component) -> Result<Provider> {
    let wrong = |why: Refusal| bad_plugin(format!("'{}': {why}", installed.path.display()));
    let launch = installed.launch(&component.entry).map_err(wrong)?;
    installed_artifacts::verify(&client::clients(&installed.path))
        .map_err(|e| e.context(format!("looking at {}", installed.source)))?;
    let protocol = match is_shared_object(&component.entry) {
        true => Protocol::SharedObject,
        false => description.protocol,
    };
    let (format, permissions) = (description.format, description.permissions.clone());
    let (runs_last, worker) = (description.runs_last(&component), description.worker);
    Ok(Provider {
        installed: installed.clone(),
        launch,
        component,
        runs_last,
        protocol,
        format,
        worker,
        parameters: String::new(),
        permissions,
    })
}

/// Returns true if the user asked for an installed plugin by name, so that an object finds it
/// without a requirement.
pub(super) fn is_users(installed: &Installed) -> bool {
    installed.record.asked_by == AskedBy::User
}

/// Why a plugin that a project or another plugin brought is not used, and what changes that.
fn of_others(installed: &Installed) -> String {
    let from = match installed.record.origin {
        Origin::Own => String::new(),
        Origin::Elsewhere(_) => format!("--from {} ", quoted(&from_of(installed))),
    };
    let source = &installed.source;
    format!(
        "a project or a plugin brought it, for itself alone; to use it here: rustomize plugin install {from}{source}"
    )
}

/// Checks that a plugin asks for no permission that its lock entry does not have.
fn check_locked_permissions(project: &Project, need: &Need, description: &Description) -> Result<()> {
    let locked = project.locked(&need.id);
    let beyond = locked.map(|locked| description.permissions.beyond_words(&locked.permissions));
    match beyond.filter(|beyond| !beyond.is_empty()) {
        None => Ok(()),
        Some(beyond) => {
            let message =
                format!("'{}' asks for {beyond}; plugins.lock does not have that permission", need.wanted.source);
            Err(bad_plugin(message).hint(relock(&project.directory)))
        }
    }
}

/// A component with no name of its own, or with the plugin's, is addressed by the plugin's name.
fn is_default(component: &Component, name: &str) -> bool {
    component.name.is_empty() || component.name == name || component.name == "default"
}

/// Returns whether a requirement may be meant, as far as the file says.
fn may_provide(requirement: &Requirement, request: &PluginRequest<'_>) -> bool {
    match request.component {
        Some(asked) => asked == requirement.name || asked.starts_with(&format!("{}-", requirement.name)),
        None => {
            let api_version = request.api_version();
            let is_kind = |p: &ObjectKind| p.kind == request.id.gvk.kind && p.api_version == api_version;
            requirement.provides.is_empty() || requirement.provides.iter().any(is_kind)
        }
    }
}

/// The error of a requirement that is not installed.
pub(super) fn not_installed(project: &Project, requirement: &Requirement) -> Error {
    let Requirement { name, source, constraint, .. } = requirement;
    let error = bad_plugin(format!("plugin '{name}' ({source}, {constraint}) is required and not installed"))
        .with_code(Code::PluginMissing);
    error
        .at(requirement.place.clone())
        .hint(format!("install it: {}", in_directory("rustomize plugin install", &project.directory)))
}

/// The error of a requirement that does not describe itself. It may be the plugin that the object
/// is for, so no other plugin takes its place.
fn unusable(project: &Project, requirement: &Requirement, why: &Refusal) -> Error {
    bad_plugin(format!("plugin '{}' ({}) cannot be used: {why}", requirement.name, requirement.source))
        .at(requirement.place.clone())
        .hint("it is required, so a build uses no other plugin instead")
        .hint(format!("check it: {}", in_directory("rustomize plugin verify", &project.directory)))
}

/// The error of several plugins for one kind: all of them, and the lines that settle it.
fn ambiguous(request: &PluginRequest<'_>, found: &[Provider]) -> Error {
    let sources: Vec<String> = found.iter().map(|f| format!("'{}'", f.installed.source)).collect();
    let lines = found.iter().map(|f| {
        let (source, version) = (&f.installed.source, &f.installed.file.version);
        let from = match &f.installed.record.origin {
            Origin::Own => String::new(),
            // A requirement without a place means what the user installed.
            Origin::Elsewhere(_) if is_users(&f.installed) => String::new(),
            Origin::Elsewhere(_) => format!(", from: {}", in_yaml(&from_of(&f.installed))),
        };
        format!("\n    requires: {{{}: {{source: {source}, version: '{version}'{from}}}}}", source.name())
    });
    let lines: String = lines.collect();
    bad_plugin(format!("several installed plugins are for {}: {}", request.id, sources.join(", ")))
        .with_code(Code::AmbiguousMatch)
        .hint(format!("require the right one in plugins.yaml, with one of these lines:{lines}"))
}

/// The error of several bundles in one directory of the module path for one kind.
fn ambiguous_bundles(request: &PluginRequest<'_>, found: &[&MachineBundle]) -> Error {
    let shown: Vec<String> = found.iter().map(|bundle| format!("'{}'", bundle.directory.display())).collect();
    let message = format!("several bundles of one directory are for {}: {}", request.id, shown.join(", "));
    bad_plugin(message)
        .with_code(Code::AmbiguousMatch)
        .hint("leave the plugin out of all bundles but one")
        .hint("or move the bundle that counts to a directory that comes first in 'modulePath' of environment.yaml")
}

/// The `from` of a requirement that an installed plugin from elsewhere meets.
fn from_of(installed: &Installed) -> String {
    let Origin::Elsewhere(place) = &installed.record.origin else { return String::new() };
    // A repository has the directory of the plugin, and the commit, only in the address of the
    // download; an address of a registry has the sum behind it, which a requirement does not have.
    match &installed.record.download {
        Some(download) if place.starts_with("git::") => download.url.clone(),
        Some(download) if download.url.starts_with("http") => download.url.clone(),
        _ => place.clone(),
    }
}

impl Inputs {
    /// How many files in the directory of installed plugins are named as plugins and cannot be
    /// used. O(bytes of them).
    pub fn refused(&self) -> usize {
        let is_refused = |candidate: &&Candidate| match &candidate.verdict {
            Ok(installed) => installed.verify().is_err(),
            Err(_) => true,
        };
        self.installed().iter().filter(is_refused).count()
    }

    /// How many installed plugins are those of other projects and plugins, which no object finds.
    pub fn of_others(&self) -> usize {
        let is_theirs = |candidate: &&Candidate| candidate.verdict.as_ref().is_ok_and(|there| !is_users(there));
        self.installed().iter().filter(is_theirs).count()
    }
}
