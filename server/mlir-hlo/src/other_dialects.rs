//! Ops of other dialects that read their operands as an instruction of HLO does.
//!
//! Facts: the documentation of the dialects, mlir.llvm.org/docs/Dialects.

use std::sync::Arc;

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, ElementType, Graph, Op, Opcode, Shape};
use mlir::{OpId, Use, integer, integers};

use crate::environment::{Environment, Slice};
use crate::hlo_op::HloOp;
use crate::not_in_hlo::NotInHlo;
use crate::op_text::OpText;
use crate::to_hlo::push_dot_lists;
use crate::types::{element, extents, has_dimensions_of, number, static_hlo_shape, stored_shape};

/// How attributes and text of an op become those of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// Nothing.
    Plain(Opcode),
    /// `permutation = [1, 0]`
    Permutation,
    /// `%x[0, 1] [4, 4] [1, 1]`
    ExtractSlice,
    /// `low[1, 0] high[0, 2]`
    TensorPad,
    /// `dim(0) %a, %b`
    TensorConcat,
    /// Its list names the dimensions that are added.
    LinalgBroadcast,
    LinalgReduce,
    /// A product: dimensions of both sides that are batches, and those of the left and of the right that are contracted.
    Contraction(&'static [i64], [i64; 2]),
    /// Each element from those at the same place: which op it is makes no difference to what is read.
    Pointwise,
}

/// The recipe, and how many of the operands are read.
pub(crate) fn other_op(name: &str) -> Option<(Recipe, usize)> {
    use Recipe::*;
    let (dialect, op) = name.split_once('.')?;
    Some(match (dialect, op) {
        ("tensor", "collapse_shape" | "expand_shape" | "reshape") => (Plain(Opcode::Reshape), 1),
        ("tensor", "cast") => (Plain(Opcode::Copy), 1),
        ("tensor", "extract_slice") => (ExtractSlice, 1),
        ("tensor", "pad") => (TensorPad, 1),
        ("tensor", "concat") => (TensorConcat, usize::MAX),
        ("linalg", "transpose") => (Permutation, 1),
        ("linalg", "broadcast") => (LinalgBroadcast, 1),
        ("linalg", "reduce") => (LinalgReduce, 1),
        ("linalg", "matmul") => (Contraction(&[], [1, 0]), 2),
        ("linalg", "batch_matmul") => (Contraction(&[0], [2, 1]), 2),
        ("linalg", "matvec") => (Contraction(&[], [1, 0]), 2),
        ("linalg", "batch_matvec") => (Contraction(&[0], [2, 1]), 2),
        ("linalg", "vecmat" | "dot") => (Contraction(&[], [0, 0]), 2),
        (
            "linalg",
            "abs" | "ceil" | "copy" | "erf" | "exp" | "floor" | "log" | "negf" | "reciprocal" | "round"
            | "rsqrt" | "sqrt" | "square" | "tanh",
        ) => (Pointwise, 1),
        ("linalg", "add" | "div" | "div_unsigned" | "max" | "min" | "mul" | "powf" | "sub") => (Pointwise, 2),
        ("arith", "constant") => return None,
        ("arith" | "math", _) => (Pointwise, usize::MAX),
        ("chlo", "constant" | "constant_like" | "top_k" | "scan" | "ragged_dot") => return None,
        ("chlo", _) if !op.starts_with("dynamic") => (Pointwise, usize::MAX),
        ("stablehlo" | "mhlo", "uniform_quantize" | "uniform_dequantize") => (Pointwise, 1),
        ("sdy", "sharding_constraint" | "reshard") => (Plain(Opcode::Copy), 1),
        _ => return None,
    })
}

