//! [`Iter`], [`IterMut`]: items of a list, or entries of a mapping, that may be divided into
//! chunks.
//!
//! Nearly every list and mapping has no chunks: an iteration over these costs as much as one over a
//! slice.

use std::iter::FusedIterator;
use std::slice;

/// An item that can be a chunk of others.
pub trait Chunked: Sized {
    /// The items of this chunk. Called for chunks alone.
    fn items(&self) -> &[Self];

    /// As [`Chunked::items`], for editing.
    fn items_mut(&mut self) -> &mut [Self];
}

/// Items in order, those of each chunk in its place.
#[derive(Clone, Debug)]
pub struct Iter<'i, T> {
    /// The items of the present chunk, or those that are not in a chunk.
    items: slice::Iter<'i, T>,
    chunks: slice::Iter<'i, T>,
}

impl<'i, T: Chunked> Iter<'i, T> {
    /// Iterates over `items`; if `are_chunks` is true, over the items of these chunks.
    #[inline(always)]
    pub(super) fn new(items: &'i [T], are_chunks: bool) -> Self {
        match are_chunks {
            false => Iter { items: items.iter(), chunks: [].iter() },
            true => Iter::of_chunks(items),
        }
    }

    #[cold]
    fn of_chunks(chunks: &'i [T]) -> Self {
        Iter { items: [].iter(), chunks: chunks.iter() }
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

    #[inline]
    fn fold<R, F: FnMut(R, &'i T) -> R>(self, start: R, mut f: F) -> R {
        let folded = self.items.fold(start, &mut f);
        self.chunks.fold(folded, |folded, chunk| chunk.items().iter().fold(folded, &mut f))
    }
}

impl<T: Chunked> ExactSizeIterator for Iter<'_, T> {}

impl<T: Chunked> FusedIterator for Iter<'_, T> {}

/// As [`Iter`], for editing.
#[derive(Debug)]
pub struct IterMut<'i, T> {
    items: slice::IterMut<'i, T>,
    chunks: slice::IterMut<'i, T>,
}

impl<'i, T: Chunked> IterMut<'i, T> {
    /// Iterates over `items`; if `are_chunks` is true, over the items of these chunks.
    #[inline(always)]
    pub(super) fn new(items: &'i mut [T], are_chunks: bool) -> Self {
        match are_chunks {
            false => IterMut { items: items.iter_mut(), chunks: [].iter_mut() },
            true => IterMut::of_chunks(items),
        }
    }

    #[cold]
    fn of_chunks(chunks: &'i mut [T]) -> Self {
        IterMut { items: [].iter_mut(), chunks: chunks.iter_mut() }
    }

    #[cold]
    fn next_in_chunks(&mut self) -> Option<&'i mut T> {
        self.items = self.chunks.next()?.items_mut().iter_mut();
        self.items.next()
    }
}

impl<'i, T: Chunked> Iterator for IterMut<'i, T> {
    type Item = &'i mut T;

    #[inline]
    fn next(&mut self) -> Option<&'i mut T> {
        match self.items.next() {
            Some(item) => Some(item),
            None if self.chunks.as_slice().is_empty() => None,
            None => self.next_in_chunks(),
        }
    }

    #[inline]
    fn fold<R, F: FnMut(R, &'i mut T) -> R>(self, start: R, mut f: F) -> R {
        let folded = self.items.fold(start, &mut f);
        self.chunks.fold(folded, |folded, chunk| chunk.items_mut().iter_mut().fold(folded, &mut f))
    }
}
