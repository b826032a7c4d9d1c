//! What a result shape follows from, and the checks that all opcodes share.

use std::sync::Arc;

use syntax::hlo::{AttributeKey, ElementType};

use super::problem::{At, COUNT, Problem, Reason, SHAPE, element, operand, operand_type, value};
use crate::attributes::{AttributeView, Callee};
use crate::block::Segment;
use crate::element_type::ElementTypeExt;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

pub(super) type Inferred<T = Shape> = Result<T, Reason>;

/// A called computation from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    pub parameters: Vec<Shape>,
    pub result: Shape,
    /// `execution_thread="…"`; empty for the main one.
    pub thread: Box<str>,
    /// `sharding={…}` of the root.
    pub root_sharding: Option<Box<str>>,
    /// `sharding={…}` of parameter 0.
    pub first_sharding: Option<Box<str>>,
}

/// All that the result shape of an op may depend on.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub operands: &'a [&'a Shape],
    pub attributes: AttributeView<'a>,
    /// The shape that the text gives. Ops whose shape does not follow (broadcast, reshape, convert, …) are held against
    /// it and answer it; without it they have none.
    pub declared: Option<&'a Shape>,
    /// The computation of a name. Checks that need it are skipped where it is `None`.
    pub called: &'a dyn Fn(Callee<'_>) -> Option<Arc<Called>>,
}

pub(super) fn ensure(holds: bool, at: At, message: impl FnOnce() -> String) -> Inferred<()> {
    if holds { Ok(()) } else { Err(Problem::at(at, message())) }
}

impl<'a> Given<'a> {
    pub(super) fn operand(&self, i: usize) -> Inferred<&'a Shape> {
        let missing =
            || Problem::at(COUNT, format!("expected operand {i}, but there are {}", self.operands.len()));
        self.operands.get(i).copied().ok_or_else(missing)
    }

    pub(super) fn array(&self, i: usize) -> Inferred<&'a ArrayShape> {
        let shape = self.operand(i)?;
        shape.as_array().ok_or_else(|| {
            Problem::at(operand(i), format!("expected operand {i} to be an array, but it is {shape}"))
        })
    }

    pub(super) fn count(&self, expected: usize) -> Inferred<()> {
        let count = self.operands.len();
        ensure(count == expected, COUNT, || format!("expected {expected} operands, but there are {count}"))
    }

    /// The declared shape.
    pub(super) fn declared(&self) -> Inferred<&'a Shape> {
        let message = "the shape does not follow from the operands: it must be written";
        self.declared.ok_or_else(|| Problem::at(SHAPE, message))
    }

    pub(super) fn declared_array(&self) -> Inferred<&'a ArrayShape> {
        let shape = self.declared()?;
        let reason = || Problem::at(SHAPE, format!("expected an array, but the shape is {shape}"));
        shape.as_array().ok_or_else(reason)
    }

    pub(super) fn ints(&self, key: AttributeKey) -> &'a [i64] {
        self.attributes.ints(key)
    }

    /// The attribute as dimension numbers of an array: in range, none twice.
    pub(super) fn dimensions(&self, key: AttributeKey, array: &ArrayShape) -> Inferred<Vec<usize>> {
        dimensions(self.ints(key), array.rank(), key)
    }

    /// The attribute as one dimension number.
    pub(super) fn dimension(&self, key: AttributeKey, array: &ArrayShape) -> Inferred<usize> {
        let dims = self.dimensions(key, array)?;
        let count = dims.len();
        ensure(count == 1, value(key), || format!("expected {key} to be one dimension, but it has {count}"))?;
        Ok(dims[0])
    }

    pub(super) fn computation(&self, key: AttributeKey) -> Option<Arc<Called>> {
        (self.called)(self.attributes.computation(key)?)
    }
}

/// `numbers` as dimensions of an array of rank `rank`: in range, none twice.
pub(super) fn dimensions(numbers: &[i64], rank: usize, key: AttributeKey) -> Inferred<Vec<usize>> {
    let mut dims: Vec<usize> = Vec::with_capacity(numbers.len().min(rank));
    let mut seen = vec![false; if rank > 64 { rank } else { 0 }];
    let mut seen_below_64 = 0u64;
    for (i, &number) in numbers.iter().enumerate() {
        let dim = usize::try_from(number).ok().filter(|&dim| dim < rank);
        let dim = dim.ok_or_else(|| {
            let message =
                format!("expected {key} to name dimensions of a rank-{rank} array, but it has {number}");
            Problem::at(element(key, i), message)
        })?;
        let is_new = match seen.get_mut(dim) {
            Some(seen) => !std::mem::replace(seen, true),
            None => seen_below_64 & 1 << dim == 0,
        };
        if dim < 64 {
            seen_below_64 |= 1 << dim;
        }
        ensure(is_new, element(key, i), || format!("{key} names dimension {dim} twice"))?;
        dims.push(dim);
    }
    Ok(dims)
}

