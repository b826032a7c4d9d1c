//! One op, as the instructions that do the same.

use ir::{AttributeKey as K, AttributeValue, Attributes, Opcode, Shape};
use mlir::{OpId, ValueId};
use mlir_ops::{OpKind, OpText};

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::{Draft, Operand};
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{How, OpRow, Special};
use crate::op_table::{mnemonic, row_of};
use crate::types::{UNQUANTISED, stated_layout, with_layout};

/// Results of one value that are written where none has a type.
const MAX_UNTYPED: u32 = 256;

impl<'a> Writer<'a> {
    pub(super) fn op_text(&self, id: OpId) -> OpText<'a> {
        OpText::of_any_length(self.source, id)
    }

    /// Writes an op, or a custom call of its name where HLO has no such instruction.
    pub(super) fn op(&mut self, id: OpId) {
        cancel::check();
        let (finished, calls) = (self.finished.len(), self.calls.len());
        let (bodies, written) = (self.bodies.len(), self.body().len());
        if let Err(reason) = self.try_op(id) {
            self.bodies.truncate(bodies);
            self.finished.truncate(finished);
            self.calls.truncate(calls);
            // Constants of the outside, which were written on the way, stay.
            self.body().take_back(id, written);
            self.placeholder(id, &reason.to_string());
        }
    }

    pub(crate) fn try_op(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let name = self.parse().name(id, self.text());
        if let Some(mnemonic) = mnemonic(name) {
            let row = row_of(mnemonic).ok_or_else(|| match mnemonic.starts_with("uniform_") {
                true => NotInHlo::no_instruction(UNQUANTISED),
                false => NotInHlo::NO_SUCH_OP,
            })?;
            return self.of_row(id, row);
        }
        match OpKind::of(name) {
            OpKind::Call => self.call(id),
            OpKind::Constant => self.constant(id),
            _ => self.other_dialect(id, name),
        }
    }

    pub(super) fn of_row(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        match row.how {
            How::Row | How::ReadOnly => self.row(id, row),
            How::Special(special) => self.special(id, row, special),
        }
    }

    fn special(&mut self, id: OpId, row: &'static OpRow, special: Special) -> Result<(), NotInHlo> {
        match special {
            Special::AllToAll => self.all_to_all(id, row),
            Special::AsyncDone => self.async_done(id, row),
            Special::AsyncStart => self.async_start(id, row),
            Special::Broadcast => self.broadcast(id),
            Special::BroadcastInDim => self.broadcast_in_dim(id),
            Special::Call => self.call(id),
            Special::Case | Special::If => self.conditional(id, special == Special::If),
            Special::Composite => self.composite(id),
            Special::Constant => self.constant(id),
            Special::CreateToken => self.emit(id, row.opcode, &[], Attributes::default(), &[]),
            Special::CrossReplicaSum => self.cross_replica_sum(id, row),
            Special::CustomCall => self.custom_call(id),
            Special::Dot => self.dot(id, row),
            Special::Dynamic(dynamic) => self.dynamic(id, row, dynamic),
            Special::Einsum => self.einsum(id, row),
            Special::GetTupleElement => self.get_tuple_element(id),
            Special::Infeed => self.infeed(id, row),
            Special::OptimizationBarrier => self.optimization_barrier(id),
            Special::Outfeed => self.outfeed(id, row),
            Special::Recv => self.recv(id, row),
            Special::Reduce => self.reduce(id, row),
            Special::Scan => self.scan(id, row),
            Special::Send => self.send(id, row),
            Special::TorchIndexSelect => self.torch_index_select(id),
            Special::Tuple => {
                let operands = self.operands(id)?;
                self.emit(id, Opcode::Tuple, &operands, Attributes::default(), &[])
            }
            Special::While => self.while_loop(id),
        }
    }

    fn row(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let mut operands = self.operands(id)?;
        if row.opcode == ir::Opcode::Rng {
            // The shape of its result.
            operands.truncate(2);
            self.forget_constants(id, 2);
        }
        let mut attributes = attributes(row, &self.op_text(id), &operands)?;
        if !self.is_bare && attributes.window().iter().any(|dim| dim.size < 0) {
            return Err(NotInHlo::Type("an extent of its kernel is not known".into()));
        }
        let regions: Vec<_> = self.parse().regions_of(id).collect();
        if regions.len() < row.regions.len() {
            return Err("it has no region".into());
        }
        for (key, &region) in row.regions.iter().zip(&regions) {
            let computation = self.region(id, region)?;
            attributes.push(*key, AttributeValue::Computation(computation));
        }
        self.emit(id, row.opcode, &operands, attributes, &known_attributes(row))
    }

    /// Constants that nothing reads but the operands of an op from this one on, which HLO says in another way.
    pub(super) fn forget_constants(&mut self, id: OpId, from: usize) {
        let parse = self.parse();
        for operand in parse.operands_of(id).skip(from) {
            let Some(value) = operand.value else { continue };
            let uses = parse.uses.iter().filter(|u| u.value == Some(value)).count();
            let mlir::Definition::Result(op) = parse.values[value as usize].definition else { continue };
            if uses == 1 && parse.name(op, self.source.text).ends_with(".constant") {
                self.body().take_back(op, 0);
                self.body().values.remove(&(value, 0));
            }
        }
    }

    /// The number of results of a value. Of results without a written type, at most a few count.
    pub(super) fn packed(&self, value: ValueId) -> u32 {
        let value = &self.parse().values[value as usize];
        let written = value.types.end.saturating_sub(value.types.start);
        value.count.min(written.max(MAX_UNTYPED))
    }

    /// The shapes of the results, with the layouts that are stated.
    pub(super) fn results(&mut self, id: OpId) -> Result<Vec<Shape>, NotInHlo> {
        let parse = self.parse();
        let mut shapes = Vec::new();
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                shapes.push(self.shape_of(value, index)?);
            }
        }
        Ok(with_stated_layouts(&self.op_text(id), shapes))
    }

    /// Writes the instruction of an op, with its annotations. Those in `known` are already in `attributes`.
    pub(super) fn emit(
        &mut self,
        id: OpId,
        opcode: Opcode,
        operands: &[Operand],
        mut attributes: Attributes,
        known: &[&str],
    ) -> Result<(), NotInHlo> {
        let shapes = self.results(id)?;
        self.annotations(id, known).add_to(&mut attributes);
        self.define(id, opcode, shapes, operands, attributes);
        Ok(())
    }

    /// Writes an instruction whose value is that of the op: a tuple where the op has more than one.
    pub(super) fn define(
        &mut self,
        id: OpId,
        opcode: Opcode,
        shapes: Vec<Shape>,
        operands: &[Operand],
        attributes: Attributes,
    ) {
        let shape = one_shape(&shapes);
        self.define_draft(id, opcode.name(), shapes, Draft::new(opcode, shape, operands, attributes));
    }

    /// Adds any instruction as the value of an op. `stem` names it where the value has no name.
    pub(super) fn define_draft(&mut self, id: OpId, stem: &str, shapes: Vec<Shape>, draft: Draft) -> Operand {
        let results = self.parse().op(id).results.clone();
        let wanted = match results.is_empty() {
            true => stem.to_owned(),
            false => self.wanted_name(results.start, stem),
        };
        let value = self.body().push(&wanted, draft, id);
        match shapes.len() {
            1 => _ = self.body().values.insert((results.start, 0), value.clone()),
            _ => self.define_elements(id, &value, &shapes, 0),
        }
        value
    }

    /// Adds an instruction that is named after its opcode.
    pub(super) fn instruction(
        &mut self,
        id: OpId,
        opcode: Opcode,
        shape: Shape,
        operands: &[Operand],
        attributes: Attributes,
    ) -> Operand {
        self.body().push(opcode.name(), Draft::new(opcode, shape, operands, attributes), id)
    }

    /// The results of an op are elements of a tuple, from its element `from` on.
    pub(super) fn define_elements(&mut self, id: OpId, tuple: &Operand, shapes: &[Shape], from: usize) {
        let parse = self.parse();
        let mut at = 0;
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                if let Some(shape) = shapes.get(at).filter(|_| self.is_used(value, index)) {
                    let element = self.element(tuple, from + at, shape.clone(), id);
                    self.body().values.insert((value, index), element);
                }
                at += 1;
            }
        }
    }

    pub(super) fn element(&mut self, tuple: &Operand, index: usize, shape: Shape, id: OpId) -> Operand {
        let attributes = Attributes::default().with(K::Index, index as i64);
        let wanted = format!("{}_{index}", self.body().name(tuple));
        let draft = Draft::new(Opcode::GetTupleElement, shape, std::slice::from_ref(tuple), attributes);
        self.body().push(&wanted, draft, id)
    }

    /// A custom call of the op's name, of the operands that HLO has. A type that HLO does not have is opaque.
    fn placeholder(&mut self, id: OpId, reason: &str) {
        let (parse, text) = (self.parse(), self.text());
        let name = parse.name(id, text);
        self.report(id, format!("{name}: {reason}"));
        let operands: Vec<_> =
            parse.operands_of(id).filter_map(|operand| self.operand(operand).ok()).collect();
        let mut shapes: Vec<Shape> = Vec::new();
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                shapes.push(self.shape_of(value, index).unwrap_or(Shape::Opaque));
            }
        }
        let target = crate::strings::hlo_string(&name.replace(['"', '\\'], "_"));
        let mut attributes = Attributes::default().with(K::CustomCallTarget, AttributeValue::Quoted(target));
        if shapes.is_empty() {
            attributes.push(K::CustomCallHasSideEffect, true);
        }
        self.location(id).add_to(&mut attributes);
        let draft = Draft::new(Opcode::CustomCall, one_shape(&shapes), &operands, attributes);
        let called = self.define_draft(id, Opcode::CustomCall.name(), shapes, draft);
        let comment = reason.replace("*/", "* /").replace('\n', " ");
        self.body().comments.push((called.id, format!("not said in HLO: {comment}")));
    }
}

/// The shape of several values together.
pub(super) fn one_shape(shapes: &[Shape]) -> Shape {
    match shapes {
        [only] => only.clone(),
        several => Shape::tuple(several.iter().cloned()),
    }
}

/// The shapes of an op's results, with the layouts that it states.
pub(super) fn with_stated_layouts(op: &OpText<'_>, mut shapes: Vec<Shape>) -> Vec<Shape> {
    let stated = op.string(&["xla_shape"]);
    if let [only] = shapes.as_mut_slice() {
        if let Some(stated) = stated.and_then(|stated| stated_layout(stated, only)) {
            *only = stated;
        } else if let Some(layout) = op.list(&["result_layout"]) {
            *only = with_layout(only, &layout);
        }
    } else if let Some(stated) = stated
        && let Some(Shape::Tuple(stated)) = stated_layout(stated, &Shape::tuple(shapes.iter().cloned()))
    {
        return stated.to_vec();
    }
    shapes
}
