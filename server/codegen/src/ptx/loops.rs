//! Loops: short ones are written out round by round, longer ones a few rounds at a time.

use indexing_map::{Constraint, Expr, IndexingMap, Interval};

use super::carried::Carried;
use super::lower::{Frame, Lowering, Pending};
use super::machine::{Class, Kind, Operand, Reg};
use super::tiles::{Tile, moves_vectors};
use super::unrolling::{ReductionBody, full_unroll, loop_size, partial_unroll, size};
use super::value::Val;
use crate::kernel::{OpKind, Region, Type, ValueId};

/// Elements that a thread reads at once: XLA takes 8 at most.
const MAX_COLUMNS: i64 = 16;

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
    /// So many rounds, `factor` of them in each turn of the loop. The last turn may have fewer.
    Counted { rounds: i64, factor: i64 },
}

/// How long the body of a loop is.
#[derive(Clone, Copy)]
enum Body {
    /// Elements are computed and written.
    Elements(i64),
    /// Elements go through shared memory in words.
    Tile(Tile),
    /// Elements are reduced, of several columns in the innermost loop.
    Reduced(ReductionBody, i64),
}

impl Body {
    /// Are all rounds of the loop over range variable `n` written out, with `below` rounds of others in each?
    fn is_unrolled(self, rounds: i64, below: i64, is_innermost: bool) -> bool {
        match self {
            Body::Elements(size) => full_unroll(rounds, size.saturating_mul(below)),
            Body::Tile(tile) => below < tile.in_turn || tile.is_unrolled(rounds),
            Body::Reduced(_, columns) if is_innermost && rounds == columns => true,
            Body::Reduced(body, columns) => body.is_unrolled(rounds.saturating_mul(below / columns.max(1))),
        }
    }

    /// Is it a round of rows within rows that LLVM has written out, behind the first round of its turn? What is read there is
    /// not joined.
    fn is_behind(self, round: i64, changing: &[(Expr, i64)]) -> bool {
        let Body::Reduced(body, columns) = self else { return false };
        let &[(_, outer), (_, inner), (_, innermost)] = changing else { return false };
        if innermost != columns {
            return false;
        }
        let factor = body.factor_of_xla_around(outer, inner);
        let number = round / columns.max(1);
        let (row, within) = (number / inner.max(1), number % inner.max(1));
        row >= factor && (row % factor != 0 || within != 0)
    }

    /// Are numbers of 16 bits added two at a time? LLVM does it for the one sum of two rounds.
    fn is_paired(self, rounds: i64, below: i64) -> bool {
        match self {
            Body::Elements(_) | Body::Tile(_) => true,
            Body::Reduced(_, columns) => rounds.saturating_mul(below) / columns.max(1) <= 2,
        }
    }

    fn factor(self, rounds: i64, below: i64) -> i64 {
        match self {
            Body::Elements(size) => partial_unroll(rounds, size.saturating_mul(below)),
            Body::Tile(tile) => tile.factor(rounds),
            Body::Reduced(body, columns) if below <= columns => body.factor(rounds),
            Body::Reduced(..) => 1,
        }
    }
}

/// A branch around rounds of a loop, and what it takes to end it.
struct Held {
    skip: u32,
    facts: usize,
    carried: Carried,
}

