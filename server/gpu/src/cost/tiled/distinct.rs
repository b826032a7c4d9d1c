//! The tiles that a block needs, at given tile sizes, each once.

use indexing_map::{Expr, IndexingMap, ceil_div};
use ir::{AttributeKey, OpId};

use crate::fused::Fused;

use super::symbolic::{BODY, NodeId, Symbolic, is_dot};
use super::{Reason, TOO_LARGE, power_of_two};

/// One tile of an op.
#[derive(Debug, PartialEq)]
pub(super) struct OpTile {
    pub node: NodeId,
    pub op: OpId,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
    /// How often the kernel computes or reads such a tile.
    pub times: i64,
}

impl Symbolic {
    /// The number of blocks, each of which computes one tile of the result.
    pub(super) fn blocks(&self, tile: &[i64]) -> Result<i64, Reason> {
        let result = self.dimensions.sizes.iter().zip(tile).take(self.dimensions.of_result);
        let mut per_dim = result.map(|(&size, &tile)| ceil_div(size, tile));
        per_dim.try_fold(1i64, |n, blocks| n.checked_mul(blocks?)).ok_or(TOO_LARGE)
    }

    /// The distinct tiles of all regions. Their sizes are powers of two, as Triton needs them.
    pub(super) fn tiles(&self, fused: &Fused, tile: &[i64]) -> Result<Vec<OpTile>, Reason> {
        let mut tiles = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter().enumerate() {
            let values = node.tile.at(tile).ok_or("a tiling of another rank than the result")?;
            if !values.is_tile {
                return Err("an op whose operand is no tile");
            }
            let whole = |values: &[Option<i64>]| values.iter().copied().collect::<Option<Vec<i64>>>();
            let (Some(sizes), Some(strides)) = (whole(&values.sizes), whole(&values.strides)) else {
                return Err("a tile beyond 64 bits");
            };
            if node.region == BODY && strides.iter().any(|&stride| stride < 0) {
                return Err("a tile with a negative stride");
            }
            let sizes = sizes.into_iter().map(power_of_two).collect::<Option<_>>().ok_or(TOO_LARGE)?;
            tiles.push(OpTile { node: id as NodeId, op: node.op, sizes, strides, times: 0 });
        }
        let first = self.first_of_equal(fused, &tiles, tile);
        // Regions of tiles that equal others are not executed.
        let mut is_executed = vec![false; tiles.len()];
        let mut open = vec![(BODY, self.blocks(tile)?)];
        while let Some((region, times)) = open.pop() {
            for &id in self.regions[region].iter().filter(|&&id| first[id as usize] == id) {
                tiles[id as usize].times = times;
                is_executed[id as usize] = true;
                for (number, &inner) in self.nodes[id as usize].regions.iter().enumerate() {
                    open.push((inner, self.times_in_region(fused, id, number, times, &tiles)?));
                }
            }
        }
        tiles.retain(|tile| is_executed[tile.node as usize]);
        Ok(tiles)
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
        tiles: &[OpTile],
    ) -> Result<i64, Reason> {
        let node = &self.nodes[id as usize];
        let op = fused.op(node.op);
        if is_dot(op.opcode) {
            let Some(&lhs) = node.operands.first() else { return Ok(times) };
            let (dims, sizes) =
                (fused.op(self.nodes[lhs as usize].op).shape.dims(), &tiles[lhs as usize].sizes);
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

    /// Per node, the first node of its region with the same tile.
    fn first_of_equal(&self, fused: &Fused, tiles: &[OpTile], tile: &[i64]) -> Vec<NodeId> {
        let mut first: Vec<NodeId> = (0..self.nodes.len() as NodeId).collect();
        let mut known: Vec<Vec<NodeId>> = vec![Vec::new(); fused.graph.ops.len()];
        for id in 0..self.nodes.len() as NodeId {
            cancel::tick();
            let (node, at) = (&self.nodes[id as usize], &tiles[id as usize]);
            let is_equal = |&other: &NodeId| {
                let (other_node, other_at) = (&self.nodes[other as usize], &tiles[other as usize]);
                node.region == other_node.region
                    && (&at.sizes, &at.strides) == (&other_at.sizes, &other_at.strides)
                    && node.runtime == other_node.runtime
                    && self.starts(&node.map, tile) == self.starts(&other_node.map, tile)
            };
            let candidates = &mut known[node.op as usize];
            match candidates.iter().copied().find(|other| is_equal(other)) {
                Some(equal) => first[id as usize] = equal,
                None => candidates.push(id),
            }
        }
        first
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
