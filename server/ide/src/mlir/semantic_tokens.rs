//! The kind of each token, for highlighting: an argument looks the same at its definition and its uses.

use std::ops::Range;

use db::{Elsewhere, ExportKind};
use mlir::{Definition, Token, TokenKind as Kind, tokens};

use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::semantic_tokens::{Highlighting, SemanticToken, TokenKind, TokenModifier, TokenModifiers};

impl Highlighting for Mlir {
    fn tokens_in(&self, context: &FileContext<'_>, piece: usize, range: Range<usize>) -> Vec<SemanticToken> {
        let read = context.mlir_piece(piece);
        let (parse, text) = (&read.parse, &*read.text);
        let range = range.start.min(text.len())..range.end.min(text.len());
        // Tokens end with their lines, except resources, which are an op of their own.
        let before = text.as_bytes()[..range.start].iter().rposition(|&b| b == b'\n');
        let line = before.map_or(0, |n| n + 1);
        let from = match parse.op_at(range.start).map(|id| parse.op(id)) {
            Some(op) if op.form == mlir::Form::Resources => line.min(op.span.start as usize),
            _ => line,
        };
        // A token that the end of the range cuts is included whole.
        let behind = text.as_bytes()[range.end..].iter().position(|&b| b == b'\n');
        let to = behind.map_or(text.len(), |n| range.end + n);
        let (all, _) = tokens(text, from, to, true);
        let names = Names::of(context, piece, from as u32..to as u32);
        let mut names = names.0.iter().peekable();
        let mut found = Vec::new();
        for (nth, token) in all.iter().enumerate() {
            while names.next_if(|n| n.start < token.span.start).is_some() {}
            let named = names.next_if(|n| n.start == token.span.start);
            let (kind, modifiers) = match named {
                Some(name) => (name.kind, name.modifiers),
                None => match by_letters(text, &all, nth, token) {
                    Some(kind) => (kind, TokenModifiers::default()),
                    None => continue,
                },
            };
            found.push(SemanticToken { range: context.range(piece, token.span), kind, modifiers });
        }
        found
    }
}

/// The kind of a token that refers to nothing.
fn by_letters(text: &str, all: &[Token], nth: usize, token: &Token) -> Option<TokenKind> {
    let next = all.get(nth + 1).map(|t| t.kind);
    Some(match token.kind {
        Kind::Comment | Kind::Split => TokenKind::Comment,
        Kind::String if next == Some(Kind::Equal) => TokenKind::AttributeName,
        Kind::String | Kind::Resources => TokenKind::String,
        Kind::Number => TokenKind::Number,
        Kind::Value => TokenKind::Instruction,
        Kind::Symbol => TokenKind::Computation,
        Kind::TypeName => TokenKind::ElementType,
        Kind::AttributeName => TokenKind::EnumValue,
        Kind::Block => TokenKind::Keyword,
        Kind::Word => {
            let word = token.span.of(text);
            let behind_number = nth > 0 && all[nth - 1].span.end == token.span.start && word.starts_with('x');
            if next == Some(Kind::Equal) {
                TokenKind::AttributeName
            } else if is_type(word) || behind_number {
                TokenKind::ElementType
            } else if matches!(word, "true" | "false" | "unit") {
                TokenKind::EnumValue
            } else if matches!(
                word,
                "loc" | "attributes" | "private" | "public" | "nested" | "dense" | "array"
            ) {
                TokenKind::Keyword
            } else {
                return None;
            }
        }
        _ => return None,
    })
}

fn is_type(word: &str) -> bool {
    matches!(word, "tensor" | "memref" | "vector" | "tuple" | "complex" | "index" | "none")
        || mlir::element_bits(word).is_some()
}

struct Name {
    start: u32,
    kind: TokenKind,
    modifiers: TokenModifiers,
}

/// Named entities in a part of a piece, sorted by offset.
struct Names(Vec<Name>);

