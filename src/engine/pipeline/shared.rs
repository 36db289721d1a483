//! Bases that several builds have in common.
//!
//! The first build that needs a base accumulates it for itself, for most bases have one use. The
//! second one accumulates it for all, in a build of its own without plugins and helm: so a layer
//! can be shared if it gives the same in every build. If that build fails, each build that needs
//! the layer accumulates it by itself, and reports its faults with the entries that led there. No
//! thread waits for another one: two that ask at the same time both do the work.

use super::Target;
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::stage::layers::{Key, Known, Layer};
use crate::stage::{Accumulator, Build, Context, HelmOptions, Layers, NoPlugins, Options};
use std::rc::Rc;
use std::sync::Arc;

/// The function that accumulates the root of a target.
pub(super) type Accumulate<'a> = fn(&mut Build<'a>, &Target<'a>) -> Result<Accumulator<'a>>;

/// The resources of a build's own root, if other builds have shared it as their base.
pub(super) fn of_root<'a>(build: &mut Build<'a>, target: &Target<'a>) -> Option<Accumulator<'a>> {
    let layer = layers(build)?.get(&key(target))?;
    Some(adopt(build, &layer))
}

/// The resources of a base of the root `above`: made here, made for all, or taken from a build that
/// has shared it.
///
/// # Errors
/// The errors of `accumulate`.
pub(super) fn of_base<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    above: &Root,
    accumulate: Accumulate<'a>,
) -> Result<Accumulator<'a>> {
    let Some(layers) = layers(build) else { return accumulate(build, target) };
    let key = key(target);
    match layers.ask(&key, &above.real) {
        Some(Known::Shared(layer)) => return Ok(adopt(build, &layer)),
        // A base that one base alone names is shared with that one.
        Some(Known::Asked(by)) if !build.is_of_layer() || *by != *above.real => {
            if let Some(layer) = for_all(build, target, accumulate).ok().flatten() {
                layers.keep(key, Known::Shared(Arc::clone(&layer)));
                return Ok(adopt(build, &layer));
            }
            layers.keep(key.clone(), Known::Own);
        }
        Some(Known::Own) if build.is_of_layer() => {
            return Err(Error::new(Code::Internal, "each build accumulates this base by itself"));
        }
        _ => {}
    }
    let all = accumulate(build, target);
    if build.is_of_layer() && all.is_err() {
        // The bases above a base that cannot be shared cannot be shared either.
        layers.keep(key, Known::Own);
    }
    all
}

/// The layers that a build shares with others: none if it notes origins, which begin at its own
/// root, is traced, or has a schema of its own.
fn layers<'a>(build: &Build<'a>) -> Option<Arc<Layers<'a>>> {
    let is_usual = !build.keeps_origins()
        && build.trace.is_none()
        && !build.cx.options.crd_merge_keys
        && !build.schema.is_chosen()
        && build.cx.options.schemas.is_empty();
    build.cx.layers.clone().filter(|_| is_usual)
}

fn key(target: &Target<'_>) -> Key {
    (target.root.real.to_path_buf(), target.root.shown.clone())
}

/// Accumulates a target in a build of its own, which is independent of the build that asks. Returns
/// `None` if the target chooses a schema, which that build would miss.
fn for_all<'a>(build: &Build<'a>, target: &Target<'a>, accumulate: Accumulate<'a>) -> Result<Option<Arc<Layer<'a>>>> {
    let options = Options {
        plugins: Arc::new(NoPlugins),
        helm: HelmOptions { enabled: false, ..HelmOptions::default() },
        ..build.cx.options.clone()
    };
    let cx = Context { arena: build.arena, files: build.cx.files.fork(), options, layers: build.cx.layers.clone() };
    let mut own = Build::of_layer(&Rc::new(cx));
    let all = accumulate(&mut own, target)?;
    if own.schema.is_chosen() {
        return Ok(None);
    }
    let (files, uses_builtin_schema) = (own.cx.files.read(), own.schema.is_builtin_used());
    Ok(Some(Arc::new(Layer {
        all,
        warnings: own.warnings,
        findings: own.findings.unwrap_or_default(),
        for_kinds: own.for_kinds,
        of_kind: own.of_kind,
        uses: own.uses,
        files,
        uses_builtin_schema,
    })))
}

/// Adds the warnings, findings and files of a layer to those of a build, and returns a copy of its
/// resources.
fn adopt<'a>(build: &mut Build<'a>, layer: &Layer<'a>) -> Accumulator<'a> {
    build.warnings.extend(layer.warnings.iter().cloned());
    build.find(|| layer.findings.iter().cloned());
    build.for_kinds.extend(layer.for_kinds.iter().cloned());
    build.of_kind.extend(layer.of_kind.iter().cloned());
    build.uses.extend(&layer.uses);
    layer.files.iter().for_each(|file| build.cx.files.note(file));
    if layer.uses_builtin_schema {
        build.schema.use_builtin();
    }
    layer.all.copy()
}
