//! The ops of a block-level fusion with the tiles that one block needs of them, as functions of the tile sizes.
//!
//! What a dot reads is in a region of its own: the body of a loop over the contracted dimensions. So is each
//! operand of a concatenation: blocks outside of its part do not compute it.
//! Source: `AnalyzeFromInstruction`, `codegen/tiling/symbolic_tile_analysis.cc`.

use indexing::{OperandIndexing, Rules, RuntimeVariable, SymbolicTile, in_graph};
use indexing_map::{Expr, IndexingMap, SimplifyMode, Variable};
use ir::{AttributeKey, Op, OpId, Opcode};
use rustc_hash::FxHashMap;

use crate::fused::Fused;

use super::Reason;

/// The maximum number of ops of a fusion that is tiled.
const MAX_OPS: usize = 2048;

/// The maximum number of tiles: an op has one for each way in which a region needs it.
const MAX_NODES: usize = 4096;

pub(super) type NodeId = u32;
pub(super) type RegionId = usize;

/// The region that every block executes once.
pub(super) const BODY: RegionId = 0;

/// The node of the fusion's result.
pub(super) const ROOT: NodeId = 0;

/// An op and one tile of its result.
pub(super) struct Node {
    pub op: OpId,
    /// The number of its tile in [`Symbolic::tiles`].
    pub tile: usize,
    /// Empty for operands of the fusion.
    pub operands: Vec<NodeId>,
    pub region: RegionId,
    /// The loop of a dot; the branches of a concatenation, one per operand.
    pub regions: Vec<RegionId>,
    /// From the tiled dimensions to the op's elements.
    pub map: IndexingMap,
    /// Those of `map`.
    pub runtime: Vec<RuntimeVariable>,
}

/// The dimensions that are cut into tiles: those of the result, then those that dots contract.
pub(super) struct Dimensions {
    pub sizes: Vec<i64>,
    /// The number of those of the result, which the blocks divide among them.
    pub of_result: usize,
    /// Per dot, the number of its first contracted dimension.
    pub of_dot: Vec<(OpId, usize)>,
}

/// All tiles of a fusion.
pub(super) struct Symbolic {
    pub dimensions: Dimensions,
    pub nodes: Vec<Node>,
    /// The tiles that nodes have, each once: elementwise ops have that of their user.
    pub tiles: Vec<SymbolicTile>,
    /// Per tile, whether a node of the [`BODY`] has it.
    pub is_in_body: Vec<bool>,
    /// The nodes of each region.
    pub regions: Vec<Vec<NodeId>>,
    /// The nodes of ops that have several in a region.
    pub alike: Vec<Vec<NodeId>>,
}

impl Symbolic {
    /// Derives the tiles of all ops from those of the result `root`, or the reason why XLA's analysis refuses
    /// an op, whatever the sizes.
    pub(super) fn of(fused: &Fused, root: OpId) -> Result<Symbolic, Reason> {
        if fused.graph.ops.len() > MAX_OPS {
            return Err("more ops than are tiled");
        }
        let dimensions = Dimensions::of(fused, root)?;
        let results = (0..dimensions.of_result).map(Expr::var).collect();
        let map = IndexingMap::from_sizes(&dimensions.sizes, &[], results);
        let mode =
            if keeps_dimensions_of_one(fused) { SimplifyMode::Preserve } else { SimplifyMode::Replace };
        let mut builder = Builder {
            fused,
            dimensions,
            mode,
            nodes: Vec::new(),
            tiles: Vec::new(),
            regions: vec![Vec::new()],
            known: FxHashMap::default(),
            open: Vec::new(),
        };
        builder.add(root, Composed { map, runtime: Vec::new() }, BODY)?;
        while let Some((id, region)) = builder.open.pop() {
            cancel::tick();
            builder.follow(id, region)?;
        }
        let Builder { dimensions, nodes, tiles, regions, known, .. } = builder;
        let mut is_in_body = vec![false; tiles.len()];
        for node in nodes.iter().filter(|node| node.region == BODY) {
            is_in_body[node.tile] = true;
        }
        let alike = known.into_values().filter(|nodes| nodes.len() > 1).collect();
        Ok(Symbolic { dimensions, nodes, tiles, is_in_body, regions, alike })
    }
}

impl Dimensions {
    fn of(fused: &Fused, root: OpId) -> Result<Dimensions, Reason> {
        let result = fused.op(root).shape.as_array().ok_or("a result that is no array")?;
        let mut dimensions =
            Dimensions { sizes: result.dims.to_vec(), of_result: result.dims.len(), of_dot: Vec::new() };
        for (id, op) in fused.ops().filter(|(_, op)| is_dot(op.opcode)) {
            dimensions.of_dot.push((id, dimensions.sizes.len()));
            let sizes = sizes_of(op, 0, op.attributes.ints(AttributeKey::LhsContractingDims));
            dimensions.sizes.extend(sizes.ok_or("a contracted dimension that the operand lacks")?);
        }
        Ok(dimensions)
    }

