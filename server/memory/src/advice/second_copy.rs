//! Parameters and constants that are in memory twice: as they are, and transposed or converted.

use ir::{ArrayShape, AttributeKey, ElementType, ElementTypeExt, Opcode};

use super::changed::Changed;
use super::places::Places;
use super::{Action, Advice, Advisor};
use crate::dataflow::ValueId;
use crate::program::{Id, Program};

/// A second copy that need not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondCopy {
    /// The instruction of the parameter or the constant.
    pub source: Box<str>,
    /// The number of the parameter; `None` of a constant.
    pub parameter: Option<u32>,
    /// The instruction that computes the copy.
    pub copy: Box<str>,
    /// The instructions that go: the one of the copy, and those between. What reads the copy reads the source.
    pub removed: Vec<Box<str>>,
    /// The shape in which the source is stored, which is that of the copy. `None` if other instructions read the source as it
    /// is: then those that read the copy read it by other dimension numbers.
    pub stored_as: Option<String>,
}

/// The largest copy first.
pub(super) fn advice(advisor: &Advisor<'_>, places: &Places<'_>) -> Vec<Advice> {
    let alive = advisor.memory.alive_at(advisor.memory.usage.peak);
    let changes = alive.into_iter().filter_map(|value| {
        cancel::tick();
        find(advisor, places, value)
    });
    changes.take(advisor.plans()).filter_map(|found| plan(advisor, &found)).collect()
}

struct Found {
    value: ValueId,
    source: Id,
    /// From the source on; the last one computes the copy.
    chain: Vec<Id>,
    is_stored: bool,
}

fn find(advisor: &Advisor<'_>, places: &Places<'_>, value: ValueId) -> Option<Found> {
    let Advisor { program, flow, .. } = advisor;
    let copy = places.defined_by(value)?;
    let mut chain = vec![copy];
    let source = loop {
        let last = *chain.last()?;
        let instruction = program.instruction(last);
        let is_passed_on = instruction.opcode == Some(Opcode::Bitcast) || is_reordered(program, last);
        let [operand] = instruction.operands[..] else { return None };
        if !is_passed_on {
            return None;
        }
        if matches!(program.instruction(operand).opcode, Some(Opcode::Parameter | Opcode::Constant)) {
            break operand;
        }
        chain.push(operand);
    };
    chain.reverse();
    let held = flow.dataflow.at(flow.slots.top(source))?;
    let origin = program.instruction(source);
    let is_own = flow.aliases.buffers[flow.aliases.buffer_of[held as usize] as usize].len() == 1;
    let is_of_entry = origin.computation as usize == program.entry && !program.is_root(source);
    let is_alive = advisor.memory.values[held as usize].live.contains(advisor.memory.usage.peak);
    let (before, after) = (origin.shape.as_array()?, program.instruction(copy).shape.as_array()?);
    let readers = readers(program, copy)?;
    if !is_own
        || !is_of_entry
        || !is_alive
        || program.is_root(copy)
        || readers.iter().any(|&opcode| passes_on(opcode))
    {
        return None;
    }
    let is_only_reader = |(at, &id): (usize, &Id)| {
        let read = if at == 0 { source } else { chain[at - 1] };
        program.instruction(read).users == [id]
    };
    let is_donated = origin.number.is_some_and(|number| program.is_donated(number, &[]));
    let is_stored = !is_donated && chain.iter().enumerate().all(is_only_reader);
    // A product reads its operands by any dimensions.
    let is_read_otherwise = before.element == after.element
        && has_same_elements(before, after)
        && readers.iter().all(|&opcode| is_product(opcode));
    (is_stored || is_read_otherwise).then_some(Found { value, source, chain, is_stored })
}

