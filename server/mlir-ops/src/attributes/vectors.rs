//! Ops of vectors: positions, parts, permutations, transfers.

use crate::affine_map::AffineMap;
use crate::no_map::NoMap;
use crate::op_text::{Mixed, OpText};

/// A part of a vector, with the distance of its elements, per dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StridedPart {
    pub offsets: Vec<i64>,
    pub strides: Vec<i64>,
}

impl OpText<'_> {
    /// The position in brackets, for an op whose first `fixed` operands are not indices.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn position(&self, fixed: usize) -> Result<Vec<Mixed>, NoMap> {
        let older = || Some(self.list(&["position"])?.into_iter().map(Mixed::Static).collect());
        let entries = match self.is_generic() {
            true => self.generic_mixed(fixed, &["static_position"]).and_then(|mut l| l.pop()).or_else(older),
            false => self.squares().into_iter().next().map_or(Some(Vec::new()), |list| self.mixed(list)),
        };
        entries.ok_or(NoMap::NotRead("its position"))
    }

    /// `{offsets = [0, 2], strides = [1, 1]}`
    ///
    /// # Errors
    ///
    /// If a list is missing.
    pub fn strided_part(&self) -> Result<StridedPart, NoMap> {
        let list = |name: &'static str| self.list(&[name]).ok_or(NoMap::ListNotRead(name));
        Ok(StridedPart { offsets: list("offsets")?, strides: list("strides")? })
    }

    /// `[1, 0]` of `vector.transpose`.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn vector_permutation(&self) -> Result<Vec<i64>, NoMap> {
        self.list_or_squares(&["permutation", "transp"]).ok_or(NoMap::NotRead("its permutation"))
    }

    /// The dimensions that `vector.multi_reduction` reduces.
    ///
    /// # Errors
    ///
    /// If they are missing.
    pub fn reduction_dims(&self) -> Result<Vec<i64>, NoMap> {
        self.list_or_squares(&["reduction_dims"]).ok_or(NoMap::ListNotRead("dimensions"))
    }

    /// The element numbers of `vector.shuffle`.
    ///
    /// # Errors
    ///
    /// If they are missing.
    pub fn shuffled_elements(&self) -> Result<Vec<i64>, NoMap> {
        self.list_or_squares(&["mask"]).ok_or(NoMap::NotRead("its list of elements"))
    }

    /// The dimension of an array that each dimension of a vector runs along in a transfer; `None` if it repeats one
    /// element. Both by their ranks.
    ///
    /// # Errors
    ///
    /// If the permutation map does not fit, or the vector has more dimensions.
    pub fn transfer_dimensions(&self, array: usize, vector: usize) -> Result<Vec<Option<usize>>, NoMap> {
        const NAME: &str = "permutation_map";
        let Some(written) = self.resolved(NAME) else {
            // The trailing dimensions, in order.
            let first = array.checked_sub(vector);
            let first = first.ok_or(NoMap::MoreDimensions { of: "its vector", than: "the array" })?;
            return Ok((first..array).map(Some).collect());
        };
        let map = AffineMap::parse(written)?;
        if map.dims.len() != array || map.results.len() != vector {
            return Err(NoMap::PermutationMap);
        }
        let of = |e: &indexing_map::Expr| match (e.as_var(), e.as_const()) {
            (Some(v), _) => Ok(Some(v as usize)),
            (None, Some(0)) => Ok(None),
            (None, _) => Err(NoMap::NoPermutation(NAME)),
        };
        map.results.iter().map(of).collect()
    }

    /// For each of the `rank` dimensions of a vector, whether its transfer is marked never to leave the array.
    pub fn in_bounds(&self, rank: usize) -> Vec<bool> {
        let list = self.list(&["in_bounds"]);
        list.map_or_else(|| vec![false; rank], |list| list.into_iter().map(|b| b != 0).collect())
    }
}
