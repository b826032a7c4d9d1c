//! Executes the instructions of one warp.

use super::block::{Machine, Stop};
use super::matrices::MatrixStep;
use super::problem::Problem;
use super::program::*;
use super::warp::{Frame, Split, Warp};

/// Less than a millisecond of work.
const STEPS_BETWEEN_CHECKS: u64 = 1 << 12;

impl Machine<'_, '_> {
    /// Runs a warp to its next barrier or its end.
    pub(crate) fn run_warp(&mut self, warp: &mut Warp) -> Result<Stop, Problem> {
        if warp.is_waiting {
            warp.is_waiting = false;
            warp.current.at += 1;
            warp.choose();
        }
        let program = self.program;
        let mut meeting = warp.meeting();
        loop {
            let step = warp.current.at;
            let Some(Step { op, guard }) = program.steps.get(step as usize) else {
                return Err(self.problem(
                    "trap",
                    step.min(program.steps.len() as u32 - 1),
                    warp,
                    1,
                    "no instruction",
                ));
            };
            let lanes = warp.current.lanes;
            let active = if *guard == ALWAYS { lanes } else { lanes & warp.lanes(*guard) };
            if guard.slot < CONSTANT {
                let unknown = Warp::unknown(&warp.known_predicates, guard.slot, lanes);
                self.unknown_register(unknown, step, warp);
            }
            self.warp_steps += 1;
            if self.warp_steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
                cancel::check();
            }
            self.thread_steps += u64::from(active.count_ones());
            if self.warp_steps > self.launch.max_steps {
                return Err(self.problem("step-limit", step, warp, lanes, "the run takes too long"));
            }
            let mut is_straight = true;
            match *op {
                _ if active == 0 => (),
                DecodedOp::Branch { to } => {
                    let rest = lanes & !active;
                    if rest != 0 {
                        warp.others.push(Split { at: step + 1, lanes: rest, is_parked: false });
                    }
                    warp.current = Split { at: to, lanes: active, is_parked: false };
                    is_straight = false;
                }
                DecodedOp::Call { to, arguments, results } => {
                    self.copy_local(warp, arguments, active);
                    let rest = lanes & !active;
                    if rest != 0 {
                        warp.others.push(Split { at: step + 1, lanes: rest, is_parked: false });
                    }
                    let waiting = std::mem::take(&mut warp.others);
                    warp.frames.push(Frame { waiting, back: step + 1, results, returned: 0 });
                    warp.current = Split { at: to, lanes: active, is_parked: false };
                    is_straight = false;
                }
                DecodedOp::Return | DecodedOp::Exit => {
                    match (matches!(op, DecodedOp::Return), warp.frames.last_mut()) {
                        (true, Some(frame)) => frame.returned |= active,
                        _ => {
                            // Barriers do not wait for ended lanes.
                            warp.live &= !active;
                            warp.others.iter_mut().for_each(|split| split.is_parked = false);
                        }
                    }
                    warp.current.lanes &= !active;
                    warp.current.at += 1;
                    is_straight = false;
                }
                DecodedOp::Trap => {
                    return Err(self.problem("trap", step, warp, active, "the kernel stops itself"));
                }
                DecodedOp::Barrier => {
                    if active != warp.live {
                        self.park(warp, step, "divergent-barrier")?;
                        meeting = warp.meeting();
                        continue;
                    }
                    warp.is_waiting = true;
                    return Ok(Stop::AtBarrier);
                }
                DecodedOp::Shuffle { lanes: slot, .. }
                | DecodedOp::Vote { lanes: slot, .. }
                | DecodedOp::Reduce { lanes: slot, .. } => {
                    let wanted = warp.word(slot)[active.trailing_zeros() as usize & 31] & warp.live;
                    if wanted & !lanes != 0 {
                        self.park(warp, step, "divergent-shuffle")?;
                        meeting = warp.meeting();
                        continue;
                    }
                    self.exchange(warp, op, step, active);
                }
                DecodedOp::Matrix(number) => {
                    if active != warp.live {
                        self.park(warp, step, "divergent-matrix")?;
                        meeting = warp.meeting();
                        continue;
                    }
                    match &program.matrix_steps[number as usize] {
                        MatrixStep::Move(matrices) => self.move_matrices(warp, step, matrices, active)?,
                        MatrixStep::Product(product) => self.multiply(warp, step, product, active)?,
                    }
                }
                ref other => self.plain(warp, other, step, active)?,
            }
            if is_straight {
                warp.current.at = step + 1;
                if step + 1 != meeting {
                    continue;
                }
            }
            if !self.next(warp, step)? {
                return Ok(Stop::Ended);
            }
            meeting = warp.meeting();
        }
    }

    /// Selects the lanes that run next, after a branch, a reconvergence or an end. Returns false if there are
    /// none.
    fn next(&mut self, warp: &mut Warp, step: u32) -> Result<bool, Problem> {
        loop {
            if !warp.choose() {
                let lanes = warp.others.first().map_or(1, |s| s.lanes);
                let words = "lanes of a warp wait for each other at different places";
                return Err(self.problem("divergent-barrier", step, warp, lanes, words));
            }
            if warp.current.lanes != 0 {
                return Ok(true);
            }
            // All lanes of a function have returned or ended.
            let Some(frame) = warp.frames.pop() else { return Ok(false) };
            self.copy_local(warp, frame.results, frame.returned);
            warp.others = frame.waiting;
            warp.current = Split { at: frame.back, lanes: frame.returned, is_parked: false };
        }
    }

    /// Makes the current lanes wait here for others of the warp.
    fn park(&mut self, warp: &mut Warp, step: u32, code: &'static str) -> Result<(), Problem> {
        let lanes = warp.current.lanes;
        warp.current.is_parked = true;
        if warp.choose() && warp.current.lanes != 0 {
            return Ok(());
        }
        Err(self.problem(code, step, warp, lanes, "not all lanes of the warp come here"))
    }

    /// Reports reads of uninitialised registers.
    #[inline]
    pub(crate) fn unknown_register(&mut self, unknown: u32, step: u32, warp: &Warp) {
        if unknown != 0 {
            self.finding("uninitialised-register", step, warp, unknown, || {
                "reads a register that was not written".to_owned()
            });
        }
    }
}
