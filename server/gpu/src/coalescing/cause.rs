//! The op or layout that makes an access uncoalesced.

use indexing::{OperandIndexing, Rules, grouped, logical_to_linear, no_callees};
use indexing_map::IndexingMap;
use ir::OpId;

use super::accesses::{Buffer, MemoryAccess, element_bits};
use super::kernel::BufferTraffic;
use super::traffic::{Access, traffic};
use crate::fusion_analysis::FusionAnalysis;
use crate::thread_map::then;

/// The maximum number of blocks and iterations examined per op on the way.
const BUDGET: u64 = 512;
/// The maximum number of ops on the way from the op that defines the thread mapping to the array.
const MAX_STEPS: usize = 256;

/// Where the accesses of the lanes diverge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The thread mapping does not follow the layout of this op; later ops are not the cause.
    Layout(OpId),
    /// This op reads distant elements although its own elements are adjacent.
    Op(OpId),
    /// The tiles of this array have too few neighbours in its layout.
    Tiles(OpId),
}

impl Cause {
    pub fn op(self) -> OpId {
        let (Cause::Layout(op) | Cause::Op(op) | Cause::Tiles(op)) = self;
        op
    }
}

impl FusionAnalysis {
    /// The cause of the most wasteful access to an array; `None` if no access to it is known.
    pub fn cause_of(&self, buffer: &BufferTraffic, threshold: f64) -> Option<Cause> {
        match buffer.is_predicted {
            true => Some(Cause::Tiles(self.op_of(buffer.buffer)?)),
            false => Some(self.cause(&buffer.worst_access()?.access, threshold)),
        }
    }

    /// The first op on the way from the threads to the array at which a request moves `threshold` times its
    /// ideal.
    pub fn cause(&self, access: &MemoryAccess, threshold: f64) -> Cause {
        let Buffer::Operand(number) = access.buffer else { return Cause::Layout(access.from) };
        let graph = &self.fused.graph;
        let Some(parameter) = graph.parameter(number) else { return Cause::Layout(access.from) };
        if self.is_wasteful(access.from, &access.threads, threshold) {
            return Cause::Layout(access.from);
        }
        let leads = self.leads_to(parameter);
        let all: Vec<OpId> = (0..graph.ops.len() as OpId).collect();
        let maps = grouped(graph, access.from, 0, &all, Rules::Xla, &no_callees);
        let from = OperandIndexing::from(access.threads.clone());
        let mut at = access.from;
        for _ in 0..MAX_STEPS {
            let operands = self.fused.operands(at).iter().copied().filter(|&o| leads[o as usize]);
            let mut next = None;
            for operand in operands {
                let read = maps.of(operand).unwrap_or_default();
                if read.iter().any(|read| self.is_wasteful(operand, &from.compose(read).map, threshold)) {
                    return Cause::Op(at);
                }
                next = next.or(Some(operand));
            }
            match next {
                Some(operand) if operand != parameter => at = operand,
                _ => break,
            }
        }
        Cause::Op(at)
    }

    /// Whether an access to the elements of `op`, stored in its layout, would exceed the threshold.
    fn is_wasteful(&self, op: OpId, threads: &IndexingMap, threshold: f64) -> bool {
        let shape = &self.fused.op(op).shape;
        let (Some(launch), Some(bits)) = (self.launch(), element_bits(shape)) else { return false };
        let mut map = then(threads, &logical_to_linear(shape));
        map.remove_unused_symbols();
        let access = Access {
            map: &map,
            gathered_at: &[],
            element_bits: bits,
            at_once: None,
            beside: &[],
            grid: launch.grid,
            block: launch.block,
            threads_per_warp: self.device.threads_per_warp,
        };
        traffic(&access, BUDGET).is_some_and(|t| t.best.excess() >= threshold)
    }

    /// Per op, whether it is computed from `parameter`.
    fn leads_to(&self, parameter: OpId) -> Vec<bool> {
        let mut leads = vec![false; self.fused.graph.ops.len()];
        leads[parameter as usize] = true;
        for op in 0..leads.len() {
            if self.fused.operands(op as OpId).iter().any(|&o| leads[o as usize]) {
                leads[op] = true;
            }
        }
        leads
    }
}
