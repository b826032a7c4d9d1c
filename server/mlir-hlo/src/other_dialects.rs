//! Ops of other dialects that read their operands as an instruction of HLO does.
//!
//! Facts: the documentation of the dialects, mlir.llvm.org/docs/Dialects.

use ir::{
    AttributeKey as K, AttributeValue as Value, Attributes, ElementType, Opcode, Shape, is_elementwise,
};
use mlir::{OpId, Use};
use mlir_ops::{Linalg, Mixed, OpKind, OpText, SliceLists, Source};

use crate::hlo_op::HloOp;
use crate::not_in_hlo::NotInHlo;
use crate::op_table::row_of;
use crate::op_text::needed;
use crate::types::{element, has_dimensions_of, static_hlo_shape, stored_shape};

/// How many operands an op reads that makes each element from those at the same place: what it computes makes no
/// difference to what is read. `None` for other ops.
fn pointwise_operands(name: &str) -> Option<usize> {
    match name.split_once('.')? {
        ("chlo", op) if row_of(op).is_some_and(|row| !is_elementwise(row.opcode)) => None,
        ("chlo", op) => (op != "constant_like" && !op.starts_with("dynamic")).then_some(usize::MAX),
        ("sdy", "sharding_constraint" | "reshard") => Some(1),
        _ => match OpKind::of(name) {
            OpKind::Quantize => Some(1),
            OpKind::Integer(_) | OpKind::Elementwise(_) => Some(usize::MAX),
            _ => None,
        },
    }
}

/// The op of HLO that reads its operands as one of another dialect does; `None` where there is none, and for scalars, indices
/// and buffers that are not HLO's.
pub(crate) fn op_of_other_dialect(source: &Source<'_>, id: OpId) -> Option<HloOp> {
    let (parse, text, at) = (source.parse, source.text, source.parse.op(id).span.start);
    let name = parse.name(id, text);
    let operands: Vec<&Use> = parse.operands_of(id).take(pointwise_operands(name)?).collect();
    // Tensors of the other dialects get their extents from the ops that make them.
    let is_uniform = OpKind::of(name) == OpKind::Quantize;
    let may_be_unknown = is_uniform || name.starts_with("chlo.");
    let shape_of_type = |ty: &str| match may_be_unknown {
        true => stored_shape(source.resolved(ty, at)).ok(),
        false => static_hlo_shape(source.resolved(ty, at)).ok(),
    };
    let shape_of = |operand: &&Use| {
        let index = crate::to_hlo::pack_index(operand.span.of(text)) as usize;
        shape_of_type(&parse.type_of(operand.value?, index, text)?)
    };
    let shapes: Vec<Shape> = operands.iter().map(shape_of).collect::<Option<_>>()?;
    let [ty] = parse.types(&parse.op(id).result_types) else { return None };
    let result = shape_of_type(&parse.type_text(*ty, text)?)?;
    let names = operands.iter().map(|operand| operand.span.of(text).to_owned()).collect();
    let mut found = HloOp::of_operands(names, &shapes);
    let is_broadcasting = name.starts_with("chlo.broadcast_");
    // A dimension of unknown extent may be one of one element, which is repeated.
    let is_same = result.is_static() && shapes.iter().all(|shape| has_dimensions_of(shape, &result));
    let (opcode, attributes) = match pointwise(&shapes, &result) {
        Some(found) if is_same || !is_broadcasting => found,
        None if !is_broadcasting || shapes.is_empty() => return None,
        // Which op it is makes no difference.
        _ => {
            found.only_maps = true;
            let dimensions = OpText::of_any_length(source, id).list(&["broadcast_dimensions"]);
            (Opcode::Add, Attributes::default().with(K::Dimensions, dimensions.unwrap_or_default()))
        }
    };
    let all: Vec<_> = (0..shapes.len() as ir::OpId).collect();
    found.graph.root = found.graph.add(opcode, result, &all, attributes, "r");
    found.only_maps |= is_uniform;
    Some(found.with_unknown_extents())
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
pub(crate) fn exact(op: &OpText<'_>, given: usize, result: &Shape) -> Option<Result<Exact, NotInHlo>> {
    let of = |opcode: Opcode| Exact {
        opcode,
        operands: given.min(1),
        attributes: Attributes::default(),
        before: None,
    };
    let with = |opcode: Opcode, dimensions: Result<Vec<i64>, NotInHlo>| {
        Ok(Exact { attributes: Attributes::default().with(K::Dimensions, dimensions?), ..of(opcode) })
    };
    Some(match op.op {
        OpKind::Collapse | OpKind::Expand | OpKind::Reshape => Ok(of(Opcode::Reshape)),
        OpKind::Cast => Ok(of(Opcode::Copy)),
        OpKind::ExtractSlice if given == 1 => bounds(op).map(|(slices, sizes)| Exact {
            attributes: Attributes::default().with(K::Slice, slices),
            before: Some(sizes).filter(|sizes| result.dims() != sizes),
            ..of(Opcode::Slice)
        }),
        OpKind::ExtractSlice => Err("an offset, a size or a stride is not known".into()),
        OpKind::Concat => {
            let dimension = op.concat_dimension().ok_or("its dimension is not read".into());
            with(Opcode::Concatenate, dimension.map(|d| vec![d as i64]))
                .map(|exact| Exact { operands: given, ..exact })
        }
        OpKind::Linalg(Linalg::Transpose) => with(Opcode::Transpose, needed(op, &["permutation"])),
        OpKind::Linalg(Linalg::Broadcast) => {
            let kept =
                |added: Vec<i64>| (0..result.dims().len() as i64).filter(|d| !added.contains(d)).collect();
            with(Opcode::Broadcast, needed(op, &["dimensions"]).map(kept))
        }
        _ => return None,
    })
}

/// `[0:4:1], [1:3:1]`, and the sizes.
fn bounds(op: &OpText<'_>) -> Result<(Vec<[i64; 3]>, Vec<i64>), NotInHlo> {
    let lists = SliceLists::read(op, 1).and_then(|lists| {
        let known = |list: &[Mixed]| list.iter().map(Mixed::as_static).collect::<Option<Vec<i64>>>();
        Some((known(&lists.offsets)?, known(&lists.sizes)?, known(&lists.strides)?))
    });
    let (offsets, sizes, strides) = lists.ok_or("an offset, a size or a stride is not known")?;
    let mut each = Vec::new();
    for ((&from, &size), &by) in offsets.iter().zip(&sizes).zip(&strides) {
        let last = size.checked_sub(1).and_then(|n| n.checked_mul(by)).and_then(|n| n.checked_add(from));
        let limit = if size == 0 { Some(from) } else { last.and_then(|n| n.checked_add(1)) };
        each.push([from, limit.ok_or("its bounds are too large")?, by]);
    }
    Ok((each, sizes))
}

/// An instruction that reads its operands place by place, whatever it makes of them.
fn pointwise(shapes: &[Shape], result: &Shape) -> Option<(Opcode, Attributes)> {
    let kind = element(result);
    // Unknown extents are equal to those of the others.
    let fits = |shape: &Shape| match shape.is_static() && result.is_static() {
        true => has_dimensions_of(shape, result),
        false => shape.dims().len() == result.dims().len(),
    };
    if shapes.is_empty() || !shapes.iter().all(fits) {
        return None;
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
            return Some((Opcode::Compare, Attributes::default().with(K::Direction, equal)));
        }
        [p, a, b] if is_pred(element(p)) && element(a) == element(b) && element(a) == kind => Opcode::Select,
        [_, _, _] if same => Opcode::Clamp,
        _ => return None,
    };
    Some((opcode, Attributes::default()))
}