/// Whether an instruction moves the elements of its only operand to other places, or converts them to another type.
fn is_reordered(program: &Program, id: Id) -> bool {
    let instruction = program.instruction(id);
    match instruction.opcode {
        Some(Opcode::Transpose) => true,
        // Two copies in one layout are apart for a reason.
        Some(Opcode::Copy) => {
            let layout = |id: Id| program.instruction(id).shape.as_array().map(|array| &array.layout);
            instruction.operands.first().is_some_and(|&operand| layout(operand) != layout(id))
        }
        Some(Opcode::Fusion) => program.callee(id, AttributeKey::Calls).is_some_and(|body| {
            let mut parts = body.instructions.iter();
            parts.all(|&part| match program.instruction(part).opcode {
                Some(Opcode::Parameter | Opcode::Bitcast | Opcode::Copy | Opcode::Transpose) => true,
                _ => is_conversion(program, part),
            })
        }),
        _ => is_conversion(program, id),
    }
}

/// An operation on each element of one array, from one type of numbers to another.
fn is_conversion(program: &Program, id: Id) -> bool {
    let instruction = program.instruction(id);
    let type_of = |id: Id| program.instruction(id).shape.element();
    let is_number = |element: ElementType| element != ElementType::Pred && !element.is_complex();
    match (instruction.opcode, &instruction.operands[..]) {
        (Some(opcode), &[operand]) if ir::is_elementwise(opcode) => {
            let types = [operand, id].map(type_of);
            types[0] != types[1] && types.into_iter().all(|element| element.is_some_and(is_number))
        }
        _ => false,
    }
}

/// What reads a value, also through bitcasts, and the bitcasts.
fn readers(program: &Program, id: Id) -> Option<Vec<Opcode>> {
    let mut same = vec![id];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&one) = same.get(at) {
        cancel::tick();
        at += 1;
        for &user in &program.instruction(one).users {
            let opcode = program.instruction(user).opcode?;
            found.push(opcode);
            if opcode == Opcode::Bitcast && !same.contains(&user) {
                // The result of a computation is passed on.
                if program.is_root(user) {
                    return None;
                }
                same.push(user);
            }
        }
    }
    Some(found)
}

/// Whether dimensions and bytes are the same in some order.
fn has_same_elements(one: &ArrayShape, other: &ArrayShape) -> bool {
    let [mut dims, mut others] = [one, other].map(|array| array.dims.clone());
    dims.sort_unstable();
    others.sort_unstable();
    dims == others
}

fn is_product(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dot | Opcode::Convolution)
}

/// Whether its results may be the memory of its operands.
fn passes_on(opcode: Opcode) -> bool {
    use Opcode::{AsyncStart, Call, Conditional, CopyStart, OptBarrier, Tuple, While};
    matches!(opcode, AsyncStart | Call | Conditional | CopyStart | OptBarrier | Tuple | While)
}

fn plan(advisor: &Advisor<'_>, found: &Found) -> Option<Advice> {
    let Advisor { program, memory, .. } = advisor;
    let Found { value, source, chain, is_stored } = found;
    let copy = *chain.last()?;
    let shape = &program.instruction(copy).shape;
    let mut changed = Changed::new(program);
    changed.replace(copy, *source);
    // What else reads an instruction between keeps it.
    let mut removed = Vec::new();
    for &id in chain.iter().rev() {
        let mut users = program.instruction(id).users.iter();
        if id == copy || users.all(|user| removed.contains(user)) {
            removed.push(id);
        }
    }
    changed.remove(&removed);
    if *is_stored {
        changed.program.instructions[*source as usize].shape = shape.clone();
    }
    let name = |&id: &Id| program.instruction(id).name.clone();
    let origin = program.instruction(*source);
    let action = Action::DropCopy(SecondCopy {
        source: origin.name.clone(),
        parameter: origin.number.filter(|_| origin.opcode == Some(Opcode::Parameter)),
        copy: name(&copy),
        removed: removed.iter().map(name).collect(),
        stored_as: is_stored.then(|| shape.to_string()),
    });
    advisor.plan_changed(&changed, action, memory.values[*value as usize].bytes)
}
