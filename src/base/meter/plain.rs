//! The types of a release build, which counts nothing.

/// See the type of the same name in a debug build.
pub type List<T> = Vec<T>;

/// See the type of the same name in a debug build.
pub type ThinList<T> = thin_vec::ThinVec<T>;

/// See the type of the same name in a debug build.
pub type Counted<I> = I;

/// See the type of the same name in a debug build.
#[expect(clippy::disallowed_types, reason = "nothing is counted")]
pub type RandomState = foldhash::fast::RandomState;

/// The iterator as it is.
#[inline(always)]
pub fn counted<I: Iterator>(items: I) -> Counted<I> {
    items
}
