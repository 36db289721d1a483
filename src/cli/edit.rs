//! `edit`: changes of the kustomization file of the working directory.

use super::compat::{self, Versions};
use super::edit_args::{Add, Edit, EditCommand, Patch, Remove, Set, SetValues, Sources};
use super::writer::{self, Shown};
use super::{cache, signals};
use crate::diag;
use crate::edit::generators::{self, Kind};
use crate::edit::lists::{
    self, COMPONENTS, CONFIGURATIONS, GENERATORS, REMOVED_COMPONENTS, RESOURCES, TRANSFORMERS, VALIDATORS,
};
use crate::edit::metadata::{self, Adding, Metadata};
use crate::edit::{Place, fix, images, patches, replicas, texts};
use crate::load::{Disk, RemoteOptions};
use crate::pipeline::object;
use crate::stage::Options;
use crate::workspace::{self, Workspace};
use anyhow::Result;

/// Runs `edit`.
///
/// # Errors
/// The arguments do not fit, or the file cannot be changed.
pub fn run(command: &EditCommand) -> Result<()> {
    let mut place = Place::new(options(command.compat)?);
    let result = match &command.verb {
        Edit::Add { what } => add(&mut place, what),
        Edit::Set { what } => set(&mut place, what),
        Edit::Remove { what } => remove(&mut place, what),
        Edit::Fix { vars, .. } => return self::fix(&mut place, is_on(*vars)),
        Edit::AlphaListBuiltinPlugin { .. } => return list_builtin_plugins(),
    };
    show_notes(&mut place);
    Ok(result?)
}

/// The options of loading in the working directory, as those of a build without other flags.
///
/// # Errors
/// As [`compat::of_root`].
pub(super) fn options(version: Option<Versions>) -> Result<Options> {
    let remote = RemoteOptions { cache: cache::writable(), ..RemoteOptions::default() };
    let compat = compat::of_root(version, ".")?;
    Ok(Options { compat, remote, children: signals::children().clone(), ..Options::default() })
}

fn show_notes(place: &mut Place) {
    for note in place.take_notes() {
        writer::say(&note);
    }
}

pub(super) fn is_on(flag: Option<bool>) -> bool {
    flag.unwrap_or(false)
}

pub(super) fn text(flag: &Option<String>) -> String {
    flag.clone().unwrap_or_default()
}

fn add(place: &mut Place, what: &Add) -> diag::Result<()> {
    match what {
        Add::Resource { words, no_verify } => lists::add_references(place, RESOURCES, words, !is_on(*no_verify)),
        Add::Base(words) => lists::add_bases(place, &words.words),
        Add::Component(words) => lists::add_references(place, COMPONENTS, &words.words, true),
        Add::Generator(words) => lists::add_files(place, GENERATORS, &words.words),
        Add::Transformer(words) => lists::add_files(place, TRANSFORMERS, &words.words),
        Add::Validator(words) => lists::add_files(place, VALIDATORS, &words.words),
        Add::Configuration(words) => lists::add_files(place, CONFIGURATIONS, &words.words),
        Add::Patch(flags) => patches::add(place, &patch(flags)),
        Add::Configmap { words, sources, behavior } => {
            let sources = generators::Sources { behavior: text(behavior), ..self::sources(sources) };
            generators::add(place, Kind::ConfigMap, words, &sources)
        }
        Add::Secret { words, sources, secret_type } => {
            let sources = generators::Sources { secret_type: secret_type.clone(), ..self::sources(sources) };
            generators::add(place, Kind::Secret, words, &sources)
        }
        Add::Label { words, force, without_selector, include_templates } => {
            let how = Adding {
                force: is_on(force.force),
                without_selector: is_on(*without_selector),
                include_templates: is_on(*include_templates),
            };
            metadata::add(place, Metadata::Label, how, words)
        }
        Add::Annotation { words, force } => {
            let how = Adding { force: is_on(force.force), ..Adding::default() };
            metadata::add(place, Metadata::Annotation, how, words)
        }
        Add::Buildmetadata(words) => lists::add_build_metadata(place, &words.words),
    }
}

fn set(place: &mut Place, what: &Set) -> diag::Result<()> {
    match what {
        Set::Image(words) => images::set(place, &words.words),
        Set::Replicas(words) => replicas::set(place, &words.words),
        Set::Namespace(words) => texts::set(place, "namespace", "namespace", &words.words),
        Set::Nameprefix(words) => texts::set(place, "namePrefix", "prefix", &words.words),
        Set::Namesuffix(words) => texts::set(place, "nameSuffix", "suffix", &words.words),
        Set::Label(words) => metadata::set(place, Metadata::Label, &words.words),
        Set::Annotation(words) => metadata::set(place, Metadata::Annotation, &words.words),
        Set::Buildmetadata(words) => lists::set_build_metadata(place, &words.words),
        Set::Configmap(values) => set_values(place, Kind::ConfigMap, values),
        Set::Secret(values) => set_values(place, Kind::Secret, values),
    }
}

