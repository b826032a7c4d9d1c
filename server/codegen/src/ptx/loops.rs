//! Loops: short ones are fully unrolled, longer ones partially.

use indexing_map::{Constraint, Expr, IndexingMap, Interval};

use super::carried::Carried;
use super::counted::Leaves;
use super::frame::Frame;
use super::loop_body::LoopBody;
use super::loop_length::LoopLength;
use super::loop_nest::Nest;
use super::loop_plan::LoopPlan;
use super::lower::{Lowering, Scope};
use super::machine::Operand;
use super::map_loop::{MapLoop, in_place};
use super::value::Val;
use crate::kernel::{Region, ValueId};

impl<'k> Lowering<'k> {
    pub(super) fn for_loop(
        &mut self,
        frame: &mut Frame<'k>,
        var: u32,
        count: i64,
        inits: &[ValueId],
        body: &'k Region,
    ) -> Vec<Val> {
        let mut values: Vec<Val> = inits.iter().map(|&value| frame.value(value)).collect();
        if count <= 0 || self.keeps_constants(frame, &values, body) {
            return values;
        }
        let factor = LoopBody::of(frame.function, body, var, self.kernel).factor(count);
        if factor == count {
            return self.rounds(frame, (var, None, count), values, body, None);
        }
        let carried = self.carry(frame, &body.args, &values);
        let (open, counter, leaves) = self.open_rounds(count, factor);
        let uneven = leaves.as_ref().map(|leaves| (leaves, &carried));
        let start = Some(counter * factor);
        values = self.rounds(frame, (var, start, factor), carried.values.clone(), body, uneven);
        self.assign(&carried, &values);
        self.close_loop(open);
        if let Some(leaves) = leaves {
            self.code.place(leaves.end);
        }
        carried.values
    }

    /// Emits `count` unrolled iterations with the variable `var`, counted from a start. The loop around them
    /// may have an exit in the middle.
    fn rounds(
        &mut self,
        frame: &mut Frame<'k>,
        (var, start, count): (u32, Option<Expr>, i64),
        mut values: Vec<Val>,
        body: &'k Region,
        leaves: Option<(&Leaves, &Carried)>,
    ) -> Vec<Val> {
        let round = self.indices.variable(Interval::from_size(count), Operand::Int(0));
        frame.vars[var as usize] = match start {
            Some(start) => start + round.clone(),
            None => round.clone(),
        };
        for number in 0..count {
            if let Some((leaves, carried)) = leaves
                && leaves.after == number
            {
                self.assign(carried, &values);
                self.leave_in(leaves);
            }
            self.indices.fix(&round, Some(number));
            frame.give(&body.args, &values);
            self.calls.push(Default::default());
            values = self.region(frame, body);
            self.calls.pop();
        }
        values
    }

    pub(super) fn map_loop(&mut self, frame: &mut Frame<'k>, map_loop: MapLoop<'k>) -> Vec<Val> {
        let MapLoop { map, inits, body, .. } = map_loop;
        let values: Vec<Val> = inits.iter().map(|&value| frame.value(value)).collect();
        if map.is_known_empty() {
            return values;
        }
        let plan = LoopPlan::of(self.kernel, frame.function, map_loop);
        // LLVM does not analyse vectors that a loop carries.
        let carries_vectors = values.iter().any(|value| matches!(value, Val::Vector(_)));
        if (!carries_vectors || plan.is_written_out()) && self.keeps_constants(frame, &values, body) {
            return values;
        }
        let scope = Scope { is_parted: plan.wraps, wraps: plan.wraps, ..self.scope };
        self.within(scope, |lowering| lowering.planned(frame, map_loop, plan, values))
    }

    /// Emits a loop by its plan.
    fn planned(
        &mut self,
        frame: &mut Frame<'k>,
        map_loop: MapLoop<'k>,
        plan: LoopPlan,
        values: Vec<Val>,
    ) -> Vec<Val> {
        let MapLoop { map, body, .. } = map_loop;
        let dims: Vec<Expr> = frame.indices(map_loop.dims);
        // Tests loop-invariant constraints once; the bounds of the dimensions may be narrower than the grid.
        let bounds = dims.iter().zip(map.dims());
        let mut outer: Vec<Constraint> = bounds
            .map(|(dim, variable)| Constraint { expr: dim.clone(), interval: variable.bounds })
            .collect();
        let mut inner: Vec<&Constraint> = Vec::new();
        for constraint in map.constraints() {
            if uses_ranges(map, &constraint.expr) {
                inner.push(constraint);
            } else {
                let expr = in_place(&constraint.expr, &dims, &[]);
                outer.push(Constraint { expr, interval: constraint.interval });
            }
        }
        let guard = self.guard(&outer);
        if matches!(plan.length, LoopLength::Tile(tile) if tile.is_way_in) {
            self.is_tile_guarded = guard.is_some();
        }
        self.joins.in_pairs &= plan.is_paired;
        let LoopPlan { length, axes, .. } = plan;
        let nest = Nest { map_loop, dims: &dims, inner: &inner, length, is_guarded: guard.is_some() };
        let Some(guard) = guard else {
            return self.assuming(outer, |lowering| lowering.peeled(frame, &nest, axes, values));
        };
        let carried = self.carry(frame, &body.args, &values);
        let skip = self.code.label();
        self.code.branch(skip, Some((guard, false)));
        self.scoped(|scope| {
            let inside = carried.values.clone();
            let values = scope.assuming(outer, |scope| scope.peeled(frame, &nest, axes, inside));
            scope.assign(&carried, &values);
        });
        self.code.place(skip);
        carried.values
    }
}

fn uses_ranges(map: &IndexingMap, expr: &Expr) -> bool {
    (0..map.num_ranges()).any(|n| expr.uses_var((map.num_dims() + n) as u32))
}
