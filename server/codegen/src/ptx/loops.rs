//! Loops: short ones are written out round by round, longer ones a few rounds at a time.

use indexing_map::{Constraint, Expr, IndexingMap, Interval};

use super::carried::Carried;
use super::lower::{Frame, Lowering};
use super::machine::{Address, Class, Kind, Operand, Reg};
use super::unrolling::{full_unroll, partial_unroll, size};
use super::value::Val;
use crate::kernel::{Region, ValueId};

/// What the rounds of an unrolled loop store, until they are through: address, bits, value.
pub(super) type Pending = Vec<(Address, u32, Operand)>;

/// A loop over the range variables of a map.
#[derive(Clone, Copy)]
pub(super) struct MapLoop<'k> {
    pub map: &'k IndexingMap,
    /// What stands for the dimensions of the map.
    pub dims: &'k [Expr],
    /// The index variables of the function that name range variables and results.
    pub vars: &'k [u32],
    pub results: &'k [u32],
    pub inits: &'k [ValueId],
    pub body: &'k Region,
}

/// A range variable of a loop that is being written.
#[derive(Clone, Copy)]
enum Axis {
    /// One round is left.
    At(i64),
    /// So many rounds, each written out.
    Unrolled(i64),
    /// So many rounds, `factor` of them in each turn of the loop.
    Counted { rounds: i64, factor: i64 },
}

/// A branch around rounds of a loop, and what it takes to end it.
struct Held {
    skip: u32,
    facts: usize,
    carried: Carried,
}

