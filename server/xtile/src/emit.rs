//! From tiled ops to a tile program, op by op as XLA's emitter writes it.
//! Source: `codegen/xtile/codegen/experimental_fusion_emitter.cc`.

mod combiner;
mod concatenate;
mod contraction;
mod elementwise;
mod movement;
mod offsets;
mod packed;
mod reduce_precision;
mod reduction;
mod scan;

use codegen::Constant;
use gpu::{Fused, FusionAnalysis};
use indexing::Callees;
use ir::{ElementTypeExt, OpId, Opcode, is_elementwise};
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use crate::Reason;
use crate::program::{Arithmetic, Block, Doubt, Kind, Memory, Op, Program, Type, ValueId, signless};
use crate::schedule::Schedule;
use crate::space::TilingSpace;
use crate::tile::{static_sizes, static_strides};
use crate::tiled::{TiledFusion, TiledId, TiledOp};

pub(crate) struct Emission<'a> {
    analysis: &'a FusionAnalysis,
    callees: &'a Callees<'a>,
    space: &'a TilingSpace,
    tiled: &'a TiledFusion,
    schedule: &'a Schedule,
    values: Vec<Type>,
    /// The open blocks, the innermost last.
    open: Vec<Block>,
    of_tiled: FxHashMap<TiledId, ValueId>,
    /// Per sequential dimension whose loop is open: the counter, and the number of steps.
    counters: FxHashMap<usize, (ValueId, i64)>,
    block_number: ValueId,
    /// The number of the tile among those of the block; that of the block if it has one tile.
    tile_number: ValueId,
    /// The argument that is the first result.
    first_result: usize,
    /// How many blocks are open around the ops of a tile.
    depth_of_tiles: usize,
    origin: Option<OpId>,
    doubts: Vec<Doubt>,
}

/// Emits the program of a fusion that is cut into tiles.
pub(crate) fn emit(
    name: String,
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
    space: &TilingSpace,
    tiled: &TiledFusion,
    schedule: &Schedule,
) -> Result<Program, Reason> {
    packed::check_uses(&analysis.fused)?;
    let arguments = arguments(analysis)?;
    let mut values: Vec<Type> = arguments.iter().map(|memory| Type::Scalar(memory.element)).collect();
    let block_number = values.len() as ValueId;
    values.push(Type::Index);
    let mut emission = Emission {
        analysis,
        callees,
        space,
        tiled,
        schedule,
        values,
        open: vec![Block::default()],
        of_tiled: FxHashMap::default(),
        counters: FxHashMap::default(),
        block_number,
        tile_number: block_number,
        first_result: arguments.len() - tiled.body.roots.len(),
        depth_of_tiles: 1,
        origin: None,
        doubts: Vec::new(),
    };
    let tiles = emission.open_tiles();
    emission.depth_of_tiles = emission.open.len();
    emission.whole_dimensions();
    emission.ops(&tiled.body.ops)?;
    for (number, &root) in tiled.body.roots.iter().enumerate() {
        emission.insert_result(number, root)?;
    }
    if let Some(bounds) = tiles {
        emission.close_tiles(bounds);
    }
    let Emission { values, mut open, doubts, .. } = emission;
    let body = open.pop().unwrap_or_default();
    Ok(Program { name, arguments, blocks: schedule.blocks, values, body, doubts })
}

/// The operands of the fusion, then its results.
fn arguments(analysis: &FusionAnalysis) -> Result<Vec<Memory>, Reason> {
    let fused = &analysis.fused;
    let parameters = fused.graph.parameters().into_iter().map(|id| {
        let id = id.ok_or("a parameter that is not in the computation")?;
        memory(&fused.op(id).shape)
    });
    let results = fused.outputs.iter().map(|&root| memory(fused.root_shape(root)));
    parameters.chain(results).collect()
}

fn memory(shape: &ir::Shape) -> Result<Memory, Reason> {
    let array = shape.as_array().ok_or("an argument that is no array")?;
    let element = checked_element(array.element)?;
    let dims = packed::stored_sizes(shape, array.dims.clone())?;
    Ok(Memory { element: stored(element), dims, minor_to_major: array.minor_to_major() })
}

