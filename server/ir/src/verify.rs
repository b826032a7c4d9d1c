//! What XLA's verifier refuses: every instruction's declared shape against the inferred one, its attributes, its
//! operands and the computations that it calls.
//!
//! Each instruction is judged by what its operands *declare*: a wrong shape is reported where it is written, not where it is
//! used. What the parser has refused already is not looked at again. Source: XLA `service/hlo_verifier.cc`.
//!
//! Architecture Invariant: reads one block and what it sees of others ([`Surroundings`]), never another block.

mod aliasing;
mod buffers;
mod calls;
mod channels;
mod fast;
mod fusions;
mod groups;
mod layouts;
mod module;
mod op;
mod pairs;
mod precision;
mod shapes;
mod shardings;

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{ComputationId, ComputationKind, Instruction, InstructionId, Opcode, OperandKind};

use crate::attributes::{AttributeView, Callee};
use crate::block::{Block, OperandRef};
use crate::finding::{Anchor, Fix, InstructionFinding, Part, Severity};
use crate::infer::{Called, CalleePart, Given, Problem, result_shape};
use crate::op_table::{Phase, op_info};
use crate::outline::OutlinePart;
use crate::shape::Shape;
pub use calls::frontend_attribute;
pub use layouts::preserves_layout;
pub use module::verify_module;
pub use op::op_fault;
pub use shardings::sharding_parts;

/// What a block sees of the rest of its module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The computations that its instructions call, by name, where all of their shapes are known.
    pub callees: FxHashMap<Arc<str>, Arc<Called>>,
    /// Parallel to [`Block::externals`].
    pub externals: Vec<Option<ExternalValue>>,
    pub replica_count: i64,
    pub num_partitions: i64,
    pub is_scheduled: bool,
    /// Per computation of the block, whether a fusion calls it.
    pub fused: Vec<bool>,
}

/// What another block of the same computation defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalValue {
    pub shape: Shape,
    pub opcode: Option<Opcode>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Surroundings {
            callees: FxHashMap::default(),
            externals: Vec::new(),
            replica_count: 1,
            num_partitions: 1,
            is_scheduled: false,
            fused: Vec::new(),
        }
    }
}

/// All findings of a block, in the order of its instructions.
pub fn verify(block: &Block, around: &Surroundings) -> Vec<InstructionFinding> {
    let mut verifier = Verifier { block, around, inline: RefCell::default(), findings: Vec::new() };
    verifier.check_shapes();
    verifier.check_parameter_numbers();
    verifier.check_fusion_bodies();
    verifier.check_shardings();
    verifier.check_channels();
    let has_buffers = block.shapes.iter().any(buffers::holds_buffer);
    let mut operands = Vec::new();
    for (id, instruction) in block.parse.instructions.iter().enumerate() {
        if !instruction.is_broken && !is_refused(block, instruction) {
            operands.clear();
            let found = verifier.findings.len();
            verifier.instruction(id as InstructionId, instruction, &mut operands);
            if has_buffers && verifier.findings.len() == found {
                verifier.check_buffers(id as InstructionId, instruction);
            }
        }
    }
    let mut findings = verifier.findings;
    findings.sort_by_key(|finding| finding.instruction);
    findings
}

/// Whether the parser found an error in this instruction, whose consequences are not reported.
fn is_refused(block: &Block, instruction: &Instruction) -> bool {
    if block.findings.is_empty() {
        return false;
    }
    let first = block.findings.partition_point(|f| f.span.start < instruction.span.start);
    let inside = block.findings[first..].iter().take_while(|f| f.span.start < instruction.span.end);
    inside.into_iter().any(|f| f.severity == Severity::Error)
}

impl Surroundings {
    /// Of a block that is a whole module.
    pub fn alone(block: &Block) -> Surroundings {
        let (outline, signature) = (block.outline(), block.signature());
        let callees = outline.parts.iter().zip(&signature.callables);
        let callees = callees.filter_map(|(part, callable)| Some((part.name.clone(), callable.alone()?)));
        let is_fused = |part: &OutlinePart| {
            let calls = &mut outline.calls.iter();
            !part.name.is_empty() && calls.any(|call| call.is_fusion && call.callee == part.name)
        };
        let settings = outline.settings.as_deref().cloned().unwrap_or_default();
        Surroundings {
            callees: callees.collect(),
            externals: Vec::new(),
            replica_count: settings.replica_count,
            num_partitions: settings.num_partitions,
            is_scheduled: settings.is_scheduled,
            fused: outline.parts.iter().map(is_fused).collect(),
        }
    }
}

