//! Tests that every feature gives the same results for cut functions as for whole ones, on upstream files
//! in small pieces.

#![allow(clippy::print_stdout, reason = "how much was compared")]

use generators::mlir::mixed_function;
use random::Rng;

use crate::{
    Analysis, AnalysisHost, CallDirection, DomainHints, FileId, FusionQuery, InlayHintsConfig,
    KernelLanguage, Language, Wanted,
};

/// A feature's name, and its result as text for an offset, or for the text up to that offset.
type Feature = (&'static str, fn(&Analysis, FileId, usize) -> String);

const AT_PLACES: &[Feature] = &[
    ("hover", |a, f, at| format!("{:?}", a.hover(f, at))),
    ("definition", |a, f, at| format!("{:?}", a.goto_definition(f, at))),
    ("references", |a, f, at| format!("{:?}", a.references(f, at, true))),
    ("rename", |a, f, at| format!("{:?}", a.rename(f, at, "renamed"))),
    ("prepare_rename", |a, f, at| format!("{:?}", a.prepare_rename(f, at))),
    ("selection", |a, f, at| format!("{:?}", a.selection_ranges(f, at))),
    ("completion", |a, f, at| format!("{:?}", a.completion(f, at))),
    ("code_actions", |a, f, at| format!("{:?}", a.code_actions(f, at..at, Wanted::Changes))),
    ("call_hierarchy", |a, f, at| format!("{:?}", a.prepare_call_hierarchy(f, at))),
    ("incoming", |a, f, at| format!("{:?}", a.calls(f, at, CallDirection::Incoming))),
    ("outgoing", |a, f, at| format!("{:?}", a.calls(f, at, CallDirection::Outgoing))),
    ("shown_kernel", |a, f, at| format!("{:?}", a.shown_kernel(f, at))),
    ("kernel", |a, f, at| {
        let Ok(Some(shown)) = a.shown_kernel(f, at) else { return String::new() };
        let query = FusionQuery { instruction: shown.instruction, computation: Some(shown.computation) };
        let document = a.kernel_document(f, &query, KernelLanguage::Mlir);
        let of = |document: &crate::KernelDocument| {
            let at = document.instructions.iter().map(|i| (&i.name, &i.at)).collect::<Vec<_>>();
            format!(
                "{} {at:?} {:?}",
                document.text(&[]).0,
                a.kernel_lines(f, &query, document, shown.range.start)
            )
        };
        format!("{:?}", document.map(|d| d.map(|d| of(&d))))
    }),
    ("code_lens", |a, f, at| format!("{:?}", a.code_lens(f, at, true))),
    ("goto_type", |a, f, at| format!("{:?}", a.goto_type_definition(f, at))),
    ("signature", |a, f, at| format!("{:?}", a.signature_help(f, at))),
];

const OF_FILE: &[Feature] = &[
    ("diagnostics", |a, f, _| format!("{:?}", a.diagnostics(f, 10_000))),
    ("symbols", |a, f, _| format!("{:?}", a.document_symbols(f, 10_000))),
    ("folds", |a, f, _| format!("{:?}", a.folding_ranges(f, 10_000))),
    ("tokens", |a, f, len| format!("{:?}", a.semantic_tokens(f, 0..len, 1_000_000))),
    ("hints", |a, f, len| {
        let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false };
        format!("{:?}", a.inlay_hints(f, 0..len, &config))
    }),
    ("formatting", |a, f, len| format!("{:?}", a.formatting(f, 0..len))),
    ("lenses", |a, f, _| format!("{:?}", a.code_lens_places(f, true, 10_000))),
    ("convert", |a, f, _| format!("{:?}", a.convert(f))),
    ("workspace_symbols", |a, _, _| format!("{:?}", a.workspace_symbols("", 10_000))),
    ("links", |a, f, _| format!("{:?}", a.document_links(f, 10_000))),
];

fn opened(text: &str, min_bytes: usize) -> (AnalysisHost, FileId) {
    let mut host = AnalysisHost::in_pieces_of(min_bytes);
    let file = host.open("a.mlir", Language::Mlir, text);
    (host, file)
}

/// The offsets of names of ops and values, and the offsets after them.
fn places(text: &str) -> Vec<usize> {
    let parse = mlir::parse(text, mlir::PieceState::default());
    let names = parse.ops.iter().map(|op| op.name.start as usize);
    let values = parse.values.iter().map(|v| v.name.start as usize);
    let uses = parse.uses.iter().map(|u| u.span.start as usize + 1);
    let heads = parse.ops.iter().map(|op| op.head.end.saturating_sub(1) as usize);
    let symbols = parse.symbols.iter().map(|s| s.span.start as usize);
    let blocks = parse.blocks.iter().map(|b| b.label.start as usize);
    let mut found: Vec<usize> =
        names.chain(values).chain(uses).chain(heads).chain(symbols).chain(blocks).collect();
    found.sort_unstable();
    found.dedup();
    found
}

