//! Cuts a large text on all cores, in segments. The start state of each segment is guessed from the columns
//! of its first lines; if the state at the end of a segment differs from the next guess, its reader continues
//! until a guess is right.

use memchr::memchr;

use crate::lexer::{TokenKind, tokens};
use crate::piece_state::PieceState;
use crate::pieces::{Cutter, Lengths};
use crate::plain_lines::{Line, classify, may_hold_resources};
use crate::words::is_function_like;

/// Fixed, so that a text is cut the same way on every machine.
const SEGMENT: usize = 512 << 10;
/// The divisor of the segment length that gives the window, in bytes, for a good start after the nominal one.
const WINDOW: usize = 4;
/// The columns by which MLIR's printer indents a region.
const INDENT: usize = 2;

/// The cuts of a text, as [`text::Cuts`].
pub fn split(text: &str, state: u8, min_bytes: usize) -> text::Cuts {
    split_in_segments(text, state, min_bytes, SEGMENT)
}

/// [`split`] with segments of about this many bytes.
pub fn split_in_segments(text: &str, state: u8, min_bytes: usize, segment: usize) -> text::Cuts {
    let segment = segment.max(1);
    let starts = (1..text.len() / segment).filter_map(|n| start_behind(text, n * segment, segment / WINDOW));
    let mut segments = vec![(0, PieceState::from_u8(state))];
    segments.extend(starts);
    segments.dedup_by_key(|segment| segment.0);

    let (has_resources, lengths) = (may_hold_resources(text), Lengths::of(text, min_bytes));
    let end_of = |n: usize| segments.get(n + 1).map_or(text.len(), |next| next.0);
    let read = |n: usize| {
        let (start, state) = segments[n];
        let mut cutter = Cutter::new(&text[start..], state, lengths, has_resources);
        cutter.run_to(end_of(n) - start);
        cutter
    };
    let mut joined = text::Cuts::default();
    let mut ahead: Option<Vec<Option<Cutter<'_>>>> = None;
    let mut n = 0;
    while let Some(&(start, state)) = segments.get(n) {
        let read_ahead = ahead.as_mut().and_then(|ahead| ahead[n].take());
        let mut cutter = read_ahead.unwrap_or_else(|| read(n));
        loop {
            n += 1;
            let Some(&(next, guess)) = segments.get(n) else { break };
            if start + cutter.at() == next && cutter.has_read() && cutter.end() == Some(guess) {
                // If one guess is right, so are most.
                ahead.get_or_insert_with(|| {
                    parallel::map(segments.len(), |behind| (behind >= n).then(|| read(behind)))
                });
                break;
            }
            cutter.run_to(end_of(n) - start);
        }
        let cuts = cutter.into_cuts();
        if start > 0 {
            joined.pieces.push((start, state.to_u8()));
        }
        joined.pieces.extend(cuts.pieces.into_iter().map(|(at, state)| (start + at, state)));
        joined.end = cuts.end;
    }
    joined
}

/// The first line of a function that starts in the `window` bytes after `from`; if there is none, the first
/// op in the leftmost column.
fn start_behind(text: &str, from: usize, window: usize) -> Option<(usize, PieceState)> {
    let bytes = text.as_bytes();
    let end = (from + window).min(bytes.len());
    let mut at = from + memchr(b'\n', &bytes[from..end])? + 1;
    let mut found: Option<(usize, usize, PieceState)> = None;
    while at < end {
        let behind = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n + 1);
        let line = &text[at..behind];
        if let Some(state) = function_at(line) {
            return Some((at, state));
        }
        if let Some((column, state)) = op_at(line)
            && found.is_none_or(|(_, least, _)| column < least)
        {
            found = Some((at, column, state));
        }
        at = behind;
    }
    found.map(|(at, _, state)| (at, state))
}

fn column_of(line: &str) -> usize {
    line.bytes().take_while(|&b| b == b' ').count()
}

/// The state before a line on which a function starts, assuming printed text.
pub(crate) fn function_at(line: &str) -> Option<PieceState> {
    let column = column_of(line);
    starts_function(line, column).then(|| in_modules(column))
}

/// The column of an op that fills its line, and the state there, assuming printed text in the body of a
/// function.
pub(crate) fn op_at(line: &str) -> Option<(usize, PieceState)> {
    let column = column_of(line);
    let function = column.checked_sub(INDENT)?;
    let state = in_modules(function).in_function(function)?;
    matches!(classify(line), Line::Plain { .. }).then_some((column, state))
}

fn in_modules(column: usize) -> PieceState {
    PieceState { depth: u8::try_from(column / INDENT).unwrap_or(u8::MAX), ..PieceState::default() }
}

/// Whether a function starts here without doubt, with more text on its line.
fn starts_function(line: &str, column: usize) -> bool {
    let word = &line[column..];
    let word = &word[..word
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')))
        .unwrap_or(word.len())];
    if !is_function_like(word) {
        return false;
    }
    let (tokens, _) = tokens(line, column, line.len(), false);
    let is_name = |kind| matches!(kind, TokenKind::Symbol | TokenKind::Word | TokenKind::String);
    let next = tokens.get(1).filter(|next| is_name(next.kind));
    tokens.first().is_some_and(|first| first.kind == TokenKind::Word)
        && next.is_some_and(|next| (next.span.end as usize) < line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of functions, one of them long.
    fn module() -> String {
        let op = "    %0 = a.b %a : f32\n";
        let loops = "    a.c {\n      %1 = a.b %a : f32\n    }\n";
        let function = |n: usize, ops: usize| {
            format!("  func.func @f{n}(%a: f32) {{\n{}{loops}    return\n  }}\n", op.repeat(ops))
        };
        let functions = (0..200).map(|n| function(n, if n == 99 { 2000 } else { n % 9 }));
        format!("module {{\n{}}}\n", functions.collect::<String>())
    }

    /// Guesses of both kinds are right in printed text; after wrong ones the text is read again.
    #[test]
    fn what_is_open_at_a_segment_is_what_is_open_there_in_the_text() {
        let sound = module();
        let broken = sound.replacen("@f50(%a: f32) {", "@f50(%a: f32) { x.y {", 1);
        let flat = sound.replace("\n    ", "\n").replace("\n  ", "\n");
        for (text, is_guessed) in [(&sound, true), (&broken, true), (&flat, false)] {
            let cuts = split_in_segments(text, 0, 100, 2000);
            assert!(cuts.pieces.is_sorted_by(|a, b| a.0 < b.0));
            let mut from = (0, 0);
            for &(at, state) in &cuts.pieces {
                let end = split_in_segments(&text[from.0..at], from.1, usize::MAX, usize::MAX).end;
                assert_eq!(end, Some(state), "at {at}");
                from = (at, state);
            }
            let starts = (1..text.len() / 2000).filter_map(|n| start_behind(text, n * 2000, 500));
            let right = starts.filter(|(at, state)| cuts.pieces.contains(&(*at, state.to_u8()))).count();
            assert_eq!(right > text.len() / 4000, is_guessed, "{right}");
        }
    }
}