    fn of_dot(&self, dot: OpId) -> Option<usize> {
        self.of_dot.iter().find(|(op, _)| *op == dot).map(|&(_, first)| first)
    }
}

/// An access composed with the map of its user.
struct Composed {
    map: IndexingMap,
    runtime: Vec<RuntimeVariable>,
}

struct Builder<'a> {
    fused: &'a Fused,
    dimensions: Dimensions,
    mode: SimplifyMode,
    nodes: Vec<Node>,
    tiles: Vec<SymbolicTile>,
    regions: Vec<Vec<NodeId>>,
    /// The nodes of an op in a region.
    known: FxHashMap<(RegionId, OpId), Vec<NodeId>>,
    /// Nodes whose operands are not derived yet, and the region of these.
    open: Vec<(NodeId, RegionId)>,
}

impl Builder<'_> {
    /// The tiles of the operands of a node.
    fn follow(&mut self, id: NodeId, region: RegionId) -> Result<(), Reason> {
        let fused = self.fused;
        let user = self.nodes[id as usize].op;
        let op = fused.op(user);
        if !fused.is_inside(user) {
            return Ok(());
        }
        let accesses = in_graph(&fused.graph, user, 0, Rules::Xla, &|_| None).operands;
        if accesses.len() != fused.operands(user).len() {
            return Err("an op whose operands have no maps");
        }
        for (at, (&operand, list)) in fused.operands(user).iter().zip(&accesses).enumerate() {
            let [access] = &list[..] else { return Err("an operand that is read in several ways") };
            let composed = self.composed(id, at, access)?;
            let target = match op.opcode {
                Opcode::Concatenate => {
                    let branch = self.add_region();
                    self.nodes[id as usize].regions.push(branch);
                    branch
                }
                _ => region,
            };
            let found = self.find(operand, &composed, target);
            let of = found.map_or_else(|| self.add(operand, composed, target), Ok)?;
            self.nodes[id as usize].operands.push(of);
        }
        Ok(())
    }

    fn composed(&self, user: NodeId, at: usize, access: &OperandIndexing) -> Result<Composed, Reason> {
        let Node { op: id, map: outer, runtime, .. } = &self.nodes[user as usize];
        let op = self.fused.op(*id);
        if access.is_identity() {
            return Ok(Composed { map: outer.clone(), runtime: runtime.clone() });
        }
        let inner = match op.opcode {
            // What is outside of the operand is masked.
            Opcode::Pad if at == 0 => without_constraints(op, &access.map),
            _ => access.map.clone(),
        };
        let mut map = outer.compose(&inner);
        let of_access = access.runtime_variables.iter().map(|variable| RuntimeVariable {
            source: variable.source.clone(),
            map: outer.compose(&variable.map),
            feasible: variable.feasible,
        });
        let mut runtime: Vec<RuntimeVariable> = of_access.chain(runtime.iter().cloned()).collect();
        map.simplify(self.mode);
        let before = map.num_dims() + map.num_ranges();
        let removed = map.remove_unused_symbols();
        let mut removed = IndexingMap::removed_runtime(&removed, before).iter();
        runtime.retain(|_| !removed.next().copied().unwrap_or(false));
        if is_dot(op.opcode) && map.num_ranges() > 0 {
            map = self.with_steps(*id, at, &map)?;
            map.simplify(self.mode);
        }
        Ok(Composed { map, runtime })
    }

    /// The map with the dimensions that a dot contracts in place of its range variables.
    /// Source: `InsertTilingParameterForContractingDimensions`.
    fn with_steps(&self, dot: OpId, at: usize, map: &IndexingMap) -> Result<IndexingMap, Reason> {
        const NO_STEP: Reason = "a contracted dimension that no tile steps through";
        let first = self.dimensions.of_dot(dot).ok_or(NO_STEP)?;
        let key = if at.is_multiple_of(2) {
            AttributeKey::LhsContractingDims
        } else {
            AttributeKey::RhsContractingDims
        };
        let mut moved = Vec::new();
        for (number, &dim) in self.fused.op(dot).attributes.ints(key).iter().enumerate() {
            let result = usize::try_from(dim).ok().and_then(|dim| map.results().get(dim)).ok_or(NO_STEP)?;
            // The scales of a dot are read at a quotient.
            let variable = result.as_var().or_else(|| result.as_binary()?.1.as_var()).ok_or(NO_STEP)?;
            let range = (variable as usize).checked_sub(map.num_dims()).ok_or(NO_STEP)?;
            if range >= map.num_ranges() {
                return Err(NO_STEP);
            }
            moved.push((range, first + number));
        }
        moved.sort_unstable();
        let ranges: Vec<usize> = moved.iter().map(|&(range, _)| range).collect();
        let steps = moved.iter().map(|&(_, dimension)| Expr::var(dimension));
        let results = (0..map.num_dims()).map(Expr::var).chain(steps).collect();
        let dims = IndexingMap::new(map.dims().to_vec(), Vec::new(), Vec::new(), results);
        Ok(dims.compose(&map.ranges_to_dims(&ranges)))
    }

    fn find(&self, op: OpId, wanted: &Composed, region: RegionId) -> Option<NodeId> {
        let nodes = self.known.get(&(region, op))?;
        nodes.iter().copied().find(|&id| {
            let node = &self.nodes[id as usize];
            node.map == wanted.map && node.runtime == wanted.runtime
        })
    }

    fn add(&mut self, op: OpId, composed: Composed, region: RegionId) -> Result<NodeId, Reason> {
        if self.nodes.len() >= MAX_NODES {
            return Err("more tiles than are followed");
        }
        let Composed { map, runtime } = composed;
        let tile = self.tile_of(&map)?;
        let id = self.nodes.len() as NodeId;
        let (operands, mut regions) = (Vec::new(), Vec::new());
        let mut of_operands = region;
        if is_dot(self.fused.op(op).opcode) {
            of_operands = self.add_region();
            regions.push(of_operands);
        }
        self.nodes.push(Node { op, tile, operands, region, regions, map, runtime });
        self.regions[region].push(id);
        self.known.entry((region, op)).or_default().push(id);
        self.open.push((id, of_operands));
        Ok(id)
    }

    /// The number of the tile that this map reads.
    fn tile_of(&mut self, map: &IndexingMap) -> Result<usize, Reason> {
        if let Some(node) = self.nodes.iter().rev().find(|node| node.map == *map) {
            return Ok(node.tile);
        }
        let tile = SymbolicTile::from_map(map).ok_or("an op whose operand is no tile")?;
        if let Some(known) = self.tiles.iter().position(|known| *known == tile) {
            return Ok(known);
        }
        self.tiles.push(tile);
        Ok(self.tiles.len() - 1)
    }

    fn add_region(&mut self) -> RegionId {
        self.regions.push(Vec::new());
        self.regions.len() - 1
    }
}

