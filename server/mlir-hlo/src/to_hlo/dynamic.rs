//! Ops whose shapes are operands: the static op where the result's extents, and the operands that say them, are known.

use ir::{AttributeKey as K, Attributes, Opcode, Shape, UNBOUNDED};
use mlir::{Definition, OpId, integers};

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::{attributes, attributes_of, push_padding, push_window};
use super::windows::{convolution_window, triples};
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{Form, OpRow};
use crate::op_text::OpText;
use crate::types::extents;

/// Numbers of a place or a size: two per dimension are many.
const MAX_NUMBERS: usize = 1 << 10;

/// The shape with these extents where its own are unknown.
fn with_known(shape: &Shape, sizes: &[i64]) -> Shape {
    let Some(array) = shape.as_array().filter(|array| array.rank() == sizes.len()) else {
        return shape.clone();
    };
    let size = |(k, &size): (usize, &i64)| match array.dims[k] < 0 || array.is_dynamic(k) {
        true => size,
        false => array.dims[k],
    };
    let dims: Vec<i64> = sizes.iter().enumerate().map(size).collect();
    Shape::array(array.element, &dims)
}

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
    pub(super) fn dynamic(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let results = self.results(id)?;
        if self.is_bare
            && let [result] = results.as_slice()
            && let Some(done) = self.of_unknown_extents(id, row, result)
        {
            return done;
        }
        if !results.iter().all(ir::Shape::is_static) {
            return Err(NotInHlo::Type("an extent of its result is not known".into()));
        }
        let name = self.parse().name(id, self.text()).rsplit('.').next().unwrap_or_default();
        let op = self.op_text(id);
        let operands = self.operands(id)?;
        let first = operands.first().ok_or("it has no operand")?.clone();
        if !first.shape.is_static() && name != "dynamic_iota" {
            return Err(NotInHlo::Type("an extent of its operand is not known".into()));
        }
        let known = known_attributes(row);
        self.forget_constants(
            id,
            if matches!(name, "dynamic_pad" | "dynamic_gather" | "dynamic_conv") { 2 } else { 1 },
        );
        let mut constants = |from: usize| -> Result<Vec<Vec<i64>>, NotInHlo> {
            let read: Vec<_> = self.parse().operands_of(id).skip(from).collect();
            let all = read.iter().map(|operand| self.integers_of(operand.value?)).collect::<Option<Vec<_>>>();
            all.ok_or_else(|| "a place or a size is no constant".into())
        };
        match name {
            "dynamic_broadcast_in_dim" => {
                let dimensions = op.needed(&["broadcast_dimensions", "dims"])?;
                self.broadcast_to(id, first, &dimensions)
            }
            "dynamic_reshape" => self.emit(id, Opcode::Reshape, &[first], Attributes::default(), &known),
            "dynamic_iota" => {
                let attributes = attributes(row, op, &[])?;
                self.emit(id, Opcode::Iota, &[], attributes, &known)
            }
            "real_dynamic_slice" => match &constants(1)?[..] {
                [starts, limits, strides] => {
                    let attributes = Attributes::default().with(K::Slice, triples(starts, limits, strides));
                    self.emit(id, Opcode::Slice, &[first], attributes, &known)
                }
                _ => Err("its places are not read".into()),
            },
            "dynamic_pad" => match &constants(2)?[..] {
                [low, high, interior] => {
                    let mut attributes = Attributes::default();
                    push_padding(&mut attributes, low, high, interior);
                    self.emit(id, Opcode::Pad, &operands[..2], attributes, &known)
                }
                _ => Err("its padding is not read".into()),
            },
            "dynamic_gather" => match &constants(2)?[..] {
                [sizes] => {
                    let others = row.attributes.iter().filter(|a| a.form != Form::Ints);
                    let attributes = attributes_of(others, op, &[])?.with(K::SliceSizes, sizes.clone());
                    self.emit(id, Opcode::Gather, &operands[..2], attributes, &known)
                }
                _ => Err("its sizes are not read".into()),
            },
            "dynamic_conv" => match &constants(2)?[..] {
                [padding] => {
                    let mut attributes = Attributes::default();
                    let window = convolution_window(op, &operands[..2], Some(padding.clone()))?;
                    push_window(&mut attributes, window);
                    let others = row.attributes.iter().filter(|a| a.form != Form::ConvolutionWindow);
                    attributes.extend(attributes_of(others, op, &[])?);
                    self.emit(id, Opcode::Convolution, &operands[..2], attributes, &known)
                }
                _ => Err("its padding is not read".into()),
            },
            _ => {
                let body = self.body();
                let names: Vec<_> = operands.iter().skip(2).map(|operand| body.name(operand)).collect();
                Err(format!("its shape depends on {}", names.join(", ")).into())
            }
        }
    }

    /// For maps alone: an op whose extents the result's type says, or nobody. `None` for ops that need more.
    fn of_unknown_extents(
        &mut self,
        id: OpId,
        row: &'static OpRow,
        result: &Shape,
    ) -> Option<Result<(), NotInHlo>> {
        let name = self.parse().name(id, self.text()).rsplit('.').next()?;
        let op = self.op_text(id);
        let operands = self.operands(id).ok()?;
        let first = operands.first()?.clone();
        let is_static = first.shape.is_static() && result.is_static();
        Some(match name {
            "dynamic_reshape" if !is_static => {
                self.emit(id, Opcode::Reshape, &[first], Attributes::default(), &[])
            }
            "dynamic_broadcast_in_dim" if !is_static => {
                let sizes =
                    self.parse().operands_of(id).nth(1)?.value.and_then(|value| self.integers_of(value));
                let shape = sizes.map_or_else(|| result.clone(), |sizes| with_known(result, &sizes));
                let dimensions = op.ints(&["broadcast_dimensions", "dims"])?;
                let attributes = Attributes::default().with(K::Dimensions, dimensions);
                self.define(id, Opcode::Broadcast, vec![shape], &[first], attributes);
                Ok(())
            }
            "dynamic_gather" => {
                let others = row.attributes.iter().filter(|a| a.form != Form::Ints);
                let attributes = attributes_of(others, op, &[]).ok()?;
                let sizes =
                    self.parse().operands_of(id).nth(2)?.value.and_then(|value| self.integers_of(value));
                let sizes = sizes.or_else(|| window_sizes(&attributes, &first.shape, result))?;
                let attributes = attributes.with(K::SliceSizes, sizes);
                self.emit(id, Opcode::Gather, &operands[..2], attributes, &[])
            }
            _ => return None,
        })
    }

    /// The numbers of a small constant; the one number of a splat is repeated.
    fn integers_of(&mut self, value: mlir::ValueId) -> Option<Vec<i64>> {
        let written = self.written_integers(value)?;
        let [only] = written[..] else { return Some(written) };
        let shape = self.shape_of(value, 0).ok()?;
        let count = extents(&shape).ok()?.iter().try_fold(1i64, |n, &size| n.checked_mul(size))?;
        Some(vec![only; usize::try_from(count).ok().filter(|&n| n <= MAX_NUMBERS)?])
    }

    fn written_integers(&self, value: mlir::ValueId) -> Option<Vec<i64>> {
        let Definition::Result(op) = self.parse().values[value as usize].definition else { return None };
        let op: OpText<'_> = self.op_text(op);
        if !op.parse.name(op.id, op.text).ends_with(".constant") {
            return None;
        }
        if let Some(value) = op.attribute(&["value"]) {
            return integers(value);
        }
        let body = op.body();
        integers(&body[body.find("dense<")?..])
    }
}
