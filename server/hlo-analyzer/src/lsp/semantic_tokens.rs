//! Semantic tokens in LSP form: positions relative to the previous token, complete or as a delta.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ide::{TokenKind, TokenModifier};
use ropey::Rope;
use text::position::{self, PositionEncoding};
use tower_lsp::lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensEdit, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, Url,
};

/// Texts with more tokens get no full response: clients that support ranges then request those.
pub(super) const MAX_FULL: usize = 250_000;
/// The limit for a range; one line may hold a constant of megabytes.
pub(super) const MAX_RANGE: usize = 50_000;
/// The number of documents whose last response is cached.
const REMEMBERED: usize = 8;

pub(super) fn options() -> SemanticTokensOptions {
    SemanticTokensOptions {
        work_done_progress_options: Default::default(),
        legend: SemanticTokensLegend {
            token_types: TokenKind::ALL.map(token_type).to_vec(),
            token_modifiers: TokenModifier::ALL.map(token_modifier).to_vec(),
        },
        range: Some(true),
        full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
    }
}

/// Maps to the standard types, which every colour theme supports.
fn token_type(kind: TokenKind) -> SemanticTokenType {
    match kind {
        TokenKind::Module => SemanticTokenType::NAMESPACE,
        TokenKind::Computation => SemanticTokenType::FUNCTION,
        TokenKind::Instruction => SemanticTokenType::VARIABLE,
        TokenKind::Parameter => SemanticTokenType::PARAMETER,
        TokenKind::Opcode => SemanticTokenType::METHOD,
        TokenKind::ElementType => SemanticTokenType::TYPE,
        TokenKind::AttributeName => SemanticTokenType::PROPERTY,
        TokenKind::EnumValue => SemanticTokenType::ENUM_MEMBER,
        TokenKind::Keyword => SemanticTokenType::KEYWORD,
        TokenKind::Number => SemanticTokenType::NUMBER,
        TokenKind::String => SemanticTokenType::STRING,
        TokenKind::Comment => SemanticTokenType::COMMENT,
    }
}

fn token_modifier(modifier: TokenModifier) -> SemanticTokenModifier {
    match modifier {
        TokenModifier::Declaration => SemanticTokenModifier::DECLARATION,
        TokenModifier::Readonly => SemanticTokenModifier::READONLY,
        TokenModifier::Async => SemanticTokenModifier::ASYNC,
        TokenModifier::Entry => SemanticTokenModifier::new("entry"),
    }
}

/// The last full response for some documents, used for deltas. At most [`REMEMBERED`] responses of
/// [`MAX_FULL`] tokens of 20 bytes; the oldest is evicted first.
#[derive(Default)]
pub(super) struct TokenCache {
    last_id: AtomicU64,
    sent: Mutex<VecDeque<Sent>>,
}

struct Sent {
    uri: Url,
    id: String,
    tokens: Vec<SemanticToken>,
}

impl TokenCache {
    /// Takes the response with this id, if it is the last one for the document.
    pub(super) fn take(&self, uri: &Url, id: &str) -> Option<Vec<SemanticToken>> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let at = sent.iter().position(|s| s.uri == *uri && s.id == id)?;
        sent.remove(at).map(|s| s.tokens)
    }

    /// Caches a response and returns its id.
    pub(super) fn put(&self, uri: &Url, tokens: Vec<SemanticToken>) -> String {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed).to_string();
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.retain(|s| s.uri != *uri);
        sent.truncate(REMEMBERED - 1);
        sent.push_front(Sent { uri: uri.clone(), id: id.clone(), tokens });
        id
    }
}

/// One edit from the first differing token to the last. Offsets count integers, five per token.
pub(super) fn difference(before: &[SemanticToken], after: &[SemanticToken]) -> Vec<SemanticTokensEdit> {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same..], &after[same..]);
    let same_end = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (gone, new) = (&before[..before.len() - same_end], &after[..after.len() - same_end]);
    if gone.is_empty() && new.is_empty() {
        return Vec::new();
    }
    let numbers = |tokens: usize| u32::try_from(tokens * 5).unwrap_or(u32::MAX);
    let data = Some(new.to_vec()).filter(|new| !new.is_empty());
    vec![SemanticTokensEdit { start: numbers(same), delete_count: numbers(gone.len()), data }]
}

