//! Rules for `reduce`. Source: `HandleReduce`.

use ir::{AttributeKey, Attributes, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::{kept_dimensions, permuted, without_dimensions};

pub(super) fn reduce(r: &mut Rewriter<'_, '_>, id: Id) {
    let inputs = r.operands(id).len() / 2;
    let (operands, inits) = (r.operands(id)[..inputs].to_vec(), r.operands(id)[inputs..].to_vec());
    let results: Vec<_> = match r.shape(id).tuple_elements() {
        Some(elements) => elements.to_vec(),
        None => vec![r.shape(id).clone()],
    };
    let is_tuple = !r.is_array(id);
    let (Some(&operand), Some(result)) = (operands.first(), results.first()) else { return };
    if results.len() != inputs {
        return;
    }
    let count = result.as_array().and_then(|array| array.elements()).unwrap_or(i64::MAX);
    let together = |r: &mut Rewriter<'_, '_>, parts: Vec<Id>| match is_tuple {
        true => r.plain(Opcode::Tuple, r.shape(id).clone(), &parts, id),
        false => parts[0],
    };
    if r.count(operand) == 0 || count == 0 {
        let parts =
            inits.iter().zip(&results).map(|(&init, shape)| r.broadcast(shape.clone(), init, &[], id));
        let parts = parts.collect();
        let new = together(r, parts);
        r.replace(id, new, "reduces nothing");
        return;
    }
    let is_reshape = count == r.count(operand)
        && (!r.options.is_layout_sensitive || r.reshape_is_bitcast(r.shape(operand), result));
    if is_reshape {
        let parts =
            operands.iter().zip(&results).map(|(&operand, shape)| r.reshape(shape.clone(), operand, id));
        let parts = parts.collect();
        let new = together(r, parts);
        r.replace(id, new, "reduces only dimensions of size 1");
        return;
    }
    if r.options.is_layout_sensitive || is_tuple {
        return;
    }
    let init = inits[0];
    if negated(r, id, operand, init)
        || of_transpose(r, id, operand, init)
        || of_reduce(r, id, operand, init)
        || of_reshape(r, id, operand, init)
        || of_concatenation(r, id, operand, init)
    {
        return;
    }
    of_broadcast(r, id, operand, init);
}

/// A reduction like `id` of another array.
fn like(r: &mut Rewriter<'_, '_>, id: Id, shape: Shape, operand: Id, init: Id, dims: Vec<i64>) -> Id {
    let mut attributes = r.attributes(id).clone();
    attributes.set(AttributeKey::Dimensions, dims);
    r.make_calling(Opcode::Reduce, shape, &[operand, init], attributes, id)
}

/// A sum of negatives is the negative of the sum.
fn negated(r: &mut Rewriter<'_, '_>, id: Id, operand: Id, init: Id) -> bool {
    let Some(positive) = r.operand_of(operand, Opcode::Negate) else { return false };
    if !r.is_float(id) || !r.is_zero_constant(init) || r.combiner(id) != Some(Opcode::Add) {
        return false;
    }
    let rule = "negates the sum instead of what is summed";
    r.replace_operand(id, 0, positive, rule);
    let new = r.plain(Opcode::Negate, r.shape(id).clone(), &[id], operand);
    r.replace_uses(id, new, rule);
    true
}

fn of_transpose(r: &mut Rewriter<'_, '_>, id: Id, transpose: Id, init: Id) -> bool {
    let Some(source) = r.operand_of(transpose, Opcode::Transpose) else { return false };
    let users = r.users(transpose);
    let is_worth_it = r.options.reduces_before_moves
        || r.rank(id) < 2
        || users.len() == 1
        || users.iter().all(|&user| r.is(user, Opcode::Reduce));
    if !is_worth_it {
        return false;
    }
    let permutation = r.dimensions(transpose).to_vec();
    let reduced: Vec<_> = crate::dimensions::permute(&permutation, r.dimensions(id));
    let shape = without_dimensions(r.shape(source), &reduced);
    let mut new = like(r, id, shape, source, init, reduced.clone());
    let kept: Vec<_> = permutation.into_iter().filter(|dim| !reduced.contains(dim)).collect();
    if !kept.is_sorted() {
        let before = |dim: i64| reduced.iter().filter(|&&reduced| reduced < dim).count() as i64;
        let kept: Vec<_> = kept.iter().map(|&dim| dim - before(dim)).collect();
        new = r.transpose(permuted(r.shape(new), &kept), new, &kept, id);
    }
    r.replace(id, new, "reduces before the transpose")
}

fn of_reduce(r: &mut Rewriter<'_, '_>, id: Id, inner: Id, init: Id) -> bool {
    let Some((source, inner_init)) = r.operands_of(inner, Opcode::Reduce) else { return false };
    let is_same_init = init == inner_init
        || r.is_constant(init) && r.is_constant(inner_init) && r.literal(init) == r.literal(inner_init);
    let callee = |id| r.callee(id, AttributeKey::ToApply);
    let of_known = |id| {
        use Opcode::{Add, And, Multiply, Or};
        r.combiner(id).filter(|opcode| matches!(opcode, Add | Multiply | And | Or))
    };
    let is_same_function =
        callee(id) == callee(inner) || of_known(id).is_some() && of_known(id) == of_known(inner);
    if !is_same_init || !is_same_function || !r.is_array(inner) {
        return false;
    }
    let mut first = r.dimensions(inner).to_vec();
    first.sort_unstable();
    let mut dims = r.dimensions(id).to_vec();
    dims.sort_unstable();
    for &reduced in &first {
        for dim in &mut dims {
            *dim += i64::from(*dim >= reduced);
        }
    }
    dims.extend(first);
    dims.sort_unstable();
    let shape = r.shape(id).clone();
    let new = like(r, id, shape, source, init, dims);
    r.replace(id, new, "reduces twice")
}

fn of_reshape(r: &mut Rewriter<'_, '_>, id: Id, reshape: Id, init: Id) -> bool {
    let Some(source) = r.operand_of(reshape, Opcode::Reshape) else { return false };
    let kept = kept_dimensions(r.dims(source), r.dims(reshape));
    let reduced = r.dimensions(id).to_vec();
    let is_reduced = |dim: usize| reduced.contains(&(dim as i64));
    let place = |dim: usize| kept.iter().find(|pair| pair.1 == dim).map(|pair| pair.0 as i64);
    let shape = r.shape(id).clone();
    let mut others = (0..r.rank(reshape)).filter(|&dim| !is_reduced(dim)).map(place);
    if let Some(not_reduced) = others.by_ref().collect::<Option<Vec<_>>>() {
        let dims = (0..r.rank(source) as i64).filter(|dim| !not_reduced.contains(dim)).collect();
        let new = like(r, id, shape, source, init, dims);
        return r.replace(id, new, "reduces before the reshape");
    }
    if !r.has_one_user(reshape) && !r.options.reduces_before_moves {
        return false;
    }
    let Some(dims) = reduced.iter().map(|&dim| place(dim as usize)).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let small = without_dimensions(r.shape(source), &dims);
    let sums = like(r, id, small, source, init, dims);
    let new = r.reshape(shape, sums, id);
    r.replace(id, new, "reduces before the reshape")
}

fn of_concatenation(r: &mut Rewriter<'_, '_>, id: Id, concatenation: Id, init: Id) -> bool {
    let Some(&dim) = r.dimensions(concatenation).first() else { return false };
    if !r.is(concatenation, Opcode::Concatenate) || !r.dimensions(id).contains(&dim) {
        return false;
    }
    let parts = r.operands(concatenation).to_vec();
    let is_same = parts.iter().all(|&part| r.dims(part) == r.dims(parts[0]));
    if !is_same && r.rank(id) != 0 {
        return false;
    }
    let shape = r.shape(id).clone();
    let dims = r.dimensions(id).to_vec();
    let mut whole = None;
    for part in parts {
        let sum = like(r, id, shape.clone(), part, init, dims.clone());
        whole = Some(match whole {
            None => sum,
            Some(before) => {
                let all: Vec<_> = (0..shape.dims().len() as i64).collect();
                let attributes = Attributes::default().with(AttributeKey::Dimensions, all);
                r.make_calling(Opcode::Map, shape.clone(), &[before, sum], attributes, id)
            }
        });
    }
    whole.is_some_and(|whole| r.replace(id, whole, "reduces the parts before they are joined"))
}

fn of_broadcast(r: &mut Rewriter<'_, '_>, id: Id, broadcast: Id, init: Id) -> bool {
    let Some(source) = r.operand_of(broadcast, Opcode::Broadcast) else { return false };
    let (shape, reduced) = (r.shape(id).clone(), r.dimensions(id).to_vec());
    let of_source = r.dimensions(broadcast).to_vec();
    let opcode = r.combiner(id);
    if let Some(opcode @ (Opcode::Maximum | Opcode::Minimum | Opcode::And | Opcode::Or)) = opcode
        && r.is_scalar(source)
        && reduced.len() == r.rank(broadcast)
    {
        let new = r.plain(opcode, shape, &[source, init], id);
        return r.replace(id, new, "reduces equal elements");
    }
    let before = |dim: i64| reduced.iter().filter(|&&reduced| reduced < dim).count() as i64;
    let place = |dim: &i64| of_source.iter().position(|of| of == dim).map(|at| at as i64);
    if let Some(dims) = reduced.iter().map(place).collect::<Option<Vec<_>>>() {
        let small = without_dimensions(r.shape(source), &dims);
        let sums = like(r, id, small, source, init, dims);
        let kept = of_source.iter().filter(|dim| !reduced.contains(dim));
        let kept: Vec<_> = kept.map(|&dim| dim - before(dim)).collect();
        let new = r.broadcast(shape, sums, &kept, id);
        return r.replace(id, new, "reduces before the broadcast");
    }
    if opcode != Some(Opcode::Add)
        || !of_source.is_sorted()
        || reduced.iter().any(|dim| of_source.contains(dim))
    {
        return false;
    }
    let copies = reduced.iter().filter_map(|&dim| r.dims(broadcast).get(dim as usize));
    let copies = copies.fold(1i64, |product, &size| product.saturating_mul(size));
    let kept: Vec<_> = of_source.iter().map(|&dim| dim - before(dim)).collect();
    let factor = r.scalar_like(source, copies as f64);
    let product = r.binary(Opcode::Multiply, source, factor);
    let init = r.broadcast(r.shape(product).clone(), init, &[], id);
    let sum = r.binary(Opcode::Add, init, product);
    let new = r.broadcast(shape, sum, &kept, id);
    r.replace(id, new, "multiplies by the number of equal elements")
}
