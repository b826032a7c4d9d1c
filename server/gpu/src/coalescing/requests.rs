//! Exact traffic of one access: every request that a kernel makes, from the addresses of the lanes of its warps.

use indexing_map::{IndexingMap, Interval};

use super::lanes::{MAX_LANES, Program};
use super::{LINE_BYTES, SECTOR_BYTES};

/// Bytes that one lane can move at once.
const MAX_VECTOR_BYTES: i64 = 16;

/// One read or write of a kernel: which element of an array in memory each thread touches.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// From the ids `th_x, th_y, th_z, bl_x, bl_y, bl_z` to the element's position in memory, counted in elements. Range
    /// variables are loops of a thread.
    pub map: &'a IndexingMap,
    /// Bits of one element in memory.
    pub element_bits: i64,
    pub grid: [i64; 3],
    pub block: [i64; 3],
    pub threads_per_warp: i64,
}

/// What the memory system sees of an access. A request is what one warp asks for with one instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub requests: u64,
    /// 32-byte sectors, each counted once per request.
    pub sectors: u64,
    /// 128-byte lines, likewise.
    pub lines: u64,
    /// The fewest sectors that could hold the bytes that the lanes of each request use.
    pub ideal_sectors: u64,
    /// Bytes that the lanes use, each counted once per request.
    pub bytes_used: u64,
}

impl Counts {
    pub fn bytes_moved(&self) -> u64 {
        self.sectors.saturating_mul(SECTOR_BYTES)
    }

    pub fn sectors_per_request(&self) -> f64 {
        ratio(self.sectors, self.requests)
    }

    pub fn ideal_sectors_per_request(&self) -> f64 {
        ratio(self.ideal_sectors, self.requests)
    }

    /// Bytes used of the bytes moved, from 0 to 1; 1 for an access that moves nothing.
    pub fn efficiency(&self) -> f64 {
        if self.sectors == 0 { 1.0 } else { ratio(self.bytes_used, self.bytes_moved()) }
    }

    fn add(&mut self, other: Counts) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.ideal_sectors += other.ideal_sectors;
        self.bytes_used += other.bytes_used;
    }
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// How the lanes of a typical request lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// All lanes touch one element.
    Uniform,
    /// Lane i + 1 touches what lies right behind what lane i touches.
    Contiguous,
    /// Lane i + 1 is this many elements behind lane i.
    Strided(i64),
    /// Some lanes touch the same elements, and the elements touched lie side by side.
    Broadcast,
    Irregular,
}

/// The answer of [`traffic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Of the requests looked at. A range where runtime variables decide: the best and the worst of the values tried.
    pub best: Counts,
    pub worst: Counts,
    /// Elements that one lane moves with one instruction.
    pub vector: i64,
    /// Of the first request in which all lanes take part, or else of the first.
    pub pattern: Pattern,
    /// All requests of the grid were looked at; else the first and last blocks, the middle, and others spread evenly.
    pub is_exhaustive: bool,
}

/// Counts the requests of an access, all of them where these are no more than `budget`, else of blocks and loop
/// iterations spread over the grid, the first and the last among them. Arrays are taken to start at a sector. Nothing
/// where the map is undefined, or a position is beyond 64 bits.
pub fn traffic(access: &Access<'_>, budget: u64) -> Option<Traffic> {
    let map = access.map;
    if map.is_undefined() || map.num_dims() != 6 || map.results().len() != 1 {
        return None;
    }
    let vector = vector_of(access);
    let walk = Walk::new(access, vector, budget)?;
    let mut program = Program::new(map, &|v| v < 3)?;
    let first_runtime = map.num_dims() + map.num_ranges();
    let mut answer: Option<Traffic> = None;
    for runtime in runtime_choices(map) {
        let mut counts = Counts::default();
        let mut pattern = None;
        let mut values = vec![0; map.variables().len()];
        values[first_runtime..].copy_from_slice(&runtime);
        walk.for_each(&mut values, &mut |values, threads, lanes| {
            program.run(lanes, values, &|v| threads.get(v as usize).copied());
            let bounds = &map.dims()[..3];
            let mut starts = [0i64; MAX_LANES];
            let mut active = 0;
            let is_in_bounds =
                |lane: usize| threads.iter().zip(bounds).all(|(ids, v)| v.bounds.contains(ids[lane]));
            for lane in (0..lanes).filter(|&lane| is_in_bounds(lane)) {
                if program.is_active(lane) {
                    starts[active] = program.result(0, lane);
                    active += 1;
                }
            }
            if active == 0 {
                return;
            }
            let starts = &mut starts[..active];
            if pattern.is_none_or(|(seen, _)| seen < active)
                && !matches!(pattern, Some((seen, _)) if seen == lanes)
            {
                pattern = Some((active, pattern_of(starts, vector)));
            }
            counts.add(request(starts, access.element_bits, vector));
        });
        let pattern = pattern.map_or(Pattern::Uniform, |(_, pattern)| pattern);
        answer = Some(match answer {
            None => {
                Traffic { best: counts, worst: counts, vector, pattern, is_exhaustive: walk.is_exhaustive }
            }
            Some(known) => Traffic {
                best: if counts.sectors < known.best.sectors { counts } else { known.best },
                worst: if counts.sectors > known.worst.sectors { counts } else { known.worst },
                ..known
            },
        });
    }
    answer
}

