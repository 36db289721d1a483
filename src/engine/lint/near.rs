//! [`Near`]: names that a mistyped name may stand for.

use rustomize_base::meter::FastMap;

/// Names of resources, found by names that differ in one character: one is missing, too many,
/// another one, or two neighbours are swapped. Upper and lower case letters count as the same.
#[derive(Default)]
pub(super) struct Near<'a> {
    /// By kind, namespace, and the name without one of its characters or as it is.
    names: FastMap<(&'a str, &'a str, String), &'a str>,
}

impl<'a> Near<'a> {
    /// Adds a name. Of several that are equally near the first counts. O(the square of the name's
    /// length, which Kubernetes limits to 253).
    pub(super) fn add(&mut self, kind: &'a str, namespace: &'a str, name: &'a str) {
        for variant in variants(name) {
            self.names.entry((kind, namespace, variant)).or_insert(name);
        }
    }

    /// The name that a mistyped one most likely stands for. Names that differ in a digit are
    /// different on purpose. O(the square of the name's length).
    pub(super) fn get(&self, kind: &'a str, namespace: &'a str, typed: &str) -> Option<&'a str> {
        let mut names = variants(typed).filter_map(|variant| self.names.get(&(kind, namespace, variant)).copied());
        names.find(|name| without_digits(name) != without_digits(typed))
    }
}

/// A name in lower case, and that name without each of its characters. A very long name, which
/// Kubernetes refuses, has only itself.
fn variants(name: &str) -> impl Iterator<Item = String> {
    let name = name.to_lowercase();
    let places: Vec<usize> = name.char_indices().map(|(at, _)| at).filter(|_| name.len() <= LONGEST).collect();
    let whole = name.clone();
    let shorter = places.into_iter().map(move |at| {
        let mut shorter = name.clone();
        shorter.remove(at);
        shorter
    });
    std::iter::once(whole).chain(shorter)
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
