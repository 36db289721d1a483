//! `plugin describe`, `plugin verify`, `plugin doctor` and `plugin prune`: what there is, and what of it nothing needs.

use super::managed::{environment, manager, variable};
use super::plugin::parse;
use super::plugin_install::locked_root;
use crate::manager::describe::{Command, Component, Description, Role};
use crate::manager::discover::{Candidate, Installed, Refusal, all, candidates, choose};
use crate::manager::lock::Lock;
use crate::manager::manifest::Manifest;
use crate::manager::name::Platform;
use crate::manager::place;
use crate::manager::resolve::{Manager, Use};
use crate::manager::version::Constraint;
use crate::plugin::PluginOptions;
use crate::plugin::locate::{self, Placed};
use crate::resource::{Gvk, ResId};
use anyhow::{Result, anyhow, bail};
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs `plugin describe`.
///
/// # Errors
/// There is no such plugin, or it does not describe itself.
pub fn describe(what: &str, options: &PluginOptions) -> Result<()> {
    let path = Path::new(what);
    let description = if path.is_dir() {
        let manifest = Manifest::read(path)?;
        match manifest.says_what() {
            true => manifest.description,
            false => Description::ask(&manifest.command(&path.canonicalize()?), options)
                .map_err(|e| anyhow!("'{what}' does not describe itself: {e}"))?,
        }
    } else if path.is_file() {
        Description::ask(&Command::of_binary(&path.canonicalize()?), options)
            .map_err(|e| anyhow!("'{what}' does not describe itself: {e}"))?
    } else {
        let manager = manager(Path::new("."), None, false)?;
        let found = candidates(&manager.root, &parse(what)?, &Platform::host());
        let Some(installed) = choose(found, &Constraint::default()).map(|v| v.installed) else {
            bail!("no plugin of '{what}' is installed\n  install it: rustomize plugin install {what}");
        };
        let description = manager.describe(options, &installed);
        (*description.map_err(|e| anyhow!("'{}': {e}", installed.path.display()))?).clone()
    };
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&description)?)?;
    Ok(())
}

/// Runs `plugin verify`. What is known of plugins from before does not count: each is asked again.
///
/// # Errors
/// Something is wrong with one of them; everything that is was printed then.
pub fn verify(directory: &Path, options: &PluginOptions) -> Result<()> {
    let manager = Manager { cache: None, ..manager(directory, environment(None)?.as_ref(), false)? };
    let mut out = std::io::stdout();
    let mut wrong = 0;
    let mut say = |what: String, verdict: Result<(), String>| -> Result<()> {
        wrong += usize::from(verdict.is_err());
        let verdict = verdict.err().unwrap_or_else(|| "ok".to_owned());
        Ok(writeln!(out, "{what}: {verdict}")?)
    };
    for candidate in all(&manager.root, &Platform::host()).into_iter().map(Candidate::verified) {
        let verdict = match &candidate.verdict {
            Ok(installed) => manager.describe(options, installed).map(drop).map_err(|e| e.to_string()),
            Err(why) => Err(why.to_string()),
        };
        say(candidate.path.display().to_string(), verdict)?;
    }
    for (project, requirement) in manager.requirements() {
        let verdict = match manager.installed(project, requirement) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err("it is required and not installed".to_owned()),
            Err(e) => Err(e.to_string()),
        };
        say(format!("{} ({})", requirement.name, requirement.source), verdict)?;
    }
    match wrong {
        0 => Ok(()),
        n => bail!("{n} of them {} not as they should be", if n == 1 { "is" } else { "are" }),
    }
}

/// Runs `plugin prune`.
///
/// # Errors
/// A lock file cannot be read, or a file not removed.
pub fn prune(directories: &[PathBuf], is_dry: bool) -> Result<()> {
    let mut needed: HashSet<(String, String)> = HashSet::new();
    for directory in directories {
        let lock = Lock::read(directory)?.unwrap_or_default();
        needed.extend(lock.plugins.into_iter().map(|(source, locked)| (source, locked.version)));
    }
    let root = locked_root()?;
    let mut candidates: Vec<Candidate> =
        all(root.path(), &Platform::host()).into_iter().map(Candidate::verified).collect();
    // Of each source they come best first.
    let mut last = None;
    candidates.retain(|candidate| {
        let is_best = last != candidate.source;
        last.clone_from(&candidate.source);
        match &candidate.verdict {
            Ok(installed) => {
                let version = (installed.source.to_string(), installed.file.version.to_string());
                !is_best && !needed.contains(&version)
            }
            Err(why) => matches!(why, Refusal::Partial(_)),
        }
    });
    let paths: Vec<PathBuf> = match is_dry {
        true => candidates.into_iter().map(|candidate| candidate.path).collect(),
        false => place::remove(root.path(), &candidates)?,
    };
    for path in paths {
        writeln!(std::io::stdout(), "{}", path.display())?;
    }
    Ok(())
}

