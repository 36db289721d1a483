//! [`distinct`]: the different answers of resources to a question.

use super::Resource;
use rustomize_base::meter::FastSet;
use rustomize_base::parallel;
use std::hash::Hash;

/// So many answers are compared one by one.
const FEW: usize = 8;

/// The different answers of resources to `ask`. O(n), on up to `threads` threads.
pub fn distinct<'a, K: Copy + Hash + Eq + Send>(
    resources: &[Resource<'a>],
    threads: usize,
    ask: impl Fn(&Resource<'a>) -> Option<K> + Sync,
) -> FastSet<K> {
    let ask_run = || {
        |run: &[Resource<'a>]| {
            // Many resources give one of a few answers.
            let (mut few, mut all) = (Vec::new(), FastSet::default());
            for answer in run.iter().filter_map(&ask) {
                if !few.contains(&answer) && all.insert(answer) && few.len() < FEW {
                    few.push(answer);
                }
            }
            all
        }
    };
    let mut runs = parallel::runs(resources, threads, ask_run).into_iter();
    let mut all = runs.next().unwrap_or_default();
    all.extend(runs.flatten());
    all
}
