//! Tensors whose elements are sets of tags: the result of the evaluation.

/// One element that is read: its operand (in a graph: parameter), the array in a tuple operand, the replica,
/// and the row-major position in that array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read {
    pub operand: u32,
    /// The number of the array in a tuple operand, with nested tuples flattened; 0 for arrays.
    pub leaf: u32,
    pub replica: u32,
    pub position: u32,
}

/// One array of a result: the dependences of each element, in row-major order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    pub dims: Vec<i64>,
    /// Sorted, without duplicates.
    pub elements: Vec<Vec<Read>>,
    /// False if the sets may hold more than the op reads in one run: a loop of unknown length, a branch that
    /// depends on unknown values. They never hold less.
    pub is_exact: bool,
}

/// Calls `f` with every index of an array, last dimension fastest. Once, with `[]`, for a scalar; never if a
/// size is zero.
pub fn for_each_index(dims: &[i64], mut f: impl FnMut(&[i64])) {
    if dims.iter().any(|&size| size <= 0) {
        return;
    }
    let mut index = vec![0; dims.len()];
    loop {
        f(&index);
        let Some(dim) = (0..dims.len()).rev().find(|&dim| index[dim] + 1 < dims[dim]) else { return };
        index[dim] += 1;
        index[dim + 1..].fill(0);
    }
}

/// The row-major position of `index` in an array; `None` if it is outside.
pub fn position(dims: &[i64], index: &[i64]) -> Option<usize> {
    if dims.len() != index.len() {
        return None;
    }
    dims.iter().zip(index).try_fold(0, |position, (&size, &i)| {
        (0..size).contains(&i).then_some(())?;
        Some(position * size as usize + i as usize)
    })
}

/// The index at a row-major position.
pub fn index_at(dims: &[i64], mut position: usize) -> Vec<i64> {
    let mut index = vec![0; dims.len()];
    for (i, &size) in index.iter_mut().zip(dims).rev() {
        *i = (position % size as usize) as i64;
        position /= size as usize;
    }
    index
}

impl Traced {
    /// An array in which every element depends on itself: leaf `leaf` of operand `operand`.
    pub fn parameter(operand: u32, leaf: u32, replica: u32, dims: &[i64]) -> Traced {
        let count = dims.iter().product::<i64>() as u32;
        let elements = (0..count).map(|position| vec![Read { operand, leaf, replica, position }]).collect();
        Traced { dims: dims.to_vec(), elements, is_exact: true }
    }

    /// Replaces each read by the dependences of the element that it reads in `source`.
    pub fn through<'a>(&self, source: impl Fn(&Read) -> Option<&'a Traced>) -> Option<Traced> {
        let mut is_exact = self.is_exact;
        let mut elements = Vec::with_capacity(self.elements.len());
        for reads in &self.elements {
            let mut all: Vec<Read> = Vec::new();
            for read in reads {
                let source = source(read)?;
                is_exact &= source.is_exact;
                all.extend(source.elements.get(read.position as usize)?);
            }
            all.sort_unstable();
            all.dedup();
            elements.push(all);
        }
        Some(Traced { dims: self.dims.clone(), elements, is_exact })
    }

    /// Adds the reads of the other array, element by element; returns whether `self` grew.
    pub(crate) fn add(&mut self, other: &Traced) -> bool {
        let mut grew = false;
        for (own, others) in self.elements.iter_mut().zip(&other.elements) {
            let before = own.len();
            own.extend(others);
            own.sort_unstable();
            own.dedup();
            grew |= own.len() > before;
        }
        self.is_exact &= other.is_exact;
        grew
    }

    /// Adds the same reads to every element.
    pub(crate) fn add_to_all(&mut self, reads: &[Read]) {
        let other = vec![reads.to_vec(); self.elements.len()];
        self.add(&Traced { dims: self.dims.clone(), elements: other, is_exact: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_positions() {
        let mut seen = Vec::new();
        for_each_index(&[2, 1, 3], |index| seen.push(index.to_vec()));
        assert_eq!(seen.len(), 6);
        for (at, index) in seen.iter().enumerate() {
            assert_eq!(position(&[2, 1, 3], index), Some(at));
            assert_eq!(index_at(&[2, 1, 3], at), *index);
        }
        let mut count = 0;
        for_each_index(&[], |_| count += 1);
        for_each_index(&[3, 0], |_| count += 1);
        assert_eq!(count, 1);
        assert_eq!(position(&[2], &[-1]), None);
    }
}
