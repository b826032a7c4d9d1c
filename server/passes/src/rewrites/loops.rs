//! Loops whose iterations can be counted.
//!
//! Source: XLA `service/while_loop_analysis.cc`.

use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use crate::module::{ComputationId, InstructionId, Module};

/// The values of a loop's variable: `init`, `init + step`, …, so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) init: i64,
    pub(super) step: i64,
    pub(super) trips: i64,
}

impl Range {
    /// The value after the last iteration.
    pub(super) fn end(&self) -> i64 {
        self.step.wrapping_mul(self.trips).wrapping_add(self.init)
    }
}

/// The element of a loop's tuple that alone decides how often the loop runs, and that depends on nothing else.
pub(super) fn variable(module: &Module, id: InstructionId) -> Option<i64> {
    let (condition, body) = computations(module, id)?;
    let index = only_index(module, condition, module.root(condition))?;
    let update = update(module, body, index)?;
    let has_init = module[module.operand(id, 0)].opcode() == Opcode::Tuple;
    (has_init && only_index(module, body, update)? == index).then_some(index)
}

/// The values of a loop's variable, where it starts at a constant, grows by a constant, and is compared with one.
pub(super) fn range(module: &Module, id: InstructionId, variable: i64) -> Option<Range> {
    let (condition, body) = computations(module, id)?;
    let at = usize::try_from(variable).ok()?;
    let init = integer(module, *module[module.operand(id, 0)].operands().get(at)?)?;
    let update = update(module, body, variable)?;
    let (_, step) = beside(module, update, variable, Opcode::Add)?;
    let compare = module.root(condition);
    let (is_left, bound) = beside(module, compare, variable, Opcode::Compare)?;
    let direction = module[compare].attributes().text(AttributeKey::Direction)?;
    let last = match (direction, is_left) {
        ("LT", true) | ("GT", false) => bound.checked_sub(1)?,
        ("LE", true) | ("GE", false) => bound,
        _ => return None,
    };
    if step <= 0 || init < 0 || last < init {
        return None;
    }
    Some(Range { init, step, trips: (last - init) / step + 1 })
}

/// The condition and the body of a loop.
pub(super) fn computations(module: &Module, id: InstructionId) -> Option<(ComputationId, ComputationId)> {
    let callee = |key| module[id].callee(key);
    (module[id].opcode() == Opcode::While)
        .then(|| Some((callee(AttributeKey::Condition)?, callee(AttributeKey::Body)?)))?
}

/// What the element becomes in an iteration.
fn update(module: &Module, body: ComputationId, index: i64) -> Option<InstructionId> {
    let root = module.root(body);
    let is_tuple = module[root].opcode() == Opcode::Tuple;
    module[root].operands().get(usize::try_from(index).ok()?).copied().filter(|_| is_tuple)
}

/// A binary operation of the variable and a constant: whether the variable is on the left, and the constant.
fn beside(module: &Module, id: InstructionId, variable: i64, opcode: Opcode) -> Option<(bool, i64)> {
    let &[a, b] = module[id].operands() else { return None };
    let is_variable = |value| index_of(module, value) == Some(variable);
    if module[id].opcode() != opcode {
        return None;
    }
    match is_variable(a) {
        true => Some((true, integer(module, b)?)),
        false => is_variable(b).then(|| Some((false, integer(module, a)?)))?,
    }
}

/// Which element of the parameter a value is.
pub(super) fn index_of(module: &Module, id: InstructionId) -> Option<i64> {
    let is_element = module[id].opcode() == Opcode::GetTupleElement
        && module[module.operand(id, 0)].opcode() == Opcode::Parameter;
    module[id].attributes().int(AttributeKey::Index).filter(|_| is_element)
}

/// The value of a scalar integer constant.
pub(super) fn integer(module: &Module, id: InstructionId) -> Option<i64> {
    let is_scalar = module[id].opcode() == Opcode::Constant && module[id].dims().is_empty();
    module[id].literal().filter(|_| is_scalar)?.trim().parse().ok()
}

/// The only element of the parameter that a value depends on.
pub(super) fn only_index(module: &Module, computation: ComputationId, id: InstructionId) -> Option<i64> {
    let mut found = None;
    let mut seen = FxHashSet::default();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Some(index) = index_of(module, id) {
            if found.is_some_and(|found| found != index) {
                return None;
            }
            found = Some(index);
            continue;
        }
        let is_parameter = module[id].opcode() == Opcode::Parameter;
        if is_parameter || module[id].parent() != computation || module.has_side_effect(id) {
            return None;
        }
        open.extend(module[id].operands());
    }
    found
}
