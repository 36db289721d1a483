//! `plugin doctor`: every place where a plugin is looked for, what lies there, and why it is taken
//! or refused.

use super::managed::{environment, manager, policy, variable};
use super::report::Report;
use crate::manager::author::describe::{Component, Role};
use crate::manager::id::name::Platform;
use crate::manager::policy::environment::Bundle;
use crate::manager::resolve::{Manager, Use};
use crate::manager::share::mounts;
use crate::manager::store::discover::{Candidate, Installed, all};
use crate::plugin::PluginOptions;
use crate::plugin::locate;
use crate::resource::ResId;
use crate::schema::Gvk;
use anyhow::{Result, anyhow};
use serde_json::json;
use std::path::{Path, PathBuf};

fn homes() -> Vec<PathBuf> {
    locate::homes(|name| variable(name).map(Into::into))
}

/// What was looked at, and what of it is taken.
type Line = (String, String);

/// Runs `plugin doctor`.
///
/// # Errors
/// The files of the directory cannot be read.
pub fn doctor(kind: Option<&str>, directory: &Path, is_json: bool, options: &PluginOptions) -> Result<()> {
    let environment = environment(None)?;
    let manager = manager(directory, environment.as_ref(), policy(None)?)?;
    let wanted = kind.map(|kind| {
        kind.rsplit_once('/')
            .ok_or_else(|| anyhow!("'{kind}' is no kind of configuration objects: write it as example.com/v1/Made"))
    });
    let wanted = wanted.transpose()?;
    let id = wanted.map(|(api_version, kind)| ResId::new(Gvk::new(api_version, kind), "any", ""));
    let mut report = Report::default();
    // A head, a name for programs, and what stands below it.
    let mut sections: Vec<(String, &str, Vec<Line>)> = Vec::new();
    if let Some((api_version, kind)) = wanted {
        let found = match homes().into_iter().find(|home| home.is_dir()) {
            None => vec![("plugin home".to_owned(), "none is there".to_owned())],
            Some(home) => in_home(&home, api_version, kind),
        };
        sections.push(("Placed by hand".to_owned(), "placed", found));
    }
    let required = manager.requirements().map(|(project, requirement)| {
        let state = match manager.installed(project, requirement) {
            Ok(Some(verified)) => does(&manager, options, &verified.installed, wanted),
            Ok(None) => "not installed: rustomize plugin install".to_owned(),
            Err(e) => e.to_string(),
        };
        (format!("{} ({}, {})", requirement.name, requirement.source, requirement.constraint), state)
    });
    sections.push((
        format!("Required by {}", directory.join("plugins.yaml").display()),
        "required",
        required.collect(),
    ));
    if let Some(environment) = &environment {
        let mut found = Vec::new();
        for bundle in environment.bundles()? {
            found.extend(match wanted {
                Some((api_version, kind)) => in_home(&bundle.home(), api_version, kind),
                None => in_bundle(&bundle),
            });
        }
        sections.push((format!("In bundles of the environment '{}'", environment.name), "bundle", found));
    }
    let installed = all(&manager.root, &Platform::host()).into_iter().map(Candidate::verified).map(|candidate| {
        let state = match &candidate.verdict {
            Ok(installed) => does(&manager, options, installed, wanted),
            Err(why) => format!("not considered: {why}"),
        };
        (candidate.path.display().to_string(), state)
    });
    sections.push((format!("Installed below {}", manager.root.display()), "installed", installed.collect()));
    if let Some(id) = &id {
        let roles = [Role::Generator, Role::Transformer, Role::Validator];
        let found = roles.iter().map(|role| match manager.ambient(id, *role) {
            Some(path) => (path.display().to_string(), format!("taken for a {role}")),
            None => (Manager::ambient_name(id, *role), "not there".to_owned()),
        });
        sections.push(("Programs in PATH".to_owned(), "path", found.collect()));
    }
    for (head, place, found) in sections {
        report.head(head);
        for (what, state) in found {
            report.add(format!("  {what}: {state}"), json!({ "place": place, "what": what, "state": state }));
        }
    }
    if let Some(id) = &id {
        let verdict = verdict(&manager, options, id);
        report.add(verdict.clone(), json!({ "place": "verdict", "what": kind, "state": verdict }));
    }
    report.print(is_json)
}

