//! The user's own configuration of helm: logins at registries, and repositories with their
//! credentials. helm reads these files itself: no credential is read here or becomes an argument.

use super::Variable;
use crate::limit::ReadFile;
use rustomize_engine::stage::Build;
use rustomize_yaml::{Node, documents};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that name the files, each with the default place of its file below helm's
/// configuration directory.
const FILES: [(&str, &str); 2] =
    [("HELM_REGISTRY_CONFIG", "registry/config.json"), (REPOSITORIES, "repositories.yaml")];

/// The variable that names the file of repositories.
const REPOSITORIES: &str = "HELM_REPOSITORY_CONFIG";

fn path_in(variable: Variable, name: &str) -> Option<PathBuf> {
    variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A file of the user's configuration: the value of its variable, or its place in the user's
/// configuration directory.
fn file(variable: Variable, (name, below): (&str, &str)) -> Option<PathBuf> {
    path_in(variable, name).or_else(|| {
        let directory = path_in(variable, "HELM_CONFIG_HOME").or_else(|| {
            let configuration = path_in(variable, "XDG_CONFIG_HOME");
            Some(configuration.or_else(|| Some(path_in(variable, "HOME")?.join(".config")))?.join("helm"))
        });
        Some(directory?.join(below))
    })
}

/// The variables that let helm find the user's files.
pub fn environment(variable: Variable) -> Vec<(Cow<'static, str>, OsString)> {
    let found = FILES.into_iter().filter_map(|entry| Some((entry.0.into(), file(variable, entry)?.into())));
    found.collect()
}

/// The name that the user has given to a repository with this URL.
pub fn repository(build: &Build<'_>, variable: Variable, url: &str) -> Option<String> {
    let path = file(variable, FILES[1])?;
    let text = build.cx.options.file_limit.read_to_string(&path).ok()?;
    let source = build.arena.add_source(path.display().to_string(), text);
    let document = documents(build.arena, source).ok()?.into_iter().next()?;
    let plain = |url: &str| url.trim_end_matches('/').to_owned();
    let entries = document.get("repositories").and_then(Node::as_sequence)?;
    let entry = entries.iter().find(|entry| entry.get_text("url").is_some_and(|known| plain(known) == plain(url)))?;
    // helm would read other names as an option, a path or a URL.
    entry.get_text("name").filter(|name| !name.starts_with('-') && !name.contains(['/', ':'])).map(str::to_owned)
}
