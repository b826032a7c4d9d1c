//! What XLA's parser checks of one instruction beyond the grammar.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc`, CreateInstruction.

mod async_chains;
mod lists;
pub(crate) mod parser_rules;

use syntax::Span;
use syntax::hlo::{AttributeKey, ComputationKind, Instruction, InstructionId, Opcode, ShapeNode, ValueNode};

use crate::finding::{Anchor, Finding, Fix, Part, Severity, UNKNOWN_WORD};
use crate::graph::Op;
use crate::lower::Lowering;
use crate::names::NameTable;
use crate::op_table::op_info;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};
pub(crate) use parser_rules::ParserRule;
use parser_rules::Written;

impl Lowering<'_> {
    pub(crate) fn check(&mut self, at: InstructionId, names: &NameTable) {
        let instruction = self.instruction(at);
        let Some(opcode) = instruction.opcode else { return };
        let info = op_info(opcode);
        let count = instruction.operands.1 as usize;
        if let Some(message) = operand_count(opcode, count) {
            self.error("operand-count", instruction.opcode_span, message);
        }
        let has = |key| self.parse.attributes_of(instruction).iter().any(|a| a.key == Some(key));
        let text = self.text;
        let is_sugar = || instruction.opcode_span.of(text) != opcode.name();
        for attribute in self.parse.attributes_of(instruction) {
            let Some(key) = attribute.key else { continue };
            if !info.allows(key) && !is_sugar() {
                let message = format!("unknown attribute of {opcode}: {key}; known: {}", allowed(opcode));
                let finding = Finding::error(UNKNOWN_WORD, attribute.key_span, message);
                self.findings.push(Finding { severity: Severity::Warning, ..finding });
            }
            if let (AttributeKey::ControlPredecessors, ValueNode::Names { start, len }) =
                (key, attribute.value)
            {
                for &span in self.parse.spans(start, len) {
                    self.check_control_predecessor(at, span, names);
                }
            }
        }
        self.check_lists(at, opcode);
        if instruction.is_nested {
            return;
        }
        self.check_async_chain(at, opcode);
        for &key in info.required {
            if !has(key) {
                let message = missing(opcode, key);
                let fix = self.only_value(instruction, key).map(|value| {
                    let place = Anchor::Part(at, Part::End);
                    Fix::replace(format!("add {key}={value}"), place, format!(", {key}={value}"))
                });
                let finding = Finding::error("missing-attribute", instruction.opcode_span, message);
                self.findings.push(finding.with_fix(fix));
            }
        }
        let has_calls = has(AttributeKey::Calls) || is_sugar();
        self.check_shape_rules(at, opcode, has_calls, &has);
    }

    /// The value that an attribute can only have.
    fn only_value(&self, instruction: &Instruction, key: AttributeKey) -> Option<&'static str> {
        let operand = self.operand_shapes(instruction).first().copied().flatten().and_then(Shape::as_array);
        let written = instruction.shape.map(|s| &self.parse.shapes[s.0 as usize]);
        match key {
            AttributeKey::Dimensions if operand.is_some_and(|array| array.rank() == 1) => Some("{0}"),
            AttributeKey::IotaDimension => match written {
                Some(ShapeNode::Array { dims: (_, 1), .. }) => Some("0"),
                _ => None,
            },
            AttributeKey::FeatureIndex if operand.is_some_and(|array| array.rank() == 1) => Some("0"),
            _ => None,
        }
    }

    fn check_control_predecessor(&mut self, at: InstructionId, span: Span, names: &NameTable) {
        let name = span.of(self.text);
        let found = names.get(name, |id| self.parse.instructions[id as usize].name.of(self.text));
        let computation = self.parse.computations.iter().find(|c| c.instructions.contains(&at));
        let is_partial = computation.is_some_and(|c| c.kind == ComputationKind::Continued);
        if found.is_none() && !is_partial {
            self.error(
                "unknown-operand",
                span,
                format!("no instruction named {name} above in this computation"),
            );
        }
    }

    fn check_shape_rules(
        &mut self,
        at: InstructionId,
        opcode: Opcode,
        has_calls: bool,
        has: &dyn Fn(AttributeKey) -> bool,
    ) {
        let instruction = self.instruction(at);
        let operands = self.operand_shapes(instruction);
        let written = self.shape_of(at).filter(|_| instruction.shape.is_some());
        let has = |key| has(key) || has_calls && key == AttributeKey::Calls;
        let rule = op_info(opcode).parser_rule;
        let written = Written { opcode, operands: &operands, shape: written, has: &has };
        let wrong = rule.check(&written);
        drop(operands);
        if let Some(message) = wrong {
            let span = match rule {
                ParserRule::OfShape(_) if instruction.shape.is_some() => instruction.shape_span,
                _ => instruction.opcode_span,
            };
            self.error("shape-mismatch", span, message);
        }
    }
}

/// The first check of XLA's parser that an op fails.
pub(crate) fn op_fault(op: &Op) -> Option<String> {
    let Op { opcode, shape, .. } = op;
    let operands: Vec<Option<&Shape>> = op.operand_shapes.iter().map(Some).collect();
    let has = |key| op.attributes.get(key).is_some();
    let absent = || op_info(*opcode).required.iter().copied().find(|&key| !has(key));
    let too_large = shape.as_array().and_then(too_many_elements);
    let written = Written { opcode: *opcode, operands: &operands, shape: Some(shape), has: &has };
    let rule = || op_info(*opcode).parser_rule.check(&written);
    let dimensions = || {
        let first = op.operand_shapes.first()?;
        let rank = first.as_array().map(ArrayShape::rank);
        let given =
            op.attributes.get(AttributeKey::Dimensions).map(|_| op.attributes.ints(AttributeKey::Dimensions));
        let wrong = given.and_then(|given| lists::one_dimension(*opcode, given, rank));
        wrong.or_else(|| lists::missing_dimensions(*opcode, first, &has))
    };
    let count = || operand_count(*opcode, operands.len());
    too_large
        .or_else(count)
        .or_else(|| absent().map(|key| missing(*opcode, key)))
        .or_else(rule)
        .or_else(dimensions)
}

fn operand_count(opcode: Opcode, count: usize) -> Option<String> {
    let arity = op_info(opcode).arity;
    (!arity.accepts(count)).then(|| format!("{opcode} takes {arity}, but has {count}"))
}

fn missing(opcode: Opcode, key: AttributeKey) -> String {
    format!("{opcode} needs the attribute {key}")
}

pub(crate) fn too_many_elements(array: &ArrayShape) -> Option<String> {
    let is_too_large = array.elements().is_none() && !array.dims.contains(&UNBOUNDED);
    is_too_large.then(|| format!("{array} has more elements than 64 bits count"))
}

fn allowed(opcode: Opcode) -> String {
    let info = op_info(opcode);
    let mut names: Vec<_> = info.required.iter().chain(info.optional).map(|k| k.name()).collect();
    names.sort_unstable();
    match names.is_empty() {
        true => "no attributes of its own".to_owned(),
        false => names.join(", "),
    }
}
