//! Array types with the extents that are known, and the memory layout of their elements.

use mlir::{integers, shaped};

use crate::affine_map::AffineMap;
use crate::no_map::NoMap;
use crate::source::Source;

/// `tensor<4x?xf32>`, `memref<…>` or `vector<…>`, of known rank.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayType {
    pub kind: ArrayKind,
    /// The extents in elements; `None` for a dynamic one.
    pub extents: Vec<Option<i64>>,
    /// The upper bound of each extent, if the encoding gives one.
    pub bounds: Vec<Option<i64>>,
    pub element: String,
    pub layout: Layout,
    /// The text after the first comma, as written: an encoding, a layout, a memory space. Empty if there is
    /// none.
    pub rest: String,
    /// The type as written, possibly an alias.
    pub written: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayKind {
    Tensor,
    Memref,
    Vector,
}

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

impl ArrayType {
    /// Reads the array type that `ty` denotes. The error says why it is not an array type, or is incomplete.
    pub fn read(source: &Source<'_>, ty: &str, at: u32) -> Result<ArrayType, NoMap> {
        let resolved = source.resolved(ty, at);
        let array = shaped(&resolved).ok_or_else(|| NoMap::Type(format!("{resolved} is no array").into()))?;
        let dimensions = array
            .dimensions
            .as_ref()
            .ok_or_else(|| NoMap::Type(format!("the rank of {resolved} is not known").into()))?;
        let extents: Vec<Option<i64>> = dimensions.iter().map(|d| i64::try_from((*d)?).ok()).collect();
        // Extents that overflow 64 bits are errors, not dynamic.
        let unknown = extents.iter().filter(|e| e.is_none()).count();
        let head = resolved.split(array.element).next().unwrap_or_default();
        if head.matches('?').count() < unknown {
            return Err(NoMap::Type(format!("an extent of {resolved} is no number of 64 bits").into()));
        }
        let kind = match array.kind {
            "memref" => ArrayKind::Memref,
            "vector" => ArrayKind::Vector,
            _ => ArrayKind::Tensor,
        };
        let layout = match kind {
            ArrayKind::Memref => layout(source, array.rest, at, extents.len()),
            _ => Layout::Identity,
        };
        let mut bounds = vec![None; extents.len()];
        if let Some((_, list)) = array.rest.split_once("bounds")
            && let Some((_, list)) = list.split_once(['<', '['])
        {
            let list = list.split(['>', ']']).next().unwrap_or_default();
            for (bound, written) in bounds.iter_mut().zip(list.split(',')) {
                *bound = written.trim().parse().ok().filter(|&n| n >= 0);
            }
        }
        let (element, rest) = (array.element.to_owned(), array.rest.to_owned());
        let written = ty.trim().to_owned();
        Ok(ArrayType { kind, extents, bounds, element, layout, rest, written })
    }

    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// Whether the two types are equal, ignoring the text after the first comma.
    pub fn is_like(&self, other: &ArrayType) -> bool {
        self.kind == other.kind && self.extents == other.extents && self.element == other.element
    }

    /// The same tensor type with other extents, without bounds.
    pub fn with_extents(&self, extents: &[Option<i64>]) -> ArrayType {
        if extents == self.extents {
            return self.clone();
        }
        let shape: String =
            extents.iter().map(|e| e.map_or_else(|| "?x".to_owned(), |e| format!("{e}x"))).collect();
        let rest = if self.rest.is_empty() { String::new() } else { format!(", {}", self.rest) };
        ArrayType {
            extents: extents.to_vec(),
            bounds: vec![None; extents.len()],
            written: format!("tensor<{shape}{}{rest}>", self.element),
            ..self.clone()
        }
    }

    /// All extents, if every one is static.
    pub fn static_extents(&self) -> Option<Vec<i64>> {
        self.extents.iter().copied().collect()
    }
}

fn layout(source: &Source<'_>, rest: &str, at: u32, rank: usize) -> Layout {
    let first = first_of_list(rest);
    let first = source.resolved(first, at);
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

/// The text before the first top-level comma.
fn first_of_list(list: &str) -> &str {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return &list[..at],
            _ => {}
        }
        before = c;
    }
    list
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

#[cfg(test)]
mod tests {
    use mlir::{PieceState, parse};

    use super::*;

    #[test]
    fn types_are_read_and_written() {
        let text = "!t = tensor<4x?x!q.u<i8:f32>, #e<a>>\n";
        let parsed = parse(text, PieceState::default());
        let source = Source::alone(&parsed, text);
        let read = |ty: &str| ArrayType::read(&source, ty, text.len() as u32);
        let ty = read("!t").expect("it is an array");
        assert_eq!(
            (ty.extents.as_slice(), &*ty.element, &*ty.rest),
            (&[Some(4), None][..], "!q.u<i8:f32>", "#e<a>")
        );
        assert_eq!(ty.with_extents(&[None]).written, "tensor<?x!q.u<i8:f32>, #e<a>>");
        assert_eq!(ty.with_extents(&[Some(4), None]).written, "!t");
        assert_eq!(read("tensor<f32>").map(|t| t.rank()), Ok(0));
        for not in ["tensor<*xf32>", "f32", "tensor<99999999999999999999xf32>", "tensor<"] {
            assert!(read(not).is_err(), "{not}");
        }
    }
}
