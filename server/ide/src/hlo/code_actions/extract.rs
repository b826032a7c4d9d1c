//! Extracts an instruction or a computation to a module of its own, with all computations it needs, for
//! sharing or for running it alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use syntax::Span;
use syntax::hlo::{AttributeKey, ComputationId, InstructionId, Opcode, OperandKind};

use crate::TextRange;
use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::hlo::instructions::attribute_with_comma;
use crate::hlo::locate::InstructionRef;

/// The largest constant in bytes that is copied; longer ones become parameters.
const SHORT_CONSTANT: usize = 100;

pub(super) fn extract(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    if let Some(at) = context.instruction_at(range.start) {
        let block = context.block(at.piece);
        let instruction = block.instruction(at.id);
        let is_whole = !instruction.is_broken && !instruction.is_nested;
        if is_whole && instruction.opcode.is_some_and(|o| o != Opcode::Parameter) {
            let name = block.name(at.id);
            let title = match instruction.opcode {
                Some(Opcode::Fusion) => format!("Extract fusion {name} as a module"),
                _ => format!("Extract {name} as a module"),
            };
            actions.offer("extract-instruction", title, CodeActionKind::RefactorExtract, || {
                Some(Change::NewDocument {
                    name: name.to_owned(),
                    extension: None,
                    text: instruction_module(context, at)?,
                })
            });
        }
    }
    let Some(index) = computation_at(context, range.start) else { return };
    let name = &context.module().computations[index].name;
    if !context.module().is_entry(index) && !name.is_empty() {
        let title = format!("Extract computation {name} as a module");
        actions.offer("extract-computation", title, CodeActionKind::RefactorExtract, || {
            Some(Change::NewDocument {
                name: name.to_string(),
                extension: None,
                text: computation_module(context, index)?,
            })
        });
    }
}

/// The computation whose header or body contains `offset`.
fn computation_at(context: &FileContext<'_>, offset: usize) -> Option<usize> {
    let computations = &context.module().computations;
    let (piece, _) = context.locate(offset);
    computations.iter().position(|computation| {
        computation.segments.iter().any(|s| {
            s.piece == piece && {
                let span = context.range(s.piece, context.computation(*s).span);
                span.start <= offset && offset <= span.end
            }
        })
    })
}

fn computation_module(context: &FileContext<'_>, index: usize) -> Option<String> {
    let mut needed = BTreeSet::new();
    for segment in &context.module().computations[index].segments {
        let span = context.computation(*segment).span;
        callees_within(context, segment.piece, span, &mut needed);
    }
    needed.remove(&index);
    let name = &context.module().computations[index].name;
    let mut out = header(context, index, name);
    for &callee in &needed {
        let _ = writeln!(out, "{}\n", computation_text(context, callee)?);
    }
    let _ = writeln!(out, "ENTRY {}", computation_text(context, index)?);
    Some(with_tables(context, index, out))
}

fn instruction_module(context: &FileContext<'_>, at: InstructionRef) -> Option<String> {
    let block = context.block(at.piece);
    let caller = context.computation_index(at)?;
    let mut needed = BTreeSet::new();
    callees_within(context, at.piece, block.instruction(at.id).span, &mut needed);
    if needed.contains(&caller) {
        return None;
    }
    let mut out = header(context, caller, block.name(at.id));
    for &callee in &needed {
        let _ = writeln!(out, "{}\n", computation_text(context, callee)?);
    }
    let taken = |name: &str| needed.iter().any(|&c| *context.module().computations[c].name == *name);
    let entry = (0..).map(|n| if n == 0 { "main".to_owned() } else { format!("main.{n}") });
    let entry = entry.into_iter().find(|name| !taken(name))?;
    let _ = writeln!(out, "ENTRY %{entry} {{");
    let mut defined = Vec::new();
    let mut parameters = 0;
    define_operands(context, at, &mut defined, &mut parameters, &mut out)?;
    let _ = writeln!(out, "  ROOT {}\n}}", instruction_text(context, at));
    Some(with_tables(context, caller, out))
}

