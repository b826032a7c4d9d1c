//! Runs a grid of threads: the choice of blocks, the arguments, the report.

use std::collections::HashMap;

use ptx::Position;

use super::block::Machine;
use super::memory::Memory;
use super::problem::{Problem, Thread};
use super::program::Program;
use super::sectors::Traffic;

/// The largest number of threads of a grid that is run whole, see [`Blocks`].
pub const MAX_THREADS: u64 = 1 << 22;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer of the [`Memory`].
    Buffer(usize),
    Value(u64),
}

/// The blocks of the grid that are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// All blocks, or [`Blocks::Some`] with 64 if there are more than [`MAX_THREADS`] threads.
    Whole { seed: u64 },
    /// The first, the last and `count` others chosen by `seed`; all blocks if there are not more.
    Some { count: u64, seed: u64 },
}

#[derive(Debug, Clone)]
pub struct Launch {
    pub grid: [u32; 3],
    pub threads: [u32; 3],
    pub arguments: Vec<Argument>,
    pub blocks: Blocks,
    /// The bytes of shared memory in addition to those that the text declares.
    pub dynamic_shared: u64,
    /// The number of warp instructions, in total, after which the run ends with `step-limit`.
    pub max_steps: u64,
    /// The number of warp instructions after which no further block starts.
    pub enough_steps: u64,
    /// Whether the sectors of each request are counted.
    pub traces: bool,
}

impl Launch {
    /// All blocks, no tracing, at most some minutes of work.
    pub fn new(grid: [u32; 3], threads: [u32; 3], arguments: Vec<Argument>) -> Launch {
        Launch {
            grid,
            threads,
            arguments,
            blocks: Blocks::Whole { seed: 1 },
            dynamic_shared: 0,
            max_steps: 1 << 32,
            enough_steps: u64::MAX,
            traces: false,
        }
    }
}

/// A defect that does not end the run. One per code and instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `shared-race`, `uninitialised-register`, `uninitialised-shared`, `uninitialised-global`.
    pub code: &'static str,
    pub place: Position,
    /// How often it occurred, and the first thread.
    pub count: u64,
    pub thread: Thread,
    pub words: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub findings: Vec<Finding>,
    /// The numbers of executed thread instructions and warp instructions.
    pub thread_steps: u64,
    pub warp_steps: u64,
    pub blocks: u64,
    /// Whether every block of the grid was run.
    pub is_whole: bool,
    /// One per instruction that accesses global memory, if [`Launch::traces`].
    pub traffic: Vec<Traffic>,
}

/// Collects the findings of a run.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    known: HashMap<(&'static str, u32), usize>,
}

impl Findings {
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        step: u32,
        count: u32,
        first: impl FnOnce() -> (Position, Thread, String),
    ) {
        match self.known.get(&(code, step)) {
            Some(&at) => self.list[at].count += u64::from(count),
            None => {
                let (place, thread, words) = first();
                self.known.insert((code, step), self.list.len());
                self.list.push(Finding { code, place, count: u64::from(count), thread, words });
            }
        }
    }
}

/// Runs a kernel. Buffers of `memory` hold what it wrote, even if the run ends with a problem.
///
/// Runs are deterministic: the warps of a block run one after the other from barrier to barrier, the blocks
/// in order.
pub fn run(program: &Program, launch: &Launch, memory: &mut Memory<'_>) -> Result<Report, Problem> {
    let wrong = |words: String| Err(Problem::new("launch", Position::default(), words));
    let product = |sizes: [u32; 3]| sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(u64::from(size)));
    let (Some(blocks), Some(threads @ 1..=1024)) = (product(launch.grid), product(launch.threads)) else {
        return wrong(format!("{:?} threads in {:?} blocks", launch.threads, launch.grid));
    };
    if program.threads.is_some_and(|threads| threads != launch.threads) {
        return wrong(format!("the kernel is for {:?} threads", program.threads.unwrap_or_default()));
    }
    if launch.arguments.len() != program.parameters.len() {
        return wrong(format!("the kernel takes {} arguments", program.parameters.len()));
    }
    if launch.dynamic_shared > 1 << 20 {
        return wrong("too much shared memory".to_owned());
    }
    memory.set_constants(&program.constants);
    let chosen = chosen(blocks, threads, launch.blocks);
    let is_whole = chosen.is_none();
    let mut machine = Machine::new(program, launch, memory);
    let count = chosen.as_ref().map_or(blocks, |list| list.len() as u64);
    let mut started = 0;
    while started < count && machine.warp_steps < launch.enough_steps {
        let i = started;
        let number = chosen.as_ref().map_or(i, |list| list[i as usize]);
        let (x, y) = (u64::from(launch.grid[0]), u64::from(launch.grid[1]));
        let block = [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32];
        machine.block(block, threads as u32)?;
        started += 1;
    }
    let mut report = machine.report();
    report.blocks = started;
    report.is_whole = is_whole && started == blocks;
    report.findings.sort_by_key(|f| f.place);
    Ok(report)
}

/// The numbers of the blocks to run, in order; `None` for all.
fn chosen(blocks: u64, threads: u64, which: Blocks) -> Option<Vec<u64>> {
    let (count, seed) = match which {
        Blocks::Whole { seed } if blocks.saturating_mul(threads) > MAX_THREADS => (64, seed),
        Blocks::Whole { .. } => return None,
        Blocks::Some { count, seed } => (count, seed),
    };
    if blocks <= count.saturating_add(2) {
        return None;
    }
    let mut rng = random::Rng::new(seed);
    let mut list = vec![0, blocks - 1];
    // Duplicates are dropped, so there may be a few fewer than requested.
    list.extend((0..count).map(|_| rng.next_u64() % blocks));
    list.sort_unstable();
    list.dedup();
    Some(list)
}

impl Findings {
    pub(crate) fn into_list(self) -> Vec<Finding> {
        self.list
    }
}
