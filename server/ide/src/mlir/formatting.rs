//! Indents lines by the depth of their regions, as MLIR prints them: two blanks per level. Only white space
//! at the start and the end of lines changes.
//!
//! Continuation lines of an op move with its first line. Comments at the start of a line stay, like those of
//! FileCheck.

use mlir::{BlockId, OpId};
use rustc_hash::FxHashMap;

use crate::file_context::FileContext;
use crate::formatting::Formatting;
use crate::mlir::Mlir;
use crate::{TextEdit, TextRange};

const INDENT: usize = 2;
/// Regions nested deeper than this do not indent further.
const MAX_DEPTH: usize = 200;

impl Formatting for Mlir {
    /// The edits that format a piece; none if it has syntax errors.
    fn formatting_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<TextEdit> {
        let read = context.mlir_piece(piece);
        if !read.parse.errors.is_empty() {
            return Vec::new();
        }
        let start = context.range(piece, syntax::Span::default()).start;
        let edit = |(range, insert): (TextRange, String)| TextEdit {
            range: start + range.start..start + range.end,
            insert,
        };
        lines(&Piece::new(read)).into_iter().map(edit).collect()
    }
}

/// A piece with the indentation of each op and brace by its offset.
struct Piece<'a> {
    read: &'a db::MlirPiece,
    columns: FxHashMap<u32, usize>,
    /// For each op, the number of enclosing regions.
    depths: Vec<usize>,
    /// The end of the last op or brace: text after it belongs to the op that continues in the next piece.
    end: usize,
}

impl<'a> Piece<'a> {
    fn new(read: &'a db::MlirPiece) -> Piece<'a> {
        let parse = &read.parse;
        let (tokens, _) = mlir::tokens(&read.text, 0, read.text.len(), false);
        let end = tokens.last().map_or(0, |last| last.span.end as usize);
        let mut piece = Piece { read, columns: FxHashMap::default(), depths: Vec::new(), end };
        for (id, op) in parse.ops.iter().enumerate() {
            let parent = parse.parent(id as OpId);
            let depth = parent.map_or(0, |parent| piece.depths[parent as usize] + 1);
            piece.depths.push(depth);
            if !parse.is_continued(id as OpId) {
                piece.columns.insert(op.span.start, column(depth));
            }
        }
        for region in &parse.regions {
            if region.is_closed {
                let at = piece.depths[region.op as usize];
                piece.columns.insert(region.span.end - 1, column(at));
            }
        }
        for (id, block) in parse.blocks.iter().enumerate().filter(|(_, b)| !b.label.is_empty()) {
            let op = parse.regions[parse.blocks[id as BlockId as usize].region as usize].op;
            piece.columns.insert(block.label.start, column(piece.depths[op as usize]));
        }
        piece
    }

    /// The indentation of a comment, like that of an op.
    fn depth_inside(&self, at: usize) -> usize {
        let parse = &self.read.parse;
        if at >= self.end {
            return parse.open_above as usize + parse.open_below.len();
        }
        let Some(op) = parse.op_at(at) else { return 0 };
        let holds = |r: mlir::RegionId| {
            let span = parse.regions[r as usize].span;
            (span.start as usize) < at && at < span.end as usize
        };
        self.depths[op as usize] + usize::from(parse.regions_of(op).any(holds))
    }
}

fn column(depth: usize) -> usize {
    INDENT * depth.min(MAX_DEPTH)
}

/// Ranges of white space of the piece, and their replacements.
fn lines(piece: &Piece<'_>) -> Vec<(TextRange, String)> {
    let text = &*piece.read.text;
    let mut found = Vec::new();
    // The shift of each line that starts with an op, by the start of the line.
    let mut moves: FxHashMap<usize, isize> = FxHashMap::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let letters = line.trim_end_matches(['\n', '\r']);
        let body = letters.trim_start_matches([' ', '\t']);
        let at = start + letters.len() - body.len();
        let old = at - start;
        let end = start + letters.trim_end_matches([' ', '\t']).len();
        if body.trim_end().is_empty() {
            if !letters.is_empty() {
                found.push((start..start + letters.len(), String::new()));
            }
        } else if is_inside_resources(piece, at) {
            // Payloads stay unchanged.
        } else {
            let new = column_of(piece, body, at, old, &moves);
            moves.insert(start, new as isize - old as isize);
            let blanks = " ".repeat(new);
            if text[start..at] != blanks {
                found.push((start..at, blanks));
            }
            if end < start + letters.len() {
                found.push((end..start + letters.len(), String::new()));
            }
        }
        start += line.len();
    }
    found
}

