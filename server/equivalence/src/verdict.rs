//! What a comparison found.

use std::fmt;

/// What a comparison of two modules found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Instructions that differ in their term, and whose values were compared or follow from compared ones.
    pub compared: usize,
    /// Elements that were computed in both modules.
    pub elements: u64,
    /// What is not known to be equal, because it cannot be evaluated.
    pub open: Vec<Open>,
    /// Values that differ.
    pub differences: Vec<Difference>,
}

impl Verdict {
    /// Whether everything was compared and is equal.
    pub fn is_equal(&self) -> bool {
        self.open.is_empty() && self.differences.is_empty()
    }
}

/// An instruction whose values are not known to be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its name in the module after the rewrite.
    pub instruction: String,
    /// In words, without a full stop.
    pub reason: String,
}

/// An element that two modules compute differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Names of the instruction before and after the rewrite.
    pub before: String,
    pub after: String,
    /// The array of the result, nested tuples flattened.
    pub leaf: usize,
    /// The position of the element, in row-major order.
    pub position: i64,
    /// The values before and after the rewrite.
    pub was: String,
    pub is: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { before, after, leaf, position, was, is } = self;
        write!(f, "%{before} and %{after} differ: element {position} of array {leaf} was {was} and is {is}")
    }
}
