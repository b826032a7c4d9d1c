//! From the flat arrays of one piece to a [`Block`]: names are resolved, shapes built, and what XLA's parser checks
//! beyond the grammar is checked.
//!
//! Source of the checks: XLA `hlo/parser/hlo_parser.cc`, CreateInstruction and ParseOperands.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use syntax::Span;
use syntax::hlo::{
    Computation, ComputationId, ComputationKind, Instruction, InstructionId, Opcode, Operand, OperandKind,
    Parse, ValueNode,
};

use crate::attributes::Attributes;
use crate::block::{Block, External, OperandRef};
use crate::checks::too_many_elements;
use crate::finding::{Anchor, Finding, Fix, Severity};
use crate::infer::{ShapeReason, infer_shape};
use crate::names::NameTable;
use crate::op_table::op_info;
use crate::parts::Tokens;
use crate::shape::Shape;
use crate::shape_difference::Difference;
use crate::suggest::nearest;

const UNKNOWN: u32 = u32::MAX;

pub fn lower(text: Arc<str>, parse: Arc<Parse>) -> Block {
    let mut lowering = Lowering {
        text: &text,
        parse: &parse,
        shapes: Vec::with_capacity(parse.shapes.len()),
        result_shapes: Vec::with_capacity(parse.instructions.len()),
        operands: vec![OperandRef::Missing; parse.operands.len()],
        externals: Vec::new(),
        names: Vec::with_capacity(parse.computations.len()),
        findings: Vec::new(),
    };
    lowering.shapes();
    // Inline bodies have instruction ranges of their own after the computation that holds them.
    let mut order: Vec<ComputationId> = (0..parse.computations.len() as ComputationId).collect();
    order.sort_by_key(|&c| parse.computations[c as usize].instructions.start);
    lowering.names.resize_with(order.len(), NameTable::default);
    for computation in order {
        lowering.computation(computation);
    }
    lowering.shapes_of_inline_calls();
    let Lowering { shapes, result_shapes, operands, externals, names, mut findings, .. } = lowering;
    findings.sort_by_key(|f| (f.span.start, f.span.end));
    Block { text, parse, shapes, result_shapes, operands, externals, names, findings, users: OnceLock::new() }
}

