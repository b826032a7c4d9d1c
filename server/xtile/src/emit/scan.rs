//! Prefix sums: of one tile, or in a loop over tiles that carries the sum so far and writes each tile.
//! Source: `EmitScan`, `codegen/xtile/codegen/experimental_fusion_emitter.cc`; the dimension of size 1 of what is carried as in
//! XLA's output.

use std::sync::Arc;

use gpu::Fused;
use ir::{AttributeKey, Graph, OpId, Opcode};
use syntax::hlo::ElementType;

use super::Emission;
use crate::Reason;
use crate::program::{Arithmetic, Block, Kind, Op, Type, ValueId};
use crate::space::scan_dimension;
use crate::tiled::TiledId;

/// A scan with what is the same for its steps.
struct Scan {
    dim: usize,
    is_reverse: bool,
    combiner: Arc<Graph>,
    element: ElementType,
    extents: Vec<i64>,
}

impl Emission<'_> {
    pub(super) fn scan(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let of = self.tiled_op(id).op;
        let op = self.analysis.fused.op(of);
        let &[input, init] = &self.tiled_op(id).operands[..] else {
            return Err(
                "Only single-input, single-carry scan operations are currently supported in Triton emission."
                    .into(),
            );
        };
        let called = op.attributes.computation(AttributeKey::ToApply).and_then(self.callees);
        let combiner = called.ok_or("a scan by an unknown computation")?;
        check_sums(&combiner)?;
        check_users(&self.analysis.fused, of)?;
        let shape = op.operand_shapes.first().ok_or("a scan without an operand")?;
        let scan = Scan {
            dim: scan_dimension(op).ok_or("a scan without its dimension")?,
            is_reverse: op.attributes.bool(AttributeKey::IsReverse) == Some(true),
            combiner: combiner.clone(),
            element: shape.element().ok_or("a scan of something that is no array")?,
            extents: shape.dims().to_vec(),
        };
        self.doubt_launch(of);
        if let [output, carried] = combiner.operands[combiner.root as usize][..]
            && output != carried
        {
            self.doubt(
                of,
                "XLA carries the output of the scan's computation, not its second result".to_owned(),
            );
        }
        match self.tiled_op(id).regions.is_empty() {
            true => self.scan_whole(&scan, input, init),
            false => self.scan_in_loop(&scan, id, input, init),
        }
    }

    fn scan_whole(&mut self, scan: &Scan, input: TiledId, init: TiledId) -> Result<ValueId, Reason> {
        let mut value = self.value(input)?;
        let init = self.carried(scan, input, init)?;
        let neutral = self.number(scan.element, 0);
        let sizes = self.sizes_of(value);
        let mut bounds = sizes.clone();
        let (Some(bound), Some(&extent)) = (bounds.get_mut(scan.dim), scan.extents.get(scan.dim)) else {
            return Err("a scan without its dimension".into());
        };
        *bound = extent;
        if bounds != sizes {
            let ty = self.values[value as usize].clone();
            value = self.push(Kind::Mask { bounds }, vec![value, neutral], ty);
        }
        self.scanned(scan, value, init).map(|[outputs, _]| outputs)
    }

    fn scan_in_loop(
        &mut self,
        scan: &Scan,
        id: TiledId,
        input: TiledId,
        init: TiledId,
    ) -> Result<ValueId, Reason> {
        let of = self.tiled_op(id).op;
        let init = self.carried(scan, input, init)?;
        let dimension = self.space.dimension(of, scan.dim).ok_or("a scan without its dimension")?;
        let steps = self.space.dimensions[dimension].tiles();
        let bounds = [self.index(0), self.index(steps), self.index(1)];
        let ty = self.values[init as usize].clone();
        let (counter, carried) = (self.new_value(Type::Index), self.new_value(ty.clone()));
        self.open(vec![counter, carried]);
        // In reverse, the last tile comes first.
        let counter = match scan.is_reverse {
            true => {
                let last = self.index(steps - 1);
                self.push(Kind::Arithmetic(Arithmetic::Subtract), vec![last, counter], Type::Index)
            }
            false => counter,
        };
        self.counters.insert(dimension, (counter, steps));
        for region in &self.tiled_op(id).regions {
            self.ops(&region.ops)?;
        }
        let value = self.value(input)?;
        let step = self.cast(counter, ElementType::S32);
        let neutral = self.number(scan.element, 0);
        let value = self.masked(input, value, step, scan.dim, neutral)?;
        let [outputs, carries] = self.scanned(scan, value, carried)?;
        self.of_tiled.insert(id, outputs);
        let roots = self.tiled.body.roots.iter().enumerate();
        for (number, &root) in roots.filter(|(_, root)| **root == id) {
            self.insert_result(number, root)?;
        }
        let body = self.close(vec![carries]);
        let operands = bounds.into_iter().chain([init]).collect();
        Ok(self.push_with(Kind::For, operands, vec![body], ty))
    }

    /// The initial value with the scanned dimension, of size 1.
    fn carried(&mut self, scan: &Scan, input: TiledId, init: TiledId) -> Result<ValueId, Reason> {
        let init = self.value(init)?;
        let mut sizes = self.sizes(input)?;
        *sizes.get_mut(scan.dim).ok_or("a scan without its dimension")? = 1;
        self.reshape(init, sizes)
    }

    /// The sums of a tile, and the last one of them.
    fn scanned(&mut self, scan: &Scan, value: ValueId, init: ValueId) -> Result<[ValueId; 2], Reason> {
        let point = Type::Tile(scan.element, Vec::new());
        let arguments = vec![self.new_value(point.clone()), self.new_value(point)];
        self.open(arguments.clone());
        let values = self.scope(&scan.combiner, &arguments);
        let yields = values.as_ref().map_or_else(
            |_| Vec::new(),
            |values| {
                let results = &scan.combiner.operands[scan.combiner.root as usize];
                results.iter().filter_map(|&of| values[of as usize]).collect()
            },
        );
        let combiner: Block = self.close(yields);
        values?;
        let outputs = self.new_value(self.values[value as usize].clone());
        let carries = self.new_value(self.values[init as usize].clone());
        let kind = Kind::Scan { dim: scan.dim, is_reverse: scan.is_reverse };
        let (operands, results) = (vec![value, init], vec![outputs, carries]);
        self.add(Op { kind, operands, results, blocks: vec![combiner], origin: self.origin });
        Ok([outputs, carries])
    }

    /// XLA launches a block for each pair of a dimension and a tile size, in order, although the scanned dimension has no tile
    /// size of its own.
    fn doubt_launch(&mut self, of: OpId) {
        let Some(launch) = self.analysis.stated_launch() else { return };
        if let Ok(launched) = launch.blocks()
            && launched != self.schedule.blocks
        {
            let blocks = self.schedule.blocks;
            let why = format!("XLA launches {launched} blocks, but the tiles of the scan need {blocks}");
            self.doubt(of, why);
        }
    }
}

