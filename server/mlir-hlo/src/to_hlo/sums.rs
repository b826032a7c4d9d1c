//! Ops that are several instructions, or another one than their name says: broadcasts, sums, dots.

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, ElementType, Opcode, Shape};
use mlir::OpId;
use mlir_ops::OpText;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_table::{mnemonic, row_of};
use crate::op_text::needed;
use crate::types::{element, is_dynamic, with_dimensions};

impl Writer<'_> {
    pub(super) fn broadcast_in_dim(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let dimensions = broadcast_dimensions(&self.op_text(id))?;
        let operand = operands.first().ok_or("it has no operand")?.clone();
        self.broadcast_to(id, operand, &dimensions)
    }

    /// HLO's broadcast does not stretch a dimension of one element: that is dropped first.
    pub(super) fn broadcast_to(
        &mut self,
        id: OpId,
        operand: Operand,
        dimensions: &[i64],
    ) -> Result<(), NotInHlo> {
        let results = self.results(id)?;
        let result = results.first().ok_or("it has no result")?;
        let known =
            ["broadcast_dimensions", "dims", "known_expanding_dimensions", "known_nonexpanding_dimensions"];
        // Where it is not known which dimensions are stretched, maps need all of them.
        let (operand, kept) = match self.is_bare && !(operand.shape.is_static() && result.is_static()) {
            true => (operand, dimensions.to_vec()),
            false => self.unstretched(id, operand, result, dimensions)?,
        };
        let attributes = Attributes::default().with(K::Dimensions, kept);
        self.emit(id, Opcode::Broadcast, &[operand], attributes, &known)
    }

    /// The operand without dimensions that are stretched, and where the others go.
    pub(super) fn unstretched(
        &mut self,
        id: OpId,
        operand: Operand,
        to: &Shape,
        dimensions: &[i64],
    ) -> Result<(Operand, Vec<i64>), NotInHlo> {
        let kept = kept_dimensions(&operand.shape, to, dimensions)?;
        let places = kept.iter().map(|&i| dimensions[i]).collect();
        if kept.len() == dimensions.len() {
            return Ok((operand, places));
        }
        Ok((
            self.instruction(
                id,
                Opcode::Reshape,
                with_dimensions(&operand.shape, &kept),
                &[operand],
                Attributes::default(),
            ),
            places,
        ))
    }

    /// The sizes are those of new first dimensions.
    pub(super) fn broadcast(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let operand = operands.first().ok_or("it has no operand")?;
        let sizes = needed(&self.op_text(id), &["broadcast_sizes", "sizes"])?.len() as i64;
        let rank = operand.shape.dims().len() as i64;
        let dimensions: Vec<i64> = (sizes..sizes + rank).collect();
        let attributes = Attributes::default().with(K::Dimensions, dimensions);
        self.emit(id, Opcode::Broadcast, &operands, attributes, &["broadcast_sizes", "sizes"])
    }

    /// The last dimension of the left side and the first of the right one are contracted.
    pub(super) fn dot(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let first = operands.first().ok_or("it has no operand")?;
        let last = first.shape.dims().len().max(1) as i64 - 1;
        let mut all = Attributes::default()
            .with(K::LhsContractingDims, vec![last])
            .with(K::RhsContractingDims, vec![0]);
        all.extend(attributes(row, &self.op_text(id), &operands)?);
        self.emit(id, Opcode::Dot, &operands, all, &known_attributes(row))
    }

    pub(super) fn reduce(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let mut operands = self.operands(id)?;
        let op = &self.op_text(id);
        let is_custom = !op.is_generic();
        if is_custom {
            // `(%a init: %i), (%b init: %j)`: HLO has the arrays first.
            let (arrays, inits) = operands.iter().enumerate().partition::<Vec<_>, _>(|(at, _)| at % 2 == 0);
            operands = arrays.into_iter().chain(inits).map(|(_, o)| o.clone()).collect();
        }
        let mut attributes = attributes(row, op, &operands)?;
        let region = self.parse().regions_of(id).next();
        let computation = match region {
            None => {
                let applied =
                    op.body().split(" applies ").nth(1).and_then(|rest| rest.split_whitespace().next());
                let applied =
                    applied.and_then(mnemonic).and_then(row_of).ok_or("what it applies is no op of HLO")?;
                let first = operands.first().map_or(ElementType::Opaque, |o| element(&o.shape));
                self.applied(id, applied, first)?
            }
            Some(region) => {
                let block = self.entry_of(region)?;
                let mut arguments = self.binders(id);
                if arguments.is_empty() {
                    arguments = self.parse().blocks[block as usize].arguments.clone().collect();
                } else if is_custom {
                    // `(%x: T, %y: T) (%z: U, %w: U)`: the accumulators come first.
                    let (left, right) =
                        arguments.iter().enumerate().partition::<Vec<_>, _>(|(at, _)| at % 2 == 0);
                    arguments = left.into_iter().chain(right).map(|(_, &value)| value).collect();
                }
                self.region_of(id, block, &arguments)?
            }
        };
        attributes.push(K::ToApply, Value::Computation(computation));
        self.emit(id, Opcode::Reduce, &operands, attributes, &known_attributes(row))
    }

    /// The computation of an op of two scalars.
    pub(super) fn applied(
        &mut self,
        id: OpId,
        row: &OpRow,
        element: ElementType,
    ) -> Result<String, NotInHlo> {
        self.open_body()?;
        let scalar = Shape::array(element, &[]);
        let left = self.body().parameter("lhs", scalar.clone(), Attributes::default(), id);
        let right = self.body().parameter("rhs", scalar.clone(), Attributes::default(), id);
        let root = self.instruction(id, row.opcode, scalar, &[left, right], Attributes::default());
        let name = self.region_name("region");
        self.finish_body(&name, &root);
        Ok(name)
    }
}

/// The dimensions of the result that those of a `broadcast_in_dim`'s operand become.
pub(super) fn broadcast_dimensions(op: &OpText<'_>) -> Result<Vec<i64>, NotInHlo> {
    needed(op, &["broadcast_dimensions", "dims"])
}

/// The dimensions of a broadcast's operand that are not stretched.
pub(super) fn kept_dimensions(from: &Shape, to: &Shape, dimensions: &[i64]) -> Result<Vec<usize>, NotInHlo> {
    if from.dims().len() != dimensions.len() {
        return Err("broadcast_dimensions are not as many as the operand's".into());
    }
    let is_one = |shape: &Shape, d: usize| shape.dims().get(d) == Some(&1) && !is_dynamic(shape, d);
    let is_one_there = |d: i64| usize::try_from(d).is_ok_and(|d| is_one(to, d));
    let is_kept = |&d: &usize| !is_one(from, d) || is_one_there(dimensions[d]);
    Ok((0..dimensions.len()).filter(is_kept).collect())
}
