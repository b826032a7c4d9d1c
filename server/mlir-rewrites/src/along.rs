//! One dimension of a collapsed tensor: the boxes of the source dimensions that hold the elements that a
//! slice takes along it.
//!
//! Below, `b` are the extents of the source dimensions, `inner[k]` is the product of those after `k`, and the
//! slice takes the elements `offset + stride * i` for `i < size`.

use indexing_map::{Expr, gcd};

use crate::numbers::{Symbols, divided};

/// Elements along one dimension, and their positions in the source of the collapse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Along {
    /// The first index in the result.
    pub(crate) start: Expr,
    /// The number of elements.
    pub(crate) size: Expr,
    /// The slice, per source dimension.
    pub(crate) offsets: Vec<Coordinate>,
    pub(crate) sizes: Vec<Expr>,
    pub(crate) strides: Vec<Expr>,
}

/// An index along a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Coordinate {
    Plain(Expr),
    /// A result of `affine.delinearize_index`.
    Digit {
        linear: Expr,
        basis: Vec<Expr>,
        digit: usize,
    },
}

impl Coordinate {
    pub(crate) fn value(&self) -> Expr {
        match self {
            Coordinate::Plain(expr) => expr.clone(),
            Coordinate::Digit { linear, basis, digit } => digits(linear, basis).swap_remove(*digit),
        }
    }
}

/// The bounds of a slice along one dimension.
pub(crate) struct Line<'a> {
    /// The extents of the source dimensions: constants or symbols.
    pub(crate) extents: Vec<Expr>,
    pub(crate) offset: Expr,
    pub(crate) size: Expr,
    pub(crate) stride: Expr,
    pub(crate) symbols: &'a Symbols,
}

/// The kind of rewrite that a dimension needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Nothing is collapsed, or everything is taken.
    Nothing,
    /// At most one extent is not 1.
    Squeeze,
    OneBox,
}

/// The index along each dimension for a linear index. The innermost digit is split off first, so a dynamic
/// extent does not affect the dimensions after it. The index along a dimension of extent 1 is 0. The
/// outermost other one is not bounded, as in `affine.delinearize_index` of an index in bounds.
pub(crate) fn digits(linear: &Expr, basis: &[Expr]) -> Vec<Expr> {
    let one = Expr::Const(1);
    let outermost = basis.iter().position(|b| *b != one);
    let mut left = linear.clone();
    let mut found = vec![Expr::ZERO; basis.len()];
    for (at, extent) in basis.iter().enumerate().rev().filter(|(_, b)| **b != one) {
        if Some(at) == outermost {
            found[at] = left;
            break;
        }
        found[at] = left.clone().modulo(extent.clone());
        left = left.floor_div(extent.clone());
    }
    found
}

/// The digits as coordinates of the new code.
fn coordinates(linear: &Expr, basis: &[Expr]) -> Vec<Coordinate> {
    let one = Expr::Const(1);
    let places: Vec<usize> = (0..basis.len()).filter(|&at| basis[at] != one).collect();
    let values = digits(linear, basis);
    let plain = |expr: Expr| Coordinate::Plain(expr);
    // A constant linear index has constant digits, unless a product of extents is dynamic.
    if places.len() <= 1 || values.iter().all(|v| v.as_const().is_some()) {
        return values.into_iter().map(plain).collect();
    }
    let basis: Vec<Expr> = places.iter().map(|&at| basis[at].clone()).collect();
    let digit = |at: usize| match places.iter().position(|&place| place == at) {
        Some(digit) => Coordinate::Digit { linear: linear.clone(), basis: basis.clone(), digit },
        None => plain(Expr::ZERO),
    };
    (0..values.len()).map(digit).collect()
}

pub(crate) fn product(extents: &[Expr]) -> Expr {
    extents.iter().fold(Expr::Const(1), |n, b| n * b.clone())
}

