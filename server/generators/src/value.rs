//! Values of generated computations, and shapes as text.

#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) element: &'static str,
    pub(crate) dims: Vec<i64>,
}

impl Value {
    pub(crate) fn shape(&self) -> String {
        shape(self.element, &self.dims)
    }
}

/// `f32[4,8]`
pub(crate) fn shape(element: &str, dims: &[i64]) -> String {
    format!("{element}[{}]", list(dims))
}

pub(crate) fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The number of elements of an array.
pub(crate) fn count(dims: &[i64]) -> i64 {
    dims.iter().product()
}
