//! Injectivity: whether two points of a map's domain can have the same image.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, RangeContext, SimplifyMode};

/// The largest number of points that are enumerated and compared.
const MAX_POINTS: u64 = 1 << 14;
/// The largest number of rounds of the proof.
const MAX_ROUNDS: usize = 64;

/// Whether different points of the domain have different images. Runtime variables are the same for all
/// points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injectivity {
    /// Injective, and the images fill the box of the results' ranges.
    Bijective,
    Injective,
    /// Two points have the same image.
    Not,
    Unknown,
}

/// Decides injectivity from the form of the results, or by enumerating small domains.
pub fn injectivity(map: &IndexingMap) -> Injectivity {
    if !map.is_mapped() {
        return Injectivity::Unknown;
    }
    let free = map.num_dims() + map.num_ranges();
    let is_fixed = |id: usize| id >= free || map.variables()[id].bounds.as_point().is_some();
    let mut used = vec![false; map.variables().len()];
    for e in map.results() {
        e.for_each_var(&mut |v| used[v as usize] = true);
    }
    let is_box = map.constraints().is_empty();
    if is_box && (0..free).any(|id| !used[id] && !is_fixed(id)) {
        return Injectivity::Not;
    }
    let points = map.box_size();
    if map.num_runtime() == 0
        && points <= MAX_POINTS
        && let Some(all) = map.points(MAX_POINTS)
    {
        let mut images: Vec<Vec<i64>> = all.map(|(_, image)| image).collect();
        let count = images.len();
        images.sort_unstable();
        images.dedup();
        return match images.len() == count {
            false => Injectivity::Not,
            true if covers(&images, count) => Injectivity::Bijective,
            true => Injectivity::Injective,
        };
    }
    if !is_determined(map) && !is_determined_by_parts(map) {
        return Injectivity::Unknown;
    }
    let ranges = map.result_ranges();
    let is_whole = |v: Interval| v == Interval::ALL;
    let onto = match points {
        // Over all integers: the results are a permutation of the dimensions.
        u64::MAX => {
            map.variables()[..free].iter().all(|v| is_whole(v.bounds))
                && map.results().len() == free
                && map.results().iter().all(|e| e.as_var().is_some())
        }
        _ => is_box && ranges.iter().map(|r| r.size()).fold(1u64, u64::saturating_mul) == points,
    };
    if onto { Injectivity::Bijective } else { Injectivity::Injective }
}

/// Whether the images, sorted and distinct, fill their bounding box.
fn covers(images: &[Vec<i64>], count: usize) -> bool {
    let Some(first) = images.first() else { return true };
    let mut size = 1u64;
    for k in 0..first.len() {
        let values = images.iter().map(|i| i[k]);
        let (Some(low), Some(high)) = (values.clone().min(), values.max()) else { return false };
        size = size.saturating_mul(Interval::new(low, high).size());
    }
    size == count as u64
}

/// [`is_determined`] after splitting remainders of sums; some determine their parts only then.
fn is_determined_by_parts(map: &IndexingMap) -> bool {
    let split = map.clone().simplified(SimplifyMode::Split);
    split.is_mapped() && is_determined(&split)
}

/// Whether the results determine every dimension and range variable. Known expressions are propagated from
/// the results inwards.
fn is_determined(map: &IndexingMap) -> bool {
    let context = RangeContext::new(map.variables(), map.constraints());
    let free = map.num_dims() + map.num_ranges();
    let mut variables: Vec<bool> = (0..map.variables().len())
        .map(|id| id >= free || map.variables()[id].bounds.as_point().is_some())
        .collect();
    let mut known: Vec<Expr> = map.results().to_vec();
    for _ in 0..MAX_ROUNDS {
        let before = (known.len(), variables.iter().filter(|v| **v).count());
        for at in 0..known.len() {
            let mut more = Vec::new();
            learn(&known[at], &variables, &context, &mut more);
            let e = known[at].clone();
            // A quotient and its remainder determine the number.
            if let Some((x, c)) = e.as_op_const(BinaryOp::FloorDiv)
                && known.iter().any(|k| k.as_op_const(BinaryOp::Mod) == Some((x, c)))
            {
                more.push(x.clone());
            }
            for e in more {
                if let Some(v) = e.as_var() {
                    variables[v as usize] = true;
                } else if known.len() < 256 && !known.contains(&e) {
                    known.push(e);
                }
            }
            if let Some(v) = e.as_var() {
                variables[v as usize] = true;
            }
        }
        if variables.iter().all(|v| *v) {
            return true;
        }
        if before == (known.len(), variables.iter().filter(|v| **v).count()) {
            return false;
        }
    }
    false
}

