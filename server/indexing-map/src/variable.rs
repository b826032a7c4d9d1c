//! A variable of a map: its bounds and name.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::interval::Interval;

/// A variable of a map: closed bounds and an optional name. Equality and hash ignore the name.
#[derive(Clone, Debug)]
pub struct Variable {
    pub bounds: Interval,
    /// The name, or `None` to print `d0`, `s0` or `rt0` by kind and position.
    pub name: Option<Arc<str>>,
}

impl Variable {
    pub fn new(lower: i64, upper: i64) -> Self {
        Variable { bounds: Interval::new(lower, upper), name: None }
    }

    /// Creates a variable with bounds `[0, size - 1]`.
    pub fn from_size(size: i64) -> Self {
        Variable { bounds: Interval::from_size(size), name: None }
    }

    pub fn named(name: &str, lower: i64, upper: i64) -> Self {
        Variable { bounds: Interval::new(lower, upper), name: Some(Arc::from(name)) }
    }

    /// Returns the variables of the GPU grid: `th_x th_y th_z bl_x bl_y bl_z`, each with bounds
    /// `[0, size - 1]`.
    pub fn gpu_grid(sizes: [i64; 6]) -> Vec<Variable> {
        ["th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z"]
            .into_iter()
            .zip(sizes)
            .map(|(name, size)| Variable { name: Some(Arc::from(name)), ..Variable::from_size(size) })
            .collect()
    }
}

impl From<Interval> for Variable {
    fn from(bounds: Interval) -> Self {
        Variable { bounds, name: None }
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Variable) -> bool {
        self.bounds == other.bounds
    }
}

impl Eq for Variable {}

impl Hash for Variable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bounds.hash(state);
    }
}