/// The counts of one request whose lanes touch `vector` elements from these positions on. Sorts them.
fn request(starts: &mut [i64], element_bits: i64, vector: i64) -> Counts {
    starts.sort_unstable();
    let (mut sectors, mut lines, mut bytes) = (0u64, 0u64, 0u64);
    // The end of the bytes seen, the last sector and the last line counted.
    let (mut covered, mut sector, mut line) = (i64::MIN, i64::MIN, i64::MIN);
    for &start in &*starts {
        let first_bit = start.saturating_mul(element_bits);
        let first = first_bit.div_euclid(8);
        let last = (first_bit.saturating_add(vector * element_bits) - 1).div_euclid(8);
        if last < covered {
            continue;
        }
        bytes += (last + 1).saturating_sub(first.max(covered)).unsigned_abs();
        covered = last + 1;
        let (low, high) = (first.div_euclid(SECTOR_BYTES as i64), last.div_euclid(SECTOR_BYTES as i64));
        sectors +=
            high.saturating_sub(low.max(sector.saturating_add(1))).saturating_add(1).max(0).unsigned_abs();
        sector = sector.max(high);
        let (low, high) = (first.div_euclid(LINE_BYTES as i64), last.div_euclid(LINE_BYTES as i64));
        lines += high.saturating_sub(low.max(line.saturating_add(1))).saturating_add(1).max(0).unsigned_abs();
        line = line.max(high);
    }
    Counts { requests: 1, sectors, lines, ideal_sectors: bytes.div_ceil(SECTOR_BYTES), bytes_used: bytes }
}

fn pattern_of(starts: &[i64], vector: i64) -> Pattern {
    let mut steps = starts.windows(2).map(|pair| pair[1] - pair[0]);
    let Some(first) = steps.next() else { return Pattern::Uniform };
    if steps.all(|step| step == first) {
        return match first {
            0 => Pattern::Uniform,
            step if step == vector => Pattern::Contiguous,
            step => Pattern::Strided(step),
        };
    }
    let mut sorted = starts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let is_dense = sorted.windows(2).all(|pair| pair[1] - pair[0] == vector);
    if is_dense && sorted.len() < starts.len() { Pattern::Broadcast } else { Pattern::Irregular }
}

/// Elements that the innermost loop of a thread moves with one instruction: all of the last range variable's, where they
/// follow each other, are a power of two, fill at most 16 bytes, and start at a multiple of their number.
fn vector_of(access: &Access<'_>) -> i64 {
    let map = access.map;
    let Some(innermost) = map.ranges().last().map(|v| v.bounds) else { return 1 };
    let Some(count) = innermost.upper.checked_add(1).filter(|_| innermost.lower == 0) else { return 1 };
    let bits = count.saturating_mul(access.element_bits);
    if !(count > 1 && count.count_ones() == 1) || bits > 8 * MAX_VECTOR_BYTES || bits % 8 != 0 {
        return 1;
    }
    let Some(result) = map.results().first() else { return 1 };
    let variable = (map.num_dims() + map.num_ranges() - 1) as u32;
    if map.constraints().iter().any(|c| c.expr.uses_var(variable)) {
        return 1;
    }
    let start = result.substitute(&mut |v| (v == variable).then_some(indexing_map::Expr::ZERO));
    let mut simplifier = indexing_map::Simplifier::new(
        indexing_map::RangeContext::new(map.variables(), map.constraints()),
        indexing_map::SimplifyMode::Replace,
    );
    let step = simplifier.simplify(&(result.clone() - start.clone()));
    let offset = simplifier.simplify(&start.modulo(count));
    if step.as_var() == Some(variable) && offset.as_const() == Some(0) { count } else { 1 }
}

/// Values of the runtime variables to try: all at their lower, middle and upper bound, and next to these.
fn runtime_choices(map: &IndexingMap) -> Vec<Vec<i64>> {
    if map.num_runtime() == 0 {
        return vec![Vec::new()];
    }
    let at = |f: &dyn Fn(Interval) -> i64| map.runtime().iter().map(|v| f(v.bounds)).collect::<Vec<_>>();
    let mut choices = vec![
        at(&|b| b.lower),
        at(&|b| b.upper),
        at(&|b| b.lower + (b.upper - b.lower) / 2),
        at(&|b| (b.lower + 1).min(b.upper)),
        at(&|b| (b.upper - 1).max(b.lower)),
    ];
    choices.sort_unstable();
    choices.dedup();
    choices
}

