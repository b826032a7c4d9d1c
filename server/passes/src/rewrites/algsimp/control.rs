//! Rules for control flow, tuples, sorts, maps, gathers, scatters and collectives.
//! Source: `HandleConditional`, `HandleGetTupleElement`, `HandleSort`, `HandleMap`, `HandleGather`, `HandleScatter`,
//! `HandleReverse`, `HandleAllGather`, `HandleAllToAll`, `HandleAllReduceOrReduceScatter`.

use ir::{AttributeKey, ElementType, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::UnitChanges;
use crate::module::NewOp;

/// A choice by a converted truth value is one by the truth value.
pub(super) fn conditional(r: &mut Rewriter<'_, '_>, id: Id) {
    let &[index, first, second] = r.operands(id) else { return };
    let Some(pred) = r.operand_of(index, Opcode::Convert) else { return };
    let &[if_false, if_true] = r.callees(id, AttributeKey::BranchComputations) else { return };
    if r.element(pred) != ElementType::Pred {
        return;
    }
    let new = NewOp::new(Opcode::Conditional, r.shape(id).clone(), &[pred, second, first])
        .calling(AttributeKey::TrueComputation, &[if_true])
        .calling(AttributeKey::FalseComputation, &[if_false]);
    let new = r.add(new, id);
    r.replace(id, new, "branches by the truth value");
}

pub(super) fn tuple_element(r: &mut Rewriter<'_, '_>, id: Id) {
    let tuple = r.operand(id, 0);
    let index = r.attributes(id).int(AttributeKey::Index).and_then(|index| usize::try_from(index).ok());
    if !r.is(tuple, Opcode::Tuple) {
        return;
    }
    if let Some(&element) = index.and_then(|index| r.operands(tuple).get(index)) {
        r.replace_if_same(id, element, "takes what was put into the tuple");
    }
}

pub(super) fn sort(r: &mut Rewriter<'_, '_>, id: Id) {
    let operands = r.operands(id).to_vec();
    let Some((&operand, &dim)) = operands.first().zip(r.dimensions(id).first()) else { return };
    let is_single = r.dims(operand).get(dim as usize).is_some_and(|&size| size <= 1);
    if r.count(operand) != 0 && !is_single {
        return;
    }
    let new = match operands[..] {
        [operand] => operand,
        _ => r.plain(Opcode::Tuple, r.shape(id).clone(), &operands, id),
    };
    r.replace(id, new, "sorts at most one element");
}

pub(super) fn map(r: &mut Rewriter<'_, '_>, id: Id) {
    let Some((root, parameters)) = r.applied(id) else { return };
    if let Some(number) = r.parameter_number(root) {
        if let Some(&operand) = r.operands(id).get(number as usize) {
            r.replace_if_same(id, operand, "applies what returns an operand");
        }
        return;
    }
    if r.is_constant(root) && r.is_scalar(root) {
        let scalar = r.copy_of(root, r.shape(root).clone(), &[]);
        let new = match r.is_scalar(id) {
            true => scalar,
            false => r.broadcast(r.shape(id).clone(), scalar, &[], id),
        };
        r.replace(id, new, "applies what returns a constant");
        return;
    }
    if !ir::is_elementwise(r.opcode(root)) || parameters.is_empty() {
        return;
    }
    let operand = |&number: &u32| r.operands(id).get(number as usize).copied();
    let Some(operands) = parameters.iter().map(operand).collect::<Option<Vec<_>>>() else { return };
    let new = r.copy_of(root, r.shape(id).clone(), &operands);
    r.replace(id, new, "applies one operation");
}

pub(super) fn gather(r: &mut Rewriter<'_, '_>, id: Id) {
    let (operand, indices) = (r.operand(id, 0), r.operand(id, 1));
    let shape = r.shape(id).clone();
    if r.count(operand) == 0 {
        let zero = r.scalar_like(id, 0.0);
        r.replace(id, zero, "reads an empty array");
        return;
    }
    if r.dims(operand).iter().all(|&size| size == 1) {
        let scalar = match r.is_scalar(operand) {
            true => operand,
            false => r.reshape(Shape::array(r.element(operand), &[]), operand, id),
        };
        let new = r.broadcast(shape, scalar, &[], id);
        r.replace(id, new, "reads the only element");
        return;
    }
    let attributes = r.attributes(id);
    let is_small = matches!(r.dims(operand), [0..=4])
        && attributes.int(AttributeKey::IndexVectorDim) == Some(r.rank(indices) as i64)
        && attributes.ints(AttributeKey::CollapsedSliceDims).len() == 1
        && r.dims(indices) == shape.dims();
    if !is_small {
        return;
    }
    let element = r.element(operand);
    let value = |r: &mut Rewriter<'_, '_>, i: i64| {
        let slice = r.slice(Shape::array(element, &[1]), operand, vec![[i, i + 1, 1]], id);
        let scalar = r.reshape(Shape::array(element, &[]), slice, id);
        r.broadcast(shape.clone(), scalar, &[], id)
    };
    let mut result = value(r, 0);
    for i in 0..r.dims(operand)[0] {
        let number = r.scalar_like(indices, i as f64);
        let is_from = r.compare(indices, number, "GE", id);
        let here = value(r, i);
        result = r.plain(Opcode::Select, shape.clone(), &[is_from, here, result], id);
    }
    r.replace(id, result, "selects from few elements");
}

pub(super) fn scatter(r: &mut Rewriter<'_, '_>, id: Id) {
    let &[operand, _, updates] = r.operands(id) else { return };
    if r.count(updates) == 0 {
        r.replace_if_same(id, operand, "writes nothing");
    }
}

/// A collective of equal numbers.
pub(super) fn collective(r: &mut Rewriter<'_, '_>, id: Id) {
    let Some(&operand) = r.operands(id).first() else { return };
    let Some(constant) = r.broadcast_scalar_constant(operand).filter(|_| r.is_array(id)) else { return };
    let shape = r.shape(id).clone();
    let rule = "exchanges equal numbers";
    let new = match r.opcode(id) {
        Opcode::AllToAll => operand,
        Opcode::AllGather => r.copy_of(operand, shape, &[constant]),
        _ => match r.combiner(id) {
            Some(Opcode::Maximum | Opcode::Minimum) => r.broadcast(shape, constant, &[], id),
            Some(Opcode::Add) => {
                let size = r.attributes(id).replica_group_size();
                let Some((size, value)) = size.zip(r.number(constant)) else { return };
                if !r.is_integral(constant) && !r.is_float(constant) {
                    return;
                }
                let sum = r.scalar(r.element(constant), value * size as f64, id);
                r.broadcast(shape, sum, &[], id)
            }
            _ => return,
        },
    };
    r.replace(id, new, rule);
}

pub(super) fn reverse(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let shape = r.shape(id).clone();
    let mut dims = r.dimensions(id).to_vec();
    let size = |dim: i64| shape.dims().get(dim as usize).copied().unwrap_or(1);
    if dims.iter().all(|&dim| size(dim) == 1) {
        r.replace(id, operand, "turns around single elements");
        return;
    }
    if r.options.is_layout_sensitive {
        return;
    }
    let turned = |r: &mut Rewriter<'_, '_>, source: Id, dims: &[i64]| {
        r.with_dimensions(Opcode::Reverse, r.shape(source).clone(), source, dims, id)
    };
    if let Some(inner) = r.operand_of(operand, Opcode::Reverse) {
        let others = r.dimensions(operand).to_vec();
        let mut once: Vec<_> = dims.iter().copied().filter(|dim| !others.contains(dim)).collect();
        once.extend(others.iter().filter(|dim| !dims.contains(dim)));
        once.sort_unstable();
        let new = if once.is_empty() { inner } else { turned(r, inner, &once) };
        r.replace(id, new, "turns around twice");
        return;
    }
    let is_scalar = |x| r.operand_of(x, Opcode::Broadcast).is_some_and(|scalar| r.is_scalar(scalar));
    if let &[a, b] = r.operands(operand)
        && ir::is_elementwise(r.opcode(operand))
        && r.opcode(operand) != Opcode::Compare
    {
        let operands = match (is_scalar(a), is_scalar(b)) {
            (true, _) => [a, turned(r, b, &dims)],
            (false, true) => [turned(r, a, &dims), b],
            _ => return,
        };
        let new = r.copy_of(operand, r.shape(operand).clone(), &operands);
        r.replace(id, new, "turns around what is no constant");
        return;
    }
    let Some(inner) = r.operand_of(operand, Opcode::Reshape) else { return };
    let Some(changes) = UnitChanges::of(r.dims(inner), shape.dims()) else { return };
    if changes.deleted.is_empty() {
        dims.retain(|&dim| size(dim) != 1);
        let before =
            |dim: i64| changes.inserted.iter().filter(|&&inserted| (inserted as i64) < dim).count() as i64;
        let dims: Vec<_> = dims.iter().map(|&dim| dim - before(dim)).collect();
        let inner = turned(r, inner, &dims);
        let new = r.reshape(shape, inner, id);
        r.replace(id, new, "turns around before the reshape");
    }
}
