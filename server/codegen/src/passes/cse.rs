//! CSE: reuses values that are computed before and in scope.

use rustc_hash::FxHashMap;

use super::ops::{Names, constant_args, each_body, regions_mut, writes};
use crate::kernel::{Function, Kernel, Op, OpKind, Region, Type, ValueId};

pub(super) fn run(kernel: &mut Kernel) {
    let constant = constant_args(kernel);
    each_body(kernel, |number, function, body| {
        let is_entry = number == 0;
        // Functions do not write memory.
        let constant = if is_entry { constant.clone() } else { Vec::new() };
        let (names, seen) = (Names::default(), Vec::new());
        Known { function, names, seen, constant, memory: 1, is_entry }.region(body);
    });
}

struct Known<'f> {
    function: &'f Function,
    names: Names,
    /// Per open region: results of ops, keyed by the op and the state of memory.
    seen: Vec<FxHashMap<(String, u32), Seen>>,
    constant: Vec<ValueId>,
    /// The state of memory: incremented after each write.
    memory: u32,
    is_entry: bool,
}

enum Seen {
    Values(Vec<ValueId>),
    Var(u32),
}

impl Known<'_> {
    fn region(&mut self, region: &mut Region) {
        self.seen.push(FxHashMap::default());
        for mut op in std::mem::take(&mut region.ops) {
            self.names.apply(&mut op.kind);
            if let Some(key) = self.key(&op) {
                if let Some(seen) = self.seen.iter().rev().find_map(|known| known.get(&key)) {
                    match (seen, &op.kind) {
                        (Seen::Values(values), _) => self.names.give(&op.results, &values.clone()),
                        (Seen::Var(known), OpKind::ToIndex { var, .. }) => {
                            let known = indexing_map::Expr::var(*known as usize);
                            self.names.vars.insert(*var, known);
                        }
                        _ => {}
                    }
                    continue;
                }
                let seen = match op.kind {
                    OpKind::ToIndex { var, .. } => Seen::Var(var),
                    _ => Seen::Values(op.results.clone()),
                };
                if let Some(known) = self.seen.last_mut() {
                    known.insert(key, seen);
                }
            }
            let changes = writes(&op);
            // The previous iteration may have written.
            self.memory += u32::from(changes);
            for inner in regions_mut(&mut op.kind) {
                self.region(inner);
            }
            self.memory += u32::from(changes);
            region.ops.push(op);
        }
        self.names.apply_yields(region);
        self.seen.pop();
    }

    /// The key that ops with equal results share.
    fn key(&self, op: &Op) -> Option<(String, u32)> {
        let memory = match &op.kind {
            OpKind::Constant(_)
            | OpKind::Compute { .. }
            | OpKind::FromIndex { .. }
            | OpKind::Splat { .. }
            | OpKind::Extract { .. }
            | OpKind::Insert { .. }
            | OpKind::Table(_) => 0,
            OpKind::ToIndex { value, var } => {
                let bounds = self.function.index_vars[*var as usize].bounds;
                return Some((format!("index {value} {bounds:?}"), 0));
            }
            OpKind::Read { tensor, .. } if self.constant.contains(tensor) => 0,
            OpKind::Call { args, .. } if !self.is_entry || args.iter().all(|arg| self.is_unchanged(*arg)) => {
                0
            }
            OpKind::Read { .. } | OpKind::Call { .. } => self.memory,
            _ => return None,
        };
        let types: Vec<&Type> = op.results.iter().map(|&result| self.function.ty(result)).collect();
        Some((format!("{:?} {types:?}", op.kind), memory))
    }

    fn is_unchanged(&self, value: ValueId) -> bool {
        matches!(self.function.ty(value), Type::Scalar(_) | Type::Vector { .. })
            || self.constant.contains(&value)
    }
}