struct Compared {
    answers: usize,
    pieces: usize,
    /// The feature, the offset, and both results from where they differ.
    differences: Vec<(&'static str, usize, String)>,
}

/// Compares the results of all features for a whole text and for its pieces, at every `step`-th offset.
fn compare(text: &str, min_bytes: usize, step: usize) -> Compared {
    let ((whole, of_whole), (cut, of_cut)) = (opened(text, usize::MAX), opened(text, min_bytes));
    let (whole, cut) = (whole.analysis(), cut.analysis());
    let pieces = cut.statistics(of_cut).expect("nobody cancels").pieces;
    let mut found = Vec::new();
    let mut count = 0;
    let mut ask = |feature: &Feature, at: usize| {
        let (a, b) = ((feature.1)(&whole, of_whole, at), (feature.1)(&cut, of_cut, at));
        count += 1;
        if a != b {
            let from = a.bytes().zip(b.bytes()).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            let near = |s: &str| {
                let (from, to) = (from.saturating_sub(120), (from + 160).min(s.len()));
                String::from_utf8_lossy(&s.as_bytes()[from..to]).into_owned()
            };
            found.push((feature.0, at, format!("whole: {}\n  cut: {}", near(&a), near(&b))));
        }
    };
    // Text with errors is not formatted: the unit is a piece.
    let is_broken =
        whole.diagnostics(of_whole, 10_000).expect("nobody cancels").shown.iter().any(|d| d.is_of_parser);
    for feature in OF_FILE.iter().filter(|(name, _)| !is_broken || *name != "formatting") {
        ask(feature, text.len());
    }
    for at in places(text).into_iter().step_by(step) {
        for feature in AT_PLACES {
            ask(feature, at);
        }
    }
    Compared { answers: count, pieces, differences: found }
}

/// Long files are slow in pieces of one op; the tests of edits cover them in larger pieces.
const MAX_BYTES: usize = 30_000;

/// Information that spans pieces: producers, loop bounds, extents, aliases, derived types, kernels, rewrites.
#[test]
fn functions_in_pieces_are_answered_as_whole_ones() {
    for text in [include_str!("giant.mlir"), include_str!("far.mlir")] {
        for min_bytes in [1, 30, 90] {
            let Compared { pieces, differences, .. } = compare(text, min_bytes, 1);
            assert!(pieces > 4, "{pieces}");
            assert_eq!(differences, []);
        }
    }
}

#[test]
fn aliases_of_other_pieces_are_known_in_maps_and_findings() {
    let functions: String = (0..6)
        .map(|n| {
            let limit = 2 + n;
            format!(
                "func.func @f{n}(%a: !whole) -> tensor<2x8xf32> {{\n  \
                 %s = stablehlo.slice %a [{n}:{limit}, 0:8] : (!whole) -> tensor<2x8xf32>\n  \
                 %bad = stablehlo.slice %a [0:{n}, 0:8] : (!whole) -> tensor<7x8xf32>\n  \
                 return %s : tensor<2x8xf32>\n}}\n"
            )
        })
        .collect();
    let text = format!("!whole = tensor<8x8xf32>\n{functions}");
    let Compared { pieces, differences, .. } = compare(&text, 1, 1);
    assert!(pieces > 4, "{pieces}");
    assert_eq!(differences, []);
    let (host, file) = opened(&text, 1);
    let slice = text.rfind("%s = stablehlo.slice").expect("it is there");
    let hover = host.analysis().hover(file, slice + 6).expect("nobody cancels").expect("a hover");
    assert!(hover.markdown().contains("(d0, d1) -> (d0 + 5, d1)"), "{}", hover.markdown());
    assert!(host.analysis().diagnostics(file, 100).expect("nobody cancels").shown.len() >= 6);
}

#[test]
fn random_functions_are_answered_alike_in_pieces() {
    let mut far = 0;
    for seed in 1..30u64 {
        let text = mixed_function(&mut Rng::new(seed), 40);
        let min_bytes = [1, 20, 50][seed as usize % 3];
        let Compared { pieces, differences, .. } = compare(&text, min_bytes, 3);
        assert!(pieces > 4, "{pieces}");
        assert_eq!(differences.first(), None, "in pieces of {min_bytes}\n{text}");
        let (host, file) = opened(&text, min_bytes);
        let last =
            host.analysis().hover(file, text.rfind(" = ").expect("an op") - 1).expect("nobody cancels");
        far += last.map_or(0, |hover| hover.markdown().matches("**→").count());
    }
    assert!(far > 10, "{far}");
}

mod needs_mlir_corpus {
    use super::*;

    #[test]
    #[ignore = "needs MLIR files in the folder MLIR_CORPUS: cargo xtask test"]
    fn files_of_upstream_are_answered_alike_in_pieces() {
        let every: usize = std::env::var("MLIR_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
        let (mut count, mut pieces, mut answers) = (0, 0, 0);
        for (nth, path) in test_files::needs::mlir_corpus().into_iter().enumerate().step_by(every) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            if text.len() > MAX_BYTES || mlir::holds_hlo(&text) {
                continue;
            }
            let min_bytes = [1, 8, 40][nth / every % 3];
            let compared = compare(&text, min_bytes, 1 + text.len() / 2000);
            count += 1;
            answers += compared.answers;
            pieces += compared.pieces;
            if let Some((feature, at, what)) = compared.differences.first() {
                let line = text[..(*at).min(text.len())].matches('\n').count() + 1;
                let all = compared.differences.len();
                panic!(
                    "{feature} of {}:{line} in pieces of {min_bytes}, and {all} in all\n{what}",
                    path.display()
                );
            }
        }
        println!("{answers} answers of {count} files in {pieces} pieces");
    }
}
