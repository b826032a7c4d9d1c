//! The tokens of MLIR text.

use mlir::{TokenKind as Kind, tokens};
use syntax::Span;

use crate::brackets::{Token, TokenKind, Tokens};
use crate::file_context::FileContext;
use crate::mlir::Mlir;

impl Tokens for Mlir {
    fn tokens(&self, context: &FileContext<'_>, piece: usize, within: Span, found: &mut dyn FnMut(Token)) {
        let text = &context.mlir_piece(piece).text;
        let (all, _) = tokens(text, within.start as usize, within.end as usize, true);
        for token in all {
            found(Token { span: token.span, kind: kind(token.kind) });
        }
    }
}

fn kind(kind: Kind) -> TokenKind {
    match kind {
        Kind::OpenParen => TokenKind::Open(b'('),
        Kind::OpenSquare => TokenKind::Open(b'['),
        Kind::OpenAngle => TokenKind::Open(b'<'),
        Kind::OpenBrace => TokenKind::Open(b'{'),
        Kind::CloseParen => TokenKind::Close(b'('),
        Kind::CloseSquare => TokenKind::Close(b'['),
        Kind::CloseAngle => TokenKind::Close(b'<'),
        Kind::CloseBrace => TokenKind::Close(b'{'),
        Kind::Comment => TokenKind::Comment,
        Kind::Comma | Kind::Colon | Kind::Equal | Kind::Arrow | Kind::Sign => TokenKind::Sign,
        Kind::Split => TokenKind::Split,
        Kind::Word
        | Kind::Value
        | Kind::Block
        | Kind::Symbol
        | Kind::AttributeName
        | Kind::TypeName
        | Kind::Number
        | Kind::String
        | Kind::Resources
        | Kind::Path
        | Kind::Bad => TokenKind::Word,
    }
}
