//! [`Near`]: names that a mistyped name may stand for.

use rustomize_base::meter::{FastMap, RandomState};
use std::hash::BuildHasher;

/// Names of resources, found by names that differ in one character: one is missing, too many,
/// another one, or two neighbours are swapped. Upper and lower case letters count as the same.
#[derive(Default)]
pub(super) struct Near<'a> {
    hasher: RandomState,
    /// By the hash of kind and namespace, and of the name without one of its bytes or as it is.
    names: FastMap<u64, &'a str>,
}

impl<'a> Near<'a> {
    /// Adds a name. Of several that are equally near the first counts. O(length of the name).
    pub(super) fn add(&mut self, kind: &'a str, namespace: &'a str, name: &'a str) {
        let seed = self.hasher.hash_one((kind, namespace));
        for variant in variants(name) {
            self.names.entry(seed ^ variant).or_insert(name);
        }
    }

    /// The name that a mistyped one most likely stands for. Names that differ in a digit are
    /// different on purpose. O(length of the name; its square if a name has the same hash).
    pub(super) fn get(&self, kind: &'a str, namespace: &'a str, typed: &str) -> Option<&'a str> {
        let seed = self.hasher.hash_one((kind, namespace));
        let names = variants(typed).filter_map(|variant| self.names.get(&(seed ^ variant)).copied());
        let mut near = names.filter(|name| strsim::osa_distance(&typed.to_lowercase(), &name.to_lowercase()) <= 1);
        near.find(|name| without_digits(name) != without_digits(typed))
    }
}

/// The hashes of a name in lower case, and of that name without each of its bytes. A very long
/// name, which Kubernetes refuses, has only the first.
fn variants(name: &str) -> impl Iterator<Item = u64> {
    let byte = |b: &u8| u64::from(b.to_ascii_lowercase()) + 1;
    let bytes: Vec<u64> = name.as_bytes().iter().map(byte).collect();
    // The hash of bytes is the sum of each byte times a power of the base.
    let (mut whole, mut power) = (0_u64, 1_u64);
    let mut sums = Vec::with_capacity(bytes.len());
    for byte in &bytes {
        sums.push((whole, power));
        whole = whole.wrapping_add(byte.wrapping_mul(power));
        power = power.wrapping_mul(BASE);
    }
    let is_long = bytes.len() > LONGEST;
    let shorter = sums.into_iter().zip(bytes).filter(move |_| !is_long).map(move |((before, power), byte)| {
        // The bytes behind the one that is left out move down by one place.
        let behind = whole.wrapping_sub(before).wrapping_sub(byte.wrapping_mul(power));
        before.wrapping_add(behind.wrapping_mul(INVERSE))
    });
    std::iter::once(whole).chain(shorter)
}

/// The base of the hashes: an odd number, so that it has an inverse.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number whose product with the base is 1.
const INVERSE: u64 = inverse(BASE);

/// The inverse of an odd number: each round doubles the number of right bits.
const fn inverse(odd: u64) -> u64 {
    let (mut found, mut round) = (odd, 0);
    while round < 6 {
        found = found.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

/// The longest name of a Kubernetes object.
const LONGEST: usize = 253;

fn without_digits(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::Near;

    #[track_caller]
    fn check(typed: &str, name: &str, is_near: bool) {
        let mut near = Near::default();
        near.add("ConfigMap", "shop", name);
        assert_eq!(near.get("ConfigMap", "shop", typed), is_near.then_some(name), "{typed} and {name}");
        assert_eq!(near.get("Secret", "shop", typed), None);
        assert_eq!(near.get("ConfigMap", "other", typed), None);
    }

    #[test]
    fn names_that_differ_in_one_character_are_near() {
        check("setings", "settings", true);
        check("setttings", "settings", true);
        check("sattings", "settings", true);
        check("estings", "settings", false);
        check("esttings", "settings", true);
        check("Settings", "settings", true);
        check("web", "api", false);
    }

    #[test]
    fn names_that_differ_in_a_digit_are_not_near() {
        check("db-1", "db-2", false);
        check("db-1", "db-12", false);
        check("db1", "d1", true);
    }
}
