//! The reference: evaluates ops in plain loops on tensors whose elements are sets of tags; a tag is an
//! element of a parameter. Independent of maps.

use std::collections::BTreeSet;

/// Pairs of a parameter number and a row-major position in it.
pub type Tags = BTreeSet<(usize, i64)>;

#[derive(Clone, Debug)]
pub struct Tensor {
    pub dims: Vec<i64>,
    pub elements: Vec<Tags>,
}

/// Every index of an array, last dimension fastest.
pub fn indices(dims: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &size in dims {
        all =
            all.iter().flat_map(|index| (0..size).map(move |i| [index.as_slice(), &[i]].concat())).collect();
    }
    all
}

pub fn position(dims: &[i64], index: &[i64]) -> Option<i64> {
    let inside = dims.iter().zip(index).all(|(&size, &i)| (0..size).contains(&i));
    (inside && dims.len() == index.len()).then(|| dims.iter().zip(index).fold(0, |n, (size, i)| n * size + i))
}

impl Tensor {
    pub fn new(dims: &[i64], mut element: impl FnMut(&[i64]) -> Tags) -> Tensor {
        Tensor { dims: dims.to_vec(), elements: indices(dims).iter().map(|index| element(index)).collect() }
    }

    pub fn parameter(number: usize, dims: &[i64]) -> Tensor {
        Tensor::new(dims, |index| BTreeSet::from([(number, position(dims, index).unwrap())]))
    }

    pub fn get(&self, index: &[i64]) -> Option<&Tags> {
        position(&self.dims, index).map(|p| &self.elements[p as usize])
    }

    pub fn at(&self, index: &[i64]) -> Tags {
        self.get(index).cloned().unwrap_or_else(|| panic!("{index:?} is outside {:?}", self.dims))
    }

    /// All tags on which any element depends.
    pub fn all(&self) -> Tags {
        self.elements.iter().flatten().copied().collect()
    }
}

/// The union of two sets.
pub fn both(mut a: Tags, b: &Tags) -> Tags {
    a.extend(b);
    a
}
