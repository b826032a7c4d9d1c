//! Branches and their conditions.

use indexing_map::{Constraint, Expr, Interval};
use ptx::{Name, Type};

use super::frame::Frame;
use super::lower::Lowering;
use super::machine::{Operand, Reg};
use super::value::Val;
use crate::kernel::{Condition, Op, Region};

impl<'k> Lowering<'k> {
    pub(super) fn branch(
        &mut self,
        frame: &mut Frame<'k>,
        op: &'k Op,
        condition: &Condition,
        then: &'k Region,
        otherwise: &'k Region,
    ) -> Vec<Val> {
        let mut facts = Vec::new();
        let guard = match condition {
            Condition::Within(constraints) => {
                facts = frame.constraints(constraints);
                if self.is_never(&facts) {
                    return self.region(frame, otherwise);
                }
                self.guard(&facts)
            }
            Condition::Value(value) => match frame.value(*value).num() {
                Operand::Int(0) => return self.region(frame, otherwise),
                Operand::Reg(reg) => Some(reg),
                _ => None,
            },
        };
        let Some(guard) = guard else { return self.region(frame, then) };
        let places: Vec<Val> = otherwise.yields.iter().map(|&value| frame.value(value)).collect();
        let (other, end) = (self.code.label(), self.code.label());
        let mut results = self.undefined(frame, &op.results, &places);
        self.joins.vectors.extend(results.vectors());
        let has_other = !otherwise.ops.is_empty();
        if !has_other {
            // The yields are available before the branch: they are assigned there, and again inside.
            self.assign(&results, &places);
            self.code.branch(end, Some((guard, false)));
        } else {
            self.code.branch(other, Some((guard, false)));
        }
        self.scoped(|scope| {
            scope.assuming(facts, |scope| {
                let values = scope.region(frame, then);
                scope.assign(&results, &values);
                results.place(&values);
            });
        });
        if has_other {
            self.code.branch(end, None);
            self.code.place(other);
            self.scoped(|scope| {
                let values = scope.region(frame, otherwise);
                scope.assign(&results, &values);
            });
        }
        self.code.place(end);
        results.values
    }

    /// Runs `write` in a branch on the constraints.
    pub(super) fn only_if(&mut self, constraints: Vec<Constraint>, write: impl FnOnce(&mut Self)) {
        if self.is_never(&constraints) {
            return;
        }
        let Some(guard) = self.guard(&constraints) else { return write(self) };
        let end = self.code.label();
        self.code.branch(end, Some((guard, false)));
        self.scoped(|scope| scope.assuming(constraints, write));
        self.code.place(end);
    }

    /// One of several regions, by number; the first if the number is out of range.
    pub(super) fn switch(
        &mut self,
        frame: &mut Frame<'k>,
        op: &'k Op,
        on: &Expr,
        cases: &'k [Region],
    ) -> Vec<Val> {
        let Some((first, others)) = cases.split_first() else { return Vec::new() };
        let on = frame.index(on);
        let places: Vec<Val> = first.yields.iter().map(|&value| frame.value(value)).collect();
        let mut results = self.undefined(frame, &op.results, &places);
        let end = self.code.label();
        for (number, case) in others.iter().enumerate() {
            let is_this = Constraint { expr: on.clone(), interval: Interval::point(number as i64 + 1) };
            self.only_if(vec![is_this], |lowering| {
                let values = lowering.region(frame, case);
                lowering.assign(&results, &values);
                lowering.code.branch(end, None);
            });
        }
        self.scoped(|scope| {
            let values = scope.region(frame, first);
            scope.assign(&results, &values);
            results.place(&values);
        });
        self.code.place(end);
        results.values
    }

    /// Whether one of the constraints never holds.
    pub(super) fn is_never(&mut self, constraints: &[Constraint]) -> bool {
        constraints.iter().any(|constraint| {
            let here = self.indices.here(&constraint.expr);
            self.indices.range(&here).intersect(constraint.interval).is_empty()
        })
    }

    /// A predicate that is true if all constraints hold; `None` if they are known to hold.
    pub(super) fn guard(&mut self, constraints: &[Constraint]) -> Option<Reg> {
        let open: Vec<Constraint> = constraints.iter().filter_map(|c| self.indices.open(c)).collect();
        self.tests(&open)
    }

    pub(super) fn tests(&mut self, constraints: &[Constraint]) -> Option<Reg> {
        let mut guard: Option<Reg> = None;
        for constraint in constraints {
            let test = self.indices.test(&mut self.code, constraint);
            guard = Some(match guard {
                None => test,
                Some(before) => self.code.pure(Name::And.of(Type::Pred), [before.into(), test.into()]),
            });
        }
        guard
    }
}
