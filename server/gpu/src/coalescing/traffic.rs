//! The traffic of one access: all requests of a kernel, from the addresses of the lanes of its warps.

use indexing_map::IndexingMap;

use super::LINE_BYTES;
use super::counter::Counter;
use super::counts::Counts;
use super::known::known;
use super::lanes::Program;
use super::pattern::Pattern;
use super::requests::{Vector, vector_of};
use super::samples::runtime_choices;

/// One read or write of a kernel: the array element that each thread accesses.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// Maps the ids `th_x, th_y, th_z, bl_x, bl_y, bl_z` to the element's position in memory, counted in
    /// elements. Range variables are loops of a thread.
    pub map: &'a IndexingMap,
    /// Maps the same ids to the positions from which the values of the map's runtime variables are read, for
    /// those that differ between lanes. Two lanes for which all of these are equal have the same values.
    pub gathered_at: &'a [IndexingMap],
    /// Bits of one element in memory.
    pub element_bits: i64,
    /// The number of elements that a lane moves with one instruction of the code. `None` if it follows from
    /// the map's last loop.
    pub at_once: Option<i64>,
    /// Offsets, in elements, of further instructions of the thread that count as part of the same request,
    /// because they share sectors in the cache.
    pub beside: &'a [i64],
    pub grid: [i64; 3],
    pub block: [i64; 3],
    pub threads_per_warp: i64,
}

/// The result of [`traffic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The sum over all requests of the grid. A range if runtime variables decide: the best and the worst of
    /// their values.
    pub best: Counts,
    pub worst: Counts,
    /// The number of elements that one lane moves with one instruction.
    pub vector: i64,
    /// The pattern of the first request in which all lanes are active, or else of the request with the most
    /// active lanes.
    pub pattern: Pattern,
    /// Whether the count is complete: every request was counted, or is proved to be like one that was.
    /// Otherwise the counts are extrapolated from the first and last blocks and iterations, the middle, and
    /// others spread evenly.
    pub is_exact: bool,
}

/// Counts the requests of an access. Assumes that arrays start at a cache line. `budget` is the maximum
/// number of combinations of block and iteration that are visited. `None` if the map is undefined, or a
/// position exceeds 64 bits.
pub fn traffic(access: &Access<'_>, budget: u64) -> Option<Traffic> {
    known(access, budget, || counted(access, budget))
}

fn counted(access: &Access<'_>, budget: u64) -> Option<Traffic> {
    let map = access.map;
    if map.is_undefined() || map.num_dims() != 6 || map.results().len() != 1 {
        return None;
    }
    let Vector { elements: vector, is_last_loop } = vector_of(access);
    if map.is_known_empty() {
        let (best, worst) = Default::default();
        return Some(Traffic { best, worst, vector, pattern: Pattern::Uniform, is_exact: true });
    }
    let program = Program::new(map, &|v| v < 3)?;
    let first_runtime = map.num_dims() + map.num_ranges();
    let unit = elements_per_line(access.element_bits);
    // Gathered positions are assumed to start where the least values of the runtime variables lead.
    let (choices, mut is_exact) = match access.gathered_at.is_empty() {
        true => runtime_choices(map, first_runtime, unit),
        false => (vec![map.runtime().iter().map(|v| v.bounds.lower).collect()], true),
    };
    let keys = access.gathered_at.iter().map(|m| Program::new(m, &|v| v < 3)).collect::<Option<Vec<_>>>();
    let mut counter = Counter {
        access,
        vector,
        is_last_loop,
        program,
        keys: keys?,
        pattern: None,
        counts: Counts::default(),
    };
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
        // In the best case all lanes gather from one position; the count above keeps possibly different
        // positions apart.
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

/// The number of elements in 128 bytes or, if their size does not divide 128 bytes, in the least whole number
/// of lines that is also a whole number of elements.
fn elements_per_line(element_bits: i64) -> i64 {
    let line = 8 * LINE_BYTES as i64;
    let bits = element_bits.max(1);
    let gcd = indexing_map::gcd(line, bits).max(1) as i64;
    line / gcd
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
            at_once: None,
            beside: &[],
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

    /// Blocks that are alike are counted without being visited.
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

    /// The counts equal those of collecting every byte of every lane in a set, request by request.
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
