//! Shapes: element type, dimension sizes, layout. Cheap to clone and to compare.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use syntax::hlo::{ElementType, LayoutNode, Parse, ShapeId, ShapeNode};

use crate::element_type::ElementTypeExt;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Shape {
    Array(Arc<ArrayShape>),
    Tuple(Arc<[Shape]>),
    Token,
    Opaque,
    /// `b(f32[2])`: memory that is written in place.
    Buffer(Arc<Shape>),
}

/// An array: `f32[8,<=16]{1,0}`. A scalar has no dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    pub element: ElementType,
    /// Sizes, or upper bounds where [`Self::dynamic`] says so. Negative for an unknown extent, see
    /// [`Self::extent`].
    pub dims: Vec<i64>,
    /// One flag per dimension, or empty where all are static.
    pub dynamic: Vec<bool>,
    /// `None` where the text gives none, which means row-major.
    pub layout: Option<Layout>,
}

/// How the elements lie in memory. Source: `xla/layout.h`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Dimension numbers, the fastest first.
    pub minor_to_major: Vec<i64>,
    pub tiles: Vec<Tile>,
    /// Bits of an element in memory where they differ from its type's; 0 else.
    pub element_bits: i64,
    pub memory_space: i64,
    pub tail_alignment: i64,
    /// Types of indices and pointers where they are stated: `#(u32)`, `*(u32)`.
    pub index_type: Option<ElementType>,
    pub pointer_type: Option<ElementType>,
    /// `SC(dim:index,…)`: a dimension and the indices at which it is split between memories.
    pub split: Option<Vec<i64>>,
    pub dynamic_metadata_bytes: i64,
    /// Fields that this vocabulary lacks, as they are written.
    pub unknown: String,
}

/// Sizes of a tile, most major first; `i64::MIN` is `*`: combined with the next dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tile(pub Vec<i64>);

/// The size of a dimension without bound (`?`): unknown, at most `i64::MAX`.
pub const UNBOUNDED: i64 = !i64::MAX;

/// The extent of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Known(i64),
    /// A number from 0 to `at_most` that only the running program knows.
    Unknown {
        at_most: i64,
    },
}

impl Shape {
    /// Whether two lists are equal. Equal arrays of one text are usually shared, so each pair of them is compared once.
    pub(crate) fn are_same(list: &[Shape], other: &[Shape]) -> bool {
        let mut known = FxHashSet::default();
        let mut is_same = |one: &Shape, other: &Shape| match (one, other) {
            (Shape::Tuple(one), Shape::Tuple(other)) => Shape::are_same(one, other),
            (Shape::Array(one), Shape::Array(other)) => {
                let pair = (Arc::as_ptr(one), Arc::as_ptr(other));
                known.contains(&pair) || one == other && known.insert(pair)
            }
            _ => one == other,
        };
        list.len() == other.len() && list.iter().zip(other).all(|(one, other)| is_same(one, other))
    }

    pub fn array(element: ElementType, dims: &[i64]) -> Shape {
        Shape::Array(Arc::new(ArrayShape { element, dims: dims.to_vec(), dynamic: Vec::new(), layout: None }))
    }