/// The type in memory. Source: `StorageType`, `codegen/xtile/codegen/emitter_helpers.cc`.
fn stored(element: ElementType) -> ElementType {
    match element {
        ElementType::Pred | ElementType::F4e2m1fn => ElementType::S8,
        other => other,
    }
}

/// Refuses what XLA's emitter has no type for. Source: `PrimitiveTypeToMlirType`.
fn checked_element(element: ElementType) -> Result<ElementType, Reason> {
    use ElementType::*;
    match element {
        F64 | F32 | F16 | Bf16 | S64 | U64 | S32 | U32 | S16 | U16 | S8 | U8 | S4 | U4 | Pred | F8e5m2
        | F8e4m3fn | F8e8m0fnu | F4e2m1fn => Ok(element),
        F8e5m2fnuz | F8e4m3fnuz => Err(format!("{} is not supported on this GPU.", element.name()).into()),
        _ => Err(format!("This type is not supported yet: {}", element.name()).into()),
    }
}

impl<'a> Emission<'a> {
    /// Counters of dimensions that are reduced in one step: zero.
    fn whole_dimensions(&mut self) {
        for (number, dimension) in self.space.dimensions.iter().enumerate() {
            let opcode = self.analysis.fused.op(dimension.op).opcode;
            let is_reduced = matches!(opcode, Opcode::Reduce | Opcode::Scan);
            if dimension.is_sequential && is_reduced && dimension.tile >= dimension.size {
                let zero = self.index(0);
                self.counters.insert(number, (zero, 1));
            }
        }
    }

    /// Emits ops of a region into the open block.
    fn ops(&mut self, ops: &[TiledId]) -> Result<(), Reason> {
        for &id in ops {
            cancel::tick();
            let outer = self.origin.replace(self.tiled_op(id).op);
            let value = self.op(id)?;
            self.origin = outer;
            self.of_tiled.insert(id, value);
        }
        Ok(())
    }