/// Sorted as well.
pub(super) fn sorted_dimensions(numbers: &[i64], rank: usize, key: AttributeKey) -> Inferred<Vec<usize>> {
    if !numbers.is_sorted() {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        let text: Vec<String> = sorted.iter().map(i64::to_string).collect();
        let mut problem =
            Problem::at(value(key), format!("expected {key} in ascending order, but it is {numbers:?}"));
        problem.fix = Some((format!("sort {key}"), format!("{{{}}}", text.join(","))));
        return Err(problem);
    }
    dimensions(numbers, rank, key)
}

/// An array without layout.
pub(crate) fn array(element: ElementType, dims: Vec<i64>) -> Shape {
    Shape::Array(Arc::new(ArrayShape { element, dims, dynamic: Vec::new(), layout: None }))
}

/// The array without its layout; its dynamic dimensions stay.
pub(super) fn like(shape: &ArrayShape, element: ElementType) -> Shape {
    Shape::Array(Arc::new(ArrayShape {
        element,
        dims: shape.dims.clone(),
        dynamic: shape.dynamic.clone(),
        layout: None,
    }))
}

/// One shape, or a tuple of several.
pub(super) fn one_or_tuple(mut shapes: Vec<Shape>) -> Shape {
    match shapes.len() {
        1 => shapes.swap_remove(0),
        _ => Shape::Tuple(shapes.into()),
    }
}

/// The same size; a dimension without bound may have any.
pub(super) fn fits(a: i64, b: i64) -> bool {
    a == b || a == UNBOUNDED || b == UNBOUNDED
}

pub(crate) fn same_dims(a: &ArrayShape, b: &ArrayShape) -> bool {
    a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(|(&a, &b)| fits(a, b))
}

/// The same element type up to the precision of floating types.
pub(crate) fn same_kind(a: ElementType, b: ElementType) -> bool {
    a == b || (a.is_floating() && b.is_floating())
}

/// Operand `i` is of another type than the result, while `others` are of its type: then it is the stranger among them.
pub(super) fn no_stranger(given: &Given<'_>, i: usize, others: &[usize]) -> Inferred<()> {
    let Some(declared) = given.declared.and_then(Shape::as_array) else { return Ok(()) };
    let found = given.array(i)?;
    let is_like = |i: &usize| given.array(*i).is_ok_and(|other| same_kind(other.element, declared.element));
    let holds = same_kind(found.element, declared.element) || !others.iter().all(is_like);
    ensure(holds, operand_type(i), || {
        format!("expected operand {i} to have the type of {declared}, but it is {found}")
    })
}

/// The more precise of two types of the same kind.
pub(super) fn higher_precision(a: ElementType, b: ElementType) -> ElementType {
    if b.is_floating() && b.bits() > a.bits() { b } else { a }
}

pub(super) fn is_integral(element: ElementType) -> bool {
    element.is_signed_integer() || element.is_unsigned_integer()
}

/// Arithmetic on a size: stays unbounded, and has 64 bits.
pub(super) fn size(dim: i64, at: At, f: impl FnOnce(i64) -> Option<i64>) -> Inferred<i64> {
    match dim {
        UNBOUNDED => Ok(UNBOUNDED),
        dim => f(dim).ok_or_else(|| Problem::at(at, "a size is beyond 64 bits")),
    }
}

/// `{1,2}`, as a shape or an attribute has it.
pub(super) fn list(numbers: &[i64]) -> String {
    let text: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("{{{}}}", text.join(","))
}

impl Called {
    /// From the parts of a computation, in order; nothing where a shape is not known, where a part could not be read, or
    /// where header and root contradict each other: that is reported there.
    pub fn of<'a>(segments: impl Iterator<Item = &'a Segment> + Clone) -> Option<Called> {
        if !segments.clone().all(|segment| segment.is_complete) {
            return None;
        }
        let mut numbered = Vec::new();
        for segment in segments.clone() {
            for (number, shape) in &segment.parameters {
                numbered.push((*number, shape.clone()?));
            }
        }
        numbered.sort_by_key(|(number, _)| *number);
        let is_complete = numbered.iter().enumerate().all(|(i, (number, _))| i == *number as usize);
        let marked = segments.clone().find(|segment| segment.has_root);
        let root = marked.or(segments.clone().last())?;
        let result = root.root_shape.clone()?;
        let declared = segments.clone().find_map(|segment| segment.declared_result.as_ref());
        if declared.is_some_and(|declared| !declared.is_compatible(&result)) {
            return None;
        }
        let root_sharding = root.root_sharding.clone();
        let first_sharding = segments.clone().find_map(|segment| segment.first_sharding.clone());
        let thread = segments.map(|segment| &segment.thread).find(|thread| !thread.is_empty());
        is_complete.then(|| Called {
            parameters: numbered.into_iter().map(|(_, shape)| shape).collect(),
            result,
            thread: thread.cloned().unwrap_or_default(),
            root_sharding,
            first_sharding,
        })
    }
}
