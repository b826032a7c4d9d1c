//! Rules for `dot`. Source: `HandleDot`, and the dots of `HandleTranspose`.

use ir::{AttributeKey, AttributeValue, Attributes, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::{permuted, without_unit_dimensions};

const DIMENSIONS: [AttributeKey; 4] = [
    AttributeKey::LhsBatchDims,
    AttributeKey::LhsContractingDims,
    AttributeKey::RhsBatchDims,
    AttributeKey::RhsContractingDims,
];

/// The dimensions of both operands that a dot pairs.
struct Pairs {
    lhs_batch: Vec<i64>,
    lhs_contracting: Vec<i64>,
    rhs_batch: Vec<i64>,
    rhs_contracting: Vec<i64>,
}

impl Pairs {
    fn of(r: &Rewriter<'_, '_>, dot: Id) -> Pairs {
        let [lhs_batch, lhs_contracting, rhs_batch, rhs_contracting] =
            DIMENSIONS.map(|key| r.attributes(dot).ints(key).to_vec());
        Pairs { lhs_batch, lhs_contracting, rhs_batch, rhs_contracting }
    }

    /// The attributes of a dot by these pairs that is like `dot` else. With exchanged operands, their precisions are
    /// exchanged too.
    fn attributes(&self, r: &Rewriter<'_, '_>, dot: Id, is_exchanged: bool) -> Attributes {
        let lists = [&self.lhs_batch, &self.lhs_contracting, &self.rhs_batch, &self.rhs_contracting];
        let mut attributes = Attributes::default();
        for (key, list) in DIMENSIONS.into_iter().zip(lists) {
            if !list.is_empty() {
                attributes.push(key, list.clone());
            }
        }
        for (key, value) in r.attributes(dot).iter().filter(|(key, _)| !DIMENSIONS.contains(key)) {
            match value {
                AttributeValue::Text(text) if key == AttributeKey::OperandPrecision && is_exchanged => {
                    attributes.push(key, AttributeValue::Text(exchanged(text)));
                }
                value => attributes.push(key, value.clone()),
            }
        }
        attributes
    }
}

/// `{high,default}` of `{default,high}`.
fn exchanged(precisions: &str) -> String {
    match precisions.trim_matches(['{', '}']).split_once(',') {
        Some((lhs, rhs)) => format!("{{{},{}}}", rhs.trim(), lhs.trim()),
        None => precisions.to_owned(),
    }
}

pub(super) fn dot(r: &mut Rewriter<'_, '_>, id: Id) {
    if r.options.is_layout_sensitive {
        return;
    }
    let &[lhs, rhs] = r.operands(id) else { return };
    let shape = r.shape(id).clone();
    if [id, lhs, rhs].into_iter().any(|value| r.count(value) == 0) {
        let zero = r.scalar(r.element(id), 0.0, id);
        let new = r.broadcast(shape, zero, &[], id);
        r.replace(id, new, "sums nothing");
        return;
    }
    let pairs = Pairs::of(r, id);
    let algorithm = r.attributes(id).text(AttributeKey::Algorithm);
    let has_plain_product = matches!(algorithm, None | Some("dot_f32_f32_f32"));
    if has_plain_product && pairs.lhs_contracting.is_empty() {
        as_product(r, id, &pairs);
        return;
    }
    if !without_units(r, id, &pairs) {
        untranspose(r, id, &pairs);
    }
}

/// A dot that sums nothing, as a product. Source: `RewriteAsMultiplyDotWithZeroLhsContractingDim`.
fn as_product(r: &mut Rewriter<'_, '_>, id: Id, pairs: &Pairs) -> bool {
    let (shape, element) = (r.shape(id).clone(), r.element(id));
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let (rank, lhs_rank, rhs_rank) = (r.rank(id), r.rank(lhs), r.rank(rhs));
    let mut new_lhs = batch_first(r, lhs, &pairs.lhs_batch);
    if r.element(new_lhs) != element {
        new_lhs = r.convert(new_lhs, element);
    }
    let mut new_rhs = batch_first(r, rhs, &pairs.rhs_batch);
    if r.element(new_rhs) != element {
        new_rhs = r.convert(new_rhs, element);
    }
    if rank != lhs_rank {
        let dims: Vec<_> = (0..lhs_rank as i64).collect();
        new_lhs = r.broadcast(shape.clone(), new_lhs, &dims, id);
    }
    if rank != rhs_rank {
        let dims: Vec<_> = (0..pairs.lhs_batch.len() as i64).chain(lhs_rank as i64..rank as i64).collect();
        new_rhs = r.broadcast(shape.clone(), new_rhs, &dims, id);
    }
    let new = r.plain(Opcode::Multiply, shape, &[new_lhs, new_rhs], id);
    r.replace(id, new, "sums nothing, so it is a product")
}

/// An operand with its batch dimensions in front.
fn batch_first(r: &mut Rewriter<'_, '_>, operand: Id, batch: &[i64]) -> Id {
    let others = (0..r.rank(operand) as i64).filter(|dim| !batch.contains(dim));
    let permutation: Vec<_> = batch.iter().copied().chain(others).collect();
    if permutation.is_sorted() {
        return operand;
    }
    let shape = permuted(r.shape(operand), &permutation);
    r.transpose(shape, operand, &permutation, operand)
}

/// Drops dimensions of size 1. Source: `RemoveDegenerateDimensionFromDot`.
fn without_units(r: &mut Rewriter<'_, '_>, id: Id, pairs: &Pairs) -> bool {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let places = |operand: Id| {
        let mut next = 0..;
        let place = |&size: &i64| if size == 1 { None } else { next.next() };
        r.dims(operand).iter().map(place).collect::<Vec<Option<i64>>>()
    };
    let (of_lhs, of_rhs) = (places(lhs), places(rhs));
    if of_lhs.iter().chain(&of_rhs).all(Option::is_some) {
        return false;
    }
    let moved = |list: &[i64], places: &[Option<i64>]| -> Vec<i64> {
        list.iter().filter_map(|&dim| places.get(dim as usize).copied().flatten()).collect()
    };
    let pairs = Pairs {
        lhs_batch: moved(&pairs.lhs_batch, &of_lhs),
        lhs_contracting: moved(&pairs.lhs_contracting, &of_lhs),
        rhs_batch: moved(&pairs.rhs_batch, &of_rhs),
        rhs_contracting: moved(&pairs.rhs_contracting, &of_rhs),
    };
    let mut small = |operand: Id, places: &[Option<i64>]| match places.contains(&None) {
        true => r.reshape(without_unit_dimensions(r.shape(operand)), operand, id),
        false => operand,
    };
    let (lhs, rhs) = (small(lhs, &of_lhs), small(rhs, &of_rhs));
    let attributes = pairs.attributes(r, id, false);
    // The batch dimensions in the order of the left operand's list, then its other dimensions, then those of the right one.
    let size = |operand: Id, dim: &i64| r.dims(operand).get(*dim as usize).copied();
    let free = |operand: Id, a: &[i64], b: &[i64]| {
        let free = (0..r.rank(operand) as i64).filter(|dim| !a.contains(dim) && !b.contains(dim));
        free.filter_map(|dim| size(operand, &dim)).collect::<Vec<_>>()
    };
    let batch = pairs.lhs_batch.iter().filter_map(|dim| size(lhs, dim));
    let dims: Vec<_> = batch
        .chain(free(lhs, &pairs.lhs_batch, &pairs.lhs_contracting))
        .chain(free(rhs, &pairs.rhs_batch, &pairs.rhs_contracting))
        .collect();
    let shape = r.shape(id).clone();
    let mut new = r.make(Opcode::Dot, Shape::array(r.element(id), &dims), &[lhs, rhs], attributes, id);
    if !r.shape(new).is_compatible(&shape) {
        new = r.reshape(shape, new, id);
    }
    r.replace(id, new, "needs no dimensions of size 1")
}

/// Both operands are transposed alike: the result is transposed instead. Source: `RemoveTransposesFromDotOperands`.
fn untranspose(r: &mut Rewriter<'_, '_>, id: Id, pairs: &Pairs) -> bool {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let (Some(a), Some(b)) = (r.operand_of(lhs, Opcode::Transpose), r.operand_of(rhs, Opcode::Transpose))
    else {
        return false;
    };
    let permutation = r.dimensions(lhs).to_vec();
    let rank = r.rank(id) as i64;
    let is_canonical = permutation == r.dimensions(rhs)
        && pairs.lhs_batch == pairs.rhs_batch
        && pairs.lhs_contracting == [rank - 1]
        && pairs.rhs_contracting == [rank - 2]
        && rank == pairs.lhs_batch.len() as i64 + 2;
    let Some(last) = permutation.last_chunk::<2>().filter(|_| is_canonical) else { return false };
    let is_exchanged = match *last {
        [x, y] if (x, y) == (rank - 2, rank - 1) => false,
        [x, y] if (x, y) == (rank - 1, rank - 2) => true,
        _ => return false,
    };
    let shape = r.shape(id).clone();
    let operands = if is_exchanged { [b, a] } else { [a, b] };
    let attributes = pairs.attributes(r, id, is_exchanged);
    let inner = r.make(Opcode::Dot, permuted(&shape, &permutation), &operands, attributes, id);
    let new = r.transpose(shape, inner, &permutation, id);
    r.replace(id, new, "transposes the result instead of the operands")
}

/// `transpose(dot(a, b))` as `dot(b, a)`.
pub(super) fn transpose_of_dot(r: &mut Rewriter<'_, '_>, id: Id, dot: Id) -> bool {
    let &[lhs, rhs] = r.operands(dot) else { return false };
    if !r.is(dot, Opcode::Dot) || !r.has_one_user(dot) {
        return false;
    }
    let pairs = Pairs::of(r, dot);
    let rank = r.rank(dot);
    let mut batch = pairs.lhs_batch.clone();
    batch.sort_unstable();
    let has_one_free = |contracting: &[i64], batch: &[i64], operand| {
        !contracting.is_empty() && contracting.len() + batch.len() + 1 == r.rank(operand)
    };
    let is_canonical = pairs.lhs_batch == pairs.rhs_batch
        && (0..).zip(&batch).all(|(at, &dim)| at == dim)
        && has_one_free(&pairs.lhs_contracting, &pairs.lhs_batch, lhs)
        && has_one_free(&pairs.rhs_contracting, &pairs.rhs_batch, rhs)
        && rank >= 2;
    if !is_canonical {
        return false;
    }
    let mut exchanging: Vec<_> = (0..rank as i64).collect();
    exchanging.swap(rank - 1, rank - 2);
    if r.dimensions(id) != exchanging {
        return false;
    }
    let exchanged = Pairs {
        lhs_contracting: pairs.rhs_contracting,
        rhs_contracting: pairs.lhs_contracting,
        lhs_batch: pairs.lhs_batch,
        rhs_batch: pairs.rhs_batch,
    };
    let attributes = exchanged.attributes(r, dot, true);
    let new = r.make(Opcode::Dot, r.shape(id).clone(), &[rhs, lhs], attributes, id);
    r.replace(id, new, "exchanges the operands of the dot")
}