/// A loop whose last turn has fewer rounds: it is left in the middle.
struct Leaves {
    counter: Reg,
    turn: i64,
    after: i64,
    end: u32,
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
        let length = loop_size(body, self.kernel);
        let factor = if full_unroll(count, length) { count } else { partial_unroll(count, length) };
        if factor == count {
            return self.rounds(frame, var, None, count, values, body);
        }
        let carried = self.carry(frame, &body.args, &values);
        let (open, counter) = self.open_loop(count / factor);
        values = self.rounds(frame, var, Some(counter * factor), factor, carried.values.clone(), body);
        self.assign(&carried, &values);
        self.close_loop(open);
        carried.values
    }

    /// Rounds that are written out, counted from `start`.
    fn rounds(
        &mut self,
        frame: &mut Frame<'k>,
        var: u32,
        start: Option<Expr>,
        count: i64,
        mut values: Vec<Val>,
        body: &'k Region,
    ) -> Vec<Val> {
        let round = self.indices.variable(Interval::from_size(count), Operand::Int(0));
        frame.vars[var as usize] = match start {
            Some(start) => start + round.clone(),
            None => round.clone(),
        };
        for number in 0..count {
            self.indices.fix(&round, Some(number));
            frame.give(&body.args, &values);
            self.calls.push(Default::default());
            values = self.region(frame, body);
            self.calls.pop();
        }
        values
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
        let length = self.length(frame, map_loop, rounds.last().copied().unwrap_or(1));
        let mut axes: Vec<Axis> = Vec::new();
        let mut below = 1i64;
        let mut is_whole = true;
        for (n, &rounds) in rounds.iter().enumerate().rev() {
            self.in_pairs &= length.is_paired(rounds, below);
            axes.push(match is_whole && length.is_unrolled(rounds, below, n + 1 == map.num_ranges()) {
                true => Axis::Unrolled(rounds),
                false if is_whole => Axis::Counted { rounds, factor: length.factor(rounds, below) },
                false => Axis::Counted { rounds, factor: 1 },
            });
            is_whole &= matches!(axes.last(), Some(Axis::Unrolled(_)));
            below = below.saturating_mul(rounds);
        }
        axes.reverse();
        values = self.peeled(frame, map_loop, &dims, &inner, axes, length, values);
        self.indices.forget(before);
        if let Some((skip, carried)) = held {
            self.assign(&carried, &values);
            self.leave();
            self.code.place(skip);
            values = carried.values;
        }
        self.is_parted = was_parted;
        values
    }

    fn length(&self, frame: &Frame<'k>, map_loop: MapLoop<'k>, innermost: i64) -> Body {
        if let Some(tile) = self.tile(frame, map_loop) {
            return Body::Tile(tile);
        }
        let types = map_loop.inits.iter().map(|&init| frame.function.ty(init));
        let columns = types.fold(None, |columns: Option<i64>, ty| match ty {
            Type::Scalar(_) => Some(columns.unwrap_or(1)),
            Type::Vector { size, .. } => Some(*size),
            Type::Tensor(_) | Type::Shared(_) => columns,
        });
        match columns {
            None => Body::Elements(size(map_loop.body, self.kernel)),
            // Rows are reduced by as many elements as are read at once.
            Some(columns) => {
                let innermost = if innermost <= MAX_COLUMNS { innermost } else { 1 };
                let body =
                    ReductionBody::of(frame.function, map_loop.body, self.kernel, (innermost, columns > 1));
                Body::Reduced(body, innermost)
            }
        }
    }

    /// All rounds. The last one of a counted loop is written behind it where only that one has to ask a condition.
    #[allow(clippy::too_many_arguments, reason = "the parts of one loop")]
    fn peeled(
        &mut self,
        frame: &mut Frame<'k>,
        map_loop: MapLoop<'k>,
        dims: &[Expr],
        inner: &[&Constraint],
        axes: Vec<Axis>,
        length: Body,
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
            let below = below.fold(1, i64::saturating_mul);
            let mut most = axes.clone();
            most[n] = match length.is_unrolled(rounds - 1, below, false) {
                true => Axis::Unrolled(rounds - 1),
                false => Axis::Counted { rounds: rounds - 1, factor: length.factor(rounds - 1, below) },
            };
            values = self.nest(frame, map_loop, dims, inner, &most, length, values);
            let mut last = axes;
            last[n] = Axis::At(rounds - 1);
            return self.nest(frame, map_loop, dims, inner, &last, length, values);
        }
        self.nest(frame, map_loop, dims, inner, &axes, length, values)
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

    /// Loops within loops, and in the innermost the rounds that are written out.
    #[allow(clippy::too_many_arguments, reason = "the parts of one loop")]
    fn nest(
        &mut self,
        frame: &mut Frame<'k>,
        map_loop: MapLoop<'k>,
        dims: &[Expr],
        inner: &[&Constraint],
        axes: &[Axis],
        length: Body,
        mut values: Vec<Val>,
    ) -> Vec<Val> {
        let MapLoop { map, vars, results, body, .. } = map_loop;
        let was_parted = self.is_parted;
        let is_counted = |axis: &Axis| matches!(axis, Axis::Counted { .. });
        let carried = axes.iter().any(is_counted).then(|| self.carry(frame, &body.args, &values));
        if let Some(carried) = &carried {
            values = carried.values.clone();
        }
        let mut ranges: Vec<Expr> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // Variables that have another value in each round, and how many values.
        let mut changing: Vec<(Expr, i64)> = Vec::new();
        // Which of these counts the rounds of a turn, and in which turn the loop is left after how many of them.
        let mut turned: Option<usize> = None;
        let mut leaves: Option<Leaves> = None;
        for (axis, variable) in axes.iter().zip(map.ranges()) {
            let index = match *axis {
                Axis::At(round) => Expr::Const(round),
                Axis::Unrolled(rounds) => self.written_out(rounds, &mut changing),
                Axis::Counted { rounds, factor } => {
                    let turns = rounds / factor + i64::from(rounds % factor != 0);
                    let (opened, counter) = self.open_loop(turns);
                    if rounds % factor != 0 {
                        let end = self.code.label();
                        leaves = Some(Leaves {
                            counter: opened.counter,
                            turn: turns - 1,
                            after: rounds % factor,
                            end,
                        });
                    }
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
        // Rounds of the unrolled loops below the one that is written out in part.
        let in_turn: i64 =
            changing.iter().skip(turned.map_or(0, |n| n + 1)).map(|(_, rounds)| rounds).product();
        let is_joined_throughout = !matches!(length, Body::Reduced(body, _) if !body.is_direct);
        // What only changes elements reads none before.
        let only_changes = || body.ops.iter().any(|op| matches!(op.kind, OpKind::Update { .. }));
        let defers = rounds > 1 && self.pending.is_none() && (!self.has_aliases || only_changes());
        let moves_vectors = moves_vectors(frame.function, body);
        // Rounds that hold under the same condition share a branch; what they store is stored behind them, so that
        // neighbours meet.
        let mut held: Option<(Vec<Constraint>, Option<Held>)> = None;
        // All of them before any holds.
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
            self.is_parted = was_parted
                || moves_vectors && asked[round as usize] != asked[0]
                || turned.is_some() && round >= in_turn && !is_joined_throughout
                || length.is_behind(round, &changing)
                || matches!(length, Body::Tile(tile) if tile.is_parted(round, carried.is_none()));
            self.fix(&changing, round);
            let asked = asked[round as usize].clone();
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
        self.is_parted = was_parted;
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

    /// A variable that has another value in each round.
    fn written_out(&mut self, rounds: i64, changing: &mut Vec<(Expr, i64)>) -> Expr {
        let index = self.indices.variable(Interval::from_size(rounds), Operand::Int(0));
        changing.push((index.clone(), rounds));
        index
    }

    /// The variables have the values of this round.
    fn fix(&mut self, changing: &[(Expr, i64)], round: i64) {
        let mut rest = round;
        for (variable, rounds) in changing.iter().rev() {
            self.indices.fix(variable, Some(rest % rounds));
            rest /= rounds;
        }
    }

    fn leave_in(&mut self, leaves: &Leaves) {
        let width = leaves.counter.class.bits();
        let from = [leaves.counter.into(), Operand::Int(leaves.turn)];
        let is_last = self.code.pure(format!("setp.eq.s{width}"), Class::Pred, from);
        self.code.branch(leaves.end, Some((is_last, true)));
    }

    /// Ends rounds that held under one condition: what they store is stored here.
    fn release(&mut self, held: Option<Held>, values: Vec<Val>) -> Vec<Val> {
        for pending in self.pending.take().unwrap_or_default() {
            match pending {
                Pending::Store(address, bits, from) => self.code.store(address, bits, from),
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