/// The op of HLO that reads its operands as one of another dialect does.
pub(crate) fn op_of_recipe(
    slice: Slice<'_>,
    environment: &Environment,
    id: OpId,
    recipe: Recipe,
    read: usize,
) -> Result<HloOp, NotInHlo> {
    let (parse, text) = (slice.parse, slice.text);
    let mut operands: Vec<&Use> = parse.operands_of(id).collect();
    if recipe == Recipe::ExtractSlice && operands.len() > 1 {
        return Err("an offset, a size or a stride is not known".into());
    }
    operands.truncate(read);
    // Tensors of the other dialects get their extents from the ops that make them, and a broadcasting op repeats
    // dimensions that are 1.
    let name = parse.name(id, text);
    let is_uniform = name.contains(".uniform_");
    let may_be_unknown = is_uniform || name.starts_with("chlo.") && !name.starts_with("chlo.broadcast_");
    let shape_of_type = |ty: &str| match may_be_unknown {
        true => stored_shape(environment.resolved(ty)),
        false => static_hlo_shape(environment.resolved(ty)),
    };
    let shape_of = |operand: &&Use| {
        let name = operand.span.of(text);
        let index = crate::to_hlo::pack_index(name) as usize;
        let ty = operand.value.and_then(|value| parse.type_of(value, index, text));
        let ty = ty.ok_or_else(|| NotInHlo::unknown_type(name))?;
        shape_of_type(&ty)
    };
    let shapes: Vec<Shape> = operands.iter().map(shape_of).collect::<Result<_, _>>()?;
    let types = parse.types(&parse.op(id).result_types);
    let [ty] = types else { return Err("it has not one result".into()) };
    let ty = parse.type_text(*ty, text).ok_or(NotInHlo::Type("the type of a result is not known".into()))?;
    let result = shape_of_type(&ty)?;
    let names = operands.iter().map(|operand| operand.span.of(text).to_owned()).collect();
    let mut found = HloOp::of_operands(names, &shapes);
    let op = OpText::new(slice, environment, id);
    found.graph.root = match recipe {
        Recipe::ExtractSlice => extract_slice(op, &mut found, result)?,
        Recipe::TensorPad => {
            // The region computes the padding value: any value reads the same elements.
            let attributes = Attributes::default().with(K::Padding, tensor_padding(op)?);
            let zero = zero(&mut found.graph, element(&result));
            add(&mut found, Opcode::Pad, result, &[0, zero], attributes)?
        }
        Recipe::LinalgReduce => linalg_reduce(op, &mut found, result)?,
        Recipe::Pointwise => {
            let (opcode, attributes) = pointwise(&shapes, &result)?;
            let all: Vec<_> = (0..shapes.len() as ir::OpId).collect();
            add(&mut found, opcode, result, &all, attributes)?
        }
        _ => {
            let (opcode, attributes) = plain(op, recipe, &result)?;
            let all: Vec<_> = (0..shapes.len() as ir::OpId).collect();
            add(&mut found, opcode, result, &all, attributes)?
        }
    };
    found.only_maps |= is_uniform;
    Ok(found.with_unknown_extents())
}

/// Adds an op.
///
/// # Errors
///
/// Where an operand is missing.
fn add(
    found: &mut HloOp,
    opcode: Opcode,
    shape: Shape,
    operands: &[ir::OpId],
    attributes: Attributes,
) -> Result<ir::OpId, NotInHlo> {
    match operands.iter().all(|&id| (id as usize) < found.graph.ops.len()) {
        true => Ok(found.graph.add(opcode, shape, operands, attributes, "r")),
        false => Err("it has no operand".into()),
    }
}

/// An op of another dialect as an instruction that computes the same, and does not only read alike.
pub(crate) struct Exact {
    pub opcode: Opcode,
    /// How many of the operands the instruction takes, the first ones.
    pub operands: usize,
    pub attributes: Attributes,
    /// Extents before dimensions of one element are dropped, where some are.
    pub before: Option<Vec<i64>>,
}

