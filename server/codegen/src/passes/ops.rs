//! The uses, definitions and regions of an op of the kernel IR.

use indexing_map::Expr;
use rustc_hash::FxHashMap;

use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, Role, ValueId};

macro_rules! visitors {
    ($operands:ident, $indices:ident, $regions:ident, $iter:ident $(, $mutable:tt)?) => {
        /// The operands of an op, without those in its regions.
        pub(crate) fn $operands(kind: &$($mutable)? OpKind, f: &mut dyn FnMut(&$($mutable)? ValueId)) {
            use OpKind::*;
            match kind {
                Read { tensor, .. } | Update { tensor, .. } => f(tensor),
                ToIndex { value, .. } | AsIndex { value, .. } | Splat { value } => f(value),
                Write { value, tensor, .. } | WriteIf { value, tensor, .. } => {
                    f(value);
                    f(tensor);
                }
                ReadIf { tensor, otherwise, .. } => {
                    f(tensor);
                    f(otherwise);
                }
                Extract { vector, .. } => f(vector),
                Insert { value, vector, .. } => {
                    f(value);
                    f(vector);
                }
                If { condition: Condition::Value(value), .. } => f(value),
                Call { args: values, .. }
                | Compute { operands: values, .. }
                | For { inits: values, .. }
                | Loop { inits: values, .. }
                | ShuffleReduce { values, .. }
                | Sync { tensors: values } => values.$iter().for_each(f),
                Constant(_) | Table(_) | FromIndex { .. } | If { .. } | AllocateShared | Switch { .. } | Missing => {}
            }
        }

        /// The indices of an op, without those in its regions.
        pub(crate) fn $indices(kind: &$($mutable)? OpKind, f: &mut dyn FnMut(&$($mutable)? Expr)) {
            use OpKind::*;
            match kind {
                Read { at, .. } | Write { at, .. } | Call { at, .. } | Update { at, .. } => at.$iter().for_each(f),
                Loop { dims: at, .. } => at.$iter().for_each(f),
                FromIndex { index } => f(index),
                Extract { at, .. } | Insert { at, .. } => f(at),
                Switch { on, .. } => f(on),
                If { condition: Condition::Within(constraints), .. } => {
                    constraints.$iter().for_each(|c| f(&$($mutable)? c.expr));
                }
                ReadIf { at, constraints, .. } | WriteIf { at, constraints, .. } => {
                    at.$iter().for_each(&mut *f);
                    constraints.$iter().for_each(|c| f(&$($mutable)? c.expr));
                }
                Constant(_) | Table(_) | ToIndex { .. } | AsIndex { .. } | Compute { .. } | If { .. } | For { .. }
                | AllocateShared | Splat { .. } | ShuffleReduce { .. } | Sync { .. } | Missing => {}
            }
        }

        pub(super) fn $regions(kind: &$($mutable)? OpKind) -> Vec<&$($mutable)? Region> {
            match kind {
                OpKind::Update { body, .. } | OpKind::For { body, .. } | OpKind::Loop { body, .. } => vec![body],
                OpKind::If { then, otherwise, .. } => vec![then, otherwise],
                OpKind::Switch { cases, .. } => cases.$iter().collect(),
                _ => Vec::new(),
            }
        }
    };
}

visitors!(operands, indices, regions, iter);
visitors!(operands_mut, indices_mut, regions_mut, iter_mut, mut);

/// The index variables that an op defines.
pub(super) fn defined_mut(kind: &mut OpKind) -> Vec<&mut u32> {
    match kind {
        OpKind::ToIndex { var, .. } | OpKind::AsIndex { var, .. } | OpKind::For { var, .. } => vec![var],
        OpKind::Loop { vars, results, .. } => vars.iter_mut().chain(results).collect(),
        _ => Vec::new(),
    }
}

/// A renaming of values and index variables.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub values: FxHashMap<ValueId, ValueId>,
    pub vars: FxHashMap<u32, Expr>,
}

impl Names {
    pub fn value(&self, value: ValueId) -> ValueId {
        self.values.get(&value).copied().unwrap_or(value)
    }

    pub fn index(&self, expr: &Expr) -> Expr {
        expr.substitute(&mut |v| self.vars.get(&v).cloned())
    }

    /// Renames `of` to `to` from here on.
    pub fn give(&mut self, of: &[ValueId], to: &[ValueId]) {
        for (&of, &to) in of.iter().zip(to) {
            let to = self.value(to);
            self.values.insert(of, to);
        }
    }

    /// Renames the operands of an op, but not those in its regions.
    pub fn apply(&self, kind: &mut OpKind) {
        operands_mut(kind, &mut |value| *value = self.value(*value));
        if !self.vars.is_empty() {
            indices_mut(kind, &mut |expr| *expr = self.index(expr));
        }
    }

    pub fn apply_yields(&self, region: &mut Region) {
        region.yields.iter_mut().for_each(|value| *value = self.value(*value));
    }
}

/// Whether the op, or one in its regions, writes memory or is a barrier.
pub(super) fn writes(op: &Op) -> bool {
    let own = matches!(
        op.kind,
        OpKind::Write { .. } | OpKind::WriteIf { .. } | OpKind::Update { .. } | OpKind::Sync { .. }
    );
    own || regions(&op.kind).into_iter().any(|region| region.ops.iter().any(writes))
}

/// Whether the op may be removed if its results, and those of ops in its regions, are unused.
pub(super) fn is_removable(op: &Op) -> bool {
    let own = !matches!(
        op.kind,
        OpKind::Write { .. }
            | OpKind::WriteIf { .. }
            | OpKind::Update { .. }
            | OpKind::Sync { .. }
            | OpKind::AllocateShared
            | OpKind::ShuffleReduce { .. }
            | OpKind::Missing
    );
    own && regions(&op.kind).into_iter().all(|region| region.ops.iter().all(is_removable))
}

/// The number of ops of a region, including nested ones.
pub(super) fn count(region: &Region) -> usize {
    let inside = |op: &Op| regions(&op.kind).into_iter().map(count).sum::<usize>();
    region.ops.iter().map(|op| 1 + inside(op)).sum()
}

pub(super) fn each_op<'r>(region: &'r Region, f: &mut dyn FnMut(&'r Op)) {
    for op in &region.ops {
        f(op);
        regions(&op.kind).into_iter().for_each(|inner| each_op(inner, f));
    }
}

/// The arguments of the entry that are not written while the kernel runs.
pub(super) fn constant_args(kernel: &Kernel) -> Vec<ValueId> {
    let is_aliased = |n: usize| kernel.params.iter().any(|other| other.aliases == Some(n));
    let is_constant = |(n, param): (usize, &crate::kernel::Param)| {
        matches!(param.role, Role::Operand(_)) && param.aliases.is_none() && !is_aliased(n)
    };
    let constant = kernel.params.iter().enumerate().map(is_constant);
    let args = kernel.functions.first().into_iter().flat_map(|entry| &entry.args);
    args.zip(constant).filter(|(_, is)| *is).map(|(&arg, _)| arg).collect()
}

/// Runs `pass` on each function, by its number, and its body, which is not in the function meanwhile.
pub(super) fn each_body(kernel: &mut Kernel, mut pass: impl FnMut(usize, &mut Function, &mut Region)) {
    for (number, function) in kernel.functions.iter_mut().enumerate() {
        let mut body = std::mem::take(&mut function.body);
        pass(number, function, &mut body);
        function.body = body;
    }
}