/// What a directory that is laid out as a plugin home has for a kind.
fn in_home(home: &Path, api_version: &str, kind: &str) -> Vec<Line> {
    let folder = home.join(api_version).join(kind.to_lowercase());
    let files =
        [(folder.join(kind), "taken first"), (folder.join(format!("{kind}.so")), "taken where there is no executable")];
    let state = |(file, is): &(PathBuf, &str)| if file.exists() { (*is).to_owned() } else { "not there".to_owned() };
    files.iter().map(|found| (found.0.display().to_string(), state(found))).collect()
}

/// What a bundle has for any kind, and what lies there and is not named by the rules (M28).
fn in_bundle(bundle: &Bundle) -> Vec<Line> {
    let home = bundle.home();
    let kinds = mounts::kinds(&home).unwrap_or_default();
    let strays = mounts::strays(&home).unwrap_or_default().into_iter();
    let strays = strays.map(|path| {
        (
            path.display().to_string(),
            "not loaded: it is not named as <apiVersion>/<kind in lower case>/<Kind>".to_owned(),
        )
    });
    kinds.into_iter().map(|(kind, path)| (path.display().to_string(), format!("for {kind}"))).chain(strays).collect()
}

/// What a build would use.
fn verdict(manager: &Manager, options: &PluginOptions, id: &ResId<'_>) -> String {
    let options = PluginOptions { homes: homes(), ..options.clone() };
    match locate::locate(&options, id) {
        Ok(Some(placed)) => format!("A build uses {}", placed.path().display()),
        Err(e) => format!("A build fails: {e}"),
        Ok(None) => {
            let roles = [Role::Generator, Role::Transformer, Role::Validator];
            // In which role a build would ask, the kind alone does not say.
            let found = roles.map(|role| manager.find(&options, id, role, None));
            match best(found) {
                Ok(Some(Use::Installed(found))) => format!("A build uses {}", found.installed.path.display()),
                Ok(Some(Use::Bundled(placed) | Use::Synced(placed))) => {
                    format!("A build uses {}", placed.path().display())
                }
                Ok(Some(Use::Ambient(path))) => format!("A build uses {}, which is in PATH", path.display()),
                Ok(None) => "A build fails: nothing is for that kind".to_owned(),
                Err(e) => format!("A build fails: {e}"),
            }
        }
    }
}

/// What was found, else why not.
fn best<const N: usize>(found: [crate::diag::Result<Option<Use>>; N]) -> crate::diag::Result<Option<Use>> {
    let rank = |found: &crate::diag::Result<Option<Use>>| match found {
        Ok(Some(_)) => 0,
        Err(_) => 1,
        Ok(None) => 2,
    };
    found.into_iter().min_by_key(rank).unwrap_or(Ok(None))
}

/// What an installed plugin does, or whether that is what is asked for.
fn does(manager: &Manager, options: &PluginOptions, installed: &Installed, wanted: Option<(&str, &str)>) -> String {
    let version = &installed.file.version;
    let description = match manager.describe(options, installed) {
        Ok(description) => description,
        Err(why) => return format!("v{version}, not considered: {why}"),
    };
    let components: Vec<&Component> = description.components().map(|(_, component)| component).collect();
    match wanted {
        Some((api_version, kind)) if components.iter().any(|c| c.api_version == api_version && c.kind == kind) => {
            format!("v{version}, is for {api_version}/{kind}")
        }
        Some((api_version, kind)) => format!("v{version}, not for {api_version}/{kind}"),
        None => {
            let kinds = components.iter().map(|c| match c.kind.as_str() {
                "" => c.name.clone(),
                kind => format!("{}/{kind}", c.api_version),
            });
            format!("v{version}, for {}", kinds.collect::<Vec<_>>().join(", "))
        }
    }
}
