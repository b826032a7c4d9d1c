//! Tuples, barriers, and what goes to the host and comes from it.

use std::rc::Rc;

use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::{Operand, tuple_shape};
use crate::op_row::OpRow;
use crate::op_text::missing;

impl Writer<'_> {
    pub(super) fn get_tuple_element(&mut self, id: OpId) -> Result<(), String> {
        let op = self.op_text(id);
        let custom = || op.body().split_once('[')?.1.split_once(']')?.0.trim().parse().ok();
        let index = op.int(&["index"]).or_else(custom).ok_or_else(|| missing("index"))?;
        let operands = self.operands(id)?;
        self.emit(id, "get-tuple-element", &operands, &format!(", index={index}"), &["index"])
    }

    pub(super) fn optimization_barrier(&mut self, id: OpId) -> Result<(), String> {
        let operands = self.operands(id)?;
        if operands.len() == 1 {
            return self.emit(id, "opt-barrier", &operands, "", &[]);
        }
        let tuple = self.tuple(&operands, id);
        let shapes = self.results(id)?;
        let (annotations, location) = self.annotations(id, &[]);
        let rest = format!("opt-barrier({}){annotations}{location}", tuple.name);
        self.define(id, "opt-barrier", shapes, &rest);
        Ok(())
    }

    /// All but the token, as one value.
    fn together(&mut self, operands: &[Operand], id: OpId) -> Operand {
        match operands {
            [only] => only.clone(),
            several => self.tuple(several, id),
        }
    }

    pub(super) fn infeed(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let token = self.operands(id)?.first().ok_or("it has no token")?.name.clone();
        let config = attributes(row, self.op_text(id), &[])?;
        let shapes = self.results(id)?;
        let (_, data) = shapes.split_last().ok_or("it has no result")?;
        let mut known = known_attributes(row);
        known.push("layout");
        let (annotations, location) = self.annotations(id, &known);
        let rest = format!("infeed({token}){config}{annotations}{location}");
        self.receive(id, "infeed", data, &shapes, &rest);
        Ok(())
    }

    /// An instruction that answers data, as one value, and a token.
    fn receive(&mut self, id: OpId, opcode: &str, data: &[Rc<str>], shapes: &[Rc<str>], rest: &str) {
        let one = match data {
            [only] => only.to_string(),
            several => tuple_shape(several.iter().map(|s| &**s)),
        };
        let both = tuple_shape([one.as_str(), "token[]"]);
        let received = self.body().push(opcode, both, rest, id);
        if data.len() == 1 {
            return self.define_elements(id, &received, shapes, 0);
        }
        let inner = self.element(&received, 0, one.into(), id);
        let parse = self.parse();
        let mut at = 0;
        for value in parse.op(id).results.clone() {
            for index in 0..self.packed(value) {
                if self.is_used(value, index) {
                    let element = match data.get(at) {
                        Some(shape) => self.element(&inner, at, shape.clone(), id),
                        None => self.element(&received, 1, "token[]".into(), id),
                    };
                    self.body().values.insert((value, index), element);
                }
                at += 1;
            }
        }
    }

    pub(super) fn outfeed(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let operands = self.operands(id)?;
        let (token, data) = operands.split_last().ok_or("it has no token")?;
        let one = self.together(data, id);
        let config = attributes(row, self.op_text(id), &[])?;
        let behind = format!(", outfeed_shape={}{config}", one.shape);
        self.emit(id, "outfeed", &[one, token.clone()], &behind, &known_attributes(row))
    }

    /// Sending is started and done.
    pub(super) fn send(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let operands = self.operands(id)?;
        let (token, data) = operands.split_last().ok_or("it has no token")?;
        let one = self.together(data, id);
        let behind = attributes(row, self.op_text(id), &[])?;
        let shape = tuple_shape([&*one.shape, "u32[]", "token[]"]);
        let rest = format!("send({}, {}){behind}", one.name, token.name);
        let started = self.body().push("send", shape, &rest, id);
        let mut known = known_attributes(row);
        known.push("source_target_pairs");
        self.emit(id, "send-done", &[started], &behind, &known)
    }

    pub(super) fn recv(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let token = self.operands(id)?.first().ok_or("it has no token")?.name.clone();
        let behind = attributes(row, self.op_text(id), &[])?;
        let shapes = self.results(id)?;
        let (_, data) = shapes.split_last().ok_or("it has no result")?;
        let one = match data {
            [only] => only.to_string(),
            several => tuple_shape(several.iter().map(|s| &**s)),
        };
        let shape = tuple_shape([one.as_str(), "u32[]", "token[]"]);
        let started = self.body().push("recv", shape, &format!("recv({token}){behind}"), id);
        let mut known = known_attributes(row);
        known.push("source_target_pairs");
        let (annotations, location) = self.annotations(id, &known);
        let rest = format!("recv-done({}){behind}{annotations}{location}", started.name);
        self.receive(id, "recv-done", data, &shapes, &rest);
        Ok(())
    }
}
