//! Integers of constant ops: `arith.constant 4 : index`.

use mlir::{OpId, Parse, TokenKind};

/// Bytes of a payload that are read: places, sizes and shapes are short.
const MAX_PAYLOAD: usize = 1 << 14;

/// The integers of a constant op, one for a splat: `stablehlo.constant dense<[1, 2]> : tensor<2xi32>`.
pub fn constant_integers(parse: &Parse, text: &str, op: OpId) -> Option<Vec<i64>> {
    let read = |payload: &str| (payload.len() <= MAX_PAYLOAD).then(|| mlir::integers(payload)).flatten();
    if let Some(value) = parse.attribute(op, "value", text) {
        return read(value);
    }
    let found = parse.op(op);
    let body = found.head.of(text).get((found.name.end.saturating_sub(found.head.start)) as usize..)?;
    read(&body[body.find("dense<").or_else(|| body.find('['))?..])
}

/// The integer of a constant op: `arith.constant 4 : index`.
pub fn constant_integer(parse: &Parse, text: &str, op: OpId) -> Option<i64> {
    if let Some(value) = parse.attribute(op, "value", text) {
        return mlir::integer(value);
    }
    let found = parse.op(op);
    let span = found.head;
    let from = (found.name.end as usize).min(span.end as usize);
    // The number is close to the op's name; a longer text is a payload.
    let to = (span.end as usize).min(from + 64);
    let to = (from..=to).rev().find(|&at| text.is_char_boundary(at))?;
    // The usual form.
    let written = text[from..to].trim_start_matches(' ');
    if let Some((number, behind)) = leading_number(written)
        && behind.trim_start_matches(' ').strip_prefix(':').is_some_and(|behind| !behind.starts_with(':'))
    {
        return Some(number);
    }
    let (tokens, _) = mlir::tokens(text, from, to, false);
    let mut tokens = tokens.iter().peekable();
    let minus = tokens.next_if(|t| t.span.of(text) == "-").is_some();
    let number = tokens.next().filter(|t| t.kind == TokenKind::Number)?.span.of(text);
    if tokens.next().is_some_and(|t| t.kind != TokenKind::Colon) {
        return None;
    }
    let number: i64 = number.parse().ok()?;
    Some(if minus { -number } else { number })
}

/// The number at the start of a text, and the rest.
pub fn leading_number(text: &str) -> Option<(i64, &str)> {
    let len = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..len].parse().ok()?, &text[len..]))
}
