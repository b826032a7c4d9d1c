//! `vector.shuffle`: elements of two vectors in a given order.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector.

use std::ops::Range;

use indexing_map::{Expr, Interval};
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// The largest number of maps of one shuffle.
const MAX_RUNS: usize = 64;

/// Elements of the list that follow one rule: with `k = period * q + r`, `r` in `places`, element `k` is
/// `first + (r - places.start) * step + q * stride`.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    places: Range<i64>,
    first: i64,
    step: i64,
}

/// The whole list as repeated runs, as few as possible.
struct Rule {
    period: i64,
    stride: i64,
    runs: Vec<Run>,
}

/// `%a, %b [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>`: element numbers, those of `%b` after those of `%a`;
/// -1 is a poison element.
pub(crate) fn shuffle(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = [text.operand(0)?, text.operand(1)?];
    let types = [text.array_of(&operands[0])?, text.array_of(&operands[1])?];
    let list = text.shuffled_elements()?;
    // A vector of rank 0 has one element.
    let leading = |nth: usize| match types[nth].extents.first() {
        Some(&extent) => extent.ok_or(NoMap::UnknownExtent),
        None => Ok(1),
    };
    let (first, second) = (leading(0)?, leading(1)?);
    if list.iter().any(|&k| k < -1 || k >= first.saturating_add(second)) {
        return Err(NoMap::UnknownElement);
    }
    let rule = shortest_rule(&list, first);
    if rule.runs.len() > MAX_RUNS {
        return Err(NoMap::Irregular { pieces: rule.runs.len() });
    }
    let d = builder.dimension(&Expr::Const(list.len() as i64));
    let rest: Vec<Expr> = (1..types[0].rank()).map(|k| builder.extent(&operands[0], &types[0], k)).collect();
    let rest = builder.dimensions(&rest);
    let (turn, place) = match rule.period == list.len() as i64 {
        true => (Expr::ZERO, d),
        false => (d.clone().floor_div(rule.period), d.modulo(rule.period)),
    };
    let mut accesses = Vec::new();
    for run in &rule.runs {
        let (nth, start) = if run.first < first { (0, run.first) } else { (1, run.first - first) };
        let inside = place.clone() - run.places.start;
        let element = inside * run.step + turn.clone() * rule.stride + start;
        let index = match types[nth].rank() {
            0 => Vec::new(),
            _ => std::iter::once(element).chain(rest.iter().cloned()).collect(),
        };
        let when = vec![(place.clone(), Interval::new(run.places.start, run.places.end - 1))];
        accesses.push(builder.access(&operands[nth], Role::Read, index, when));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// The rule with the fewest runs, and among those the longest period. Numbers below `first` are of the first
/// vector.
fn shortest_rule(list: &[i64], first: i64) -> Rule {
    let n = list.len();
    let mut best = Rule { period: n as i64, stride: 0, runs: runs(list, list, first) };
    for period in (1..n).rev().filter(|period| n.is_multiple_of(*period)) {
        let Some(stride) = stride(list, period) else { continue };
        let runs = runs(&list[..period], &list[n - period..], first);
        let is_one_operand = |run: &Run| {
            let turns = (n / period - 1) as i64;
            let last = turns.checked_mul(stride).and_then(|all| all.checked_add(run.first));
            last.is_some_and(|last| (run.first < first) == (last < first))
        };
        if runs.len() < best.runs.len() && runs.iter().all(is_one_operand) {
            best = Rule { period: period as i64, stride, runs };
        }
    }
    best
}

/// The constant difference between each element and the one a period earlier; `None` if it varies. Poison
/// elements must align.
fn stride(list: &[i64], period: usize) -> Option<i64> {
    let mut found = None;
    for (early, late) in list.iter().zip(&list[period..]) {
        match (*early, *late) {
            (-1, -1) => {}
            (-1, _) | (_, -1) => return None,
            (early, late) if *found.get_or_insert(late - early) != late - early => return None,
            _ => {}
        }
    }
    Some(found.unwrap_or(0))
}

/// Pieces of the list with a constant step, each within one vector both in the first and in the last period.
fn runs(list: &[i64], last: &[i64], first: i64) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    for (at, &k) in list.iter().enumerate().filter(|(_, k)| **k >= 0) {
        let at = at as i64;
        if let Some(run) = found.last_mut().filter(|run| run.places.end == at) {
            let length = run.places.end - run.places.start;
            let step = if length == 1 { k - run.first } else { run.step };
            let is_same = |a: i64, b: i64| (a < first) == (b < first);
            let start = run.places.start as usize;
            let next = length.checked_mul(step).and_then(|all| all.checked_add(run.first));
            if next == Some(k) && is_same(run.first, k) && is_same(last[start], last[at as usize]) {
                run.step = step;
                run.places.end = at + 1;
                continue;
            }
        }
        found.push(Run { places: at..at + 1, first: k, step: 0 });
    }
    found
}
