//! Ops across replicas. Source: `ShapeInference::InferAll*Shape`, `InferCollectivePermute*Shape`, `hlo_verifier.cc`. How
//! many devices there are is the module's affair: where the groups do not tell, the declared shape does.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{Given, Inferred, array, ensure, like, one_or_tuple, size};
use super::problem::{COUNT, OPERANDS, Problem, operand, value};
use crate::shape::{ArrayShape, Shape};

/// Members of a group, or by how much `part` is smaller than `whole`, the declared or operand shape.
fn shards(given: &Given<'_>, part: Option<i64>, whole: Option<i64>) -> Inferred<i64> {
    // A group of one may only mean that the number of devices is not stated: then the shapes decide.
    let group = given.attributes.replica_group_size();
    if let Some(count) = group.filter(|&count| count > 1 || given.declared.is_none()) {
        return Ok(count);
    }
    let ratio = part
        .zip(whole)
        .filter(|&(part, _)| part > 0)
        .map(|(part, whole)| whole / part + i64::from(whole % part != 0));
    // Without elements anything goes.
    let any = given.declared.map(|_| 1);
    ratio.filter(|&n| n > 0).or(group).or(any).ok_or_else(|| {
        let message = "expected replica groups of one size, or a shape that tells their size";
        Problem::at(value(AttributeKey::ReplicaGroups), message)
    })
}

/// The declared result, or the results' part of a start's.
fn declared_element<'a>(given: &Given<'a>, opcode: Opcode, i: usize) -> Option<&'a ArrayShape> {
    let mut declared = given.declared?;
    if opcode == Opcode::AllGatherStart {
        declared = declared.tuple_elements()?.get(1)?;
    }
    match declared.tuple_elements() {
        Some(elements) => elements.get(i)?.as_array(),
        None => declared.as_array(),
    }
}

fn results(given: &Given<'_>, f: impl Fn(usize, &ArrayShape) -> Inferred) -> Inferred<Vec<Shape>> {
    ensure(!given.operands.is_empty(), COUNT, || "expected at least one operand".to_owned())?;
    (0..given.operands.len()).map(|i| f(i, given.array(i)?)).collect()
}

fn with_size(operand: &ArrayShape, dim: usize, f: impl FnOnce(i64) -> Option<i64>) -> Inferred {
    let mut dims = operand.dims.clone();
    dims[dim] = size(dims[dim], OPERANDS, f)?;
    Ok(array(operand.element, dims))
}

pub(crate) fn all_gather(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let gathered = results(given, |i, operand| {
        let dim = given.dimension(AttributeKey::Dimensions, operand)?;
        let whole = declared_element(given, opcode, i).and_then(|declared| declared.dims.get(dim)).copied();
        let count = shards(given, Some(operand.dims[dim]), whole)?;
        with_size(operand, dim, |n| n.checked_mul(count))
    });
    let gathered = one_or_tuple(gathered?);
    if opcode == Opcode::AllGather {
        return Ok(gathered);
    }
    let operands = one_or_tuple(given.operands.iter().map(|&shape| shape.clone()).collect());
    Ok(Shape::Tuple([operands, gathered].into()))
}

/// Operands as they are, one or several.
pub(crate) fn all_reduce(given: &Given<'_>) -> Inferred {
    Ok(one_or_tuple(results(given, |_, operand| Ok(like(operand, operand.element)))?))
}

/// Operand 0 as it is. XLA infers the shape without `has_dynamic_root`, so it looks neither at the roots nor at further
/// operands. Source: `ShapeVerifier::HandleCollectiveBroadcast`, `ShapeInference::InferCollectiveBroadcastShape`.
pub(crate) fn broadcast(given: &Given<'_>) -> Inferred {
    let first = given.array(0)?;
    Ok(like(first, first.element))
}

