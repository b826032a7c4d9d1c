//! One op under evaluation: its shapes, the integers of its index operands, and the replica it runs on.

use eval::{Callees, Checked, Reason, dimensions, ensure, leaves, no_callees};
use ir::{AttributeKey, Op, Shape};

use crate::traced::{Read, Traced, for_each_index, position};

/// The largest number of elements of an evaluated array: the result has a set per element.
pub const MAX_ELEMENTS: i64 = 1 << 16;

/// The largest number of loop iterations, and of elements read by all output elements together, for which an
/// op is evaluated.
pub const MAX_WORK: i64 = 1 << 24;

/// The inputs of an op's data movement other than the op itself.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// For each operand, its integers in row-major order, if they are known.
    pub values: &'a [Option<Vec<i64>>],
    /// The replica whose result is computed.
    pub replica: u32,
    /// The number of replicas.
    pub replicas: u32,
    pub callees: &'a Callees<'a>,
}

impl Setting<'_> {
    /// One replica, with unknown operands.
    pub const ALONE: Setting<'static> =
        Setting { values: &[], replica: 0, replicas: 1, callees: &no_callees };
}

pub(crate) struct Case<'a> {
    pub(crate) op: &'a Op,
    /// The number of the array in the result, with nested tuples flattened.
    pub(crate) output: usize,
    pub(crate) setting: Setting<'a>,
}

/// Collects the reads of one output element.
pub(crate) struct Reads<'a> {
    case: &'a Case<'a>,
    list: Vec<Read>,
    outside: Option<Reason>,
}

/// The sizes of an array; fails if it is too large. A size of zero does not offset the others, because loops
/// run over these too.
pub(crate) fn sizes<'a>(shape: &'a Shape, what: &str) -> Checked<&'a [i64]> {
    let array = shape.as_array().ok_or_else(|| Reason::from(format!("{what} is not an array")))?;
    let count = array.dims.iter().try_fold(1i64, |count, &size| {
        let count = count.checked_mul(size.max(1))?;
        (size >= 0 && count <= MAX_ELEMENTS).then_some(count)
    });
    ensure(count.is_some(), format!("{what} is too large to evaluate"))?;
    Ok(&array.dims)
}

impl<'a> Case<'a> {
    pub(crate) fn operand_shape(&self, i: usize) -> Checked<&'a Shape> {
        self.op.operand_shapes.get(i).ok_or_else(|| format!("operand {i} is missing").into())
    }

    /// The sizes of operand `i`, an array.
    pub(crate) fn operand(&self, i: usize) -> Checked<&'a [i64]> {
        sizes(self.operand_shape(i)?, "an operand")
    }

    pub(crate) fn operand_count(&self) -> usize {
        self.op.operand_shapes.len()
    }

    pub(crate) fn output_shape(&self) -> Checked<&'a Shape> {
        let shape = leaves(&self.op.shape).get(self.output).copied();
        shape.ok_or_else(|| format!("there is no output {}", self.output).into())
    }

    /// The sizes of the requested output.
    pub(crate) fn output(&self) -> Checked<&'a [i64]> {
        sizes(self.output_shape()?, "the output")
    }

    pub(crate) fn ints(&self, key: AttributeKey) -> &'a [i64] {
        self.op.attributes.ints(key)
    }

    /// The attribute as dimension numbers; fails if one is not below `rank`.
    pub(crate) fn dimensions(&self, key: AttributeKey, rank: usize) -> Checked<Vec<usize>> {
        dimensions(self.ints(key), rank)
    }

    /// The attribute as one dimension number.
    pub(crate) fn dimension(&self, key: AttributeKey, rank: usize) -> Checked<usize> {
        self.dimensions(key, rank)?.first().copied().ok_or_else(|| format!("{key} is missing").into())
    }

    /// The integers of operand `i`, which determine what is read.
    pub(crate) fn values(&self, i: usize) -> Checked<&'a [i64]> {
        let values = self.setting.values.get(i).and_then(Option::as_deref);
        let values =
            values.ok_or_else(|| Reason::from(format!("the values of operand {i} are not known")))?;
        let count = self.operand(i)?.iter().product::<i64>();
        ensure(values.len() as i64 == count, format!("operand {i} does not have {} values", values.len()))?;
        Ok(values)
    }

    /// Fails if a loop with the product of `turns` iterations per output element exceeds [`MAX_WORK`].
    pub(crate) fn afford(&self, turns: impl IntoIterator<Item = i64>) -> Checked<()> {
        let count = self.output()?.iter().product::<i64>();
        let work = turns.into_iter().try_fold(count, |work, n| work.checked_mul(n.max(1)));
        ensure(work.is_some_and(|work| work <= MAX_WORK), "too much work to evaluate")
    }

    /// The result. `f` adds the reads of each element.
    pub(crate) fn trace(&self, mut f: impl FnMut(&[i64], &mut Reads<'_>)) -> Checked<Traced> {
        let dims = self.output()?;
        let mut elements = Vec::new();
        let mut outside = None;
        let mut left = MAX_WORK as usize;
        for_each_index(dims, |index| {
            if outside.is_some() {
                return;
            }
            let mut reads = Reads { case: self, list: Vec::new(), outside: None };
            f(index, &mut reads);
            let Reads { mut list, outside: wrong, .. } = reads;
            match left.checked_sub(list.len()) {
                Some(rest) => left = rest,
                None => outside = Some("too many elements are read".into()),
            }
            list.sort_unstable();
            list.dedup();
            elements.push(list);
            outside = outside.take().or(wrong);
        });
        match outside {
            Some(reason) => Err(reason),
            None => Ok(Traced { dims: dims.to_vec(), elements, is_exact: true }),
        }
    }
}

impl Reads<'_> {
    /// Adds the element at `index` of operand `operand`, an array.
    pub(crate) fn at(&mut self, operand: usize, index: &[i64]) {
        self.at_of(operand, self.case.setting.replica, index);
    }

    /// [`Reads::at`] for another replica's operand.
    pub(crate) fn at_of(&mut self, operand: usize, replica: u32, index: &[i64]) {
        let dims = self.case.operand(operand).unwrap_or(&[]);
        match position(dims, index) {
            Some(position) => self.position_of(operand, replica, position),
            None => {
                self.outside = Some(format!("{index:?} is outside operand {operand}, {dims:?}").into());
            }
        }
    }

    /// [`Reads::at`] if `index` is inside the operand. Returns whether it is.
    pub(crate) fn at_if_inside(&mut self, operand: usize, index: &[i64]) -> bool {
        let dims = self.case.operand(operand).unwrap_or(&[]);
        let found = position(dims, index);
        if let Some(position) = found {
            self.position(operand, position);
        }
        found.is_some()
    }

    /// Adds the element at a row-major position.
    pub(crate) fn position(&mut self, operand: usize, position: usize) {
        self.position_of(operand, self.case.setting.replica, position);
    }

    pub(crate) fn position_of(&mut self, operand: usize, replica: u32, position: usize) {
        self.leaf(operand, 0, replica, position);
    }

    pub(crate) fn leaf(&mut self, operand: usize, leaf: usize, replica: u32, position: usize) {
        let read = Read { operand: operand as u32, leaf: leaf as u32, replica, position: position as u32 };
        self.list.push(read);
    }

    /// Adds every element of an operand.
    pub(crate) fn all(&mut self, operand: usize) {
        let count = self.case.operand(operand).unwrap_or(&[]).iter().product::<i64>();
        (0..count as usize).for_each(|position| self.position(operand, position));
    }

    pub(crate) fn add(&mut self, reads: &[Read]) {
        self.list.extend(reads);
    }
}
