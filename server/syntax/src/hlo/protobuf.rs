//! HLO protos in protobuf's text format, which XLA dumps beside HLO text. Their syntax is checked, whatever
//! their fields.
//!
//! Source: protobuf's text format specification; `xla/service/hlo.proto` for the fields that start a file.

use super::lexer::Token;
use super::parser::Parser;
use crate::Span;

/// The fields that a file of these protos starts with: HloProto, HloModuleProto, HloSnapshot and its
/// unoptimised form.
const MESSAGES: [&str; 7] = [
    "hlo_module",
    "hlo",
    "buffer_assignment",
    "computations",
    "host_program_shape",
    "schedule",
    "partitions",
];
const SCALARS: [&str; 5] =
    ["name", "entry_computation_name", "entry_computation_id", "id", "execution_platform"];

impl Parser<'_> {
    /// Reports that protos are not analysed, and the first syntax error.
    pub(super) fn protobuf(&mut self, start: usize) {
        self.lexer.jump(start);
        let span = self.lexer.span;
        self.warning_at(
            span,
            "this is a module in protobuf text form, which is not analysed: dump it as HLO text",
        );
        if let Err((at, message)) = check(self.text.as_bytes(), start) {
            let end = at + self.text[at..].chars().next().map_or(0, char::len_utf8);
            self.error_at(Span::new(at, end), message);
        }
        self.lexer.jump(self.text.len());
        debug_assert_eq!(self.lexer.token, Token::End);
    }
}

/// Returns the start of the first field, if the text begins, after comments, with a field of such a proto.
pub(super) fn protobuf_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = skip(bytes, 0);
    // Annotated dumps also have C++ comments.
    while bytes[at..].starts_with(b"//") {
        at = skip(bytes, memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n));
    }
    let word = word_end(bytes, at);
    let behind = skip(bytes, word);
    let name = text.get(at..word)?;
    let is_field = match bytes.get(behind)? {
        b':' => MESSAGES.contains(&name) || SCALARS.contains(&name),
        // A computation may have such a name, but its instructions do not look like fields.
        b'{' | b'<' if MESSAGES.contains(&name) => {
            let inner = skip(bytes, behind + 1);
            let field = skip(bytes, word_end(bytes, inner));
            matches!(bytes.get(field), Some(b':' | b'{' | b'<' | b'}' | b'>'))
        }
        _ => false,
    };
    is_field.then_some(at)
}

/// Returns the offset of the first syntax error, and a message.
fn check(bytes: &[u8], start: usize) -> Result<(), (usize, &'static str)> {
    // The expected closing brackets, with the offsets of the opening ones.
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut at = start;
    loop {
        at = skip(bytes, at);
        let Some(&byte) = bytes.get(at) else {
            return match open.pop() {
                Some((_, opened)) => Err((opened, "the bracket is not closed")),
                None => Ok(()),
            };
        };
        if matches!(byte, b'}' | b'>' | b']') {
            if open.pop().is_none_or(|(close, _)| close != byte) {
                return Err((at, "the bracket closes nothing"));
            }
            at = separator(bytes, at + 1);
            continue;
        }
        if open.last().is_none_or(|(close, _)| *close != b']') {
            at = field_name(bytes, at).ok_or((at, "expects the name of a field"))?;
            at = skip(bytes, at);
            at = skip(bytes, at + usize::from(bytes.get(at) == Some(&b':')));
        }
        match bytes.get(at) {
            Some(b'{') => open.push((b'}', at)),
            Some(b'<') => open.push((b'>', at)),
            Some(b'[') => open.push((b']', at)),
            _ => {
                at = separator(bytes, scalar(bytes, at).ok_or((at.min(bytes.len()), "expects a value"))?);
                continue;
            }
        }
        at += 1;
    }
}

/// Skips whitespace and comments.
fn skip(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += bytes[at.min(bytes.len())..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        if bytes.get(at) != Some(&b'#') {
            return at.min(bytes.len());
        }
        at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
    }
}

fn separator(bytes: &[u8], at: usize) -> usize {
    let behind = skip(bytes, at);
    if matches!(bytes.get(behind), Some(b',' | b';')) { behind + 1 } else { at }
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count()
}

/// `name`, or `[package.extension]`.
fn field_name(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at] == b'[' {
        return Some(at + memchr::memchr(b']', &bytes[at..])? + 1);
    }
    Some(word_end(bytes, at)).filter(|&end| end > at)
}

/// Consecutive strings are one value; numbers and names are words with signs.
fn scalar(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut end = None;
    while let Some(&quote @ (b'"' | b'\'')) = bytes.get(at) {
        let mut close = at + 1;
        loop {
            close += memchr::memchr3(quote, b'\\', b'\n', bytes.get(close..)?)?;
            match bytes[close] {
                b'\\' => close += 2,
                b'\n' => return None,
                _ => break,
            }
        }
        end = Some(close + 1);
        at = skip(bytes, close + 1);
    }
    if end.is_some() {
        return end;
    }
    let is_of_word = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'-');
    let len = bytes.get(at..)?.iter().take_while(is_of_word).count();
    (len > 0).then_some(at + len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::{PieceState, parse, split};

    #[test]
    fn protos_of_all_fields_are_read_without_an_error() {
        let proto = r#"# proto-file: xla/service/hlo.proto
hlo_module {
  name: "m" id: 3
  computations {
    instructions {
      name: 'p' opcode: "parameter"
      shape { element_type: F32 dimensions: 4 layout { minor_to_major: 0 tail_padding_alignment_in_elements: 1 } is_dynamic_dimension: false }
      backend_config: "\010\001{" "x}"
      operand_ids: [1, -2, 3];
      sharding < type: REPLICATED metadata { op_name: "a" } >
      literal { f32s: -inf f32s: 1.5e-3 f32s: nan }
      frontend_attributes { map { key: "k", value: "v" } }
      [xla.extension.of] { a: 1 }
    }
  }
}
buffer_assignment {
  logical_buffers { id: 0 size: 16 defined_at { instruction_id: 1 shape_index: [] } }
}
"#;
        for text in [
            proto,
            r#"name: "m"
entry_computation_name: "e"
computations {
  name: "e"
}
"#,
        ] {
            assert!(protobuf_start(text).is_some(), "{text}");
            assert!(split(text, PieceState::HEADER, 0).pieces.is_empty(), "one piece: {text}");
            let read = parse(text, PieceState::HEADER);
            assert_eq!((read.errors, read.warnings.len()), (Vec::new(), 1), "{text}");
        }
    }

    #[test]
    fn what_is_no_text_form_is_an_error_at_its_place() {
        for (text, at, message) in [
            ("hlo_module { name: \"m\" ", 11, "the bracket is not closed"),
            ("hlo_module { name: \"m\" } }", 25, "the bracket closes nothing"),
            ("hlo_module { name: \"m }", 19, "expects a value"),
            ("hlo_module { a: 1 : }", 18, "expects the name of a field"),
        ] {
            let read = parse(text, PieceState::HEADER);
            let found: Vec<_> = read.errors.iter().map(|e| (e.span.start, e.message.as_str())).collect();
            assert_eq!(found, [(at, message)], "{text}");
        }
    }

    #[test]
    fn computations_of_hlo_are_none() {
        for text in
            ["computations { p = f32[] parameter(0) }", "hlo { ROOT p = f32[] parameter(0) }", "name {"]
        {
            assert_eq!(protobuf_start(text), None, "{text}");
        }
    }
}
