//! Ops of CHLO as instructions.

use ir::{AttributeKey as K, AttributeValue, Attributes, ElementType, Opcode};
use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_table::ChloOp;
use crate::types::{element, extents, has_dimensions_of, with_element};

impl Writer<'_> {
    pub(super) fn chlo(&mut self, id: OpId, op: ChloOp) -> Result<(), NotInHlo> {
        match op {
            ChloOp::Atan => {
                let operand = self.first_operand(id)?;
                let one = self.filled(id, &operand, "1");
                self.emit(id, Opcode::Atan2, &[operand, one], Attributes::default(), &[])
            }
            ChloOp::Broadcasting(row) => self.broadcasting(id, row),
            ChloOp::Conjugate => self.conjugate(id),
            ChloOp::Constant => self.constant(id),
            ChloOp::Elementwise(opcode) => self.elementwise(id, opcode),
            ChloOp::Expanded => {
                Err(NotInHlo::no_instruction("HLO has no such instruction: XLA expands it into many"))
            }
            ChloOp::IsInfinite(which) => {
                let mut operand = self.first_operand(id)?;
                if which.is_none() {
                    let shape = operand.shape.clone();
                    operand = self.instruction(id, Opcode::Abs, shape, &[operand], Attributes::default());
                }
                let infinity = self.filled(id, &operand, which.unwrap_or("inf"));
                let equal = AttributeValue::Word("EQ".to_owned());
                let attributes = Attributes::default().with(K::Direction, equal);
                self.emit(id, Opcode::Compare, &[operand, infinity], attributes, &[])
            }
            ChloOp::Row(row) => self.of_row(id, row),
            ChloOp::Square => {
                let operand = self.first_operand(id)?;
                let twice = [operand.clone(), operand];
                self.emit(id, Opcode::Multiply, &twice, Attributes::default(), &[])
            }
            ChloOp::TopK => {
                let operands = self.operands(id)?;
                let k = self.op_text(id).int(&["k"]).ok_or("k is not read")?;
                let attributes = Attributes::default().with(K::K, k).with(K::Largest, true);
                self.emit(id, Opcode::Topk, &operands, attributes, &["k"])
            }
        }
    }

    fn first_operand(&mut self, id: OpId) -> Result<Operand, NotInHlo> {
        Ok(self.operands(id)?.first().ok_or("it has no operand")?.clone())
    }

    /// The other sign in the imaginary part; a real number is its own conjugate.
    fn conjugate(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let operand = self.first_operand(id)?;
        let part = match element(&operand.shape) {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            _ => return self.alias_results(id, vec![operand]),
        };
        let shape = with_element(&operand.shape, part);
        let mut push = |opcode: Opcode, of: &Operand| {
            self.instruction(id, opcode, shape.clone(), std::slice::from_ref(of), Attributes::default())
        };
        let (real, imaginary) = (push(Opcode::Real, &operand), push(Opcode::Imag, &operand));
        let negated = push(Opcode::Negate, &imaginary);
        self.emit(id, Opcode::Complex, &[real, negated], Attributes::default(), &[])
    }

    /// An op that broadcasts its operands to the shape of its result.
    fn broadcasting(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let results = self.results(id)?;
        let result = results.first().ok_or("it has no result")?;
        let to = result.dims().len();
        let stated = self.op_text(id).list(&["broadcast_dimensions"]);
        let mut wide = Vec::new();
        for operand in operands {
            let from = operand.shape.dims().len();
            if has_dimensions_of(&operand.shape, result) {
                wide.push(operand);
                continue;
            }
            let behind = to.checked_sub(from).ok_or("an operand has more dimensions than the result")?;
            // How far an operand is stretched must be known.
            extents(result)?;
            let stated = stated.clone().filter(|list| list.len() == from);
            let dimensions = stated.unwrap_or_else(|| (behind as i64..to as i64).collect());
            let (operand, kept) = self.unstretched(id, operand, result, &dimensions)?;
            let shape = with_element(result, element(&operand.shape));
            let attributes = Attributes::default().with(K::Dimensions, kept);
            wide.push(self.instruction(id, Opcode::Broadcast, shape, &[operand], attributes));
        }
        let attributes = attributes(row, &self.op_text(id), &wide)?;
        let mut known = known_attributes(row);
        known.push("broadcast_dimensions");
        self.emit(id, row.opcode, &wide, attributes, &known)
    }
}
