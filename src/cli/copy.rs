//! `create` and `localize`: new kustomization files, and copies of kustomizations.

use super::copy_args::{Create, Localize};
use super::edit::{is_on, options, text};
use super::managed::variable;
use super::messages::Messages;
use super::writer;
use crate::create::{self, Wanted};
use crate::edit::Place;
use crate::localize::{self, Request};
use crate::stage::HelmOptions;
use anyhow::Result;

/// Runs `create`.
///
/// # Errors
/// As [`create::create`].
pub fn create(flags: &Create) -> Result<()> {
    let wanted = Wanted {
        resources: text(&flags.resources),
        namespace: text(&flags.namespace),
        name_prefix: text(&flags.nameprefix),
        name_suffix: text(&flags.namesuffix),
        labels: text(&flags.labels),
        annotations: text(&flags.annotations),
        detects: is_on(flags.autodetect),
        is_recursive: is_on(flags.recursive),
    };
    Ok(create::create(&Place::new(options(flags.compat)?), &wanted)?)
}

/// Runs `localize`.
///
/// # Errors
/// As [`localize::localize`].
pub fn localize(flags: &Localize, messages: &mut Messages) -> Result<()> {
    let mut options = options(flags.compat)?;
    options.helm = HelmOptions { enabled: is_on(flags.enable_helm), variable, ..HelmOptions::default() };
    let target = flags.target.as_deref().unwrap_or(".");
    let is_verified = !is_on(flags.no_verify);
    let made = localize::localize(&Request {
        target,
        scope: flags.scope.as_deref().unwrap_or_default(),
        destination: flags.destination.as_deref().unwrap_or_default(),
        is_verified,
        options: &options,
    });
    for warning in made.warnings {
        messages.warning(&warning, None);
    }
    let place = made.value?;
    let place = place.display();
    if is_verified {
        let words = "are the same after localization.";
        writer::say(&format!("VERIFICATION SUCCESS: `kustomize build` for {target} and {place} {words}"));
    }
    writer::say(&format!("SUCCESS: localized \"{target}\" to directory {place}"));
    Ok(())
}
