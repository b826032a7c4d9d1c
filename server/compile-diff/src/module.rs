//! A module with its text, as the comparison reads it.

use matching::{Boundaries, Operand, Program, Unreadable, Value};
use syntax::Span;
use syntax::hlo::{OperandKind, Parse, PieceState, parse};

/// Borrows its text.
#[derive(Debug)]
pub struct Module<'t> {
    pub text: &'t str,
    pub program: Program<'t>,
    /// What is wrong with the text. The module is read without it.
    pub errors: Vec<Unreadable>,
    pub(crate) parse: Parse,
    boundaries: Boundaries,
}

impl<'t> Module<'t> {
    /// Reads a module, without the parts of it that have errors.
    ///
    /// # Errors
    /// The text is no module of HLO, or has no instructions.
    pub fn read(text: &'t str) -> Result<Module<'t>, Unreadable> {
        let parse = parse(text, PieceState::HEADER);
        let (program, errors) = Program::of(text, &parse)?;
        let boundaries = Boundaries::of(&program);
        Ok(Module { text, program, errors, parse, boundaries })
    }

    /// The name of the module; empty if it has none.
    pub fn name(&self) -> &'t str {
        self.parse.header.as_ref().map_or("", |header| header.name.of(self.text))
    }

    /// Whether the instructions are in the order of their execution.
    pub fn is_scheduled(&self) -> bool {
        self.parse.header.as_ref().is_some_and(|header| header.is_scheduled)
    }

    /// `%add.3`, `%fused/add.3` if other computations use the name too.
    pub fn title(&self, instruction: u32) -> String {
        format!("%{}", self.program.unique_name(instruction))
    }

    /// The offset of the name of an instruction, in bytes.
    pub fn offset(&self, instruction: u32) -> usize {
        self.parse.instructions[instruction as usize].name.start as usize
    }

    /// The instruction whose name starts at an offset.
    pub fn instruction_at(&self, offset: usize) -> Option<u32> {
        let all = &self.parse.instructions;
        let start = |instruction: &syntax::hlo::Instruction| instruction.name.start as usize;
        let found = all.binary_search_by_key(&offset, start).ok();
        // The names are not sorted where computations are written in place.
        found.or_else(|| all.iter().position(|instruction| start(instruction) == offset)).map(|id| id as u32)
    }

    pub(crate) fn of(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    /// The fusion or call that alone calls a computation.
    pub(crate) fn holder(&self, computation: u32) -> Option<u32> {
        self.boundaries.holder(computation)
    }

    /// The computation of a fusion or call that nothing else calls.
    pub(crate) fn body(&self, instruction: u32) -> Option<u32> {
        self.boundaries.body(&self.program, instruction)
    }

    /// The fusion or call whose computation contains an instruction.
    pub(crate) fn caller(&self, instruction: u32) -> Option<u32> {
        self.holder(self.program.instruction(instruction).computation)
    }

    /// Whether an instruction only passes values into a fusion or out of it.
    pub(crate) fn is_plumbing(&self, id: u32) -> bool {
        self.boundaries.is_plumbing(&self.program, id)
    }

    /// The instruction that computes an operand, through fusions, calls and tuples.
    pub(crate) fn source(&self, operand: &Operand) -> Value {
        self.boundaries.source(&self.program, operand)
    }

    /// The operand as it is written, without its shape.
    pub(crate) fn operand_title(&self, id: u32, operand: usize) -> String {
        let instruction = &self.parse.instructions[id as usize];
        match self.parse.operands_of(instruction).get(operand) {
            Some(written) if !matches!(written.kind, OperandKind::Nested(_)) => {
                let name = self.of(Span { start: written.name.start, end: written.span.end });
                format!("%{}", name.trim_start_matches('%'))
            }
            _ => self
                .program
                .operands(id)
                .get(operand)
                .map_or_else(String::new, |used| self.title(used.instruction)),
        }
    }
}