fn set_values(place: &mut Place, kind: Kind, values: &SetValues) -> diag::Result<()> {
    let sources = generators::Sources {
        literals: values.from_literal.clone(),
        namespace: text(&values.namespace),
        ..generators::Sources::default()
    };
    generators::set(place, kind, &values.words, &sources, &text(&values.new_namespace))
}

fn remove(place: &mut Place, what: &Remove) -> diag::Result<()> {
    match what {
        Remove::Resource(words) => lists::remove(place, RESOURCES, &words.words),
        Remove::Component(words) => lists::remove(place, REMOVED_COMPONENTS, &words.words),
        Remove::Transformer(words) => lists::remove(place, TRANSFORMERS, &words.words),
        Remove::Patch(flags) => patches::remove(place, &patch(flags)),
        Remove::Configmap(named) => generators::remove(place, Kind::ConfigMap, &named.words, &text(&named.namespace)),
        Remove::Secret(named) => generators::remove(place, Kind::Secret, &named.words, &text(&named.namespace)),
        Remove::Label(keys) => metadata::remove(place, Metadata::Label, &keys.words, is_on(keys.ignore_non_existence)),
        Remove::Annotation(keys) => {
            metadata::remove(place, Metadata::Annotation, &keys.words, is_on(keys.ignore_non_existence))
        }
        Remove::Buildmetadata(words) => lists::remove_build_metadata(place, &words.words),
    }
}

fn sources(flags: &Sources) -> generators::Sources {
    generators::Sources {
        files: flags.from_file.clone(),
        literals: flags.from_literal.clone(),
        env_file: text(&flags.from_env_file),
        disable_name_suffix_hash: is_on(flags.disable_name_suffix_hash),
        namespace: text(&flags.namespace),
        ..generators::Sources::default()
    }
}

fn patch(flags: &Patch) -> patches::Patch {
    patches::Patch {
        path: text(&flags.path),
        patch: text(&flags.patch),
        target: vec![
            ("group", text(&flags.group)),
            ("version", text(&flags.version)),
            ("kind", text(&flags.kind)),
            ("name", text(&flags.name)),
            ("namespace", text(&flags.namespace)),
            ("annotationSelector", text(&flags.annotation_selector)),
            ("labelSelector", text(&flags.label_selector)),
        ],
    }
}

const FIXED: &str = "
Fixed fields:
  patchesJson6902 -> patches
  patchesStrategicMerge -> patches
  commonLabels -> labels";

const VARS_ARE_LEFT: &str = "

To convert vars -> replacements, run the command `kustomize edit fix --vars`

WARNING: Converting vars to replacements will potentially overwrite many resource files 
and the resulting files may not produce the same output when `kustomize build` is run. 
We recommend doing this in a clean git repository where the change is easy to undo.";

/// Turns deprecated fields into current ones, and says so if the build gives something else then.
fn fix(place: &mut Place, has_vars: bool) -> Result<()> {
    let before = build(place.options());
    let fixed = fix::fix(place, has_vars);
    show_notes(place);
    fixed?;
    let fixed = format!("{FIXED}{}\n", if has_vars { "\n  vars -> replacements" } else { VARS_ARE_LEFT });
    writer::print(&Shown::message(&fixed))?;
    match build(place.options()) {
        Err(e) => {
            let fault = "Warning: 'Fixed' kustomization now produces the error when running `kustomize build`";
            writer::data([format!("{}\n", Shown::item(&format!("{fault}: {e}")))])?;
        }
        Ok(after) if before.as_ref().ok() != Some(&after) => {
            let fault = "Warning: 'Fixed' kustomization now produces different output when running `kustomize build`";
            writer::print(&Shown::values(&format!("{fault}:\n...{after}...\n")))?;
        }
        Ok(_) => {}
    }
    Ok(())
}

/// What `build` prints with these options.
fn build(options: &Options) -> diag::Result<String> {
    let workspace = Workspace::new();
    let disk = Disk::new();
    workspace::build(&workspace, &disk, ".", options).value?.print()
}

fn list_builtin_plugins() -> Result<()> {
    let mut names: Vec<&str> =
        object::GENERATORS.iter().chain(&object::TRANSFORMERS).map(|builtin| builtin.kind).collect();
    names.sort_unstable();
    let lines = names.iter().map(|name| format!(" * {name}\n"));
    Ok(writer::print(&Shown::message(&format!("Builtin plugins:\n\n{}", lines.collect::<String>())))?)
}
