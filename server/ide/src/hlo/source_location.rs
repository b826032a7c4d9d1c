//! The framework name and the stack of an instruction, from its metadata and the tables at the head of the module.

use syntax::Span;
use syntax::hlo::{AttributeKey, SourceMetadata, source_metadata};

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
    // The tables are in the first piece.
    let header = context.block(0);
    let written = header.parse.header.as_ref().map(|written| (written, &*header.text));
    source_metadata(metadata.value_span.of(&block.text), written).into()
}

impl From<SourceMetadata> for SourceLocation {
    fn from(SourceMetadata { op_name, frames, problem }: SourceMetadata) -> SourceLocation {
        let frames = frames.into_iter().map(|frame| SourceFrame {
            function: frame.function,
            path: frame.path,
            line: frame.line,
        });
        SourceLocation { op_name, frames: frames.collect(), problem }
    }
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

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
