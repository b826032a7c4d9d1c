//! The document of a kernel as data.

use std::ops::Range;

use codegen::kernel::Role;
use codegen::{Kernel, KernelText};
use gpu::Launch;

use crate::TextRange;
use crate::hlo::locate::InstructionRef;
use crate::kernel::fusion::FusionError;
use crate::kernel::xla_kernel::KernelComparison;

/// A text and the instructions its lines come from. Holds no part of the database; as large as the text and
/// its instructions.
#[derive(Debug, Clone)]
pub struct KernelDocument {
    /// The lines above the code, without comment markers: the launch, and missing parts.
    pub head: Vec<String>,
    /// MLIR, PTX, or a summary.
    pub body: String,
    /// For each line of the body, the index in `instructions` of its origin.
    pub lines: Vec<Option<u32>>,
    /// Lines of the body that read or write an argument of the kernel, with the argument's number.
    pub accesses: Vec<(usize, usize)>,
    pub instructions: Vec<KernelInstruction>,
    pub origin: KernelOrigin,
}

/// Where the code of a kernel comes from.
#[derive(Debug, Clone)]
pub enum KernelOrigin {
    /// XLA's emitters, or Triton for the kernel of a dump; the body is code.
    Emitters(KernelCode),
    /// Another compiler or a library, in words; the body is a summary.
    Elsewhere(String),
    /// Nowhere: there is no code, for this reason.
    Nowhere(FusionError),
}

/// What a kernel's code needs to be launched.
#[derive(Debug, Clone)]
pub struct KernelCode {
    /// The kernel's name: letters, digits and `_`.
    pub name: String,
    /// `None` if it is not known how XLA launches its kernel.
    pub launch: Option<Launch>,
    pub params: Vec<KernelParam>,
    /// Instructions replaced by zero, and why.
    pub missing: Vec<(String, String)>,
    /// Of a kernel that XLA itself made: how it compares with ours.
    pub comparison: Option<Box<KernelComparison>>,
}

#[derive(Debug, Clone)]
pub struct KernelParam {
    pub is_result: bool,
    /// Number of the operand, or of the result.
    pub number: usize,
    pub bytes: u64,
    /// The number of its memory slice: arguments that share memory have the same.
    pub slice: usize,
}

impl KernelCode {
    pub(super) fn of(kernel: &Kernel, text: &KernelText) -> KernelCode {
        let param = |(param, slice): (&codegen::kernel::Param, usize)| {
            let (is_result, number) = match param.role {
                Role::Operand(n) => (false, n),
                Role::Result(n) => (true, n),
            };
            KernelParam { is_result, number, bytes: param.bytes, slice }
        };
        let missing = text.missing.iter();
        KernelCode {
            name: kernel.name.clone(),
            launch: Some(kernel.launch),
            params: kernel.params.iter().zip(kernel.slices()).map(param).collect(),
            missing: missing.map(|missing| (missing.instruction.clone(), missing.reason.clone())).collect(),
            comparison: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct KernelInstruction {
    /// The name in the file, without `%`. A parameter has that of its operand where the file writes no
    /// parameter.
    pub name: String,
    /// The name in the kernel's computation.
    pub fused_name: String,
    /// The ranges of the instruction and of its name in the file; `None` if it no longer exists.
    pub at: Option<(TextRange, TextRange)>,
    /// The instruction and its aliases: the fusion's operand for a parameter.
    pub(crate) refs: Vec<InstructionRef>,
}

impl KernelDocument {
    /// A document that is a head alone.
    pub fn without_code(head: Vec<String>, why: FusionError) -> KernelDocument {
        KernelDocument::new(head, KernelOrigin::Nowhere(why))
    }

    pub(crate) fn new(head: Vec<String>, origin: KernelOrigin) -> KernelDocument {
        let (lines, accesses, instructions) = (Vec::new(), Vec::new(), Vec::new());
        KernelDocument { head, body: String::new(), lines, accesses, instructions, origin }
    }

    /// The head with no body.
    #[must_use]
    pub fn without_body(self) -> KernelDocument {
        KernelDocument::new(self.head, self.origin)
    }

    /// The code's facts; `None` if the body is not code.
    pub fn code(&self) -> Option<&KernelCode> {
        match &self.origin {
            KernelOrigin::Emitters(code) => Some(code),
            KernelOrigin::Elsewhere(_) | KernelOrigin::Nowhere(_) => None,
        }
    }

    /// Whether zero replaces some instruction.
    pub fn is_incomplete(&self) -> bool {
        self.code().is_some_and(|code| !code.missing.is_empty())
    }

    /// The whole text, with `notes` in the head, and the number of lines above the body.
    pub fn text(&self, notes: &[String]) -> (String, usize) {
        let mut text = String::with_capacity(self.body.len() + 256);
        let mut count = 0;
        for line in self.head.iter().chain(notes).flat_map(|part| part.lines()) {
            text.push_str("// ");
            match self.code().is_some() {
                true => text.extend(line.chars().map(ascii)),
                false => text.push_str(line),
            }
            text.push('\n');
            count += 1;
        }
        if !self.body.is_empty() {
            text.push('\n');
            count += 1;
        }
        text.push_str(&self.body);
        (text, count)
    }

    /// The document of an earlier revision, without links to instructions.
    pub fn without_source(&self) -> KernelDocument {
        KernelDocument { instructions: Vec::new(), ..self.clone() }
    }

    /// The instruction from which a line of the body originates.
    pub fn instruction_of(&self, line: usize) -> Option<&KernelInstruction> {
        self.instructions.get((*self.lines.get(line)?)? as usize)
    }

    /// Line ranges of the body that originate from one of `instructions`, given by index.
    pub fn lines_of(&self, instructions: &[u32]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (n, origin) in self.lines.iter().enumerate() {
            if !origin.is_some_and(|origin| instructions.contains(&origin)) {
                continue;
            }
            match runs.last_mut().filter(|last| last.end == n) {
                Some(last) => last.end += 1,
                None => runs.push(n..n + 1),
            }
        }
        runs
    }
}

/// An ASCII replacement, because assemblers accept only ASCII, even in comments.
fn ascii(letter: char) -> char {
    match letter {
        '·' => '|',
        '×' => 'x',
        '≈' => '~',
        'µ' => 'u',
        _ if letter.is_ascii() => letter,
        _ => '?',
    }
}