/// Multi-line tokens are split at line ends, which every client supports.
pub(super) fn encode(
    text: &Rope,
    encoding: PositionEncoding,
    tokens: &[ide::SemanticToken],
) -> Vec<SemanticToken> {
    let mut encoded = Vec::with_capacity(tokens.len());
    let mut line = Line::at(text, 0);
    let (mut last_line, mut last_start) = (0, 0);
    for token in tokens {
        let mut start = token.range.start;
        while start < token.range.end {
            if start >= line.next {
                line = Line::at(text, start);
            }
            let end = token.range.end.min(line.end);
            if start < end {
                let (from, to) = (line.column(text, start, encoding), line.column(text, end, encoding));
                let delta_line = line.number - last_line;
                let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                encoded.push(SemanticToken {
                    delta_line: number(delta_line),
                    delta_start: number(if delta_line == 0 { from - last_start } else { from }),
                    length: number(to - from),
                    token_type: token.kind as u32,
                    token_modifiers_bitset: token.modifiers.0,
                });
                (last_line, last_start) = (line.number, from);
            }
            start = line.next.max(start + 1);
        }
    }
    encoded
}

/// The line being encoded. Most lines are ASCII, where columns need no counting.
struct Line {
    number: usize,
    start: usize,
    /// The end of the line, without the line break.
    end: usize,
    next: usize,
    is_ascii: bool,
}

impl Line {
    fn at(text: &Rope, offset: usize) -> Line {
        let number = text.byte_to_line(offset.min(text.len_bytes()));
        let start = text.line_to_byte(number);
        let slice = text.line(number);
        let next = start + slice.len_bytes();
        let end = next - line_break(slice);
        Line {
            number,
            start,
            end,
            next: next.max(start + 1),
            is_ascii: slice.len_bytes() == slice.len_chars(),
        }
    }

    fn column(&self, text: &Rope, offset: usize, encoding: PositionEncoding) -> usize {
        match self.is_ascii || encoding == PositionEncoding::Utf8 {
            true => offset - self.start,
            false => position::position(text, offset, encoding).column,
        }
    }
}

fn line_break(line: ropey::RopeSlice<'_>) -> usize {
    let len = line.len_bytes();
    let last = |back: usize| len.checked_sub(back).map(|at| line.byte(at));
    match (last(2), last(1)) {
        (Some(b'\r'), Some(b'\n')) => 2,
        (_, Some(b'\n' | b'\r')) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(range: std::ops::Range<usize>) -> ide::SemanticToken {
        ide::SemanticToken { range, kind: TokenKind::Comment, modifiers: ide::TokenModifiers::default() }
    }

    fn check(text: &str, encoding: PositionEncoding, ranges: &[std::ops::Range<usize>], expect: &[[u32; 3]]) {
        let tokens: Vec<_> = ranges.iter().cloned().map(token).collect();
        let encoded = encode(&Rope::from_str(text), encoding, &tokens);
        let found: Vec<_> = encoded.iter().map(|t| [t.delta_line, t.delta_start, t.length]).collect();
        assert_eq!(found, expect, "{text:?} {encoding:?}");
    }

    #[test]
    fn places_are_relative_and_counted_as_agreed() {
        use PositionEncoding::{Utf8, Utf16, Utf32};
        check("ab cd\n  ef", Utf16, &[0..2, 3..5, 8..10], &[[0, 0, 2], [0, 3, 2], [1, 2, 2]]);
        check("é😀 x", Utf8, &[0..6, 7..8], &[[0, 0, 6], [0, 7, 1]]);
        check("é😀 x", Utf16, &[0..6, 7..8], &[[0, 0, 3], [0, 4, 1]]);
        check("é😀 x", Utf32, &[0..6, 7..8], &[[0, 0, 2], [0, 3, 1]]);
    }

    #[test]
    fn tokens_of_several_lines_are_cut() {
        use PositionEncoding::Utf16;
        check("/* a\r\n\n  b */ c\n", Utf16, &[0..13, 14..15], &[[0, 0, 4], [2, 0, 6], [0, 7, 1]]);
        check("/* a\n", Utf16, std::slice::from_ref(&(0..5)), &[[0, 0, 4]]);
    }

    #[test]
    fn a_difference_leads_from_one_to_the_other() {
        let token = |n: u32| SemanticToken { delta_start: n, ..SemanticToken::default() };
        for (before, after) in
            [("abc", "abc"), ("abc", "axc"), ("", "abc"), ("abc", ""), ("aaa", "aa"), ("abab", "ab")]
        {
            let of = |text: &str| text.bytes().map(|b| token(u32::from(b))).collect::<Vec<_>>();
            let (before, after) = (of(before), of(after));
            let mut patched = before.clone();
            for edit in difference(&before, &after) {
                let start = edit.start as usize / 5;
                let end = start + edit.delete_count as usize / 5;
                patched.splice(start..end, edit.data.unwrap_or_default());
            }
            assert_eq!(patched, after);
        }
    }
}
