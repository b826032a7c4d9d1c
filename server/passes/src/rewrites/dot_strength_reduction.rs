//! `dot-strength-reduction`: computes products of vectors, and small ones of matrices and vectors, as multiplications and a
//! reduction.
//!
//! Source: XLA `backends/gpu/transforms/dot_strength_reduction.cc`.

use std::sync::Arc;

use ir::{ArrayShape, ElementType, ElementTypeExt as _, Layout, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, every, replace};
use crate::dimensions::{permuted, with_element, without_dimensions};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// Products with more elements of matrices are left to matrix units.
const TOO_LARGE: i64 = 10_000_000;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut refused = None;
    every(run, |run, id| {
        if run.module[id].opcode() != Opcode::Dot || run.module[id].has_control_dependencies() {
            return;
        }
        match is_reduced(run.module, id) {
            Ok(true) => expand(run, id),
            Ok(false) => {}
            Err(what) => _ = refused.get_or_insert(what),
        }
    });
    refused.map_or(Ok(()), |what| Err(Stop::Unsupported(what)))
}

/// The dimensions of an operand: batch, others, contracting, each sorted.
fn dimensions(module: &Module, id: InstructionId, side: usize) -> [Vec<i64>; 3] {
    let attributes = module[id].attributes();
    let (batch, contracting) = match side {
        0 => (AttributeKey::LhsBatchDims, AttributeKey::LhsContractingDims),
        _ => (AttributeKey::RhsBatchDims, AttributeKey::RhsContractingDims),
    };
    let (batch, contracting) = (attributes.ints(batch).to_vec(), attributes.ints(contracting).to_vec());
    let rank = module[module.operand(id, side)].dims().len() as i64;
    let others = (0..rank).filter(|dim| !batch.contains(dim) && !contracting.contains(dim)).collect();
    [batch, others, contracting]
}

/// Source: `DotStrengthReduction::InstructionMatchesPattern`.
fn is_reduced(module: &Module, id: InstructionId) -> Result<bool, String> {
    let sides = [dimensions(module, id, 0), dimensions(module, id, 1)];
    let [left, right] = [0, 1].map(|side| sides[side][1].is_empty());
    let element = |id: InstructionId| module[id].shape().element();
    let all = [id, module.operand(id, 0), module.operand(id, 1)];
    let is_s32 = all.iter().all(|&id| element(id) == Some(ElementType::S32)) && sides[1][2] == [1];
    if !left && !right && !is_s32 {
        return Ok(false);
    }
    if left && right {
        return Ok(true);
    }
    let product = |side: usize, of: usize| {
        let dims = module[module.operand(id, side)].dims();
        sides[side][of].iter().fold(1i64, |product, &dim| product.saturating_mul(dims[dim as usize]))
    };
    let elements = product(0, 1).saturating_add(product(1, 1)).saturating_mul(product(0, 2));
    if elements < TOO_LARGE {
        return Ok(true);
    }
    let takes = |element: ElementType| {
        matches!(
            element,
            ElementType::F16
                | ElementType::F32
                | ElementType::Bf16
                | ElementType::F8e4m3fn
                | ElementType::F8e5m2
        )
    };
    // Source: `CanTritonHandleGEMM`.
    match all.iter().all(|&id| element(id).is_some_and(takes)) {
        true => Ok(false),
        false => Err(format!(
            "%{} is a large product of a vector; whether Triton computes it is not known for its types",
            module[id].name()
        )),
    }
}

