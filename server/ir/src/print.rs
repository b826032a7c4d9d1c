//! Modules as text that XLA's parser reads back to the same module, in the form in which XLA prints it.
//!
//! What XLA's parser adds is added here: names are made unique, nested instructions and `%t#0` become instructions of their own, layouts
//! and shapes that were left out are written, attributes have XLA's order and form. Unknown attributes are kept.
//!
//! Source: XLA `hlo_module.cc`, `hlo_computation.cc`, `hlo_instruction.cc`, `hlo_instructions.cc`, `literal.cc`.

mod attribute_order;
mod escape;
mod float;
mod fragment;
mod header;
mod instruction;
mod literal;
mod names;
mod op;
mod options;
mod parsed;
mod program;
mod shapes;
mod tokens;
mod value;
mod values;

use crate::block::Block;
use crate::module::Module;
pub use escape::{escape, is_json_dict, unescape};
pub use fragment::print_fragment;
use instruction::At;
pub use names::Uniquer;
pub use options::PrintOptions;
pub use parsed::{ParsedComputation, ParsedInstruction, ParsedModule, Verbatim};
use program::{Program, parameter_number};
use shapes::{separate, write_shape_without_layout};
pub use tokens::{Token, Tokens, bracketed, split_top_level};

/// The text would be larger than this: bodies that are written where they are called may grow without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextTooLarge {
    pub limit: usize,
}

/// Bytes of printed text beyond the size of what was read.
const LIMIT: usize = 256 << 20;

/// The modules of a file, whose pieces are `blocks`; more than one are separated by `// -----` lines.
/// Instructions that could not be read are left out: print files without errors.
pub fn print_module(
    blocks: &[&Block],
    module: &Module,
    options: &PrintOptions,
) -> Result<String, TextTooLarge> {
    let sections = module.computations.last().map_or(0, |c| c.section) + 1;
    let mut headers = blocks.iter().filter(|b| b.parse.starts_module).copied();
    let mut out = String::with_capacity(blocks.iter().map(|b| b.text.len()).sum::<usize>() * 5 / 4);
    for section in 0..sections {
        let program = Program::build(blocks, module, section);
        if section > 0 {
            out.push_str("\n// -----\n\n");
        }
        let mut printer = Printer { program: &program, options, out, is_full: false };
        printer.module(headers.next());
        if printer.is_full {
            return Err(TextTooLarge { limit: LIMIT });
        }
        out = printer.out;
    }
    Ok(out)
}

struct Printer<'a, 'p> {
    program: &'p Program<'a>,
    options: &'p PrintOptions,
    out: String,
    is_full: bool,
}

impl Printer<'_, '_> {
    fn module(&mut self, first: Option<&Block>) {
        self.header(first);
        let program = self.program;
        let mut is_inlined = vec![false; program.computations.len()];
        if self.options.full_bodies {
            program.computations.iter().flat_map(|c| c.calls()).for_each(|c| is_inlined[c] = true);
        }
        let mut is_first = true;
        for index in program.order() {
            if is_inlined[index] && !program.computations[index].is_entry {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.out.push('\n');
            }
            self.computation(index);
            self.out.push('\n');
        }
    }

    fn computation(&mut self, index: usize) {
        let computation = &self.program.computations[index];
        if computation.is_entry {
            self.out.push_str("ENTRY ");
        }
        if self.options.percent {
            self.out.push('%');
        }
        self.out.push_str(&computation.name);
        self.out.push(' ');
        if self.options.program_shape {
            self.program_shape(index);
        }
        self.body(index, 0);
        if !matches!(computation.thread, "" | "main") {
            self.out.push_str(", execution_thread=");
            escape::requote(&mut self.out, computation.thread);
        }
    }

    /// `(p: f32[8]) -> f32[] `
    fn program_shape(&mut self, index: usize) {
        let computation = &self.program.computations[index];
        let numbered = computation.nodes.iter().filter_map(|n| Some((parameter_number(self.program, n)?, n)));
        let mut parameters: Vec<_> = numbered.collect();
        parameters.sort_by_key(|(number, _)| *number);
        self.out.push('(');
        for (i, (_, parameter)) in parameters.into_iter().enumerate() {
            separate(&mut self.out, i, false);
            self.out.push_str(&parameter.name);
            self.out.push_str(": ");
            if let Some(shape) = &parameter.shape {
                write_shape_without_layout(&mut self.out, shape);
            }
        }
        self.out.push_str(") -> ");
        if let Some(shape) = computation.nodes.get(computation.root as usize).and_then(|n| n.shape.as_deref())
        {
            write_shape_without_layout(&mut self.out, shape);
        }
        self.out.push(' ');
    }

    /// The instructions in braces.
    fn body(&mut self, index: usize, indent: usize) {
        for _ in 0..indent {
            self.out.push_str("  ");
        }
        self.out.push_str("{\n");
        let order = self.program.computations[index].order.iter().copied();
        let order: Vec<_> = order.filter(|&node| !self.is_compacted(index, node)).collect();
        let mut canonical = Vec::new();
        if self.options.canonical_names {
            canonical = vec![0; self.program.computations[index].nodes.len()];
            order.iter().enumerate().for_each(|(number, &node)| canonical[node as usize] = number as u32);
        }
        for &node in &order {
            self.is_full |= self.out.len() > LIMIT || indent > syntax::MAX_DEPTH as usize;
            if self.is_full {
                return;
            }
            let at = At { computation: index, node, canonical: &canonical, indent: indent + 1 };
            recursion::grow(|| self.instruction(at));
        }
        for _ in 0..indent {
            self.out.push_str("  ");
        }
        self.out.push('}');
    }
}