impl Line<'_> {
    fn rank(&self) -> usize {
        self.extents.len()
    }

    /// Whether the slice takes all elements, in order.
    fn is_full(&self) -> bool {
        self.offset == Expr::ZERO && self.stride == Expr::Const(1) && self.size == product(&self.extents)
    }

    /// `inner[k]`, if it is static.
    fn inner(&self, k: usize) -> Option<i64> {
        self.extents[k + 1..].iter().try_fold(1i64, |n, b| n.checked_mul(b.as_const()?))
    }

    /// Whether all extents before `k` are 1, so that an index in bounds never carries out of `k`.
    fn is_outermost(&self, k: usize) -> bool {
        self.extents[..k].iter().all(|b| *b == Expr::Const(1))
    }

    fn along(&self, offsets: Vec<Coordinate>, sizes: Vec<Expr>, strides: Vec<Expr>) -> Along {
        Along { start: Expr::ZERO, size: self.size.clone(), offsets, sizes, strides }
    }

    /// The elements as one box, without a loop.
    pub(crate) fn straight(&self) -> Option<(Need, Along)> {
        let n = self.rank();
        let ones = vec![Expr::Const(1); n];
        if self.is_full() {
            let offsets = vec![Coordinate::Plain(Expr::ZERO); n];
            return Some((Need::Nothing, self.along(offsets, self.extents.clone(), ones)));
        }
        let mut large = (0..n).filter(|&k| self.extents[k] != Expr::Const(1));
        if let (only, None) = (large.next(), large.next()) {
            let k = only.unwrap_or(n.checked_sub(1)?);
            let mut offsets = vec![Coordinate::Plain(Expr::ZERO); n];
            let (mut sizes, mut strides) = (ones.clone(), ones);
            offsets[k] = Coordinate::Plain(self.offset.clone());
            (sizes[k], strides[k]) = (self.size.clone(), self.stride.clone());
            let need = if n == 1 { Need::Nothing } else { Need::Squeeze };
            return Some((need, self.along(offsets, sizes, strides)));
        }
        if self.size == Expr::Const(1) {
            let offsets = coordinates(&self.offset, &self.extents);
            return Some((Need::OneBox, self.along(offsets, ones.clone(), ones)));
        }
        let found = match self.stride.as_const() {
            Some(1) => (0..n).find_map(|k| self.dense_box(k)),
            _ => (0..n).find_map(|k| self.strided_box(k)),
        };
        found.map(|along| (Need::OneBox, along))
    }

    /// A box of whole blocks of `inner[k]` elements, adjacent along `k`.
    fn dense_box(&self, k: usize) -> Option<Along> {
        let inner = self.inner(k)?;
        if !self.symbols.is_multiple(&self.offset, inner) || !self.symbols.is_multiple(&self.size, inner) {
            return None;
        }
        let blocks = self.symbols.range(&self.size).upper / inner;
        if self.size != Expr::Const(inner) && !self.stays_inside(k, inner, blocks) {
            return None;
        }
        Some(self.block(k, &divided(&self.offset, inner), divided(&self.size, inner)))
    }

    /// Whether `count` unit steps along `k` from the start of the slice stay within `k`.
    fn stays_inside(&self, k: usize, inner: i64, count: i64) -> bool {
        if self.is_outermost(k) {
            return true;
        }
        let Some(extent) = self.extents[k].as_const() else { return false };
        match self.offset.as_const() {
            Some(offset) => ((offset / inner) % extent).checked_add(count).is_some_and(|end| end <= extent),
            // The index along `k` is a multiple of this, and so is the number of steps left.
            None => {
                let unit = self.symbols.divisor(&self.offset) / inner;
                self.symbols.is_multiple(&self.offset, inner) && count.unsigned_abs() <= gcd(unit, extent)
            }
        }
    }

    /// `count` blocks along `k` from block `first`, with all dimensions after `k` whole.
    fn block(&self, k: usize, first: &Expr, count: Expr) -> Along {
        let n = self.rank();
        let mut offsets = coordinates(first, &self.extents[..=k]);
        offsets.resize(n, Coordinate::Plain(Expr::ZERO));
        let mut sizes = vec![Expr::Const(1); k];
        sizes.push(count);
        sizes.extend_from_slice(&self.extents[k + 1..]);
        self.along(offsets, sizes, vec![Expr::Const(1); n])
    }

    /// A box of single elements along `k`, with a stride.
    fn strided_box(&self, k: usize) -> Option<Along> {
        let inner = self.inner(k)?;
        if !self.symbols.is_multiple(&self.stride, inner) {
            return None;
        }
        if !self.is_outermost(k) {
            let step = self.stride.as_const()? / inner;
            let steps = step.checked_mul(self.symbols.range(&self.size).upper.checked_sub(1)?)?;
            if !self.stays_inside(k, inner, steps.checked_add(1)?) {
                return None;
            }
        }
        let n = self.rank();
        let (mut sizes, mut strides) = (vec![Expr::Const(1); n], vec![Expr::Const(1); n]);
        sizes[k] = self.size.clone();
        strides[k] = divided(&self.stride, inner);
        Some(self.along(coordinates(&self.offset, &self.extents), sizes, strides))
    }

    /// The boxes that hold the elements in order, for a slice with static bounds; `None` if there are more
    /// than `limit`.
    pub(crate) fn boxes(&self, limit: usize) -> Option<Vec<Along>> {
        let (offset, size) = (self.offset.as_const()?, self.size.as_const()?);
        if self.stride != Expr::Const(1) {
            return None;
        }
        let mut found = Vec::new();
        let mut done = 0;
        while done < size {
            if found.len() == limit {
                return None;
            }
            let (at, left) = (offset.checked_add(done)?, size - done);
            // The largest block that starts here and does not extend past the end.
            let fits = |k: &usize| self.inner(*k).is_some_and(|inner| at % inner == 0 && left >= inner);
            let k = (0..self.rank()).find(fits)?;
            let inner = self.inner(k)?;
            let room = match self.extents[k].as_const() {
                _ if self.is_outermost(k) => left / inner,
                Some(extent) => extent - (at / inner) % extent,
                None => 1,
            };
            let count = room.min(left / inner);
            let elements = count.checked_mul(inner)?;
            let block = self.block(k, &Expr::Const(at / inner), Expr::Const(count));
            found.push(Along { start: Expr::Const(done), size: Expr::Const(elements), ..block });
            done += elements;
        }
        Some(found)
    }

    /// A loop with variable `iv` over the largest possible blocks: its trip count, the elements per block,
    /// and one block. Falls back to single elements.
    pub(crate) fn blocks(&self, iv: &Expr) -> Option<(Expr, i64, Along)> {
        let best = (0..self.rank())
            .filter_map(|k| {
                let inner = self.inner(k)?;
                let fits = self.stride == Expr::Const(1)
                    && self.symbols.is_multiple(&self.offset, inner)
                    && self.symbols.is_multiple(&self.size, inner);
                if !fits {
                    return None;
                }
                let units = |e: &Expr| self.symbols.divisor(e) / inner;
                let common = i64::try_from(gcd(units(&self.offset), units(&self.size))).ok()?;
                let together = match self.extents[k].as_const() {
                    _ if self.is_outermost(k) => common,
                    Some(extent) => i64::try_from(gcd(common, extent)).ok()?,
                    None => 1,
                };
                Some((inner.checked_mul(together)?, k, inner, together))
            })
            .max_by_key(|&(elements, k, ..)| (elements, std::cmp::Reverse(k)));
        if let Some((elements, k, inner, together)) = best.filter(|best| best.0 > 1) {
            let first = divided(&self.offset, inner) + iv.clone() * together;
            let block = self.block(k, &first, Expr::Const(together));
            let along = Along { start: iv.clone() * elements, size: Expr::Const(elements), ..block };
            return Some((divided(&self.size, elements), elements, along));
        }
        let ones = vec![Expr::Const(1); self.rank()];
        let linear = self.offset.clone() + iv.clone() * self.stride.clone();
        let offsets = coordinates(&linear, &self.extents);
        let along =
            Along { start: iv.clone(), size: Expr::Const(1), offsets, sizes: ones.clone(), strides: ones };
        Some((self.size.clone(), 1, along))
    }
}
