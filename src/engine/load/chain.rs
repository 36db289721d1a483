//! [`Chain`]: the roots that led to a root, and the search for a root that leads back.

use rustomize_base::meter;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::rc::Rc;

/// The roots that led to a root, which is the last one of them.
#[derive(Debug)]
pub(super) struct Chain {
    real: Rc<Path>,
    /// The reference to the repository of this root.
    raw: Option<String>,
    parent: Option<Rc<Chain>>,
    /// The number of roots.
    pub depth: usize,
    in_use: Rc<InUse>,
}

/// The directories of all chains that begin at one root, each with the number of its chains. Most
/// bases are not in it, so that most chains need no walk.
#[derive(Debug, Default)]
struct InUse(RefCell<BTreeMap<Box<[u8]>, usize>>);

impl Chain {
    /// The chain of a root that `parent` has led to. O(log roots in use).
    pub(super) fn new(real: &Rc<Path>, raw: Option<String>, parent: Option<&Rc<Chain>>) -> Rc<Chain> {
        let depth = 1 + parent.map_or(0, |parent| parent.depth);
        let in_use = parent.map_or_else(Rc::default, |parent| Rc::clone(&parent.in_use));
        *in_use.0.borrow_mut().entry(bytes(real).into()).or_default() += 1;
        Rc::new(Chain { real: Rc::clone(real), raw, parent: parent.cloned(), depth, in_use })
    }

    /// The last root of the chain that is a directory or is below it. O(log roots in use) if no
    /// root in use is, O(depth) otherwise.
    pub(super) fn in_or_below(&self, directory: &Path) -> Option<&Path> {
        if !self.in_use.has_one_in_or_below(bytes(directory)) {
            return None;
        }
        self.roots().map(|link| &*link.real).find(|real| is_in_or_below(real, directory))
    }

    /// Returns true if a directory is a root of the chain. O(depth).
    pub(super) fn has(&self, directory: &Path) -> bool {
        self.roots().any(|link| &*link.real == directory)
    }

    /// Returns true if a root of the chain is of a repository whose reference begins with `raw`.
    pub(super) fn names(&self, raw: &str) -> bool {
        self.roots().any(|link| link.raw.as_deref().is_some_and(|known| known.starts_with(raw)))
    }

    /// The roots of the chain, the last one first.
    fn roots(&self) -> impl Iterator<Item = &Chain> {
        std::iter::successors(Some(self), |link| link.parent.as_deref())
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let mut in_use = self.in_use.0.borrow_mut();
        if let Some(chains) = in_use.get_mut(bytes(&self.real)) {
            *chains -= 1;
            if *chains == 0 {
                in_use.remove(bytes(&self.real));
            }
        }
    }
}

impl InUse {
    fn has_one_in_or_below(&self, directory: &[u8]) -> bool {
        meter::count(1);
        let in_use = self.0.borrow();
        // Other names may sort between a directory and the first path below it.
        let mut below = directory.to_vec();
        if !directory.ends_with(b"/") {
            below.push(b'/');
        }
        let first_below = in_use.range::<[u8], _>((Bound::Included(&*below), Bound::Unbounded)).next();
        in_use.contains_key(directory) || first_below.is_some_and(|(path, _)| path.starts_with(&below))
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

fn is_in_or_below(path: &Path, directory: &Path) -> bool {
    meter::count(1);
    let (path, directory) = (bytes(path), bytes(directory));
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || directory.ends_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::Chain;
    use std::path::Path;
    use std::rc::Rc;

    fn path(text: &str) -> Rc<Path> {
        Rc::from(Path::new(text))
    }

    #[test]
    fn a_directory_that_is_or_contains_a_root_of_the_chain_is_found() {
        let top = Chain::new(&path("/a/b"), None, None);
        let last = Chain::new(&path("/a/b!"), None, Some(&top));
        for (directory, found) in [
            ("/a/b", Some("/a/b")),
            ("/a", Some("/a/b!")),
            ("/", Some("/a/b!")),
            ("/a/b!/c", None),
            ("/a/b/c", None),
            ("/b", None),
        ] {
            assert_eq!(last.in_or_below(Path::new(directory)), found.map(Path::new), "{directory}");
        }
    }

    #[test]
    fn roots_of_another_chain_do_not_count() {
        let top = Chain::new(&path("/top"), None, None);
        let other = Chain::new(&path("/a/b"), None, Some(&top));
        let last = Chain::new(&path("/c"), None, Some(&top));
        assert_eq!(last.in_or_below(Path::new("/a")), None);
        assert_eq!(other.in_or_below(Path::new("/a")), Some(Path::new("/a/b")));
        drop(other);
        assert_eq!(last.in_or_below(Path::new("/a")), None);
        assert_eq!(last.in_use.0.borrow().len(), 2);
    }
}
