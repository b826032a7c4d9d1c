//! `splitk-rewriter`: splits the contracted dimension of dots, whose parts are multiplied in parallel and then added up, where a cost
//! model says that it pays.
//!
//! Source: XLA `backends/gpu/transforms/splitk_rewriter.cc`.

use gpu::{Device, Platform};
use ir::{ArrayShape, ElementType, ElementTypeExt as _, Layout, Shape, is_elementwise};
use std::sync::Arc;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::visit;
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};
use crate::shapes::of_element;

/// The rows and columns that the model takes for the tile of a block.
const TILE: i64 = 128;

/// The most parts that are looked at.
const MAX_PARTS: i64 = 2048;

/// Contracted parts start at multiples of so many bits.
const ALIGNMENT: i64 = 128;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        visit(run, computation, |run, id, _| {
            if run.module[id].opcode() != Opcode::Dot || run.module[id].has_control_dependencies() {
                return;
            }
            let Some(dot) = Dot::of(run.module, id) else { return };
            let parts = dot.best_parts(run.options.device);
            if parts > 1
                && let Some(new) = split(run.module, id, &dot, parts)
            {
                run.changed(id, format!("computed in {parts} parts, which are added up"));
                run.module.replace(id, new);
            }
        });
    }
    Ok(())
}

/// The sizes of a dot.
struct Dot {
    batch: i64,
    rows: i64,
    columns: i64,
    contracted: i64,
    /// Bits of an element of each operand, before elementwise operations that are fused.
    bits: [i64; 2],
    sum: ElementType,
    sum_bits: i64,
    result_bits: i64,
    flops: f64,
}

impl Dot {
    /// `None` for dots that are never split.
    fn of(module: &Module, id: InstructionId) -> Option<Dot> {
        use AttributeKey::*;
        let attributes = module[id].attributes();
        let [left, right] = [module.operand(id, 0), module.operand(id, 1)];
        let one = |key| attributes.ints(key).len() == 1;
        let is_s32 = |id: InstructionId| module[id].shape().element() == Some(ElementType::S32);
        if !one(LhsContractingDims) || !one(RhsContractingDims) || is_s32(left) || is_s32(right) {
            return None;
        }
        let product = |of: InstructionId, dims: &[i64]| {
            dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(*module[of].dims().get(dim as usize)?))
        };
        let all = |of: InstructionId| product(of, &(0..module[of].dims().len() as i64).collect::<Vec<_>>());
        let batch = product(left, attributes.ints(LhsBatchDims))?;
        let contracted = product(left, attributes.ints(LhsContractingDims))?;
        let around = batch.checked_mul(contracted).filter(|&n| n > 0)?;
        let element = module[id].shape().element()?;
        let algorithm = attributes.text(Algorithm).unwrap_or_default();
        let sum = sum_type(algorithm, element);
        Some(Dot {
            batch,
            rows: all(left)? / around,
            columns: all(right)? / around,
            contracted,
            bits: [stored_bits(module, left)?, stored_bits(module, right)?],
            sum,
            sum_bits: bits(sum)?.max(8),
            result_bits: bits(element)?,
            flops: match algorithm {
                "dot_bf16_bf16_f32_x3" | "dot_tf32_tf32_f32_x3" => 12.0,
                "dot_bf16_bf16_f32_x6" => 20.0,
                "dot_bf16_bf16_f32_x9" => 28.0,
                _ => 2.0,
            },
        })
    }

    /// The number of parts with the least cost. Source: `ChooseSplitK`.
    fn best_parts(&self, device: &Device) -> i64 {
        let candidates = std::iter::successors(Some(1i64), |&parts| Some(parts * 2));
        let costs =
            candidates.take_while(|&parts| parts <= MAX_PARTS).map(|parts| (parts, self.cost(parts, device)));
        let least = costs.reduce(|best, other| if other.1 < best.1 { other } else { best });
        least.map_or(1, |(parts, _)| parts)
    }

    /// Source: `EstimateGemmCostAfterSplitK`.
    fn cost(&self, parts: i64, device: &Device) -> f64 {
        let Platform::Cuda { major, .. } = device.platform else { return 0.0 };
        let (of_memory, of_reduction, of_launch) = match major {
            10.. => (0.084_886_3, 189.711, 1.215_63e8),
            9 => (0.194_136, 193.1384, 4.36e7),
            _ => (0.066_695_5, 467.815, 5.653_07e7),
        };
        let ceil = |a: i64, b: i64| a.saturating_add(b - 1) / b;
        let (rows, columns, batch) = (self.rows as f64, self.columns as f64, self.batch as f64);
        let contracted = ceil(self.contracted, parts) as f64;
        let batches = batch * parts as f64;
        let (tile_rows, tile_columns) = (self.rows.min(TILE) as f64, self.columns.min(TILE) as f64);
        let tiles = batches * ceil(self.rows, TILE) as f64 * ceil(self.columns, TILE) as f64;
        let slots = device.cores as f64 * ((TILE * TILE) as f64 / (tile_rows * tile_columns));
        let waves = (tiles / slots).max(1.0);
        let compute = self.flops * tile_rows * tile_columns * contracted * waves * 100.0;
        let bytes = |elements: f64, bits: i64| elements * bits as f64 / 8.0;
        let whole = self.contracted as f64 * batch;
        let read = bytes(rows * whole, self.bits[0]) + bytes(columns * whole, self.bits[1]);
        let written =
            bytes(rows * columns * batches, if parts > 1 { self.sum_bits } else { self.result_bits });
        let product = compute.max((read + written) * of_memory);
        if parts == 1 {
            return product;
        }
        let added =
            bytes(batches * rows * columns, self.sum_bits) + bytes(batch * rows * columns, self.result_bits);
        product + of_launch + added * of_reduction
    }

    /// The contracted size that has `parts` aligned parts. Source: `GetPaddedK`.
    fn padded(&self, parts: i64) -> Option<i64> {
        let bits = ALIGNMENT.min(self.bits[0]).min(self.bits[1]).max(1);
        let multiple = parts.checked_mul(ALIGNMENT)? / bits;
        self.contracted.checked_add(multiple - 1).map(|size| size / multiple * multiple)
    }
}

