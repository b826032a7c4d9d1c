//! Erases functions without callers. Source: `codegen/emitters/transforms/erase_dead_functions.cc`.

use super::ops::each_op;
use crate::kernel::{Function, Kernel, OpKind, Region};

/// Keeps function numbers: an erased function has no name and no body.
pub(super) fn run(kernel: &mut Kernel) {
    let mut is_live = vec![false; kernel.functions.len()];
    let mut open = vec![0usize];
    while let Some(number) = open.pop() {
        let Some(function) = kernel.functions.get(number) else { continue };
        if !std::mem::replace(&mut is_live[number], true) {
            called(&function.body, &mut |callee| open.push(callee));
        }
    }
    for (function, is_live) in kernel.functions.iter_mut().zip(is_live) {
        if !is_live {
            *function = Function::default();
        }
    }
}

/// Calls `f` with the function of each call in a region.
pub(super) fn called(region: &Region, f: &mut dyn FnMut(usize)) {
    each_op(region, &mut |op| match op.kind {
        OpKind::Call { function, .. } => f(function),
        OpKind::ShuffleReduce { combiner, .. } => f(combiner),
        _ => {}
    });
}
