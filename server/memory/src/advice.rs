//! What would lower the peak: each change is planned as any module, and shown if its peak is lower.

mod donation;
mod moving;

use std::cell::RefCell;
use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::memory::{Flow, Memory};
use crate::overwriting::OrderOf;
use crate::program::{Id, Program};

pub use donation::Donation;
pub use moving::Move;

/// Plans that are made at most for each kind of change.
const PLANS: usize = 16;
/// Instructions of all plans of a kind: of a large module the few largest changes are tried.
const PLANNED_INSTRUCTIONS: usize = 500_000;
/// A change that saves a smaller part of the peak would read "peak 5.32 → 5.32 GB".
const SMALLEST_PART: u64 = 1000;

/// A change of the module that lowers its peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub action: Action,
    /// Bytes of what is changed.
    pub bytes: u64,
    /// Bytes in use at the peak of the changed module.
    pub peak: u64,
    /// Bytes of all its allocations.
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Results take the memory of parameters that nothing reads any more.
    Donate(Vec<Donation>),
    /// An instruction runs later or earlier.
    Move(Move),
}

/// The changes that lower the peak of a program whose memory is `memory`, the largest saving first.
pub fn advise(program: &Program, memory: &Memory, order_of: &OrderOf<'_>) -> Vec<Advice> {
    let orders: RefCell<FxHashMap<Id, crate::FusionOrder>> = RefCell::default();
    let order_of = |fusion: Id| orders.borrow_mut().entry(fusion).or_insert_with(|| order_of(fusion)).clone();
    let advisor = Advisor { program, memory, flow: Flow::of(program), order_of: &order_of };
    let mut advice = donation::advice(&advisor);
    advice.extend(moving::advice(&advisor));
    advice.sort_by_key(|one| (one.peak, one.total, Reverse(one.bytes)));
    advice
}

struct Advisor<'a> {
    program: &'a Program,
    memory: &'a Memory,
    flow: Flow,
    /// Remembers what it was asked.
    order_of: &'a OrderOf<'a>,
}

impl Advisor<'_> {
    /// How many changes of a kind are tried.
    fn plans(&self) -> usize {
        (PLANNED_INSTRUCTIONS / self.program.instructions.len().max(1)).clamp(2, PLANS)
    }

    /// Plans a changed program. `None` if its peak is not lower, or by next to nothing.
    fn plan(&self, changed: &Program, action: Action, bytes: u64) -> Option<Advice> {
        let memory = Memory::of(changed, self.order_of);
        let (peak, total) = (memory.in_use_at_peak(), memory.total);
        let before = self.memory.in_use_at_peak();
        let saved = before.saturating_sub(peak);
        (saved > 0 && saved >= before / SMALLEST_PART).then_some(Advice { action, bytes, peak, total })
    }
}
