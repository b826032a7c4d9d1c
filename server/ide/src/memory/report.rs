//! What is alive at a position of the schedule, since when and until which use, with the lines of the source.

use std::sync::Arc;

use ::memory::{Category, Devices, Memory, Order, Step, sum};

use super::devices::Collectives;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::hlo::source_location::source_location;
use crate::units::bytes;
use crate::{SourceFrame, TextRange};

/// The memory of a module, and what is alive when most of it is in use.
#[derive(Debug, Clone)]
pub struct MemoryReport {
    pub memory: Arc<Memory>,
    /// Whether the text states the order of its instructions. If not, they run in an order of XLA's memory schedulers.
    pub is_scheduled: bool,
    pub module: String,
    /// The instruction at the peak; `None` at the end of the module.
    pub peak: Option<MemoryStep>,
    /// The largest first.
    pub alive: Vec<AliveValue>,
    /// Values that are alive, too, and smaller.
    pub omitted: usize,
    pub devices: Devices,
    pub collectives: Collectives,
}

/// An instruction that defines or uses a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryStep {
    pub name: String,
    /// Its name in the text.
    pub range: TextRange,
    /// The framework's name of the op.
    pub op_name: Option<String>,
    /// The innermost line of the source outside of installed packages.
    pub source: Option<SourceFrame>,
}

impl MemoryStep {
    /// `%fusion.3 (model.py:83)`
    pub fn with_source(&self) -> String {
        let source = self.source.as_ref().map_or_else(String::new, |frame| format!(" ({})", frame.short()));
        format!("%{}{source}", self.name)
    }
}

/// Why a value is alive as long as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AliveUntil {
    /// An instruction reads it last.
    Use(MemoryStep),
    /// It is a result of the module.
    Result,
    /// It is a parameter, whose memory belongs to the caller.
    Caller,
}

/// A value in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliveValue {
    /// `name{0}`: an instruction and the element of its result.
    pub name: String,
    /// Bytes of the value, with padding.
    pub bytes: u64,
    pub category: Category,
    /// Positions of the schedule, both included.
    pub live: [u32; 2],
    pub defined: Option<MemoryStep>,
    pub until: AliveUntil,
    /// The allocation and the offset in it, in bytes.
    pub place: Option<(u32, u64)>,
    /// The value that is alive in the same place, and larger or defined earlier.
    pub shares_with: Option<String>,
}

impl MemoryReport {
    /// Which of XLA's memory schedulers ordered the module; `None` if its text states the order.
    pub fn order_in_words(&self) -> Option<&'static str> {
        match self.memory.order {
            Order::Stated => None,
            Order::List => Some(
                "not scheduled: in the order of XLA's list scheduler, which frees most memory at each step",
            ),
            Order::DepthFirst => Some(
                "not scheduled: in the order of XLA's depth-first scheduler, which needs less than its list scheduler or stands for it in large modules",
            ),
            Order::PostOrder => Some(
                "not scheduled: in the order of XLA's post-order scheduler, which needs less here than its list scheduler",
            ),
        }
    }

    /// `52.1 MB of 54.7 MB in use at position 62 of 70, %fusion.3 (model.py:83)`
    pub fn peak_in_words(&self) -> String {
        let (memory, usage) = (&self.memory, &self.memory.usage);
        let at = self.peak.as_ref().map_or_else(|| "the end".to_owned(), MemoryStep::with_source);
        let [used, all] = [bytes(sum(&usage.at_peak())), bytes(memory.total)];
        format!("{used} of {all} in use at position {} of {}, {at}", usage.peak, memory.positions())
    }

    /// At most `limit` values that are alive at the peak.
    pub(crate) fn new(context: &FileContext<'_>, memory: Arc<Memory>, limit: usize) -> MemoryReport {
        let at = memory.usage.peak;
        let alive = memory.alive_at(at);
        let places = db::memory_index(context.db, context.view.file);
        let mut first_at: rustc_hash::FxHashMap<(u32, u64), u32> = rustc_hash::FxHashMap::default();
        let shown = alive.iter().take(limit).map(|&number| {
            let value = &memory.values[number as usize];
            let place = places.place_of[number as usize];
            let first = place.map_or(number, |place| *first_at.entry(place).or_insert(number));
            let until = match memory.steps.get(value.live.end as usize) {
                Some(step) => located(context, step).map_or(AliveUntil::Result, AliveUntil::Use),
                None if is_callers(&memory, number) => AliveUntil::Caller,
                None => AliveUntil::Result,
            };
            AliveValue {
                name: value.name.clone(),
                bytes: value.bytes,
                category: value
                    .allocation
                    .map_or(Category::Temporary, |own| memory.allocations[own as usize].category()),
                live: [value.live.start, value.live.end],
                defined: memory.steps.get(value.defined as usize).and_then(|step| located(context, step)),
                until,
                place,
                shares_with: (first != number).then(|| memory.values[first as usize].name.clone()),
            }
        });
        let shown: Vec<AliveValue> = shown.collect();
        let settings = context.module().settings(0);
        MemoryReport {
            is_scheduled: settings.is_some_and(|settings| settings.is_scheduled),
            module: context.module().name.to_string(),
            peak: memory.steps.get(at as usize).and_then(|step| located(context, step)),
            omitted: alive.len() - shown.len(),
            alive: shown,
            devices: db::module_devices(context.db, context.view.file),
            collectives: Collectives::at_peak(context, &memory),
            memory,
        }
    }
}

/// Whether a value that is alive to the end is so because the caller owns it.
pub(super) fn is_callers(memory: &Memory, value: u32) -> bool {
    let allocation = memory.values[value as usize].allocation;
    let allocation = allocation.map(|number| &memory.allocations[number as usize]);
    allocation.is_some_and(|own| own.category() == Category::Parameter && !own.is_result)
}

/// The instruction of a step in the text.
pub(super) fn located(context: &FileContext<'_>, step: &Step) -> Option<MemoryStep> {
    let computation = context.module().computations.get(step.computation as usize)?;
    let at = computation.segments.iter().find_map(|segment| {
        let id = context.block(segment.piece).find(segment.computation, &step.name)?;
        Some(InstructionRef { piece: segment.piece, id })
    })?;
    let location = source_location(context, at);
    let range = context.range(at.piece, context.block(at.piece).instruction(at.id).name);
    let source = location.shown_frame().cloned();
    Some(MemoryStep { name: step.name.to_string(), range, op_name: location.op_name, source })
}
