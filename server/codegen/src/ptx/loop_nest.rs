//! Loop nests, with the unrolled iterations in the innermost loop.

use indexing_map::{Constraint, Expr, Interval};
use ir::ElementTypeExt;
use rustc_hash::FxHashMap;

use super::carried::Carried;
use super::counted::{Leaves, Open};
use super::frame::Frame;
use super::loop_length::LoopLength;
use super::loop_plan::Axis;
use super::lower::{Lowering, Pending, Scope};
use super::machine::{Operand, Space};
use super::map_loop::{MapLoop, in_place};
use super::tiles::moves_vectors;
use super::value::Val;
use crate::kernel::OpKind;

/// A loop over the range variables of a map, in its context.
#[derive(Clone, Copy)]
pub(super) struct Nest<'a, 'k> {
    pub map_loop: MapLoop<'k>,
    /// The values of the map's dimensions.
    pub dims: &'a [Expr],
    /// Constraints that name range variables.
    pub inner: &'a [&'a Constraint],
    pub length: LoopLength,
    /// Whether the loop is inside a branch on a condition.
    pub is_guarded: bool,
}

/// A branch around iterations of a loop, with the state to end it.
struct Held {
    skip: u32,
    facts: usize,
    carried: Carried,
}

impl<'k> Lowering<'k> {
    /// Emits all iterations. The last one of a counted loop is peeled if only that one needs a condition.
    pub(super) fn peeled(
        &mut self,
        frame: &mut Frame<'k>,
        nest: &Nest<'_, 'k>,
        axes: Vec<Axis>,
        mut values: Vec<Val>,
    ) -> Vec<Val> {
        let length = nest.length;
        let counted = axes.iter().rposition(|axis| matches!(axis, Axis::Counted { .. }));
        if let Some(n) = counted
            && let Axis::Counted { rounds, .. } = axes[n]
            && rounds > 1
            && self.asks_at_the_end_alone(nest, n, rounds)
        {
            let below = axes[n + 1..].iter().map(|axis| match axis {
                Axis::Unrolled(rounds) => *rounds,
                Axis::At(_) | Axis::Counted { .. } => 1,
            });
            let below = below.fold(1, i64::saturating_mul);
            let mut most = axes.clone();
            most[n] = match length.is_unrolled(rounds - 1, below, false) {
                true => Axis::Unrolled(rounds - 1),
                false => Axis::Counted { rounds: rounds - 1, factor: length.factor(rounds - 1, below) },
            };
            values = self.nest(frame, nest, &most, values);
            self.begin_last_round(nest);
            let mut last = axes;
            last[n] = Axis::At(rounds - 1);
            return self.nest(frame, nest, &last, values);
        }
        self.nest(frame, nest, &axes, values)
    }

    /// Starts the peeled iterations, which alone have a condition. In XLA's code they are a loop of their
    /// own, and each of the two loops tests the condition around it, so the loads of the first one are not
    /// available in the second.
    fn begin_last_round(&mut self, nest: &Nest<'_, 'k>) {
        if nest.is_guarded {
            self.code.forget_inner_loads();
            self.calls.last_mut().into_iter().for_each(FxHashMap::clear);
        }
    }

    /// Whether all conditions on range variable `n` are known to hold except in its last iteration.
    fn asks_at_the_end_alone(&mut self, nest: &Nest<'_, 'k>, n: usize, rounds: i64) -> bool {
        let Nest { dims, inner, .. } = *nest;
        let map = nest.map_loop.map;
        let own: Vec<&&Constraint> =
            inner.iter().filter(|c| c.expr.uses_var((map.num_dims() + n) as u32)).collect();
        if own.is_empty() {
            return false;
        }
        let ranges: Vec<Expr> = map
            .ranges()
            .iter()
            .enumerate()
            .map(|(k, variable)| {
                let bounds = variable.bounds;
                let count =
                    if k == n { rounds - 1 } else { i64::try_from(bounds.size()).unwrap_or(i64::MAX) };
                self.indices.variable(Interval::from_size(count), Operand::Int(0)) + bounds.lower
            })
            .collect();
        own.iter().all(|c| {
            let expr = in_place(&c.expr, dims, &ranges);
            self.indices.open(&Constraint { expr, interval: c.interval }).is_none()
        })
    }