pub(crate) struct Lowering<'a> {
    pub(crate) text: &'a str,
    pub(crate) parse: &'a Parse,
    shapes: Vec<Shape>,
    result_shapes: Vec<u32>,
    operands: Vec<OperandRef>,
    externals: Vec<External>,
    names: Vec<NameTable>,
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Lowering<'a> {
    fn shapes(&mut self) {
        for id in 0..self.parse.shapes.len() {
            let shape = Shape::from_syntax(self.parse, &self.shapes, syntax::hlo::ShapeId(id as u32));
            self.shapes.push(shape);
        }
    }

    /// Calls without a written shape of bodies that are written in place, which are read after the calls; and what follows from
    /// those shapes. Inner bodies come after outer ones.
    fn shapes_of_inline_calls(&mut self) {
        let inline = |c: &&Computation| matches!(c.kind, ComputationKind::Inline(_));
        if !self.parse.computations.iter().any(|c| inline(&c)) {
            return;
        }
        for at in (0..self.parse.computations.len()).rev() {
            for id in self.parse.computations[at].instructions.clone() {
                let instruction = self.instruction(id);
                if self.result_shapes.get(id as usize) == Some(&UNKNOWN) && !instruction.is_broken {
                    let shape = match instruction.opcode {
                        Some(Opcode::Call) => self.inline_result(instruction),
                        Some(opcode) => self.inferred(instruction, opcode).and_then(Result::ok),
                        None => None,
                    };
                    if let Some(shape) = shape {
                        self.shapes.push(shape);
                        self.result_shapes[id as usize] = self.shapes.len() as u32 - 1;
                    }
                }
            }
        }
    }

    /// The shape of the root of the body that a call holds.
    fn inline_result(&self, call: &Instruction) -> Option<Shape> {
        let body = self.parse.attributes_of(call).iter().find_map(|attribute| match attribute.value {
            ValueNode::Inline(body) => Some(body),
            _ => None,
        });
        let body = &self.parse.computations[body? as usize];
        let root = body.instructions.clone().find(|&id| self.instruction(id).is_root);
        let last = || body.instructions.clone().rfind(|&id| !self.instruction(id).is_nested);
        self.shape_of(root.or_else(last)?).cloned()
    }

    /// The shape that follows from the operands; nothing where theirs are not known.
    fn inferred(&self, instruction: &Instruction, opcode: Opcode) -> Option<Result<Shape, ShapeReason>> {
        let shapes: Option<SmallVec<[&Shape; 4]>> = self.operand_shapes(instruction).into_iter().collect();
        let attributes = Attributes::from_syntax(self.text, self.parse, instruction);
        shapes.map(|shapes| infer_shape(opcode, &shapes, &attributes))
    }

    pub(crate) fn instruction(&self, id: InstructionId) -> &'a Instruction {
        &self.parse.instructions[id as usize]
    }

    /// What operand number `index` of the parse refers to.
    pub(crate) fn operand_target(&self, index: u32) -> OperandRef {
        self.operands[index as usize]
    }

    pub(crate) fn shape_of(&self, id: InstructionId) -> Option<&Shape> {
        self.shapes.get(*self.result_shapes.get(id as usize)? as usize)
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::error(code, span, message));
    }

    fn computation(&mut self, id: ComputationId) {
        let computation = &self.parse.computations[id as usize];
        let range = computation.instructions.clone();
        debug_assert_eq!(range.start as usize, self.result_shapes.len());
        let mut names = NameTable::with_capacity(range.len());
        let name_of = |id: u32| self.parse.instructions[id as usize].name.of(self.text);
        let mut root: Option<InstructionId> = None;
        let mut parameters: Vec<(&str, InstructionId)> = Vec::new();
        for at in range.clone() {
            let instruction = self.instruction(at);
            let found = self.findings.len();
            self.resolve_operands(id, at, &names);
            let refused = self.result_shape(at);
            if !instruction.is_broken {
                self.check(at, &names);
                if let (Some(problem), true) = (refused, self.findings.len() == found) {
                    let span = Tokens { text: self.text, parse: self.parse }.part(at, problem.part);
                    self.error(problem.code, span, problem.message);
                }
            }
            if instruction.is_nested {
                continue;
            }
            if let Err(first) = names.insert(name_of(at), at, name_of) {
                let message = format!("an instruction named {} exists in this computation", name_of(at));
                let finding = Finding::error("duplicate-name", instruction.name, message)
                    .with_related(self.instruction(first).name, "the first one is here");
                self.findings.push(finding);
            }
            if instruction.is_root
                && let Some(first) = root.replace(at)
            {
                let finding =
                    Finding::error("two-roots", instruction.name, "a second ROOT in one computation")
                        .with_related(self.instruction(first).name, "the first one is here");
                self.findings.push(finding);
            }
            if instruction.opcode == Some(Opcode::Parameter) && !instruction.is_broken {
                let number = instruction.argument.of(self.text).trim();
                match parameters.iter().find(|(n, _)| *n == number) {
                    Some(&(_, first)) => {
                        let message = format!("duplicate parameter number {number}");
                        let finding = Finding::error("duplicate-parameter", instruction.argument, message)
                            .with_related(self.instruction(first).argument, "the first one is here");
                        self.findings.push(finding);
                    }
                    None => parameters.push((number, at)),
                }
            }
        }
        self.names[id as usize] = names;
        if range.is_empty() && computation.kind == ComputationKind::Whole && computation.is_closed {
            self.error("empty-computation", computation.name, "a computation needs at least one instruction");
        }
        if computation.kind == ComputationKind::Whole && computation.is_closed {
            self.check_result(id, root.or_else(|| range.clone().last()));
        }
    }

    /// A result shape in the header must be compatible with the root's.
    fn check_result(&mut self, id: ComputationId, root: Option<InstructionId>) {
        let (Some((declared, span)), Some(root)) = (self.parse.computations[id as usize].result, root) else {
            return;
        };
        let declared = &self.shapes[declared.0 as usize];
        if let Some(actual) = self.shape_of(root)
            && !declared.is_compatible(actual)
        {
            let name = self.parse.computations[id as usize].name.of(self.text);
            let root_name = self.instruction(root).name;
            let root = root_name.of(self.text);
            let differ = Difference::between(declared, actual);
            let (place, declared, actual) = (differ.place(), &differ.expected, &differ.actual);
            let message = format!(
                "{place}the result of {name} is declared as {declared}, but its root {root} has {actual}"
            );
            let finding =
                Finding::error("result-mismatch", span, message).with_related(root_name, "the root is here");
            self.findings.push(finding);
        }
    }

    // ---- operands ----

    fn resolve_operands(&mut self, computation: ComputationId, at: InstructionId, names: &NameTable) {
        let kind = self.parse.computations[computation as usize].kind;
        let (start, len) = self.instruction(at).operands;
        for index in start..start + len {
            let operand = &self.parse.operands[index as usize];
            let target = match operand.kind {
                OperandKind::Nested(id) => OperandRef::Local(id),
                OperandKind::ShapeOnly => OperandRef::Missing,
                OperandKind::Name | OperandKind::Element { .. } => {
                    self.look_up((kind, at), index, operand, names)
                }
            };
            self.operands[index as usize] = target;
            if let (OperandRef::Local(id), false) = (target, matches!(operand.kind, OperandKind::Nested(_))) {
                self.check_operand_shape(operand, id);
            }
        }
    }

    fn look_up(
        &mut self,
        (kind, at): (ComputationKind, InstructionId),
        index: u32,
        operand: &Operand,
        names: &NameTable,
    ) -> OperandRef {
        let name = operand.name.of(self.text);
        if let Some(id) = names.get(name, |id| self.parse.instructions[id as usize].name.of(self.text)) {
            return OperandRef::Local(id);
        }
        match kind {
            ComputationKind::Continued => {
                self.externals.push(External { name: operand.name, operand: index });
                OperandRef::External(self.externals.len() as u32 - 1)
            }
            // A text that is one instruction: operands become parameters of the printed shape.
            ComputationKind::Bare if operand.shape.is_some() => OperandRef::Missing,
            // XLA skips an opcode without parentheses, and counts the other operands.
            _ if Opcode::from_name(name).is_some()
                && operand.span.start == operand.name.start
                && self.instruction(at).opcode.is_none_or(|opcode| {
                    op_info(opcode).arity.accepts(self.instruction(at).operands.1 as usize - 1)
                }) =>
            {
                let message = format!("no instruction named {name} above: XLA skips an opcode here");
                let error = Finding::error("unknown-operand", operand.name, message);
                self.findings.push(Finding { severity: Severity::Warning, ..error });
                OperandRef::Missing
            }
            _ => {
                let message = format!("no instruction named {name} above in this computation");
                let meant = self.meant_name(name, at);
                let fix = meant.map(|meant| {
                    Fix::replace(format!("did you mean {meant}?"), Anchor::Span(operand.name), meant)
                });
                self.findings.push(Finding::error("unknown-operand", operand.name, message).with_fix(fix));
                OperandRef::Missing
            }
        }
    }

    /// The one name above that is nearest to `name`, if it is near.
    fn meant_name(&self, name: &str, at: InstructionId) -> Option<&str> {
        // Where everything is unknown no name was mistyped.
        if self.findings.len() > 100 {
            return None;
        }
        let parse = self.parse;
        let own = parse.computations.iter().find(|c| c.instructions.contains(&at))?;
        let above = (own.instructions.start..at).map(|id| self.instruction(id)).filter(|i| !i.is_nested);
        nearest(name, above.map(|instruction| instruction.name.of(self.text)))
    }

    fn check_operand_shape(&mut self, operand: &Operand, id: InstructionId) {
        let Some(defined) = self.shape_of(id) else { return };
        let element = match operand.kind {
            OperandKind::Element { start, len } => {
                let path = self.parse.ints(start, len);
                let Some(element) = defined.element_at(path) else {
                    let message =
                        format!("{} is {defined}, which has no such element", operand.name.of(self.text));
                    return self.error("no-such-element", operand.span, message);
                };
                element
            }
            _ => defined,
        };
        if let Some(printed) = operand.shape.map(|s| &self.shapes[s.0 as usize])
            && !printed.is_compatible(element)
        {
            let message =
                format!("{} is {element}, but {printed} is written here", operand.name.of(self.text));
            let finding = Finding::error("operand-shape-mismatch", operand.span, message)
                .with_related(self.instruction(id).name, "it is defined here");
            self.findings.push(finding);
        }
    }

    /// The known shapes of the operands, as defined or else as written.
    pub(crate) fn operand_shapes(&self, instruction: &Instruction) -> SmallVec<[Option<&Shape>; 4]> {
        let (start, len) = instruction.operands;
        let of = |index: u32| {
            let operand = &self.parse.operands[index as usize];
            let shape = match self.operands[index as usize] {
                OperandRef::Local(id) => self.shape_of(id),
                _ => None,
            };
            let shape = match operand.kind {
                OperandKind::Element { start, len } => {
                    shape.and_then(|s| s.element_at(self.parse.ints(start, len)))
                }
                _ => shape,
            };
            shape.or_else(|| operand.shape.map(|s| &self.shapes[s.0 as usize]))
        };
        (start..start + len).map(of).collect()
    }

    /// Why no shape can be inferred where none is written.
    fn result_shape(&mut self, at: InstructionId) -> Option<ShapeReason> {
        let mut refused = None;
        let instruction = self.instruction(at);
        let index = match (instruction.shape, instruction.opcode) {
            (Some(shape), _) => shape.0,
            (None, Some(opcode)) => {
                match self.inferred(instruction, opcode) {
                    Some(Ok(shape)) => {
                        self.shapes.push(shape);
                        self.shapes.len() as u32 - 1
                    }
                    Some(Err(reason)) => {
                        // Of a broadcast the parser takes the dimensions for sizes: anything goes. What is called
                        // may be in another piece.
                        let is_elsewhere =
                            matches!(opcode, Opcode::Broadcast | Opcode::Call | Opcode::Conditional);
                        let is_told = opcode.shape_is_inferable() && !is_elsewhere;
                        refused = Some(reason).filter(|_| is_told);
                        UNKNOWN
                    }
                    None => UNKNOWN,
                }
            }
            (None, None) => UNKNOWN,
        };
        self.result_shapes.push(index);
        if let Some(message) = self.shape_of(at).and_then(Shape::as_array).and_then(too_many_elements) {
            self.error("shape-overflow", instruction.shape_span, message);
        }
        refused
    }
}
