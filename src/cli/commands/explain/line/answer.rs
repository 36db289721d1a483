//! [`Answer`]: what is said of a line.

use super::effects::{Effects, Target};
use super::extent::Reason;
use super::place::FileLine;

/// What is said of a line.
pub(super) struct Answer<'t> {
    pub place: FileLine<'t>,
    /// The lines around it whose effects are shown: the line itself, or the value or entry that it
    /// is a part of.
    pub lines: (usize, usize),
    /// The reason for which a line of this kind has no effect.
    pub reason: Reason,
    /// The roots that were built, and the effects of the lines in each.
    pub roots: Vec<(String, Effects)>,
}

impl<'t> Answer<'t> {
    /// Keeps the effects of the smallest lines around the line that have an effect in any root.
    pub(super) fn of(place: FileLine<'t>, target: &Target, mut roots: Vec<(String, Effects)>) -> Self {
        let rank = roots.iter().filter(|(_, effects)| !effects.is_empty()).map(|(_, effects)| effects.rank).min();
        for (_, effects) in &mut roots {
            if Some(effects.rank) != rank {
                *effects = Effects::default();
            }
        }
        let lines = rank.and_then(|rank| target.extent.around.get(rank).copied()).unwrap_or((place.line, place.line));
        Answer { place, lines, reason: target.extent.reason, roots }
    }
}
