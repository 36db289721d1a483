//! The files with which a plugin calls the plugins that it needs, in its own directory.
//!
//! `.rustomize/sdk/<name>/call` starts the other plugin as a build would, with the arguments that
//! it is given; `plugin.json` beside it says which version that is, how it speaks and what it does,
//! with the schemas of its kinds; `client.py` has a class for each kind, with types.
//! The sandbox lets a plugin read those that it needs.

use crate::author::bindings;
use crate::author::client::{CLIENT, NeededPlugin, SDK};
use crate::author::describe::Description;
use crate::diag::Result;
use crate::id::content::MADE;
use crate::id::requirement::Requirement;
use crate::id::shell::assignments;
use crate::store::discover::Installed;
use crate::store::exclusive::ExclusiveRoot;
use crate::store::installed_artifacts;
use crate::store::sibling_files::sum_file;
use rustomize_base::shell::quoted;
use rustomize_files::{self as files, RECORD};
use rustomize_plugins::failure::bad_plugin;
use rustomize_plugins::program::PARAMETERS;
use rustomize_process::Launch;
use std::path::Path;

/// An installed plugin that another one needs.
pub(super) struct LinkedPlugin<'l> {
    pub(super) wanted: &'l Requirement,
    pub(super) installed: &'l Installed,
    pub(super) description: &'l Description,
    pub(super) launch: Launch,
}

/// Writes the clients of the plugins that a plugin needs into its directory. Earlier clients are
/// removed.
///
/// # Errors
/// A name cannot be that of a file, or the directory cannot be written.
pub(super) fn link(root: &ExclusiveRoot, directory: &Path, needs: &[LinkedPlugin<'_>]) -> Result<()> {
    let folder = directory.join(MADE).join(SDK);
    let cannot = |e: std::io::Error| bad_plugin(format!("cannot write to '{}': {e}", folder.display()));
    let mut is_changed = false;
    let known: Vec<&str> = needs.iter().map(|need| need.wanted.name.as_str()).collect();
    let held = files::directory(directory).map_err(cannot)?;
    let clients = match held.below(&Path::new(MADE).join(SDK)) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && needs.is_empty() => return Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => held.make(&Path::new(MADE).join(SDK), 0o755),
        other => other,
    };
    // An installation step may have put a link there.
    let clients = clients.map_err(cannot)?;
    for (name, _) in clients.entries().map_err(cannot)? {
        if !known.iter().any(|known| name == **known) {
            clients.remove(Path::new(&name)).map_err(cannot)?;
            is_changed = true;
        }
    }
    for LinkedPlugin { wanted, installed, description, launch } in needs {
        let name = wanted.name.as_str();
        if name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            return Err(bad_plugin(format!("the dependency's name '{name}' is not a valid name of a directory")));
        }
        let words = [launch.program.as_os_str()].into_iter().chain(launch.args.iter().map(|arg| arg.as_os_str()));
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let client = NeededPlugin {
            source: installed.source.to_string(),
            version: installed.file.version.to_string(),
            path: installed.path.clone(),
            sum: installed.sum.clone(),
            command: words.clone(),
            description: (*description).clone(),
        };
        let shown = format!("{} v{}", client.source, client.version);
        let call: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let files = [
            (CLIENT, serde_json::to_string_pretty(&client).unwrap_or_default() + "\n", 0o644),
            ("client.py", bindings::python(&shown, description), 0o644),
            (
                "call",
                format!(
                    "#!/bin/sh\n{PARAMETERS}={} {}exec {} \"$@\"\n",
                    quoted(&wanted.parameters),
                    assignments(&launch.variables),
                    call.join(" ")
                ),
                0o755,
            ),
        ];
        for (file, text, mode) in files {
            let is_there = clients.read(&Path::new(name).join(file), RECORD).is_ok_and(|old| old == text.as_bytes());
            if !is_there {
                root.write(&folder.join(name).join(file), &text, mode)?;
                is_changed = true;
            }
        }
    }
    let is_installed = sum_file(directory).is_file();
    if is_changed && is_installed { installed_artifacts::record_again(root, directory, SDK) } else { Ok(()) }
}
