//! Where reshapes and transposes move the dimensions of a dot's operand.
//!
//! Source: XLA `hlo/analysis/shape_tracker.cc`. Where that one starts a second view, the dimensions are not followed here.

use ir::Shape;
use syntax::hlo::Opcode;

use crate::module::{InstructionId, Module};
use crate::shapes::inverse;

/// A part of a dimension: `extent` elements that are `stride` elements apart in the row-major operand of the dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    stride: i64,
    extent: i64,
}

/// From the operand of a dot back to a value from which reshapes and transposes make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moves {
    /// Sizes of the dot's operand.
    of_dot: Vec<i64>,
    /// Sizes of the value.
    sizes: Vec<i64>,
    /// The dimensions of the value, joined and split, from the slowest to the fastest.
    parts: Vec<Part>,
}

impl Moves {
    pub(super) fn none(sizes: &[i64]) -> Moves {
        let elements = sizes.iter().fold(1i64, |n, &size| n.saturating_mul(size));
        Moves {
            of_dot: sizes.to_vec(),
            sizes: sizes.to_vec(),
            parts: vec![Part { stride: 1, extent: elements }],
        }
    }

    /// Whether nothing moves.
    pub(super) fn is_none(&self) -> bool {
        self.of_dot == self.sizes && self.parts.is_sorted_by(|a, b| a.stride > b.stride)
    }

    /// From the result of an instruction to its operand. `None` if it is no reshape, transpose or bitcast, or cannot be followed.
    pub(super) fn through(&self, module: &Module, id: InstructionId) -> Option<Moves> {
        let operand = module[module[id].operands().first().copied()?].shape();
        if self.sizes != module[id].dims() || module[id].shape().element() != operand.element() {
            return None;
        }
        match module[id].opcode() {
            Opcode::Reshape => Some(self.reshaped(operand.dims())),
            Opcode::Transpose => self.transposed(&inverse(module[id].dimensions())),
            Opcode::Bitcast => self.through_bitcast(module[id].shape(), operand),
            _ => None,
        }
    }

    fn reshaped(&self, sizes: &[i64]) -> Moves {
        Moves { sizes: sizes.to_vec(), ..self.clone() }
    }

    fn transposed(&self, permutation: &[i64]) -> Option<Moves> {
        let dims = self.split(&self.sizes)?;
        let mut parts: Vec<Part> = Vec::new();
        for &dim in permutation {
            for &part in dims.get(usize::try_from(dim).ok()?)? {
                match parts.last_mut() {
                    Some(last) if part.stride.saturating_mul(part.extent) == last.stride => {
                        *last = Part { stride: part.stride, extent: last.extent.saturating_mul(part.extent) };
                    }
                    _ => parts.push(part),
                }
            }
        }
        let sizes = crate::dimensions::permute(&self.sizes, permutation);
        Some(Moves { of_dot: self.of_dot.clone(), sizes, parts })
    }

    /// A bitcast is a transpose to the order in memory, a reshape, and a transpose from the order in memory.
    fn through_bitcast(&self, from: &Shape, to: &Shape) -> Option<Moves> {
        let order = |shape: &Shape| -> Option<Vec<i64>> {
            Some(shape.as_array()?.minor_to_major().into_iter().rev().map(|dim| dim as i64).collect())
        };
        let (of_from, of_to) = (order(from)?, order(to)?);
        let physical = crate::dimensions::permute(to.dims(), &of_to);
        self.transposed(&of_from)?.reshaped(&physical).transposed(&inverse(&of_to))
    }

