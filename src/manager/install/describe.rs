//! [`describe`]: the description of a plugin in a directory that is not installed.

use super::runtime;
use crate::author::describe::{DescribeError, Description};
use crate::author::manifest::Manifest;
use crate::diag::{Code, Error, Result};
use crate::id::content::{self, MADE};
use rustomize_files::Directory;
use rustomize_plugins::PluginOptions;
use std::path::Path;

/// Returns the description of the plugin in a directory: that of its manifest, or else the answer
/// of the plugin. A plugin that is not installed answers from a copy, in which the files that its
/// language needs are made as an installation makes them. The directory is not changed.
///
/// # Errors
/// The directory cannot be copied, a tool of the language is missing or fails, or the plugin does
/// not describe itself.
pub fn describe(manifest: &Manifest, directory: &Path, options: &PluginOptions) -> Result<Description> {
    if manifest.says_what() {
        return Ok(manifest.description.clone());
    }
    let ask = |directory: &Path| Description::ask(manifest.launch(directory), options).map_err(|e| silent(&e));
    if directory.join(MADE).is_dir() {
        return ask(directory).map(|said| manifest.complete(said));
    }
    let shown = directory.display();
    let cannot = |e| Error::io(&e, format!("cannot copy '{shown}' to a temporary directory: {e}"));
    let aside = options.children.directory("rustomize-plugin-").map_err(cannot)?;
    let copy = aside.path().join("plugin");
    let prepared = || -> std::io::Result<Directory> {
        let aside = Directory::open(aside.path())?;
        content::copy(&Directory::open(directory)?, &aside.make_new(Path::new("plugin"), 0o755)?)?;
        aside.make_new(Path::new("work"), 0o700)
    };
    let work = prepared().map_err(cannot)?;
    manifest.check_entry(&copy)?;
    runtime::prepare(manifest, &copy, &work, options)?;
    ask(&copy).map(|said| manifest.complete(said))
}

fn silent(e: &DescribeError) -> Error {
    let hint = "put its version and what it does into plugin.yaml: version: 1.2.3, generators: [...]";
    Error::new(Code::BadPlugin, format!("the plugin does not describe itself: {e}")).hint(hint)
}