/// Adds to `more` the subexpressions that the value of an expression determines.
fn learn(e: &Expr, variables: &[bool], context: &RangeContext<'_>, more: &mut Vec<Expr>) {
    let is_told = |e: &Expr| {
        let mut told = true;
        e.for_each_var(&mut |v| told &= variables.get(v as usize).copied().unwrap_or(false));
        told
    };
    let Some((op, a, b)) = e.as_binary() else { return };
    match (op, b.as_const()) {
        (BinaryOp::Mul, Some(c)) if c != 0 => more.push(a.clone()),
        (BinaryOp::Add, Some(_)) => more.push(a.clone()),
        (BinaryOp::Add, None) => {
            let terms = e.summands();
            let (told, untold): (Vec<&Expr>, Vec<&Expr>) = terms.iter().copied().partition(|t| is_told(t));
            if untold.len() < terms.len() && !untold.is_empty() && !told.is_empty() {
                more.extend(untold.into_iter().cloned().reduce(|x, y| x + y));
                return;
            }
            // Digits of a number: each weight exceeds the largest sum of all lower terms.
            let mut weighted: Vec<(i64, &Expr)> =
                terms.iter().map(|&t| t.as_scaled().map_or((1, t), |(x, c)| (c, x))).collect();
            weighted.sort_by_key(|(c, _)| c.unsigned_abs());
            let mut below: u64 = 0;
            for (c, x) in &weighted {
                if c.unsigned_abs() <= below {
                    return;
                }
                let size = context.range(x).size().saturating_sub(1);
                below = below.saturating_add(size.saturating_mul(c.unsigned_abs()));
            }
            more.extend(weighted.into_iter().map(|(_, x)| x.clone()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enumeration confirms what the form of the results proves.
    #[test]
    fn proofs_agree_with_enumeration() {
        let mut rng = random::Rng::new(1);
        let mut next = |below: u64| rng.next_u64() % below;
        let (mut proven, mut by_parts) = (0, 0);
        for _ in 0..3000 {
            let sizes: Vec<i64> = (0..1 + next(3)).map(|_| 1 + next(6) as i64).collect();
            let mut term = |depth: u64| {
                let mut e = Expr::var(next(sizes.len() as u64) as usize);
                for _ in 0..next(depth) {
                    let c = 1 + next(6) as i64;
                    e = match next(5) {
                        0 => e * c,
                        1 => e.floor_div(c),
                        2 => e.modulo(c),
                        3 => e + Expr::var(next(sizes.len() as u64) as usize) * c,
                        _ => e - c,
                    };
                }
                e
            };
            let results: Vec<Expr> = (0..3).map(|_| term(4)).collect();
            let map = IndexingMap::from_sizes(&sizes, &[], results);
            let is_by_parts = !is_determined(&map) && is_determined_by_parts(&map);
            by_parts += usize::from(is_by_parts);
            if is_by_parts || is_determined(&map) {
                proven += 1;
                assert!(
                    matches!(injectivity(&map), Injectivity::Bijective | Injectivity::Injective),
                    "{map}"
                );
            }
        }
        assert!(proven > 300 && by_parts > 10, "{proven} {by_parts}");
    }

    /// Too large to enumerate: the remainder determines `d1` and the parity of `d0`.
    #[test]
    fn remainders_tell_their_parts() {
        let check = |text: &str, expect: Injectivity| {
            assert_eq!(injectivity(&indexing_map::parse_map(text).expect("it is a map")), expect, "{text}");
        };
        let domain = "domain: d0 in [0, 99999], d1 in [0, 2]";
        check(
            &format!("(d0, d1) -> ((d0 + 1) floordiv 2, (d0 * 3 + d1 + 3) mod 6), {domain}"),
            Injectivity::Injective,
        );
        check(&format!("(d0, d1) -> ((d0 * 3 + d1 + 3) mod 6), {domain}"), Injectivity::Unknown);
    }
}
