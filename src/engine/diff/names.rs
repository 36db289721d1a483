//! Names that end in a hash of the content, and names with another prefix or suffix than before.

use crate::resource::Resource;
use rustomize_base::meter::FastMap;

/// The number of characters of a hash.
const LENGTH: usize = 10;

/// The characters of a hash: hexadecimal digits, of which some are replaced by letters.
const DIGITS: &[u8] = b"2456789bcdfghkmt";

/// The name of a resource without the hash that a generator appends. Only ConfigMaps and Secrets
/// have hashes.
pub fn without_hash<'a>(resource: &Resource<'a>) -> &'a str {
    let id = resource.id();
    let name = id.name;
    if !id.gvk.group.is_empty() || !matches!(id.gvk.kind, "ConfigMap" | "Secret") {
        return name;
    }
    match name.rsplit_once('-') {
        Some((stem, hash)) if !stem.is_empty() && is_hash(hash) => stem,
        _ => name,
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| DIGITS.contains(&byte))
}

/// A prefix or suffix that took the place of another one. Both end at a dash of the name, and one
/// of them may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Affix<'n> {
    is_prefix: bool,
    old: &'n str,
    new: &'n str,
}

impl<'n> Affix<'n> {
    /// The affix that most renamed resources share, by their old and new names. O(names).
    pub(super) fn most_common(names: impl Iterator<Item = (&'n str, &'n str)>) -> Option<Affix<'n>> {
        let mut counts: FastMap<Affix<'n>, usize> = FastMap::default();
        for affix in names.filter_map(|(old, new)| Affix::between(old, new)) {
            *counts.entry(affix).or_default() += 1;
        }
        counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(affix, _)| affix)
    }

    /// The affix in which two names differ; `None` if they share no word at an end.
    fn between(old: &'n str, new: &'n str) -> Option<Affix<'n>> {
        if let Some(shared) = shared_words(old.rsplit('-'), new.rsplit('-')) {
            let head = |name: &'n str| &name[..name.len() - shared.min(name.len())];
            return Some(Affix { is_prefix: true, old: head(old), new: head(new) });
        }
        let shared = shared_words(old.split('-'), new.split('-'))?;
        let tail = |name: &'n str| &name[shared.min(name.len())..];
        Some(Affix { is_prefix: false, old: tail(old), new: tail(new) })
    }

    /// An old name without the affix; `None` if the name does not have it.
    pub(super) fn off_old(&self, name: &'n str) -> Option<&'n str> {
        self.off(name, self.old)
    }

    /// A new name without the affix; `None` if the name does not have it.
    pub(super) fn off_new(&self, name: &'n str) -> Option<&'n str> {
        self.off(name, self.new)
    }

    fn off(&self, name: &'n str, affix: &str) -> Option<&'n str> {
        match self.is_prefix {
            true => name.strip_prefix(affix),
            false => name.strip_suffix(affix),
        }
    }
}

/// The length of the words that two names share at one end, without the dash that ends them; `None`
/// if they share no word.
fn shared_words<'n>(old: impl Iterator<Item = &'n str>, new: impl Iterator<Item = &'n str>) -> Option<usize> {
    let words = old.zip(new).take_while(|(old, new)| old == new).map(|(word, _)| word.len() + 1);
    words.reduce(|a, b| a + b).map(|length| length - 1)
}

#[cfg(test)]
mod tests {
    use super::{Affix, is_hash};

    #[test]
    fn hashes_have_ten_characters_of_their_own() {
        assert!(is_hash("6ct58987ht") && is_hash("g9t7h2bk8m"));
        assert!(!is_hash("settings10") && !is_hash("6ct58987h") && !is_hash("6ct58987h1"));
    }

    #[test]
    fn the_most_common_affix() {
        let check = |names: &[(&'static str, &'static str)], pair: (&'static str, &'static str)| {
            let affix = Affix::most_common(names.iter().copied()).unwrap();
            assert_eq!(affix.off_old(pair.0).unwrap(), affix.off_new(pair.1).unwrap(), "{affix:?}");
        };
        check(&[("test-web", "prod-web"), ("test-db-0", "prod-db-0"), ("a-x", "b-x")], ("test-api", "prod-api"));
        check(&[("web", "prod-web")], ("api", "prod-api"));
        check(&[("web-v1", "web-v2")], ("api-v1", "api-v2"));
        check(&[("web", "web-v2")], ("api", "api-v2"));
        assert_eq!(Affix::most_common([("a", "b")].into_iter()), None);
    }
}
