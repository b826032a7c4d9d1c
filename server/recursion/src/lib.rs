//! Stack space for recursion over input.
//!
//! A stack overflow ends the process, and `catch_unwind` does not help. So recursion over input has two
//! bounds: its own depth counter, which turns deeper input into an error ("nested too deeply"), and enough
//! stack for that depth on any thread. This crate provides the stack: threads of a server, of a pool or of a
//! test may have small ones.
//!
//! ```
//! fn depth(n: u32) -> u32 {
//!     recursion::grow(|| if n == 0 { 0 } else { 1 + depth(n - 1) })
//! }
//! std::thread::Builder::new().stack_size(256 << 10).spawn(|| assert_eq!(depth(100_000), 100_000)).unwrap();
//! ```

/// Several times the stack that one level of a recursion takes between two calls of [`grow`], without
/// optimisation.
const LEVEL: usize = 96 << 10;

/// The size of each added stack segment, in bytes.
const SEGMENT: usize = 1 << 20;

/// Runs one level of a recursion; adds a stack segment if little stack is left. The check costs a few
/// nanoseconds.
pub fn grow<R>(level: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(LEVEL, SEGMENT, level)
}

/// Runs a whole computation whose recursion is bounded and takes at most `bytes` of stack. Cheap if that much
/// is left, as on threads of ordinary size for up to a megabyte. Otherwise maps pages, which are touched only
/// as they are needed.
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
