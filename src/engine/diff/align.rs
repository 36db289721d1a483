//! Pairs equal items of two lists without keys.
//!
//! Equal items at both ends are paired first. Between them, items that are in each list once are
//! paired if they come in the same order (the longest such sequence, as in patience diff). What is
//! left between two pairs is paired place by place: an item that has changed.

use rustomize_base::meter::{self, FastMap};

/// A place of an item in the first list, in the second list, or in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub before: Option<usize>,
    pub after: Option<usize>,
}

/// How items without an equal between two pairs are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// They are paired place by place: items with fields.
    Paired,
    /// The old ones come before the new ones: lines.
    Apart,
}

/// Aligns two lists of fingerprints. The places are in the order of both lists. O(n log n).
pub fn align(before: &[u64], after: &[u64], rest: Rest) -> Vec<Place> {
    let mut places = Vec::with_capacity(before.len().max(after.len()));
    let mut from = (0, 0);
    let equal = |a: &[u64], b: &[u64], from_end: bool| {
        let is_equal = |(x, y): &(&u64, &u64)| {
            meter::count(1);
            x == y
        };
        match from_end {
            false => a.iter().zip(b).take_while(is_equal).count(),
            true => a.iter().rev().zip(b.iter().rev()).take_while(is_equal).count(),
        }
    };
    let head = equal(before, after, false);
    let tail = equal(&before[head..], &after[head..], true);
    let ends = (before.len() - tail, after.len() - tail);
    let mut anchors: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    let middle = (&before[head..ends.0], &after[head..ends.1]);
    anchors.extend(common(middle.0, middle.1).into_iter().map(|(i, j)| (i + head, j + head)));
    anchors.extend((0..tail).map(|i| (ends.0 + i, ends.1 + i)));
    for (i, j) in anchors.into_iter().chain([(before.len(), after.len())]) {
        // Between two pairs there may be more equal items at the ends.
        let gap = (&before[from.0..i], &after[from.1..j]);
        let head = equal(gap.0, gap.1, false);
        let tail = equal(&gap.0[head..], &gap.1[head..], true);
        let (olds, news) = ((from.0 + head)..(i - tail), (from.1 + head)..(j - tail));
        places.extend((0..head).map(|n| both(from.0 + n, from.1 + n)));
        fill(&mut places, olds, news, rest);
        places.extend((0..tail).map(|n| both(i - tail + n, j - tail + n)));
        if i < before.len() {
            places.push(both(i, j));
        }
        from = (i + 1, j + 1);
    }
    places
}

fn both(before: usize, after: usize) -> Place {
    Place { before: Some(before), after: Some(after) }
}

/// Adds items without an equal.
fn fill(places: &mut Vec<Place>, olds: std::ops::Range<usize>, news: std::ops::Range<usize>, rest: Rest) {
    let paired = match rest {
        Rest::Paired => olds.len().min(news.len()),
        Rest::Apart => 0,
    };
    places.extend((0..paired).map(|n| both(olds.start + n, news.start + n)));
    places.extend(olds.skip(paired).map(|i| Place { before: Some(i), after: None }));
    places.extend(news.skip(paired).map(|j| Place { before: None, after: Some(j) }));
}

/// The longest sequence of items that both lists have once, in the same order.
fn common(before: &[u64], after: &[u64]) -> Vec<(usize, usize)> {
    // The last place of an item in each list, and its count there.
    let mut seen: FastMap<u64, [(usize, usize); 2]> = FastMap::default();
    for (side, items) in [before, after].into_iter().enumerate() {
        for (i, item) in items.iter().enumerate() {
            let known = &mut seen.entry(*item).or_default()[side];
            *known = (i, known.1 + 1);
        }
    }
    let once = before.iter().enumerate().filter_map(|(i, item)| match seen.get(item)? {
        [(_, 1), (j, 1)] => Some((i, *j)),
        _ => None,
    });
    longest_increasing(&once.collect::<Vec<_>>())
}

/// The longest subsequence whose second numbers increase. O(n log n).
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length: the place of the pair with which the best sequence of this length ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        meter::count(1);
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(place) = at {
        found.push(pairs[place]);
        at = previous[place];
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::{Rest, align};

    #[track_caller]
    fn check(before: &str, after: &str, rest: Rest, want: &str) {
        let items = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
        let item = |text: &str, i: Option<usize>| i.map_or(String::new(), |i| text[i..=i].to_owned());
        let places = align(&items(before), &items(after), rest);
        let shown = places.iter().map(|p| match (item(before, p.before), item(after, p.after)) {
            (old, new) if old == new => old,
            (old, new) => format!("({old}>{new})"),
        });
        assert_eq!(shown.collect::<String>(), want, "{before} {after}");
        let places_of = |side: fn(&super::Place) -> Option<usize>| places.iter().filter_map(side).collect::<Vec<_>>();
        assert_eq!(places_of(|p| p.before), (0..before.len()).collect::<Vec<_>>());
        assert_eq!(places_of(|p| p.after), (0..after.len()).collect::<Vec<_>>());
    }

    #[test]
    fn items_are_aligned() {
        check("", "", Rest::Paired, "");
        check("abc", "abc", Rest::Paired, "abc");
        check("abc", "axc", Rest::Paired, "a(b>x)c");
        check("abc", "axc", Rest::Apart, "a(b>)(>x)c");
        check("abc", "ac", Rest::Paired, "a(b>)c");
        check("ac", "abc", Rest::Paired, "a(>b)c");
        check("", "ab", Rest::Paired, "(>a)(>b)");
        check("aaa", "aa", Rest::Paired, "aa(a>)");
        check("xaybz", "aybzw", Rest::Paired, "(x>)aybz(>w)");
        check("abcdef", "abxdyf", Rest::Paired, "ab(c>x)d(e>y)f");
        check("abcd", "cdab", Rest::Apart, "(a>)(b>)cd(>a)(>b)");
    }
}