pub(super) struct Verifier<'a> {
    block: &'a Block,
    around: &'a Surroundings,
    /// Computations that are written inside of attributes.
    inline: RefCell<FxHashMap<ComputationId, Option<Arc<Called>>>>,
    findings: Vec<InstructionFinding>,
}

/// An instruction under verification, all of whose operands are known.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    id: InstructionId,
    opcode: Opcode,
    instruction: &'a Instruction,
    operands: &'a [&'a Shape],
    declared: Option<&'a Shape>,
    attributes: AttributeView<'a>,
}

impl<'a> Verifier<'a> {
    fn instruction(
        &mut self,
        id: InstructionId,
        instruction: &'a Instruction,
        operands: &mut Vec<&'a Shape>,
    ) {
        let block = self.block;
        let Some(opcode) = instruction.opcode else { return };
        let (start, len) = instruction.operands;
        if !op_info(opcode).arity.accepts(len as usize) {
            return;
        }
        for index in start..start + len {
            let Some(shape) = self.operand(index) else { return };
            operands.push(shape);
        }
        let declared = instruction.shape.map(|shape| &block.shapes[shape.0 as usize]);
        let attributes = AttributeView::Parsed { text: &block.text, parse: &block.parse, instruction };
        if fast::is_fine(opcode, operands, declared, attributes) {
            if self.around.is_scheduled {
                self.check_layouts(&Subject { id, opcode, instruction, operands, declared, attributes });
            }
            return;
        }
        self.check(&Subject { id, opcode, instruction, operands, declared, attributes });
    }

    /// Parameters are numbered from 0 on without a gap. Source: `HloComputation::HloComputation`.
    fn check_parameter_numbers(&mut self) {
        for computation in &self.block.parse.computations {
            let is_whole = matches!(computation.kind, ComputationKind::Whole | ComputationKind::Inline(_));
            if !computation.is_closed || !is_whole {
                continue;
            }
            let numbered = computation
                .instructions
                .clone()
                .filter_map(|id| Some((self.block.parameter_number(id)?, id)));
            let count = numbered.clone().count() as u32;
            if numbered.clone().all(|(number, _)| number < count) {
                continue;
            }
            let present: FxHashSet<u32> = numbered.clone().map(|(number, _)| number).collect();
            let missing: Vec<u32> = (0..count).filter(|n| !present.contains(n)).collect();
            for (number, id) in numbered.filter(|(number, _)| *number >= count) {
                let place = Anchor::Part(id, Part::Argument);
                let fix = match missing.as_slice() {
                    [only] => {
                        Some(Fix::replace(format!("make it parameter {only}"), place, only.to_string()))
                    }
                    _ => None,
                };
                self.findings.push(InstructionFinding {
                    instruction: id,
                    part: Part::Argument,
                    severity: Severity::Error,
                    code: "parameter-number",
                    message: format!(
                        "expected a number below {count}, as there are {count} parameters, but it is {number}"
                    ),
                    shapes: None,
                    related: Vec::new(),
                    fix,
                });
            }
        }
    }

    fn check(&mut self, subject: &Subject<'_>) {
        let found = self.findings.len();
        let called = |callee: Callee<'_>| self.called(callee);
        let Subject { operands, attributes, declared, .. } = *subject;
        let given = Given { operands, attributes, declared, called: &called };
        match result_shape(subject.opcode, &given) {
            Err(problem) => self.report(subject, *problem),
            Ok(inferred) => self.compare(subject, &inferred),
        }
        if self.findings.len() > found && self.ends_what_is_wrong(subject) {
            self.findings.truncate(found);
            return;
        }
        // The rest asks what only makes sense of an instruction whose shapes are right.
        if self.findings.len() > found {
            return;
        }
        self.check_precision(subject);
        self.check_groups(subject);
        self.check_pairs(subject);
        self.check_aliasing(subject);
        self.check_calls(subject);
        self.check_carried_shardings(subject);
        if self.around.is_scheduled {
            self.check_layouts(subject);
        }
    }

    /// Whether this is the second half of an op whose first half has a finding, whose consequences are not reported.
    fn ends_what_is_wrong(&self, subject: &Subject<'_>) -> bool {
        let is_second = match op_info(subject.opcode).phase {
            Phase::Whole | Phase::Start { .. } => false,
            Phase::Done { start: Opcode::Send | Opcode::Recv } => false,
            Phase::Update | Phase::Done { .. } => true,
        };
        let start = self.operand_id(subject, 0).filter(|_| is_second);
        start.is_some_and(|start| self.findings.iter().any(|f| f.instruction == start))
    }

