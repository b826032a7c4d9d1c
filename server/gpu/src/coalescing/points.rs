//! Exact counts that visit every block and iteration, but evaluate their lanes only where the request may
//! differ: the parts that do not depend on the lane are computed separately, and points at which they are
//! equal are counted once.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, RangeContext, Variable};
use rustc_hash::FxHashMap;

use super::lanes::{MAX_LANES, Program};

/// Splits an expression into a sum of the part that all lanes share and the rest.
pub(super) fn split_lanes(e: &Expr) -> (Expr, Expr) {
    let (mut common, mut lanes) = (Expr::ZERO, Expr::ZERO);
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        if let Some((BinaryOp::Add, lhs, rhs)) = e.as_binary() {
            open.extend([rhs, lhs]);
        } else if uses_lanes(e) {
            lanes = lanes + e.clone();
        } else {
            common = common + e.clone();
        }
    }
    (common, lanes)
}

pub(super) fn uses_lanes(e: &Expr) -> bool {
    (0..3).any(|id| e.uses_var(id))
}

/// The maximum number of kinds of points whose lanes are evaluated.
const MAX_KINDS: usize = 1024;

/// A map with its expressions split. Lives for one access.
pub(super) struct Points {
    /// The shared parts of address and constraints.
    common: Program,
    /// The rest of each.
    lanes: Program,
    /// Per constraint, its interval and the range of the rest.
    constraints: Vec<(Interval, Interval)>,
    unit: i64,
}

/// Computes the start positions of a request's lanes, up to whole lines, from the ids of a warp.
pub(super) struct Starts<'a> {
    points: &'a mut Points,
    values: &'a [i64],
    common: Vec<i64>,
}

impl Points {
    /// `None` if a value may exceed 64 bits. `bounds` are those of the map's variables.
    pub(super) fn new(map: &IndexingMap, bounds: &[Variable], unit: i64) -> Option<Points> {
        let result = map.results().first()?;
        let exprs = std::iter::once(result).chain(map.constraints().iter().map(|c| &c.expr));
        let (common, lanes): (Vec<Expr>, Vec<Expr>) = exprs.map(split_lanes).unzip();
        let ranges = RangeContext::new(bounds, &[]);
        let constraints = map
            .constraints()
            .iter()
            .zip(&lanes[1..])
            .map(|(c, rest)| (c.interval, ranges.range(rest)))
            .collect();
        let bare = |results: Vec<Expr>| {
            let split = |from: usize, to: usize| map.variables()[from..to].to_vec();
            let (dims, all) = (map.num_dims(), map.num_dims() + map.num_ranges());
            IndexingMap::new(split(0, dims), split(dims, all), split(all, map.variables().len()), results)
        };
        let is_lane = |v: u32| v < 3;
        let (common, lanes) = (Program::new(&bare(common), &is_lane)?, Program::new(&bare(lanes), &is_lane)?);
        Some(Points { common, lanes, constraints, unit })
    }

    /// Calls `count` once per kind of point, and `add` with its result for each point. Points without an
    /// active lane are skipped. Returns false, after some points, if there are too many kinds of points.
    pub(super) fn for_each<T: Copy>(
        &mut self,
        outer: &[u32],
        bounds: &[Variable],
        values: &mut [i64],
        count: &mut dyn FnMut(&mut Starts<'_>) -> T,
        add: &mut dyn FnMut(T),
    ) -> bool {
        let mut known: FxHashMap<Vec<i64>, T> = FxHashMap::default();
        for &v in outer {
            values[v as usize] = bounds[v as usize].bounds.lower;
        }
        let mut key = Vec::new();
        loop {
            if let Some(common) = self.key(values, &mut key) {
                let answer = match known.get(&key) {
                    Some(answer) => *answer,
                    None if known.len() == MAX_KINDS => return false,
                    None => {
                        let answer = count(&mut Starts { points: self, values, common });
                        known.insert(key.clone(), answer);
                        answer
                    }
                };
                add(answer);
            }
            if !advance(outer, bounds, values) {
                return true;
            }
        }
    }

    /// Writes the values on which the lanes depend at this point to `key`, and returns the shared parts.
    /// `None` if no lane is active.
    fn key(&mut self, values: &[i64], key: &mut Vec<i64>) -> Option<Vec<i64>> {
        key.clear();
        self.common.run(0, values, &|_| None);
        let mut common: Vec<i64> = self.common.results_of(0).collect();
        common[0] = common[0].rem_euclid(self.unit);
        key.push(common[0]);
        for (&value, (interval, rest)) in common[1..].iter().zip(&self.constraints) {
            let whole = Interval::new(value.saturating_add(rest.lower), value.saturating_add(rest.upper));
            if whole.intersect(*interval).is_empty() {
                return None;
            }
            let is_met = whole.intersect(*interval) == whole;
            key.extend([i64::from(is_met), if is_met { 0 } else { value }]);
        }
        self.lanes.run(0, values, &|_| None);
        self.lanes.frontier(key);
        Some(common)
    }
}

/// Advances to the next point of the box; false after the last.
fn advance(outer: &[u32], bounds: &[Variable], values: &mut [i64]) -> bool {
    for &v in outer.iter().rev() {
        let (value, range) = (&mut values[v as usize], bounds[v as usize].bounds);
        if *value < range.upper {
            *value += 1;
            return true;
        }
        *value = range.lower;
    }
    false
}

impl Starts<'_> {
    /// The positions of the active lanes, in lane order, up to whole lines.
    pub(super) fn of(
        &mut self,
        ids: &[[i64; MAX_LANES]; 3],
        lanes: usize,
        bounds: &[Variable],
        starts: &mut [i64; MAX_LANES],
    ) -> usize {
        let points = &mut *self.points;
        points.lanes.run(lanes, self.values, &|v| ids.get(v as usize).copied());
        let mut active = 0;
        for lane in 0..lanes {
            let is_there = ids.iter().zip(bounds).all(|(ids, v)| v.bounds.contains(ids[lane]));
            let is_active = || {
                let rest = points.lanes.results_of(lane).skip(1);
                let mut all = rest.zip(&self.common[1..]).zip(&points.constraints);
                all.all(|((rest, common), (interval, _))| interval.contains(rest.wrapping_add(*common)))
            };
            if is_there && is_active() {
                starts[active] = points.lanes.result(0, lane).wrapping_add(self.common[0]);
                active += 1;
            }
        }
        active
    }
}