/// Runs `plugin doctor`.
///
/// # Errors
/// The files of the directory cannot be read.
pub fn doctor(kind: Option<&str>, directory: &Path, options: &PluginOptions) -> Result<()> {
    let manager = manager(directory, environment(None)?.as_ref(), false)?;
    let mut out = std::io::stdout();
    let wanted = kind.map(|kind| {
        kind.rsplit_once('/')
            .ok_or_else(|| anyhow!("'{kind}' is no kind of configuration objects: write it as example.com/v1/Made"))
    });
    let wanted = wanted.transpose()?;
    if let Some((api_version, kind)) = wanted {
        writeln!(out, "Placed by hand")?;
        let homes = locate::homes(|name| variable(name).map(Into::into));
        match homes.iter().find(|home| home.is_dir()) {
            None => writeln!(out, "  no plugin home is there")?,
            Some(home) => {
                let folder = home.join(api_version).join(kind.to_lowercase());
                for (file, is) in [
                    (folder.join(kind), "taken first"),
                    (folder.join(format!("{kind}.so")), "taken where there is no executable"),
                ] {
                    let state = if file.exists() { is } else { "not there" };
                    writeln!(out, "  {}: {state}", file.display())?;
                }
            }
        }
    }
    writeln!(out, "Required by {}", directory.join("plugins.yaml").display())?;
    for (project, requirement) in manager.requirements() {
        let state = match manager.installed(project, requirement) {
            Ok(Some(verified)) => does(&manager, options, &verified.installed, wanted),
            Ok(None) => "not installed: rustomize plugin install".to_owned(),
            Err(e) => e.to_string(),
        };
        writeln!(out, "  {} ({}, {}): {state}", requirement.name, requirement.source, requirement.constraint)?;
    }
    writeln!(out, "Installed below {}", manager.root.display())?;
    for candidate in all(&manager.root, &Platform::host()).into_iter().map(Candidate::verified) {
        let state = match &candidate.verdict {
            Ok(installed) => does(&manager, options, installed, wanted),
            Err(why) => format!("not considered: {why}"),
        };
        writeln!(out, "  {}: {state}", candidate.path.display())?;
    }
    if let Some((api_version, kind)) = wanted {
        writeln!(out, "{}", verdict(&manager, options, api_version, kind))?;
    }
    Ok(())
}

/// What a build would use.
fn verdict(manager: &Manager, options: &PluginOptions, api_version: &str, kind: &str) -> String {
    let id = ResId::new(Gvk::new(api_version, kind), "any", "");
    let options = PluginOptions { homes: locate::homes(|name| variable(name).map(Into::into)), ..options.clone() };
    match locate::locate(&options, &id) {
        Ok(Some(Placed::Executable(path) | Placed::SharedObject { path, .. })) => {
            format!("A build uses {}", path.display())
        }
        Err(e) => format!("A build fails: {e}"),
        Ok(None) => {
            let roles = [Role::Generator, Role::Transformer, Role::Validator];
            let found = roles.iter().find_map(|role| manager.find(&options, &id, *role, None).transpose());
            match found.transpose() {
                Ok(Some(Use::Installed(found))) => format!("A build uses {}", found.installed.path.display()),
                Ok(Some(Use::Bundled(Placed::Executable(path) | Placed::SharedObject { path, .. }))) => {
                    format!("A build uses {}", path.display())
                }
                Ok(Some(Use::Ambient(path))) => format!("A build uses {}, which is in PATH", path.display()),
                Ok(None) => "A build fails: nothing is for that kind".to_owned(),
                Err(e) => format!("A build fails: {e}"),
            }
        }
    }
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
