//! XLA's verdict on a map. It considers only the first warp of the first block, and memory transactions of
//! 128 bytes.
//! Source: `service/gpu/model/coalescing_analysis.cc`.

use indexing_map::{BinaryOp, Expr, IndexingMap, SimplifyMode, Variable};

/// The number of lanes that XLA considers, even if a warp has 64.
const LANES: i64 = 32;
const TRANSACTION_BYTES: i64 = 128;
/// The minimum ratio of needed to actual transactions.
const LEAST_EFFICIENCY: f64 = 0.9;

/// Whether XLA calls an access coalesced. `map` takes the six thread and block ids to the element's position
/// in memory, counted in elements; `element_bytes` is the element size, with sub-byte types rounded up.
pub fn xla_coalesced(map: &IndexingMap, element_bytes: i64) -> bool {
    if map.is_undefined() {
        return false;
    }
    if map.results().is_empty() {
        return true;
    }
    let mut map = first_warp(&with_runtime_midpoints(map));
    simplify(&mut map);
    if map.is_known_empty() {
        return true;
    }
    if map.num_ranges() > 1 {
        map = with_innermost_loop(&map);
        simplify(&mut map);
    }
    let Some(intervals) = intervals(&map) else { return false };
    let transactions_of =
        |elements: i64| (elements * element_bytes + TRANSACTION_BYTES - 1) / TRANSACTION_BYTES;
    let sizes = intervals.iter().map(|(lower, upper)| upper - lower + 1);
    let made: i64 = sizes.clone().map(transactions_of).sum();
    let needed = transactions_of(sizes.sum());
    made == 0 || needed as f64 > LEAST_EFFICIENCY * made as f64
}

fn simplify(map: &mut IndexingMap) {
    map.simplify(SimplifyMode::Replace);
    map.rescale_symbols();
    map.remove_unused_symbols();
}

/// Sets runtime variables to the middle of their bounds and, as XLA does, drops constraints.
fn with_runtime_midpoints(map: &IndexingMap) -> IndexingMap {
    if map.num_runtime() == 0 {
        return map.clone();
    }
    let first = map.num_dims() + map.num_ranges();
    let middle = |v: &Variable| (v.bounds.lower + v.bounds.upper) / 2;
    let results = (map.results().iter())
        .map(|result| {
            result.substitute(&mut |v| {
                let runtime = map.runtime().get((v as usize).checked_sub(first)?)?;
                Some(Expr::Const(middle(runtime)))
            })
        })
        .collect();
    IndexingMap::new(map.dims().to_vec(), map.ranges().to_vec(), Vec::new(), results)
}

/// Restricts the map to the first warp of block (0, 0, 0), along x.
fn first_warp(map: &IndexingMap) -> IndexingMap {
    let mut ids = vec![Expr::ZERO; map.num_dims()];
    if let Some(th_x) = ids.first_mut() {
        *th_x = Expr::var(0);
    }
    IndexingMap::from_sizes(&[LANES], &[], ids).compose(map)
}

/// Treats the last range variable as the innermost loop and sets the others to their first value. As XLA
/// does, drops constraints.
fn with_innermost_loop(map: &IndexingMap) -> IndexingMap {
    let (first, last) = (map.num_dims(), map.num_ranges() - 1);
    let results = (map.results().iter())
        .map(|result| {
            result.substitute(&mut |v| {
                let range = (v as usize).checked_sub(first)?;
                Some(match range == last {
                    true => Expr::var(first),
                    false => Expr::Const(map.ranges()[range].bounds.lower),
                })
            })
        })
        .collect();
    IndexingMap::new(map.dims().to_vec(), map.ranges()[last..].to_vec(), Vec::new(), results)
}

