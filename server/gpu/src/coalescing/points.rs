//! Exact counts by looking at every block and iteration, but at their lanes only where these may ask for something else:
//! what does not depend on the lane is computed apart, and points that agree in it are counted once.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, RangeContext, Variable};
use rustc_hash::FxHashMap;

use super::lanes::{MAX_LANES, Program};

/// An expression as a sum: what all lanes have in common, and the rest.
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

/// Kinds of points whose lanes are looked at.
const MAX_KINDS: usize = 1024;

/// A map with its expressions split. Lives for one access.
pub(super) struct Points {
    /// The common parts of address and constraints.
    common: Program,
    /// The rest.
    lanes: Program,
    /// Per constraint, its interval and the range of its rest.
    constraints: Vec<(Interval, Interval)>,
    unit: i64,
}

/// A request's lanes as they start in memory, up to whole lines; given the ids of a warp.
pub(super) struct Starts<'a> {
    points: &'a mut Points,
    values: &'a [i64],
    common: Vec<i64>,
}

impl Points {
    /// Nothing where a value may be beyond 64 bits. `bounds` are those of the map's variables.
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

    /// Calls `count` once for points that are alike and `add` with its answer for each of them. Points at which no lane
    /// takes part are left out. False, halfway, where there are too many kinds of points.
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

    /// What the lanes' part in this point depends on, into `key`; the common parts. Nothing where no lane takes part.
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

/// The next point of the box; false behind the last.
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
    /// The positions of the lanes that take part, in lane order, up to whole lines.
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