    /// Notes that XLA's code for an op gives other values. Once per op, however many tiles of it there are.
    fn doubt(&mut self, op: OpId, why: String) {
        let doubt = Doubt { op, why };
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    fn op(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let fused = &self.analysis.fused;
        let of = self.tiled_op(id).op;
        let op = fused.op(of);
        if !fused.is_inside(of) {
            return self.extract(id);
        }
        match op.opcode {
            Opcode::Dot => return self.dot(id),
            Opcode::ScaledDot => return self.scaled_dot(id),
            Opcode::Reduce => return self.reduce(id),
            Opcode::Scan => return self.scan(id),
            Opcode::Concatenate => return self.concatenate(id),
            _ => {}
        }
        let operands: Vec<ValueId> = (self.tiled_op(id).operands.iter())
            .map(|&operand| self.value(operand))
            .collect::<Result<_, _>>()?;
        let first = || operands.first().copied().ok_or_else(|| Reason::from("an op without its operand"));
        match op.opcode {
            Opcode::Bitcast => self.bitcast(id, first()?),
            Opcode::Broadcast => self.broadcast(id, first()?),
            Opcode::Constant => self.constant(id),
            Opcode::DynamicSlice | Opcode::Slice => first(),
            Opcode::Iota => self.iota(id),
            Opcode::Pad => self.pad(id, &operands),
            Opcode::Reshape => {
                let sizes = self.stored_sizes(id)?;
                self.reshape(first()?, sizes)
            }
            Opcode::Transpose => self.transpose(id, first()?),
            opcode if is_elementwise(opcode) => self.elementwise(of, op, &operands),
            _ => Err(format!("Unsupported operation {}", self.instruction(of)).into()),
        }
    }

    /// Reads the tile of an operand of the fusion.
    fn extract(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let parameter = self.hlo(id);
        let element = parameter.shape.element().ok_or("an operand that is no array")?;
        let argument = parameter.parameter.ok_or("an operand without a number")? as usize;
        let offsets = self.offsets(id)?;
        let strides = static_strides(&self.tiled_op(id).tile).ok_or("strides that depend on the block")?;
        let offsets = self.stored_offsets(&parameter.shape, &self.tiled_op(id).tile, offsets)?;
        let ty = Type::Tile(stored(element), self.stored_sizes(id)?);
        let read = self.push(Kind::Extract { argument, strides }, offsets, ty);
        // Pairs of 4-bit floats stay bytes.
        Ok(if element == ElementType::Pred { self.cast(read, element) } else { read })
    }

    /// Writes the tile of a result. The loop of a scan writes that of its own steps.
    fn insert_result(&mut self, number: usize, root: TiledId) -> Result<(), Reason> {
        let is_scan_in_steps =
            self.hlo(root).opcode == Opcode::Scan && !self.tiled_op(root).regions.is_empty();
        if is_scan_in_steps && self.open.len() == self.depth_of_tiles {
            return Ok(());
        }
        let argument = self.first_result + number;
        let written = match self.values[argument] {
            Type::Scalar(element) => element,
            _ => return Err("a result that is no array".into()),
        };
        let outer = self.origin.replace(self.tiled_op(root).op);
        let mut result = self.value(root)?;
        if self.element(result) != Some(written) {
            result = self.cast(result, written);
        }
        let offsets = self.offsets(root)?;
        let strides = static_strides(&self.tiled_op(root).tile).ok_or("strides that depend on the block")?;
        let kind = Kind::Insert { argument, strides };
        self.statement(kind, std::iter::once(result).chain(offsets).collect());
        self.origin = outer;
        Ok(())
    }

    fn instruction(&self, op: OpId) -> String {
        instruction(&self.analysis.fused, op)
    }

    fn tiled_op(&self, id: TiledId) -> &'a TiledOp {
        &self.tiled.ops[id as usize]
    }