/// Takes the values of all variables, the thread ids per lane, and the number of lanes.
type Visit<'f> = dyn FnMut(&[i64], &[[i64; MAX_LANES]; 3], usize) + 'f;

/// Which blocks, warps and iterations are looked at.
struct Walk {
    block: [i64; 3],
    grid: [i64; 3],
    threads: i64,
    threads_per_warp: i64,
    /// Linear block numbers.
    blocks: Vec<i64>,
    /// Values of the range variables.
    iterations: Vec<Vec<i64>>,
    is_exhaustive: bool,
}

impl Walk {
    fn new(access: &Access<'_>, vector: i64, budget: u64) -> Option<Walk> {
        let product =
            |sizes: [i64; 3]| sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size)).filter(|n| *n > 0);
        let (threads, blocks) = (product(access.block)?, product(access.grid)?);
        let threads_per_warp = access.threads_per_warp.clamp(1, MAX_LANES as i64);
        let warps = (threads as u64).div_ceil(threads_per_warp as u64).max(1);
        let mut loops: Vec<Interval> = access.map.ranges().iter().map(|v| v.bounds).collect();
        if vector > 1
            && let Some(last) = loops.last_mut()
        {
            *last = Interval::new(0, 0);
        }
        let all_iterations = loops.iter().fold(1u64, |n, b| n.saturating_mul(b.size()));
        let wanted = (budget / warps).max(1);
        let iterations = choose_points(&loops, wanted);
        let blocks_wanted = (wanted / iterations.len().max(1) as u64).max(1);
        let chosen = choose(blocks, blocks_wanted.max(3));
        let is_exhaustive = chosen.len() as u64 == blocks as u64 && iterations.len() as u64 == all_iterations;
        Some(Walk {
            block: access.block,
            grid: access.grid,
            threads,
            threads_per_warp,
            blocks: chosen,
            iterations,
            is_exhaustive,
        })
    }

    /// Calls `f` with the values of all variables (thread ids aside), the thread ids per lane, and the number of lanes.
    fn for_each(&self, values: &mut [i64], f: &mut Visit<'_>) {
        let [size_x, size_y, _] = self.block;
        for &block in &self.blocks {
            values[3] = block % self.grid[0];
            values[4] = block / self.grid[0] % self.grid[1];
            values[5] = block / self.grid[0] / self.grid[1];
            for first in (0..self.threads).step_by(self.threads_per_warp as usize) {
                let lanes = (self.threads - first).min(self.threads_per_warp) as usize;
                let of_axis = |id: &dyn Fn(i64) -> i64| std::array::from_fn(|lane| id(first + lane as i64));
                let ids = [
                    of_axis(&|thread| thread % size_x),
                    of_axis(&|thread| thread / size_x % size_y),
                    of_axis(&|thread| thread / size_x / size_y),
                ];
                for iteration in &self.iterations {
                    values[6..6 + iteration.len()].copy_from_slice(iteration);
                    f(values, &ids, lanes);
                }
            }
        }
    }
}

/// Numbers from 0 up to `count`, all of them or `wanted` spread evenly, the first and the last among them.
fn choose(count: i64, wanted: u64) -> Vec<i64> {
    let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
    if count <= wanted {
        return (0..count).collect();
    }
    let step = |i: i64| (i128::from(i) * i128::from(count - 1) / i128::from(wanted - 1)) as i64;
    let mut chosen: Vec<i64> = (0..wanted.max(2)).map(step).collect();
    chosen.dedup();
    chosen
}

/// Points of a box, all of them or some: the first and last, the middle, and others spread evenly.
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
    choose(count, wanted.max(3)).into_iter().map(point).collect()
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
        Access { map, element_bits, grid: [blocks, 1, 1], block: [128, 1, 1], threads_per_warp: 32 }
    }

    #[track_caller]
    fn check(result: &str, domain: &str, element_bits: i64, expect: (f64, f64, i64, Pattern)) {
        let map = map(result, 10, domain);
        let traffic = traffic(&access(&map, 10, element_bits), 1 << 20).expect("counts");
        assert!(traffic.is_exhaustive);
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

    /// Fewer blocks than the grid has give the same rates where all blocks are alike.
    #[test]
    fn a_sample_of_a_large_grid() {
        let map = map("bl_x * 256 + th_x * 2", 1 << 24, "s0 in [0, 0]");
        let traffic = traffic(&access(&map, 1 << 24, 32), 1000).expect("counts");
        assert!(!traffic.is_exhaustive);
        assert_eq!(traffic.worst.sectors_per_request(), 8.0);
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
                    counts.add(Counts {
                        requests: 1,
                        sectors: count(32),
                        lines: count(128),
                        ideal_sectors: (bytes.len() as u64).div_ceil(32),
                        bytes_used: bytes.len() as u64,
                    });
                }
            }
        }
        counts
    }
}