    /// The parts of each of these dimensions; `None` if a part belongs to two of them and cannot be split.
    fn split(&self, sizes: &[i64]) -> Option<Vec<Vec<Part>>> {
        let mut rest = self.parts.iter().copied();
        let mut part = rest.next();
        let mut dims = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let (mut left, mut dim) = (size, Vec::new());
            while left > 1 {
                let whole = part?;
                let taken = whole.extent.min(left);
                if taken < 1 || whole.extent % taken != 0 || left % taken != 0 {
                    return None;
                }
                let extent = whole.extent / taken;
                dim.push(Part { stride: whole.stride.checked_mul(extent)?, extent: taken });
                left /= taken;
                part = if extent == 1 { rest.next() } else { Some(Part { extent, ..whole }) };
            }
            dims.push(dim);
        }
        Some(dims)
    }

    /// Whether these dimensions of the dot's operand lie next to each other, in order, in the value, apart from dimensions of size 1.
    pub(super) fn keeps_together(&self, of_dot: &[i64]) -> bool {
        self.together(of_dot).unwrap_or(false)
    }

    fn together(&self, of_dot: &[i64]) -> Option<bool> {
        let mut ranges = Vec::new();
        for &dim in of_dot {
            let at = usize::try_from(dim).ok()?;
            let stride = self.of_dot.get(at + 1..)?.iter().try_fold(1i64, |n, &size| n.checked_mul(size))?;
            let size = *self.of_dot.get(at)?;
            if size > 1 {
                ranges.push((stride, stride.checked_mul(size)?));
            }
        }
        let mut kept: Vec<(usize, Part)> = Vec::new();
        for (dim, parts) in self.split(&self.sizes)?.into_iter().enumerate() {
            let mut inside = Vec::new();
            for part in parts {
                inside.extend(cut(part, &ranges)?);
            }
            match (inside.iter().any(|(_, is_in)| *is_in), inside.iter().all(|(_, is_in)| *is_in)) {
                (true, true) => kept.extend(inside.into_iter().map(|(part, _)| (dim, part))),
                (true, false) => return None,
                _ => {}
            }
        }
        let is_next = |a: usize, b: usize| {
            self.sizes.get(a + 1..b).is_none_or(|between| between.iter().all(|&s| s == 1))
        };
        Some(kept.windows(2).all(|pair| {
            let ((a, first), (b, second)) = (pair[0], pair[1]);
            is_next(a, b) && first.stride > second.stride
        }))
    }
}

/// Cuts a part at the ends of the ranges, and says of each piece whether it lies in one. `None` if it cannot be cut there.
fn cut(part: Part, ranges: &[(i64, i64)]) -> Option<Vec<(Part, bool)>> {
    let end = part.stride.checked_mul(part.extent)?;
    let mut cuts: Vec<i64> = ranges.iter().flat_map(|&(from, to)| [from, to]).collect();
    cuts.retain(|&cut| part.stride < cut && cut < end);
    cuts.extend([part.stride, end]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces = Vec::new();
    for pair in cuts.windows(2).rev() {
        let (from, to) = (pair[0], pair[1]);
        if from % part.stride != 0 || to % from != 0 {
            return None;
        }
        let is_in = ranges.iter().any(|&(start, stop)| start <= from && to <= stop);
        pieces.push((Part { stride: from, extent: to / from }, is_in));
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_followed() {
        let moves = Moves::none(&[4, 6]);
        assert!(moves.is_none() && moves.keeps_together(&[1]));
        // From [4,6] back to [6,4], of which it is the transpose.
        let turned = moves.transposed(&[1, 0]).expect("followed");
        assert!(!turned.is_none() && turned.keeps_together(&[0]) && turned.keeps_together(&[1]));
        assert!(!turned.keeps_together(&[0, 1]), "swapped");
        let back = turned.transposed(&[1, 0]).expect("followed");
        assert_eq!(back, moves);
        // [4,6] from [2,4,3]: the 6 is a 2 and a 3 around the 4.
        let apart = moves.reshaped(&[4, 2, 3]).transposed(&[1, 0, 2]).expect("followed");
        assert!(apart.keeps_together(&[0]) && !apart.keeps_together(&[1]));
        // Parts that do not divide.
        assert_eq!(turned.reshaped(&[8, 3]).transposed(&[1, 0]), None);
    }
}