/// The elements that the lanes access, as intervals. `None` if lane and loop do not separate.
fn intervals(map: &IndexingMap) -> Option<Vec<(i64, i64)>> {
    let [result] = map.results() else { return None };
    match map.constraints() {
        [] => {}
        [only] if only.expr == *result => {}
        _ => return None,
    }
    let (of_lane, of_loop) = split(result)?;
    let lanes = map.dims().first()?.bounds;
    let trip = map.ranges().first().map(|v| v.bounds.upper - v.bounds.lower + 1);
    let walks = of_loop.as_var() == Some(1);
    match of_lane.as_scaled().or_else(|| of_lane.as_var().map(|_| (&of_lane, 1))) {
        Some((lane, 1 | -1)) if lane.as_var() == Some(0) => return Some(vec![(lanes.lower, lanes.upper)]),
        Some((lane, stride)) if lane.as_var() == Some(0) => {
            return Some(match trip.filter(|_| walks) {
                Some(trip) if trip >= stride.abs() => vec![(0, (LANES - 1) * stride + trip - 1)],
                Some(trip) => (0..LANES).map(|i| (i * stride, i * stride + trip - 1)).collect(),
                None => (0..LANES).map(|i| (i * stride, i * stride)).collect(),
            });
        }
        _ => {}
    }
    let mut points =
        (lanes.lower..=lanes.upper).map(|lane| of_lane.evaluate(&[lane, 0])).collect::<Option<Vec<_>>>()?;
    points.sort_unstable();
    points.dedup();
    let longer = trip.filter(|_| walks).unwrap_or(1) - 1;
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for point in points {
        match merged.last_mut() {
            Some((_, upper)) if point <= *upper + 1 => *upper = (*upper).max(point + longer),
            _ => merged.push((point, point + longer)),
        }
    }
    Some(merged)
}

/// Splits the summands into those that depend on the lane and those that depend on the loop; `None` if one
/// depends on both.
fn split(result: &Expr) -> Option<(Expr, Expr)> {
    let (mut of_lane, mut of_loop) = (Expr::ZERO, Expr::ZERO);
    let mut open = vec![result];
    while let Some(e) = open.pop() {
        if let Some((BinaryOp::Add, lhs, rhs)) = e.as_binary() {
            open.extend([rhs, lhs]);
            continue;
        }
        match (e.uses_var(0), e.uses_var(1)) {
            (true, true) => return None,
            (true, false) => of_lane = of_lane + e.clone(),
            (false, true) => of_loop = of_loop + e.clone(),
            (false, false) => {}
        }
    }
    Some((of_lane, of_loop))
}

#[cfg(test)]
mod tests {
    use indexing_map::parse_map;

    use super::*;

    #[track_caller]
    fn check(result: &str, domain: &str, element_bytes: i64, expect: bool) {
        let ids = "th_x, th_y, th_z, bl_x, bl_y, bl_z";
        let bounds = "th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 999], bl_y in [0, 0], bl_z in [0, 0]";
        let map =
            parse_map(&format!("({ids})[s0] -> ({result}), domain: {bounds}, {domain}")).expect("a map");
        assert_eq!(xla_coalesced(&map, element_bytes), expect, "{map}");
    }

    #[test]
    fn the_first_warp_decides() {
        let four = "s0 in [0, 3]";
        check("bl_x * 512 + th_x * 4 + s0", four, 4, true);
        check("th_x * 512 + bl_x", four, 4, false);
        check("th_x * 8 + s0", four, 4, false);
        check("bl_x", four, 4, true);
        check("(th_x floordiv 16) * 1984 + th_x * 4 + s0", four, 4, true);
        check("th_x * 70 + s0 * th_x", four, 4, false);
        check("th_x floordiv 8", "s0 in [0, 0]", 4, true);
    }

    #[test]
    fn one_constraint_on_the_result_is_allowed() {
        check("th_x + bl_x * 128", "s0 in [0, 0], th_x + bl_x * 128 in [0, 1000]", 4, true);
        check("th_x * 2 + bl_x", "s0 in [0, 0], th_x mod 3 in [0, 0]", 1, false);
    }

    #[test]
    fn maps_that_say_nothing() {
        assert!(!xla_coalesced(&IndexingMap::undefined(), 4));
        assert!(xla_coalesced(&IndexingMap::known_empty(6, 0, 1), 4));
    }
}