fn expand(run: &mut Run<'_>, id: InstructionId) {
    let Some(element) = run.module[id].shape().element() else { return };
    let mut sides = [dimensions(run.module, id, 0), dimensions(run.module, id, 1)];
    let sizes = |run: &Run<'_>, side: usize, dims: &[i64]| -> Vec<i64> {
        let all = run.module[run.module.operand(id, side)].dims();
        dims.iter().map(|&dim| all[dim as usize]).collect()
    };
    let others = [sizes(run, 0, &sides[0][1]), sizes(run, 1, &sides[1][1])];
    let count = sides[0][2].len();
    let mut operands = [run.module.operand(id, 0), run.module.operand(id, 1)];
    for (side, operand) in operands.iter_mut().enumerate() {
        *operand = convert(run, id, *operand, element);
        let order = sides[side].concat();
        if !order.is_sorted() {
            let shape = permuted(run.module[*operand].shape(), &order);
            let new = NewOp::new(Opcode::Transpose, shape, &[*operand]).dimensions(&order);
            *operand = add_like(run, id, new);
        }
        let at = sides[side][0].len() + if side == 0 { sides[side][1].len() } else { 0 };
        *operand = insert(run, id, *operand, at, &others[1 - side]);
        sides[side].iter_mut().for_each(Vec::clear);
    }
    let shape = run.module[operands[0]].shape().clone();
    let mut result = add_like(run, id, NewOp::new(Opcode::Multiply, shape.clone(), &operands));
    if count > 0 {
        // Source: `GetGemmAccumulatorType`.
        let is_small = element.is_floating() && element.bits().is_some_and(|bits| bits <= 32);
        let wide = if is_small { ElementType::F32 } else { element };
        let rank = shape.dims().len() as i64;
        let dims: Vec<i64> = (rank - count as i64..rank).collect();
        let zero = add(run, id, NewOp::constant(Shape::array(wide, &[]), "0"));
        let adds = adder(run.module, wide);
        let of = with_element(&without_dimensions(&shape, &dims), wide);
        result = convert(run, id, result, wide);
        let new = NewOp::new(Opcode::Reduce, of, &[result, zero])
            .dimensions(&dims)
            .calling(AttributeKey::ToApply, &[adds]);
        result = add_like(run, id, new);
    }
    result = convert(run, id, result, element);
    replace(run, id, result, "multiplies and reduces instead of multiplying matrices");
}

/// An instruction with the metadata of the dot.
fn add_like(run: &mut Run<'_>, dot: InstructionId, new: NewOp) -> InstructionId {
    let new = add(run, dot, new);
    run.module.inherit_metadata(new, dot);
    new
}

fn convert(
    run: &mut Run<'_>,
    dot: InstructionId,
    value: InstructionId,
    element: ElementType,
) -> InstructionId {
    if run.module[value].shape().element() == Some(element) {
        return value;
    }
    let shape = with_element(run.module[value].shape(), element);
    add_like(run, dot, NewOp::new(Opcode::Convert, shape, &[value]))
}

/// Broadcasts a value to dimensions of these sizes, from place `at` on.
fn insert(
    run: &mut Run<'_>,
    dot: InstructionId,
    value: InstructionId,
    at: usize,
    sizes: &[i64],
) -> InstructionId {
    if sizes.is_empty() {
        return value;
    }
    let shape = run.module[value].shape().clone();
    let rank = shape.dims().len();
    let mut dims = shape.dims().to_vec();
    dims.splice(at..at, sizes.iter().copied());
    let kept: Vec<i64> =
        (0..rank).map(|dim| (if dim < at { dim } else { dim + sizes.len() }) as i64).collect();
    let shape = inserted(&shape, dims, at, sizes.len());
    add_like(run, dot, NewOp::new(Opcode::Broadcast, shape, &[value]).dimensions(&kept))
}

/// The shape with new dimensions from place `at` on: right before the dimension that they push back in memory, or the fastest ones.
/// Source: `ShapeUtil::InsertDimensionsAtIndex`.
fn inserted(shape: &Shape, dims: Vec<i64>, at: usize, count: usize) -> Shape {
    let Some(array) = shape.as_array() else { return shape.clone() };
    let (first, count) = (at as i64, count as i64);
    let new = (first..first + count).rev();
    let mut order: Vec<i64> = if at == array.dims.len() { new.clone().collect() } else { Vec::new() };
    for dim in array.minor_to_major() {
        let dim = dim as i64;
        order.push(if dim < first { dim } else { dim + count });
        if dim == first {
            order.extend(new.clone());
        }
    }
    let layout = Layout { minor_to_major: order, ..Layout::row_major(0) };
    Shape::Array(Arc::new(ArrayShape { dims, layout: Some(layout), ..ArrayShape::clone(array) }))
        .without_default_layouts()
}

fn adder(module: &mut Module, element: ElementType) -> ComputationId {
    let computation = module.add_computation("scalar_add_computation");
    let scalar = || Shape::array(element, &[]);
    let left = module.add_named(computation, NewOp::parameter(scalar(), 0), "scalar_lhs");
    let right = module.add_named(computation, NewOp::parameter(scalar(), 1), "scalar_rhs");
    let root = module.add(computation, NewOp::new(Opcode::Add, scalar(), &[left, right]));
    module.set_root(computation, root);
    computation
}
