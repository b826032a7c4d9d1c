//! Samples of values: the first and the last, and others spread evenly.

use indexing_map::{IndexingMap, Interval};

use super::shift::Shift;

/// The maximum number of values of runtime variables that are all tried.
const MAX_RUNTIME_CLASSES: i64 = 64;

/// Values of the runtime variables to try, and whether they cover all values: one per class if the positions
/// repeat after a few steps, else the lower, middle and upper bound, and the values next to these.
pub(super) fn runtime_choices(map: &IndexingMap, first: usize, unit: i64) -> (Vec<Vec<i64>>, bool) {
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

/// Numbers below `count`: all of them, or `wanted` spread evenly, including the first and the last.
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

/// Points of a box: all of them, or some spread evenly, including the first and the last.
pub(super) fn choose_points(bounds: &[Interval], wanted: u64) -> Vec<Vec<i64>> {
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
