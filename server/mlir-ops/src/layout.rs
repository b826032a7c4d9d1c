//! The memory layout of the elements of a memref.

use mlir::lists::split;
use mlir::{ArrayType, integers};

use crate::affine_map::AffineMap;
use crate::source::Source;

/// The position in memory of element `(i, j, …)`, in elements from the start of the buffer.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// Row-major without gaps.
    Identity,
    /// `strided<[4, ?], offset: ?>`: the sum of index times stride. `None` is a dynamic entry.
    Strided { strides: Vec<Option<i64>>, offset: Option<i64> },
    /// An affine map to one number, or to the indices of a row-major array.
    Affine(AffineMap),
    /// `#xtile.layout<[1, 0]>`: without gaps, from the fastest to the slowest dimension.
    MinorToMajor(Vec<usize>),
    /// A layout that is not supported.
    Unknown,
}

impl Layout {
    /// The layout of a memref. `at` is an offset in the part of the text that defines its aliases.
    pub fn of(source: &Source<'_>, ty: &ArrayType, at: u32) -> Layout {
        let rank = ty.rank();
        let first = source.resolved(split(&ty.rest).first().unwrap_or(&""), at);
        let first = first.trim();
        if let Some(body) = first.strip_prefix("strided<") {
            return strided(body, rank).unwrap_or(Layout::Unknown);
        }
        if first.starts_with("affine_map") {
            return match AffineMap::parse(first) {
                Ok(map) if map.dims.len() == rank => Layout::Affine(map),
                _ => Layout::Unknown,
            };
        }
        if let Some(body) = first.strip_prefix("#xtile.layout<") {
            let order = integers(body.trim_end_matches('>')).unwrap_or_default();
            let order: Vec<usize> = order.into_iter().filter_map(|d| usize::try_from(d).ok()).collect();
            let is_permutation = order.len() == rank && (0..rank).all(|d| order.contains(&d));
            return if is_permutation { Layout::MinorToMajor(order) } else { Layout::Unknown };
        }
        // A number or another attribute is a memory space.
        Layout::Identity
    }
}

/// `[4, ?], offset: ?>`
fn strided(body: &str, rank: usize) -> Option<Layout> {
    let (list, behind) = body.trim_start().strip_prefix('[')?.split_once(']')?;
    let number = |text: &str| match text.trim() {
        "?" => Some(None),
        n => n.parse::<i64>().ok().map(Some),
    };
    let strides: Vec<Option<i64>> =
        list.split(',').filter(|s| !s.trim().is_empty()).map(number).collect::<Option<_>>()?;
    let offset = match behind.split_once("offset:") {
        Some((_, offset)) => number(offset.trim_end_matches('>'))?,
        None => Some(0),
    };
    (strides.len() == rank).then_some(Layout::Strided { strides, offset })
}
