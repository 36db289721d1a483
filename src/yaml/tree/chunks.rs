//! [`Iter`]: items of a list, or entries of a mapping, that may be divided into chunks.

use std::iter::FusedIterator;
use std::slice;

/// An item that can be a chunk of others.
pub trait Chunked: Sized {
    /// The items of this chunk. Only a chunk is asked.
    fn items(&self) -> &[Self];
}

/// Items in order, those of each chunk in its place.
#[derive(Clone, Debug)]
pub struct Iter<'i, T> {
    /// The items of the present chunk, or those that are not in a chunk.
    items: slice::Iter<'i, T>,
    chunks: slice::Iter<'i, T>,
}

impl<'i, T: Chunked> Iter<'i, T> {
    /// Iterates over items, and then over those of chunks.
    pub(super) fn new(items: &'i [T], chunks: &'i [T]) -> Self {
        Iter { items: items.iter(), chunks: chunks.iter() }
    }

    #[cold]
    fn next_in_chunks(&mut self) -> Option<&'i T> {
        self.items = self.chunks.next()?.items().iter();
        self.items.next()
    }
}

impl<'i, T: Chunked> Iterator for Iter<'i, T> {
    type Item = &'i T;

    #[inline]
    fn next(&mut self) -> Option<&'i T> {
        match self.items.next() {
            Some(item) => Some(item),
            None if self.chunks.as_slice().is_empty() => None,
            None => self.next_in_chunks(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest: usize = self.chunks.as_slice().iter().map(|chunk| chunk.items().len()).sum();
        let len = self.items.len() + rest;
        (len, Some(len))
    }
}

impl<T: Chunked> ExactSizeIterator for Iter<'_, T> {}

impl<T: Chunked> FusedIterator for Iter<'_, T> {}
