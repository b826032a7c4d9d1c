//! The framework name and the stack of an instruction, from its metadata and the tables at the head of the module.

use syntax::Span;
use syntax::hlo::{AttributeKey, ModuleHeader, StackEnd, unescape};

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::hlo::names::with_percent;
use crate::source_location::{SourceFrame, SourceLocation};

pub(crate) fn source_location(context: &FileContext<'_>, at: InstructionRef) -> SourceLocation {
    let block = context.block(at.piece);
    let attributes = block.parse.attributes_of(block.instruction(at.id));
    let Some(metadata) = attributes.iter().find(|a| a.key == Some(AttributeKey::Metadata)) else {
        return SourceLocation::default();
    };
    let text = metadata.value_span.of(&block.text);
    let number = |key| field(text, key).and_then(|v| v.parse().ok());
    let string = |key| field(text, key).filter(|v| !v.is_empty()).map(unescape);
    let mut location = SourceLocation { op_name: string("op_name"), ..SourceLocation::default() };
    if let Some(path) = string("source_file") {
        let frame = SourceFrame { function: String::new(), path, line: number("source_line") };
        location.frames.push(frame);
    }
    // A written file is the innermost frame, which the stack has too.
    if let Some(innermost) = number("stack_frame_id") {
        // The tables are in the first piece.
        let header = context.block(0);
        let written = header.parse.header.as_ref();
        let (frames, problem) =
            written.map(|written| stack(written, &header.text, innermost)).unwrap_or_default();
        if !frames.is_empty() {
            location.frames = frames;
        }
        location.problem = problem;
    }
    location
}

/// The source frames from row `innermost` of `StackFrames`, and why they are not complete.
fn stack(header: &ModuleHeader, text: &str, innermost: u32) -> (Vec<SourceFrame>, Option<String>) {
    let stack = header.stack(innermost);
    let frame = |frame: &syntax::hlo::StackFrame| SourceFrame {
        function: unescape(frame.function.of(text)),
        path: unescape(frame.file.of(text)),
        line: Some(frame.line),
    };
    let problem = match stack.end {
        StackEnd::Outermost => None,
        // Without tables, metadata refers to those of another text.
        StackEnd::Missing { .. } if header.stack_frames.is_empty() => None,
        StackEnd::Missing { table, row } => {
            Some(format!("stack_frame_id={innermost}: the table {table} has no row {row}"))
        }
        StackEnd::Cycle { frame } => {
            Some(format!("stack_frame_id={innermost}: frame {frame} of the table StackFrames calls itself"))
        }
        StackEnd::Deep => Some(format!("the stack has more than {} frames", stack.frames.len())),
    };
    (stack.frames.iter().map(frame).collect(), problem)
}

/// The stack of the instruction whose name, opcode or metadata is at `offset`.
pub(crate) fn frames_at(context: &FileContext<'_>, offset: usize) -> Option<(TextRange, Vec<SourceFrame>)> {
    let at = context.instruction_at(offset)?;
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let local = offset.checked_sub(context.range(at.piece, Span::default()).start)?;
    let metadata =
        block.parse.attributes_of(instruction).iter().filter(|a| a.key == Some(AttributeKey::Metadata));
    let metadata = metadata.map(|a| Span { start: a.key_span.start, end: a.value_span.end });
    let name = with_percent(&block.text, instruction.name);
    let origin = metadata.chain([name, instruction.opcode_span]).find(|span| span.contains(local))?;
    Some((context.range(at.piece, origin), source_location(context, at).frames))
}

/// The value of `key=` in `{key="value" key=1}`, without its quotes.
fn field<'a>(metadata: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = metadata.trim_start_matches('{');
    loop {
        let (name, value) = rest.split_once('=')?;
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => {
                let mut escaped = false;
                let end = quoted.find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                })?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => value.split_at(value.find([' ', ',', '}']).unwrap_or(value.len())),
        };
        if name.trim_matches([' ', ',', '\t', '\n', '\r']) == key {
            return Some(value);
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::open;

    #[test]
    fn fields_are_found_behind_quoted_text() {
        let metadata = r#"{op_type="a" op_name="x \"source_line=3\" y" source_file="/m.py", source_line=12}"#;
        assert_eq!(field(metadata, "source_line"), Some("12"));
        assert_eq!(field(metadata, "op_name"), Some(r#"x \"source_line=3\" y"#));
        assert_eq!(field(metadata, "stack_frame_id"), None);
    }

    const TABLES: &str = "HloModule m

FileNames
1 \"/m/model.py\"
2 \"layers.py\"

FunctionNames
1 \"step\"
2 \"block\"
3 \"attention\"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7}
2 {file_name_id=1 function_name_id=2 line=8}
3 {file_name_id=2 function_name_id=3 line=9}
4 {file_name_id=5 function_name_id=3 line=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=4 parent_frame_id=1}
5 {file_location_id=2 parent_frame_id=6}

ENTRY e {
  %a = f32[] parameter(0), metadata={op_name=\"x\" stack_frame_id=3}
  b = f32[] negate(a), metadata={op_name=\"y\" stack_frame_id=9}
  c = f32[] negate(b), metadata={op_name=\"y\" stack_frame_id=4}
  ROOT d = f32[] negate(c), metadata={source_file=\"/m/b.py\" source_line=12 stack_frame_id=5}
}
";

    /// The last lines of the hover of an instruction.
    fn footer(name: &str, expect: Expect) {
        let at = TABLES.find(&format!("{name} = ")).expect("it is there");
        let (analysis, file, _) = open(TABLES);
        let hover = analysis.hover(file, at).expect("nobody cancels").expect("an instruction").markdown();
        expect.assert_eq(hover.rsplit_once("---\n").expect("a footer").1);
    }

    #[test]
    fn the_hover_shows_the_stack() {
        footer(
            "a",
            expect![[r#"
            `x` · `layers.py:9`

            called from
            - [model.py:8](file:///m/model.py#L8) in `block`
            - [model.py:7](file:///m/model.py#L7) in `step`
        "#]],
        );
    }

    #[test]
    fn bad_tables_are_explained() {
        footer(
            "b",
            expect![[r#"
            `y`

            stack\_frame\_id=9: the table StackFrames has no row 9
        "#]],
        );
        footer(
            "c",
            expect![[r#"
            `y`

            stack\_frame\_id=4: the table FileNames has no row 5
        "#]],
        );
        footer(
            "d",
            expect![[r#"
            [model.py:8](file:///m/model.py#L8)

            stack\_frame\_id=5: frame 5 of the table StackFrames calls itself
        "#]],
        );
    }

    #[test]
    fn names_opcodes_and_metadata_lead_to_the_stack() {
        let (analysis, file, _) = open(TABLES);
        let frames = |at: &str| {
            let at = TABLES.find(at).expect("it is there");
            let found = analysis.source_frames(file, at).expect("nobody cancels");
            found.map(|(origin, frames)| (&TABLES[origin], frames.iter().map(|f| f.line).collect::<Vec<_>>()))
        };
        let lines = vec![Some(9), Some(8), Some(7)];
        assert_eq!(frames("parameter(0)"), Some(("parameter", lines.clone())));
        assert_eq!(frames("%a = f32"), Some(("%a", lines.clone())));
        assert_eq!(frames("3}\n  b"), Some(("metadata={op_name=\"x\" stack_frame_id=3}", lines)));
        assert_eq!(frames("f32[] par"), None);
    }
}