impl Names {
    fn of(context: &FileContext<'_>, piece: usize, range: Range<u32>) -> Names {
        let read = context.mlir_piece(piece);
        let (parse, text) = (&read.parse, &*read.text);
        let elsewhere = Elsewhere::of(context.db, context.piece_input(piece));
        let links = context.mlir_links(piece);
        let mut names = Vec::new();
        let is_here = |start: u32| range.contains(&start);
        let declared = TokenModifiers::default().with(TokenModifier::Declaration, true);
        for op in parse.ops.iter().filter(|op| is_here(op.name.start) && !op.name.is_empty()) {
            let kind = match op.form {
                mlir::Form::Alias if op.name.of(text).starts_with('!') => TokenKind::ElementType,
                mlir::Form::Alias => TokenKind::EnumValue,
                mlir::Form::Resources => TokenKind::String,
                mlir::Form::Custom | mlir::Form::Generic => TokenKind::Opcode,
            };
            names.push(Name { start: op.name.start, kind, modifiers: TokenModifiers::default() });
        }
        let of_value = |value: u32| {
            let (kind, op) = match parse.values[value as usize].definition {
                Definition::Result(op) => (TokenKind::Instruction, Some(op)),
                Definition::BlockArgument(_) | Definition::Binder(_) => (TokenKind::Parameter, None),
            };
            let is_constant = op.is_some_and(|op| mlir::is_constant(parse.name(op, text)));
            (kind, is_constant)
        };
        for (id, value) in parse.values.iter().enumerate().filter(|(_, v)| is_here(v.name.start)) {
            let (kind, is_constant) = of_value(id as u32);
            let modifiers = declared.with(TokenModifier::Readonly, is_constant);
            names.push(Name { start: value.name.start, kind, modifiers });
        }
        for (nth, used) in parse.uses.iter().enumerate().filter(|(_, u)| is_here(u.span.start)) {
            let of_other_piece = || {
                let kind = elsewhere.as_ref()?.kind(links.of_use(nth)?)?;
                let is_argument = kind == ExportKind::Argument;
                let token = if is_argument { TokenKind::Parameter } else { TokenKind::Instruction };
                Some((token, kind == ExportKind::Constant))
            };
            if let Some((kind, is_constant)) = used.value.map(of_value).or_else(of_other_piece) {
                let modifiers = TokenModifiers::default().with(TokenModifier::Readonly, is_constant);
                names.push(Name { start: used.span.start, kind, modifiers });
            }
        }
        for symbol in parse.symbols.iter().filter(|s| s.is_definition && is_here(s.span.start)) {
            names.push(Name { start: symbol.span.start, kind: TokenKind::Computation, modifiers: declared });
        }
        names.sort_by_key(|n| n.start);
        names.dedup_by_key(|n| n.start);
        Names(names)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;

    #[test]
    fn tokens_mean_what_their_names_stand_for() {
        let (analysis, file, _) = open_mlir(
            r#"func.func @f(%a: tensor<4xf32>) {
  %c = x.constant 1.0 : f32 // c
  "x.y"(%c, %a) {k = #x.z} : (f32, !t) -> ()
}
"#,
        );
        let text = analysis.text(file).to_string();
        let shown = |range| -> Vec<String> {
            let tokens = analysis.semantic_tokens(file, range, 100).expect("nobody cancels").expect("few");
            tokens
                .iter()
                .map(|t| {
                    format!(
                        "{} {:?}{}",
                        &text[t.range.clone()],
                        t.kind,
                        if t.modifiers.0 == 0 { "" } else { "*" }
                    )
                })
                .collect()
        };
        let all = shown(0..text.len());
        assert_eq!(
            all.join(", "),
            "func.func Opcode, @f Computation*, %a Parameter*, tensor ElementType, 4 Number, xf32 ElementType, %c Instruction*, x.constant Opcode, 1.0 Number, f32 ElementType, // c Comment, \"x.y\" Opcode, %c Instruction*, %a Parameter, k AttributeName, #x.z EnumValue, f32 ElementType, !t ElementType"
        );
        // A range of the text has the tokens of that range.
        for start in 0..text.len() {
            for end in [start + 1, start + 9] {
                for token in shown(start..end.min(text.len())) {
                    assert!(all.contains(&token), "{token}");
                }
            }
        }
    }
}
