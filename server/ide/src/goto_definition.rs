//! Go to definition of names. Also from `parameter(n)` to the operands passed for it at calls of its
//! computation, and from `get-tuple-element`, its index or a `#n` suffix to the element of the tuple.

use syntax::Span;
use syntax::hlo::{AttributeKey, Opcode, OperandKind, Value};

use crate::call_arguments::arguments;
use crate::locate::{FileContext, InstructionRef};
use crate::occurrences::{Symbol, occurrence_at};
use crate::tuple_element::{element, element_taken};
use crate::{NavigationTarget, TextRange};

/// The largest number of targets; a longer list is of no use.
const MAX_TARGETS: usize = 1000;

pub(crate) fn goto_definition(context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
    if let Some(found) = occurrence_at(context, offset) {
        let origin = context.range(found.piece, found.span);
        return symbol_target(context, origin, found.symbol).into_iter().collect();
    }
    beside_names(context, offset).unwrap_or_default()
}

/// The targets of positions that are not names.
fn beside_names(context: &FileContext<'_>, offset: usize) -> Option<Vec<NavigationTarget>> {
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
    let arguments = arguments(context, parameter).into_iter().take(MAX_TARGETS);
    let target = |argument: crate::call_arguments::Argument| NavigationTarget {
        origin: origin.clone(),
        range: context.range(
            argument.call.piece,
            context.block(argument.call.piece).instruction(argument.call.id).span,
        ),
        selection_range: context.range(argument.call.piece, argument.span),
    };
    arguments.map(target).collect()
}

pub(crate) fn symbol_target(
    context: &FileContext<'_>,
    origin: TextRange,
    symbol: Symbol,
) -> Option<NavigationTarget> {
    match symbol {
        Symbol::Instruction(at) => Some(instruction_target(context, origin, at)),
        Symbol::Computation(index) => computation_target(context, origin, index),
    }
}

pub(crate) fn instruction_target(
    context: &FileContext<'_>,
    origin: TextRange,
    target: InstructionRef,
) -> NavigationTarget {
    let instruction = context.block(target.piece).instruction(target.id);
    NavigationTarget {
        origin,
        range: context.range(target.piece, instruction.span),
        selection_range: context.range(target.piece, instruction.name),
    }
}

fn computation_target(
    context: &FileContext<'_>,
    origin: TextRange,
    index: usize,
) -> Option<NavigationTarget> {
    let range = context.computation_range(index)?;
    let first = *context.module().computations[index].segments.first()?;
    let name = context.range(first.piece, context.computation(first).name);
    let selection_range = if name.is_empty() { range.start..range.start } else { name };
    Some(NavigationTarget { origin, range, selection_range })
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
        // A `%` before a name belongs to it.
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

#[cfg(test)]
mod tests {
    use crate::fixture::{in_entry, open};

    fn check(lines: &str, expect: &str) {
        check_text(&in_entry(lines), expect);
    }

    fn check_text(text: &str, expect: &str) {
        let (analysis, file, offset) = open(text);
        let text = analysis.rope(file).to_string();
        let targets = analysis.goto_definition(file, offset).expect("nobody cancels");
        let lines: Vec<String> = targets
            .iter()
            .map(|t| {
                assert!(t.range.start <= t.selection_range.start && t.selection_range.end <= t.range.end);
                let line = text[t.range.start..].lines().next().unwrap_or_default();
                let at = t.selection_range.start - t.range.start;
                match at > 20 {
                    // Not the defined name, but an operand.
                    true => format!("{line} at {}", &text[t.selection_range.clone()]),
                    false => line.to_owned(),
                }
            })
            .collect();
        assert_eq!(if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") }, expect);
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

    const CALLS: &str = "HloModule m

f (a: f32[8], b: f32[8]) -> f32[8] {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  ROOT s = f32[8] add(a, b)
}

ENTRY e (x: f32[8], y: f32[8]) -> f32[8] {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  g = f32[8] fusion(x, y), kind=kLoop, calls=f
  h = f32[8] fusion(g, x), kind=kLoop, calls=f
  t = (f32[8], f32[8]) tuple(g, h)
  o = (f32[8], f32[8]) opt-barrier(t)
  ROOT r = f32[8] get-tuple-element(o), index=1
}
";

    fn check_calls(from: &str, to: &str, expect: &str) {
        assert_eq!(CALLS.matches(from).count(), 1, "{from}");
        check_text(&CALLS.replace(from, to), expect);
    }

    #[test]
    fn headers_parameters_and_elements_lead_on() {
        check_calls("(a: f32", "($0a: f32", "a = f32[8] parameter(0)");
        check_calls(
            "b = f32[8] parameter(1)\n  ROOT s",
            "b = f32[8] param$0eter(1)\n  ROOT s",
            "g = f32[8] fusion(x, y), kind=kLoop, calls=f at y; h = f32[8] fusion(g, x), kind=kLoop, calls=f at x",
        );
        check_calls("index=1", "index=$01", "h = f32[8] fusion(g, x), kind=kLoop, calls=f");
        check_calls("get-tuple-element(o)", "get-tuple-element($0o)", "o = (f32[8], f32[8]) opt-barrier(t)");
        check_calls("ROOT s", "ROOT $0s", "ROOT s = f32[8] add(a, b)");
        check_calls("ENTRY e", "ENTRY $0e", "ENTRY e (x: f32[8], y: f32[8]) -> f32[8] {");
    }

    #[test]
    fn other_places_lead_nowhere() {
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] neg$0ate(p)", "nothing");
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate($0unknown)", "nothing");
    }
}
