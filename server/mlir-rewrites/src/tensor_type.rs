//! Types of tensors, taken apart and put together again.

use mlir::shaped;

/// `tensor<4x?xf32, #encoding>`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorType {
    /// As the text has it, which may be an alias.
    pub written: String,
    /// An extent is nothing where it is known only when the program runs.
    pub shape: Vec<Option<i64>>,
    pub element: String,
    /// Empty where there is none.
    pub encoding: String,
}

/// Dimensions of a tensor: those of more are left alone.
pub(crate) const MAX_RANK: usize = 64;

impl TensorType {
    /// Reads a type that is written as `written` and stands for `ty`. Nothing where it is no ranked tensor, or where it has
    /// more dimensions than a program has.
    pub fn new(written: &str, ty: &str) -> Option<TensorType> {
        let read = shaped(ty).filter(|s| s.kind == "tensor")?;
        let shape = read.dimensions?;
        let dynamic = shape.iter().filter(|d| d.is_none()).count();
        let extents = ty.split_once('<')?.1;
        let extents =
            &extents[..extents.len() - extents.split_once(read.element)?.1.len() - read.element.len()];
        // An extent beyond 64 bits is read as unknown.
        if shape.len() > MAX_RANK || extents.matches('?').count() != dynamic {
            return None;
        }
        let extent = |d: Option<u64>| match d {
            Some(d) => i64::try_from(d).ok().map(Some),
            None => Some(None),
        };
        Some(TensorType {
            written: written.trim().to_owned(),
            shape: shape.into_iter().map(extent).collect::<Option<_>>()?,
            element: read.element.to_owned(),
            encoding: read.rest.to_owned(),
        })
    }

    /// The same with another shape.
    pub fn with_shape(&self, shape: &[Option<i64>]) -> TensorType {
        if shape == self.shape {
            return self.clone();
        }
        let mut written = "tensor<".to_owned();
        for extent in shape {
            match extent {
                Some(extent) => written += &format!("{extent}x"),
                None => written += "?x",
            }
        }
        written += &self.element;
        if !self.encoding.is_empty() {
            written += ", ";
            written += &self.encoding;
        }
        written.push('>');
        TensorType {
            written,
            shape: shape.to_vec(),
            element: self.element.clone(),
            encoding: self.encoding.clone(),
        }
    }

    /// Whether the two are the same type, but for their encodings.
    pub(crate) fn is_like(&self, other: &TensorType) -> bool {
        self.shape == other.shape && self.element == other.element
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// All extents, where all are known.
    pub fn extents(&self) -> Option<Vec<i64>> {
        self.shape.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_and_written() {
        let ty = TensorType::new("!t", "tensor<4x?x!q.u<i8:f32>, #e<a>>").expect("it is a tensor");
        assert_eq!(
            (ty.shape.as_slice(), &*ty.element, &*ty.encoding),
            (&[Some(4), None][..], "!q.u<i8:f32>", "#e<a>")
        );
        assert_eq!(ty.with_shape(&[None]).written, "tensor<?x!q.u<i8:f32>, #e<a>>");
        assert_eq!(ty.with_shape(&[Some(4), None]).written, "!t");
        assert_eq!(TensorType::new("t", "tensor<f32>").map(|t| t.rank()), Some(0));
        for not in ["tensor<*xf32>", "memref<4xf32>", "f32", "tensor<99999999999999999999xf32>", "tensor<"] {
            assert_eq!(TensorType::new(not, not), None, "{not}");
        }
    }
}
