//! Counts all requests of an access at certain values of its runtime variables: by classes where blocks
//! repeat, point by point if there are few, else by samples.

use indexing_map::{IndexingMap, Interval, Variable};

use super::SECTOR_BYTES;
use super::classes::Classes;
use super::counts::Counts;
use super::lanes::{MAX_LANES, Program};
use super::pattern::{Pattern, pattern_of};
use super::points::{Points, Starts};
use super::requests::together;
use super::samples::choose_points;
use super::traffic::Access;

/// The maximum number of combinations of block and iteration that are all visited if they do not repeat.
const MAX_POINTS: u64 = 1 << 15;

/// Counts the requests of an access.
pub(super) struct Counter<'a> {
    pub(super) access: &'a Access<'a>,
    pub(super) vector: i64,
    /// Whether the elements of a vector are the iterations of the last loop.
    pub(super) is_last_loop: bool,
    pub(super) program: Program,
    /// Lanes that differ in one of these may gather from different positions.
    pub(super) keys: Vec<Program>,
    /// The pattern, and the number of active lanes of the request that it describes.
    pub(super) pattern: Option<(usize, Pattern)>,
    pub(super) counts: Counts,
}

impl Counter<'_> {
    /// Counts all requests at these values of the runtime variables. Returns whether the count is complete.
    pub(super) fn count(&mut self, values: &mut [i64], unit: i64, budget: u64) -> Option<bool> {
        let access = self.access;
        let map = access.map;
        let mut bounds: Vec<Variable> = map.variables().to_vec();
        for (axis, &size) in access.grid.iter().enumerate() {
            bounds[3 + axis].bounds = bounds[3 + axis].bounds.intersect(Interval::from_size(size));
        }
        let mut last = map.num_dims() + map.num_ranges();
        if self.is_last_loop {
            last -= 1;
            bounds[last].bounds = Interval::point(0);
        }
        for (id, value) in values.iter().enumerate().skip(map.num_dims() + map.num_ranges()) {
            bounds[id].bounds = Interval::point(*value);
        }
        let outer: Vec<u32> = (3..last as u32).collect();
        if outer.iter().any(|&v| bounds[v as usize].bounds.is_empty()) {
            self.counts = Counts::default();
            return Some(true);
        }
        let warps = self.warps()?;
        let rounds = budget / warps.len() as u64;
        let mut total = Counts::default();
        let all = Classes::new(access, outer.clone(), unit, rounds.max(4)).for_each(
            &bounds,
            values,
            &mut |values, times| {
                for warp in &warps {
                    total.add(self.request(values, warp), times);
                }
            },
        );
        let is_whole = all.is_some() || {
            total = Counts::default();
            self.count_points(&outer, &bounds, values, unit, &warps, &mut total)
        };
        if !is_whole {
            total = Counts::default();
            let ranges: Vec<Interval> = outer.iter().map(|&v| bounds[v as usize].bounds).collect();
            let points = choose_points(&ranges, rounds.clamp(16, 256));
            for point in &points {
                for (&v, &value) in outer.iter().zip(point) {
                    values[v as usize] = value;
                }
                for warp in &warps {
                    total.add(self.request(values, warp), 1);
                }
            }
            let whole = ranges.iter().fold(1u64, |n, r| n.saturating_mul(r.size()));
            total = total.scaled(whole, points.len() as u64);
        }
        self.counts = total;
        Some(is_whole)
    }

    /// Counts all requests point by point; false if there are too many points.
    fn count_points(
        &mut self,
        outer: &[u32],
        bounds: &[Variable],
        values: &mut [i64],
        unit: i64,
        warps: &[([[i64; MAX_LANES]; 3], usize)],
        total: &mut Counts,
    ) -> bool {
        let count = outer.iter().fold(1u64, |n, &v| n.saturating_mul(bounds[v as usize].bounds.size()));
        if count > MAX_POINTS || !self.keys.is_empty() {
            return false;
        }
        let Some(mut points) = Points::new(self.access.map, bounds, unit) else { return false };
        let (access, vector) = (self.access, self.vector);
        let pattern = &mut self.pattern;
        let mut of_block = |starts: &mut Starts<'_>| {
            let mut counts = Counts::default();
            cancel::check();
            for (ids, lanes) in warps {
                let mut buffer = [0i64; MAX_LANES];
                let active = starts.of(ids, *lanes, &bounds[..3], &mut buffer);
                if active == 0 {
                    continue;
                }
                if pattern.is_none_or(|(seen, _)| seen < active && seen < *lanes) {
                    *pattern = Some((active, pattern_of(&buffer[..active], vector)));
                }
                counts.add(together(&mut buffer[..active], access, vector), 1);
            }
            counts
        };
        points.for_each(outer, bounds, values, &mut of_block, &mut |counts| total.add(counts, 1))
    }

    /// Per warp of a block, the thread ids per lane and the number of lanes.
    fn warps(&self) -> Option<Vec<([[i64; MAX_LANES]; 3], usize)>> {
        let [size_x, size_y, size_z] = self.access.block;
        let threads =
            size_x.checked_mul(size_y)?.checked_mul(size_z).filter(|n| (1..=1 << 16).contains(n))?;
        let width = self.access.threads_per_warp.clamp(1, MAX_LANES as i64);
        let firsts = (0..threads).step_by(width as usize);
        let warps = firsts.map(|first| {
            let of_axis = |id: &dyn Fn(i64) -> i64| std::array::from_fn(|lane| id(first + lane as i64));
            let ids = [
                of_axis(&|thread| thread % size_x),
                of_axis(&|thread| thread / size_x % size_y),
                of_axis(&|thread| thread / size_x / size_y),
            ];
            (ids, (threads - first).min(width) as usize)
        });
        Some(warps.collect())
    }

    fn request(&mut self, values: &[i64], (ids, lanes): &([[i64; MAX_LANES]; 3], usize)) -> Counts {
        cancel::tick();
        let mut starts = [0i64; MAX_LANES];
        let mut chosen = [0usize; MAX_LANES];
        let active =
            active_lanes(&mut self.program, self.access.map, values, ids, *lanes, &mut starts, &mut chosen);
        if active == 0 {
            return Counts::default();
        }
        let starts = &mut starts[..active];
        let is_fuller = self.pattern.is_none_or(|(seen, _)| seen < active && seen < *lanes);
        if is_fuller {
            self.pattern = Some((active, pattern_of(starts, self.vector)));
        }
        if self.keys.is_empty() {
            return together(starts, self.access, self.vector);
        }
        // Lanes with equal keys read relative to one position. Different positions are assumed to share no
        // sectors.
        for key in &mut self.keys {
            key.run(*lanes, values, &|v| ids.get(v as usize).copied());
        }
        let keys = &self.keys;
        let order = |a: usize, b: usize| {
            let of = |lane: usize| keys.iter().flat_map(move |key| key.results_of(lane));
            of(a).cmp(of(b))
        };
        let mut groups: Vec<(usize, i64)> =
            chosen[..active].iter().copied().zip(starts.iter().copied()).collect();
        groups.sort_by(|a, b| order(a.0, b.0));
        let mut counts = Counts::default();
        for group in groups.chunk_by(|a, b| order(a.0, b.0).is_eq()) {
            let mut starts: Vec<i64> = group.iter().map(|(_, start)| *start).collect();
            counts.add(together(&mut starts, self.access, self.vector), 1);
        }
        Counts { requests: 1, ideal_sectors: counts.bytes_used.div_ceil(SECTOR_BYTES), ..counts }
    }
}

/// Writes the start positions of the active lanes, in lane order, and their numbers; returns how many are
/// active.
pub(super) fn active_lanes(
    program: &mut Program,
    map: &IndexingMap,
    values: &[i64],
    ids: &[[i64; MAX_LANES]; 3],
    lanes: usize,
    starts: &mut [i64; MAX_LANES],
    chosen: &mut [usize; MAX_LANES],
) -> usize {
    program.run(lanes, values, &|v| ids.get(v as usize).copied());
    let bounds = &map.dims()[..3];
    let mut active = 0;
    for lane in 0..lanes {
        let is_in_bounds = ids.iter().zip(bounds).all(|(ids, v)| v.bounds.contains(ids[lane]));
        if is_in_bounds && program.is_active(lane) {
            starts[active] = program.result(0, lane);
            chosen[active] = lane;
            active += 1;
        }
    }
    active
}
