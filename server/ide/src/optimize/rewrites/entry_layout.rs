//! The edits of `entry_computation_layout` in the header.

use ir::Shape;
use passes::Module;

use crate::file_context::FileContext;
use crate::{TextEdit, TextRange};

/// The edits; `None` if the header states layouts that are not found in the text.
pub(super) fn edits(context: &FileContext<'_>, before: &Module, after: &Module) -> Option<Vec<TextEdit>> {
    let (Some((parameters, result)), Some((new_parameters, new_result))) =
        (&before.header.entry_layout, &after.header.entry_layout)
    else {
        return Some(Vec::new());
    };
    if parameters == new_parameters && result == new_result {
        return Some(Vec::new());
    }
    let piece = context.module().first_piece(0)?;
    let block = context.block(piece);
    let attributes = &block.parse.header.as_ref()?.attributes;
    let is_layout = |key: syntax::Span| key.of(&block.text) == "entry_computation_layout";
    let (_, value) = attributes.iter().find(|(key, _)| is_layout(*key))?;
    let start = context.range(piece, *value).start;
    let shapes = shapes(value.of(&block.text));
    let (last, written) = shapes.split_last()?;
    if written.len() != parameters.len() {
        return None;
    }
    let places = written.iter().zip(parameters.iter().zip(new_parameters));
    let places = places.chain(std::iter::once((last, (result, new_result))));
    let changed = places.filter(|(_, (old, new))| old != new);
    let edit = |(range, (_, new)): (&TextRange, (&Shape, &Shape))| TextEdit {
        range: start + range.start..start + range.end,
        insert: new.with_default_layouts().to_string(),
    };
    Some(changed.map(edit).collect())
}

/// The places of the shapes in `{(f32[2]{0}, /*index=1*/f32[])->f32[2]{0}}`, that of the result last.
fn shapes(value: &str) -> Vec<TextRange> {
    let Some((parameters, result)) = value.split_once("->") else { return Vec::new() };
    let (open, close) = (parameters.find('(').map_or(0, |at| at + 1), parameters.rfind(')').unwrap_or(0));
    let mut found = Vec::new();
    let (mut depth, mut start) = (0i32, open);
    for (at, byte) in parameters.bytes().enumerate().take(close).skip(open) {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth -= 1,
            b',' if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    if open < close {
        found.push(start..close);
    }
    let behind = value.len() - result.len();
    found.push(behind..value.rfind('}').unwrap_or(value.len()).max(behind));
    found.into_iter().map(|range| bare(value, range)).collect()
}

/// A range without spaces at its ends and without a comment in front.
fn bare(value: &str, mut range: TextRange) -> TextRange {
    let text = value[range.clone()].trim_end();
    range.end = range.start + text.len();
    let text = text.trim_start();
    let text = match text.strip_prefix("/*").and_then(|text| text.split_once("*/")) {
        Some((_, shape)) => shape.trim_start(),
        None => text,
    };
    range.end - text.len()..range.end
}

#[cfg(test)]
mod tests {
    #[test]
    fn shapes_of_a_header_are_found() {
        for (value, expect) in [
            (
                "{(f32[2,3]{1,0}, /*index=1*/f32[], (s8[4]{0}, pred[]))->(f32[2]{0}, f32[])}",
                &["f32[2,3]{1,0}", "f32[]", "(s8[4]{0}, pred[])", "(f32[2]{0}, f32[])"][..],
            ),
            ("{()->f32[2]{0}}", &["f32[2]{0}"]),
            ("{(f32[2]{0:T(8,128)} )-> f32[] }", &["f32[2]{0:T(8,128)}", "f32[]"]),
        ] {
            let found: Vec<&str> = super::shapes(value).into_iter().map(|range| &value[range]).collect();
            assert_eq!(found, expect);
        }
    }
}
