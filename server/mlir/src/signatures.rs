//! The declared types of functions: `func.func @f(%a: A, %b: B {x.y = 1}) -> (C, D)`.

use text::Span;

use crate::lexer::{Token, TokenKind, tokens};
use crate::tree::*;

/// The argument and result types of a function, as spans of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionType {
    pub arguments: Vec<Span>,
    pub results: Vec<Span>,
}

/// The type of a function in the custom form; `None` for other ops, and for unusual text.
pub fn function_type(parse: &Parse, text: &str, id: OpId) -> Option<FunctionType> {
    let op = parse.op(id);
    if op.form != Form::Custom
        || parse.is_continued(id)
        || !matches!(parse.name(id, text), "func.func" | "func")
    {
        return None;
    }
    let (all, errors) = tokens(text, op.name.end as usize, op.head.end as usize, false);
    let symbol = all.iter().position(|t| t.kind == TokenKind::Symbol)?;
    if !errors.is_empty() || all.get(symbol + 1)?.kind != TokenKind::OpenParen {
        return None;
    }
    let (arguments, mut at) = types_between(&all, symbol + 1, text)?;
    let mut results = Vec::new();
    if all.get(at).is_some_and(|t| t.kind == TokenKind::Arrow) {
        at += 1;
        match all.get(at)?.kind {
            TokenKind::OpenParen => (results, at) = types_between(&all, at, text)?,
            _ => {
                let behind = type_end(&all, at)?;
                results.push(Span { start: all[at].span.start, end: all[behind - 1].span.end });
                at = behind;
            }
        }
        // The result is a function type, which does not occur in practice.
        if all.get(at).is_some_and(|t| t.kind == TokenKind::Arrow) {
            return None;
        }
    }
    Some(FunctionType { arguments, results })
}

/// The types between the brackets that open at `open`, and the token after them.
fn types_between(all: &[Token], open: usize, text: &str) -> Option<(Vec<Span>, usize)> {
    let mut types = Vec::new();
    let mut at = open + 1;
    while all.get(at)?.kind != TokenKind::CloseParen {
        // `%a: T`
        if all[at].kind == TokenKind::Value {
            if all.get(at + 1)?.kind != TokenKind::Colon {
                return None;
            }
            at += 2;
        }
        if all.get(at)?.span.of(text) == "..." {
            return None;
        }
        let behind = type_end(all, at)?;
        types.push(Span { start: all[at].span.start, end: all[behind - 1].span.end });
        // Attributes, a location.
        at = behind;
        let mut depth = 0usize;
        loop {
            match all.get(at)?.kind {
                TokenKind::Comma if depth == 0 => {
                    at += 1;
                    break;
                }
                TokenKind::CloseParen if depth == 0 => break,
                kind => depth = deeper(depth, kind)?,
            }
            at += 1;
        }
    }
    Some((types, at + 1))
}

fn deeper(depth: usize, kind: TokenKind) -> Option<usize> {
    use TokenKind::*;
    match kind {
        OpenParen | OpenSquare | OpenAngle | OpenBrace => Some(depth + 1),
        CloseParen | CloseSquare | CloseAngle | CloseBrace => depth.checked_sub(1),
        _ => Some(depth),
    }
}

/// The token after a type of one word with optional angle brackets.
fn type_end(all: &[Token], at: usize) -> Option<usize> {
    if !matches!(all.get(at)?.kind, TokenKind::Word | TokenKind::TypeName) {
        return None;
    }
    let mut behind = at + 1;
    if all.get(behind).is_some_and(|t| t.kind == TokenKind::OpenAngle) {
        let mut depth = 0;
        loop {
            depth = deeper(depth, all.get(behind)?.kind)?;
            behind += 1;
            if depth == 0 {
                break;
            }
        }
    }
    Some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PieceState, parse};

    #[test]
    fn functions_declare_their_types() {
        let check = |text: &str, expect: &str| {
            let parse = parse(text, PieceState::default());
            let shown = function_type(&parse, text, 0).map(|f| {
                let words = |spans: &[Span]| spans.iter().map(|s| s.of(text)).collect::<Vec<_>>().join(" ");
                format!("{} -> {}", words(&f.arguments), words(&f.results))
            });
            assert_eq!(shown.as_deref().unwrap_or("none"), expect, "{text}");
        };
        check("func.func @f() {\n  return\n}\n", " -> ");
        check(
            "func.func private @f(tensor<4x8xf32>, !x.y<a, b>) -> i32\n",
            "tensor<4x8xf32> !x.y<a, b> -> i32",
        );
        check(
            r#"func.func public @f(%a: tensor<4xf32> {x.y = [1, 2]} loc("a"), %b: i1) -> (f32 {x.z}, tensor<2xf32>) attributes {k} {
  return
}
"#,
            "tensor<4xf32> i1 -> f32 tensor<2xf32>",
        );
        check("llvm.func @f(...)\n", "none");
        check("func.func private @f(i32, ...)\n", "none");
        check("func.func @f(%a\n", "none");
    }
}
