//! The framework name and source line of an instruction, from its metadata.

use syntax::hlo::{AttributeKey, Parse, unescape};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::source_location::SourceLocation;

pub(crate) fn source_location(context: &FileContext<'_>, at: InstructionRef) -> SourceLocation {
    let block = context.block(at.piece);
    let attributes = block.parse.attributes_of(block.instruction(at.id));
    let Some(metadata) = attributes.iter().find(|a| a.key == Some(AttributeKey::Metadata)) else {
        return SourceLocation::default();
    };
    let text = metadata.value_span.of(&block.text);
    let number = |key| field(text, key).and_then(|v| v.parse().ok());
    let string = |key| field(text, key).filter(|v| !v.is_empty()).map(unescape);
    let mut location = SourceLocation {
        op_name: string("op_name"),
        file: string("source_file"),
        line: number("source_line"),
    };
    if let (None, Some(frame)) = (&location.file, number("stack_frame_id")) {
        // The tables are in the first piece.
        let header = context.block(0);
        if let Some((file, line)) = frame_location(&header.parse, &header.text, frame) {
            location.file = Some(file);
            location.line = Some(line);
        }
    }
    location
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

/// File and line of a row of `StackFrames`.
fn frame_location(parse: &Parse, text: &str, frame: u32) -> Option<(String, u32)> {
    let header = parse.header.as_ref()?;
    let &[_, location, _] = header.stack_frames.iter().find(|row| row[0] == frame)?;
    let &[_, file, _, line] = header.file_locations.iter().find(|row| row[0] == location)?;
    let &(_, name) = header.file_names.iter().find(|row| row.0 == file)?;
    Some((unescape(name.of(text)), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_quoted_text() {
        let metadata = r#"{op_type="a" op_name="x \"source_line=3\" y" source_file="/m.py", source_line=12}"#;
        assert_eq!(field(metadata, "source_line"), Some("12"));
        assert_eq!(field(metadata, "op_name"), Some(r#"x \"source_line=3\" y"#));
        assert_eq!(field(metadata, "stack_frame_id"), None);
    }
}
