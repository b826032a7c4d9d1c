//! Groups of roots: those of a reduction fusion that share no computation run in different blocks.

use ir::{Op, OpId, Opcode};

use super::Context;
use crate::heroes::is_real_reduction;

/// Groups of roots, by position. Reductions that share nothing but scalars and constants are in different
/// groups. All other roots are in one group, together with the reductions that share computation with them.
/// Source: `GroupDisjointReductions`, `backends/gpu/codegen/emitters/reduction.cc`.
pub(super) fn group_roots(context: &Context<'_>) -> Vec<Vec<usize>> {
    let fused = context.fused;
    let mut sets = Sets((0..fused.roots.len()).collect());
    // Per op, the roots that need it, as bits; cleared once they are passed on to the operands.
    let words = fused.roots.len().div_ceil(64);
    let mut reached: Vec<Vec<u64>> = vec![Vec::new(); fused.graph.ops.len()];
    let mut is_reduction = Vec::new();
    let mut first_other = None;
    for (i, (&root, &hero)) in fused.roots.iter().zip(context.heroes).enumerate() {
        let bits = &mut reached[root as usize];
        bits.resize(words, 0);
        bits[i / 64] |= 1 << (i % 64);
        let is_real = is_real_reduction(fused, root, hero, context.device);
        is_reduction.push(is_real);
        if !is_real {
            sets.merge(*first_other.get_or_insert(i), i);
        }
    }
    for id in fused.users_first() {
        let roots = std::mem::take(&mut reached[id as usize]);
        if roots.is_empty() {
            continue;
        }
        for &operand in fused.operands(id) {
            let bits = &mut reached[operand as usize];
            bits.resize(words, 0);
            bits.iter_mut().zip(&roots).for_each(|(all, more)| *all |= more);
        }
        // An op that is cheap to compute twice merges only one reduction with the other roots.
        let is_cheap = is_broadcast_scalar(context, id);
        let mut has_reduction = false;
        let mut first = None;
        for root in (0..fused.roots.len()).filter(|i| roots[i / 64] >> (i % 64) & 1 == 1) {
            if is_reduction[root] {
                if is_cheap && has_reduction {
                    continue;
                }
                has_reduction = true;
            }
            sets.merge(*first.get_or_insert(root), root);
        }
    }
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for root in 0..fused.roots.len() {
        let set = sets.find(root);
        match groups.iter_mut().find(|(of, _)| *of == set) {
            Some((_, roots)) => roots.push(root),
            None => groups.push((set, vec![root])),
        }
    }
    groups.into_iter().map(|(_, roots)| roots).collect()
}

/// Source: `hlo_query::IsBroadcastedConstantOrScalar`.
fn is_broadcast_scalar(context: &Context<'_>, id: OpId) -> bool {
    let is_simple = |op: &Op| {
        op.opcode == Opcode::Constant || op.shape.as_array().is_some_and(|array| array.dims.is_empty())
    };
    let op = context.fused.op(id);
    let operand = context.fused.operands(id).first();
    is_simple(op)
        || (op.opcode == Opcode::Broadcast && operand.is_some_and(|&o| is_simple(context.fused.op(o))))
}

/// Disjoint sets of roots. Each root names a member of its set; the first of a set names itself.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&self, mut root: usize) -> usize {
        while self.0[root] != root {
            root = self.0[root];
        }
        root
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}