    pub fn tuple(elements: impl IntoIterator<Item = Shape>) -> Shape {
        Shape::Tuple(elements.into_iter().collect())
    }

    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(array) => Some(array),
            Shape::Buffer(inner) => inner.as_array(),
            _ => None,
        }
    }

    /// Dimension sizes; none for scalars and for shapes that are no array.
    pub fn dims(&self) -> &[i64] {
        self.as_array().map_or(&[], |a| &a.dims)
    }

    pub fn element(&self) -> Option<ElementType> {
        self.as_array().map(|a| a.element)
    }

    pub fn tuple_elements(&self) -> Option<&[Shape]> {
        match self {
            Shape::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// Follows `path` into a tuple.
    pub fn element_at(&self, path: &[i64]) -> Option<&Shape> {
        path.iter().try_fold(self, |shape, &i| shape.tuple_elements()?.get(usize::try_from(i).ok()?))
    }

    /// Whether all extents are known, in all elements of a tuple.
    pub fn is_static(&self) -> bool {
        match self {
            Shape::Array(array) => !array.dynamic.contains(&true) && array.dims.iter().all(|&d| d >= 0),
            Shape::Tuple(elements) => elements.iter().all(Shape::is_static),
            Shape::Buffer(inner) => inner.is_static(),
            Shape::Token | Shape::Opaque => true,
        }
    }

    /// The shape with unknown extents in place of bounds: XLA takes the bound of `<=16` for the size, other
    /// languages mean any number up to it.
    #[must_use]
    pub fn with_unknown_extents(&self) -> Shape {
        match self {
            Shape::Array(array) if array.dynamic.contains(&true) => {
                let extent = |(k, &size): (usize, &i64)| match array.is_dynamic(k) && size >= 0 {
                    true => !size,
                    false => size,
                };
                let dims = array.dims.iter().enumerate().map(extent).collect();
                Shape::Array(Arc::new(ArrayShape { dims, ..ArrayShape::clone(array) }))
            }
            Shape::Tuple(elements) => Shape::tuple(elements.iter().map(Shape::with_unknown_extents)),
            _ => self.clone(),
        }
    }

    /// Same tree, element types and dimensions; layouts and dynamic flags do not matter.
    /// Source: `ShapeUtil::Compatible`.
    pub fn is_compatible(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Array(a), Shape::Array(b)) => {
                // An unknown extent may be any.
                let same = |(a, b): (&i64, &i64)| a == b || *a < 0 || *b < 0;
                a.element == b.element && a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(same)
            }
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is_compatible(b))
            }
            (Shape::Buffer(a), Shape::Buffer(b)) => a.is_compatible(b),
            (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
            _ => false,
        }
    }

    /// Bytes of all arrays in it; nothing where 64 bits do not hold the number, or a dimension has no bound.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Shape::Array(array) => array.bytes(),
            Shape::Tuple(elements) => elements.iter().try_fold(0u64, |sum, e| sum.checked_add(e.bytes()?)),
            Shape::Buffer(inner) => inner.bytes(),
            Shape::Token | Shape::Opaque => Some(0),
        }
    }

    /// The shape with `None` in place of layouts that are row-major and state nothing else, so that equal shapes compare equal.
    #[must_use]
    pub fn without_default_layouts(&self) -> Shape {
        match self {
            Shape::Array(array) => match &array.layout {
                Some(layout) if *layout == Layout::row_major(array.rank()) => {
                    Shape::Array(Arc::new(ArrayShape { layout: None, ..ArrayShape::clone(array) }))
                }
                _ => self.clone(),
            },
            Shape::Tuple(elements) => {
                Shape::Tuple(elements.iter().map(Self::without_default_layouts).collect())
            }
            Shape::Buffer(inner) => Shape::Buffer(Arc::new(inner.without_default_layouts())),
            Shape::Token | Shape::Opaque => self.clone(),
        }
    }

    /// The shape with row-major layouts in place of `None`.
    #[must_use]
    pub fn with_default_layouts(&self) -> Shape {
        match self {
            Shape::Array(array) if array.layout.is_none() && array.rank() > 0 => {
                let layout = Some(Layout::row_major(array.rank()));
                Shape::Array(Arc::new(ArrayShape { layout, ..ArrayShape::clone(array) }))
            }
            Shape::Tuple(elements) => Shape::tuple(elements.iter().map(Self::with_default_layouts)),
            other => other.clone(),
        }
    }

    /// The shape without its layouts.
    #[must_use]
    pub fn without_layouts(&self) -> Shape {
        match self {
            Shape::Array(array) if array.layout.is_none() => self.clone(),
            Shape::Array(array) => {
                Shape::Array(Arc::new(ArrayShape { layout: None, ..ArrayShape::clone(array) }))
            }
            Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(Self::without_layouts).collect()),
            Shape::Buffer(inner) => Shape::Buffer(Arc::new(inner.without_layouts())),
            Shape::Token | Shape::Opaque => self.clone(),
        }
    }

    /// The shape in a text, if the text is one shape and nothing else.
    pub fn from_text(text: &str) -> Option<Shape> {
        let (parse, value) = syntax::hlo::parse_fragment(text, syntax::hlo::Fragment::Shape);
        let Some(syntax::hlo::ValueNode::Shape(id)) = value.filter(|_| parse.errors.is_empty()) else {
            return None;
        };
        let mut known = Vec::with_capacity(parse.shapes.len());
        for id in 0..parse.shapes.len() {
            known.push(Shape::from_syntax(&parse, &known, ShapeId(id as u32)));
        }
        known.get(id.0 as usize).cloned()
    }

    /// The shape that `id` names in `parse`.
    pub fn from_syntax(parse: &Parse, known: &[Shape], id: ShapeId) -> Shape {
        match &parse.shapes[id.0 as usize] {
            ShapeNode::Array { element: ElementType::Token, .. } => Shape::Token,
            ShapeNode::Array { element: ElementType::Opaque, .. } => Shape::Opaque,
            ShapeNode::Array { element, dims: (start, rank), layout } => {
                let raw = parse.ints(*start, *rank);
                let is_dynamic = |d: &i64| *d < 0;
                let dims = raw.iter().map(|&d| if d < 0 && d != UNBOUNDED { -(d + 1) } else { d }).collect();
                let dynamic = match raw.iter().any(is_dynamic) {
                    true => raw.iter().map(is_dynamic).collect(),
                    false => Vec::new(),
                };
                let layout = layout.map(|l| Layout::from_syntax(&parse.layouts[l as usize]));
                Shape::Array(Arc::new(ArrayShape { element: *element, dims, dynamic, layout }))
            }
            // Elements come before the tuple that holds them.
            ShapeNode::Tuple(elements) => {
                Shape::Tuple(elements.iter().map(|e| known[e.0 as usize].clone()).collect())
            }
            ShapeNode::Buffer(inner) => Shape::Buffer(Arc::new(known[inner.0 as usize].clone())),
        }
    }
}

