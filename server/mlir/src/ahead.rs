//! Cuts and parses a text in one go, on all cores, when it opens. The start of each piece is guessed from the
//! columns of its lines and the piece is parsed on that guess; the end state of each piece then checks the
//! guess for the next one. Where only the columns misled a guess, the guesses for all later pieces are corrected; after any
//! other wrong guess the text is read just for its cuts.

use memchr::memchr;
use rustc_hash::FxHashSet;

use crate::piece_state::PieceState;
use crate::pieces::{Cutter, Lengths};
use crate::plain_lines::may_hold_resources;
use crate::segmenter::parse_to_end;
use crate::segments::{function_at, op_at};
use crate::tree::Parse;

/// The number of pieces parsed at once at first, and after a wrong guess; each time it is multiplied by eight.
const FIRST: usize = 8;
/// The upper limit of that number, so that the next wrong guess does not cost the whole text.
const MOST: usize = 256;
/// How often the guesses are corrected before a text is read just for its cuts.
const MAX_CORRECTIONS: usize = 4;

/// The cuts of a text as [`text::Cuts`], and each piece as [`crate::parse`] reads it; `None` for pieces found
/// after a wrong guess.
pub fn read_in_pieces(text: &str, min_bytes: usize) -> (text::Cuts, Vec<Option<Parse>>) {
    let lengths = Lengths::of(text, min_bytes);
    let mut starts = starts(text, lengths);
    let read = |starts: &[(usize, PieceState)], n: usize| {
        let ((start, state), behind) = (starts[n], starts.get(n + 1).map_or(text.len(), |next| next.0));
        Some(parse_to_end(&text[start..behind], state, &FxHashSet::default()))
    };
    // A longer piece may be a body whose lines were not recognized.
    let longest = lengths.in_bodies.saturating_add(lengths.between_units.saturating_mul(2));
    let has_resources = std::cell::OnceCell::new();
    let mut found = Found::default();
    let (mut n, mut count, mut corrections) = (0, FIRST, MAX_CORRECTIONS);
    while n < starts.len() {
        let last = starts.len().min(n + count);
        let first = n;
        let mut ahead = parallel::map(last - first, |n| read(&starts, first + n));
        count = (8 * count).min(MOST);
        while n < last {
            let (start, state) = starts[n];
            let Some((parse, end)) = ahead[n - first].take() else { break };
            n += 1;
            let is_right = starts.get(n).is_none_or(|next| end == Some(next.1));
            let is_corrected =
                !is_right && corrections > 0 && end.is_some_and(|end| correct(&mut starts[n..], end));
            corrections -= usize::from(is_corrected);
            let length = starts.get(n).map_or(text.len(), |next| next.0) - start;
            if (is_right || is_corrected) && length <= longest {
                found.push(start, state, Some(parse));
            } else {
                let next = n;
                let has_resources = *has_resources.get_or_init(|| may_hold_resources(text));
                let mut cutter = Cutter::new(&text[start..], state, lengths, has_resources);
                while starts.get(n).is_some_and(|&(next, guess)| {
                    cutter.run_to(next - start);
                    start + cutter.at() != next || !cutter.has_read() || cutter.end() != Some(guess)
                }) {
                    n += 1;
                }
                if n == starts.len() {
                    cutter.run_to(text.len() - start);
                }
                let cuts = cutter.into_cuts().pieces;
                let is_whole = n == next && cuts.is_empty();
                found.push(start, state, is_whole.then_some(parse));
                for (at, state) in cuts {
                    found.push(start + at, PieceState::from_u8(state), None);
                }
                count = FIRST;
            }
            // The pieces that were read ahead have the old guesses.
            if is_corrected {
                break;
            }
        }
    }
    (found.cuts, found.parses)
}

/// Corrects the guesses if the first differs from the state `is` only in what columns say, as in text that is not indented as MLIR
/// prints it. Returns whether it did.
fn correct(starts: &mut [(usize, PieceState)], is: PieceState) -> bool {
    let Some(&(_, guess)) = starts.first() else { return false };
    if guess.function.is_some() != is.function.is_some()
        || guess.is_below_open_resources != is.is_below_open_resources
    {
        return false;
    }
    for (_, state) in starts.iter_mut().filter(|(_, state)| state.depth == guess.depth) {
        state.depth = is.depth;
        if state.function == guess.function {
            state.function = is.function;
        }
    }
    true
}

