//! An inlined function: the values and index variables at one call.

use indexing_map::{Constraint, Expr};

use super::value::{ArrayPlace, Val};
use crate::constant::Constant;
use crate::kernel::{Function, Type, ValueId};

/// One function at one call.
pub(super) struct Frame<'k> {
    pub function: &'k Function,
    pub values: Vec<Option<Val>>,
    /// The values of the function's index variables.
    pub vars: Vec<Expr>,
}

impl Frame<'_> {
    pub fn value(&self, value: ValueId) -> Val {
        let found = self.values.get(value as usize).copied().flatten();
        found.unwrap_or_else(|| self.kind(value))
    }

    pub fn give(&mut self, to: &[ValueId], values: &[Val]) {
        for (&value, &given) in to.iter().zip(values) {
            self.values[value as usize] = Some(given);
        }
    }

    /// An uninitialised value of the right kind.
    pub fn kind(&self, value: ValueId) -> Val {
        match self.function.ty(value) {
            Type::Scalar(element) => Val::constant(Constant::zero(*element)),
            _ => Val::Tensor(ArrayPlace::Param(0)),
        }
    }

    pub fn index(&self, expr: &Expr) -> Expr {
        expr.substitute(&mut |v| self.vars.get(v as usize).cloned())
    }

    pub fn indices(&self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.index(e)).collect()
    }

    pub fn constraints(&self, constraints: &[Constraint]) -> Vec<Constraint> {
        let here = |c: &Constraint| Constraint { expr: self.index(&c.expr), interval: c.interval };
        constraints.iter().map(here).collect()
    }
}