impl ArrayShape {
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The extent of a dimension; an upper bound ([`Self::dynamic`]) counts as known, as it does for XLA.
    pub fn extent(&self, dim: usize) -> Option<Extent> {
        let &size = self.dims.get(dim)?;
        Some(if size < 0 { Extent::Unknown { at_most: !size } } else { Extent::Known(size) })
    }

    /// Number of elements (of the bounds, where dynamic); nothing where 64 bits do not hold it.
    pub fn elements(&self) -> Option<i64> {
        if self.dims.contains(&0) {
            return Some(0);
        }
        self.dims.iter().try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) })
    }

    pub fn bytes(&self) -> Option<u64> {
        let elements = self.elements()?.unsigned_abs();
        let stated = self.layout.as_ref().map_or(0, |l| l.element_bits);
        let bits = match u64::try_from(stated) {
            Ok(bits) if bits > 0 => bits,
            // Without a stated width XLA keeps a sub-byte element in a byte of its own.
            _ => u64::from(self.element.bits()?).next_multiple_of(8),
        };
        elements.checked_mul(bits).map(|n| n.div_ceil(8))
    }

    pub fn is_dynamic(&self, dim: usize) -> bool {
        self.dynamic.get(dim).copied().unwrap_or(false)
    }

    /// Minor-to-major order of the dimensions: the written one if it is a permutation, else row-major.
    pub fn minor_to_major(&self) -> Vec<usize> {
        let default = || (0..self.rank()).rev().collect();
        let Some(layout) = &self.layout else { return default() };
        let mut seen = vec![false; self.rank()];
        for &d in &layout.minor_to_major {
            match usize::try_from(d).ok().and_then(|d| seen.get_mut(d)) {
                Some(seen) if !*seen => *seen = true,
                _ => return default(),
            }
        }
        if seen.contains(&false) {
            return default();
        }
        layout.minor_to_major.iter().map(|&d| d as usize).collect()
    }
}