    /// Emits nested loops, with the unrolled iterations in the innermost one.
    fn nest(
        &mut self,
        frame: &mut Frame<'k>,
        nest: &Nest<'_, 'k>,
        axes: &[Axis],
        mut values: Vec<Val>,
    ) -> Vec<Val> {
        let Nest { dims, inner, length, map_loop, .. } = *nest;
        let MapLoop { map, vars, results, body, .. } = map_loop;
        let outer = self.scope;
        let tile_vector = match length {
            LoopLength::Tile(tile) => tile.of_several(),
            _ => outer.tile_vector,
        };
        let is_counted = |axis: &Axis| matches!(axis, Axis::Counted { .. });
        let carried = axes.iter().any(is_counted).then(|| self.carry(frame, &body.args, &values));
        if let Some(carried) = &carried {
            values = carried.values.clone();
        }
        let mut ranges: Vec<Expr> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // The variables of unrolled loops, and their number of values.
        let mut changing: Vec<(Expr, i64)> = Vec::new();
        // The one of them that belongs to a partially unrolled loop, and the exit from its last iteration.
        let mut turned: Option<usize> = None;
        let mut leaves: Option<Leaves> = None;
        for (axis, variable) in axes.iter().zip(map.ranges()) {
            let index = match *axis {
                Axis::At(round) => Expr::Const(round),
                Axis::Unrolled(rounds) => self.written_out(rounds, &mut changing),
                Axis::Counted { rounds, factor } => {
                    let (opened, counter, uneven) = self.open_rounds(rounds, factor);
                    leaves = uneven.or(leaves);
                    open.push(opened);
                    if factor == 1 {
                        counter
                    } else {
                        turned = Some(changing.len());
                        counter * factor + self.written_out(factor, &mut changing)
                    }
                }
            };
            ranges.push(index + variable.bounds.lower);
        }
        let inner: Vec<Constraint> = inner
            .iter()
            .map(|c| Constraint { expr: in_place(&c.expr, dims, &ranges), interval: c.interval })
            .collect();
        for (&var, expr) in vars.iter().zip(&ranges) {
            frame.vars[var as usize] = expr.clone();
        }
        let rounds: i64 = changing.iter().map(|(_, rounds)| rounds).product();
        // The number of iterations of the unrolled loops inside the partially unrolled one.
        let in_turn: i64 =
            changing.iter().skip(turned.map_or(0, |n| n + 1)).map(|(_, rounds)| rounds).product();
        let is_joined_throughout = !matches!(length, LoopLength::Reduced(body, _) if !body.is_direct);
        // A body with atomic updates reads no elements before it changes them.
        let only_changes = || body.ops.iter().any(|op| matches!(op.kind, OpKind::Update { .. }));
        let defers = rounds > 1 && self.pending.is_none() && (!self.has_aliases() || only_changes());
        let moves_vectors = moves_vectors(frame.function, body);
        // Consecutive iterations with the same condition share a branch, and their stores are deferred to its
        // end, so that neighbours can be joined.
        let mut held: Option<(Vec<Constraint>, Option<Held>)> = None;
        // The constraints of all iterations, computed before any of them is assumed.
        let asked: Vec<Vec<Constraint>> = (0..rounds)
            .map(|round| {
                self.fix(&changing, round);
                inner.iter().filter_map(|c| self.indices.open(c)).collect()
            })
            .collect();
        for round in 0..rounds {
            if let (Some(leaves), Some(carried)) = (&leaves, &carried)
                && round == leaves.after * in_turn
            {
                if let Some((_, held)) = held.take() {
                    values = self.release(held, values);
                }
                self.assign(carried, &values);
                self.leave_in(leaves);
            }
            let is_parted = outer.is_parted
                || moves_vectors && asked[round as usize] != asked[0]
                || turned.is_some() && round >= in_turn && !is_joined_throughout
                || length.is_behind(round, &changing)
                || matches!(length, LoopLength::Tile(tile) if tile.is_parted(round, carried.is_none(), self.is_tile_guarded));
            self.fix(&changing, round);
            let asked = asked[round as usize].clone();
            let is_same = held.as_ref().is_some_and(|(before, _)| *before == asked);
            if !is_same {
                if let Some((before, held)) = held.take() {
                    values = self.release(held, values);
                    if before.is_empty() {
                        self.begin_last_round(nest);
                    }
                }
                let is_never =
                    asked.iter().any(|c| self.indices.range(&c.expr).intersect(c.interval).is_empty());
                if is_never {
                    continue;
                }
                let inside = self.tests(&asked).map(|guard| {
                    let carried = self.carry(frame, &body.args, &values);
                    let skip = self.code.label();
                    self.code.branch(skip, Some((guard, false)));
                    self.enter();
                    values = carried.values.clone();
                    Held { skip, facts: self.indices.assume(inner.clone()), carried }
                });
                held = Some((asked, inside));
            }
            for (&var, expr) in results.iter().zip(map.results()) {
                frame.vars[var as usize] = in_place(expr, dims, &ranges);
            }
            frame.give(&body.args, &values);
            self.calls.push(Default::default());
            if defers && self.pending.is_none() {
                self.pending = Some(Vec::new());
            }
            let scope = Scope { is_parted, tile_vector, ..outer };
            values = self.within(scope, |lowering| lowering.region(frame, body));
            self.calls.pop();
        }
        if let Some((_, held)) = held {
            values = self.release(held, values);
        }
        if let Some(carried) = carried {
            self.assign(&carried, &values);
            for open in open.into_iter().rev() {
                let end = leaves.take().map(|leaves| leaves.end);
                self.close_loop(open);
                if let Some(end) = end {
                    self.code.place(end);
                }
            }
            values = carried.values;
        }
        values
    }

