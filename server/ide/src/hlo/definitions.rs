//! Definitions of HLO, and the targets of what is not a name: from `parameter(n)` to the operands passed for
//! it at calls of its computation, and from `get-tuple-element`, its index or a `#n` suffix to the element of
//! the tuple.

use syntax::Span;
use syntax::hlo::{AttributeKey, Opcode, OperandKind};

use crate::file_context::FileContext;
use crate::hlo::call_arguments::{Argument, arguments};
use crate::hlo::locate::InstructionRef;
use crate::hlo::tuple_element::{element, element_taken};
use crate::symbol::{Defined, Symbol};
use crate::{NavigationTarget, TextRange};

/// The targets of positions that are not names.
pub(crate) fn targets_beside_names(
    context: &FileContext<'_>,
    offset: usize,
) -> Option<Vec<NavigationTarget>> {
    let at = context.instruction_at(offset)?;
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let local = offset.checked_sub(context.range(at.piece, Span::default()).start)?;
    let on_opcode = instruction.opcode_span.contains(local);
    // A broken instruction has an empty argument.
    let on_argument = !instruction.argument.is_empty() && instruction.argument.contains(local);
    let attributes = block.parse.attributes_of(instruction);
    let on_index = attributes.iter().find(|a| {
        let whole = Span { start: a.key_span.start, end: a.value_span.end };
        a.key == Some(AttributeKey::Index) && whole.contains(local)
    });
    match instruction.opcode {
        Some(Opcode::Parameter) if on_opcode || on_argument => {
            let origin = context.range(
                at.piece,
                Span {
                    start: instruction.opcode_span.start,
                    end: instruction.argument.end.max(instruction.opcode_span.end),
                },
            );
            return Some(argument_targets(context, &origin, at));
        }
        Some(Opcode::GetTupleElement) if on_opcode || on_index.is_some() => {
            let span = on_index
                .map_or(instruction.opcode_span, |a| Span { start: a.key_span.start, end: a.value_span.end });
            let origin = context.range(at.piece, span);
            return Some(vec![instruction_target(context, origin, element_taken(context, at)?)]);
        }
        _ => {}
    }
    let (n, (operand, _)) =
        block.operands_of(at.id).enumerate().find(|(_, (o, _))| o.span.contains(local))?;
    let OperandKind::Element { start, len } = operand.kind else { return None };
    let mut target = context.definition(at, n)?;
    for &index in block.parse.ints(start, len) {
        target = element(context, target, usize::try_from(index).ok()?)?;
    }
    let origin = context.range(at.piece, Span { start: operand.name.end, end: operand.span.end });
    Some(vec![instruction_target(context, origin, target)])
}

/// The operands that are passed for a parameter, each with its call.
pub(crate) fn argument_targets(
    context: &FileContext<'_>,
    origin: &TextRange,
    parameter: InstructionRef,
) -> Vec<NavigationTarget> {
    let target = |argument: Argument| NavigationTarget {
        origin: origin.clone(),
        range: context.range(
            argument.call.piece,
            context.block(argument.call.piece).instruction(argument.call.id).span,
        ),
        selection_range: context.range(argument.call.piece, argument.span),
    };
    arguments(context, parameter).into_iter().map(target).collect()
}

/// The definition of an instruction or a computation.
pub(crate) fn definition(context: &FileContext<'_>, symbol: &Symbol) -> Option<Defined> {
    match *symbol {
        Symbol::Instruction(at) => Some(instruction(context, at)),
        Symbol::Computation(index) => {
            let range = context.computation_range(index)?;
            let first = *context.module().computations[index].segments.first()?;
            let name = context.range(first.piece, context.computation(first).name);
            let name = if name.is_empty() { range.start..range.start } else { name };
            Some(Defined { range, name })
        }
        _ => None,
    }
}

fn instruction(context: &FileContext<'_>, at: InstructionRef) -> Defined {
    let instruction = context.block(at.piece).instruction(at.id);
    Defined {
        range: context.range(at.piece, instruction.span),
        name: context.range(at.piece, instruction.name),
    }
}

pub(crate) fn instruction_target(
    context: &FileContext<'_>,
    origin: TextRange,
    target: InstructionRef,
) -> NavigationTarget {
    let Defined { range, name } = instruction(context, target);
    NavigationTarget { origin, range, selection_range: name }
}
