//! Hoists loop invariants. Source: MLIR's loop-invariant code motion.

use rustc_hash::FxHashSet;

use super::ops::{constant_args, each_body, indices, operands, regions_mut, writes};
use crate::kernel::{Function, Kernel, Op, OpKind, Region, Type, ValueId};

pub(super) fn run(kernel: &mut Kernel) {
    let constant = constant_args(kernel);
    each_body(kernel, |number, function, body| {
        let constant = if number == 0 { constant.clone() } else { function.args.clone() };
        Motion { function, constant }.region(body);
    });
}

struct Motion<'f> {
    function: &'f Function,
    constant: Vec<ValueId>,
}

impl Motion<'_> {
    /// Processes inner loops first, because ops hoisted out of them may be hoisted further.
    fn region(&self, region: &mut Region) {
        for mut op in std::mem::take(&mut region.ops) {
            regions_mut(&mut op.kind).into_iter().for_each(|inner| self.region(inner));
            let changes = writes(&op);
            // A loop of zero iterations computes nothing, so nothing is hoisted out of it.
            if let OpKind::For { var, count: 1.., body, .. } = &mut op.kind {
                let mut inside = Inside {
                    values: body.args.iter().copied().collect(),
                    vars: FxHashSet::from_iter([*var]),
                };
                let (moved, kept): (Vec<Op>, Vec<Op>) =
                    std::mem::take(&mut body.ops).into_iter().partition(|op| {
                        let moves = self.is_movable(op, changes) && !inside.uses(op);
                        if !moves {
                            inside.defines(op);
                        }
                        moves
                    });
                body.ops = kept;
                region.ops.extend(moved);
            }
            region.ops.push(op);
        }
    }

    /// Whether the op has the same results before the loop. `changes`: the loop changes memory.
    fn is_movable(&self, op: &Op, changes: bool) -> bool {
        match &op.kind {
            OpKind::Constant(_)
            | OpKind::Compute { .. }
            | OpKind::FromIndex { .. }
            | OpKind::ToIndex { .. }
            | OpKind::Table(_)
            | OpKind::Splat { .. } => true,
            OpKind::Read { tensor, .. } => !changes || self.constant.contains(tensor),
            OpKind::Call { args, .. } => {
                let is_tensor =
                    |arg: &&ValueId| matches!(self.function.ty(**arg), Type::Tensor(_) | Type::Shared(_));
                !changes || args.iter().filter(is_tensor).all(|arg| self.constant.contains(arg))
            }
            _ => false,
        }
    }
}

/// The values and variables that a loop defines.
struct Inside {
    values: FxHashSet<ValueId>,
    vars: FxHashSet<u32>,
}

impl Inside {
    fn uses(&self, op: &Op) -> bool {
        let mut uses = false;
        operands(&op.kind, &mut |value| uses |= self.values.contains(value));
        indices(&op.kind, &mut |expr| expr.for_each_var(&mut |var| uses |= self.vars.contains(&var)));
        uses
    }

    /// Adds the definitions of an op. Those in its regions are visible only there.
    fn defines(&mut self, op: &Op) {
        self.values.extend(&op.results);
        if let OpKind::ToIndex { var, .. } | OpKind::AsIndex { var, .. } = op.kind {
            self.vars.insert(var);
        }
    }
}
