//! Tiles through a reshape. A reshape is cut into the shortest groups of dimensions with equal numbers of
//! elements; in each group at most one dimension may be cut into tiles.
//! Source: `PropagateTileThroughReshape`, `codegen/tiling/experimental/reshape_analysis.cc`.

use indexing_map::Expr;

use crate::Reason;
use crate::space::TilingSpace;
use crate::tile::{DimTile, Tile, constant};

/// A group of dimensions on both sides with the same number of elements.
struct Group {
    from: Vec<usize>,
    to: Vec<usize>,
}

/// The tile of an array of dimensions `to` that holds the elements of `tile` of an array of dimensions `from`.
pub(super) fn through(space: &TilingSpace, tile: &Tile, from: &[i64], to: &[i64]) -> Result<Tile, Reason> {
    let kept: Vec<usize> = (0..to.len()).filter(|&dim| to[dim] != 1).collect();
    let target: Vec<i64> = kept.iter().map(|&dim| to[dim]).collect();
    let groups = groups(from, &target)?;
    let mut tiles: Tile = target.iter().map(|&size| DimTile::full(size)).collect();
    for group in &groups {
        let (sources, targets) = (long(from, &group.from), long(&target, &group.to));
        let sizes = |dims: &[i64], at: &[usize]| at.iter().map(|&dim| dims[dim]).collect::<Vec<i64>>();
        let (source_sizes, target_sizes) = (sizes(from, &sources), sizes(&target, &targets));
        let trimmed = |sizes: &[i64]| sizes.iter().copied().filter(|&size| size > 1).collect::<Vec<i64>>();
        if trimmed(&source_sizes) == trimmed(&target_sizes) {
            for (&source, &target) in sources.iter().zip(&targets) {
                tiles[target] = tile[source].clone();
            }
        } else if let [target] = targets[..]
            && sources.len() > 1
        {
            let moved: Tile = sources.iter().map(|&dim| tile[dim].clone()).collect();
            tiles[target] = collapsed(&source_sizes, &moved).simplified(space);
            if !space.is_symbolic {
                check_contiguous(&source_sizes, &moved, &target_sizes, &tiles[target..=target])?;
            }
        } else if let [source] = sources[..]
            && targets.len() > 1
        {
            let moved = expanded(&target_sizes, &tile[source]);
            for (&target, moved) in targets.iter().zip(moved) {
                tiles[target] = moved.simplified(space);
            }
            if !space.is_symbolic {
                let all: Tile = targets.iter().map(|&dim| tiles[dim].clone()).collect();
                check_contiguous(&source_sizes, &[tile[source].clone()], &target_sizes, &all)?;
            }
        } else {
            return Err("Unsupported reshape (kGeneric).".into());
        }
    }
    let mut result: Tile = to.iter().map(|&size| DimTile::full(size)).collect();
    for (&dim, tile) in kept.iter().zip(tiles) {
        result[dim] = tile;
    }
    Ok(result)
}

