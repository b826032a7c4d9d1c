//! Other orders of dimensions in tiled layouts, of which less is padding.

use std::collections::BTreeSet;

use ir::{ArrayShape, Opcode, Shape};
use rustc_hash::FxHashSet;

use super::changed::Changed;
use super::{Action, Advice, Advisor};
use crate::dataflow::ValueId;
use crate::program::{Id, Program};
use crate::sizes::bytes;

/// All orders of the dimensions of an array of this rank are tried.
const RANK: usize = 5;
/// Values that must have one layout.
const TOGETHER: usize = 64;

/// A layout that pads less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relayout {
    /// The instructions whose results get it, in the order of the program: XLA lets none of them change the layout of another.
    pub names: Vec<Box<str>>,
    /// Dimension numbers, the fastest first.
    pub minor_to_major: Vec<i64>,
    /// The largest of the values that was tried, and its bytes then.
    pub value: String,
    pub bytes_then: u64,
}

/// The largest of what is alive at the peak first.
pub(super) fn advice(advisor: &Advisor<'_>) -> Vec<Advice> {
    let mut known = FxHashSet::default();
    let alive = advisor.memory.alive_at(advisor.memory.usage.peak);
    let changes = alive.into_iter().filter_map(|value| {
        cancel::tick();
        smaller(advisor, value, &mut known)
    });
    changes.take(advisor.plans()).filter_map(|change| plan(advisor, &change)).collect()
}

/// Instructions whose results get other layouts.
struct Change {
    value: ValueId,
    together: Vec<Id>,
    order: Vec<i64>,
}

fn smaller(advisor: &Advisor<'_>, value: ValueId, known: &mut FxHashSet<Id>) -> Option<Change> {
    let Advisor { program, memory, flow, .. } = advisor;
    let slot = flow.dataflow.value(value).slot;
    let id = flow.slots.owner(slot);
    let array = flow.slots.shape(slot).as_array()?;
    let unpadded = array.bytes()?;
    let is_padded = memory.values[value as usize].bytes > unpadded;
    if !is_padded || !flow.slots.is_top(slot) || array.rank() > RANK || known.contains(&id) {
        return None;
    }
    let order = array.layout.as_ref()?.minor_to_major.clone();
    let together = together(program, id, &order)?;
    known.extend(&together);
    let size = |order: &[i64]| {
        let shapes = together.iter().map(|&id| in_order(&program.instruction(id).shape, order));
        shapes.map(|shape| bytes(&shape?)).try_fold(0u64, |sum, own| sum.checked_add(own?))
    };
    let mut best = (size(&order)?, order.clone());
    let mut other: Vec<i64> = (0..array.rank() as i64).collect();
    loop {
        let size = size(&other)?;
        if size < best.0 {
            best = (size, other.clone());
        }
        if !next_order(&mut other) {
            break;
        }
    }
    (best.1 != order).then_some(Change { value, together, order: best.1 })
}

/// All values that have the layout of that of `id` because XLA's instructions between them change no layouts. `None` where
/// something else decides one of the layouts: a caller, a loop, a library.
/// Source: `LayoutAssignment::InstructionCanChangeLayout`, `service/layout_assignment.cc`.
fn together(program: &Program, id: Id, order: &[i64]) -> Option<Vec<Id>> {
    let mut found = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(one) = open.pop() {
        cancel::tick();
        let instruction = program.instruction(one);
        let array = instruction.shape.as_array()?;
        let layout = array.layout.as_ref()?;
        if layout.minor_to_major != order || program.is_root(one) || found.len() > TOGETHER {
            return None;
        }
        let is_parameter = || {
            let number = instruction.number;
            instruction.opcode == Some(Opcode::Parameter)
                && instruction.computation as usize == program.entry
                && number.is_some_and(|number| !program.is_donated(number, &[]))
        };
        let mut joined = Vec::new();
        if keeps_layout(instruction.opcode?) {
            joined.extend(instruction.operands.iter().copied());
        } else if !changes_layout(instruction.opcode?) && !is_parameter() {
            return None;
        }
        for &user in &instruction.users {
            let opcode = program.instruction(user).opcode?;
            if keeps_layout(opcode) {
                joined.push(user);
            } else if !changes_layout(opcode) {
                return None;
            }
        }
        for other in joined {
            let rank = program.instruction(other).shape.as_array().map(ArrayShape::rank);
            if rank == Some(array.rank()) && found.insert(other) {
                open.push(other);
            }
        }
    }
    Some(found.into_iter().collect())
}

/// Whether arrays of its rank that it reads have the layout of its result.
fn keeps_layout(opcode: Opcode) -> bool {
    use Opcode::{Concatenate, Copy, DynamicSlice, DynamicUpdateSlice, Pad, ReduceWindow, Reverse, Slice};
    let is_listed = matches!(
        opcode,
        Concatenate | DynamicSlice | DynamicUpdateSlice | Pad | ReduceWindow | Reverse | Slice
    );
    is_listed || ir::is_elementwise(opcode) && opcode != Copy
}

/// Whether it reads and writes arrays in any layouts.
fn changes_layout(opcode: Opcode) -> bool {
    use Opcode::{Broadcast, Convolution, Copy, Dot, Fusion, Gather, Iota, Reduce, Reshape, Transpose};
    matches!(
        opcode,
        Broadcast | Convolution | Copy | Dot | Fusion | Gather | Iota | Reduce | Reshape | Transpose
    )
}

fn in_order(shape: &Shape, order: &[i64]) -> Option<Shape> {
    let mut array = ArrayShape::clone(shape.as_array()?);
    array.layout.as_mut()?.minor_to_major = order.to_vec();
    Some(Shape::Array(array.into()))
}

/// The next one in lexicographic order; whether there is one.
fn next_order(order: &mut [i64]) -> bool {
    let Some(at) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let other = order.iter().rposition(|&own| own > order[at]).unwrap_or(at);
    order.swap(at, other);
    order[at + 1..].reverse();
    true
}

fn plan(advisor: &Advisor<'_>, Change { value, together, order }: &Change) -> Option<Advice> {
    let Advisor { program, memory, flow, .. } = advisor;
    let mut changed = Changed::new(program);
    for &id in together {
        changed.program.instructions[id as usize].shape = in_order(&program.instruction(id).shape, order)?;
    }
    let shape = &changed.program.instruction(flow.slots.owner(flow.dataflow.value(*value).slot)).shape;
    let value = &memory.values[*value as usize];
    let action = Action::Relayout(Relayout {
        names: together.iter().map(|&id| program.instruction(id).name.clone()).collect(),
        minor_to_major: order.clone(),
        value: value.name.clone(),
        bytes_then: bytes(shape)?,
    });
    advisor.plan_changed(&changed, action, value.bytes)
}

#[cfg(test)]
mod tests {
    use super::next_order;

    #[test]
    fn orders_come_once_each() {
        let mut order = [0, 1, 2];
        let mut all = vec![order];
        while next_order(&mut order) {
            all.push(order);
        }
        assert_eq!(all, [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    }
}
