//! The user's own configuration of helm: logins at registries, and repositories with their
//! credentials. helm reads these files itself: no credential is read here or becomes an argument.

use crate::limit::ReadFile;
use rustomize_base::host::Host;
use rustomize_engine::stage::Build;
use rustomize_yaml::{Node, documents};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

/// A file of the user's configuration.
#[derive(Clone, Copy)]
struct UserFile {
    /// The variable that names the file.
    variable: &'static str,
    /// The default place of the file below helm's configuration directory.
    path: &'static str,
}

const REGISTRIES: UserFile = UserFile { variable: "HELM_REGISTRY_CONFIG", path: "registry/config.json" };
const REPOSITORIES: UserFile = UserFile { variable: "HELM_REPOSITORY_CONFIG", path: "repositories.yaml" };

fn path_in(host: &dyn Host, name: &str) -> Option<PathBuf> {
    host.set_variable(name).map(PathBuf::from)
}

/// The directory of the user's configurations, as helm knows it on this system.
fn configurations(host: &dyn Host) -> Option<PathBuf> {
    if cfg!(windows) {
        return path_in(host, "APPDATA");
    }
    let below = if cfg!(target_os = "macos") { "Library/Preferences" } else { ".config" };
    Some(path_in(host, "HOME")?.join(below))
}

/// The path of a file: the value of its variable, or its place in the user's configuration
/// directory.
fn path_of(host: &dyn Host, file: UserFile) -> Option<PathBuf> {
    path_in(host, file.variable).or_else(|| {
        let directory = path_in(host, "HELM_CONFIG_HOME").or_else(|| {
            let configuration = path_in(host, "XDG_CONFIG_HOME").or_else(|| configurations(host));
            Some(configuration?.join("helm"))
        });
        Some(directory?.join(file.path))
    })
}

/// The variables that let helm find the user's files.
pub(super) fn environment(host: &dyn Host) -> Vec<(Cow<'static, str>, OsString)> {
    let set = |file: UserFile| Some((file.variable.into(), path_of(host, file)?.into()));
    [REGISTRIES, REPOSITORIES].into_iter().filter_map(set).collect()
}

/// The name that the user has given to a repository with this URL.
pub(super) fn repository(build: &Build<'_>, host: &dyn Host, url: &str) -> Option<String> {
    let path = path_of(host, REPOSITORIES)?;
    let text = build.cx.options.file_limit.read_to_string(&path).ok()?;
    let source = build.arena.add_source(path.display().to_string(), text);
    let document = documents(build.arena, source).ok()?.into_iter().next()?;
    let plain = |url: &str| url.trim_end_matches('/').to_owned();
    let entries = document.get("repositories").and_then(Node::as_sequence)?;
    let entry = entries.iter().find(|entry| entry.get_text("url").is_some_and(|known| plain(known) == plain(url)))?;
    // helm would read other names as an option, a path or a URL.
    entry.get_text("name").filter(|name| !name.starts_with('-') && !name.contains(['/', ':'])).map(str::to_owned)
}
