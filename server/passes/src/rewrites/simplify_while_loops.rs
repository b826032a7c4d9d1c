//! `simplify-while-loops`: removes what loops carry for nothing, and loops that run at most once.
//!
//! Source: XLA `service/while_loop_simplifier.cc`.

mod constants;
mod counters;
mod removal;
mod unused;

use ir::{ElementType, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::{dce, loops};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// The types of counters, in the order in which XLA joins those of one type.
const COUNTERS: [ElementType; 6] = [
    ElementType::S8,
    ElementType::U8,
    ElementType::S32,
    ElementType::U32,
    ElementType::S64,
    ElementType::U64,
];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let before = run.changes();
    let all = run.module.computations();
    let instructions: Vec<_> =
        all.iter().flat_map(|&computation| run.module.instructions(computation)).collect();
    for id in instructions {
        cancel::tick();
        if let Some(parts) = Loop::of(run.module, id) {
            simplify(run, &parts);
        }
    }
    if run.changes() > before {
        dce::run(run)?;
    }
    Ok(())
}

/// A loop that carries a tuple, whose computations nothing else calls.
#[derive(Debug, Clone, Copy)]
struct Loop {
    id: InstructionId,
    init: InstructionId,
    condition: ComputationId,
    body: ComputationId,
}

impl Loop {
    fn of(module: &Module, id: InstructionId) -> Option<Loop> {
        let (condition, body) = loops::computations(module, id)?;
        let callers = module.callers();
        let is_own = |computation| callers.get(&computation).is_none_or(|callers| callers.len() <= 1);
        let is_free = !module[id].is_removed() && is_own(condition) && is_own(body);
        is_free.then(|| Loop { id, init: module.operand(id, 0), condition, body })
    }

    fn has_tuple_init(&self, module: &Module) -> bool {
        module[self.init].opcode() == Opcode::Tuple
    }

    /// The values after an iteration, if the body's result is a tuple.
    fn results(&self, module: &Module) -> Option<Vec<InstructionId>> {
        let root = module.root(self.body);
        (module[root].opcode() == Opcode::Tuple).then(|| module[root].operands().to_vec())
    }

    fn parameter(&self, module: &Module, computation: ComputationId) -> Option<InstructionId> {
        module.parameters(computation).first().copied()
    }

    /// Whether an element of the body's parameter.
    fn is_element(&self, module: &Module, id: InstructionId, index: usize) -> bool {
        loops::index_of(module, id) == Some(index as i64)
    }

    /// Whether the body and the condition read their parameter by its elements alone.
    fn reads_elements(&self, module: &Module) -> bool {
        [self.body, self.condition].into_iter().all(|computation| {
            let parameter = self.parameter(module, computation);
            parameter.is_some_and(|parameter| {
                let mut users = module[parameter].users().iter();
                users.all(|&user| module[user].opcode() == Opcode::GetTupleElement)
            })
        })
    }
}

/// Rewrites a loop once, as XLA does in a run of the pass.
fn simplify(run: &mut Run<'_>, parts: &Loop) {
    let is_held = run.module[parts.id].has_control_dependencies();
    if !is_held && (unused::remove_repeated(run, parts) || unused::remove_unused(run, parts))
        || constants::remove_constant(run, parts)
    {
        return;
    }
    let is_flow = |computation: ComputationId| {
        let all = run.module.instructions(computation);
        all.iter().any(|&id| {
            matches!(
                run.module[id].opcode(),
                Opcode::Send | Opcode::SendDone | Opcode::Recv | Opcode::RecvDone
            )
        })
    };
    if is_flow(parts.body) || is_flow(parts.condition) {
        return;
    }
    constants::propagate(run, parts);
    if !is_held && removal::remove_loop(run, parts) {
        return;
    }
    let mut parts = *parts;
    for element in COUNTERS {
        if let Some(new) = counters::merge(run, &parts, element) {
            match Loop::of(run.module, new) {
                Some(new) => parts = new,
                None => return,
            }
        }
    }
}

/// Adds a loop like another one, of what `init` carries.
fn add_loop(run: &mut Run<'_>, parts: &Loop, init: InstructionId) -> InstructionId {
    let shape = run.module[init].shape().clone();
    let new = run.module.add_copy(run.module[parts.id].parent(), parts.id, &[init]);
    run.module.set_shape(new, shape);
    new
}

/// The elements of a tuple, as instructions beside it.
fn elements(run: &mut Run<'_>, tuple: InstructionId) -> Vec<InstructionId> {
    let Shape::Tuple(shapes) = run.module[tuple].shape().clone() else { return Vec::new() };
    (0..shapes.len() as i64).map(|index| run.module.add_element(tuple, index)).collect()
}

/// Gives a computation a parameter of this shape in place of its own, whose users then use what `replace` makes of the new one.
fn replace_parameter(
    run: &mut Run<'_>,
    computation: ComputationId,
    shape: Shape,
    replace: impl FnOnce(&mut Run<'_>, InstructionId) -> InstructionId,
) -> Option<InstructionId> {
    let old = run.module.parameters(computation).first().copied()?;
    let name = run.module[old].name().to_owned();
    let new = run.module.add_named(computation, NewOp::parameter(shape, 0), &name);
    let value = replace(run, new);
    run.module.replace_all_uses(old, value);
    run.module.remove(old);
    Some(new)
}

/// Replaces a loop and reports it.
fn replace_loop(run: &mut Run<'_>, parts: &Loop, new: InstructionId, what: &str) {
    run.changed(parts.id, what);
    run.module.replace_relaying_control(parts.id, new);
}

/// Makes an element of a tuple another one.
fn set_index(module: &mut Module, id: InstructionId, index: usize) {
    module.attributes_mut(id).set(AttributeKey::Index, index as i64);
}