/// A loop that is open in the code.
struct Open {
    counter: Reg,
    turns: i64,
    top: u32,
}

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
        if count <= 0 {
            return values;
        }
        let bounds = Interval::from_size(count);
        if full_unroll(count, size(body, self.kernel)) {
            let variable = self.indices.variable(bounds, Operand::Int(0));
            frame.vars[var as usize] = variable.clone();
            for round in 0..count {
                self.indices.fix(&variable, Some(round));
                frame.give(&body.args, &values);
                self.calls.push(Default::default());
                values = self.region(frame, body);
                self.calls.pop();
            }
            return values;
        }
        let carried = self.carry(frame, &body.args, &values);
        let (open, variable) = self.open_loop(count);
        frame.vars[var as usize] = variable;
        frame.give(&body.args, &carried.values);
        let values = self.region(frame, body);
        self.set(&carried, &values);
        self.close_loop(open);
        carried.values
    }

    /// A loop that counts to `turns`, and the variable that it counts with.
    fn open_loop(&mut self, turns: i64) -> (Open, Expr) {
        let class = if turns > i64::from(i32::MAX) { Class::B64 } else { Class::B32 };
        let counter = self.code.variable(class, Operand::Int(0));
        let variable = self.indices.variable(Interval::from_size(turns), counter.into());
        let top = self.code.label();
        self.code.place(top);
        self.enter();
        (Open { counter, turns, top }, variable)
    }

    /// Counts, and goes back to the top until all turns were done.
    fn close_loop(&mut self, Open { counter, turns, top }: Open) {
        self.leave();
        let width = counter.class.bits();
        let next = self.code.reg(counter.class);
        let from = vec![counter.into(), Operand::Int(1)];
        self.code.push(Kind::Pure { name: format!("add.s{width}").into(), from }, vec![next]);
        self.code.set(counter, next.into());
        let again = self.code.reg(Class::Pred);
        let from = vec![counter.into(), Operand::Int(turns)];
        self.code.push(Kind::Pure { name: format!("setp.lt.u{width}").into(), from }, vec![again]);
        self.code.branch(top, Some((again, true)));
    }

    pub(super) fn map_loop(&mut self, frame: &mut Frame<'k>, map_loop: MapLoop<'k>) -> Vec<Val> {
        let MapLoop { map, inits, body, .. } = map_loop;
        let values: Vec<Val> = inits.iter().map(|&value| frame.value(value)).collect();
        if map.is_known_empty() {
            return values;
        }
        let was_parted = std::mem::replace(&mut self.is_parted, wraps(map));
        let dims: Vec<Expr> = frame.indices(map_loop.dims);
        // What does not change in the loop is asked once; the bounds of the dimensions may be narrower than the grid.
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
        let mut values = values;
        let mut held = None;
        if let Some(guard) = guard {
            let carried = self.carry(frame, &body.args, &values);
            let skip = self.code.label();
            self.code.branch(skip, Some((guard, false)));
            self.enter();
            values = carried.values.clone();
            held = Some((skip, carried));
        }
        let before = self.indices.assume(outer);
        let rounds: Vec<i64> =
            map.ranges().iter().map(|v| i64::try_from(v.bounds.size()).unwrap_or(i64::MAX)).collect();
        let mut axes: Vec<Axis> = Vec::new();
        let mut below = size(body, self.kernel);
        let mut is_whole = true;
        for (n, &rounds) in rounds.iter().enumerate().rev() {
            let own = inner.iter().any(|c| c.expr.uses_var((map.num_dims() + n) as u32));
            axes.push(match is_whole && full_unroll(rounds, below) {
                true => Axis::Unrolled(rounds),
                false if is_whole && !own => Axis::Counted { rounds, factor: partial_unroll(rounds, below) },
                false => Axis::Counted { rounds, factor: 1 },
            });
            is_whole &= matches!(axes.last(), Some(Axis::Unrolled(_)));
            below = below.saturating_mul(rounds);
        }
        axes.reverse();
        values = self.peeled(frame, map_loop, &dims, &inner, axes, values);
        self.indices.forget(before);
        if let Some((skip, carried)) = held {
            self.set(&carried, &values);
            self.leave();
            self.code.place(skip);
            values = carried.values;
        }
        self.is_parted = was_parted;
        values
    }

    /// All rounds. The last one of a counted loop is written behind it where only that one has to ask a condition.
    fn peeled(
        &mut self,
        frame: &mut Frame<'k>,
        map_loop: MapLoop<'k>,
        dims: &[Expr],
        inner: &[&Constraint],
        axes: Vec<Axis>,
        mut values: Vec<Val>,
    ) -> Vec<Val> {
        let counted = axes.iter().rposition(|axis| matches!(axis, Axis::Counted { .. }));
        if let Some(n) = counted
            && let Axis::Counted { rounds, .. } = axes[n]
            && rounds > 1
            && self.asks_at_the_end_alone(map_loop.map, dims, inner, n, rounds)
        {
            let below = axes[n + 1..].iter().map(|axis| match axis {
                Axis::Unrolled(rounds) => *rounds,
                Axis::At(_) | Axis::Counted { .. } => 1,
            });
            let below = below.fold(size(map_loop.body, self.kernel), i64::saturating_mul);
            let mut most = axes.clone();
            let factor = partial_unroll(rounds - 1, below);
            most[n] = Axis::Counted { rounds: rounds - 1, factor };
            values = self.nest(frame, map_loop, dims, inner, &most, values);
            let mut last = axes;
            last[n] = Axis::At(rounds - 1);
            return self.nest(frame, map_loop, dims, inner, &last, values);
        }
        self.nest(frame, map_loop, dims, inner, &axes, values)
    }

    /// Do all conditions that name range variable `n` hold but in its last round?
    fn asks_at_the_end_alone(
        &mut self,
        map: &IndexingMap,
        dims: &[Expr],
        inner: &[&Constraint],
        n: usize,
        rounds: i64,
    ) -> bool {
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
                let count = if k == n { rounds - 1 } else { i64::try_from(bounds.size()).unwrap_or(i64::MAX) };
                self.indices.variable(Interval::from_size(count), Operand::Int(0)) + bounds.lower
            })
            .collect();
        own.iter().all(|c| {
            let expr = in_place(&c.expr, dims, &ranges);
            self.indices.open(&Constraint { expr, interval: c.interval }).is_none()
        })
    }

    /// Loops within loops, and in the innermost the rounds that are written out.
    fn nest(
        &mut self,
        frame: &mut Frame<'k>,
        map_loop: MapLoop<'k>,
        dims: &[Expr],
        inner: &[&Constraint],
        axes: &[Axis],
        mut values: Vec<Val>,
    ) -> Vec<Val> {
        let MapLoop { map, vars, results, body, .. } = map_loop;
        let is_counted = |axis: &Axis| matches!(axis, Axis::Counted { .. });
        let carried = axes.iter().any(is_counted).then(|| self.carry(frame, &body.args, &values));
        if let Some(carried) = &carried {
            values = carried.values.clone();
        }
        let mut ranges: Vec<Expr> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // Variables that have another value in each round, and how many values.
        let mut changing: Vec<(Expr, i64)> = Vec::new();
        for (axis, variable) in axes.iter().zip(map.ranges()) {
            let mut written_out = |lowering: &mut Self, rounds: i64| {
                let index = lowering.indices.variable(Interval::from_size(rounds), Operand::Int(0));
                changing.push((index.clone(), rounds));
                index
            };
            let index = match *axis {
                Axis::At(round) => Expr::Const(round),
                Axis::Unrolled(rounds) => written_out(self, rounds),
                Axis::Counted { rounds, factor } => {
                    let (opened, counter) = self.open_loop(rounds / factor);
                    open.push(opened);
                    if factor == 1 { counter } else { counter * factor + written_out(self, factor) }
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
        let defers = rounds > 1 && self.pending.is_none() && !self.has_aliases;
        // Rounds that hold under the same condition share a branch; what they store is stored behind them, so that
        // neighbours meet.
        let mut held: Option<(Vec<Constraint>, Option<Held>)> = None;
        for round in 0..rounds {
            let mut rest = round;
            for (variable, rounds) in changing.iter().rev() {
                self.indices.fix(variable, Some(rest % rounds));
                rest /= rounds;
            }
            let asked: Vec<Constraint> = inner.iter().filter_map(|c| self.indices.open(c)).collect();
            let is_same = held.as_ref().is_some_and(|(before, _)| *before == asked);
            if !is_same {
                if let Some((_, held)) = held.take() {
                    values = self.release(held, values);
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
            values = self.region(frame, body);
            self.calls.pop();
        }
        if let Some((_, held)) = held {
            values = self.release(held, values);
        }
        if let Some(carried) = carried {
            self.set(&carried, &values);
            for open in open.into_iter().rev() {
                self.close_loop(open);
            }
            values = carried.values;
        }
        values
    }

    /// Ends rounds that held under one condition: what they store is stored here.
    fn release(&mut self, held: Option<Held>, values: Vec<Val>) -> Vec<Val> {
        for (address, bits, from) in self.pending.take().unwrap_or_default() {
            self.code.store(address, bits, from);
        }
        let Some(Held { skip, facts, carried }) = held else { return values };
        self.set(&carried, &values);
        self.indices.forget(facts);
        self.leave();
        self.code.place(skip);
        carried.values
    }
}

/// The expression with what stands for dimensions and range variables.
fn in_place(expr: &Expr, dims: &[Expr], ranges: &[Expr]) -> Expr {
    expr.substitute(&mut |v| {
        let v = v as usize;
        dims.get(v).or_else(|| ranges.get(v - dims.len())).cloned()
    })
}

fn uses_ranges(map: &IndexingMap, expr: &Expr) -> bool {
    (0..map.num_ranges()).any(|n| expr.uses_var((map.num_dims() + n) as u32))
}

/// Do the elements of one thread lie in several rows of an array that the threads do not fill evenly? XLA keeps a remainder
/// in the slowest index then, and joins no accesses behind it.
fn wraps(map: &IndexingMap) -> bool {
    let mut moving = map.results().iter().filter(|e| e.as_const().is_none());
    let (Some(slowest), Some(_)) = (moving.next(), moving.next()) else { return false };
    let Some(innermost) = map.num_ranges().checked_sub(1) else { return false };
    !map.constraints().is_empty() && slowest.uses_var((map.num_dims() + innermost) as u32)
}