impl Layout {
    /// Dimensions in descending order, the last one the fastest.
    pub fn row_major(rank: usize) -> Layout {
        Layout {
            minor_to_major: (0..rank as i64).rev().collect(),
            tiles: Vec::new(),
            element_bits: 0,
            memory_space: 0,
            tail_alignment: 1,
            index_type: None,
            pointer_type: None,
            split: None,
            dynamic_metadata_bytes: 0,
            unknown: String::new(),
        }
    }

    pub(crate) fn from_syntax(node: &LayoutNode) -> Layout {
        Layout {
            minor_to_major: node.minor_to_major.clone(),
            tiles: node.tiles.iter().cloned().map(Tile).collect(),
            element_bits: node.element_bits,
            memory_space: node.memory_space,
            tail_alignment: node.tail_alignment,
            index_type: node.index_type,
            pointer_type: node.pointer_type,
            split: node.split.clone(),
            dynamic_metadata_bytes: node.dynamic_metadata_bytes,
            unknown: node.unknown.clone(),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Array(array) => array.fmt(f),
            Shape::Tuple(elements) => {
                f.write_str("(")?;
                for (i, element) in elements.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str(")")
            }
            Shape::Token => f.write_str("token[]"),
            Shape::Opaque => f.write_str("opaque[]"),
            Shape::Buffer(inner) => write!(f, "b({inner})"),
        }
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        for (i, &dim) in self.dims.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match dim {
                UNBOUNDED => write!(f, "{comma}?")?,
                _ if dim < 0 => write!(f, "{comma}<={}", !dim)?,
                _ if self.is_dynamic(i) => write!(f, "{comma}<={dim}")?,
                _ => write!(f, "{comma}{dim}")?,
            }
        }
        f.write_str("]")?;
        match &self.layout {
            Some(layout) => layout.fmt(f),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut details = String::new();
        for (i, Tile(tile)) in self.tiles.iter().enumerate() {
            let sizes: Vec<_> =
                tile.iter().map(|&s| if s == UNBOUNDED { "*".to_owned() } else { s.to_string() }).collect();
            details += &format!("{}({})", if i == 0 { "T" } else { "" }, sizes.join(","));
        }
        if self.tail_alignment > 1 {
            details += &format!("L({})", self.tail_alignment);
        }
        if let Some(index) = self.index_type {
            details += &format!("#({index})");
        }
        if let Some(pointer) = self.pointer_type {
            details += &format!("*({pointer})");
        }
        if self.element_bits != 0 {
            details += &format!("E({})", self.element_bits);
        }
        if self.memory_space != 0 {
            details += &format!("S({})", self.memory_space);
        }
        if let Some([dimension, indices @ ..]) = self.split.as_deref() {
            let indices: Vec<_> = indices.iter().map(i64::to_string).collect();
            details += &format!("SC({dimension}:{})", indices.join(","));
        }
        if self.dynamic_metadata_bytes != 0 {
            details += &format!("M({})", self.dynamic_metadata_bytes);
        }
        details += &self.unknown;
        if self.minor_to_major.is_empty() && details.is_empty() {
            return Ok(());
        }
        let order: Vec<_> = self.minor_to_major.iter().map(i64::to_string).collect();
        let colon = if details.is_empty() { "" } else { ":" };
        write!(f, "{{{}{colon}{details}}}", order.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(Shape::array(ElementType::F32, &[8, 16]).bytes(), Some(512));
        assert_eq!(Shape::array(ElementType::S4, &[3]).bytes(), Some(3));
        assert_eq!(Shape::array(ElementType::F32, &[i64::MAX, i64::MAX]).bytes(), None);
        assert_eq!(Shape::array(ElementType::F32, &[i64::MAX, i64::MAX, 0]).bytes(), Some(0));
        assert_eq!(Shape::array(ElementType::F32, &[i64::MAX]).bytes(), None);
    }
}