    /// The op of the fusion that a tiled op computes a tile of.
    fn hlo(&self, id: TiledId) -> &'a ir::Op {
        self.analysis.fused.op(self.tiled_op(id).op)
    }

    /// The value that a tiled op computed.
    fn value(&self, id: TiledId) -> Result<ValueId, Reason> {
        self.of_tiled.get(&id).copied().ok_or_else(|| "a tile that is used before it is computed".into())
    }

    fn sizes(&self, id: TiledId) -> Result<Vec<i64>, Reason> {
        static_sizes(&self.tiled_op(id).tile).ok_or_else(|| {
            let name = self.analysis.fused.name(self.tiled_op(id).op);
            format!("the tile of %{name} has a size that depends on the block").into()
        })
    }

    /// Empty where they depend on the block.
    fn strides(&self, id: TiledId) -> Vec<i64> {
        static_strides(&self.tiled_op(id).tile).unwrap_or_default()
    }

    fn element(&self, value: ValueId) -> Option<ElementType> {
        self.values[value as usize].element()
    }

    fn sizes_of(&self, value: ValueId) -> Vec<i64> {
        self.values[value as usize].sizes().to_vec()
    }

    fn new_value(&mut self, ty: Type) -> ValueId {
        self.values.push(ty);
        (self.values.len() - 1) as ValueId
    }

    fn push(&mut self, kind: Kind, operands: Vec<ValueId>, ty: Type) -> ValueId {
        self.push_with(kind, operands, Vec::new(), ty)
    }

    fn push_with(&mut self, kind: Kind, operands: Vec<ValueId>, blocks: Vec<Block>, ty: Type) -> ValueId {
        let result = self.new_value(ty);
        let op = Op { kind, operands, results: vec![result], blocks, origin: self.origin };
        self.add(op);
        result
    }

    fn statement(&mut self, kind: Kind, operands: Vec<ValueId>) {
        self.add(Op { kind, operands, results: Vec::new(), blocks: Vec::new(), origin: self.origin });
    }

    fn add(&mut self, op: Op) {
        if let Some(block) = self.open.last_mut() {
            block.ops.push(op);
        }
    }

    fn index(&mut self, value: i64) -> ValueId {
        self.push(Kind::IndexConstant(value), Vec::new(), Type::Index)
    }

    fn number(&mut self, element: ElementType, value: i64) -> ValueId {
        self.constant_of(Constant::of_int(element, value), Type::Scalar(element))
    }

    /// A tile whose elements are all this number.
    fn filled(&mut self, element: ElementType, value: i64, sizes: Vec<i64>) -> ValueId {
        self.constant_of(Constant::of_int(element, value), Type::Tile(element, sizes))
    }

    /// Unsigned constants are made without a sign. Source: `CreateConst`, `codegen/xtile/codegen/emitter_helpers.cc`.
    fn constant_of(&mut self, mut constant: Constant, ty: Type) -> ValueId {
        constant.element = signless(constant.element);
        let plain = self.push(Kind::Constant(constant), Vec::new(), ty.with_element(constant.element));
        match self.values[plain as usize] == ty {
            true => plain,
            false => self.push(Kind::Unsigned, vec![plain], ty),
        }
    }

    /// A number, or a tile without dimensions, in all elements of a tile.
    fn splat(&mut self, value: ValueId, sizes: Vec<i64>) -> ValueId {
        let tile = match self.values[value as usize] {
            Type::Scalar(element) => {
                self.push(Kind::FromElement, vec![value], Type::Tile(element, Vec::new()))
            }
            _ => value,
        };
        self.broadcast_to(tile, sizes, Vec::new())
    }

    fn broadcast_to(&mut self, value: ValueId, sizes: Vec<i64>, dims: Vec<usize>) -> ValueId {
        let element = self.element(value).unwrap_or(ElementType::S32);
        self.push(Kind::Broadcast { dims }, vec![value], Type::Tile(element, sizes))
    }

    /// The value as another type; itself if it has that type.
    fn cast(&mut self, value: ValueId, to: ElementType) -> ValueId {
        match self.values[value as usize].clone() {
            Type::Index => self.push(Kind::IndexCast, vec![value], Type::Scalar(to)),
            Type::Scalar(from) | Type::Tile(from, _) if from == to => value,
            Type::Scalar(_) => self.push(Kind::Convert, vec![value], Type::Scalar(to)),
            Type::Tile(_, sizes) => self.push(Kind::Convert, vec![value], Type::Tile(to, sizes)),
        }
    }

    fn arithmetic(&mut self, op: Arithmetic, a: ValueId, b: ValueId) -> ValueId {
        let ty = match (op, self.values[a as usize].clone()) {
            (Arithmetic::Compare(_), Type::Tile(_, sizes)) => Type::Tile(ElementType::Pred, sizes),
            (Arithmetic::Compare(_), _) => Type::Scalar(ElementType::Pred),
            (_, ty) => ty,
        };
        self.push(Kind::Arithmetic(op), vec![a, b], ty)
    }

    fn iota_of(&mut self, size: i64) -> ValueId {
        self.push(Kind::Iota { dim: 0 }, Vec::new(), Type::Tile(ElementType::S32, vec![size]))
    }

    /// Starts a block with these arguments.
    fn open(&mut self, arguments: Vec<ValueId>) {
        self.open.push(Block { arguments, ..Block::default() });
    }

    fn close(&mut self, yields: Vec<ValueId>) -> Block {
        let mut block = self.open.pop().unwrap_or_default();
        block.yields = yields;
        block
    }
}

/// `%r = f32[384,500] logistic(%p0)`
pub(crate) fn instruction(fused: &Fused, op: OpId) -> String {
    let operands: Vec<String> = fused.operands(op).iter().map(|&of| format!("%{}", fused.name(of))).collect();
    let what = fused.op(op);
    format!("%{} = {} {}({})", fused.name(op), what.shape, what.opcode, operands.join(", "))
}

fn is_integer(element: ElementType) -> bool {
    !element.is_floating() && !element.is_complex()
}
