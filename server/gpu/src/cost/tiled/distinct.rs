//! The tiles that a block needs, at given tile sizes, each once.

use indexing_map::{Expr, IndexingMap, ceil_div};
use ir::AttributeKey;

use crate::fused::Fused;

use super::symbolic::{BODY, NodeId, Symbolic, is_dot};
use super::{Reason, TOO_LARGE, power_of_two};

/// The extent of a tile. Its sizes are powers of two, as Triton needs them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Extent {
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
    pub elements: f64,
}

/// All nodes at certain tile sizes. Reused from one tiling to the next.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    /// Per tile of [`Symbolic::tiles`].
    pub(super) extents: Vec<Extent>,
    /// Per node, how often the kernel computes or reads its tile; negative for nodes that equal others.
    pub(super) times: Vec<i64>,
    first: Vec<NodeId>,
}

impl Tiles {
    pub(super) fn extent(&self, symbolic: &Symbolic, node: NodeId) -> &Extent {
        &self.extents[symbolic.nodes[node as usize].tile]
    }

    /// The nodes that are computed or read.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.times.len() as NodeId).filter(|&node| self.times[node as usize] >= 0)
    }
}

impl Symbolic {
    /// The number of blocks, each of which computes one tile of the result.
    pub(super) fn blocks(&self, tile: &[i64]) -> Result<i64, Reason> {
        let result = self.dimensions.sizes.iter().zip(tile).take(self.dimensions.of_result);
        let mut per_dim = result.map(|(&size, &tile)| ceil_div(size, tile));
        per_dim.try_fold(1i64, |n, blocks| n.checked_mul(blocks?)).ok_or(TOO_LARGE)
    }

    /// The extents of all tiles.
    pub(super) fn extents(&self, tile: &[i64], tiles: &mut Tiles) -> Result<(), Reason> {
        if tile.len() != self.dimensions.sizes.len() {
            return Err("a tiling of another rank than the result");
        }
        tiles.extents.resize_with(self.tiles.len(), Extent::default);
        let all = self.tiles.iter().zip(&self.is_in_body).zip(&mut tiles.extents);
        for ((symbolic, is_in_body), extent) in all {
            let Extent { sizes, strides, elements } = extent;
            if !symbolic.extents_at(tile, sizes, strides) {
                return Err("an op whose operand is no tile");
            }
            if *is_in_body && strides.iter().any(|&stride| stride < 0) {
                return Err("a tile with a negative stride");
            }
            *elements = 1.0;
            for size in sizes {
                *size = power_of_two(*size).ok_or(TOO_LARGE)?;
                *elements *= *size as f64;
            }
        }
        Ok(())
    }

    /// The distinct tiles of all regions, which have their [extents](Symbolic::extents) already.
    pub(super) fn count(&self, fused: &Fused, tile: &[i64], tiles: &mut Tiles) -> Result<(), Reason> {
        self.find_equal(tile, tiles);
        tiles.times.clear();
        tiles.times.resize(self.nodes.len(), -1);
        // Regions of tiles that equal others are not executed.
        let mut open = vec![(BODY, self.blocks(tile)?)];
        while let Some((region, times)) = open.pop() {
            for &id in self.regions[region].iter().filter(|&&id| tiles.first[id as usize] == id) {
                tiles.times[id as usize] = times;
                for (number, &inner) in self.nodes[id as usize].regions.iter().enumerate() {
                    open.push((inner, self.times_in_region(fused, id, number, times, tiles)?));
                }
            }
        }
        Ok(())
    }

    /// How often region `number` of a node is executed if the node is computed so many times: once per step of
    /// a dot's loop, only by the blocks inside a concatenation's operand. Source: `GetNumBlocksForRegion`,
    /// `service/gpu/model/gpu_indexing_performance_model.cc`.
    fn times_in_region(
        &self,
        fused: &Fused,
        id: NodeId,
        number: usize,
        times: i64,
        tiles: &Tiles,
    ) -> Result<i64, Reason> {
        let node = &self.nodes[id as usize];
        let op = fused.op(node.op);
        if is_dot(op.opcode) {
            let Some(&lhs) = node.operands.first() else { return Ok(times) };
            let (dims, sizes) =
                (fused.op(self.nodes[lhs as usize].op).shape.dims(), &tiles.extent(self, lhs).sizes);
            let contracted = op.attributes.ints(AttributeKey::LhsContractingDims).iter();
            let steps = contracted.map(|&dim| {
                let dim = usize::try_from(dim).ok()?;
                ceil_div(*dims.get(dim)?, *sizes.get(dim)?)
            });
            return steps.into_iter().try_fold(times, |n, steps| n.checked_mul(steps?)).ok_or(TOO_LARGE);
        }
        let dim = op.attributes.ints(AttributeKey::Dimensions).first();
        let dim = dim.and_then(|&dim| usize::try_from(dim).ok()).unwrap_or(0);
        let width = |dims: &[i64]| dims.get(dim).copied().unwrap_or(0);
        let part = op.operand_shapes.get(number).map_or(0, |shape| width(shape.dims()));
        let parts = times.checked_mul(part).ok_or(TOO_LARGE)?;
        Ok(parts.checked_div(width(op.shape.dims())).unwrap_or(0))
    }

    /// Finds, per node, the first node of its region and op with the same tile.
    fn find_equal(&self, tile: &[i64], tiles: &mut Tiles) {
        tiles.first.clear();
        tiles.first.extend(0..self.nodes.len() as NodeId);
        for nodes in &self.alike {
            let mut distinct: Vec<NodeId> = Vec::with_capacity(nodes.len());
            for &id in nodes {
                cancel::tick();
                let is_equal = |&&other: &&NodeId| {
                    let (node, other_node) = (&self.nodes[id as usize], &self.nodes[other as usize]);
                    tiles.extent(self, id) == tiles.extent(self, other)
                        && node.runtime == other_node.runtime
                        && self.starts(&node.map, tile) == self.starts(&other_node.map, tile)
                };
                match distinct.iter().find(is_equal) {
                    Some(&equal) => tiles.first[id as usize] = equal,
                    None => distinct.push(id),
                }
            }
        }
    }

    /// The offsets of a tile, over the dimensions that have several tiles.
    fn starts(&self, map: &IndexingMap, tile: &[i64]) -> Vec<Expr> {
        let (dims, ranges) = (map.num_dims(), map.num_ranges());
        let has_several = |dim: usize| match (self.dimensions.sizes.get(dim), tile.get(dim)) {
            (Some(size), Some(tile)) => tile < size,
            _ => false,
        };
        let start = |variable: u32| {
            let variable = variable as usize;
            let is_start = variable < dims && has_several(variable);
            (!is_start && variable < dims + ranges).then_some(Expr::ZERO)
        };
        map.results().iter().map(|result| result.substitute(&mut |variable| start(variable))).collect()
    }
}
