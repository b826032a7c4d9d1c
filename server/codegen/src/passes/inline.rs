//! Inlines functions into their callers. Source: MLIR's inliner, with the rules of
//! `codegen/emitters/ir/xla_dialect.cc`.

use super::copy::Copier;
use super::erase;
use super::ops::{Names, count, each_op, regions_mut};
use crate::kernel::{Function, Kernel, OpKind, Region};

/// A function with more ops gets no more inlined calls.
const MAX_SIZE: usize = 4000;

/// Visits callees first, so that inlined functions are already processed.
pub(super) fn run(kernel: &mut Kernel) {
    for number in callees_first(kernel) {
        let uses = uses(kernel);
        let mut function = std::mem::take(&mut kernel.functions[number]);
        let mut body = std::mem::take(&mut function.body);
        let in_region = in_region(&body, kernel.functions.len());
        let mut inliner = Inliner {
            kernel,
            function: &mut function,
            uses: &uses,
            in_region,
            names: Names::default(),
            size: count(&body),
        };
        inliner.region(&mut body);
        function.body = body;
        kernel.functions[number] = function;
    }
    erase::run(kernel);
}

/// Numbers of functions, each after those that it calls.
fn callees_first(kernel: &Kernel) -> Vec<usize> {
    let callees = |number: usize| {
        let mut callees = Vec::new();
        erase::called(&kernel.functions[number].body, &mut |callee| callees.push(callee));
        callees.into_iter()
    };
    let mut seen = vec![false; kernel.functions.len()];
    let mut order = Vec::new();
    // A stack of functions, with their callees that were not visited yet.
    let mut open: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
    let mut visit = |number: usize, open: &mut Vec<_>| {
        if seen.get_mut(number).is_some_and(|seen| !std::mem::replace(seen, true)) {
            open.push((number, callees(number)));
        }
    };
    visit(0, &mut open);
    while let Some((number, left)) = open.last_mut() {
        match left.next() {
            Some(callee) => visit(callee, &mut open),
            None => {
                order.push(*number);
                open.pop();
            }
        }
    }
    order
}

/// The number of calls of each function in the kernel.
fn uses(kernel: &Kernel) -> Vec<usize> {
    let mut uses = vec![0; kernel.functions.len()];
    for function in &kernel.functions {
        erase::called(&function.body, &mut |callee| uses[callee] += 1);
    }
    uses
}

fn in_region(region: &Region, functions: usize) -> Vec<usize> {
    let mut calls = vec![0; functions];
    erase::called(region, &mut |callee| calls[callee] += 1);
    calls
}

struct Inliner<'k> {
    kernel: &'k Kernel,
    function: &'k mut Function,
    uses: &'k [usize],
    /// The number of calls of each function in the function that is being processed.
    in_region: Vec<usize>,
    names: Names,
    size: usize,
}

impl Inliner<'_> {
    fn region(&mut self, region: &mut Region) {
        for mut op in std::mem::take(&mut region.ops) {
            self.names.apply(&mut op.kind);
            let OpKind::Call { function, args, at } = &op.kind else {
                regions_mut(&mut op.kind).into_iter().for_each(|inner| self.region(inner));
                region.ops.push(op);
                continue;
            };
            let callee = &self.kernel.functions[*function];
            if !self.is_inlined(*function, callee) {
                region.ops.push(op);
                continue;
            }
            self.size += count(&callee.body);
            let mut copier = Copier::of(callee, self.function);
            copier.names.give(&callee.args, args);
            copier.names.vars.extend((0..).zip(at.iter().cloned()));
            let ops = copier.ops(&callee.body.ops);
            let results = copier.values(&callee.body.yields);
            self.names.give(&op.results, &results);
            region.ops.extend(ops.into_iter().map(|mut inner| {
                inner.origin = inner.origin.or(op.origin);
                inner
            }));
        }
        self.names.apply_yields(region);
    }

    fn is_inlined(&self, number: usize, callee: &Function) -> bool {
        if has_no_compute(&callee.body) {
            return true;
        }
        let is_cloned = self.uses[number] > 1;
        if is_cloned && self.in_region[number] > 1 || self.size + count(&callee.body) > MAX_SIZE {
            return false;
        }
        !is_cloned || self.calls_what_is_called(&callee.body)
    }

    /// Whether the callee and the function that is being processed both call some third function.
    fn calls_what_is_called(&self, callee: &Region) -> bool {
        let mut is_common = false;
        erase::called(callee, &mut |third| is_common |= self.in_region[third] > 0);
        is_common
    }
}

/// Whether the function only moves elements, and so is inlined everywhere. Source: `xla.has_no_compute`.
fn has_no_compute(body: &Region) -> bool {
    let mut is_none = true;
    each_op(body, &mut |op| {
        is_none &= matches!(
            op.kind,
            OpKind::Read { .. } | OpKind::Constant(_) | OpKind::Table(_) | OpKind::FromIndex { .. }
        );
    });
    is_none
}
