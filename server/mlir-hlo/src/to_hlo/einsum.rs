//! Ops whose dimensions a string names, and what PyTorch calls a selection.
//!
//! Source: `xla/hlo/builder/lib/matrix.cc` Einsum, `xla/hlo/builder/lib/slicing.cc` TorchIndexSelect.

use ir::{AttributeKey as K, AttributeValue, Attributes, ElementType, Opcode, Shape};
use mlir::{Einsum, OpId};

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::{attributes, push_dot_lists};
use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_table::op_of;
use crate::op_text::missing;
use crate::types::{element, extents, number, with_element};

/// An operand, and the letter of each of its dimensions.
type Side = (Operand, Vec<char>);

impl Writer<'_> {
    /// Dimensions that only one side and not the result has are reduced first; the others are those of a dot.
    pub(super) fn einsum(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let config = op.string(&["einsum_config", "config"]).ok_or_else(|| missing("einsum_config"))?;
        let operands = self.operands(id)?;
        let results = self.results(id)?;
        let result = results.first().ok_or("it has no result")?.clone();
        let ranks: Vec<usize> = operands.iter().map(|operand| operand.shape.dims().len()).collect();
        let Einsum { operands: inputs, output } = Einsum::of(config, &ranks, extents(&result)?.len())?;
        if operands.len() > 2 {
            return Err("it has more than two operands".into());
        }
        let mut sides: Vec<Side> = Vec::new();
        let mut all: Vec<(char, i64)> = Vec::new();
        for (letters, operand) in inputs.into_iter().zip(operands) {
            let sizes = extents(&operand.shape)?;
            all.extend(letters.iter().copied().zip(sizes.iter().copied()));
            sides.push((operand, letters));
        }
        if let [(only, _)] = sides.as_mut_slice()
            && element(&only.shape) != element(&result)
        {
            // A dot adds up in the type of its result; what moves elements keeps their type.
            let shape = with_element(&only.shape, element(&result));
            *only = self.instruction(
                id,
                Opcode::Convert,
                shape,
                std::slice::from_ref(only),
                Attributes::default(),
            );
        }
        let extent = |letter: char| all.iter().find(|(own, _)| *own == letter).map(|&(_, extent)| extent);
        if all.iter().any(|&(letter, own)| extent(letter) != Some(own)) {
            return Err("dimensions of one letter are of several extents".into());
        }
        let known = [known_attributes(row), vec!["einsum_config", "config"]].concat();
        let mut reduced = Vec::new();
        for at in 0..sides.len() {
            let others: Vec<char> =
                sides.iter().enumerate().filter(|(n, _)| *n != at).flat_map(|(_, s)| s.1.clone()).collect();
            let side = self.diagonal(id, sides[at].clone())?;
            let needed = |letter: &char| output.contains(letter) || others.contains(letter);
            let summed: Vec<usize> = (0..side.1.len()).filter(|&d| !needed(&side.1[d])).collect();
            reduced.push(self.summed(id, side, &summed)?);
        }
        let (last, order) = match reduced.as_slice() {
            [only] => only.clone(),
            [lhs, rhs] => {
                let mut dot = Dot::of(lhs, rhs, &output);
                let operands = [lhs.0.clone(), rhs.0.clone()];
                dot.attributes.extend(attributes(row, op, &operands)?);
                if dot.order == output {
                    return self.emit(id, Opcode::Dot, &operands, dot.attributes, &known);
                }
                let sizes: Vec<i64> = dot.order.iter().filter_map(|&letter| extent(letter)).collect();
                let shape = Shape::array(element(&result), &sizes);
                (self.instruction(id, Opcode::Dot, shape, &operands, dot.attributes), dot.order)
            }
            _ => return Err("it has no operand".into()),
        };
        let place = |letter: &char| order.iter().position(|own| own == letter).map(|at| at as i64);
        let permutation: Vec<i64> = output.iter().filter_map(place).collect();
        let attributes = Attributes::default().with(K::Dimensions, permutation);
        self.emit(id, Opcode::Transpose, &[last], attributes, &known)
    }

    /// The same without letters that occur twice: elements where both dimensions are at the same place stay, summed up over one.
    fn diagonal(&mut self, id: OpId, (mut operand, mut letters): Side) -> Result<Side, NotInHlo> {
        while let Some(second) = (1..letters.len()).find(|&at| letters[..at].contains(&letters[at])) {
            let first = letters.iter().position(|&own| own == letters[second]).unwrap_or(0);
            extents(&operand.shape)?;
            let shape = operand.shape.clone();
            let places = [first, second].map(|dimension| {
                let attributes = Attributes::default().with(K::IotaDimension, dimension as i64);
                self.instruction(id, Opcode::Iota, with_element(&shape, ElementType::S32), &[], attributes)
            });
            let attributes = Attributes::default().with(K::Direction, AttributeValue::Word("EQ".to_owned()));
            let truths = with_element(&shape, ElementType::Pred);
            let is_same = self.instruction(id, Opcode::Compare, truths, &places, attributes);
            let zeros = self.filled(id, &operand, "0");
            let kept = self.instruction(
                id,
                Opcode::Select,
                shape,
                &[is_same, operand, zeros],
                Attributes::default(),
            );
            (operand, letters) = self.summed(id, (kept, letters), &[second])?;
        }
        Ok((operand, letters))
    }

    /// Sums up over dimensions.
    fn summed(&mut self, id: OpId, (operand, letters): Side, dimensions: &[usize]) -> Result<Side, NotInHlo> {
        if dimensions.is_empty() {
            return Ok((operand, letters));
        }
        let kind = element(&operand.shape);
        let sum = op_of(if kind == ElementType::Pred { Opcode::Or } else { Opcode::Add })
            .ok_or("HLO has no sum")?;
        let computation = self.applied(id, sum, kind)?;
        let zero = self.scalar(id, kind, number(kind, "0"));
        let (mut sizes, mut left) = (Vec::new(), Vec::new());
        for (at, (&letter, &extent)) in letters.iter().zip(extents(&operand.shape)?).enumerate() {
            if !dimensions.contains(&at) {
                sizes.push(extent);
                left.push(letter);
            }
        }
        let dimensions: Vec<i64> = dimensions.iter().map(|&d| d as i64).collect();
        let attributes = Attributes::default()
            .with(K::Dimensions, dimensions)
            .with(K::ToApply, AttributeValue::Computation(computation));
        Ok((
            self.instruction(id, Opcode::Reduce, Shape::array(kind, &sizes), &[operand, zero], attributes),
            left,
        ))
    }

    /// Whole slices of the operand, at the places that the indices say; the first dimensions may be of both.
    pub(super) fn torch_index_select(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let operands = self.operands(id)?;
        let [operand, indices] = operands.as_slice() else {
            return Err("it has not two operands".into());
        };
        let sizes = extents(&operand.shape)?;
        let (rank, places) = (sizes.len() as i64, indices.shape.dims().len() as i64);
        let stated = |name: &str, rank: i64| {
            let stated = op.int(&[name]).ok_or_else(|| missing(name))?;
            let at = if stated < 0 { stated.saturating_add(rank) } else { stated };
            match (0..=rank).contains(&at) {
                true => Ok(at),
                false => Err(NotInHlo::from(format!("{name} is no dimension"))),
            }
        };
        let (dimension, batch) = (stated("dim", rank)?, stated("batch_dims", places)?);
        if dimension >= rank || batch > dimension {
            return Err("dim is no dimension after batch_dims".into());
        }
        let offset: Vec<i64> =
            (batch..dimension).chain(dimension + places - batch..rank - 1 + places - batch).collect();
        // Of nothing not even one is taken.
        let taken = |d: i64, extent: i64| if d < batch || d == dimension { extent.min(1) } else { extent };
        let slices: Vec<i64> = (0..).zip(sizes).map(|(d, &extent)| taken(d, extent)).collect();
        let mut attributes = Attributes::default()
            .with(K::OffsetDims, offset)
            .with(K::CollapsedSliceDims, vec![dimension])
            .with(K::StartIndexMap, vec![dimension]);
        if batch > 0 {
            attributes.push(K::OperandBatchingDims, (0..batch).collect::<Vec<i64>>());
            attributes.push(K::StartIndicesBatchingDims, (0..batch).collect::<Vec<i64>>());
        }
        attributes.push(K::IndexVectorDim, places);
        attributes.push(K::SliceSizes, slices);
        self.emit(id, Opcode::Gather, &operands, attributes, &["dim", "batch_dims"])
    }
}

