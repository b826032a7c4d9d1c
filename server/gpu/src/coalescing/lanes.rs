//! Evaluation of expressions for all lanes of a warp at once.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, RangeContext};
use rustc_hash::FxHashMap;

/// The number of lanes of the widest warp.
pub(super) const MAX_LANES: usize = 64;

/// The values of one expression, one per lane. Expressions that do not depend on the lane are computed once.
#[derive(Clone, Copy)]
enum Step {
    Uniform(LaneOp),
    PerLane(LaneOp),
}

#[derive(Clone, Copy)]
enum LaneOp {
    Const(i64),
    Var(u32),
    Binary(BinaryOp, u32, u32),
}

/// The results and constraints of a map, with subexpressions before the expressions that use them. Built only
/// if all values are known to fit into 64 bits and no divisor can be 0, so that unchecked arithmetic is
/// correct.
pub(super) struct Program {
    steps: Vec<Step>,
    results: Vec<u32>,
    constraints: Vec<(u32, Interval)>,
    per_lane: Vec<[i64; MAX_LANES]>,
    uniform: Vec<i64>,
    /// Uniform steps, other than constants, that are results or that per-lane steps use.
    frontier: Vec<u32>,
}

impl Program {
    /// `is_per_lane` selects the variables in which lanes differ. `None` if a value may overflow or be
    /// undefined.
    // The hash of a node does not cover its cached simplification.
    #[allow(clippy::mutable_key_type)]
    pub(super) fn new(map: &IndexingMap, is_per_lane: &dyn Fn(u32) -> bool) -> Option<Program> {
        let mut program = Program {
            steps: Vec::new(),
            results: Vec::new(),
            constraints: Vec::new(),
            per_lane: Vec::new(),
            uniform: Vec::new(),
            frontier: Vec::new(),
        };
        // Lanes that a constraint disables are computed as well, so ranges follow from bounds alone.
        let ranges = RangeContext::new(map.variables(), &[]);
        let mut known = FxHashMap::default();
        for result in map.results() {
            let step = program.add(result, &ranges, is_per_lane, &mut known)?;
            program.results.push(step);
        }
        for constraint in map.constraints() {
            let step = program.add(&constraint.expr, &ranges, is_per_lane, &mut known)?;
            program.constraints.push((step, constraint.interval));
        }
        program.per_lane = vec![[0; MAX_LANES]; program.steps.len()];
        program.uniform = vec![0; program.steps.len()];
        program.frontier = program.shared_steps();
        Some(program)
    }

    #[allow(clippy::mutable_key_type)]
    fn add(
        &mut self,
        e: &Expr,
        ranges: &RangeContext<'_>,
        is_per_lane: &dyn Fn(u32) -> bool,
        known: &mut FxHashMap<Expr, u32>,
    ) -> Option<u32> {
        if let Some(&step) = known.get(e) {
            return Some(step);
        }
        let range = ranges.range(e);
        if range.lower == i64::MIN || range.upper == i64::MAX {
            return None;
        }
        let (op, per_lane) = match e {
            Expr::Const(c) => (LaneOp::Const(*c), false),
            Expr::Var(v) => (LaneOp::Var(*v), is_per_lane(*v)),
            Expr::Binary(b) => {
                if matches!(b.op(), BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::CeilDiv)
                    && ranges.range(b.rhs()).lower <= 0
                {
                    return None;
                }
                let lhs = self.add(b.lhs(), ranges, is_per_lane, known)?;
                let rhs = self.add(b.rhs(), ranges, is_per_lane, known)?;
                let is_per_lane = |step: u32| matches!(self.steps[step as usize], Step::PerLane(_));
                (LaneOp::Binary(b.op(), lhs, rhs), is_per_lane(lhs) || is_per_lane(rhs))
            }
        };
        self.steps.push(if per_lane { Step::PerLane(op) } else { Step::Uniform(op) });
        let step = self.steps.len() as u32 - 1;
        known.insert(e.clone(), step);
        Some(step)
    }

    fn shared_steps(&self) -> Vec<u32> {
        let used = self.steps.iter().filter_map(|step| match step {
            Step::PerLane(LaneOp::Binary(_, a, b)) => Some([*a, *b]),
            _ => None,
        });
        let is_shared = |&step: &u32| {
            matches!(self.steps[step as usize], Step::Uniform(LaneOp::Var(_) | LaneOp::Binary(..)))
        };
        let mut shared: Vec<u32> =
            used.flatten().chain(self.results.iter().copied()).filter(is_shared).collect();
        shared.sort_unstable();
        shared.dedup();
        shared
    }

    /// Computes all steps for `lanes` lanes. `uniform` has the value of each variable, `per_lane` those of
    /// variables that differ between lanes.
    pub(super) fn run(
        &mut self,
        lanes: usize,
        uniform: &[i64],
        per_lane: &dyn Fn(u32) -> Option<[i64; MAX_LANES]>,
    ) {
        for i in 0..self.steps.len() {
            match self.steps[i] {
                Step::Uniform(LaneOp::Const(c)) => self.uniform[i] = c,
                Step::Uniform(LaneOp::Var(v)) => {
                    self.uniform[i] = uniform.get(v as usize).copied().unwrap_or(0)
                }
                Step::Uniform(LaneOp::Binary(op, a, b)) => {
                    self.uniform[i] = apply(op, self.uniform[a as usize], self.uniform[b as usize]);
                }
                Step::PerLane(LaneOp::Var(v)) => self.per_lane[i] = per_lane(v).unwrap_or([0; MAX_LANES]),
                Step::PerLane(LaneOp::Const(c)) => self.per_lane[i] = [c; MAX_LANES],
                Step::PerLane(LaneOp::Binary(op, a, b)) => {
                    let (before, rest) = self.per_lane.split_at_mut(i);
                    let values = |step: u32| match self.steps[step as usize] {
                        Step::Uniform(_) => Values::Same(self.uniform[step as usize]),
                        Step::PerLane(_) => Values::Each(&before[step as usize][..lanes]),
                    };
                    apply_to_lanes(op, values(a), values(b), &mut rest[0][..lanes]);
                }
            }
        }
    }

