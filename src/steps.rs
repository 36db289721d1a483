//! A count of the work done, for the tests that hold builds to linear time. Release builds count
//! nothing.

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts work: entries looked at, nodes copied, resources visited.
#[inline]
pub fn add(n: usize) {
    #[cfg(debug_assertions)]
    STEPS.with(|steps| steps.set(steps.get() + n as u64));
    #[cfg(not(debug_assertions))]
    let _ = n;
}

/// Starts to count again, on this thread.
pub fn reset() {
    #[cfg(debug_assertions)]
    STEPS.with(|steps| steps.set(0));
}

/// What was counted on this thread; 0 in release builds.
pub fn taken() -> u64 {
    #[cfg(debug_assertions)]
    return STEPS.with(std::cell::Cell::get);
    #[cfg(not(debug_assertions))]
    0
}
