//! Where two shapes differ, in words that stay short for tuples of thousands of elements.

use std::fmt;

use crate::shape::Shape;

/// Tuples of more elements are named by their size.
const SHOWN_ELEMENTS: usize = 8;

/// The first element at which two shapes are not compatible, or the shapes themselves.
pub(crate) struct Difference<'a> {
    path: Vec<usize>,
    pub(crate) expected: Brief<'a>,
    pub(crate) actual: Brief<'a>,
}

impl<'a> Difference<'a> {
    pub(crate) fn between(mut expected: &'a Shape, mut actual: &'a Shape) -> Difference<'a> {
        let mut path = Vec::new();
        while let (Some(a), Some(b)) = (expected.tuple_elements(), actual.tuple_elements())
            && a.len() == b.len()
            && let Some(at) = a.iter().zip(b).position(|(a, b)| !a.is_compatible(b))
        {
            path.push(at);
            (expected, actual) = (&a[at], &b[at]);
        }
        Difference { path, expected: Brief(expected), actual: Brief(actual) }
    }

    /// `element {0,1} of `; nothing where the shapes differ as a whole.
    pub(crate) fn place(&self) -> String {
        if self.path.is_empty() {
            return String::new();
        }
        let path: Vec<String> = self.path.iter().map(usize::to_string).collect();
        format!("element {{{}}} of ", path.join(","))
    }
}

/// A shape in a message.
pub(crate) struct Brief<'a>(&'a Shape);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.tuple_elements() {
            Some(elements) if elements.len() > SHOWN_ELEMENTS => {
                write!(f, "a tuple of {} elements", elements.len())
            }
            _ => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_that_differs_is_named() {
        let array = |n| Shape::array(syntax::hlo::ElementType::F32, &[n]);
        let words = |a: &Shape, b: &Shape| {
            let difference = Difference::between(a, b);
            format!("{}{} / {}", difference.place(), difference.expected, difference.actual)
        };
        assert_eq!(words(&array(2), &array(3)), "f32[2] / f32[3]");
        let nested = |n| Shape::tuple([array(1), Shape::tuple([array(n)])]);
        assert_eq!(words(&nested(2), &nested(3)), "element {1,0} of f32[2] / f32[3]");
        let long = |n: i64| Shape::tuple((0..n).map(array));
        assert_eq!(words(&long(9), &long(5000)), "a tuple of 9 elements / a tuple of 5000 elements");
    }
}
