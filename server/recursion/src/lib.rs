//! Stack for recursion over input.
//!
//! A stack overflow ends the process, and no `catch_unwind` helps. So recursion over input has two bounds: a depth counter
//! of its own, which makes input beyond it an answer ("nested too deeply"), and stack enough for that depth on whatever
//! thread it runs. This crate gives the second: threads of a server, of a pool or of a test may have small stacks.
//!
//! ```
//! fn depth(n: u32) -> u32 {
//!     recursion::grow(|| if n == 0 { 0 } else { 1 + depth(n - 1) })
//! }
//! std::thread::Builder::new().stack_size(256 << 10).spawn(|| assert_eq!(depth(100_000), 100_000)).unwrap();
//! ```

/// What one level of a recursion may take between two calls of [`grow`], without optimisation, several times over.
const LEVEL: usize = 96 << 10;

/// How much is added at a time.
const SEGMENT: usize = 1 << 20;

/// Runs one level of a recursion; adds stack where little is left. A check costs a few nanoseconds.
pub fn grow<R>(level: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(LEVEL, SEGMENT, level)
}

/// Runs a whole computation whose recursion is bounded, and takes at most `bytes` of stack. Cheap where they are left, as
/// they are on threads of ordinary size for up to a megabyte; else pages are mapped, and touched as they are needed.
pub fn with_stack<R>(bytes: usize, computation: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(bytes, bytes + SEGMENT, computation)
}

#[cfg(test)]
mod tests {
    fn sum(n: u64) -> u64 {
        super::grow(|| if n == 0 { 0 } else { n + sum(n - 1) })
    }

    #[test]
    fn recursion_outlasts_a_small_stack() {
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let thread = small.spawn(|| (sum(100_000), super::with_stack(8 << 20, || sum(1000))));
        assert_eq!(thread.expect("a thread starts").join().expect("it ends"), (5_000_050_000, 500_500));
    }
}