#[derive(Default)]
struct Found {
    cuts: text::Cuts,
    parses: Vec<Option<Parse>>,
}

impl Found {
    fn push(&mut self, start: usize, state: PieceState, parse: Option<Parse>) {
        if start > 0 {
            self.cuts.pieces.push((start, state.to_u8()));
        }
        self.parses.push(parse);
    }
}

/// The possible starts of pieces, with the guessed states there.
fn starts(text: &str, lengths: Lengths) -> Vec<(usize, PieceState)> {
    let mut starts = vec![(0, PieceState::default())];
    while let Some(next) = starts.last().and_then(|&last| start_behind(text, last, lengths)) {
        starts.push(next);
    }
    starts
}

/// The next start: the first line of a function after the minimum length or, in a longer function, the first
/// op that may be in its body.
fn start_behind(
    text: &str,
    (piece, state): (usize, PieceState),
    lengths: Lengths,
) -> Option<(usize, PieceState)> {
    let bytes = text.as_bytes();
    let line_behind = |at: usize| memchr(b'\n', bytes.get(at..)?).map(|n| at + n + 1);
    let in_body = piece.saturating_add(lengths.in_bodies);
    let window = in_body.saturating_add(lengths.between_units);
    let mut least: Option<(usize, usize, PieceState)> = None;
    let mut at = line_behind(piece.saturating_add(lengths.between_units).checked_sub(1)?)?;
    while at < bytes.len() {
        let behind = line_behind(at).unwrap_or(bytes.len());
        let line = &text[at..behind];
        if let Some(state) = function_at(line) {
            return Some((at, state));
        }
        if at >= in_body
            && let Some((column, body)) = op_at(line)
            && least.is_none_or(|(_, known, _)| column < known)
        {
            // The column is known for the function in whose body the last piece starts.
            if body == state {
                return Some((at, body));
            }
            least = Some((at, column, body));
        }
        if at >= window
            && let Some((at, _, body)) = least
        {
            return Some((at, body));
        }
        at = behind;
    }
    least.map(|(at, _, body)| (at, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(n: usize, ops: usize) -> String {
        let ops = "    %0 = a.b %a : f32\n".repeat(ops);
        format!(
            "  func.func @f{n}(%a: f32) {{\n{ops}    a.c {{\n      %1 = a.b %a : f32\n    }}\n    return\n  }}\n"
        )
    }

    /// The number of pieces, and of those parsed while cutting.
    fn count(text: &str) -> (usize, usize) {
        let (cuts, parses) = read_in_pieces(text, 200);
        assert_eq!(parses.len(), cuts.pieces.len() + 1);
        assert_eq!(cuts.pieces, crate::split(text, 0, 200).pieces);
        (parses.len(), parses.iter().flatten().count())
    }

    #[test]
    fn what_is_printed_is_read_as_it_is_cut_and_a_wrong_guess_costs_what_is_around_it() {
        let functions = |ops: fn(usize) -> usize| (0..200).map(|n| function(n, ops(n))).collect::<String>();
        for ops in [|n| n % 9, |n| if n == 99 { 2000 } else { n % 9 }] {
            let text = format!("module {{\n{}}}\n", functions(ops));
            let (all, read) = count(&text);
            assert!(all > 60 && read == all, "{read} of {all}");
            // Regions of ops other than modules are not cut.
            let inside = text.replacen("  func.func @f50(", "  x.y {\n  func.func @f50(", 1);
            let inside = inside.replacen("  func.func @f60(", "  }\n  func.func @f60(", 1);
            let (all, read) = count(&inside);
            assert!(all > 60 && read < all && read + 8 > all, "{read} of {all}");
            // One function in a column that does not say how many modules are open.
            let outdented = text.replacen("  func.func @f50(", "func.func @f50(", 1);
            // All of them.
            let all_outdented = text.replace("  func.func", "func.func");
            for text in [outdented, all_outdented] {
                let (all, read) = count(&text);
                assert!(all > 60 && read == all, "{read} of {all}");
            }
            let flat = text.replace("\n    ", "\n").replace("\n  ", "\n");
            let (all, read) = count(&flat);
            // No column says where the body of the long function is.
            assert!(all > 60 && (ops(99) < 100) == (read == all), "{read} of {all}");
        }
    }
}
