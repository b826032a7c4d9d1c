//! The ops of a fusion with the tiles that one block needs of them, in regions: the body of a loop over the
//! contracted dimension, the branch of a concatenation's operand.
//! Source: `codegen/tiling/experimental/tiled_hlo.cc`.

use gpu::{Fused, operands_first};
use indexing_map::Expr;
use ir::{OpId, Opcode};
use rustc_hash::FxHashMap;

use crate::Reason;
use crate::propagate;
use crate::space::TilingSpace;
use crate::tile::{DimTile, Tile};

/// A [`TiledOp`], by number.
pub(crate) type TiledId = u32;

/// The maximum number of tiled ops of a fusion: an op has one per region that needs it.
const MAX_TILED_OPS: usize = 1 << 14;

/// The maximum depth of regions in regions.
const MAX_DEPTH: usize = 64;

/// An op and one tile of its result.
#[derive(Debug)]
pub(crate) struct TiledOp {
    pub op: OpId,
    pub tile: Tile,
    /// Empty for an operand of the fusion.
    pub operands: Vec<TiledId>,
    pub regions: Vec<Region>,
}

/// Ops that are computed together, operands before their users.
#[derive(Debug)]
pub(crate) struct Region {
    pub ops: Vec<TiledId>,
    pub roots: Vec<TiledId>,
}

/// All tiled ops of a fusion.
pub(crate) struct TiledFusion {
    pub ops: Vec<TiledOp>,
    pub body: Region,
    /// The op that computes each runtime offset that tiles use.
    pub offsets: FxHashMap<usize, TiledId>,
}

impl TiledFusion {
    /// Derives the tiles of all ops that the fusion's result needs, or XLA's reason why an op has none.
    pub(crate) fn of(space: &TilingSpace, fused: &Fused) -> Result<TiledFusion, Reason> {
        let mut roots = Vec::with_capacity(fused.outputs.len());
        for &output in &fused.outputs {
            let root = fused.roots[output];
            let tile: Option<Tile> = (0..fused.root_shape(output).dims().len())
                .map(|at| Some(DimTile::of_dimension(space, space.dimension(root, at)?)))
                .collect();
            roots.push((root, tile.ok_or("a result without dimensions of its own")?));
        }
        let mut builder = Builder { space, fused, ops: Vec::new(), offsets: FxHashMap::default() };
        let body = builder.region(roots, 0)?;
        let Builder { mut ops, offsets, .. } = builder;
        for op in &mut ops {
            cancel::tick();
            for dim in &mut op.tile {
                *dim = dim.simplified(space);
            }
        }
        let mut fusion = TiledFusion { ops, body, offsets };
        fusion.hoist(space);
        fusion.sort(fused);
        Ok(fusion)
    }

    /// Moves what is the same in all steps of a loop out of it. Observed in XLA's output.
    fn hoist(&mut self, space: &TilingSpace) {
        let mut around: Vec<Option<TiledId>> = vec![None; self.ops.len()];
        for (id, op) in self.ops.iter().enumerate() {
            for &inner in op.regions.iter().flat_map(|region| &region.ops) {
                around[inner as usize] = Some(id as TiledId);
            }
        }
        // Ops of inner regions have higher numbers.
        for id in (0..self.ops.len()).rev() {
            cancel::tick();
            let counters: Vec<usize> = space.loops_of(self.ops[id].op).collect();
            if counters.is_empty() || self.ops[id].regions.len() != 1 {
                continue;
            }
            let region = std::mem::take(&mut self.ops[id].regions[0].ops);
            let (invariant, kept) = self.split(region, &counters);
            for &moved in &invariant {
                around[moved as usize] = around[id];
            }
            self.ops[id].regions[0].ops = kept;
            match around[id] {
                None => self.body.ops.extend(invariant),
                Some(outer) => {
                    let regions = &mut self.ops[outer as usize].regions;
                    if let Some(region) =
                        regions.iter_mut().find(|region| region.ops.contains(&(id as TiledId)))
                    {
                        region.ops.extend(invariant);
                    }
                }
            }
        }
    }

    /// The ops that do not depend on the counters, and the others. Both keep their order.
    fn split(&self, region: Vec<TiledId>, counters: &[usize]) -> (Vec<TiledId>, Vec<TiledId>) {
        let uses = |expr: &Expr| counters.iter().any(|&counter| expr.uses_var(counter as u32));
        let order =
            operands_first(self.ops.len(), region.iter().copied(), |id| &self.ops[id as usize].operands);
        let mut varies = vec![false; self.ops.len()];
        for id in order {
            let op = &self.ops[id as usize];
            let dims = op.tile.iter().flat_map(|dim| [&dim.offset, &dim.size, &dim.stride, &dim.upper_bound]);
            varies[id as usize] = !op.regions.is_empty()
                || dims.into_iter().any(uses)
                || op.operands.iter().any(|&operand| varies[operand as usize]);
        }
        region.into_iter().partition(|&id| !varies[id as usize])
    }

