//! Coalescing of a whole kernel: array by array.

use indexing::SymbolicTile;
use indexing::{Rules, grouped, no_callees};
use ir::OpId;

use super::accesses::{Buffer, MemoryAccess, element_bits};
use super::counts::Counts;
use super::heuristic::xla_heuristic;
use super::traffic::{Traffic, traffic};
use super::{tiled_efficiency, xla_coalesced};
use crate::emitters::Emitter;
use crate::fusion_analysis::FusionAnalysis;

/// Combinations of block and iteration that are looked at for one access.
const BUDGET: u64 = 4096;

/// More sectors than so many times the ideal are waste that a user wants to know of.
pub const DEFAULT_THRESHOLD: f64 = 2.0;

/// What a kernel does with one array.
#[derive(Debug, Clone, PartialEq)]
pub struct BufferTraffic {
    pub buffer: Buffer,
    /// XLA's own verdict on reads; of a result nothing.
    pub xla_coalesced: Option<bool>,
    pub accesses: Vec<AccessTraffic>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AccessTraffic {
    pub access: MemoryAccess,
    /// Nothing where the map is not known.
    pub traffic: Option<Traffic>,
}

impl BufferTraffic {
    /// Of all accesses, at best (runtime variables aside: exactly). Nothing where one of them is not known.
    pub fn best(&self) -> Option<Counts> {
        self.sum(|traffic| traffic.best)
    }

    pub fn worst(&self) -> Option<Counts> {
        self.sum(|traffic| traffic.worst)
    }

    fn sum(&self, of: impl Fn(&Traffic) -> Counts) -> Option<Counts> {
        self.accesses.iter().try_fold(Counts::default(), |sum, a| Some(sum.plus(of(a.traffic.as_ref()?))))
    }

    /// No request moves more than twice the sectors that would do. Nothing where that is not known.
    pub fn is_coalesced(&self) -> Option<bool> {
        Some(self.best()?.excess() < DEFAULT_THRESHOLD)
    }

    pub fn is_exact(&self) -> bool {
        self.accesses.iter().all(|a| a.traffic.is_some_and(|t| t.is_exact))
    }

    /// The access that wastes most.
    pub fn worst_access(&self) -> Option<&AccessTraffic> {
        let waste =
            |a: &&AccessTraffic| a.traffic.map_or(0, |t| t.best.sectors.saturating_sub(t.best.ideal_sectors));
        self.accesses.iter().rev().max_by_key(waste)
    }
}

impl FusionAnalysis {
    /// The traffic of every operand that has one, then of every result. Arrays of a kernel that others write have no
    /// accesses; XLA's verdict on them is that of its heuristic.
    pub fn coalescing(&self) -> Vec<BufferTraffic> {
        let mut buffers: Vec<BufferTraffic> = Vec::new();
        let operands = self.fused.graph.ops.iter().filter_map(|op| op.parameter).map(Buffer::Operand);
        let results = (0..self.fused.outputs.len()).map(Buffer::Result);
        for buffer in operands.chain(results) {
            buffers.push(BufferTraffic { buffer, xla_coalesced: None, accesses: Vec::new() });
        }
        buffers.sort_by_key(|b| b.buffer);
        for access in self.memory_accesses() {
            let traffic = access.access(self).and_then(|access| traffic(&access, BUDGET));
            if let Some(of) = buffers.iter_mut().find(|b| b.buffer == access.buffer) {
                of.accesses.push(AccessTraffic { access, traffic });
            }
        }
        let by_maps = !matches!(self.emitter, Emitter::Elsewhere(_) | Emitter::Sort(_));
        let mut heuristic = None;
        for buffer in &mut buffers {
            if matches!(buffer.buffer, Buffer::Operand(_)) {
                buffer.xla_coalesced = Some(match by_maps {
                    true => xla_verdict(buffer),
                    false => *heuristic.get_or_insert_with(|| {
                        xla_heuristic(self.kind, &self.fused.graph, None, self.device)
                    }),
                });
            }
        }
        buffers
    }

    /// For an operand of a kernel whose first result is computed in tiles of these sizes: the part of the bytes moved that
    /// a tile needs, at its least. Nothing where the elements are no tile.
    pub fn tiled_operand_efficiency(&self, operand: u32, tile_sizes: &[i64]) -> Option<f64> {
        let graph = &self.fused.graph;
        let at = graph.parameter(operand)?;
        let shape = graph.ops[at as usize].shape.as_array()?;
        let bytes = element_bits(&graph.ops[at as usize].shape)? / 8;
        let all: Vec<OpId> = (0..graph.ops.len() as OpId).collect();
        let maps = grouped(graph, *self.fused.roots.first()?, 0, &all, Rules::Xla, &no_callees);
        let rates = maps.of(at)?.iter().map(|access| {
            let tile = SymbolicTile::from_map(&access.map)?;
            // A size for each dimension of the result.
            let tile = tile.at(tile_sizes)?;
            let sizes: Vec<i64> = tile.sizes.into_iter().collect::<Option<_>>()?;
            let strides: Vec<i64> = tile.strides.into_iter().collect::<Option<_>>()?;
            let order = shape.minor_to_major();
            let transaction = self.device.dram_transaction_bytes();
            Some(tiled_efficiency(&shape.dims, &order, &sizes, &strides, bytes.max(1), transaction))
        });
        let rates: Option<Vec<f64>> = rates.collect();
        rates?.into_iter().reduce(f64::min)
    }
}

/// All maps must pass; an array that no map leads to passes.
fn xla_verdict(buffer: &BufferTraffic) -> bool {
    let bytes = |a: &MemoryAccess| element_bits(&a.shape).map_or(1, |bits| (bits / 8).max(1));
    let of_hero = buffer.accesses.iter().map(|a| &a.access).filter(|a| a.is_of_hero);
    of_hero.into_iter().all(|a| a.shape.dims().is_empty() || xla_coalesced(&a.positions, bytes(a)))
}
