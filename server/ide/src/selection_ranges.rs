//! Expanding selections around the cursor, from the token to the file.

use syntax::Span;

use crate::TextRange;
use crate::brackets::{Brackets, TokenKind};
use crate::file_context::FileContext;

/// What surrounds an offset.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// Syntax elements that may contain the offset, in any order.
    pub(crate) elements: Vec<TextRange>,
    /// Where the tokens and brackets around the offset are: a piece, and a part of it.
    pub(crate) tokens_of: Vec<(usize, Span)>,
}

/// The nesting of a text.
pub(crate) trait Nesting {
    /// What surrounds `offset`.
    fn surroundings(&self, _: &FileContext<'_>, _offset: usize) -> Surroundings {
        Surroundings::default()
    }
}

/// The innermost first, each strictly inside the next.
pub(crate) fn selection_ranges(context: &FileContext<'_>, offset: usize) -> Vec<TextRange> {
    let semantics = context.semantics();
    let Surroundings { elements: mut ranges, tokens_of } = semantics.surroundings(context, offset);
    for (piece, within) in tokens_of {
        let mut brackets = Brackets::default();
        let mut keep = |span: Span| {
            let range = context.range(piece, span);
            if range.start <= offset && offset <= range.end {
                ranges.push(range);
            }
        };
        semantics.tokens(context, piece, within, &mut |token| {
            if let Some(pair) = brackets.pair(&token) {
                keep(Span { start: pair.start + 1, end: token.span.start });
                keep(pair);
            }
            match token.kind {
                TokenKind::Open(_) | TokenKind::Close(_) | TokenKind::Sign => {}
                TokenKind::Comment | TokenKind::Word | TokenKind::Split => keep(token.span),
            }
        });
    }
    ranges.push(0..context.view.text.len_bytes());
    chain(ranges, offset)
}

/// The nested ranges around the offset, the smallest first.
fn chain(mut ranges: Vec<TextRange>, offset: usize) -> Vec<TextRange> {
    ranges.retain(|r| r.start <= offset && offset <= r.end && r.start < r.end);
    // At the border of two tokens, prefer the one after the cursor.
    ranges.sort_by_key(|r| (r.len(), std::cmp::Reverse(r.start)));
    let mut chain: Vec<TextRange> = Vec::new();
    for range in ranges {
        let fits = chain.last().is_none_or(|last| {
            range.start <= last.start && last.end <= range.end && range.len() > last.len()
        });
        if fits {
            chain.push(range);
        }
    }
    chain
}
