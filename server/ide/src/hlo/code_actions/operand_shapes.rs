//! Adds or removes the shape before each operand: the two styles in which XLA prints.

use ir::Shape;
use syntax::hlo::OperandKind;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::hlo::instructions::{all_instructions, instructions_in};
use crate::hlo::locate::InstructionRef;
use crate::{TextEdit, TextRange};

/// The number of instructions examined to decide which actions to offer.
const LOOK_AT: usize = 1000;
/// The largest number of arrays in a shape that is written. A tuple's shape would be repeated before the
/// operand of each of its `get-tuple-element`s, so the text would grow with the square of its elements.
const MAX_ARRAYS: usize = 256;

pub(super) fn operand_shapes(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    offer(context, actions, "", CodeActionKind::RefactorRewrite, &|limit| {
        Box::new(instructions_in(context, range, limit).into_iter())
    });
    offer(context, actions, "-of-file", CodeActionKind::Source, &|limit| {
        Box::new(all_instructions(context).take(limit))
    });
}

type Instructions<'a> = Box<dyn Iterator<Item = InstructionRef> + 'a>;

fn offer<'a>(
    context: &'a FileContext<'_>,
    actions: &mut Actions<'_>,
    scope: &str,
    kind: CodeActionKind,
    instructions: &dyn Fn(usize) -> Instructions<'a>,
) {
    let of_file = if scope.is_empty() { "" } else { " in the whole file" };
    let written = instructions(LOOK_AT).flat_map(|at| shapes_written(context, at)).next();
    match written {
        Some(true) => actions.offer(
            format!("remove-operand-shapes{scope}"),
            format!("Remove operand shapes{of_file}"),
            kind,
            || Some(Change::Edits(instructions(usize::MAX).flat_map(|at| removed(context, at)).collect())),
        ),
        Some(false) => actions.offer(
            format!("write-operand-shapes{scope}"),
            format!("Write operand shapes{of_file}"),
            kind,
            || {
                Some(Change::Edits(
                    instructions(usize::MAX).flat_map(|at| written_out(context, at)).collect(),
                ))
            },
        ),
        None => {}
    }
}

/// For each operand that is a name, whether its shape is written.
fn shapes_written(context: &FileContext<'_>, at: InstructionRef) -> Vec<bool> {
    let block = context.block(at.piece);
    block.operands_of(at.id).filter(|(o, _)| is_named(o.kind)).map(|(o, _)| o.shape.is_some()).collect()
}

fn is_named(kind: OperandKind) -> bool {
    matches!(kind, OperandKind::Name | OperandKind::Element { .. })
}

/// Removes the text from the shape up to the name, excluding `%`.
fn removed(context: &FileContext<'_>, at: InstructionRef) -> Vec<TextEdit> {
    cancel::check();
    let block = context.block(at.piece);
    let operands = block.operands_of(at.id).filter(|(o, _)| is_named(o.kind) && o.shape.is_some());
    operands
        .map(|(operand, _)| {
            let percent = usize::from(block.text[..operand.name.start as usize].ends_with('%'));
            let span = syntax::Span {
                start: operand.span.start,
                end: operand.name.start.saturating_sub(percent as u32),
            };
            TextEdit { range: context.range(at.piece, span), insert: String::new() }
        })
        .collect()
}

fn written_out(context: &FileContext<'_>, at: InstructionRef) -> Vec<TextEdit> {
    cancel::check();
    let block = context.block(at.piece);
    let operands = block.operands_of(at.id).enumerate();
    operands
        .filter(|(_, (o, _))| is_named(o.kind) && o.shape.is_none())
        .filter_map(|(i, (operand, _))| {
            let shape = context.shape(context.definition(at, i)?)?;
            let shape = match operand.kind {
                OperandKind::Element { start, len } => shape.element_at(block.parse.ints(start, len))?,
                _ => shape,
            };
            if is_wide(shape) {
                return None;
            }
            let start = context.range(at.piece, operand.span).start;
            Some(TextEdit { range: start..start, insert: format!("{shape} ") })
        })
        .collect()
}

/// Whether a shape has more than [`MAX_ARRAYS`].
fn is_wide(shape: &Shape) -> bool {
    let mut left = MAX_ARRAYS;
    let mut open = vec![shape];
    while let Some(shape) = open.pop() {
        let elements = shape.tuple_elements().unwrap_or_default();
        if left == 0 || open.len() + elements.len() > left {
            return true;
        }
        // Empty tuples count as one.
        left -= usize::from(elements.is_empty());
        open.extend(elements);
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::apply;
    use crate::fixture::in_entry;

    fn check(id: &str, before: &str, after: &str) {
        assert_eq!(apply(&in_entry(before), id), Some(in_entry(after)));
    }

    const SHORT: &str =
        "  t = (f32[8], s32[]) parameter(0)\n  p = f32[8]{0} parameter(1)\n  ROOT a = f32[8] add(%t#0, $0p)";
    const LONG: &str = "  t = (f32[8], s32[]) parameter(0)\n  p = f32[8]{0} parameter(1)\n  ROOT a = f32[8] add(f32[8] %t#0, f32[8]{0} p)";

    #[test]
    fn shapes_come_and_go() {
        let short = SHORT.replace("$0", "");
        check("write-operand-shapes", SHORT, LONG);
        check("remove-operand-shapes", &LONG.replace("f32[8]{0} p)", "f32[8]{0} $0p)"), &short);
        assert_eq!(apply(&in_entry("  ROOT p = f32[8] par$0ameter(0)"), "write-operand-shapes"), None);
        let everywhere = in_entry(LONG).replace("add(a, b)", "add(f32[] a, f32[] b)");
        assert_eq!(apply(&in_entry(&short), "write-operand-shapes-of-file"), Some(everywhere.clone()));
        assert_eq!(apply(&everywhere, "remove-operand-shapes-of-file"), Some(in_entry(&short)));
    }

    /// The text grows linearly with a tuple's elements, not quadratically.
    #[test]
    fn shapes_of_wide_tuples_are_left_out() {
        let written = |elements: usize| {
            let shape = format!("({})", vec!["f32[4]"; elements].join(", "));
            let mut body = format!("  p = {shape} parameter(0)\n");
            for n in 0..elements {
                body += &format!("  g{n} = f32[4] get-tuple-element(p), index={n}\n");
            }
            let names: Vec<String> = (0..elements).map(|n| format!("g{n}")).collect();
            body += &format!("  ROOT r = {shape} tu$0ple({})", names.join(", "));
            apply(&in_entry(&body), "write-operand-shapes-of-file").expect("it is offered")
        };
        assert!(written(256).contains("get-tuple-element((f32[4], f32[4]"));
        let wide = written(4000);
        assert!(wide.contains("get-tuple-element(p)") && wide.contains("tuple(f32[4] g0, f32[4] g1"));
        assert!(wide.len() < 400_000, "{} bytes", wide.len());
    }
}
