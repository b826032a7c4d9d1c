//! The source files named in metadata.

use syntax::Span;
use syntax::hlo::AttributeKey;

use crate::document_links::{DocumentLink, KnownLocations, SourceFiles};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::hlo::source_location::source_location;

impl SourceFiles for Hlo {
    /// Rows of the table `FileNames`, then for each instruction the path it names, or the number of its stack
    /// frame.
    fn links_in(
        &self,
        context: &FileContext<'_>,
        piece: usize,
        known: &mut KnownLocations,
    ) -> Vec<DocumentLink> {
        let block = context.block(piece);
        let names = block.parse.header.iter().flat_map(|header| &header.file_names).map(|&(_, name)| {
            let path = syntax::hlo::unescape(name.of(&block.text));
            DocumentLink { range: context.range(piece, name), path, line: None }
        });
        let ids = 0..block.parse.instructions.len() as u32;
        names.chain(ids.filter_map(|id| link(context, InstructionRef { piece, id }, known))).collect()
    }
}

fn link(context: &FileContext<'_>, at: InstructionRef, known: &mut KnownLocations) -> Option<DocumentLink> {
    let block = context.block(at.piece);
    let attributes = block.parse.attributes_of(block.instruction(at.id));
    let metadata = attributes.iter().find(|a| a.key == Some(AttributeKey::Metadata))?.value_span;
    let text = metadata.of(&block.text);
    let place = |key: &str, ends: fn(char) -> bool| {
        let from = text.find(key)? + key.len();
        Some((from, from + text[from..].find(ends)?))
    };
    let innermost = || source_location(context, at).frames.into_iter().next();
    let (from, end, location) = match place("source_file=\"", |c| c == '"') {
        Some((from, end)) => (from, end, innermost()),
        None => {
            let (from, end) = place("stack_frame_id=", |c| !c.is_ascii_digit())?;
            let known = known.entry(text[from..end].to_owned()).or_insert_with(innermost);
            (from, end, known.clone())
        }
    };
    let (location, start) = (location?, metadata.start as usize);
    Some(DocumentLink {
        range: context.range(at.piece, Span::new(start + from, start + end)),
        path: location.path,
        line: location.line,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    fn check(text: &str, limit: usize, expect: Expect) {
        let (analysis, file, _) = open(text);
        let links = analysis.document_links(file, limit).expect("nobody cancels");
        let shown = links.iter().map(|l| format!("{} -> {} {:?}\n", &text[l.range.clone()], l.path, l.line));
        expect.assert_eq(&shown.collect::<String>());
    }

    const TEXT: &str = "HloModule m

FileNames
1 \"/src/a.py\"

FunctionNames
1 \"f\"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  a = f32[] parameter(0), metadata={op_name=\"x\" source_file=\"models/b.py\" source_line=12}
  b = f32[] negate(a), metadata={op_name=\"y\" stack_frame_id=1}
  ROOT c = f32[] negate(b), metadata={op_name=\"z\" stack_frame_id=9}
}
";

    #[test]
    fn paths_and_frames_are_links() {
        check(
            TEXT,
            10,
            expect![[r#"
                /src/a.py -> /src/a.py None
                models/b.py -> models/b.py Some(12)
                1 -> /src/a.py Some(7)
            "#]],
        );
        check(
            TEXT,
            2,
            expect![[r#"
                /src/a.py -> /src/a.py None
                models/b.py -> models/b.py Some(12)
            "#]],
        );
    }
}
