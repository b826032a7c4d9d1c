//! The comparison of a text with its pieces, for each way of cutting it.

use std::collections::BTreeSet;

use mlir::{OpId, Parse, PieceState, is_function_like, parse, read_in_pieces, split_in_segments};

use crate::strings::{Read, read_pieces, read_whole, without_ends};

/// A way of cutting a text.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    /// State is guessed every so many bytes.
    Segments(usize),
    /// State is guessed for each piece, which is parsed at once.
    Ahead,
}

/// Guesses nowhere, in long texts, and everywhere.
pub const WAYS: [Way; 4] = [Way::Segments(usize::MAX), Way::Segments(60), Way::Segments(400), Way::Ahead];

impl Way {
    pub fn cut(self, text: &str, min_bytes: usize) -> (text::Cuts, Vec<Option<Parse>>) {
        match self {
            Way::Segments(bytes) => (split_in_segments(text, 0, min_bytes, bytes), Vec::new()),
            Way::Ahead => read_in_pieces(text, min_bytes),
        }
    }
}

/// Returns the number of pieces.
pub fn check_text(text: &str, min_bytes: usize) -> usize {
    WAYS.map(|way| check_in_pieces(text, min_bytes, way))[0]
}

fn check_in_pieces(text: &str, min_bytes: usize, way: Way) -> usize {
    let whole = read_whole(text);
    let (mut pieces, count) = read_pieces(text, min_bytes, way);
    let regions = without_ends(&whole.regions, &pieces.regions);
    pieces.regions = without_ends(&pieces.regions, &pieces.regions.clone());
    let whole = Read { regions, ..whole };
    let differ = |a: &BTreeSet<String>, b: &BTreeSet<String>| -> Vec<String> {
        let less = a.difference(b).take(3).map(|x| format!("- {x}"));
        less.chain(b.difference(a).take(3).map(|x| format!("+ {x}"))).collect()
    };
    let none: Vec<String> = Vec::new();
    let shown = || -> String {
        if text.len() > 7000 {
            return String::new();
        }
        let mut out = format!("{way:?}\n");
        let mut start = 0;
        for (at, state) in way.cut(text, min_bytes).0.pieces.into_iter().chain([(text.len(), 0)]) {
            out += &format!("{}\n======== {:?}\n", &text[start..at], PieceState::from_u8(state));
            start = at;
        }
        out
    };
    assert_eq!(differ(&whole.ops, &pieces.ops), none, "ops\n{}", shown());
    assert_eq!(differ(&whole.regions, &pieces.regions), none, "regions\n{}", shown());
    assert_eq!(whole.errors, pieces.errors, "errors\n{}", shown());
    // Arguments are not followed into a second region that an extra brace makes of a function.
    if !has_functions_of_two_regions(text) {
        assert_eq!(differ(&whole.uses, &pieces.uses), none, "uses\n{}", shown());
        // Functions with errors are skipped; after an extra brace their extent may differ.
        if whole.errors.is_empty() {
            assert_eq!(differ(&whole.findings, &pieces.findings), none, "findings\n{}", shown());
        }
    }
    count
}

fn has_functions_of_two_regions(text: &str) -> bool {
    let parse = parse(text, PieceState::default());
    let mut functions = (0..parse.ops.len() as OpId).filter(|&id| is_function_like(parse.name(id, text)));
    functions.any(|id| parse.regions_of(id).count() > 1)
}
