//! The traffic of one access: every request that a kernel makes, from the addresses of the lanes of its warps.

use indexing_map::{IndexingMap, Interval, Variable};

use super::LINE_BYTES;
use super::classes::Classes;
use super::counts::Counts;
use super::lanes::{MAX_LANES, Program};
use super::pattern::{Pattern, pattern_of};
use super::requests::{request, vector_of};
use super::shift::Shift;

/// Values of runtime variables that are all tried.
const MAX_RUNTIME_CLASSES: i64 = 64;

/// One read or write of a kernel: which element of an array in memory each thread touches.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// From the ids `th_x, th_y, th_z, bl_x, bl_y, bl_z` to the element's position in memory, counted in elements. Range
    /// variables are loops of a thread.
    pub map: &'a IndexingMap,
    /// From the same ids to where the values of the map's runtime variables are read, of those that differ between lanes.
    /// Two lanes for which all of these are equal have the same values.
    pub gathered_at: &'a [IndexingMap],
    /// Bits of one element in memory.
    pub element_bits: i64,
    pub grid: [i64; 3],
    pub block: [i64; 3],
    pub threads_per_warp: i64,
}

/// The answer of [`traffic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Of all requests of the grid. A range where runtime variables decide: the best and the worst of their values.
    pub best: Counts,
    pub worst: Counts,
    /// Elements that one lane moves with one instruction.
    pub vector: i64,
    /// Of the first request in which all lanes take part, or else of that with most.
    pub pattern: Pattern,
    /// Nothing was left out: every request was counted, or is proved to be like one that was. Else the first and last
    /// blocks and iterations, the middle, and others spread evenly stand for all.
    pub is_exact: bool,
}

/// Counts the requests of an access. Arrays are taken to start at a cache line. `budget` is for combinations of block and
/// iteration that are looked at. Nothing where the map is undefined, or a position is beyond 64 bits.
pub fn traffic(access: &Access<'_>, budget: u64) -> Option<Traffic> {
    let map = access.map;
    if map.is_undefined() || map.num_dims() != 6 || map.results().len() != 1 {
        return None;
    }
    let vector = vector_of(access);
    if map.is_known_empty() {
        let (best, worst) = Default::default();
        return Some(Traffic { best, worst, vector, pattern: Pattern::Uniform, is_exact: true });
    }
    let program = Program::new(map, &|v| v < 3)?;
    let first_runtime = map.num_dims() + map.num_ranges();
    let unit = elements_per_line(access.element_bits);
    let (choices, mut is_exact) = runtime_choices(map, first_runtime, unit);
    let keys = access.gathered_at.iter().map(|m| Program::new(m, &|v| v < 3)).collect::<Option<Vec<_>>>();
    let mut counter =
        Counter { access, vector, program, keys: keys?, pattern: None, counts: Counts::default() };
    let mut answer: Option<(Counts, Counts)> = None;
    for runtime in choices {
        let mut values = vec![0; map.variables().len()];
        values[first_runtime..].copy_from_slice(&runtime);
        is_exact &= counter.count(&mut values, unit, budget)?;
        let counts = counter.counts;
        let (best, worst) = answer.unwrap_or((counts, counts));
        answer = Some((
            if counts.sectors < best.sectors { counts } else { best },
            if counts.sectors > worst.sectors { counts } else { worst },
        ));
    }
    let (mut best, worst) = answer?;
    let mut pattern = counter.pattern.map_or(Pattern::Uniform, |(_, pattern)| pattern);
    if !access.gathered_at.is_empty() {
        // At best all lanes are sent to one place; what was counted keeps those apart that may be.
        counter.keys.clear();
        let mut values = vec![0; map.variables().len()];
        for (value, variable) in values[first_runtime..].iter_mut().zip(map.runtime()) {
            *value = variable.bounds.lower;
        }
        is_exact &= counter.count(&mut values, unit, budget)?;
        if counter.counts.sectors < best.sectors {
            best = counter.counts;
        }
        pattern = Pattern::Gathered;
    }
    Some(Traffic { best, worst, vector, pattern, is_exact })
}

/// Elements of 128 bytes; of elements that do not divide them, of as many bytes as are whole elements and whole lines.
fn elements_per_line(element_bits: i64) -> i64 {
    let line = 8 * LINE_BYTES as i64;
    let bits = element_bits.max(1);
    let gcd = indexing_map::gcd(line, bits).max(1) as i64;
    line / gcd
}

