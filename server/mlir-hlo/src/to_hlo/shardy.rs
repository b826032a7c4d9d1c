//! Ops of Shardy: calls by names that its passes know, which come back as ops.
//!
//! Source: what XLA's own export, of jaxlib 0.12.0.1, writes; `xla/service/spmd/shardy`, the passes of its round trips.

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, Opcode, Shape};
use mlir::lists::{closing, split};
use mlir::{OpId, ValueId};
use mlir_ops::OpText;

use super::Writer;
use super::annotations::{Annotations, Location};
use super::body::{Draft, Operand};
use super::ops::one_shape;
use crate::not_in_hlo::NotInHlo;
use crate::op_text::missing;

/// What the computations of manual computations are called: Shardy finds them by it.
const BODY: &str = "xla.sdy.manual_computation_body";

impl Writer<'_> {
    pub(super) fn shardy(&mut self, id: OpId, op: &str) -> Result<(), NotInHlo> {
        match op {
            "constant" => self.constant(id),
            "sharding_constraint" | "reshard" => self.constrained(id, op),
            "manual_computation" => self.manual_computation(id),
            "propagation_barrier" => {
                let directions = ["NONE", "FORWARD", "BACKWARD", "BOTH"];
                let text = &self.op_text(id);
                let stated = clause(text, "allowed_direction").ok_or_else(|| missing("allowed_direction"))?;
                let number = directions.iter().position(|&word| stated == word);
                let stated = number.map_or_else(|| stated.to_owned(), |number| format!("{number} : i32"));
                let entry = ("allowed_direction", stated);
                self.marked(id, "xla.sdy.PropagationBarrier", entry, &["allowed_direction"])
            }
            "sharding_group" => {
                let text = &self.op_text(id);
                let group = text.int(&["group_id"]).ok_or_else(|| missing("group_id"))?;
                let entry = ("sharding_group_id", format!("{group} : i64"));
                self.marked(id, "xla.sdy.ShardingGroup", entry, &["group_id"])
            }
            _ => Err(NotInHlo::no_instruction(
                "HLO has no op of Shardy: XLA lowers it before, and its export refuses it",
            )),
        }
    }

    /// A call that only annotates its operand.
    fn marked(
        &mut self,
        id: OpId,
        target: &str,
        (key, value): (&str, String),
        known: &[&str],
    ) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let shapes = self.results(id)?;
        let mut annotations = self.annotations(id, known);
        annotations.add_frontend(format!("xla.sdy.{key}=\"{value}\""));
        self.define(id, Opcode::CustomCall, shapes, &operands, calling(target, annotations));
        Ok(())
    }

    /// A value with another sharding: a call that XLA knows, or a copy.
    fn constrained(&mut self, id: OpId, op: &str) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let text = &self.op_text(id);
        let custom = || {
            let rest = &text.body()[text.body().find('<')?..];
            Some(&rest[..closing(&rest[1..], b'<', b'>')? + 2])
        };
        let stated = text.first_of(&["sharding"]).map(|value| value.trim_start_matches("#sdy.sharding"));
        let stated = stated.or_else(custom).ok_or("its sharding is not read")?;
        let value = format!("#sdy.sharding_per_value<[{stated}]>");
        let mut annotations = self.annotations(id, &["sharding"]);
        annotations.add("sdy.sharding", &value, self.environment);
        for what in annotations.unsaid() {
            self.report(id, what);
        }
        let mut attributes = Attributes::default();
        let opcode = if op == "reshard" { Opcode::Copy } else { Opcode::CustomCall };
        if opcode == Opcode::CustomCall {
            attributes.push(K::CustomCallTarget, Value::Quoted("Sharding".to_owned()));
        }
        annotations.add_to(&mut attributes);
        let shapes = self.results(id)?;
        self.define(id, opcode, shapes, &operands, attributes);
        Ok(())
    }

    /// What each device does with its own parts: between calls that cut arrays into parts and put parts together a call of a
    /// computation of parts. Over no axes of a mesh it is written in place, and where nothing is answered not at all.
    fn manual_computation(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let text = &self.op_text(id);
        let needed = |name: &str| clause(text, name).ok_or_else(|| missing(name));
        let (axes, inputs, outputs) =
            (needed("manual_axes")?, needed("in_shardings")?, needed("out_shardings")?);
        let region = self.parse().regions_of(id).next().ok_or("it has no region")?;
        let block = self.entry_of(region)?;
        let mut arguments: Vec<ValueId> = self.parse().blocks[block as usize].arguments.clone().collect();
        if arguments.is_empty() {
            arguments = self.binders(id);
        }
        let operands = self.operands(id)?;
        if arguments.len() != operands.len() {
            return Err("its operands are not as many as its arguments".into());
        }
        let shapes = self.results(id)?;
        let axes = axes.trim_start_matches("#sdy<manual_axes").trim_end_matches('>');
        if axes.trim_matches(['{', '}', ' ']).is_empty() {
            for (&argument, operand) in arguments.iter().zip(operands) {
                self.body().values.insert((argument, 0), operand);
            }
            let results = self.block(block);
            return self.alias_results(id, results);
        }
        if shapes.is_empty() {
            return Ok(());
        }
        // Names of axes between braces are no attributes.
        let mut known = vec!["in_shardings", "out_shardings", "manual_axes"];
        known.extend(split(axes.trim_matches(['{', '}'])).into_iter().map(|axis| axis.trim_matches('"')));
        let said = |location: &Location| {
            let mut annotations = Annotations::default();
            annotations.set_location(location.clone());
            annotations
        };
        let location = self.location(id);
        let entry = |key: &str, value: &str| format!("xla.sdy.{key}=\"{}\"", quoted(value));
        let shardings = |value: &str| match value.starts_with('#') {
            true => value.to_owned(),
            false => format!("#sdy.sharding_per_value<{value}>"),
        };
        let manual = entry("manual_axes", &format!("#sdy<manual_axes{axes}>"));
        let mut parts = Vec::new();
        if !operands.is_empty() {
            let local = arguments.iter().map(|&a| self.shape_of(a, 0)).collect::<Result<Vec<_>, _>>()?;
            let mut annotations = said(&location);
            annotations.add_frontend(entry("in_shardings", &shardings(inputs)));
            annotations.add_frontend(manual.clone());
            let attributes = calling("xla.sdy.GlobalToLocalShape", annotations);
            let draft = Draft::new(Opcode::CustomCall, one_shape(&local), &operands, attributes);
            parts = self.several(id, &local, draft);
        }
        let (computation, local) = self.manual_body(id, block, &arguments)?;
        let mut attributes = Attributes::default().with(K::ToApply, Value::Computation(computation));
        let mut annotations = said(&location);
        annotations.add_frontend("inlineable=\"xla_late\"".to_owned());
        annotations.add_to(&mut attributes);
        let call = Draft::new(Opcode::Call, one_shape(&local), &parts, attributes);
        let parts = self.several(id, &local, call);
        let mut annotations = self.annotations(id, &known);
        annotations.add_frontend(manual);
        annotations.add_frontend(entry("out_shardings", &shardings(outputs)));
        let attributes = calling("xla.sdy.LocalToGlobalShape", annotations);
        self.define(id, Opcode::CustomCall, shapes, &parts, attributes);
        Ok(())
    }

    /// The computation of a region, and the shapes of what it returns.
    fn manual_body(
        &mut self,
        id: OpId,
        block: mlir::BlockId,
        arguments: &[ValueId],
    ) -> Result<(String, Vec<Shape>), NotInHlo> {
        self.open_region(id, arguments)?;
        let results = self.block(block);
        let shapes = results.iter().map(|operand| operand.shape.clone()).collect();
        let root = self.root(results, id);
        let name = self.region_name(BODY);
        self.finish_body(&name, &root);
        Ok((name, shapes))
    }

    /// An instruction that returns several values, each as an operand of others.
    fn several(&mut self, id: OpId, shapes: &[Shape], draft: Draft) -> Vec<Operand> {
        let tuple = self.body().push(draft.opcode.name(), draft, id);
        if shapes.len() == 1 {
            return vec![tuple];
        }
        shapes.iter().enumerate().map(|(at, shape)| self.element(&tuple, at, shape.clone(), id)).collect()
    }
}

/// The attributes of a call of `target`.
fn calling(target: &str, annotations: Annotations) -> Attributes {
    let mut attributes = Attributes::default()
        .with(K::CustomCallTarget, Value::Quoted(target.to_owned()))
        .with(K::CustomCallHasSideEffect, true);
    annotations.add_to(&mut attributes);
    attributes
}

/// Text of MLIR as letters between quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// `in_shardings=[…]` of the custom form, or the attribute.
fn clause<'a>(text: &OpText<'a>, name: &str) -> Option<&'a str> {
    let custom = || {
        let body = text.body();
        let (_, value) = body.split_once(name).filter(|_| !text.is_generic())?;
        let value = value.strip_prefix('=')?;
        let end = match value.as_bytes().first()? {
            b'[' => closing(&value[1..], b'[', b']')? + 2,
            b'{' => closing(&value[1..], b'{', b'}')? + 2,
            _ => value.find([' ', '\n', '{']).unwrap_or(value.len()),
        };
        value.get(..end)
    };
    custom().or_else(|| text.first_of(&[name]))
}
