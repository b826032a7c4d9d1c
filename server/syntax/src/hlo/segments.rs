//! Cutting of a large text on all cores. The text is divided into segments, and the start state of each is
//! guessed: between computations, or between the instructions of a giant one. A segment whose guess was wrong
//! is scanned again together with the previous one.

use memchr::memmem;

use super::line_forms::{looks_like_computation, looks_like_instruction};
use super::pieces::{Cuts, PieceStart, PieceState};

/// The size of a segment in bytes. Fixed, so that a text is cut in the same way on every machine.
const SEGMENT: usize = 512 << 10;
/// A computation that does not end within this many bytes is taken for a giant.
const WINDOW: usize = 128 << 10;

pub(super) fn split(
    text: &str,
    state: PieceState,
    split_segment: &(impl Fn(&str, PieceState) -> Cuts + Sync),
) -> Cuts {
    let starts = (1..text.len() / SEGMENT).filter_map(|n| start_behind(text, n * SEGMENT));
    let mut segments: Vec<(usize, PieceState)> = std::iter::once((0, state)).chain(starts).collect();
    segments.dedup_by_key(|segment| segment.0);
    let end_of = |behind: usize| segments.get(behind).map_or(text.len(), |segment| segment.0);
    let scan = |n: usize| split_segment(&text[segments[n].0..end_of(n + 1)], segments[n].1);
    let mut scanned: Vec<Cuts> = parallel::map(segments.len(), scan);

    let mut joined = Cuts::default();
    let mut first = 0;
    while let Some(&(start, state)) = segments.get(first) {
        let mut cuts = std::mem::take(&mut scanned[first]);
        let mut behind = first + 1;
        while segments.get(behind).is_some_and(|next| cuts.end != Some(next.1)) {
            // The range doubles each time, so that a broken bracket costs only one more pass.
            behind = (behind + (behind - first)).min(segments.len());
            cuts = split_segment(&text[start..end_of(behind)], state);
        }
        if start > 0 {
            joined.pieces.push((start, state));
        }
        joined.pieces.extend(cuts.pieces.into_iter().map(|(at, state)| (start + at, state)));
        joined.units.extend(cuts.units.into_iter().map(|at| start + at));
        joined.end = cuts.end;
        first = behind;
    }
    joined
}

/// Returns the first offset after `from` where a segment may start.
fn start_behind(text: &str, from: usize) -> Option<(usize, PieceState)> {
    let bytes = text.as_bytes();
    let window = &bytes[from..(from + WINDOW).min(bytes.len())];
    let (at, place) = match memmem::find(window, b"\n}\n") {
        Some(found) => (from + found + 3, PieceStart::Top),
        None => (from + memchr::memchr(b'\n', window)? + 1, PieceStart::Body),
    };
    let first = bytes[at..].iter().take(WINDOW).position(|b| *b != b'\n')? + at;
    let is_likely = match place {
        PieceStart::Body => bytes[at] == b' ' && looks_like_instruction(text, at),
        _ => looks_like_computation(text, first),
    };
    is_likely.then_some((at, PieceState { place, is_below_open_comment: false }))
}

#[cfg(test)]
mod tests {
    use super::super::pieces::split;
    use super::*;

    /// Computations of all sizes, including a giant; 3 MB.
    fn module() -> String {
        let mut text = String::from("HloModule m\n\n");
        let mut computation = |name: String, lines: usize| {
            text += &format!("{name} {{\n");
            for i in 0..lines {
                text += &format!(
                    "  %x.{i} = f32[8,16]{{1,0}} constant({{...}}), metadata={{op_name=\"a}}{{\"}}\n"
                );
            }
            text += "}\n\n";
        };
        (0..2000).for_each(|n| computation(format!("%f{n}"), n % 17 + 1));
        computation("ENTRY %e".to_owned(), 20_000);
        text
    }

    fn check(text: &str) {
        let segmented = split(text, PieceState::HEADER, 4096);
        assert!(segmented.pieces.is_sorted_by_key(|p| p.0) && segmented.units.is_sorted());
        // Every piece and unit starts where a scan of the text above it may end.
        for &(at, state) in segmented.pieces.iter().skip(1).step_by(97) {
            let from =
                segmented.pieces.iter().rev().find(|p| p.0 < at).map_or((0, PieceState::HEADER), |&p| p);
            assert_eq!(split(&text[from.0..at], from.1, 4096).end, Some(state), "at {at}");
        }
    }

    #[test]
    fn segments_join_where_a_single_pass_would_cut() {
        let text = module();
        check(&text);
        let cuts = split(&text, PieceState::HEADER, 4096);
        let starts = cuts.pieces.iter().filter(|p| p.1.place == PieceStart::Top).count() + cuts.units.len();
        assert_eq!(starts, 2001 + 1);
    }

    #[test]
    fn wrong_guesses_are_read_again() {
        let text = module();
        for (at, insert) in [(700_000, "/*"), (700_000, "(\n"), (1_300_000, "\n}\n"), (20, "{{{{\n")] {
            let at = text[..at].rfind('\n').map_or(0, |n| n + 1);
            let broken = format!("{}{insert}{}", &text[..at], &text[at..]);
            let cuts = split(&broken, PieceState::HEADER, 4096);
            let alone = segments_of_one(&broken);
            let places = |cuts: &Cuts| {
                let mut all: Vec<usize> =
                    cuts.pieces.iter().filter(|p| p.1.place == PieceStart::Top).map(|p| p.0).collect();
                all.extend(&cuts.units);
                all.sort_unstable();
                all
            };
            assert_eq!(places(&cuts), places(&alone), "{insert:?}");
        }
    }

    /// Cuts the text in a single pass.
    fn segments_of_one(text: &str) -> Cuts {
        super::super::pieces::split_segment(text, PieceState::HEADER, 4096, true)
    }
}