fn bits(element: ElementType) -> Option<i64> {
    element.bits().map(i64::from)
}

/// Bits of an element of what elementwise operations make the value from. Source: `GetDotDimensions`.
fn stored_bits(module: &Module, mut id: InstructionId) -> Option<i64> {
    while is_elementwise(module[id].opcode())
        && let &[operand] = module[id].operands()
    {
        id = operand;
    }
    let element = module[id].shape().element()?;
    Some(if element == ElementType::Pred { 8 } else { bits(element)? })
}

/// The type in which products are added. Source: `GetGemmAccumulatorType`, `service/gpu/matmul_utils.cc`.
fn sum_type(algorithm: &str, result: ElementType) -> ElementType {
    match algorithm {
        "dot_f16_f16_f16" => ElementType::F16,
        "dot_f64_f64_f64" => ElementType::F64,
        "dot_bf16_bf16_bf16" => ElementType::Bf16,
        _ if algorithm.ends_with("_f32") || algorithm.contains("_f32_") => ElementType::F32,
        _ if result.is_floating() && bits(result).is_some_and(|bits| bits <= 32) => ElementType::F32,
        _ => result,
    }
}

/// The sum of the dots of the parts. Source: `SplitKDimensionOfDot`.
fn split(module: &mut Module, id: InstructionId, dot: &Dot, parts: i64) -> Option<InstructionId> {
    use AttributeKey::*;
    let padded = dot.padded(parts)?;
    let mut attributes = module[id].attributes().clone();
    let keys = [(LhsBatchDims, LhsContractingDims), (RhsBatchDims, RhsContractingDims)];
    let mut operands = Vec::new();
    let mut place = None;
    for (side, (batch_key, contracting_key)) in keys.into_iter().enumerate() {
        let at = *attributes.ints(contracting_key).first()?;
        let mut batch: Vec<i64> =
            attributes.ints(batch_key).iter().map(|&dim| if dim >= at { dim + 1 } else { dim }).collect();
        // At the place at which the left operand has it.
        let place = *place.get_or_insert_with(|| batch.iter().filter(|&&dim| dim < at).count());
        batch.insert(place.min(batch.len()), at);
        attributes.set(batch_key, batch);
        attributes.set(contracting_key, vec![at + 1]);
        operands.push(split_operand(module, module.operand(id, side), at as usize, parts, padded)?);
    }
    let place = place? as i64;
    let mut dims = module[id].shape().dims().to_vec();
    dims.insert(place as usize, parts);
    let of_sum = with_element(module[id].shape(), dot.sum);
    let shape = of_element(&of_sum, &dims)?;
    let computation = module[id].parent();
    let new = NewOp { attributes, ..NewOp::new(Opcode::Dot, shape, &operands) };
    let product = module.add(computation, new);
    module.attributes_mut(product).remove(Sharding);
    let zero = zero(module, computation, dot.sum);
    let adder = adder(module, &format!("{}.reduce_sub_computation", module[product].name()), dot.sum);
    let reduce = NewOp::new(Opcode::Reduce, of_sum.clone(), &[product, zero])
        .dimensions(&[place])
        .calling(ToApply, &[adder]);
    let reduce = module.add(computation, reduce);
    module.inherit_metadata(reduce, id);
    if module[id].shape().element() == Some(dot.sum) {
        return Some(reduce);
    }
    Some(module.add(computation, NewOp::new(Opcode::Convert, module[id].shape().clone(), &[reduce])))
}