struct Counter<'a> {
    access: &'a Access<'a>,
    vector: i64,
    program: Program,
    /// Lanes that differ in one of these may be sent to different places.
    keys: Vec<Program>,
    /// How many lanes took part in the request that it is of.
    pattern: Option<(usize, Pattern)>,
    counts: Counts,
}

impl Counter<'_> {
    /// Counts all requests at these values of the runtime variables; whether none is left out.
    fn count(&mut self, values: &mut [i64], unit: i64, budget: u64) -> Option<bool> {
        let access = self.access;
        let map = access.map;
        let mut bounds: Vec<Variable> = map.variables().to_vec();
        for (axis, &size) in access.grid.iter().enumerate() {
            bounds[3 + axis].bounds = bounds[3 + axis].bounds.intersect(Interval::from_size(size));
        }
        let mut last = map.num_dims() + map.num_ranges();
        if self.vector > 1 {
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
        if all.is_none() {
            total = Counts::default();
            let ranges: Vec<Interval> = outer.iter().map(|&v| bounds[v as usize].bounds).collect();
            let points = choose_points(&ranges, rounds.clamp(16, 4096));
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
        Some(all.is_some())
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
            return request(starts, self.access.element_bits, self.vector);
        }
        // Lanes with equal keys read relative to one place; the places are taken to be apart.
        for key in &mut self.keys {
            key.run(*lanes, values, &|v| ids.get(v as usize).copied());
        }
        let key_of =
            |lane: usize| -> Vec<i64> { self.keys.iter().flat_map(|key| key.results_of(lane)).collect() };
        let mut groups: Vec<(Vec<i64>, i64)> =
            chosen[..active].iter().zip(&*starts).map(|(&lane, &start)| (key_of(lane), start)).collect();
        groups.sort_unstable();
        let mut counts = Counts::default();
        for group in groups.chunk_by(|a, b| a.0 == b.0) {
            let mut starts: Vec<i64> = group.iter().map(|(_, start)| *start).collect();
            counts.add(request(&mut starts, self.access.element_bits, self.vector), 1);
        }
        Counts { requests: 1, ideal_sectors: counts.bytes_used.div_ceil(super::SECTOR_BYTES), ..counts }
    }
}

/// Where the lanes that take part start, in lane order, and which they are; answers how many.
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

/// Values of the runtime variables to try, and whether they stand for all: one per class where the positions repeat after
/// a few steps, else the lower, middle and upper bound, and next to these.
fn runtime_choices(map: &IndexingMap, first: usize, unit: i64) -> (Vec<Vec<i64>>, bool) {
    if map.num_runtime() == 0 {
        return (vec![Vec::new()], true);
    }
    let classes = map.runtime().iter().enumerate().map(|(i, v)| {
        let id = (first + i) as u32;
        if map.constraints().iter().any(|c| c.expr.uses_var(id)) {
            return None;
        }
        let period = Shift::of(&map.results()[0], id)?.until_multiple_of(unit)?.period;
        i64::try_from(v.bounds.size()).ok().map(|size| size.min(period))
    });
    let classes: Option<Vec<i64>> = classes.collect();
    let count = |c: &Vec<i64>| c.iter().try_fold(1i64, |n, &c| n.checked_mul(c));
    if let Some(classes) = classes.filter(|c| count(c).is_some_and(|n| n <= MAX_RUNTIME_CLASSES)) {
        let ranges: Vec<Interval> = (classes.iter().zip(map.runtime()))
            .map(|(&count, v)| Interval::new(v.bounds.lower, v.bounds.lower + count - 1))
            .collect();
        return (choose_points(&ranges, MAX_RUNTIME_CLASSES as u64), true);
    }
    let at = |f: &dyn Fn(Interval) -> i64| map.runtime().iter().map(|v| f(v.bounds)).collect::<Vec<_>>();
    let mut choices = vec![
        at(&|b| b.lower),
        at(&|b| b.upper),
        at(&|b| b.lower + b.upper.saturating_sub(b.lower) / 2),
        at(&|b| b.lower.saturating_add(1).min(b.upper)),
        at(&|b| b.upper.saturating_sub(1).max(b.lower)),
    ];
    choices.sort_unstable();
    choices.dedup();
    (choices, false)
}

