//! What XLA's parser checks of one instruction beyond the grammar.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc`, CreateInstruction.

mod async_chains;
mod lists;

use syntax::Span;
use syntax::hlo::{AttributeKey, ComputationKind, Instruction, InstructionId, Opcode, ShapeNode, Value};

use crate::finding::{Finding, Fix, Part, Place, Severity, UNKNOWN_WORD};
use crate::lower::Lowering;
use crate::names::NameTable;
use crate::op_table::op_info;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

impl Lowering<'_> {
    pub(crate) fn check(&mut self, at: InstructionId, names: &NameTable) {
        let instruction = self.instruction(at);
        let Some(opcode) = instruction.opcode else { return };
        let info = op_info(opcode);
        let count = instruction.operands.1 as usize;
        if !info.arity.accepts(count) {
            let message = format!("{opcode} takes {}, but has {count}", info.arity);
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
            if let (AttributeKey::ControlPredecessors, Value::Names { start, len }) = (key, attribute.value) {
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
                let message = format!("{opcode} needs the attribute {key}");
                let fix = self.only_value(instruction, key).map(|value| {
                    let place = Place::Part(at, Part::End);
                    Fix::replace(format!("add {key}={value}"), place, format!(", {key}={value}"))
                });
                let finding = Finding::error("missing-attribute", instruction.opcode_span, message);
                self.findings.push(finding.with_fix(fix));
            }
        }
        let is_checked = matches!(
            opcode,
            Opcode::Tuple
                | Opcode::Reshape
                | Opcode::DynamicReshape
                | Opcode::DynamicSlice
                | Opcode::DynamicUpdateSlice
                | Opcode::Infeed
                | Opcode::Recv
                | Opcode::Conditional
                | Opcode::AsyncStart
        );
        if is_checked {
            let has_calls = has(AttributeKey::Calls) || is_sugar();
            self.check_shape_rules(at, opcode, has_calls, has(AttributeKey::BranchComputations));
        }
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

    fn check_shape_rules(&mut self, at: InstructionId, opcode: Opcode, has_calls: bool, has_branches: bool) {
        let instruction = self.instruction(at);
        let operands = self.operand_shapes(instruction);
        let count = operands.len();
        let first = operands.first().copied().flatten();
        let written = instruction.shape.map(|s| &self.parse.shapes[s.0 as usize]);
        let mut problem = None;
        match opcode {
            Opcode::Tuple => {
                if let Some(ShapeNode::Tuple(elements)) = written
                    && elements.len() != count
                {
                    problem =
                        Some(format!("the tuple has {} elements, but {count} operands", elements.len()));
                } else if written.is_some_and(|w| !matches!(w, ShapeNode::Tuple(_))) {
                    problem = Some("tuple makes a tuple, but its shape is an array".to_owned());
                }
            }
            Opcode::Reshape | Opcode::DynamicReshape => {
                let result = self.shape_of(at).and_then(Shape::as_array);
                let is_bounded = |array: &ArrayShape| !array.dims.contains(&UNBOUNDED);
                if let (Some(result), Some(operand)) = (result, first.and_then(Shape::as_array))
                    && is_bounded(result)
                    && is_bounded(operand)
                    && result.elements() != operand.elements()
                {
                    problem = Some(format!("{result} and {operand} have different numbers of elements"));
                }
            }
            Opcode::DynamicSlice | Opcode::DynamicUpdateSlice => {
                let before = if opcode == Opcode::DynamicSlice { 1 } else { 2 };
                if let Some(rank) = first.and_then(Shape::as_array).map(|a| a.rank()) {
                    let starts = count.saturating_sub(before);
                    let one_vector = starts == 1
                        && operands.last().copied().flatten().is_some_and(|s| s.dims().len() == 1);
                    if starts != rank && !one_vector {
                        problem = Some(format!(
                            "{opcode} of rank {rank} takes {rank} start indices, but has {starts}"
                        ));
                    }
                }
            }
            Opcode::Infeed | Opcode::Recv
                if written.is_some_and(|w| !matches!(w, ShapeNode::Tuple(e) if !e.is_empty())) =>
            {
                problem = Some(format!("{opcode} makes a non-empty tuple"));
            }
            Opcode::Conditional if !has_branches => {
                let keys = [AttributeKey::TrueComputation, AttributeKey::FalseComputation];
                let attributes = self.parse.attributes_of(instruction);
                if !keys.iter().all(|&k| attributes.iter().any(|a| a.key == Some(k))) {
                    problem = Some(
                        "conditional needs branch_computations, or true_computation and false_computation"
                            .to_owned(),
                    );
                }
            }
            Opcode::AsyncStart if !has_calls => {
                problem = Some("async-start needs the attribute calls".to_owned());
            }
            _ => {}
        }
        if let Some(message) = problem {
            let is_of_shape = matches!(
                opcode,
                Opcode::Tuple | Opcode::Reshape | Opcode::DynamicReshape | Opcode::Infeed | Opcode::Recv
            );
            match is_of_shape && instruction.shape.is_some() {
                true => self.error("shape-mismatch", instruction.shape_span, message),
                false => self.error("shape-mismatch", instruction.opcode_span, message),
            }
        }
    }
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