/// The operand with dimension `at` in so many parts, and zeros at its end.
fn split_operand(
    module: &mut Module,
    mut operand: InstructionId,
    at: usize,
    parts: i64,
    padded: i64,
) -> Option<InstructionId> {
    let computation = module[operand].parent();
    let array = module[operand].shape().as_array()?.clone();
    if array.dims[at] != padded {
        let zero = zero(module, computation, array.element);
        let mut padding = vec![[0; 3]; array.rank()];
        padding[at][1] = padded - array.dims[at];
        let mut dims = array.dims.clone();
        dims[at] = padded;
        let shape = Shape::Array(Arc::new(ArrayShape { dims, ..array.clone() }));
        let pad = NewOp::new(Opcode::Pad, shape, &[operand, zero])
            .with(AttributeKey::Padding, ir::AttributeValue::Triples(padding));
        operand = module.add(computation, pad);
    }
    let mut dims = array.dims.clone();
    dims.splice(at..=at, [parts, padded / parts]);
    let order = array.minor_to_major().into_iter().flat_map(|dim| {
        let inner = (dim >= at).then_some(dim as i64 + 1);
        inner.into_iter().chain((dim <= at).then_some(dim as i64))
    });
    let order = order.collect();
    let layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(0));
    let layout = Some(Layout { minor_to_major: order, ..layout });
    let shape = Shape::Array(Arc::new(ArrayShape { dims, layout, ..array })).without_default_layouts();
    Some(module.add(computation, NewOp::new(Opcode::Reshape, shape, &[operand])))
}

fn zero(module: &mut Module, computation: ComputationId, element: ElementType) -> InstructionId {
    module.add(computation, NewOp::constant(Shape::array(element, &[]), zero_literal(element)))
}

fn zero_literal(element: ElementType) -> &'static str {
    match element {
        ElementType::Pred => "false",
        _ if element.is_complex() => "(0, 0)",
        _ => "0",
    }
}

/// A computation that adds two numbers.
fn adder(module: &mut Module, name: &str, element: ElementType) -> ComputationId {
    let computation = module.add_computation(name);
    let scalar = Shape::array(element, &[]);
    let left = module.add_named(computation, NewOp::parameter(scalar.clone(), 0), "lhs");
    let right = module.add_named(computation, NewOp::parameter(scalar.clone(), 1), "rhs");
    let sum = module.add(computation, NewOp::new(Opcode::Add, scalar, &[left, right]));
    module.set_root(computation, sum);
    computation
}
