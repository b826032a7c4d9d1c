//! Simplifies index arithmetic by its context: the ranges of threads and loops, and the conditions of
//! enclosing branches. Source: `codegen/emitters/transforms/simplify_affine.cc`.

use indexing_map::{Constraint, RangeContext, Simplifier, SimplifyMode};

use super::ops::{each_body, indices_mut, regions_mut};
use crate::kernel::{Condition, Function, Kernel, OpKind, Region};

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| region(function, body, &mut Vec::new()));
}

fn region(function: &Function, of: &mut Region, facts: &mut Vec<Constraint>) {
    for op in &mut of.ops {
        indices_mut(&mut op.kind, &mut |expr| {
            let ranges = RangeContext::new(&function.index_vars, facts);
            *expr = Simplifier::new(ranges, SimplifyMode::Replace).simplify(expr);
        });
        if let OpKind::If { condition: Condition::Within(constraints), then, otherwise } = &mut op.kind {
            let before = facts.len();
            facts.extend(constraints.iter().cloned());
            region(function, then, facts);
            facts.truncate(before);
            region(function, otherwise, facts);
            continue;
        }
        regions_mut(&mut op.kind).into_iter().for_each(|inner| region(function, inner, facts));
    }
}
