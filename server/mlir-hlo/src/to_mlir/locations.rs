//! `metadata={…}` as `loc(…)`.

use ir::{Block, Op};
use rustc_hash::FxHashMap;
use syntax::hlo::AttributeKey;

use crate::strings::mlir_string;

/// Frames of the stack that metadata refers to by number, as places: `"file":1:0`.
#[derive(Debug, Default)]
pub(super) struct Frames(FxHashMap<u32, String>);

impl Frames {
    pub fn of(block: &Block) -> Frames {
        let Some(header) = &block.parse.header else { return Frames::default() };
        let innermost = |&[number, ..]: &[u32; 3]| {
            let frame = header.innermost_frame(number)?;
            let file = frame.file.of(&block.text);
            (!file.is_empty()).then(|| (number, place(file, frame.line)))
        };
        Frames(header.stack_frames.iter().filter_map(innermost).collect())
    }
}

/// ` loc("name"("file":1:0))`, or nothing.
pub(super) fn location(op: &Op, frames: &Frames) -> String {
    let Some(metadata) = op.attributes.text(AttributeKey::Metadata) else { return String::new() };
    let name = quoted(metadata, "op_name=\"").map(mlir_string).filter(|name| !name.is_empty());
    let stated = quoted(metadata, "source_file=\"").filter(|file| !file.is_empty());
    let stated = stated.map(|file| place(file, number(metadata, "source_line=")));
    let frame = || frames.0.get(&number(metadata, "stack_frame_id="));
    match (name, stated.as_ref().or_else(frame)) {
        (Some(name), Some(place)) => format!(" loc(\"{name}\"({place}))"),
        (Some(name), None) => format!(" loc(\"{name}\")"),
        (None, Some(place)) => format!(" loc({place})"),
        (None, None) => String::new(),
    }
}

fn place(file: &str, line: u32) -> String {
    format!("\"{}\":{line}:0", mlir_string(file))
}

/// The letters between the quotes after `key`.
fn quoted<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let rest = &text[text.find(key)? + key.len()..];
    let mut escaped = false;
    let end = rest.find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some(&rest[..end])
}

fn number(text: &str, key: &str) -> u32 {
    let Some(at) = text.find(key) else { return 0 };
    let digits = text[at + key.len()..].bytes().take_while(u8::is_ascii_digit).count();
    text[at + key.len()..at + key.len() + digits].parse().unwrap_or(0)
}
