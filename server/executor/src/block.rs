//! Executes one block of threads at a time: its warps run from barrier to barrier.

use std::collections::HashMap;

use super::launch::{Argument, Findings, Launch, Report};
use super::matrices::Scratch;
use super::memory::Memory;
use super::problem::{Problem, Thread};
use super::program::{DecodedOp, Program};
use super::sectors::Traffic;
use super::shared::{Amiss, Shared};
use super::warp::Warp;

/// The mutable state of a run, except for the warps.
pub(crate) struct Machine<'r, 'm> {
    pub(crate) program: &'r Program,
    pub(crate) launch: &'r Launch,
    pub(crate) memory: &'r mut Memory<'m>,
    pub(crate) shared: Shared,
    /// The thread-local memory of all threads, contiguous.
    pub(crate) local: Vec<u8>,
    /// The kernel's arguments.
    pub(crate) arguments: Vec<u8>,
    pub(crate) findings: Findings,
    pub(crate) block: [u32; 3],
    pub(crate) thread_steps: u64,
    pub(crate) warp_steps: u64,
    pub(crate) traffic: HashMap<(u32, usize), Traffic>,
    pub(crate) scratch: Scratch,
    warps: Vec<Warp>,
}

/// Why a warp stops running.
pub(crate) enum Stop {
    Ended,
    AtBarrier,
}

impl<'r, 'm> Machine<'r, 'm> {
    pub(crate) fn new(program: &'r Program, launch: &'r Launch, memory: &'r mut Memory<'m>) -> Self {
        let threads = launch.threads.iter().map(|&n| u64::from(n)).product::<u64>();
        let mut arguments = Vec::new();
        for (&(at, size), argument) in program.parameters.iter().zip(&launch.arguments) {
            let value = match *argument {
                Argument::Buffer(number) => memory.address(number),
                Argument::Value(value) => value,
            };
            let size = size.min(1 << 16) as usize;
            arguments.resize(at as usize + size, 0);
            let len = size.min(8);
            arguments[at as usize..at as usize + len].copy_from_slice(&value.to_le_bytes()[..len]);
        }
        let dynamic = if launch.dynamic_shared == 0 {
            program.shared_bytes
        } else {
            program.shared_bytes.next_multiple_of(128) + launch.dynamic_shared
        };
        let orders = program.steps.iter().any(|step| matches!(step.op, DecodedOp::WarpBarrier));
        let shared = Shared::new(dynamic.next_multiple_of(8), program.shared_grain, !orders);
        let warps = (0..threads.div_ceil(32)).map(|_| Warp::new(program)).collect();
        Machine {
            program,
            launch,
            memory,
            shared,
            local: vec![0; (program.local_bytes * threads) as usize],
            arguments,
            findings: Findings::default(),
            block: [0; 3],
            thread_steps: 0,
            warp_steps: 0,
            traffic: HashMap::new(),
            scratch: Scratch::default(),
            warps,
        }
    }

    pub(crate) fn block(&mut self, block: [u32; 3], threads: u32) -> Result<(), Problem> {
        self.block = block;
        self.shared.next_block();
        let mut warps = std::mem::take(&mut self.warps);
        for (i, warp) in warps.iter_mut().enumerate() {
            let first = i as u32 * 32;
            let count = (threads - first).min(32);
            let lanes = if count == 32 { u32::MAX } else { (1 << count) - 1 };
            warp.start(self.program.entry, first, lanes);
        }
        let result = self.warps_until_end(&mut warps);
        self.warps = warps;
        result
    }

    fn warps_until_end(&mut self, warps: &mut [Warp]) -> Result<(), Problem> {
        loop {
            let mut waiting = 0;
            for warp in warps.iter_mut() {
                if warp.live == 0 {
                    continue;
                }
                match self.run_warp(warp)? {
                    Stop::Ended => (),
                    Stop::AtBarrier => waiting += 1,
                }
            }
            if waiting == 0 {
                return Ok(());
            }
            // Warps that have ended do not count.
            self.shared.next_epoch();
        }
    }

    pub(crate) fn thread(&self, warp: &Warp, lane: u32) -> Thread {
        let [x, y, _] = self.launch.threads;
        let number = warp.first + lane;
        Thread { block: self.block, thread: [number % x, number / x % y, number / x / y] }
    }

    /// A problem of the lowest of `lanes`, at a step.
    pub(crate) fn problem(
        &self,
        code: &'static str,
        step: u32,
        warp: &Warp,
        lanes: u32,
        words: impl Into<String>,
    ) -> Problem {
        let mut problem = Problem::new(code, self.program.places[step as usize], words);
        problem.thread = Some(self.thread(warp, lanes.trailing_zeros().min(31)));
        problem
    }

    /// Records a finding about `lanes` of a warp that does not end the run.
    pub(crate) fn finding(
        &mut self,
        code: &'static str,
        step: u32,
        warp: &Warp,
        lanes: u32,
        words: impl FnOnce() -> String,
    ) {
        let place = self.program.places[step as usize];
        let thread = self.thread(warp, lanes.trailing_zeros().min(31));
        self.findings.add(code, step, lanes.count_ones(), || (place, thread, words()));
    }

    pub(crate) fn amiss(&mut self, amiss: Option<Amiss>, step: u32, warp: &Warp, lane: u32) {
        match amiss {
            None => (),
            Some(Amiss::Unknown) => self.finding("uninitialised-shared", step, warp, 1 << lane, || {
                "reads shared memory that no thread of the block has written".to_owned()
            }),
            Some(Amiss::Race { other }) => {
                self.finding("shared-race", step, warp, 1 << lane, || match other {
                    u32::MAX => {
                        "several threads touch the same shared memory without a barrier between".to_owned()
                    }
                    other => format!(
                        "thread {other} of the block touches the same shared memory, no barrier between"
                    ),
                })
            }
        }
    }

    pub(crate) fn report(self) -> Report {
        let mut traffic: Vec<((u32, usize), Traffic)> = self.traffic.into_iter().collect();
        traffic.sort_unstable_by_key(|(key, _)| *key);
        let traffic = traffic.into_iter().map(|(_, traffic)| traffic).collect();
        Report {
            findings: self.findings.into_list(),
            thread_steps: self.thread_steps,
            warp_steps: self.warp_steps,
            blocks: 0,
            is_whole: false,
            traffic,
        }
    }
}
