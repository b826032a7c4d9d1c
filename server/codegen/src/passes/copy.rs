//! Copies ops, with new values and index variables.

use indexing_map::Expr;

use super::ops::{Names, defined_mut, regions_mut};
use crate::kernel::{Function, Op, Region, ValueId};

/// Copies ops into a function: from another one, or within it. Values defined outside of the copied ops keep
/// their names.
pub(super) struct Copier<'f> {
    pub into: &'f mut Function,
    from: Option<&'f Function>,
    pub names: Names,
}

impl<'f> Copier<'f> {
    pub fn within(into: &'f mut Function) -> Copier<'f> {
        Copier { into, from: None, names: Names::default() }
    }

    pub fn of(from: &'f Function, into: &'f mut Function) -> Copier<'f> {
        Copier { into, from: Some(from), names: Names::default() }
    }

    pub fn ops(&mut self, ops: &[Op]) -> Vec<Op> {
        ops.iter().map(|op| self.op(op)).collect()
    }

    fn op(&mut self, op: &Op) -> Op {
        cancel::tick();
        let mut op = op.clone();
        self.names.apply(&mut op.kind);
        for var in defined_mut(&mut op.kind) {
            let variable = self.from.unwrap_or(self.into).index_vars[*var as usize].clone();
            self.into.index_vars.push(variable);
            let own = self.into.index_vars.len() as u32 - 1;
            self.names.vars.insert(*var, Expr::var(own as usize));
            *var = own;
        }
        for region in regions_mut(&mut op.kind) {
            let copy = self.region(region);
            *region = copy;
        }
        op.results.iter_mut().for_each(|result| *result = self.define(*result));
        op
    }

    pub fn region(&mut self, region: &Region) -> Region {
        let args = region.args.iter().map(|&arg| self.define(arg)).collect();
        let ops = self.ops(&region.ops);
        Region { args, ops, yields: self.values(&region.yields) }
    }

    pub fn values(&self, values: &[ValueId]) -> Vec<ValueId> {
        values.iter().map(|&value| self.names.value(value)).collect()
    }

    fn define(&mut self, value: ValueId) -> ValueId {
        let ty = self.from.unwrap_or(self.into).values[value as usize].clone();
        let own = fresh(self.into, ty);
        self.names.values.insert(value, own);
        own
    }
}

/// Adds a value.
pub(super) fn fresh(function: &mut Function, ty: crate::kernel::Type) -> ValueId {
    function.values.push(ty);
    function.values.len() as ValueId - 1
}

/// New values with the same types.
pub(super) fn like(function: &mut Function, values: &[ValueId]) -> Vec<ValueId> {
    values
        .iter()
        .map(|&value| {
            let ty = function.ty(value).clone();
            fresh(function, ty)
        })
        .collect()
}
