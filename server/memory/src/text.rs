//! The memory of a module that is given as one text.

use std::sync::Arc;

use gpu::{Device, Fused};
use ir::{AttributeKey, Block, Graph, Module};
use syntax::hlo::PieceState;

use crate::memory::{Memory, order_of_fusion};
use crate::program::{Id, Program};
use crate::sharing::FusionOrder;

/// Why no memory can be planned for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub message: String,
    /// Bytes from the start of the text.
    pub offset: usize,
}

/// The memory of the first module of a text on a device.
///
/// # Errors
/// The first error of the parser, and a text without an entry computation.
pub fn memory_of_text(text: &str, device: &'static Device) -> Result<(Program, Memory), Unreadable> {
    let text: Arc<str> = text.into();
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    if let Some(error) = parse.errors.first() {
        return Err(Unreadable { message: error.message.clone(), offset: error.span.start as usize });
    }
    let block = ir::lower(text, parse);
    let module = Module::build(std::iter::once(&block.signature()));
    let program = Program::build(&module, &[&block])
        .ok_or_else(|| Unreadable { message: "the text has no entry computation".into(), offset: 0 })?;
    let memory = Memory::of(&program, &|fusion| order_of(&block, &program, fusion, device));
    Ok((program, memory))
}

fn order_of(block: &Block, program: &Program, fusion: Id, device: &'static Device) -> FusionOrder {
    let find = |name: &str| {
        let mut computations = block.parse.computations.iter();
        computations.position(|own| own.name.of(&block.text).trim_start_matches('%') == name)
    };
    let graph = |name: &str| Some(Arc::new(Graph::build(&[(block, find(name)? as u32)])?));
    let fused = || {
        let computation = find(&program.computation_of(fusion).name)? as u32;
        let op = block.op(block.find(computation, &program.instruction(fusion).name)?, |_| None)?;
        let callee = graph(op.attributes.computation(AttributeKey::Calls)?)?;
        Some(Fused::of_fusion(&op, &callee, &graph))
    };
    fused().map_or_else(FusionOrder::default, |fused| order_of_fusion(fused, device))
}