/// A dot's attributes, and the letters of its result.
struct Dot {
    attributes: Attributes,
    order: Vec<char>,
}

impl Dot {
    fn of((_, lhs): &Side, (_, rhs): &Side, output: &[char]) -> Dot {
        let place = |list: &[char], letter: char| list.iter().position(|&own| own == letter);
        let both = |is_kept: bool| -> Vec<(i64, i64, char)> {
            let common = lhs.iter().enumerate().filter(|(_, letter)| output.contains(letter) == is_kept);
            common.filter_map(|(l, &c)| Some((l as i64, place(rhs, c)? as i64, c))).collect()
        };
        let (batch, contracted) = (both(true), both(false));
        let list = |of: &[(i64, i64, char)], side: usize| -> Vec<i64> {
            of.iter().map(|&(l, r, _)| [l, r][side]).collect()
        };
        let mut attributes = Attributes::default();
        let [left, right] = [0, 1].map(|side| [list(&batch, side), list(&contracted, side)]);
        let ([left_batch, left], [right_batch, right]) = (left, right);
        push_dot_lists(&mut attributes, [left_batch, left, right_batch, right]);
        let free = |own: &[char], other: &[char]| {
            own.iter().copied().filter(|c| !other.contains(c)).collect::<Vec<_>>()
        };
        let mut order: Vec<char> = batch.iter().map(|&(_, _, letter)| letter).collect();
        order.extend(free(lhs, rhs));
        order.extend(free(rhs, lhs));
        Dot { attributes, order }
    }
}
