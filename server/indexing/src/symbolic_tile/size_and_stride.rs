//! The number and the distance of an index's values while its dimensions run through a tile at the origin.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval};

use super::TileConstraint;

/// The maximum number of parts of a sum.
const MAX_PARTS: usize = 16;

/// Size and stride of one index, over tile sizes `d0`, …. Source: XLA
/// `codegen/tiling/size_and_stride_expression.cc`.
#[derive(Debug, Clone)]
pub(super) struct SizeAndStride {
    pub size: Expr,
    pub stride: Expr,
    pub constraint: TileConstraint,
}

impl SizeAndStride {
    fn new(size: Expr, stride: i64) -> SizeAndStride {
        SizeAndStride { size, stride: Expr::Const(stride), constraint: TileConstraint::always() }
    }
}

/// The size and stride of `e`, an index that is 0 at the origin of `map`'s dimensions and range variables.
pub(super) fn extract(e: &Expr, map: &IndexingMap) -> Option<SizeAndStride> {
    let found = match e {
        Expr::Const(_) => SizeAndStride::new(Expr::Const(1), 0),
        Expr::Var(_) => SizeAndStride::new(values_of(e, map)?, 1),
        Expr::Binary(b) => match (b.op(), b.rhs().as_const()) {
            (BinaryOp::Add, _) => return sum(e, map),
            (BinaryOp::Mul, Some(factor)) => {
                let of_base = extract(b.lhs(), map)?;
                // XLA drops the constraints of the factor.
                SizeAndStride {
                    size: of_base.size,
                    stride: of_base.stride * factor,
                    constraint: TileConstraint::always(),
                }
            }
            (BinaryOp::Mod, Some(modulus)) if modulus > 0 => modulo(b.lhs(), modulus, map)?,
            (BinaryOp::FloorDiv, Some(divisor)) if divisor > 0 => {
                SizeAndStride::new(divided(dimension(b.lhs(), map)?, divisor)?, 1)
            }
            _ => return None,
        },
    };
    (!found.size.is_too_large() && !found.stride.is_too_large()).then_some(found)
}

/// The number of values of a variable: a dimension's tile size, or all of a range variable that starts at 0.
fn values_of(e: &Expr, map: &IndexingMap) -> Option<Expr> {
    let id = e.as_var()? as usize;
    match id.checked_sub(map.num_dims()) {
        None => Some(e.clone()),
        Some(range) => {
            let bounds = map.ranges().get(range)?.bounds;
            (bounds.lower == 0).then_some(())?;
            Some(Expr::Const(bounds.upper.checked_add(1)?))
        }
    }
}

/// The tile size of a plain dimension.
fn dimension(e: &Expr, map: &IndexingMap) -> Option<Expr> {
    let id = e.as_var()? as usize;
    (id < map.num_dims()).then(|| e.clone())
}

/// `(n + divisor - 1) / divisor`.
fn divided(n: Expr, divisor: i64) -> Option<Expr> {
    Some((n + divisor.checked_sub(1)?).floor_div(divisor))
}

/// `d mod c` and `(d / k) mod c`: a tile only if the tile's size divides `c`, or is a multiple of it.
fn modulo(lhs: &Expr, modulus: i64, map: &IndexingMap) -> Option<SizeAndStride> {
    let n = match lhs.as_op_const(BinaryOp::FloorDiv) {
        Some((base, divisor)) if divisor > 0 => divided(dimension(base, map)?, divisor)?,
        _ => dimension(lhs, map)?,
    };
    let zero = Interval::new(0, 0);
    let wrapped = (n.clone() - 1).floor_div(modulus) * modulus;
    Some(SizeAndStride {
        constraint: TileConstraint::in_range(Expr::Const(modulus).modulo(n.clone()), zero)
            .or(TileConstraint::in_range(n.clone().modulo(modulus), zero)),
        size: n - wrapped,
        stride: Expr::Const(1),
    })
}

/// A summand whose size is a tile size or a constant.
struct Part {
    size: Expr,
    stride: i64,
    max_size: i64,
}

/// The sum of nested summands: each stride equals the extent of all smaller ones, as after a reshape that
/// merges dimensions. The result is a tile if all but one part have a single value or are whole.
fn sum(e: &Expr, map: &IndexingMap) -> Option<SizeAndStride> {
    let mut summands = Vec::new();
    flatten(e, &mut summands)?;
    let mut parts = Vec::with_capacity(summands.len());
    let mut size = Expr::Const(1);
    let mut constraint = TileConstraint::always();
    for summand in summands {
        let part = extract(summand, map)?;
        constraint = constraint.and(part.constraint);
        size = size * part.size.clone();
        let max_size = match part.size.as_const() {
            Some(size) => size,
            None => {
                let bounds = map.dims().get(part.size.as_var()? as usize)?.bounds;
                (bounds.lower == 0).then_some(())?;
                bounds.upper.checked_add(1)?
            }
        };
        parts.push(Part { size: part.size, stride: part.stride.as_const()?, max_size });
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.stride.unsigned_abs()));
    for pair in parts.windows(2) {
        let reach = pair[1].max_size.checked_mul(pair[1].stride.checked_abs()?)?;
        (Some(reach) == pair[0].stride.checked_abs()).then_some(())?;
    }
    let stride = stride_of(&parts)?.canonicalize();
    Some(SizeAndStride { size, stride, constraint: constraint.and(one_part_is_free(&parts)) })
}

fn flatten<'e>(e: &'e Expr, summands: &mut Vec<&'e Expr>) -> Option<()> {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match e.as_binary() {
            Some((BinaryOp::Add, lhs, rhs)) => open.extend([rhs, lhs]),
            _ if summands.len() == MAX_PARTS => return None,
            _ => summands.push(e),
        }
    }
    Some(())
}

/// The smallest stride of a part with more than one value, 0 if there is none: `is_one * stride so far + (1 -
/// is_one) *
/// own`, from the largest stride to the smallest.
fn stride_of(parts: &[Part]) -> Option<Expr> {
    let mut stride = Expr::ZERO;
    for part in parts {
        let largest = part.max_size.checked_add(1)?;
        let is_one = (Expr::Const(largest) - part.size.clone()).floor_div(part.max_size.max(1));
        stride = is_one.clone() * stride + (Expr::Const(1) - is_one) * part.stride;
    }
    Some(stride)
}

/// Parts before the free one have one value; after it, some leading parts are whole, and the rest have one
/// value.
fn one_part_is_free(parts: &[Part]) -> TileConstraint {
    let one = |part: &Part| (part.size.clone(), Interval::new(1, 1));
    let whole = |part: &Part| (part.size.clone(), Interval::new(part.max_size, part.max_size));
    let mut conjunctions = Vec::new();
    for free in 0..parts.len() {
        let behind = &parts[free + 1..];
        for full in 0..=behind.len() {
            let before = parts[..free].iter().map(one);
            conjunctions.push(
                before
                    .chain(behind[..full].iter().map(whole))
                    .chain(behind[full..].iter().map(one))
                    .collect(),
            );
        }
    }
    TileConstraint::of(conjunctions)
}