/// Numbers from 0 up to `count`, all of them or `wanted` spread evenly, the first and the last among them.
fn choose(count: i64, wanted: u64) -> Vec<i64> {
    let wanted = i64::try_from(wanted).unwrap_or(i64::MAX).max(2);
    if count <= wanted {
        return (0..count).collect();
    }
    let step = |i: i64| (i128::from(i) * i128::from(count - 1) / i128::from(wanted - 1)) as i64;
    let mut chosen: Vec<i64> = (0..wanted).map(step).collect();
    chosen.dedup();
    chosen
}

/// Points of a box, all of them or some: the first and last, and others spread evenly.
fn choose_points(bounds: &[Interval], wanted: u64) -> Vec<Vec<i64>> {
    let count = bounds.iter().fold(1u64, |n, b| n.saturating_mul(b.size()));
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let point = |mut number: i64| {
        let mut point = vec![0; bounds.len()];
        for (value, bounds) in point.iter_mut().zip(bounds).rev() {
            let size = i64::try_from(bounds.size()).unwrap_or(i64::MAX).max(1);
            *value = bounds.lower + number % size;
            number /= size;
        }
        point
    };
    choose(count, wanted).into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use indexing_map::parse_map;

    use super::*;

    fn map(result: &str, blocks: i64, domain: &str) -> IndexingMap {
        let text = format!(
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[s0] -> ({result}), domain: th_x in [0, 127], th_y in [0, 0], \
             th_z in [0, 0], bl_x in [0, {}], bl_y in [0, 0], bl_z in [0, 0], {domain}",
            blocks - 1
        );
        parse_map(&text).expect("a map")
    }

    fn access(map: &IndexingMap, blocks: i64, element_bits: i64) -> Access<'_> {
        Access {
            map,
            gathered_at: &[],
            element_bits,
            grid: [blocks, 1, 1],
            block: [128, 1, 1],
            threads_per_warp: 32,
        }
    }

    #[track_caller]
    fn check(result: &str, domain: &str, element_bits: i64, expect: (f64, f64, i64, Pattern)) {
        let map = map(result, 10, domain);
        let traffic = traffic(&access(&map, 10, element_bits), 1 << 20).expect("counts");
        assert!(traffic.is_exact);
        let counts = traffic.worst;
        assert_eq!(
            (
                counts.sectors_per_request(),
                counts.ideal_sectors_per_request(),
                traffic.vector,
                traffic.pattern
            ),
            expect
        );
    }

    #[test]
    fn side_by_side_is_ideal() {
        check("bl_x * 128 + th_x", "s0 in [0, 0]", 32, (4.0, 4.0, 1, Pattern::Contiguous));
        check("bl_x * 128 + th_x", "s0 in [0, 0]", 16, (2.0, 2.0, 1, Pattern::Contiguous));
        check("bl_x * 512 + th_x * 4 + s0", "s0 in [0, 3]", 32, (16.0, 16.0, 4, Pattern::Contiguous));
        check("bl_x * 256 + th_x * 2 + s0", "s0 in [0, 1]", 4, (1.0, 1.0, 2, Pattern::Contiguous));
    }

    #[test]
    fn strides_waste_sectors() {
        check("th_x * 512 + bl_x", "s0 in [0, 0]", 32, (32.0, 4.0, 1, Pattern::Strided(512)));
        check("th_x * 2 + bl_x", "s0 in [0, 0]", 32, (8.6, 4.0, 1, Pattern::Strided(2)));
    }

    #[test]
    fn one_element_for_all() {
        check("bl_x", "s0 in [0, 0]", 32, (1.0, 1.0, 1, Pattern::Uniform));
        check("th_x floordiv 8", "s0 in [0, 0]", 32, (1.0, 1.0, 1, Pattern::Broadcast));
    }

    #[test]
    fn lanes_beyond_the_end_ask_for_nothing() {
        let map = map("bl_x * 128 + th_x", 2, "s0 in [0, 0], bl_x * 128 + th_x in [0, 129]");
        let counts = traffic(&access(&map, 2, 32), 1 << 20).expect("counts").worst;
        assert_eq!((counts.requests, counts.sectors, counts.bytes_used), (5, 17, 130 * 4));
    }

    /// Blocks that are alike are counted without being looked at.
    #[test]
    fn a_large_grid_is_exact_where_blocks_repeat() {
        let map =
            map("bl_x * 256 + th_x * 2", 1 << 24, "s0 in [0, 0], bl_x * 256 + th_x * 2 in [0, 4294967000]");
        let traffic = traffic(&access(&map, 1 << 24, 32), 1000).expect("counts");
        assert!(traffic.is_exact);
        assert_eq!(traffic.worst.requests, (1 << 26) - 4);
        assert_eq!(traffic.worst.bytes_used, (4294967000 / 2 + 1) * 4);
    }

    #[test]
    fn what_does_not_repeat_is_sampled() {
        let map = map("((bl_x * bl_x) mod 65536) * 3 + th_x", 1 << 24, "s0 in [0, 0]");
        let traffic = traffic(&access(&map, 1 << 24, 32), 1000).expect("counts");
        assert!(!traffic.is_exact);
        assert_eq!(traffic.worst.requests, 1 << 26);
    }

    #[test]
    fn lanes_that_are_sent_anywhere() {
        let map = parse_map(
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z){rt0} -> (rt0 * 64 + th_x mod 8), domain: th_x in [0, 127], \
             th_y in [0, 0], th_z in [0, 0], bl_x in [0, 9], bl_y in [0, 0], bl_z in [0, 0], rt0 in [0, 999]",
        )
        .expect("a map");
        let at = [parse_map(
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> (bl_x * 16 + th_x floordiv 8), domain: th_x in [0, 127], \
             th_y in [0, 0], th_z in [0, 0], bl_x in [0, 9], bl_y in [0, 0], bl_z in [0, 0]",
        )
        .expect("a map")];
        let traffic = traffic(&Access { gathered_at: &at, ..access(&map, 10, 32) }, 1 << 20).expect("counts");
        assert_eq!((traffic.best.sectors, traffic.worst.sectors), (40, 160));
        assert_eq!((traffic.pattern, traffic.is_exact), (Pattern::Gathered, true));
    }

    /// The counts are those of putting every byte of every lane into a set, request by request.
    #[test]
    fn brute_force() {
        let results = [
            "bl_x * 128 + th_x",
            "(th_x mod 7) * 13 + bl_x * 5 + s0",
            "(th_x floordiv 16) * 100 + (th_x mod 16) * 3 + s0 * 64",
            "((bl_x * 128 + th_x) mod 33) * 40 + s0 * 2 + (bl_x * 128 + th_x) floordiv 33",
            "th_x * 4 + s0 + bl_x * 512",
            "127 - th_x + bl_x * 128 + s0",
        ];
        for (i, result) in results.into_iter().enumerate() {
            for bits in [1i64, 4, 8, 16, 32, 64, 128] {
                let map = map(result, 3, "s0 in [0, 3], th_x + bl_x * 128 in [0, 300]");
                let access = access(&map, 3, bits);
                let traffic = traffic(&access, 1 << 20).expect("counts");
                assert_eq!(traffic.worst, by_bytes(&access, traffic.vector), "{i} at {bits} bits");
            }
        }
    }

    fn by_bytes(access: &Access<'_>, vector: i64) -> Counts {
        let mut counts = Counts::default();
        for bl_x in 0..access.grid[0] {
            for warp in 0..4 {
                for s0 in 0..4 / vector {
                    let mut bytes = BTreeSet::new();
                    for lane in 0..32 {
                        let point = [warp * 32 + lane, 0, 0, bl_x, 0, 0, s0];
                        let Some(element) =
                            access.map.evaluate(&point).filter(|_| access.map.contains(&point))
                        else {
                            continue;
                        };
                        let first = element[0] * access.element_bits;
                        bytes.extend(
                            (first..first + vector * access.element_bits).map(|bit| bit.div_euclid(8)),
                        );
                    }
                    if bytes.is_empty() {
                        continue;
                    }
                    let count = |size: i64| {
                        bytes.iter().map(|b| b.div_euclid(size)).collect::<BTreeSet<_>>().len() as u64
                    };
                    counts.add(
                        Counts {
                            requests: 1,
                            sectors: count(32),
                            lines: count(128),
                            ideal_sectors: (bytes.len() as u64).div_ceil(32),
                            bytes_used: bytes.len() as u64,
                        },
                        1,
                    );
                }
            }
        }
        counts
    }
}
