//! Peels the last iteration of a loop if only that iteration needs a condition. Source:
//! `backends/gpu/codegen/emitters/transforms/peel_loops.cc`.

use indexing_map::{IndexingMap, SimplifyMode};

use super::copy::{Copier, like};
use super::ops::{each_body, regions_mut};
use crate::kernel::{Function, Kernel, Op, OpKind, Region};

/// The maximum number of iterations of nested loops together; loops further out are not peeled.
const MAX_ROUNDS: u64 = 64;

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| region(function, body));
}

fn region(function: &mut Function, of: &mut Region) {
    for mut op in std::mem::take(&mut of.ops) {
        regions_mut(&mut op.kind).into_iter().for_each(|inner| region(function, inner));
        let maps = match &op.kind {
            OpKind::Loop { map, .. } => peeled(map),
            _ => Vec::new(),
        };
        if maps.len() < 2 {
            of.ops.push(op);
            continue;
        }
        chain(function, &op, maps, &mut of.ops);
    }
}

/// The parts of the loop in order: all but the last iterations, then those.
fn peeled(map: &IndexingMap) -> Vec<IndexingMap> {
    let mut main = map.clone();
    let mut tails = Vec::new();
    let mut rounds = 1u64;
    for n in (0..map.num_ranges()).rev() {
        if rounds >= MAX_ROUNDS || !main.is_mapped() {
            break;
        }
        let bounds = main.ranges()[n].bounds;
        rounds = rounds.saturating_mul(bounds.size());
        if !is_constrained(&main, n) || bounds.size() < 2 {
            continue;
        }
        let most = with_range(&main, n, bounds.lower, bounds.upper - 1);
        if is_constrained(&most, n) || most.is_known_empty() {
            continue;
        }
        tails.push(with_range(&main, n, bounds.upper, bounds.upper));
        main = most;
    }
    std::iter::once(main).chain(tails.into_iter().rev()).collect()
}

fn is_constrained(map: &IndexingMap, n: usize) -> bool {
    map.constraints().iter().any(|c| c.expr.uses_var((map.num_dims() + n) as u32))
}

fn with_range(map: &IndexingMap, n: usize, lower: i64, upper: i64) -> IndexingMap {
    let mut map = map.clone();
    map.add_constraint(map.range(n), indexing_map::Interval::new(lower, upper));
    map.simplify(SimplifyMode::Replace);
    map
}

/// Emits the loops in sequence, each with the values that the previous one carries.
fn chain(function: &mut Function, op: &Op, maps: Vec<IndexingMap>, ops: &mut Vec<Op>) {
    let OpKind::Loop { inits, .. } = &op.kind else { return };
    let mut carried = inits.clone();
    let last = maps.len() - 1;
    for (part, map) in maps.into_iter().enumerate() {
        let mut copy = match part == last {
            true => op.clone(),
            false => {
                let mut copier = Copier::within(function);
                copier.ops(std::slice::from_ref(op)).remove(0)
            }
        };
        if part < last {
            copy.results = like(function, &op.results);
        }
        if let OpKind::Loop { map: own, vars, inits, .. } = &mut copy.kind {
            for (&var, range) in vars.iter().zip(map.ranges()) {
                function.index_vars[var as usize].bounds = range.bounds;
            }
            *own = map;
            *inits = std::mem::replace(&mut carried, copy.results.clone());
        }
        ops.push(copy);
    }
}