    /// The shape of an operand: what its definition declares, else what is printed beside it.
    fn operand(&self, index: u32) -> Option<&'a Shape> {
        let operand = &self.block.parse.operands[index as usize];
        let whole = match self.block.operands[index as usize] {
            OperandRef::Local(id) => self.block.shape(id),
            OperandRef::External(n) => {
                self.around.externals.get(n as usize)?.as_ref().map(|value| &value.shape)
            }
            OperandRef::Missing => None,
        };
        let shape = match operand.kind {
            OperandKind::Element { start, len } => {
                whole.and_then(|shape| shape.element_at(self.block.parse.ints(start, len)))
            }
            _ => whole,
        };
        shape.or_else(|| operand.shape.map(|shape| &self.block.shapes[shape.0 as usize]))
    }

    /// The opcode that defines the n-th operand, unless it is an element of it.
    fn operand_opcode(&self, subject: &Subject<'_>, n: usize) -> Option<Opcode> {
        let index = subject.instruction.operands.0 as usize + n;
        if matches!(self.block.parse.operands.get(index)?.kind, OperandKind::Element { .. }) {
            return Some(Opcode::GetTupleElement);
        }
        match self.block.operands[index] {
            OperandRef::Local(id) => self.block.instruction(id).opcode,
            OperandRef::External(n) => self.around.externals.get(n as usize)?.as_ref()?.opcode,
            OperandRef::Missing => None,
        }
    }

    /// The instruction that defines the n-th operand, where it is in this block.
    fn operand_id(&self, subject: &Subject<'_>, n: usize) -> Option<InstructionId> {
        let index = subject.instruction.operands.0 as usize + n;
        match (self.block.operands.get(index)?, self.block.parse.operands[index].kind) {
            (OperandRef::Local(id), OperandKind::Name | OperandKind::Nested(_)) => Some(*id),
            _ => None,
        }
    }

    fn called(&self, callee: Callee<'_>) -> Option<Arc<Called>> {
        match callee {
            Callee::Name(name) => self.around.callees.get(name).cloned(),
            Callee::Inline(id) => self
                .inline
                .borrow_mut()
                .entry(id)
                .or_insert_with(|| Called::of(std::iter::once(&self.block.segment(id))).map(Arc::new))
                .clone(),
        }
    }

    /// Whether all of the computation that holds an instruction is in this block.
    fn is_whole(&self, id: InstructionId) -> bool {
        let computations = &self.block.parse.computations;
        let own = computations.iter().find(|computation| computation.instructions.contains(&id));
        own.is_some_and(|own| {
            own.is_closed && own.kind != ComputationKind::Continued && own.kind != ComputationKind::Headless
        })
    }

    fn report(&mut self, subject: &Subject<'_>, problem: Problem) {
        let id = subject.id;
        let mut related = Vec::new();
        match problem.part {
            Part::Operand(n) => {
                related.push((Anchor::Definition(id, n), "the operand is defined here".to_owned()))
            }
            Part::Operands => {
                let shown = subject.operands.len().min(2) as u32;
                related.extend((0..shown).map(|n| {
                    (
                        Anchor::Definition(id, n),
                        format!("operand {n}, {}, is defined here", subject.operands[n as usize]),
                    )
                }));
            }
            _ => {}
        }
        match problem.callee {
            Some(CalleePart::Parameter(key, n, number)) => {
                related
                    .push((Anchor::CalleeParameter(id, key, n, number), "the parameter is here".to_owned()));
            }
            Some(CalleePart::Root(key, n)) => {
                related.push((Anchor::CalleeRoot(id, key, n), "the root is here".to_owned()));
            }
            None => {}
        }
        self.findings.push(InstructionFinding {
            instruction: id,
            part: problem.part,
            severity: Severity::Error,
            code: problem.code,
            message: problem.message,
            shapes: None,
            related,
            fix: problem.fix.map(|(title, insert)| {
                let part = if problem.code == "missing-attribute" { Part::End } else { problem.part };
                Fix::replace(title, Anchor::Part(id, part), insert)
            }),
        });
    }

    fn error(&mut self, subject: &Subject<'_>, code: &'static str, part: Part, message: impl Into<String>) {
        self.report(subject, Problem { code, part, message: message.into(), callee: None, fix: None });
    }
}
