//! Ops whose shapes are operands: the static op where the result's extents, and the operands that say them, are known.

use ir::{AttributeKey as K, Attributes, Opcode, Shape, UNBOUNDED};
use mlir::{Definition, OpId};
use mlir_ops::{OpKind, constant_integers};

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::{attributes, attributes_of, push_padding, push_window};
use super::sums::broadcast_dimensions;
use super::windows::{convolution_window, triples};
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{Dynamic, Form, OpRow};
use crate::types::extents;

/// Numbers of a place or a size: two per dimension are many.
const MAX_NUMBERS: usize = 1 << 10;

/// The sizes of a gather's slices: those of the result's dimensions, which may be unknown.
fn window_sizes(attributes: &Attributes, operand: &Shape, result: &Shape) -> Option<Vec<i64>> {
    let array = result.as_array()?;
    let mut offsets = attributes.ints(K::OffsetDims).iter();
    let is_one = |k: usize| {
        [K::CollapsedSliceDims, K::OperandBatchingDims]
            .iter()
            .any(|&key| attributes.ints(key).contains(&(k as i64)))
    };
    let size = |k: usize| {
        if is_one(k) {
            return Some(1);
        }
        let dim = usize::try_from(*offsets.next()?).ok()?;
        let &size = array.dims.get(dim)?;
        Some(if array.is_dynamic(dim) { UNBOUNDED } else { size })
    };
    (0..operand.dims().len()).map(size).collect()
}

impl Writer<'_> {
    pub(super) fn dynamic(
        &mut self,
        id: OpId,
        row: &'static OpRow,
        dynamic: Dynamic,
    ) -> Result<(), NotInHlo> {
        let results = self.results(id)?;
        let op = &self.op_text(id);
        let operands = self.operands(id)?;
        let first = operands.first().ok_or("it has no operand")?.clone();
        let is_known = first.shape.is_static() && results.iter().all(Shape::is_static);
        // Maps take unknown extents, and places that only the running program knows.
        if !self.is_bare {
            if !results.iter().all(Shape::is_static) {
                return Err(NotInHlo::Type("an extent of its result is not known".into()));
            }
            if !is_known && dynamic != Dynamic::Iota {
                return Err(NotInHlo::Type("an extent of its operand is not known".into()));
            }
        }
        let known = known_attributes(row);
        // Operands that HLO has, too.
        let read = match dynamic {
            Dynamic::Pad | Dynamic::Gather | Dynamic::Convolution => 2,
            Dynamic::Broadcast | Dynamic::Reshape | Dynamic::Iota | Dynamic::Slice => 1,
        };
        self.forget_constants(id, read);
        let lists: Vec<_> = self.parse().operands_of(id).skip(read).collect();
        let lists: Option<Vec<Vec<i64>>> =
            lists.into_iter().map(|operand| self.integers_of(operand.value?)).collect();
        self.only_maps |= self.is_bare && lists.is_none();
        let constant = || NotInHlo::from("a place or a size is no constant");
        match (dynamic, lists.as_deref()) {
            (Dynamic::Broadcast, _) => {
                let dimensions = broadcast_dimensions(op)?;
                self.only_maps = false;
                self.broadcast_to(id, first, &dimensions)
            }
            (Dynamic::Reshape, _) => {
                self.only_maps = false;
                self.emit(id, Opcode::Reshape, &[first], Attributes::default(), &known)
            }
            (Dynamic::Iota, _) => {
                let attributes = attributes(row, op, &[])?;
                self.emit(id, Opcode::Iota, &[], attributes, &known)
            }
            (Dynamic::Slice, Some([starts, limits, strides])) => {
                let attributes = Attributes::default().with(K::Slice, triples(starts, limits, strides));
                self.emit(id, Opcode::Slice, &[first], attributes, &known)
            }
            (Dynamic::Slice, None) if self.is_bare && operands.len() == 4 => {
                let operands = [&operands[..2], &operands[3..]].concat();
                self.emit(id, Opcode::Slice, &operands, Attributes::default(), &known)
            }
            (Dynamic::Pad, Some([low, high, interior])) => {
                let mut attributes = Attributes::default();
                push_padding(&mut attributes, low, high, interior);
                self.emit(id, Opcode::Pad, &operands[..2], attributes, &known)
            }
            (Dynamic::Pad, None) if self.is_bare && operands.len() == 5 => {
                let operands = [&operands[..3], &operands[4..]].concat();
                self.emit(id, Opcode::Pad, &operands, Attributes::default(), &known)
            }
            (Dynamic::Gather, lists) => {
                let others = row.attributes.iter().filter(|a| a.form != Form::Ints);
                let attributes = attributes_of(others, op, &[])?;
                let sizes = match (lists, results.as_slice()) {
                    (Some([sizes]), _) => sizes.clone(),
                    (None, [result]) if self.is_bare => {
                        self.only_maps = false;
                        window_sizes(&attributes, &first.shape, result).ok_or("its sizes are not read")?
                    }
                    _ => return Err(constant()),
                };
                let attributes = attributes.with(K::SliceSizes, sizes);
                self.emit(id, Opcode::Gather, &operands[..2], attributes, &known)
            }
            (Dynamic::Convolution, lists) => {
                let (padding, read) = match lists {
                    Some([padding]) => (padding.clone(), 2),
                    None if self.is_bare && operands.len() == 3 => (Vec::new(), 3),
                    _ => return Err(constant()),
                };
                let mut attributes = Attributes::default();
                push_window(&mut attributes, convolution_window(op, &operands[..2], Some(padding))?);
                let others = row.attributes.iter().filter(|a| a.form != Form::ConvolutionWindow);
                attributes.extend(attributes_of(others, op, &[])?);
                self.emit(id, Opcode::Convolution, &operands[..read], attributes, &known)
            }
            (Dynamic::Slice | Dynamic::Pad, _) => Err(constant()),
        }
    }

    /// The numbers of a small constant; the one number of a splat is repeated.
    pub(crate) fn integers_of(&mut self, value: mlir::ValueId) -> Option<Vec<i64>> {
        let written = self.written_integers(value)?;
        let [only] = written[..] else { return Some(written) };
        let shape = self.shape_of(value, 0).ok()?;
        let count = extents(&shape).ok()?.iter().try_fold(1i64, |n, &size| n.checked_mul(size))?;
        Some(vec![only; usize::try_from(count).ok().filter(|&n| n <= MAX_NUMBERS)?])
    }

    fn written_integers(&mut self, value: mlir::ValueId) -> Option<Vec<i64>> {
        let Definition::Result(op) = self.parse().values[value as usize].definition else { return None };
        if !OpKind::of(self.parse().name(op, self.text())).is_constant() {
            return None;
        }
        constant_integers(self.parse(), self.text(), op)
    }
}
