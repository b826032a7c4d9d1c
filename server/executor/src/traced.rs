//! The memory requests of a kernel, without anything else that it does.

use super::launch::{Argument, Blocks, Launch, Report, run};
use super::memory::{Contents, Memory};
use super::problem::Problem;
use super::program::Program;

/// The pages that a traced kernel may touch, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The blocks that are run of a large grid, besides the first and the last.
const BLOCKS: u64 = 62;
/// Some tenths of a second.
const ENOUGH_STEPS: u64 = 1 << 20;
/// A single block may take that long.
const MAX_STEPS: u64 = 1 << 23;

/// The arrays that a kernel works on.
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    /// In bytes.
    pub sizes: Vec<u64>,
    /// For each argument of the kernel its buffer, an index into `sizes`.
    pub arguments: Vec<usize>,
}

/// Runs some blocks of a grid on buffers of zeros and counts the sectors of each request. Addresses that depend on data are those
/// for zeros.
///
/// Takes about a second at most, checks for cancellation, and allocates at most 64 MB besides `program`.
///
/// # Errors
/// The kernel does not take these arguments, or the run ends early.
pub fn trace(
    program: &Program,
    grid: [u32; 3],
    threads: [u32; 3],
    dynamic_shared: u64,
    buffers: &Buffers,
) -> Result<Report, Problem> {
    let mut memory = Memory::new(MAX_BYTES);
    let zeros = || Contents::Known(Box::new(|_, bytes: &mut [u8]| bytes.fill(0)));
    let numbers: Vec<usize> = buffers.sizes.iter().map(|&size| memory.add(size, zeros())).collect();
    let arguments = buffers.arguments.iter().map(|&buffer| match numbers.get(buffer) {
        Some(&number) => Argument::Buffer(number),
        None => Argument::Value(0),
    });
    let launch = Launch {
        blocks: Blocks::Some { count: BLOCKS, seed: 1 },
        dynamic_shared,
        max_steps: MAX_STEPS,
        enough_steps: ENOUGH_STEPS,
        traces: true,
        ..Launch::new(grid, threads, arguments.collect())
    };
    run(program, &launch, &mut memory)
}