    /// Adds the variable of an unrolled loop.
    fn written_out(&mut self, rounds: i64, changing: &mut Vec<(Expr, i64)>) -> Expr {
        let index = self.indices.variable(Interval::from_size(rounds), Operand::Int(0));
        changing.push((index.clone(), rounds));
        index
    }

    /// Sets the variables to their values in this iteration.
    fn fix(&mut self, changing: &[(Expr, i64)], round: i64) {
        let mut rest = round;
        for (variable, rounds) in changing.iter().rev() {
            self.indices.fix(variable, Some(rest % rounds));
            rest /= rounds;
        }
    }

    fn is_complex(&self, space: Space) -> bool {
        matches!(space, Space::Global(param) if self.kernel.params[param].shape.element.is_complex())
    }

    /// Ends the branch of iterations with one condition, and emits their deferred stores.
    fn release(&mut self, held: Option<Held>, values: Vec<Val>) -> Vec<Val> {
        for pending in self.pending.take().unwrap_or_default() {
            match pending {
                Pending::Store(mut address, bits, from) => {
                    // XLA itself joins elements of different iterations, except for complex ones in
                    // iterations with branches.
                    if self.code.has_inner_labels() && self.is_complex(address.space) {
                        address.align = address.align.min(i64::from(bits) / 4);
                    }
                    self.code.store(address, bits, from);
                }
                Pending::Code(insts) => {
                    self.code.forget_loads();
                    self.code.insts.extend(insts);
                }
            }
        }
        let Some(Held { skip, facts, carried }) = held else { return values };
        self.assign(&carried, &values);
        self.indices.forget(facts);
        self.leave();
        self.code.place(skip);
        carried.values
    }
}
