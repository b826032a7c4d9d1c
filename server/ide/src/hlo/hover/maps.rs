//! The maps of an instruction.

use indexing::Rules;
use ir::Opcode;

use crate::file_context::FileContext;
use crate::hlo::hover::loops::of_loop;
use crate::hlo::hover::operand_names;
use crate::hlo::locate::InstructionRef;
use crate::hlo::maps::{LocalGraph, outputs};
use crate::hover::{HoverConfig, access_blocks, beside_blocks, concatenated};
use crate::rich_text::RichText;

pub(super) fn maps(context: &FileContext<'_>, at: InstructionRef, config: &HoverConfig) -> RichText {
    let block = context.block(at.piece);
    let Some(opcode) = block.instruction(at.id).opcode else { return RichText::default() };
    // A tuple reads nothing by index.
    let reads_nothing = block.instruction(at.id).operands.1 == 0 && opcode != Opcode::Iota;
    if reads_nothing || opcode == Opcode::Tuple {
        return RichText::default();
    }
    let Some(local) = LocalGraph::of(context, at) else {
        let mut text = RichText::default();
        text.paragraph("No map: a shape is not known.");
        return text;
    };
    let names = operand_names(context, at);
    if let Some(text) = loop_text(context, &local, &names) {
        return text;
    }
    let outputs = outputs(context, at);
    let op = config.readable_variables.then_some(local.op());
    let mut blocks = Vec::new();
    for output in 0..outputs {
        let from = if outputs > 1 { format!("output {output}") } else { "output".to_owned() };
        let exact = local.maps(context, output, Rules::Exact);
        let xla = local.maps(context, output, Rules::Xla);
        blocks.extend(access_blocks(&from, &names, local.op(), &exact, &xla, op));
    }
    blocks.extend(beside_blocks(&local.maps_beside(context, &names)));
    concatenated(blocks)
}

/// A loop over a tuple, in words.
pub(crate) fn loop_text(context: &FileContext<'_>, local: &LocalGraph, names: &[String]) -> Option<RichText> {
    let state = local.op().shape.tuple_elements().filter(|_| local.op().opcode == Opcode::While)?;
    let [name] = names else { return None };
    of_loop(name, state.len(), |output| local.maps(context, output, Rules::Exact))
}