/// The groups, in order. Dimensions of size 1 at the end belong to the last group.
fn groups(from: &[i64], to: &[i64]) -> Result<Vec<Group>, Reason> {
    let (mut i, mut j, mut groups) = (0, 0, Vec::new());
    while i < from.len() || j < to.len() {
        let mut group = Group { from: Vec::new(), to: Vec::new() };
        let (mut a, mut b) = (1i64, 1i64);
        loop {
            if i < from.len() && (group.from.is_empty() || a < b) {
                a = a.checked_mul(from[i]).ok_or("a reshape beyond 64 bits")?;
                group.from.push(i);
                i += 1;
            } else if j < to.len() && (group.to.is_empty() || b < a) {
                b = b.checked_mul(to[j]).ok_or("a reshape beyond 64 bits")?;
                group.to.push(j);
                j += 1;
            } else {
                break;
            }
        }
        if i == from.len() {
            while j < to.len() && to[j] == 1 {
                group.to.push(j);
                j += 1;
            }
        }
        if j == to.len() {
            while i < from.len() && from[i] == 1 {
                group.from.push(i);
                i += 1;
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

/// The dimensions of more than one element, or the first one if there is none.
fn long(dims: &[i64], group: &[usize]) -> Vec<usize> {
    let long: Vec<usize> = group.iter().copied().filter(|&dim| dims[dim] > 1).collect();
    match long.is_empty() {
        true => group.iter().take(1).copied().collect(),
        false => long,
    }
}

/// The product of the sizes after each dimension.
fn strides(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; sizes.len()];
    for dim in (0..sizes.len().saturating_sub(1)).rev() {
        strides[dim] = strides[dim + 1].saturating_mul(sizes[dim + 1]);
    }
    strides
}

fn linearized(sizes: &[i64], indices: impl Iterator<Item = Expr>) -> Expr {
    let terms = strides(sizes).into_iter().zip(indices);
    terms.fold(Expr::ZERO, |sum, (stride, index)| sum + index * stride)
}

/// The index along each dimension, as XLA writes it: each division takes the remainder of the one before.
/// Source: `DelinearizeIndex`, `hlo/analysis/indexing_analysis.cc`.
pub(crate) fn delinearized(sizes: &[i64], linear: Expr) -> Vec<Expr> {
    let mut rest = linear;
    let digit = |stride: i64| {
        let digit = rest.clone().floor_div(stride);
        rest = rest.clone().modulo(stride);
        digit
    };
    strides(sizes).into_iter().map(digit).collect()
}

/// Several dimensions become one.
fn collapsed(sizes: &[i64], tiles: &[DimTile]) -> DimTile {
    let last = |tile: &DimTile| tile.offset.clone() + (tile.size.clone() - 1) * tile.stride.clone();
    let bounded = tiles.iter().map(|tile| last(tile).min(tile.upper_bound.clone() - 1));
    let mut stride = tiles.last().map_or(Expr::Const(1), |tile| tile.stride.clone());
    let mut inner = 1i64;
    for (tile, &size) in tiles.iter().zip(sizes).rev() {
        if constant(&tile.size) != Some(1) {
            stride = tile.stride.clone() * inner;
            break;
        }
        inner = inner.saturating_mul(size);
    }
    DimTile {
        offset: linearized(sizes, tiles.iter().map(|tile| tile.offset.clone())),
        size: tiles.iter().fold(Expr::Const(1), |product, tile| product * tile.size.clone()),
        stride,
        upper_bound: linearized(sizes, bounded) + 1,
    }
}

/// One dimension becomes several.
fn expanded(sizes: &[i64], tile: &DimTile) -> Vec<DimTile> {
    let first = delinearized(sizes, tile.offset.clone());
    let last = tile.offset.clone() + (tile.size.clone() - 1) * tile.stride.clone();
    let along = first.into_iter().zip(delinearized(sizes, last));
    let dims = along.map(|(offset, last)| DimTile {
        size: last.clone() - offset.clone() + 1,
        offset,
        stride: Expr::Const(1),
        upper_bound: last + 1,
    });
    dims.collect()
}

/// Refuses tiles whose elements have gaps on the side of one dimension.
/// Source: `VerifyReshapeContiguity`.
fn check_contiguous(
    source_sizes: &[i64],
    source: &[DimTile],
    target_sizes: &[i64],
    target: &[DimTile],
) -> Result<(), Reason> {
    let is_collapse = target.len() < source.len();
    let list = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let refused = |why: String| {
        let (from, to) = (list(source_sizes), list(target_sizes));
        Err(format!("Reshape is non-contiguous [{from}] -> [{to}]: {why}").into())
    };
    let (sizes, many) = if is_collapse { (source_sizes, source) } else { (target_sizes, target) };
    let outer = if is_collapse { &source[..source.len() - 1] } else { source };
    let mut source_strides = Vec::new();
    for tile in outer {
        match constant(&tile.stride).filter(|&stride| stride > 0) {
            Some(stride) => source_strides.push(stride),
            None => {
                return refused(format!("Expect constant positive source tile stride. Got: {}", tile.stride));
            }
        }
    }
    let mut strided = Vec::new();
    if is_collapse {
        strided.extend((0..source_strides.len()).filter(|&dim| source_strides[dim] > 1));
    } else if let Some(&stride) = source_strides.first().filter(|&&stride| stride > 1) {
        let flat = strides(sizes);
        strided.extend((0..sizes.len() - 1).rev().find(|&dim| flat[dim] == stride));
        if strided.is_empty() {
            return refused(format!(
                "Source tile stride (={stride}) does not match any of the flat strides of the target dimensions"
            ));
        }
    }
    match strided[..] {
        [] => {}
        [only] => {
            let other = (0..many.len()).find(|&dim| dim != only && constant(&many[dim].size) != Some(1));
            return match other {
                None => Ok(()),
                Some(dim) => refused(format!(
                    "For non-contiguous source tile stride, only the strided dimension {only} can have size > 1. \
                     Found: dim {dim} has size {}.",
                    many[dim].size
                )),
            };
        }
        _ => {
            let dims: Vec<String> = strided.iter().map(usize::to_string).collect();
            return refused(format!(
                "At most one dimension can have stride >1, found strided dimensions: [{}]",
                dims.join(", ")
            ));
        }
    }
    // Outer dimensions of one element, one dimension that is cut, inner dimensions that are whole.
    let first = many.iter().position(|tile| constant(&tile.size) != Some(1)).unwrap_or(many.len());
    let mut rest = many.len();
    let mut only_ones = true;
    while let Some(dim) = rest.checked_sub(1) {
        let Some(size) = constant(&many[dim].size) else { break };
        if is_whole(&many[dim], sizes[dim]) {
            only_ones &= size <= 1;
        } else if !(is_collapse && size == 1 && only_ones) {
            break;
        }
        rest = dim;
    }
    // Dimensions from `rest` on are whole: the last one that is cut is before it.
    match rest.checked_sub(1) {
        Some(last) if first < last => refused("Multiple dimensions are partially tiled".to_owned()),
        _ => Ok(()),
    }
}

fn is_whole(tile: &DimTile, size: i64) -> bool {
    let Some(elements) = constant(&tile.size) else { return false };
    elements == size
        || constant(&tile.stride).and_then(|stride| stride.checked_mul(elements)).is_some_and(|n| n == size)
}
