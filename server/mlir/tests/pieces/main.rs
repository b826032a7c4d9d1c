//! The pieces of a text, each parsed separately, match a parse of the whole text: the same ops, regions,
//! names, types and findings, for any text and any cuts.

#![allow(clippy::print_stdout, reason = "how much was compared")]

mod compare;
mod joined;
mod strings;

use std::collections::BTreeSet;

use mlir::{PieceState, check, parse};
use proptest::prelude::*;
use random::Rng;

use compare::{WAYS, check_text};
use joined::{Piece, Pieces};
use strings::read_pieces;

const CONSTRUCTS: &str = include_str!("../fixtures/constructs.mlir");

#[test]
fn every_construct_is_the_same_in_pieces() {
    for min_bytes in [1, 8, 16, 40, 100, 1000] {
        let count = check_text(CONSTRUCTS, min_bytes);
        assert!(count > 4 || min_bytes > 100, "{count} pieces of {min_bytes}");
    }
}

/// Names that an extra brace leaves outside of functions.
#[test]
fn names_outside_of_functions_end_at_the_next_function() {
    let text = "\
func.func @f() {
  }
  %0 = x.y : f32
  x.z %0 : f32
func.func @g() {
  }
  x.z %1 : f64
  %0 = x.y : f64
  x.v {
    x.z %0 : f64
  }
  x.z %2 : f64
%3 = func.func @h() {
  }
  x.z %3 : f64
";
    let parse = parse(text, PieceState::default());
    let found: Vec<_> = parse
        .uses
        .iter()
        .map(|used| {
            (used.span.of(text), used.value.and_then(|v| parse.type_of(v, 0, text)), used.may_be_above)
        })
        .map(|(name, ty, above)| (name, ty.unwrap_or_default().into_owned(), above))
        .collect();
    let expect =
        [("%0", "f32", false), ("%1", "", true), ("%0", "f64", false), ("%2", "", true), ("%3", "", true)];
    assert_eq!(found, expect.map(|(name, ty, above)| (name, ty.to_owned(), above)));
    assert_eq!(check(&parse, text), Vec::new());
    assert!(check_text(text, 1) > 1);
}

/// Names defined in one piece and used in others, in every way.
const GIANT: &str = "\
module {
  func.func @f(%a: tensor<4xf32>, %b: i1) -> f32 {
    %0:2 = x.y %a : (tensor<4xf32>) -> (f32, tensor<8xf32>)
    %1 = x.z %0#1 : (tensor<9xf32>) -> f32
    %2 = x.z %0#2, %9, %3 : (f32, f32, f32) -> f32
    x.w ins(%a : tensor<4xf32>) outs(%q : f32) {
      x.u %q, %a, %0#0 : f32
    }
    %3 = x.for %i = %0 to %1 iter_args(%c = %0#1) {
      x.u %c : (tensor<7xf32>) -> ()
    }
    cf.cond_br %b, ^bb1(%1 : f32), ^bb9
  ^bb1(%p: f32):
    %4 = x.z %5 : (f32) -> f32
    %1 = x.z %p : (f32) -> f32
    cf.br ^bb2
  ^bb2:
    %5 = x.z %1 : (f64) -> f32
    %a = x.z %1 : (f32) -> f32
    cf.br ^bb1(%5 : f32)
  ^bb1:
    return %4 : f32
  } loc(\"f\")
  func.func @g(%a: f32) {
    return
  }
}
";

#[test]
fn names_are_found_in_other_pieces() {
    for min_bytes in 1..40 {
        check_text(GIANT, min_bytes);
    }
    let (read, count) = read_pieces(GIANT, 1, WAYS[0]);
    assert!(count > 10, "{count}");
    let codes: BTreeSet<_> = read.findings.iter().filter_map(|f| f.split(' ').nth(2)).collect();
    let expect = [
        "redefinition",
        "type-mismatch",
        "unknown-block",
        "unknown-result",
        "unknown-value",
        "use-before-definition",
    ];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), expect);
}

/// `@f` lacks its closing brace, so a piece may hold its end and the start of `@g`. In such a piece `%a` is
/// the argument of `@f`, defined in a piece above, and a new name in `@g`.
const TWO_FUNCTIONS: &str = "\
func.func @f(%a: f32) {
  x.y : tensor<4xf32>
  x.w ins(%a : f32) {
  }
