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
                    let out = &mut rest[0];
                    let value = |step: u32, lane: usize| match self.steps[step as usize] {
                        Step::Uniform(_) => self.uniform[step as usize],
                        Step::PerLane(_) => before[step as usize][lane],
                    };
                    for (lane, out) in out.iter_mut().enumerate().take(lanes) {
                        *out = apply(op, value(a, lane), value(b, lane));
                    }
                }
            }
        }
    }

    /// Result `i` in `lane`, after [`Program::run`].
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

/// Applies an operator. Values are known to fit, and divisors are positive.
fn apply(op: BinaryOp, a: i64, b: i64) -> i64 {
    match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Mod => a.rem_euclid(b.max(1)),
        BinaryOp::FloorDiv => a.div_euclid(b.max(1)),
        BinaryOp::CeilDiv => a.div_euclid(b.max(1)) + i64::from(a.rem_euclid(b.max(1)) != 0),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
    }
}
