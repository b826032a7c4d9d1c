//! Tuples, barriers, and what goes to the host and comes from it.

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, Opcode, Shape};
use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::Operand;
use super::ops::one_shape;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_text::missing;

impl Writer<'_> {
    pub(super) fn get_tuple_element(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let custom = || op.body().split_once('[')?.1.split_once(']')?.0.trim().parse().ok();
        let index = op.int(&["index"]).or_else(custom).ok_or_else(|| missing("index"))?;
        let operands = self.operands(id)?;
        let attributes = Attributes::default().with(K::Index, index);
        self.emit(id, Opcode::GetTupleElement, &operands, attributes, &["index"])
    }

    pub(super) fn optimization_barrier(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        if self.is_bare && operands.len() > 1 {
            self.only_maps = true;
            return self.emit(id, Opcode::OptBarrier, &operands, Attributes::default(), &[]);
        }
        let one = self.together(&operands, id);
        self.emit(id, Opcode::OptBarrier, &[one], Attributes::default(), &[])
    }

    /// Several values as one.
    fn together(&mut self, operands: &[Operand], id: OpId) -> Operand {
        match operands {
            [only] => only.clone(),
            several => self.tuple(several, id),
        }
    }

    pub(super) fn infeed(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let token = self.operands(id)?.first().ok_or("it has no token")?.clone();
        let mut attributes = attributes(row, &self.op_text(id), &[])?;
        let shapes = self.results(id)?;
        let (_, data) = shapes.split_last().ok_or("it has no result")?;
        let mut known = known_attributes(row);
        known.push("layout");
        self.annotations(id, &known).add_to(&mut attributes);
        self.receive(id, (Opcode::Infeed, &[token], attributes), data, &shapes);
        Ok(())
    }

    /// An instruction that returns data, as one value, and a token.
    fn receive(
        &mut self,
        id: OpId,
        (opcode, operands, attributes): (Opcode, &[Operand], Attributes),
        data: &[Shape],
        shapes: &[Shape],
    ) {
        let one = one_shape(data);
        let both = Shape::tuple([one.clone(), Shape::Token]);
        let received = self.instruction(id, opcode, both, operands, attributes);
        if data.len() == 1 {
            return self.define_elements(id, &received, shapes, 0);
        }
        let inner = self.element(&received, 0, one, id);
        let parse = self.parse();
        let mut at = 0;
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                if self.is_used(value, index) {
                    let element = match data.get(at) {
                        Some(shape) => self.element(&inner, at, shape.clone(), id),
                        None => self.element(&received, 1, Shape::Token, id),
                    };
                    self.body().values.insert((value, index), element);
                }
                at += 1;
            }
        }
    }

    pub(super) fn outfeed(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let (token, data) = operands.split_last().ok_or("it has no token")?;
        let one = self.together(data, id);
        let mut all = Attributes::default().with(K::OutfeedShape, Value::Shape(one.shape.clone()));
        all.extend(attributes(row, &self.op_text(id), &[])?);
        self.emit(id, Opcode::Outfeed, &[one, token.clone()], all, &known_attributes(row))
    }

    /// Sending is started and done.
    pub(super) fn send(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let (token, data) = operands.split_last().ok_or("it has no token")?;
        let one = self.together(data, id);
        let attributes = attributes(row, &self.op_text(id), &[])?;
        let shape = in_flight(one.shape.clone());
        let started = self.instruction(id, Opcode::Send, shape, &[one, token.clone()], attributes.clone());
        let mut known = known_attributes(row);
        known.push("source_target_pairs");
        self.emit(id, Opcode::SendDone, &[started], attributes, &known)
    }

    pub(super) fn recv(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let token = self.operands(id)?.first().ok_or("it has no token")?.clone();
        let mut attributes = attributes(row, &self.op_text(id), &[])?;
        let shapes = self.results(id)?;
        let (_, data) = shapes.split_last().ok_or("it has no result")?;
        let shape = in_flight(one_shape(data));
        let started = self.instruction(id, Opcode::Recv, shape, &[token], attributes.clone());
        let mut known = known_attributes(row);
        known.push("source_target_pairs");
        self.annotations(id, &known).add_to(&mut attributes);
        self.receive(id, (Opcode::RecvDone, &[started], attributes), data, &shapes);
        Ok(())
    }
}

/// The shape of a started transfer: the data, a context, a token.
fn in_flight(data: Shape) -> Shape {
    Shape::tuple([data, Shape::array(ir::ElementType::U32, &[]), Shape::Token])
}
