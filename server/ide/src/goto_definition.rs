//! From an operand, a control predecessor or a called computation to its definition.

use syntax::Span;
use syntax::hlo::{AttributeKey, OperandKind, Value};

use crate::NavigationTarget;
use crate::locate::{FileContext, InstructionRef};

pub(crate) fn goto_definition(context: &FileContext<'_>, offset: usize) -> Option<NavigationTarget> {
    let at = context.instruction_at(offset)?;
    let start = context.range(at.piece, Span::default()).start;
    let local = offset.checked_sub(start)?;
    match name_at(context, at, local)? {
        Name::Instruction(span, target) => instruction_target(context, at.piece, span, target),
        Name::Computation(span) => computation_target(context, at, span),
    }
}

/// A name inside an instruction that refers to something else.
pub(crate) enum Name {
    Instruction(Span, InstructionRef),
    Computation(Span),
}

/// The name at byte `local` of the piece, if it refers to something.
pub(crate) fn name_at(context: &FileContext<'_>, at: InstructionRef, local: usize) -> Option<Name> {
    let block = context.block(at.piece);
    for (i, (operand, _)) in block.operands_of(at.id).enumerate() {
        // The `%` in front of a name belongs to it.
        let span =
            Span { start: operand.name.start.saturating_sub(1).max(operand.span.start), ..operand.name };
        if span.contains(local) && !matches!(operand.kind, OperandKind::Nested(_)) {
            return Some(Name::Instruction(operand.name, context.definition(at, i)?));
        }
    }
    for attribute in block.parse.attributes_of(block.instruction(at.id)) {
        if !attribute.value_span.contains(local) {
            continue;
        }
        let with_percent = |s: &&Span| Span { start: s.start.saturating_sub(1), ..**s }.contains(local);
        match (&attribute.value, attribute.key) {
            (Value::Computation(span), _) => return Some(Name::Computation(*span)),
            (Value::Computations { start, len }, _) => {
                let span = block.parse.spans(*start, *len).iter().find(with_percent)?;
                return Some(Name::Computation(*span));
            }
            (Value::Names { start, len }, Some(AttributeKey::ControlPredecessors)) => {
                let span = block.parse.spans(*start, *len).iter().find(with_percent)?;
                let name = span.of(&block.text);
                let local = block.find(context.computation_id(at)?, name);
                let target = match local {
                    Some(id) => InstructionRef { piece: at.piece, id },
                    None => context.definition_in_giant(at, name)?,
                };
                return Some(Name::Instruction(*span, target));
            }
            _ => return None,
        }
    }
    None
}

fn instruction_target(
    context: &FileContext<'_>,
    piece: usize,
    origin: Span,
    target: InstructionRef,
) -> Option<NavigationTarget> {
    let instruction = context.block(target.piece).instruction(target.id);
    Some(NavigationTarget {
        origin: context.range(piece, origin),
        range: context.range(target.piece, instruction.span),
        selection_range: context.range(target.piece, instruction.name),
    })
}

fn computation_target(
    context: &FileContext<'_>,
    at: InstructionRef,
    origin: Span,
) -> Option<NavigationTarget> {
    let name = origin.of(&context.block(at.piece).text);
    let segment = *context.module().computations[context.callee(at, name)?].segments.first()?;
    let computation = context.computation(segment);
    Some(NavigationTarget {
        origin: context.range(at.piece, origin),
        range: context.range(segment.piece, computation.span),
        selection_range: context.range(segment.piece, computation.name),
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{in_entry, open};

    fn check(lines: &str, expect: &str) {
        let (analysis, file, offset) = open(&in_entry(lines));
        let text = analysis.rope(file).to_string();
        let target = analysis.goto_definition(file, offset).expect("nobody cancels");
        let line = target.map(|t| {
            assert!(t.range.start <= t.selection_range.start && t.selection_range.end <= t.range.end);
            text[t.range.start..].lines().next().unwrap_or_default().to_owned()
        });
        assert_eq!(line.as_deref().unwrap_or("nothing"), expect);
    }

    #[test]
    fn names_lead_to_what_has_them() {
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate($0p)", "p = f32[8] parameter(0)");
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(f32[8] $0%p)", "p = f32[8] parameter(0)");
        check(
            "  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=%s$0um",
            "%sum {",
        );
        check(
            "  p = f32[8] parameter(0)\n  q = f32[8] negate(p)\n  ROOT n = f32[8] negate(p), control-predecessors={$0q}",
            "q = f32[8] negate(p)",
        );
    }

    #[test]
    fn other_places_lead_nowhere() {
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] neg$0ate(p)", "nothing");
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate($0unknown)", "nothing");
    }
}