func.func @g() {
  x.w ins(%a : f64) {
    x.z %a : f64
  }
  cf.br ^bb
^bb:
  return
}
";

#[test]
fn names_of_another_function_in_the_piece_are_not_foreign() {
    let mut of_two = 0;
    for min_bytes in 1..TWO_FUNCTIONS.len() {
        check_text(TWO_FUNCTIONS, min_bytes);
        let all = Pieces::of(TWO_FUNCTIONS, min_bytes, WAYS[0]);
        for Piece { parse, text, .. } in all.pieces.iter().filter(|piece| piece.parts.len() > 1) {
            let types: Vec<_> = (0..parse.values.len()).map(|v| parse.type_of(v as u32, 0, text)).collect();
            assert_eq!(types, [Some("f64".into())], "{text}");
            of_two += 1;
        }
    }
    assert!(of_two > 0);
}

/// A module that binds a name because of an extra brace, and a generic function op without its parentheses.
#[test]
fn broken_units_are_the_same_in_pieces() {
    let module = "\
module {
  x.y } @f(%a: i1) -> f32 {
    x.y %a : i1
  func.func @g() {
  }
  x.y %a : i1
}
";
    let in_quotes = "\
\"func.func\"() <{sym_name = \"f\"}> {
  x.y
  x.y
}) : () -> ()
";
    for text in [module, in_quotes] {
        (1..text.len()).for_each(|min_bytes| _ = check_text(text, min_bytes));
    }
    assert!(check_text(module, 1) > 1);
}

/// Parts of a text replaced by other parts of it, and by punctuation.
fn spoilt(text: &str, next: &mut impl FnMut(usize) -> usize) -> String {
    const SIGNS: [&str; 14] = [
        "",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "\"",
        "%0 = ",
        "\n",
        "func.func @n() {\n",
        "\n// -----\n",
        "#",
        "return ",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + next(4) {
        let at = next(bytes.len() + 1);
        let end = (at + next(12)).min(bytes.len());
        let from = next(text.len() + 1);
        let inserted: Vec<u8> = match next(3) {
            0 => text.as_bytes()[from..(from + next(40)).min(text.len())].to_vec(),
            _ => SIGNS[next(SIGNS.len())].into(),
        };
        bytes.splice(at..end, inserted);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn spoilt_texts_are_the_same_in_pieces(seed in any::<u64>(), min_bytes in 1usize..60, giant in any::<bool>()) {
        let mut random = Rng::new(seed);
        let mut next = |below: usize| random.index(below);
        check_text(&spoilt(if giant { GIANT } else { CONSTRUCTS }, &mut next), min_bytes);
    }

    #[test]
    fn any_signs_are_the_same_in_pieces(lines in proptest::collection::vec("( {0,2}(%[ab] = x\\.y|x\\.y|return|\\^b[ab]:|\\}|func\\.func @f\\(\\) \\{|module \\{|// -----|\\{-#|#-\\}|))[ %ab^:=,<>(){}\"x./#-]{0,6}", 0..30), min_bytes in 1usize..12) {
        check_text(&(lines.join("\n") + "\n"), min_bytes);
    }
}

mod needs_mlir_corpus {
    use super::*;

    #[test]
    #[ignore = "needs MLIR files in the folder MLIR_CORPUS: cargo xtask test"]
    fn files_of_upstream_are_the_same_in_pieces() {
        let mut random = Rng::new(1);
        let mut next = |below: usize| random.index(below);
        let (mut count, mut pieces) = (0, 0);
        for path in test_files::needs::mlir_corpus() {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let check = |text: &str, min_bytes: usize| {
                let checked = std::panic::catch_unwind(|| check_text(text, min_bytes));
                checked.unwrap_or_else(|_| panic!("{} in pieces of {min_bytes}", path.display()))
            };
            let min_bytes = [1, 30, 120][next(3)];
            pieces += check(&text, min_bytes);
            count += 1;
            if text.len() < 50_000 && count % 4 == 0 {
                check(&spoilt(&text, &mut next), min_bytes);
            }
        }
        println!("{count} files in {pieces} pieces");
    }
}
