//! One op, as the instructions that do the same.

use std::fmt::Write as _;
use std::rc::Rc;

use ir::ArrayShape;
use mlir::{OpId, ValueId};

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::{Operand, list, tuple_shape};
use crate::lists::braces;
use crate::literals::{Literal, literal_of_bytes, literal_of_dense};
use crate::op_row::{How, OpRow, Special};
use crate::op_table::{mnemonic, row_of};
use crate::op_text::OpText;
use crate::types::{UNQUANTISED, dimensions, element, extents};

/// Results of one value that are written where none has a type.
const MAX_UNTYPED: u32 = 256;

impl<'a> Writer<'a> {
    pub(super) fn op_text(&self, id: OpId) -> OpText<'a> {
        OpText::new(self.slice, self.environment, id)
    }

    /// Writes an op. Where HLO cannot say it, a custom call of its name stands in its place.
    pub(super) fn op(&mut self, id: OpId) {
        cancel::check();
        let (finished, calls) = (self.finished.len(), self.calls.len());
        let (bodies, lines) = (self.bodies.len(), self.body().lines.len());
        if let Err(reason) = self.try_op(id) {
            self.bodies.truncate(bodies);
            self.finished.truncate(finished);
            self.calls.truncate(calls);
            // Constants of the outside, which were written on the way, stay.
            let body = self.body();
            let written = body.lines.split_off(lines.min(body.lines.len()));
            body.lines.extend(written.into_iter().filter(|line| line.op != id));
            self.placeholder(id, &reason);
        }
    }

    pub(crate) fn try_op(&mut self, id: OpId) -> Result<(), String> {
        let name = self.parse().name(id, self.text());
        if let Some(mnemonic) = mnemonic(name) {
            let row = row_of(mnemonic).ok_or_else(|| match mnemonic.starts_with("uniform_") {
                true => UNQUANTISED,
                false => "HLO has no such op",
            })?;
            return self.of_row(id, row);
        }
        match name {
            "func.call" | "call" => self.call(id),
            "arith.constant" => self.constant(id),
            _ => self.other_dialect(id, name),
        }
    }

    pub(super) fn of_row(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        match row.how {
            How::Row | How::ReadOnly => self.row(id, row),
            How::Special(special) => self.special(id, row, special),
        }
    }

    fn special(&mut self, id: OpId, row: &'static OpRow, special: Special) -> Result<(), String> {
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
            Special::CreateToken => self.emit(id, row.opcode.name(), &[], "", &[]),
            Special::CrossReplicaSum => self.cross_replica_sum(id, row),
            Special::CustomCall => self.custom_call(id),
            Special::Dot => self.dot(id, row),
            Special::Dynamic => self.dynamic(id, row),
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
                self.emit(id, "tuple", &operands, "", &[])
            }
            Special::While => self.while_loop(id),
        }
    }

    fn row(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let mut operands = self.operands(id)?;
        if row.opcode == ir::Opcode::Rng {
            // The shape of its result.
            operands.truncate(2);
            self.forget_constants(id, 2);
        }
        let shapes: Vec<&str> = operands.iter().map(|o| &*o.shape).collect();
        let mut behind = attributes(row, self.op_text(id), &shapes)?;
        let regions: Vec<_> = self.parse().regions_of(id).collect();
        if regions.len() < row.regions.len() {
            return Err("it has no region".to_owned());
        }
        for (key, &region) in row.regions.iter().zip(&regions) {
            let computation = self.region(id, region)?;
            _ = write!(behind, ", {}={computation}", key.name());
        }
        self.emit(id, row.opcode.name(), &operands, &behind, &known_attributes(row))
    }

    /// Constants that nothing reads but the operands of an op from this one on, which HLO says in another way.
    pub(super) fn forget_constants(&mut self, id: OpId, from: usize) {
        let parse = self.parse();
        for operand in parse.operands_of(id).skip(from) {
            let Some(value) = operand.value else { continue };
            let uses = parse.uses.iter().filter(|u| u.value == Some(value)).count();
            let mlir::Definition::Result(op) = parse.values[value as usize].definition else { continue };
            if uses == 1 && parse.name(op, self.slice.text).ends_with(".constant") {
                self.body().lines.retain(|line| line.op != op);
                self.body().values.remove(&(value, 0));
            }
        }
    }

    /// How many results a value stands for: of those that a number claims and no type is written for a few.
    pub(super) fn packed(&self, value: ValueId) -> u32 {
        let value = &self.parse().values[value as usize];
        let written = value.types.end.saturating_sub(value.types.start);
        value.count.min(written.max(MAX_UNTYPED))
    }

    /// The shapes of the results, with the layouts that are stated.
    pub(super) fn results(&mut self, id: OpId) -> Result<Vec<Rc<str>>, String> {
        let parse = self.parse();
        let mut shapes = Vec::new();
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                shapes.push(self.shape_of(value, index)?);
            }
        }
        let op = self.op_text(id);
        if shapes.len() > 1
            && let Some(stated) =
                op.string(&["xla_shape"]).and_then(|s| s.strip_prefix('(')?.strip_suffix(')'))
        {
            let stated = mlir::lists::split(stated);
            if stated.len() == shapes.len()
                && shapes.iter().zip(&stated).all(|(s, stated)| stated.starts_with(&**s))
            {
                return Ok(stated.into_iter().map(Rc::from).collect());
            }
        }
        if let [only] = shapes.as_mut_slice() {
            if let Some(stated) = op.string(&["xla_shape"]).filter(|s| s.starts_with(&**only)) {
                *only = stated.into();
            } else if let Some(layout) = op.ints(&["result_layout"])
                && layout.len() == dimensions(only).len()
                && !layout.is_empty()
            {
                *only = format!("{only}{}", braces(&layout)).into();
            }
        }
        Ok(shapes)
    }

    /// Writes the instruction of an op, with its annotations: those in `known` are said in `attributes` already.
    pub(super) fn emit(
        &mut self,
        id: OpId,
        opcode: &str,
        operands: &[Operand],
        attributes: &str,
        known: &[&str],
    ) -> Result<(), String> {
        let shapes = self.results(id)?;
        let (annotations, location) = self.annotations(id, known);
        let rest = format!("{opcode}({}){attributes}{annotations}{location}", list(operands));
        self.define(id, opcode, shapes, &rest);
        Ok(())
    }

    /// Writes an instruction whose value is that of the op: a tuple where the op has more than one.
    pub(super) fn define(&mut self, id: OpId, opcode: &str, shapes: Vec<Rc<str>>, rest: &str) {
        let parse = self.parse();
        let first = parse.op(id).results.start;
        let wanted = match parse.op(id).results.is_empty() {
            true => opcode.to_owned(),
            false => self.wanted_name(first, opcode),
        };
        if let [shape] = shapes.as_slice() {
            let operand = self.body().push(&wanted, shape.clone(), rest, id);
            self.body().values.insert((first, 0), operand);
            return;
        }
        let shape = tuple_shape(shapes.iter().map(|s| &**s));
        let tuple = self.body().push(&wanted, shape, rest, id);
        self.define_elements(id, &tuple, &shapes, 0);
    }

    /// The results of an op are elements of a tuple, from its element `from` on.
    pub(super) fn define_elements(&mut self, id: OpId, tuple: &Operand, shapes: &[Rc<str>], from: usize) {
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

    pub(super) fn element(&mut self, tuple: &Operand, index: usize, shape: Rc<str>, id: OpId) -> Operand {
        let rest = format!("get-tuple-element({}), index={index}", tuple.name);
        self.body().push(&format!("{}_{index}", tuple.name), shape, &rest, id)
    }

    /// A custom call of the op's name, of the operands that HLO has. A type that HLO does not have is opaque.
    fn placeholder(&mut self, id: OpId, reason: &str) {
        let (parse, text) = (self.parse(), self.text());
        let name = parse.name(id, text);
        self.report(id, format!("{name}: {reason}"));
        let operands: Vec<_> =
            parse.operands_of(id).filter_map(|operand| self.operand(operand).ok()).collect();
        let mut shapes: Vec<Rc<str>> = Vec::new();
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                shapes.push(self.shape_of(value, index).unwrap_or_else(|_| "opaque[]".into()));
            }
        }
        let effect = if shapes.is_empty() { ", custom_call_has_side_effect=true" } else { "" };
        let target = crate::strings::hlo_string(&name.replace(['"', '\\'], "_"));
        let location = self.location(id);
        let comment = reason.replace("*/", "* /").replace('\n', " ");
        let rest = format!(
            "custom-call({}), custom_call_target=\"{target}\"{effect}{location} /* not said in HLO: {comment} */",
            list(&operands)
        );
        self.define(id, "custom-call", shapes, &rest);
    }

    pub(super) fn constant(&mut self, id: OpId) -> Result<(), String> {
        let op = self.op_text(id);
        let value = match op.attribute(&["value"]) {
            Some(value) => value,
            None => {
                let body = op.body();
                let start = body.find("dense").or_else(|| body.find('#')).unwrap_or(0);
                let value = body[start..].trim();
                // An alias ends with its name.
                let end = value.find([' ', ':', '\n']).filter(|_| value.starts_with('#'));
                self.environment.resolved(&value[..end.unwrap_or(value.len())])
            }
        };
        let shapes = self.results(id)?;
        let shape = shapes.first().ok_or("it has no result")?.clone();
        let array = array_shape(&shape)?;
        let literal = match value.strip_prefix("dense_resource<") {
            None => literal_of_dense(value, &array)?,
            Some(rest) => {
                let key = rest.split('>').next().unwrap_or_default().trim_matches('"');
                match self.environment.resource(key) {
                    // Four bytes in front say how the others are aligned.
                    Some(hex) => literal_of_bytes(hex.get(8..).unwrap_or_default(), &array)?,
                    None if key == "__elided__" => Literal::Whole("{...}".to_owned()),
                    None => return Err(format!("the resource {key} is not in the text")),
                }
            }
        };
        let (annotations, location) = self.annotations(id, &["value"]);
        let rest = match literal {
            Literal::Whole(text) => format!("constant({text}){annotations}{location}"),
            Literal::Splat(number) => {
                let scalar = format!("{}[]", element(&shape));
                let one = self.body().push("constant", scalar, &format!("constant({number})"), id);
                format!("broadcast({}), dimensions={{}}{annotations}{location}", one.name)
            }
        };
        self.define(id, "constant", shapes, &rest);
        Ok(())
    }
}

/// The array that a shape of HLO, of known extents, stands for.
pub(crate) fn array_shape(shape: &str) -> Result<ArrayShape, String> {
    let none = || format!("{shape} is no array of known extents");
    if shape.starts_with('(') || shape.contains(['?', '=']) {
        return Err(none());
    }
    let element = ir::ElementType::from_name(element(shape)).ok_or_else(none)?;
    Ok(ArrayShape { element, dims: extents(shape)?, dynamic: Vec::new(), layout: None })
}