fn check_sums(combiner: &Graph) -> Result<(), Reason> {
    let root = combiner.root as usize;
    let is_sum = |&of: &OpId| combiner.ops[of as usize].opcode == Opcode::Add;
    match combiner.ops.get(root).map(|op| op.opcode) {
        Some(Opcode::Tuple) if combiner.operands[root].iter().all(is_sum) => Ok(()),
        _ => Err("Only additive scan operations are currently supported in Triton emission.".into()),
    }
}

/// Nothing but the result may be computed from the sums.
fn check_users(fused: &Fused, scan: OpId) -> Result<(), Reason> {
    let users = &fused.users[scan as usize];
    if users.is_empty() {
        return Err("Scan as the fusion root instruction is not yet supported in Triton emission.".into());
    }
    for &user in users {
        let op = fused.op(user);
        if op.opcode != Opcode::GetTupleElement || op.attributes.int(AttributeKey::Index) != Some(0) {
            return Err("Only extracting scan output (tuple index 0) is currently supported.".into());
        }
        let is_result =
            |&of: &OpId| fused.op(of).opcode == Opcode::Tuple && fused.users[of as usize].is_empty();
        if !fused.users[user as usize].iter().all(is_result) {
            return Err("Epilogue fusion for scan is not supported yet.".into());
        }
    }
    Ok(())
}