/// Returns `None` where there is no such instruction. `given` is the number of operands.
pub(crate) fn exact(op: OpText<'_>, given: usize, result: &Shape) -> Option<Result<Exact, NotInHlo>> {
    let (recipe, operands) = other_op(op.parse.name(op.id, op.text))?;
    let operands = operands.min(given);
    let found = match recipe {
        Recipe::Plain(_) | Recipe::Permutation | Recipe::TensorConcat | Recipe::LinalgBroadcast => {
            plain(op, recipe, result).map(|(opcode, attributes)| (opcode, attributes, None))
        }
        Recipe::ExtractSlice if given == 1 => bounds(op).map(|(slices, sizes)| {
            let attributes = Attributes::default().with(K::Slice, slices);
            (Opcode::Slice, attributes, Some(sizes).filter(|sizes| result.dims() != sizes))
        }),
        Recipe::ExtractSlice => Err("an offset, a size or a stride is not known".into()),
        _ => return None,
    };
    Some(found.map(|(opcode, attributes, before)| Exact { opcode, operands, attributes, before }))
}

/// The opcode, and what it takes from the attributes of the op.
fn plain(op: OpText<'_>, recipe: Recipe, result: &Shape) -> Result<(Opcode, Attributes), NotInHlo> {
    let dimensions = |list: Vec<i64>| Attributes::default().with(K::Dimensions, list);
    Ok(match recipe {
        Recipe::Plain(opcode) => (opcode, Attributes::default()),
        Recipe::Permutation => (Opcode::Transpose, dimensions(op.needed(&["permutation"])?)),
        Recipe::TensorConcat => {
            let custom = || op.body().split_once("dim(")?.1.split_once(')')?.0.trim().parse().ok();
            let dimension = op.attribute(&["dim"]).and_then(integer).or_else(custom);
            (Opcode::Concatenate, dimensions(vec![dimension.ok_or("its dimension is not read")?]))
        }
        Recipe::LinalgBroadcast => {
            let added = op.needed(&["dimensions"])?;
            let rank = result.dims().len() as i64;
            (Opcode::Broadcast, dimensions((0..rank).filter(|d| !added.contains(d)).collect()))
        }
        Recipe::Contraction(batch, [left, right]) => {
            let mut attributes = Attributes::default();
            push_dot_lists(&mut attributes, [batch.to_vec(), vec![left], batch.to_vec(), vec![right]]);
            (Opcode::Dot, attributes)
        }
        _ => return Err(NotInHlo::no_instruction("HLO has no such instruction")),
    })
}

/// `[0:4:1], [1:3:1]`, and the sizes.
fn bounds(op: OpText<'_>) -> Result<(Vec<[i64; 3]>, Vec<i64>), NotInHlo> {
    let body = op.body();
    let clauses = body.split_once(':').map_or(body, |(front, _)| front);
    let mut lists = clauses.split('[').skip(1).filter_map(|part| integers(&format!("[{part}")));
    let (offsets, sizes, strides) = match op.ints(&["static_offsets"]) {
        Some(offsets) => (offsets, op.needed(&["static_sizes"])?, op.needed(&["static_strides"])?),
        None => match (lists.next(), lists.next(), lists.next()) {
            (Some(offsets), Some(sizes), Some(strides)) => (offsets, sizes, strides),
            _ => return Err("an offset, a size or a stride is not known".into()),
        },
    };
    let mut each = Vec::new();
    for ((&from, &size), &by) in offsets.iter().zip(&sizes).zip(&strides) {
        let last = size.checked_sub(1).and_then(|n| n.checked_mul(by)).and_then(|n| n.checked_add(from));
        let limit = if size == 0 { Some(from) } else { last.and_then(|n| n.checked_add(1)) };
        each.push([from, limit.ok_or("its bounds are too large")?, by]);
    }
    Ok((each, sizes))
}

