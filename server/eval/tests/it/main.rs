//! Compares the maps of `indexing` with the reference evaluation, element by element, on random instructions
//! and fusions.
//!
//! `EVAL_CASES` sets the number of instructions (default 2,000, spread over all opcodes), `EVAL_SEED` the
//! first seed.

mod access;
mod fusions;
mod instructions;
mod printing;
mod shapes;
mod tally;

use std::collections::BTreeSet;

/// The number of random instructions, of all opcodes together.
fn cases() -> u64 {
    std::env::var("EVAL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

/// The seed of case `i`, far from those of its neighbours.
fn seed(i: u64) -> u64 {
    let start: u64 = std::env::var("EVAL_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    (start.wrapping_add(i)).wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5851_f42d_4c95_7f2d
}

/// Calls `f` with `0..count`, on all cores.
fn on_all_cores(count: u64, f: impl Fn(u64) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let f = &f;
            scope.spawn(move || (thread..count).step_by(threads as usize).for_each(f));
        }
    });
}

/// An element of an array in an operand or result: leaf, replica (if known), row-major position.
type Element = (u32, Option<u32>, u32);
type Elements = BTreeSet<Element>;