    /// Orders the ops of each region, operands first.
    fn sort(&mut self, fused: &Fused) {
        let operands = self.ops.iter().map(|op| {
            let mut operands = op.operands.clone();
            // The starts of a slice are computed before what it reads.
            if fused.op(op.op).opcode == Opcode::DynamicSlice && !operands.is_empty() {
                operands.rotate_left(1);
            }
            operands
        });
        let operands: Vec<Vec<TiledId>> = operands.collect();
        let sort = |region: &mut Region| {
            let order =
                operands_first(operands.len(), region.roots.iter().copied(), |id| &operands[id as usize]);
            let mut place = vec![usize::MAX; operands.len()];
            for (at, &id) in order.iter().enumerate() {
                place[id as usize] = at;
            }
            region.ops.sort_by_key(|&id| place[id as usize]);
        };
        sort(&mut self.body);
        self.ops.iter_mut().flat_map(|op| &mut op.regions).for_each(sort);
    }
}

struct Builder<'a> {
    space: &'a TilingSpace,
    fused: &'a Fused,
    ops: Vec<TiledOp>,
    offsets: FxHashMap<usize, TiledId>,
}

impl Builder<'_> {
    fn region(&mut self, roots: Vec<(OpId, Tile)>, depth: usize) -> Result<Region, Reason> {
        if depth > MAX_DEPTH {
            return Err("loops and branches nested too deep".into());
        }
        // The only cells in the keys are hints that do not take part in equality.
        #[allow(clippy::mutable_key_type)]
        let mut known: FxHashMap<(OpId, Tile), TiledId> = FxHashMap::default();
        let mut region = Region { ops: Vec::new(), roots: Vec::new() };
        let mut work = Vec::new();
        // XLA reads an operand that is a result apart from the same operand of an op.
        #[allow(clippy::mutable_key_type)]
        let mut of_results: FxHashMap<(OpId, Tile), TiledId> = FxHashMap::default();
        for (op, tile) in roots {
            let is_operand = depth == 0 && !self.fused.is_inside(op);
            let (id, is_new) = self.find(if is_operand { &mut of_results } else { &mut known }, op, tile)?;
            region.roots.push(id);
            if is_new {
                region.ops.push(id);
                work.push(id);
            }
        }
        while let Some(id) = work.pop() {
            cancel::tick();
            let op = self.ops[id as usize].op;
            if !self.fused.is_inside(op) || self.fused.operands(op).is_empty() {
                continue;
            }
            let tiles = propagate::to_operands(self.space, self.fused, op, &self.ops[id as usize].tile)?;
            let operands: Vec<OpId> = self.fused.operands(op).iter().map(|&of| self.array(of)).collect();
            if tiles.len() != operands.len() {
                return Err(format!("no tiles of some operands of {}", self.fused.op(op).opcode).into());
            }
            let mut resolved = vec![None; operands.len()];
            for group in self.grouped(op, operands.len()) {
                let roots = group.iter().map(|&at| (operands[at], tiles[at].clone())).collect();
                let inner = self.region(roots, depth + 1)?;
                for (&at, &root) in group.iter().zip(&inner.roots) {
                    resolved[at] = Some(root);
                }
                self.ops[id as usize].regions.push(inner);
            }
            for (at, (&operand, tile)) in operands.iter().zip(tiles).enumerate() {
                if resolved[at].is_some() {
                    continue;
                }
                let (of, is_new) = self.find(&mut known, operand, tile)?;
                resolved[at] = Some(of);
                if is_new {
                    region.ops.push(of);
                    work.push(of);
                }
                if let Some(offset) = self.space.offset(op, at) {
                    self.offsets.entry(offset).or_insert(of);
                }
            }
            self.ops[id as usize].operands = resolved.into_iter().flatten().collect();
        }
        Ok(region)
    }

    /// The operand itself, or the first operand of the fusion that is the same array.
    fn array(&self, op: OpId) -> OpId {
        let number = self.fused.op(op).parameter.filter(|_| !self.fused.is_inside(op));
        let same = number.and_then(|number| self.fused.same_as.get(number as usize)).copied();
        let same = same.and_then(|same| self.fused.graph.parameter(same as u32));
        same.unwrap_or(op)
    }

    #[allow(clippy::mutable_key_type)]
    fn find(
        &mut self,
        known: &mut FxHashMap<(OpId, Tile), TiledId>,
        op: OpId,
        tile: Tile,
    ) -> Result<(TiledId, bool), Reason> {
        if let Some(&id) = known.get(&(op, tile.clone())) {
            return Ok((id, false));
        }
        if self.ops.len() >= MAX_TILED_OPS {
            return Err(format!("more than {MAX_TILED_OPS} tiles of its ops").into());
        }
        let id = self.ops.len() as TiledId;
        self.ops.push(TiledOp { op, tile: tile.clone(), operands: Vec::new(), regions: Vec::new() });
        known.insert((op, tile), id);
        Ok((id, true))
    }

    /// Groups of operands that are computed in regions of the op.
    fn grouped(&self, op: OpId, operands: usize) -> Vec<Vec<usize>> {
        match self.fused.op(op).opcode {
            Opcode::Dot | Opcode::ScaledDot => vec![(0..operands).collect()],
            Opcode::Concatenate => (0..operands).map(|at| vec![at]).collect(),
            Opcode::Reduce | Opcode::Scan if self.space.loops_of(op).next().is_some() => {
                vec![(0..operands / 2).collect()]
            }
            _ => Vec::new(),
        }
    }
}