/// Dimensions of one element that the result does not have are dropped after the slice.
fn extract_slice(op: OpText<'_>, found: &mut HloOp, result: Shape) -> Result<ir::OpId, NotInHlo> {
    let (slices, sizes) = bounds(op)?;
    let operand = found.graph.ops.first().ok_or("it has no operand")?.shape.clone();
    let attributes = Attributes::default().with(K::Slice, slices);
    if extents(&result)? == sizes {
        return add(found, Opcode::Slice, result, &[0], attributes);
    }
    let mut fused = Graph { is_complete: true, ..Graph::default() };
    fused.push(Op::parameter(0, operand), Vec::new(), "a".to_owned());
    let whole = Shape::array(element(&result), &sizes);
    let slice = fused.add(Opcode::Slice, whole, &[0], attributes, "b");
    fused.root = fused.add(Opcode::Reshape, result.clone(), &[slice], Attributes::default(), "c");
    Ok(found.fuse("f", fused, result, &[0]))
}

fn tensor_padding(op: OpText<'_>) -> Result<Vec<[i64; 3]>, NotInHlo> {
    let body = op.body();
    let list = |key: &str| {
        let (_, rest) = body.split_once(key)?;
        integers(&format!("[{}]", rest.trim_start().strip_prefix('[')?.split_once(']')?.0))
    };
    let missing = "its padding is not known";
    let low = op.ints(&["static_low"]).or_else(|| list("low")).ok_or(missing)?;
    let high = op.ints(&["static_high"]).or_else(|| list("high")).ok_or(missing)?;
    Ok(low.iter().zip(&high).map(|(&low, &high)| [low, high, 0]).collect())
}

fn linalg_reduce(op: OpText<'_>, found: &mut HloOp, result: Shape) -> Result<ir::OpId, NotInHlo> {
    let kind = element(&found.graph.ops.first().ok_or("it has no operand")?.shape);
    let dimensions = op.needed(&["dimensions"])?;
    let opcode = if kind == ElementType::Pred { Opcode::Or } else { Opcode::Add };
    let scalar = Shape::array(kind, &[]);
    let mut sum = Graph { is_complete: true, ..Graph::default() };
    for (number, name) in [(0, "a"), (1, "b")] {
        sum.push(Op::parameter(number, scalar.clone()), Vec::new(), name.to_owned());
    }
    sum.root = sum.add(opcode, scalar, &[0, 1], Attributes::default(), "c");
    found.callees.insert("f".to_owned(), Arc::new(sum));
    let zero = zero(&mut found.graph, kind);
    let attributes = Attributes::default()
        .with(K::Dimensions, dimensions)
        .with(K::ToApply, Value::Computation("f".to_owned()));
    add(found, Opcode::Reduce, result, &[0, zero], attributes)
}

fn zero(graph: &mut Graph, kind: ElementType) -> ir::OpId {
    graph.push(Op::constant(number(kind, "0"), Shape::array(kind, &[])), Vec::new(), "z".to_owned())
}

/// An instruction that reads its operands place by place, whatever it makes of them.
fn pointwise(shapes: &[Shape], result: &Shape) -> Result<(Opcode, Attributes), NotInHlo> {
    let kind = element(result);
    // Unknown extents are equal to those of the others.
    let fits = |shape: &Shape| match shape.is_static() && result.is_static() {
        true => has_dimensions_of(shape, result),
        false => shape.dims().len() == result.dims().len(),
    };
    if shapes.is_empty() || !shapes.iter().all(fits) {
        return Err("its operands are not of one shape".into());
    }
    let same = shapes.iter().all(|shape| element(shape) == kind);
    let is_pred = |kind: ElementType| kind == ElementType::Pred;
    let opcode = match shapes {
        [_] if same => Opcode::Copy,
        [_] => Opcode::Convert,
        [_, _] if same && is_pred(kind) => Opcode::And,
        [_, _] if same => Opcode::Add,
        [a, b] if element(a) == element(b) && is_pred(kind) => {
            let equal = Value::Word("EQ".to_owned());
            return Ok((Opcode::Compare, Attributes::default().with(K::Direction, equal)));
        }
        [p, a, b] if is_pred(element(p)) && element(a) == element(b) && element(a) == kind => Opcode::Select,
        [_, _, _] if same => Opcode::Clamp,
        _ => return Err("its operands are of several types".into()),
    };
    Ok((opcode, Attributes::default()))
}
