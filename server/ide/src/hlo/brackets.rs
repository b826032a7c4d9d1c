//! The tokens of HLO text.

use syntax::Span;
use syntax::hlo::{TokenClass, tokens};

use crate::brackets::{Token, TokenKind, Tokens};
use crate::file_context::FileContext;
use crate::hlo::Hlo;

impl Tokens for Hlo {
    fn tokens(&self, context: &FileContext<'_>, piece: usize, within: Span, found: &mut dyn FnMut(Token)) {
        for token in tokens(&context.block(piece).text, within.start as usize, within.end as usize) {
            found(Token { span: token.span, kind: kind(token.class) });
        }
    }
}

fn kind(class: TokenClass) -> TokenKind {
    match class {
        TokenClass::Bracket(b'}') => TokenKind::Close(b'{'),
        TokenClass::Bracket(b')') => TokenKind::Close(b'('),
        TokenClass::Bracket(b']') => TokenKind::Close(b'['),
        TokenClass::Bracket(opening) => TokenKind::Open(opening),
        TokenClass::Comment => TokenKind::Comment,
        TokenClass::Sign => TokenKind::Sign,
        TokenClass::String
        | TokenClass::Number
        | TokenClass::ElementType
        | TokenClass::Name
        | TokenClass::AttributeName
        | TokenClass::DimLabels
        | TokenClass::Word
        | TokenClass::Bad => TokenKind::Word,
    }
}
