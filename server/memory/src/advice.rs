//! What would lower the peak: each change is planned as any module, and shown if its peak is lower.

mod changed;
mod donation;
mod moving;
mod places;
mod relayout;
mod rematerialisation;
mod second_copy;
mod sharding;

use std::cell::RefCell;
use std::cmp::Reverse;

use ir::Cost;
use rustc_hash::FxHashMap;

use crate::devices::Devices;
use crate::memory::{Flow, Memory};
use crate::overwriting::OrderOf;
use crate::program::{Id, Program};

use changed::Changed;
use places::Places;

pub use donation::Donation;
pub use moving::Move;
pub use relayout::Relayout;
pub use rematerialisation::Rematerialisation;
pub use second_copy::SecondCopy;
pub use sharding::Sharding;

/// Plans that are made at most for each kind of change.
const PLANS: usize = 16;
/// Instructions of all plans of a kind: of a large module the few largest changes are tried.
const PLANNED_INSTRUCTIONS: usize = 500_000;
/// A change that saves a smaller part of the peak is not worth a line.
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
    /// Instructions run again in front of late uses of what they compute.
    Rematerialise(Rematerialisation),
    /// Results have layouts of which less is padding.
    Relayout(Relayout),
    /// A parameter or a constant is read as it is, or stored as it is read.
    DropCopy(SecondCopy),
    /// Each device has a part of a parameter, and gathers the whole where it is read.
    Shard(Sharding),
}

/// What running an instruction costs, with all that it calls.
pub type CostOf<'a> = dyn Fn(Id) -> Cost + 'a;

/// The changes that lower the peak of a program whose memory is `memory`, the largest saving first.
pub fn advise(
    program: &Program,
    memory: &Memory,
    order_of: &OrderOf<'_>,
    cost_of: &CostOf<'_>,
    devices: &Devices,
) -> Vec<Advice> {
    let orders: RefCell<FxHashMap<Id, crate::FusionOrder>> = RefCell::default();
    let order_of = |fusion: Id| orders.borrow_mut().entry(fusion).or_insert_with(|| order_of(fusion)).clone();
    let advisor = Advisor { program, memory, flow: Flow::of(program), order_of: &order_of, cost_of, devices };
    let mut advice = donation::advice(&advisor);
    let places = Places::new(&advisor);
    advice.extend(relayout::advice(&advisor));
    advice.extend(sharding::advice(&advisor));
    advice.extend(second_copy::advice(&advisor, &places));
    if program.is_scheduled {
        advice.extend(moving::advice(&advisor, &places));
        advice.extend(rematerialisation::advice(&advisor, &places));
    }
    advice.sort_by_key(|one| (one.peak, one.total, Reverse(one.bytes)));
    advice
}

struct Advisor<'a> {
    program: &'a Program,
    memory: &'a Memory,
    flow: Flow,
    /// Remembers what it was asked.
    order_of: &'a OrderOf<'a>,
    cost_of: &'a CostOf<'a>,
    devices: &'a Devices,
}

impl Advisor<'_> {
    /// How many changes of a kind are tried.
    fn plans(&self) -> usize {
        (PLANNED_INSTRUCTIONS / self.program.instructions.len().max(1)).clamp(2, PLANS)
    }

    /// Plans a program that has the same instructions.
    fn plan(&self, changed: &Program, action: Action, bytes: u64) -> Option<Advice> {
        self.compare(&Memory::of(changed, self.order_of), action, bytes)
    }

    /// The same of one in which instructions are copied.
    fn plan_changed(&self, changed: &Changed<'_>, action: Action, bytes: u64) -> Option<Advice> {
        let order_of = |fusion: Id| (self.order_of)(changed.original_of(fusion));
        self.compare(&Memory::of(&changed.program, &order_of), action, bytes)
    }

    fn compare(&self, memory: &Memory, action: Action, bytes: u64) -> Option<Advice> {
        self.shown(memory.in_use_at_peak(), memory.total, action, bytes)
    }

    /// `None` if the peak is not lower, or by next to nothing.
    fn shown(&self, peak: u64, total: u64, action: Action, bytes: u64) -> Option<Advice> {
        let before = self.memory.in_use_at_peak();
        let saved = before.saturating_sub(peak);
        (saved > 0 && saved >= before / SMALLEST_PART).then_some(Advice { action, bytes, peak, total })
    }
}
