//! The short form of asynchronous operations, `slice-start`, as XLA's parser reads it: a start that calls a computation around the
//! operation.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc`, CreateAsyncWrappedComputation.

use ir::{Attributes, Op, ParsedComputation, ParsedInstruction, ParsedModule, Uniquer};
use syntax::hlo::{AttributeKey, Opcode};

/// Replaces the short forms of a module.
pub(super) fn expand(module: &mut ParsedModule) {
    let mut names = Names::default();
    for computation in &module.computations {
        names.computations.unique_owned(computation.name.clone());
        for instruction in &computation.instructions {
            names.instructions.unique_owned(instruction.name.clone());
        }
    }
    let mut added = Vec::new();
    let first = module.computations.len();
    for computation in &mut module.computations {
        for instruction in &mut computation.instructions {
            cancel::tick();
            let Some(wrapped) = wrapped_opcode(instruction) else { continue };
            if let Some(verbatim) = &mut instruction.verbatim {
                verbatim.opcode = None;
            }
            if instruction.op.opcode == Opcode::AsyncStart {
                let around = names.computation(instruction, wrapped);
                instruction.calls = vec![(AttributeKey::Calls, vec![first + added.len()])];
                added.push(around);
            }
        }
    }
    module.computations.extend(added);
}

/// The operation of `slice-start`, `slice-update` and `slice-done`.
fn wrapped_opcode(instruction: &ParsedInstruction) -> Option<Opcode> {
    if !matches!(instruction.op.opcode, Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone) {
        return None;
    }
    let word = instruction.verbatim.as_ref()?.opcode.as_ref()?;
    Opcode::from_name(word.rsplit_once('-')?.0)
}

#[derive(Default)]
struct Names {
    computations: Uniquer<'static>,
    instructions: Uniquer<'static>,
}

impl Names {
    fn instruction(&mut self, name: String, op: Op, operands: Vec<usize>) -> ParsedInstruction {
        ParsedInstruction {
            name: self.instructions.unique_owned(name).into_owned(),
            op,
            operands,
            control_predecessors: Vec::new(),
            calls: Vec::new(),
            verbatim: None,
            place: None,
        }
    }

    /// The computation around the operation of a start, with the attributes and calls that are those of the operation.
    fn computation(&mut self, start: &mut ParsedInstruction, opcode: Opcode) -> ParsedComputation {
        let operands = start.op.operand_shapes.clone();
        let mut instructions: Vec<ParsedInstruction> = operands
            .iter()
            .enumerate()
            .map(|(number, shape)| {
                let op = Op::parameter(number as u32, shape.clone());
                self.instruction("async_param".to_owned(), op, Vec::new())
            })
            .collect();
        // The operands in a tuple, the result, what the operation keeps.
        let result = start.op.shape.element_at(&[1]).cloned().unwrap_or(ir::Shape::Opaque);
        let mut own = Attributes::default();
        let mut outer = Attributes::default();
        let start_info = ir::op_info(Opcode::AsyncStart);
        for (key, value) in start.op.attributes.iter() {
            let is_outer = start_info.allows(key) && key != AttributeKey::Calls;
            if is_outer { outer.push(key, value.clone()) } else { own.push(key, value.clone()) }
        }
        let thread = match outer.text(AttributeKey::AsyncExecutionThread) {
            Some(thread) => thread.to_owned(),
            None => String::new(),
        };
        start.op.attributes = outer;
        let op = Op {
            opcode,
            shape: result,
            operand_shapes: operands.clone(),
            attributes: own,
            parameter: None,
            literal: None,
        };
        let mut root = self.instruction("async_op".to_owned(), op, (0..operands.len()).collect());
        root.calls = std::mem::take(&mut start.calls);
        instructions.push(root);
        ParsedComputation {
            name: self.computations.unique_owned("async_wrapped".to_owned()).into_owned(),
            is_entry: false,
            thread,
            root: instructions.len() - 1,
            instructions,
        }
    }
}
