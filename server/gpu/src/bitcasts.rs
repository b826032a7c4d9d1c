//! Reshapes and transposes that leave every element where it is in memory.

use ir::{AttributeKey, Op, Shape};

/// Dimensions and sizes in memory order, slowest first, without those of size 1.
fn physical(shape: &Shape) -> Option<Vec<(usize, i64)>> {
    let array = shape.as_array()?;
    let order = array.minor_to_major().into_iter().rev();
    Some(order.map(|dim| (dim, array.dims[dim])).filter(|(_, size)| *size != 1).collect())
}

/// Whether row-major linear positions of both shapes follow memory in the same way.
/// Source: `ShapeUtil::ReshapeIsBitcast`.
pub fn reshape_is_bitcast(from: &Shape, to: &Shape) -> bool {
    let (Some(a), Some(b)) = (physical(from), physical(to)) else { return false };
    // Groups of dimensions with equal products, in logical order; each group must be row-major inside and whole groups must
    // come in the same order in memory.
    let (Some(from), Some(to)) = (from.as_array(), to.as_array()) else { return false };
    if from.elements() != to.elements() || from.elements().is_none() {
        return false;
    }
    if from.elements() == Some(0) {
        return true;
    }
    let Some(groups) = groups(&from.dims, &to.dims) else { return false };
    let ranked = |physical: &[(usize, i64)], of: &[usize]| -> Option<Vec<usize>> {
        let mut order: Vec<usize> = Vec::new();
        let mut last_dim = None;
        for &(dim, _) in physical {
            let group = of[dim];
            match (order.last() == Some(&group), last_dim) {
                (true, Some(last)) if last < dim => {}
                (true, _) => return None,
                (false, _) if order.contains(&group) => return None,
                (false, _) => order.push(group),
            }
            last_dim = Some(dim);
        }
        Some(order)
    };
    match (ranked(&a, &groups.0), ranked(&b, &groups.1)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// Per dimension of both shapes, the number of the shortest group of equal products that contains it.
fn groups(from: &[i64], to: &[i64]) -> Option<(Vec<usize>, Vec<usize>)> {
    let (mut of_from, mut of_to) = (vec![0; from.len()], vec![0; to.len()]);
    let (mut i, mut j, mut group) = (0, 0, 0);
    while i < from.len() || j < to.len() {
        let (mut a, mut b) = (1i64, 1i64);
        loop {
            let take_from = i < from.len() && (a < b || (a == b && from[i] == 1) || (a == 1 && b == 1));
            if take_from {
                a = a.checked_mul(from[i])?;
                of_from[i] = group;
                i += 1;
            } else if j < to.len() && (b < a || to[j] == 1) {
                b = b.checked_mul(to[j])?;
                of_to[j] = group;
                j += 1;
            } else {
                break;
            }
        }
        if a != b {
            return None;
        }
        group += 1;
    }
    Some((of_from, of_to))
}

/// Source: `ShapeUtil::TransposeIsBitcast`.
pub(crate) fn transpose_is_bitcast(operand: &Shape, transpose: &Op) -> bool {
    let dims = transpose.attributes.ints(AttributeKey::Dimensions);
    let (Some(from), Some(to)) = (physical(operand), physical(&transpose.shape)) else { return false };
    let moved: Option<Vec<usize>> =
        to.iter().map(|(dim, _)| usize::try_from(*dims.get(*dim)?).ok()).collect();
    moved.is_some_and(|moved| moved.into_iter().eq(from.into_iter().map(|(dim, _)| dim)))
}

/// Whether one shape can be read as the other without moving an element, by a reshape or by a transpose.
/// Source: `ShapeUtil::IsReshapeOrTransposeBitcast`.
pub(crate) fn is_bitcast(from: &Shape, to: &Shape) -> bool {
    let sizes = |shape: &Shape| {
        physical(shape).map(|list| list.into_iter().map(|(_, size)| size).collect::<Vec<i64>>())
    };
    reshape_is_bitcast(from, to) || (sizes(from).is_some() && sizes(from) == sizes(to))
}

#[cfg(test)]
mod tests {
    use ir::{ArrayShape, ElementType, Layout};

    use super::*;

    fn shape(dims: &[i64], minor_to_major: &[i64]) -> Shape {
        let layout = Layout { minor_to_major: minor_to_major.to_vec(), ..Layout::row_major(dims.len()) };
        let array = ArrayShape {
            element: ElementType::F32,
            dims: dims.to_vec(),
            dynamic: Vec::new(),
            layout: Some(layout),
        };
        Shape::Array(array.into())
    }

    /// Whether equal row-major positions have equal places in memory, by enumeration.
    fn by_enumeration(from: &Shape, to: &Shape) -> bool {
        let places = |shape: &Shape| {
            let array = shape.as_array().unwrap();
            let elements = array.elements().unwrap();
            (0..elements)
                .map(move |linear| {
                    let mut left = linear;
                    let mut index = vec![0; array.rank()];
                    for (i, &size) in array.dims.iter().enumerate().rev() {
                        index[i] = left % size;
                        left /= size;
                    }
                    let (mut place, mut stride) = (0, 1);
                    for dim in array.minor_to_major() {
                        place += index[dim] * stride;
                        stride *= array.dims[dim];
                    }
                    place
                })
                .collect::<Vec<_>>()
        };
        places(from) == places(to)
    }

    #[test]
    fn reshapes_agree_with_enumeration() {
        let shapes = [
            shape(&[4, 6], &[1, 0]),
            shape(&[4, 6], &[0, 1]),
            shape(&[24], &[0]),
            shape(&[2, 2, 6], &[2, 1, 0]),
            shape(&[2, 2, 6], &[1, 0, 2]),
            shape(&[2, 2, 6], &[0, 1, 2]),
            shape(&[4, 1, 6], &[2, 1, 0]),
            shape(&[4, 1, 6], &[0, 2, 1]),
            shape(&[4, 2, 3], &[2, 0, 1]),
            shape(&[4, 2, 3], &[0, 2, 1]),
            shape(&[6, 4], &[1, 0]),
            shape(&[1, 4, 6, 1], &[0, 1, 2, 3]),
        ];
        for from in &shapes {
            for to in &shapes {
                assert_eq!(reshape_is_bitcast(from, to), by_enumeration(from, to), "{from} to {to}");
            }
        }
    }
}
