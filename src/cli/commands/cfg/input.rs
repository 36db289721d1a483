//! The input of the commands of `cfg`: packages of a directory, or stdin, and the resources to
//! leave out.

use crate::flags::switch::{Switch, is_on};
use anyhow::Result;
use clap::Args;
use rustomize_edit::package::filter::LocalChoice;
use rustomize_edit::package::read;

/// The flags of `cfg cat` and `cfg tree` for resources that are not for the cluster.
#[derive(Args)]
pub(crate) struct LocalArgs {
    /// Take resources with the annotation config.kubernetes.io/local-config, too
    #[arg(long, switch())]
    pub include_local: Option<bool>,

    /// Leave out resources without that annotation
    #[arg(long, switch())]
    pub exclude_non_local: Option<bool>,
}

impl LocalArgs {
    /// The choice that the flags make.
    pub(crate) fn chosen(&self) -> LocalChoice {
        LocalChoice { with_local: is_on(self.include_local), without_others: is_on(self.exclude_non_local) }
    }
}

/// The text on stdin.
///
/// # Errors
/// stdin cannot be read, or is not text.
pub(crate) fn stdin() -> Result<String> {
    Ok(read::all_of(std::io::stdin(), "stdin")?)
}

/// Prints each package of a directory, as kustomize does: with `---` after each package that prints
/// anything, and a line end between two packages.
///
/// # Errors
/// The packages cannot be found, or one cannot be printed.
pub(crate) fn packages_in_turn(
    root: &str,
    is_deep: bool,
    mut print: impl FnMut(&str) -> Result<String>,
) -> Result<String> {
    let mut printed = String::new();
    for (i, package) in read::packages(root, is_deep)?.iter().enumerate() {
        printed.push_str(if i == 0 { "" } else { "\n" });
        let text = print(package)?;
        if !text.is_empty() {
            printed.push_str(&text);
            printed.push_str("---");
        }
    }
    Ok(printed.strip_suffix("---").map(str::to_owned).unwrap_or(printed))
}
