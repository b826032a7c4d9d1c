//! The elements of tiles: their positions in an array, and those that masks keep.

use eval::Reason;

/// The largest number of elements of a tile.
pub(crate) const MAX_ELEMENTS: i64 = 1 << 24;

/// How many elements a tile has.
pub(crate) fn count(sizes: &[i64]) -> Result<i64, Reason> {
    let count = sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size).filter(|_| size >= 0));
    count
        .filter(|&n| n <= MAX_ELEMENTS)
        .ok_or_else(|| format!("a tile of more than {MAX_ELEMENTS} elements").into())
}

/// Per element of a tile in row-major order, its row-major position in an array; `None` outside of the array.
///
/// Element `i` along a dimension is at `offset + i * stride`.
pub(crate) fn positions(
    array: &[i64],
    offsets: &[i64],
    sizes: &[i64],
    strides: &[i64],
) -> Result<Vec<Option<i64>>, Reason> {
    let mut places = Vec::with_capacity(count(sizes)? as usize);
    each_index(sizes, |index| {
        let mut place = Some(0i64);
        for (dim, &i) in index.iter().enumerate() {
            let at = strides[dim].checked_mul(i).and_then(|step| step.checked_add(offsets[dim]));
            let at = at.filter(|at| (0..array[dim]).contains(at));
            place = place.zip(at).and_then(|(place, at)| place.checked_mul(array[dim])?.checked_add(at));
        }
        places.push(place);
    });
    Ok(places)
}

/// Whether each element of a tile is below the bounds.
pub(crate) fn below(sizes: &[i64], bounds: &[i64]) -> Result<Vec<bool>, Reason> {
    let mut kept = Vec::with_capacity(count(sizes)? as usize);
    each_index(sizes, |index| kept.push(index.iter().zip(bounds).all(|(i, bound)| i < bound)));
    Ok(kept)
}

fn each_index(sizes: &[i64], mut f: impl FnMut(&[i64])) {
    let mut index = vec![0i64; sizes.len()];
    let count: i64 = sizes.iter().product();
    for _ in 0..count {
        cancel::tick();
        f(&index);
        for dim in (0..sizes.len()).rev() {
            index[dim] += 1;
            if index[dim] < sizes[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_outside_have_no_position() {
        let found = positions(&[3, 5], &[1, 3], &[3, 2], &[1, 1]);
        assert_eq!(found, Ok(vec![Some(8), Some(9), Some(13), Some(14), None, None]));
        assert_eq!(positions(&[5], &[-1], &[4], &[2]), Ok(vec![None, Some(1), Some(3), None]));
        assert_eq!(positions(&[], &[], &[], &[]), Ok(vec![Some(0)]));
        assert!(positions(&[1], &[0], &[1 << 40], &[1]).is_err());
    }

    #[test]
    fn masks_keep_what_is_below_all_bounds() {
        assert_eq!(below(&[2, 3], &[2, 1]), Ok(vec![true, false, false, true, false, false]));
    }
}
