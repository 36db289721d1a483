//! The order of mapping keys in the output: runs of digits compare as numbers, letters come last.
//!
//! This is the order of upstream's YAML 1.1 printer.

use super::bytes::common_prefix;
use rustomize_base::meter;
use std::cmp::Ordering;
use thin_vec::ThinVec;
use unicode_general_category::{GeneralCategory as Cat, get_general_category};

/// Compares two keys as the printer orders them. O(length of the common prefix + the digits after
/// it).
pub fn compare(a: &str, b: &str) -> Ordering {
    meter::count(1);
    let (x, y) = (a.as_bytes(), b.as_bytes());
    if let (Some(p), Some(q)) = (x.first(), y.first())
        && p != q
        && p.is_ascii_alphabetic()
        && q.is_ascii_alphabetic()
    {
        return p.cmp(q);
    }
    let mut at = common_prefix(x, y);
    let (Some(p), Some(q)) = (x.get(at), y.get(at)) else {
        return x.len().cmp(&y.len());
    };
    if p.is_ascii_alphabetic() && q.is_ascii_alphabetic() {
        return p.cmp(q);
    }
    while !a.is_char_boundary(at) {
        at -= 1;
    }
    compare_at(a, b, at)
}

/// Compares two keys from their first difference on, which is not between two ASCII letters.
fn compare_at(a: &str, b: &str, at: usize) -> Ordering {
    let (Some(c), Some(d)) = (a[at..].chars().next(), b[at..].chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (is_letter(c), is_letter(d)) {
        (true, true) => return c.cmp(&d),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero that follows shared digits is a digit of a larger number, not a leading zero.
    let inside_number = (c == '0' || d == '0') && a[..at].chars().rev().take_while(|&p| is_digit(p)).any(|p| p != '0');
    let lead = if inside_number { 1 } else { 0 };
    let (m, i) = digits(&a[at..], lead);
    let (n, j) = digits(&b[at..], lead);
    m.cmp(&n).then(i.cmp(&j)).then(c.cmp(&d))
}

/// The number at the start of `s`, with `lead` as a digit before it, and the number of its digits.
/// As upstream, numbers too large for 64 bits wrap around.
fn digits(s: &str, lead: i64) -> (i64, usize) {
    let add = |number: i64, c: char| number.wrapping_mul(10).wrapping_add(c as i64 - '0' as i64);
    let mut number = lead;
    let mut count = 0;
    for &b in s.as_bytes().iter().take_while(|b| b.is_ascii_digit()) {
        number = add(number, char::from(b));
        count += 1;
    }
    if s.as_bytes().get(count).is_some_and(|b| !b.is_ascii()) {
        // A digit of another script may follow.
        for c in s[count..].chars().take_while(|&c| is_digit(c)) {
            number = add(number, c);
            count += 1;
        }
    }
    (number, count)
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(
        get_general_category(c),
        Cat::UppercaseLetter | Cat::LowercaseLetter | Cat::TitlecaseLetter | Cat::ModifierLetter | Cat::OtherLetter
    )
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { get_general_category(c) == Cat::DecimalNumber }
}

/// Sorts by [`compare`], stably. If numbers overflow, the order is not a total order: the standard
/// library's sort may panic then, a plain merge sort does not. O(n) comparisons on sorted input.
pub fn sort<T>(items: &mut ThinVec<T>, key: impl Fn(&T) -> &str + Copy) {
    let sorted = items.windows(2).all(|w| compare(key(&w[0]), key(&w[1])) != Ordering::Greater);
    if sorted {
        return;
    }
    if items.len() <= 24 {
        for i in 1..items.len() {
            let mut j = i;
            while j > 0 && compare(key(&items[j - 1]), key(&items[i])) == Ordering::Greater {
                j -= 1;
            }
            items[j..=i].rotate_right(1);
        }
        return;
    }
    let mut right = items.split_off(items.len() / 2);
    sort(items, key);
    sort(&mut right, key);
    let left = std::mem::replace(items, ThinVec::with_capacity(items.len() + right.len()));
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
        let from_right = compare(key(l), key(r)) == Ordering::Greater;
        items.extend(if from_right { right.next() } else { left.next() });
    }
    items.extend(left);
    items.extend(right);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observed_order() {
        let want = [".a", "_x", "9", "\"10\"", "A", "B", "a", "a-b", "a/b", "a1", "a2", "a10", "ab"];
        let want = want.map(|s| s.trim_matches('"'));
        let mut got: ThinVec<&str> = want.iter().rev().copied().collect();
        sort(&mut got, |s| s);
        assert_eq!(got, want);
        let want = ["x-y", "x.y", "x_y", "x1", "x1y", "x01", "xy", "é"];
        let mut got: ThinVec<&str> = want.iter().rev().copied().collect();
        sort(&mut got, |s| s);
        assert_eq!(got, want);
    }

    #[test]
    fn large_lists_are_sorted_stably() {
        let mut got: ThinVec<String> = (0..500).map(|i| format!("k{}", (i * 7919) % 500)).collect();
        sort(&mut got, |s| s);
        let want: Vec<String> = (0..500).map(|i| format!("k{i}")).collect();
        assert_eq!(got, want);
    }
}
