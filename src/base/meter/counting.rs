//! The types of a debug build, which count steps.

use super::count;
use std::hash::BuildHasher;
use std::iter::FusedIterator;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use thin_vec::ThinVec;

/// So many items move to their next place in one step.
const MOVED_TOGETHER: usize = 64;

/// A list over a vector of the standard library's kind.
macro_rules! list {
    ($list:ident, $vec:ident) => {
        #[doc = concat!("A [`", stringify!($vec), "`] that counts the items that are asked for.")]
        /// A function of slices that is not listed here counts as a walk over all items.
        #[derive(Debug)]
        pub struct $list<T>($vec<T>);

        impl<T> $list<T> {
            /// An empty list.
            pub fn new() -> Self {
                $list($vec::new())
            }

            /// An empty list with room for so many items.
            pub fn with_capacity(capacity: usize) -> Self {
                $list($vec::with_capacity(capacity))
            }

            /// The number of items. O(1).
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Returns true if the list is empty. O(1).
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// The number of items that fit without a new allocation. O(1).
            pub fn capacity(&self) -> usize {
                self.0.capacity()
            }

            /// Makes room for so many more items.
            pub fn reserve(&mut self, more: usize) {
                self.0.reserve(more);
            }

            /// Makes room for exactly so many more items.
            pub fn reserve_exact(&mut self, more: usize) {
                self.0.reserve_exact(more);
            }

            /// The item at a place. O(1).
            pub fn get(&self, i: usize) -> Option<&T> {
                count(1);
                self.0.get(i)
            }

            /// The item at a place, for editing. O(1).
            pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
                count(1);
                self.0.get_mut(i)
            }

            /// The first item. O(1).
            pub fn first(&self) -> Option<&T> {
                count(1);
                self.0.first()
            }

            /// The last item. O(1).
            pub fn last(&self) -> Option<&T> {
                count(1);
                self.0.last()
            }

            /// The last item, for editing. O(1).
            pub fn last_mut(&mut self) -> Option<&mut T> {
                count(1);
                self.0.last_mut()
            }

            /// Appends an item. O(1).
            pub fn push(&mut self, item: T) {
                count(1);
                self.0.push(item);
            }

            /// Inserts an item; the items after it move.
            pub fn insert(&mut self, i: usize, item: T) {
                count(1 + (self.0.len() - i) / MOVED_TOGETHER);
                self.0.insert(i, item);
            }

            /// Removes an item; the items after it move.
            pub fn remove(&mut self, i: usize) -> T {
                count(1 + (self.0.len() - i) / MOVED_TOGETHER);
                self.0.remove(i)
            }

            /// Takes the items from a place on. O(their number).
            pub fn split_off(&mut self, at: usize) -> Self {
                count(self.0.len() - at);
                $list(self.0.split_off(at))
            }

            /// The items in order, each counted when it is reached.
            pub fn iter(&self) -> Counted<std::slice::Iter<'_, T>> {
                counted(self.0.iter())
            }

            /// As [`Self::iter`], for editing.
            pub fn iter_mut(&mut self) -> Counted<std::slice::IterMut<'_, T>> {
                counted(self.0.iter_mut())
            }

            /// The items, for a walk that counts them itself.
            pub fn as_slice(&self) -> &[T] {
                &self.0
            }

            /// As [`Self::as_slice`], for editing.
            pub fn as_mut_slice(&mut self) -> &mut [T] {
                &mut self.0
            }

            /// The place of the first item for which `is_before` does not hold. O(log n).
            pub fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
                let counted = |item: &T| {
                    count(1);
                    is_before(item)
                };
                self.0.partition_point(counted)
            }
        }

        impl<T> Default for $list<T> {
            fn default() -> Self {
                $list::new()
            }
        }

        impl<T: Clone> Clone for $list<T> {
            fn clone(&self) -> Self {
                $list($vec::clone(self))
            }
        }

        impl<T> From<Vec<T>> for $list<T> {
            fn from(items: Vec<T>) -> Self {
                $list(items.into())
            }
        }

        impl<T> From<$list<T>> for Vec<T> {
            fn from(list: $list<T>) -> Self {
                count(list.len());
                list.0.into()
            }
        }

        impl<T> FromIterator<T> for $list<T> {
            fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
                $list(counted(items.into_iter()).collect())
            }
        }

        impl<T> Extend<T> for $list<T> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
                self.0.extend(counted(items.into_iter()));
            }
        }

        impl<T> IntoIterator for $list<T> {
            type Item = T;
            type IntoIter = <$vec<T> as IntoIterator>::IntoIter;

            fn into_iter(self) -> Self::IntoIter {
                count(self.len());
                self.0.into_iter()
            }
        }

        impl<T> Index<usize> for $list<T> {
            type Output = T;

            fn index(&self, i: usize) -> &T {
                count(1);
                &self.0[i]
            }
        }

        impl<T> IndexMut<usize> for $list<T> {
            fn index_mut(&mut self, i: usize) -> &mut T {
                count(1);
                &mut self.0[i]
            }
        }

        impl<T> Deref for $list<T> {
            type Target = $vec<T>;

            fn deref(&self) -> &$vec<T> {
                count(self.0.len());
                &self.0
            }
        }

        impl<T> DerefMut for $list<T> {
            fn deref_mut(&mut self) -> &mut $vec<T> {
                count(self.0.len());
                &mut self.0
            }
        }
    };
}

list!(List, Vec);
list!(ThinList, ThinVec);

/// An iterator that counts each item.
#[derive(Clone, Debug)]
pub struct Counted<I>(I);

/// Counts each item of an iterator when it is reached.
pub fn counted<I: Iterator>(items: I) -> Counted<I> {
    Counted(items)
}

/// Returns the item, and counts it if it is `Some`.
fn note<T>(item: Option<T>) -> Option<T> {
    count(usize::from(item.is_some()));
    item
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        note(self.0.next())
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        note(self.0.nth(n))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Counted<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        note(self.0.next_back())
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Counted<I> {}

impl<I: FusedIterator> FusedIterator for Counted<I> {}

/// The state of hash tables: counts each key that is hashed, which every look-up and every change
/// of a table does. Its seed is the same in each run: keys whose hashes look alike are compared, so
/// a random seed would make the steps of a build random.
#[derive(Clone, Debug, Default)]
pub struct RandomState(foldhash::fast::FixedState);

impl BuildHasher for RandomState {
    type Hasher = <foldhash::fast::FixedState as BuildHasher>::Hasher;

    fn build_hasher(&self) -> Self::Hasher {
        count(1);
        self.0.build_hasher()
    }
}