/// Operands as they are. Where the root is a runtime value, the last operand holds an `s32` per other operand.
/// Source: `ShapeVerifier::HandleCollectiveReduce`, `ShapeInference::InferCollectiveReduceShape`.
pub(crate) fn reduce(given: &Given<'_>) -> Inferred {
    if given.attributes.bool(AttributeKey::HasDynamicRoot) != Some(true) {
        return all_reduce(given);
    }
    let arrays = given.operands.len().saturating_sub(1);
    ensure(arrays > 0, COUNT, || "expected an operand before the roots".to_owned())?;
    let roots = given.array(arrays)?;
    ensure(roots.element == ElementType::S32 && roots.dims == [arrays as i64], operand(arrays), || {
        format!("expected the roots to be s32[{arrays}], but operand {arrays} is {roots}")
    })?;
    let results = (0..arrays).map(|i| given.array(i).map(|array| like(array, array.element)));
    Ok(one_or_tuple(results.collect::<Inferred<Vec<_>>>()?))
}

pub(crate) fn reduce_scatter(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let scattered = results(given, |i, operand| {
        let dim = given.dimension(AttributeKey::Dimensions, operand)?;
        let part = declared_element(given, opcode, i).and_then(|declared| declared.dims.get(dim)).copied();
        let whole = operand.dims[dim];
        let count = shards(given, part, Some(whole))?;
        ensure(count > 0 && whole % count == 0, value(AttributeKey::Dimensions), || {
            format!("expected size {whole} of {operand} to be divisible by {count} replicas")
        })?;
        with_size(operand, dim, |n| n.checked_div(count))
    });
    Ok(one_or_tuple(scattered?))
}

/// With dimensions one operand in equal parts, else an operand per member of the group.
pub(crate) fn all_to_all(given: &Given<'_>) -> Inferred {
    let first = given.array(0)?;
    let group = given.attributes.replica_group_size();
    if given.ints(AttributeKey::Dimensions).is_empty() {
        let count = given.operands.len() as i64;
        ensure(group.is_none_or(|group| group == count), value(AttributeKey::ReplicaGroups), || {
            format!("expected an operand per replica of a group, {group:?}, but there are {count}")
        })?;
        let shapes = results(given, |i, operand| {
            let holds = given.operand(0)?.is_compatible(given.operand(i)?);
            ensure(holds, super::problem::operand(i), || {
                format!("expected operands like {first}, but operand {i} is {operand}")
            })?;
            Ok(like(operand, operand.element))
        });
        return Ok(Shape::Tuple(shapes?.into()));
    }
    given.count(1)?;
    let dim = given.dimension(AttributeKey::Dimensions, first)?;
    let holds = group.is_none_or(|group| first.dims[dim] % group == 0);
    ensure(holds, value(AttributeKey::Dimensions), || {
        format!("expected dimension {dim} of {first} to be divisible by {group:?} replicas")
    })?;
    Ok(like(first, first.element))
}

/// The operands, or operand 1 where slices of one are written into it; a start holds operands and results.
pub(crate) fn permute(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let is_in_place = given.attributes.text(AttributeKey::SliceSizes).is_some();
    let result = match is_in_place {
        true => {
            given.count(4)?;
            given.operand(1)?.clone()
        }
        false => one_or_tuple(results(given, |_, operand| Ok(like(operand, operand.element)))?),
    };
    if opcode == Opcode::CollectivePermute {
        return Ok(result);
    }
    let sent = match is_in_place {
        true => given.operand(0)?.clone(),
        false => one_or_tuple(given.operands.iter().map(|&shape| shape.clone()).collect()),
    };
    // The context that the runtime keeps is declared only.
    let context = given.declared.and_then(Shape::tuple_elements).and_then(|e| e.get(2..)).unwrap_or(&[]);
    Ok(Shape::Tuple([sent, result].into_iter().chain(context.iter().cloned()).collect()))
}

pub(crate) fn ragged_all_to_all(given: &Given<'_>) -> Inferred {
    given.count(6)?;
    let first = given.operand(2)?;
    for i in 3..6 {
        let other = given.operand(i)?;
        let holds = other.is_compatible(first);
        ensure(holds, operand(i), || {
            format!("expected offsets and sizes like {first}, but operand {i} is {other}")
        })?;
    }
    Ok(given.operand(1)?.clone())
}