/// A line for each value that `at` reads: a parameter, or a copy of a short constant.
fn define_operands(
    context: &FileContext<'_>,
    at: InstructionRef,
    defined: &mut Vec<InstructionRef>,
    parameters: &mut usize,
    out: &mut String,
) -> Option<()> {
    let block = context.block(at.piece);
    for (i, (operand, _)) in block.operands_of(at.id).enumerate() {
        cancel::check();
        match operand.kind {
            OperandKind::Nested(id) => {
                let nested = InstructionRef { piece: at.piece, id };
                if block.instruction(id).opcode? == Opcode::Parameter {
                    return None;
                }
                define_operands(context, nested, defined, parameters, out)?;
                continue;
            }
            OperandKind::ShapeOnly => return None,
            OperandKind::Name | OperandKind::Element { .. } => {}
        }
        let definition = context.definition(at, i)?;
        if defined.contains(&definition) {
            continue;
        }
        defined.push(definition);
        let there = context.block(definition.piece);
        let instruction = there.instruction(definition.id);
        let is_short = instruction.argument.of(&there.text).len() <= SHORT_CONSTANT;
        if instruction.opcode == Some(Opcode::Constant) && is_short && !instruction.is_broken {
            let _ = writeln!(out, "  {}", instruction_text(context, definition));
        } else {
            let (name, shape) = (there.name(definition.id), context.shape(definition)?);
            let _ = writeln!(out, "  %{name} = {shape} parameter({parameters})");
            *parameters += 1;
        }
    }
    Some(())
}

/// The instruction from its name on, without references to its neighbours.
fn instruction_text(context: &FileContext<'_>, at: InstructionRef) -> String {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let start = instruction.name.start as usize;
    let percent = usize::from(block.text[..start].ends_with('%'));
    let end = instruction.span.end as usize;
    match attribute_with_comma(context, at, AttributeKey::ControlPredecessors) {
        Some(cut) => {
            let before = &block.text[start - percent..cut.start as usize];
            format!("{before}{}", &block.text[cut.end as usize..end])
        }
        None => block.text[start - percent..end].to_owned(),
    }
}

/// All computations called, directly or indirectly, by the instructions inside `span`.
fn callees_within(context: &FileContext<'_>, piece: usize, span: Span, found: &mut BTreeSet<usize>) {
    let module = context.module();
    let mut open = vec![(piece, span)];
    while let Some((piece, span)) = open.pop() {
        let block = context.block(piece);
        let is_inside = |id: InstructionId| {
            let inner = block.instruction(id).span;
            span.start <= inner.start && inner.end <= span.end
        };
        for (id, name) in block.callees().filter(|&(id, _)| is_inside(id)) {
            let callee = context.callee(InstructionRef { piece, id }, name.of(&block.text));
            if let Some(callee) = callee.filter(|&callee| found.insert(callee)) {
                let segments = &module.computations[callee].segments;
                open.extend(segments.iter().map(|s| (s.piece, context.computation(*s).span)));
            }
        }
    }
}

/// The text of a computation without `ENTRY`, over all of its pieces.
fn computation_text(context: &FileContext<'_>, index: usize) -> Option<String> {
    let segments = &context.module().computations[index].segments;
    let (first, last) = (segments.first()?, segments.last()?);
    let start = context.range(first.piece, context.computation(*first).span).start;
    let end = context.range(last.piece, context.computation(*last).span).end;
    let text = context.view.text.byte_slice(start..end).to_string();
    let text = match context.computation(*first).is_entry {
        true => text.strip_prefix("ENTRY")?.trim_start().to_owned(),
        false => text,
    };
    Some(text + trailer(context, last.piece, last.computation))
}

/// `, execution_thread="…"` after the closing brace.
fn trailer<'a>(context: &FileContext<'a>, piece: usize, computation: ComputationId) -> &'a str {
    let block = context.block(piece);
    let behind = &block.text[block.parse.computations[computation as usize].span.end as usize..];
    let line = behind.lines().next().unwrap_or_default();
    if line.starts_with(',') { line.trim_end() } else { "" }
}

/// The piece that contains the header of `computation`'s module.
fn header_piece(context: &FileContext<'_>, computation: usize) -> Option<usize> {
    let first = context.module().computations[computation].segments.first()?.piece;
    (0..=first).rev().find(|&piece| context.block(piece).parse.starts_module)
}