pub(super) fn is_dot(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dot | Opcode::ScaledDot)
}

/// The sizes of these dimensions of an operand.
fn sizes_of(op: &Op, operand: usize, dims: &[i64]) -> Option<Vec<i64>> {
    let shape = op.operand_shapes.get(operand)?.dims();
    dims.iter().map(|&dim| shape.get(usize::try_from(dim).ok()?).copied()).collect()
}

fn without_constraints(op: &Op, map: &IndexingMap) -> IndexingMap {
    let dims = op.shape.dims().iter().map(|&size| Variable::from_size(size)).collect();
    IndexingMap::new(dims, map.ranges().to_vec(), map.runtime().to_vec(), map.results().to_vec())
}

/// Whether tiles of dimensions of one element may be larger than these, as matrix units and masks need them.
/// Source: `ShouldDerivationSimplifyPointDimensions`.
fn keeps_dimensions_of_one(fused: &Fused) -> bool {
    let is_one = |sizes: Option<Vec<i64>>| sizes.is_some_and(|sizes| sizes.contains(&1));
    fused.ops().any(|(_, op)| match op.opcode {
        Opcode::Pad => true,
        Opcode::Concatenate => {
            let dims = op.attributes.ints(AttributeKey::Dimensions);
            (0..op.operand_shapes.len()).any(|operand| is_one(sizes_of(op, operand, dims)))
        }
        opcode if is_dot(opcode) => {
            let contracted = op.attributes.ints(AttributeKey::LhsContractingDims);
            is_one(sizes_of(op, 0, contracted))
                || (0..2).any(|side| is_one(sizes_of(op, side, &free_dims(op, side))))
        }
        _ => false,
    })
}

/// The dimensions of one side of a dot that are neither contracted nor batch dimensions.
pub(super) fn free_dims(op: &Op, side: usize) -> Vec<i64> {
    let [contracted, batch] = match side {
        0 => [AttributeKey::LhsContractingDims, AttributeKey::LhsBatchDims],
        _ => [AttributeKey::RhsContractingDims, AttributeKey::RhsBatchDims],
    };
    let is_other = |dim: &i64| [contracted, batch].iter().any(|&key| op.attributes.ints(key).contains(dim));
    let rank = op.operand_shapes.get(side).map_or(0, |shape| shape.dims().len()) as i64;
    (0..rank).filter(|dim| !is_other(dim)).collect()
}