fn is_inside_resources(piece: &Piece<'_>, at: usize) -> bool {
    let parse = &piece.read.parse;
    let op = parse.op_at(at).map(|op| parse.op(op));
    op.is_some_and(|op| op.form == mlir::Form::Resources && (op.span.start as usize) < at)
}

fn column_of(piece: &Piece<'_>, body: &str, at: usize, old: usize, moves: &FxHashMap<usize, isize>) -> usize {
    if let Some(&column) = piece.columns.get(&(at as u32)) {
        return column;
    }
    if body.starts_with("//") {
        return if old == 0 { 0 } else { column(piece.depth_inside(at)) };
    }
    // Continuation lines of an op move with its first line.
    let parse = &piece.read.parse;
    let Some(op) = parse.op_at(at).filter(|&op| !parse.is_continued(op)) else { return old };
    let first = parse.op(op).span.start as usize;
    let line = piece.read.text[..first].rfind('\n').map_or(0, |newline| newline + 1);
    (old as isize + moves.get(&line).copied().unwrap_or(0)).max(0) as usize
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::{apply_edits, open_mlir};

    fn formatted(text: &str) -> String {
        let (analysis, file, _) = open_mlir(text);
        let edits = analysis.formatting(file, 0..text.len()).expect("nobody cancels");
        apply_edits(text, &edits)
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&formatted(text));
    }

    #[test]
    fn lines_are_indented_by_their_regions() {
        check(
            "module {\nfunc.func @f(%a: f32,\n             %b: f32) {   \n    %0 = scf.if %c -> (f32) {\n // CHECK: x\n  // why\n\tx.y %a :\n\t    f32\n} else {\nx.y\n  }\n  cf.br ^bb1\n  ^bb1:\n\n  \n      \"x.z\"() ({\n x.w\n}, {\n}) : () -> ()\n  return }\n// end\n}\n",
            expect![[r#"
                module {
                  func.func @f(%a: f32,
                               %b: f32) {
                    %0 = scf.if %c -> (f32) {
                      // CHECK: x
                      // why
                      x.y %a :
                          f32
                    } else {
                      x.y
                    }
                    cf.br ^bb1
                  ^bb1:


                    "x.z"() ({
                      x.w
                    }, {
                    }) : () -> ()
                    return }
                // end
                }
            "#]],
        );
    }

    #[test]
    fn what_is_broken_stays() {
        let text = "func.func @f() {\n x.y (\n}\n";
        assert_eq!(formatted(text), text);
    }

    /// Only white space changes, and a second run changes nothing, for any previous indentation and also in
    /// texts of several pieces.
    #[test]
    fn formatting_is_stable_and_keeps_all_letters() {
        let text = include_str!("../../../mlir/tests/fixtures/constructs.mlir");
        let filler = "  func.func @filler(%a: f32) {\n    %b = x.y %a : f32\n    return\n  }\n".repeat(300);
        let large = text.replacen("  gpu.module @kernels {", &format!("{filler}  gpu.module @kernels {{"), 1);
        let mut random = random::Rng::new(1);
        for text in [text.to_owned(), large] {
            for _ in 0..8 {
                let mut moved = String::new();
                for line in text.split_inclusive('\n') {
                    moved += &" \t".repeat(random.index(4));
                    moved += if random.flag() { line } else { line.trim_start_matches([' ', '\t']) };
                }
                let once = formatted(&moved);
                let letters = |text: &str| {
                    mlir::tokens(text, 0, text.len(), true)
                        .0
                        .into_iter()
                        .map(|t| t.span.of(text).trim_end().to_owned())
                        .collect::<Vec<_>>()
                };
                assert!(letters(&once) == letters(&moved));
                assert!(formatted(&once) == once);
            }
        }
    }
}
