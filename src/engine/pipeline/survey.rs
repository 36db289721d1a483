//! Finds all remote parts that a root needs and that cannot be had, once a build has failed because
//! of one of them.
//!
//! The kustomizations of the tree are read as a build reads them, and nothing is transformed.
//! O(size of the kustomizations and of the files that they name).

use super::accumulate::{self, Entry};
use super::{Target, builtin, plan};
use crate::config::Written;
use crate::diag::{Code, Error, Result};
use crate::generator::helm_charts::Charts;
use crate::load::is_url;
use crate::stage::{Build, Context};
use rustomize_base::meter::FastSet;
use rustomize_base::shell::quoted;
use rustomize_yaml::Pos;
use std::path::Path;
use std::rc::Rc;

/// An error of a build, with all remote parts that are missing if one of them is its cause.
pub(super) fn explained<'a>(cx: &Rc<Context<'a>>, directory: &str, error: Error) -> Error {
    let (is_offline, is_locked) = (cx.options.remote.is_offline(), cx.options.remote.is_locked());
    if error.code() != Code::NotFetched || !(is_offline || is_locked) {
        return error;
    }
    let mut survey = Survey { found: Vec::new(), seen: FastSet::default() };
    let mut build = Build::new(cx);
    let walked = survey.root(&mut build, directory);
    survey.note(walked);
    let with_command = |error: Error| if is_offline { error.hint(fetch_command(cx, directory)) } else { error };
    if survey.found.len() < 2 {
        return with_command(error);
    }
    let hints: Vec<String> = survey.found.iter().flat_map(|missing| missing.hints()).cloned().collect();
    let mut message = format!("{} remote parts are missing:", survey.found.len());
    for missing in survey.found {
        let missing = missing.located(cx.arena.heap());
        message.push_str(&format!("\n    {}", missing.message()));
        if let Some(place) = missing.place() {
            message.push_str(&format!("\n      at {place}"));
        }
    }
    let mut error = Error::new(Code::NotFetched, message);
    for hint in hints {
        if !error.hints().contains(&hint) {
            error = error.hint(hint);
        }
    }
    with_command(error)
}

/// The command that fetches what a build needs.
fn fetch_command(cx: &Context<'_>, directory: &str) -> String {
    let helm = if cx.options.helm.enabled { " --enable-helm" } else { "" };
    let locked = if cx.options.remote.is_locked() { " --locked" } else { "" };
    format!("build once without --offline: rustomize build{helm}{locked} {} > /dev/null", quoted(directory))
}

/// A walk over the kustomizations of a tree.
struct Survey {
    found: Vec<Error>,
    /// The roots that were walked over.
    seen: FastSet<Rc<Path>>,
}

impl Survey {
    /// Notes an error that says that a part is missing; others are those of the build itself.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(e) if e.code() == Code::NotFetched => {
                if self.found.iter().all(|known| known.message() != e.message()) {
                    self.found.push(e);
                }
            }
            Err(_) => {}
        }
        None
    }

    fn root(&mut self, build: &mut Build<'_>, directory: &str) -> Result<()> {
        let root = build.cx.files.root(directory)?;
        let target = Target::load(build, root)?;
        self.target(build, &target);
        Ok(())
    }

    fn target<'a>(&mut self, build: &mut Build<'a>, target: &Target<'a>) {
        if self.seen.insert(Rc::clone(&target.root.real)) {
            accumulate::on_stack(&target.root, || self.entries(build, target));
        }
    }

    fn entries<'a>(&mut self, build: &mut Build<'a>, target: &Target<'a>) {
        let k = &target.kustomization;
        let plugins = k.generators.iter().chain(&k.transformers).chain(&k.validators);
        for entry in k.resources.iter().chain(&k.components).chain(plugins) {
            self.entry(build, target, entry);
        }
        let kinds = k.config_map_generator.iter().chain(&k.secret_generator);
        let sources = kinds.flat_map(|args| args.envs.iter().chain(&args.files)).map(|source| {
            let is_named = source.split_once('=').filter(|(_, path)| is_url(path));
            (is_named.map_or(source.text, |(_, path)| path), source.pos)
        });
        let files = k.patches_strategic_merge.iter().chain(&k.configurations).chain(&k.crds);
        let files = files.map(|file| (file.text, file.pos));
        let patches = k.patches.iter().chain(&k.patches_json6902).map(|patch| (patch.path, patch.pos));
        let replacements = k.replacements.iter().map(|replacement| (replacement.path, replacement.pos));
        let values = k.helm_charts.iter().flat_map(|chart| {
            let files = chart.additional_values_files.iter().chain([&chart.values_file]);
            files.map(|file| (*file, chart.pos)).collect::<Vec<_>>()
        });
        let openapi = [(k.openapi.path, k.openapi.pos)];
        let files = sources.chain(files).chain(patches).chain(replacements).chain(values).chain(openapi);
        files.for_each(|(path, pos)| self.file(build, target, path, pos));
        self.generators(build, target);
    }

    /// The file or root that an entry of `resources` or the like names, with its own entries.
    fn entry<'a>(&mut self, build: &mut Build<'a>, target: &Target<'a>, entry: &Written<'a>) {
        if entry.contains('\n') {
            return;
        }
        let loaded = accumulate::load(build, &target.root, entry, true).map_err(|e| e.at(entry.pos));
        if let Some(Entry::Root(root)) = self.note(loaded)
            && let Some(base) = self.note(Target::load_below(build, root, target))
        {
            self.target(build, &base);
        }
    }

    /// A file that a field names, if it is remote.
    fn file<'a>(&mut self, build: &mut Build<'a>, target: &Target<'a>, path: &str, pos: Pos) {
        if is_url(path) {
            let loaded = build.cx.files.bytes(&target.root, path).map_err(|e| e.error.at(pos));
            self.note(loaded);
        }
    }

    /// The charts of fields and of configuration objects.
    fn generators<'a>(&mut self, build: &mut Build<'a>, target: &Target<'a>) {
        let charts = Charts::default();
        let planned = plan::generators(build, target, &charts);
        for (generator, _, pos) in self.note(planned).into_iter().flatten() {
            let checked = generator.check_fetched(build).map_err(|e| e.at(pos));
            self.note(checked);
        }
        let configs = accumulate::plugin_configs(build, target, &target.kustomization.generators, "generators");
        for config in self.note(configs).into_iter().flatten().filter(builtin::is_builtin) {
            let generator = builtin::generator(build, target, &config, &charts);
            if let Some(generator) = self.note(generator) {
                let checked = generator.check_fetched(build).map_err(|e| e.at(config.pos()));
                self.note(checked);
            }
        }
    }
}
