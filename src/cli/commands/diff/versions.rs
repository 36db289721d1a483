//! `diff --compat`: the sides are builds as of two versions of kustomize, and the behaviours that
//! cause the difference are named.

use crate::commands::diff::listing::counted;
use crate::commands::diff::sides::{Asked, Others, Side, Sides, built};
use crate::failures::Failures;
use crate::flags::compat::Versions;
use crate::groups::{Grouping, Groups};
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::roots;
use anyhow::{Result, bail};
use rustomize_base::compat::{Compat, Question, Recorder};
use rustomize_base::meter::FastMap;
use rustomize_engine::diag::Warned;
use rustomize_engine::stage::Options;
use rustomize_sources::Disk;

/// The behaviours in which two versions of kustomize differ for some roots.
pub(crate) struct Upgrade {
    pub before: Compat,
    pub after: Compat,
    /// The behaviours that change a resource.
    pub behaviours: Vec<Behaviour>,
}

/// A behaviour that differs, and the number of resources that it changes.
pub(crate) struct Behaviour {
    pub question: &'static Question,
    pub resources: usize,
    pub roots: usize,
}

/// Two versions of kustomize to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompatPair {
    pub before: Compat,
    pub after: Compat,
}

/// The versions that `--compat OLD..NEW` names.
///
/// # Errors
/// `--since` asks for two commits as well.
pub(crate) fn versions(compat: Option<Versions>, since: Option<&str>) -> Result<Option<CompatPair>> {
    match compat {
        Some(Versions { old: Some(_), .. }) if since.is_some() => {
            bail!("'diff' compares two commits or two versions of kustomize: leave out --since, or name one version")
        }
        Some(Versions { old: Some(before), new: after }) => Ok(Some(CompatPair { before, after })),
        _ => Ok(None),
    }
}

/// Builds each root as of both versions. Roots that do not build are among the failures. Roots that
/// differ are built again for each behaviour that their builds depend on, with that one behaviour
/// of the other version.
///
/// # Errors
/// No root is found, or a flag is not valid.
pub(crate) fn sides(
    request: &BuildRequest,
    CompatPair { before, after }: CompatPair,
    failures: &mut Failures,
    messages: &mut Messages,
) -> Result<(Vec<Sides>, Upgrade)> {
    let paths = roots::directories(request)?;
    let options = request.options_of(&paths)?;
    let recorders = [Recorder::start(), Recorder::start()];
    let mut of_version = |compat: Compat, recorder: &Recorder, asked: Asked<'_>| {
        let compat = recorder.record(compat);
        let named = |root: &String| format!("{root} as of {compat}");
        let names: Vec<String> = paths.iter().map(named).collect();
        let options: Vec<Options> = options.iter().map(|of_root| Options { compat, ..of_root.clone() }).collect();
        let results = built(request, &Disk::new(), &paths, &options, asked);
        let mut said = Groups::new(Grouping::said(request.roots.each));
        let sides = names.into_iter().zip(results).map(|(name, result)| {
            let Warned { value, warnings } = result?;
            warnings.into_iter().for_each(|warning| said.add(warning, Some(&name)));
            match value {
                Ok(side) => Some(Side { name, ..side }),
                Err(error) => {
                    failures.add(&name, &error);
                    None
                }
            }
        });
        let sides = sides.collect::<Vec<_>>();
        messages.warnings(&said.end());
        sides
    };
    let olds = of_version(before, &recorders[0], Asked::Nothing);
    let news = {
        let texts = paths.iter().zip(&olds).filter_map(|(root, side)| Some((root.as_str(), side.as_ref()?.texts())));
        let texts = texts.map(|(root, texts)| (root, texts.iter().map(String::as_str).collect()));
        of_version(after, &recorders[1], Asked::OfOthersThan(&Others::from_iter(texts)))
    };
    let both = paths.iter().zip(&options).zip(olds.into_iter().zip(news));
    let (mut sides, mut changed) = (Vec::new(), Vec::new());
    for ((root, options), both) in both {
        let (Some(before), Some(after)) = both else { continue };
        if differing(before.texts(), after.texts()) > 0 {
            changed.push((root, options, sides.len()));
        }
        sides.push(Sides { root: Some(root.clone()), before, after });
    }
    let mut behaviours: Vec<Behaviour> =
        before.differences(after).map(|question| Behaviour { question, resources: 0, roots: 0 }).collect();
    for behaviour in &mut behaviours {
        // Some behaviours only show together with others: then the later version without this
        // behaviour differs.
        let turned =
            [before.with_answer_of(after, behaviour.question), after.with_answer_of(before, behaviour.question)];
        for (side, with) in turned.into_iter().enumerate() {
            if behaviour.resources > 0 {
                break;
            }
            // A build that did not depend on the behaviour does not change with it.
            if !recorders[side].has_noted(behaviour.question) {
                continue;
            }
            let names: Vec<String> = changed.iter().map(|(root, ..)| (*root).clone()).collect();
            let options: Vec<Options> =
                changed.iter().map(|(_, options, _)| Options { compat: with, ..(*options).clone() }).collect();
            for ((.., place), result) in
                changed.iter().zip(built(request, &Disk::new(), &names, &options, Asked::Nothing))
            {
                let Some(Warned { value: Ok(other), .. }) = result else { continue };
                let known = if side == 0 { &sides[*place].before } else { &sides[*place].after };
                let resources = differing(known.texts(), other.texts());
                behaviour.resources += resources;
                behaviour.roots += usize::from(resources > 0);
            }
        }
    }
    behaviours.retain(|behaviour| behaviour.resources > 0);
    Ok((sides, Upgrade { before, after, behaviours }))
}

/// The number of resources that only one of two builds has: of the build with more of them. O(size
/// of the texts).
pub(crate) fn differing(before: &[String], after: &[String]) -> usize {
    let mut open: FastMap<&str, usize> = FastMap::default();
    before.iter().for_each(|text| *open.entry(text).or_default() += 1);
    let mut new = 0;
    for text in after {
        match open.get_mut(text.as_str()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => new += 1,
        }
    }
    new.max(open.values().sum())
}

impl Behaviour {
    /// The extent of the change, in words: `3 resources in 2 roots`.
    pub(crate) fn count(&self) -> String {
        format!("{} in {}", counted(self.resources, "resource"), counted(self.roots, "root"))
    }
}