    /// Result `i` in `lane`, after [`Program::run`].
    #[inline]
    pub(super) fn result(&self, i: usize, lane: usize) -> i64 {
        self.value(self.results[i], lane)
    }

    /// The values of the uniform steps on which results depend, after [`Program::run`]: results are functions
    /// of these and of the lane.
    pub(super) fn frontier(&self, out: &mut Vec<i64>) {
        out.extend(self.frontier.iter().map(|&step| self.uniform[step as usize]));
    }

    /// All results in `lane`, after [`Program::run`].
    pub(super) fn results_of(&self, lane: usize) -> impl Iterator<Item = i64> + '_ {
        self.results.iter().map(move |&step| self.value(step, lane))
    }

    /// Whether all constraints hold in `lane`. Asked per lane of each request.
    #[inline]
    pub(super) fn is_active(&self, lane: usize) -> bool {
        self.constraints.iter().all(|&(step, interval)| interval.contains(self.value(step, lane)))
    }

    #[inline]
    fn value(&self, step: u32, lane: usize) -> i64 {
        match self.steps[step as usize] {
            Step::Uniform(_) => self.uniform[step as usize],
            Step::PerLane(_) => self.per_lane[step as usize][lane],
        }
    }
}

/// The values of an operand: one of all lanes, or one per lane.
#[derive(Clone, Copy)]
enum Values<'a> {
    Same(i64),
    Each(&'a [i64]),
}

/// Applies an operator. Values are known to fit, and divisors are positive.
fn apply(op: BinaryOp, a: i64, b: i64) -> i64 {
    let mut out = [0];
    apply_to_lanes(op, Values::Same(a), Values::Same(b), &mut out);
    out[0]
}

/// [`apply`] for each lane. The operator is matched once, so that each loop has one operation.
fn apply_to_lanes(op: BinaryOp, a: Values<'_>, b: Values<'_>, out: &mut [i64]) {
    match (op, b) {
        (BinaryOp::Add, _) => each(a, b, out, i64::wrapping_add),
        (BinaryOp::Mul, _) => each(a, b, out, i64::wrapping_mul),
        (BinaryOp::Min, _) => each(a, b, out, i64::min),
        (BinaryOp::Max, _) => each(a, b, out, i64::max),
        // Most divisors are powers of two, and a division takes longer than the rest of a step.
        (BinaryOp::Mod, Values::Same(divisor)) if is_power_of_two(divisor) => {
            each(a, Values::Same(divisor.wrapping_sub(1)), out, |a, mask| a & mask);
        }
        (BinaryOp::FloorDiv, Values::Same(divisor)) if is_power_of_two(divisor) => {
            each(a, Values::Same(divisor.trailing_zeros().into()), out, |a, bits| a >> (bits & 63));
        }
        (BinaryOp::Mod, _) => each(a, b, out, |a, b| a.rem_euclid(b.max(1))),
        (BinaryOp::FloorDiv, _) => each(a, b, out, |a, b| a.div_euclid(b.max(1))),
        (BinaryOp::CeilDiv, _) => {
            each(a, b, out, |a, b| a.div_euclid(b.max(1)) + i64::from(a.rem_euclid(b.max(1)) != 0))
        }
    }
}

fn is_power_of_two(number: i64) -> bool {
    number > 0 && number.count_ones() == 1
}

#[inline]
fn each(a: Values<'_>, b: Values<'_>, out: &mut [i64], f: impl Fn(i64, i64) -> i64) {
    match (a, b) {
        (Values::Same(a), Values::Same(b)) => out.fill(f(a, b)),
        (Values::Same(a), Values::Each(b)) => out.iter_mut().zip(b).for_each(|(out, &b)| *out = f(a, b)),
        (Values::Each(a), Values::Same(b)) => out.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a, b)),
        (Values::Each(a), Values::Each(b)) => {
            out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = f(a, b));
        }
    }
}

#[cfg(test)]
mod tests {
    use indexing_map::parse_map;

    use super::*;

    #[test]
    fn lanes_have_the_values_of_the_map() {
        let map = parse_map(
            "(d0, d1) -> ((d0 - 9) floordiv 4, (d0 - 9) mod 8, (d0 - 9) floordiv 3, (d0 - 9) mod 5, (d0 - 9) ceildiv 4, \
             d0 * 3 + d1, (d1 - 9) floordiv 4, (d1 - 9) mod 8, (d1 - 9) floordiv 3, (d1 - 9) mod 5, (d0 * 7 + d1) mod 16), \
             domain: d0 in [0, 31], d1 in [0, 20]",
        )
        .expect("it is a map");
        let mut program = Program::new(&map, &|v| v == 0).expect("all values fit");
        let lanes: [i64; MAX_LANES] = std::array::from_fn(|lane| lane as i64);
        for d1 in 0..=20 {
            program.run(32, &[0, d1], &|_| Some(lanes));
            for lane in 0..32 {
                let found: Vec<i64> = program.results_of(lane).collect();
                let wanted = map.results().iter().map(|result| result.evaluate(&[lane as i64, d1]));
                assert_eq!(found.into_iter().map(Some).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
            }
        }
    }
}