/// `HloModule name` with the attributes that affect the meaning of instructions.
fn header(context: &FileContext<'_>, computation: usize, name: &str) -> String {
    let mut out = format!("HloModule {}", module_name(name));
    if let Some(piece) = header_piece(context, computation) {
        let block = context.block(piece);
        let attributes = block.parse.header.iter().flat_map(|h| &h.attributes);
        for (key, value) in attributes {
            let key = key.of(&block.text);
            if matches!(key, "replica_count" | "num_partitions") {
                let _ = write!(out, ", {key}={}", value.of(&block.text));
            }
        }
    }
    out + "\n\n"
}

/// Avoids keywords of the grammar as names.
fn module_name(name: &str) -> String {
    format!("extracted_{name}")
}

/// Inserts the tables that metadata refers to after the header, if there are any references.
fn with_tables(context: &FileContext<'_>, computation: usize, text: String) -> String {
    let tables = || {
        let block = context.block(header_piece(context, computation)?);
        let header = block.parse.header.as_ref()?.span.of(&block.text);
        header.find("\nFileNames").map(|at| header[at..].trim().to_owned())
    };
    if text.contains("stack_frame_id=")
        && let Some(tables) = tables()
        && let Some((header, rest)) = text.split_once("\n\n")
    {
        return format!("{header}\n\n{tables}\n\n{rest}");
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::apply;
    use crate::fixture::open;

    const MODULE: &str = r#"HloModule m, replica_count=2

%add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%unused {
  ROOT u = f32[] parameter(0)
}

%fused (p: f32[8]) -> f32[] {
  %p = f32[8] parameter(0)
  %z = f32[] constant(0)
  ROOT %r = f32[] reduce(%p, %z), dimensions={0}, to_apply=%add
}

ENTRY %e {
  %q = (f32[8]{0}, s32[]) parameter(0)
  %n = f32[8] negate(%q#0)
  ROOT %f = f32[] fusion(%n), kind=kLoop, calls=%fused, control-predecessors={%n}, metadata={op_name="f"}
}
"#;

    fn check(cursor: &str, id: &str, expect: &str) {
        let text = apply(&MODULE.replacen(cursor, &format!("$0{cursor}"), 1), id).expect("it is offered");
        assert_eq!(text, expect);
        let (analysis, file, _) = open(&text);
        let found = analysis.diagnostics(file, 10).expect("nobody cancels");
        assert_eq!(found.shown, [], "{text}");
    }

    #[test]
    fn a_fusion_takes_its_computations_along() {
        check(
            "%f = f32[] fusion",
            "extract-instruction",
            r#"HloModule extracted_f, replica_count=2

%add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%fused (p: f32[8]) -> f32[] {
  %p = f32[8] parameter(0)
  %z = f32[] constant(0)
  ROOT %r = f32[] reduce(%p, %z), dimensions={0}, to_apply=%add
}

ENTRY %main {
  %n = f32[8] parameter(0)
  ROOT %f = f32[] fusion(%n), kind=kLoop, calls=%fused, metadata={op_name="f"}
}
"#,
        );
    }

    #[test]
    fn operands_become_parameters_and_short_constants_stay() {
        check(
            "%r = f32[] reduce",
            "extract-instruction",
            "\
HloModule extracted_r, replica_count=2

%add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY %main {
  %p = f32[8] parameter(0)
  %z = f32[] constant(0)
  ROOT %r = f32[] reduce(%p, %z), dimensions={0}, to_apply=%add
}
",
        );
        check(
            "%n = f32[8] negate",
            "extract-instruction",
            "\
HloModule extracted_n, replica_count=2

ENTRY %main {
  %q = (f32[8]{0}, s32[]) parameter(0)
  ROOT %n = f32[8] negate(%q#0)
}
",
        );
    }

    #[test]
    fn a_computation_becomes_the_entry() {
        check(
            "%unused {",
            "extract-computation",
            "\
HloModule extracted_unused, replica_count=2

ENTRY %unused {
  ROOT u = f32[] parameter(0)
}
",
        );
        assert_eq!(apply(&MODULE.replace("%n = f", "%n$0 = f"), "extract-computation"), None);
    }
}
