//! One request: the sectors that the lanes of a warp touch with one instruction.

use super::counts::Counts;
use super::traffic::Access;
use super::{LINE_BYTES, SECTOR_BYTES};

/// The maximum number of bytes that one lane moves at once.
pub(super) const MAX_VECTOR_BYTES: i64 = 16;

/// Positions beyond this are not added up.
const FAR: i64 = 1 << 50;

/// The counts of one request whose lanes access `vector` elements from these positions on. May sort the
/// positions.
pub(super) fn request(starts: &mut [i64], element_bits: i64, vector: i64) -> Counts {
    // What lies one behind the other counts as one piece, which most warps access.
    let (starts, vector) = match is_one_piece(starts, vector) {
        true => (&starts[..1], vector * starts.len() as i64),
        false => {
            starts.sort_unstable();
            (&*starts, vector)
        }
    };
    let (mut sectors, mut lines, mut bytes) = (0u64, 0u64, 0u64);
    // The end of the covered bytes, and the last sector and line that were counted.
    let (mut covered, mut sector, mut line) = (i64::MIN, i64::MIN, i64::MIN);
    for &start in starts {
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

fn is_one_piece(starts: &[i64], vector: i64) -> bool {
    let Some(&first) = starts.first() else { return false };
    (-FAR..FAR).contains(&first) && starts.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == vector)
}

/// The counts of one request including the instructions of [`Access::beside`].
pub(super) fn together(starts: &mut [i64], access: &Access<'_>, vector: i64) -> Counts {
    if access.beside.is_empty() {
        return request(starts, access.element_bits, vector);
    }
    let mut all = Vec::with_capacity(starts.len() * (access.beside.len() + 1));
    for &start in &*starts {
        all.push(start);
        all.extend(access.beside.iter().map(|&distance| start.saturating_add(distance)));
    }
    request(&mut all, access.element_bits, vector)
}

/// The elements that a lane moves with one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Vector {
    pub elements: i64,
    /// Whether these are the iterations of the map's last loop.
    pub is_last_loop: bool,
}

pub(super) fn vector_of(access: &Access<'_>) -> Vector {
    match access.at_once {
        Some(elements) => Vector { elements, is_last_loop: false },
        None => {
            let elements = rounds_at_once(access);
            Vector { elements, is_last_loop: elements > 1 }
        }
    }
}

/// The number of elements that the innermost loop of a thread moves with one instruction: all of the last
/// range variable's, if they are consecutive, a power of two, at most 16 bytes, and aligned to their number.
fn rounds_at_once(access: &Access<'_>) -> i64 {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use random::Rng;

    use super::*;

    /// The counts by the bytes that are touched, one by one.
    fn counted(starts: &[i64], element_bits: i64, vector: i64) -> Counts {
        let bits = starts.iter().flat_map(|start| start * element_bits..(start + vector) * element_bits);
        let bytes: BTreeSet<i64> = bits.map(|bit| bit.div_euclid(8)).collect();
        let parts = |size: u64| {
            let parts: BTreeSet<i64> = bytes.iter().map(|byte| byte.div_euclid(size as i64)).collect();
            parts.len() as u64
        };
        Counts {
            requests: 1,
            sectors: parts(SECTOR_BYTES),
            lines: parts(LINE_BYTES),
            ideal_sectors: (bytes.len() as u64).div_ceil(SECTOR_BYTES),
            bytes_used: bytes.len() as u64,
        }
    }

    #[test]
    fn requests_touch_the_sectors_of_their_bytes() {
        let mut rng = Rng::new(1);
        let mut pieces = 0;
        for _ in 0..20_000 {
            let (bits, vector) = (*rng.pick(&[4, 8, 16, 32, 64]), *rng.pick(&[1, 2, 4]));
            let (lanes, first) = (rng.below(0..33), rng.below(-200..400));
            let stride = *rng.pick(&[vector, vector, 0, 1, -vector, 7, 33]);
            let mut starts: Vec<i64> = (0..lanes).map(|lane| first + lane * stride).collect();
            if rng.one_in(4) && lanes > 0 {
                let lane = rng.index(lanes as usize);
                starts[lane] += 3;
            }
            pieces += usize::from(is_one_piece(&starts, vector));
            let expect = counted(&starts, bits, vector);
            assert_eq!(request(&mut starts.clone(), bits, vector), expect, "{starts:?} {bits} {vector}");
        }
        assert!((2_000..18_000).contains(&pieces), "{pieces} lie one behind the other");
    }
}
