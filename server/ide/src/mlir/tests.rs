//! Tests that pieces and edits do not change answers.

use crate::{
    Analysis, AnalysisHost, CoalescingConfig, DomainHints, FileId, InlayHintsConfig, Language, TextEdit,
    Wanted,
};

const CONSTRUCTS: &str = include_str!("../../../mlir/tests/fixtures/constructs.mlir");

/// Whether a surplus brace gives some function a second region, in which its arguments are not known.
fn has_functions_of_two_regions(text: &str) -> bool {
    let parse = mlir::parse(text, mlir::PieceState::default());
    let mut functions =
        (0..parse.ops.len() as u32).filter(|&id| mlir::is_function_like(parse.name(id, text)));
    functions.any(|id| parse.regions_of(id).count() > 1)
}

/// The results of all features for a file.
fn all(analysis: &Analysis, file: FileId) -> String {
    let text = analysis.text(file).to_string();
    let everything = (
        (
            analysis.diagnostics(file, 10_000),
            analysis.coalescing_warnings(
                file,
                &CoalescingConfig { threshold: 1.0, ..CoalescingConfig::default() },
                10_000,
            ),
        ),
        analysis.document_symbols(file, 10_000),
        analysis.folding_ranges(file, 10_000),
        analysis.semantic_tokens(file, 0..text.len(), 100_000),
        analysis.inlay_hints(
            file,
            0..text.len(),
            &InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false },
        ),
        (0..text.len()).step_by(97).map(|at| analysis.hover(file, at)).collect::<Vec<_>>(),
        (0..text.len()).step_by(89).map(|at| analysis.references(file, at, true)).collect::<Vec<_>>(),
        (0..text.len()).step_by(83).map(|at| analysis.selection_ranges(file, at)).collect::<Vec<_>>(),
        (0..text.len()).step_by(79).map(|at| analysis.rename(file, at, "renamed")).collect::<Vec<_>>(),
        (0..text.len()).step_by(73).map(|at| analysis.completion(file, at)).collect::<Vec<_>>(),
        analysis.formatting(file, 0..text.len()),
        (0..text.len())
            .step_by(71)
            .map(|at| analysis.code_actions(file, at..at, Wanted::Changes))
            .collect::<Vec<_>>(),
    );
    format!("{everything:?}")
}

/// The results of all features for a text that is opened in pieces of at least `min_bytes`.
fn all_in_pieces(text: &str, min_bytes: usize) -> String {
    let mut host = AnalysisHost::in_pieces_of(min_bytes);
    let file = host.open("a.mlir", Language::Mlir, text);
    let analysis = host.analysis();
    all(&analysis, file)
}

fn assert_same(a: &str, b: &str, what: &dyn Fn() -> String) {
    let at = a.bytes().zip(b.bytes()).position(|(a, b)| a != b);
    let at = at.or_else(|| (a.len() != b.len()).then_some(a.len().min(b.len())));
    let near = |s: &str| {
        at.map(|at| {
            let bytes = &s.as_bytes()[at.saturating_sub(400).min(s.len())..(at + 150).min(s.len())];
            String::from_utf8_lossy(bytes).into_owned()
        })
    };
    assert_eq!(near(a), near(b), "{}", what());
}

/// Names, types, constants, blocks and aliases that are defined in one piece and used in others.
const GIANT: &str = include_str!("giant.mlir");

#[test]
fn functions_in_pieces_are_what_they_are_as_a_whole() {
    for text in [GIANT, CONSTRUCTS] {
        let mut host = AnalysisHost::in_pieces_of(60);
        let file = host.open("a.mlir", Language::Mlir, text);
        assert!(host.analysis().statistics(file).expect("nobody cancels").pieces > 4);
        let whole = all_in_pieces(text, usize::MAX);
        for min_bytes in [1, 8, 25, 60, 200] {
            assert_same(&all_in_pieces(text, min_bytes), &whole, &|| format!("in pieces of {min_bytes}"));
        }
    }
}

/// Maps of StableHLO: the types and constants of operands come from other pieces.
#[test]
fn maps_of_stablehlo_are_the_same_in_pieces() {
    let maps = |min_bytes: usize| {
        let mut host = AnalysisHost::in_pieces_of(min_bytes);
        let file = host.open("a.mlir", Language::Mlir, GIANT);
        let analysis = host.analysis();
        let ops = GIANT.match_indices("= stablehlo.").map(|(at, _)| at + "= stable".len());
        let hovers = ops
            .map(|at| analysis.hover(file, at).expect("nobody cancels").expect("there is an op").markdown());
        let hovers: Vec<_> = hovers.collect();
        let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false };
        (hovers, analysis.inlay_hints(file, 0..GIANT.len(), &config).expect("nobody cancels"))
    };
    let whole = maps(usize::MAX);
    assert!(whole.0.iter().filter(|hover| hover.contains("**output")).count() > 8, "{:?}", whole.0);
    assert!(whole.0.iter().filter(|hover| hover.contains("**→")).count() > 4, "{:?}", whole.0);
    for min_bytes in [1, 20, 70] {
        let (hovers, hints) = maps(min_bytes);
        for (hover, whole) in hovers.iter().zip(&whole.0) {
            assert_eq!(hover, whole, "in pieces of {min_bytes}");
        }
        assert_eq!(hints, whole.1, "in pieces of {min_bytes}");
    }
}

fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = random::Rng::new(seed);
    move |below: usize| random.index(below)
}

/// Cut functions after random edits give the same results as when opened afresh.
#[test]
fn edits_of_functions_in_pieces_equal_a_fresh_start() {
    const INSERTS: [&str; 18] = [
        "",
        "",
        "}",
        "{",
        "(",
        "\"",
        "\n",
        "%a",
        "%0",
        "%7 = x.y %a : f32\n",
        "^bb1:\n",
        "func.func @n() {\n",
        "\n// -----\n",
        "return\n",
        "!t",
        "{-#",
        "#-}",
        ", ",
    ];
    for seed in 1..12 {
        let mut next = random(seed);
        let min_bytes = 1 + next(40);
        let mut text = if seed % 3 == 0 { CONSTRUCTS } else { GIANT }.to_owned();
        let mut host = AnalysisHost::in_pieces_of(min_bytes);
        let file = host.open("a.mlir", Language::Mlir, &text);
        let mut done: Vec<(std::ops::Range<usize>, &str)> = Vec::new();
        for step in 0..16 {
            let start = next(text.len());
            let end = (start + next(6)).min(text.len());
            let insert = INSERTS[next(INSERTS.len())];
            text.replace_range(start..end, insert);
            host.apply(file, &[TextEdit { range: start..end, insert: insert.to_owned() }]);
            done.push((start..end, insert));
            if step % 3 == 2 && !has_functions_of_two_regions(&text) {
                let edited = all(&host.analysis(), file);
                let fresh = all_in_pieces(&text, min_bytes);
                assert_same(&edited, &fresh, &|| format!("seed {seed} step {step} of {min_bytes}: {done:?}"));
            }
        }
    }
}

/// Texts of several pieces after random edits give the same results as when opened afresh.
#[test]
fn edits_equal_a_fresh_start() {
    let filler = "  func.func @filler(%a: f32) {\n    %b = x.y %a : f32\n    return\n  }\n".repeat(300);
    let mut text =
        CONSTRUCTS.replacen("  gpu.module @kernels {", &format!("{filler}  gpu.module @kernels {{"), 1);
    let mut host = AnalysisHost::new();
    let file = host.open("a.mlir", Language::Mlir, &text);
    let mut next = random(1);
    let inserts =
        ["", "}", "{", "(", "\"", "func.func @n() {\n}\n", "\n// -----\n", "%0", "}\nmodule {\n", "x"];
    for step in 0..40 {
        let start = next(text.len());
        let end = (start + next(30)).min(text.len());
        let insert = inserts[next(inserts.len())].to_owned();
        text.replace_range(start..end, &insert);
        host.apply(file, &[TextEdit { range: start..end, insert }]);
        if step % 4 == 3 {
            let mut fresh = AnalysisHost::new();
            let opened = fresh.open("b.mlir", Language::Mlir, &text);
            let (edited, fresh) = (all(&host.analysis(), file), all(&fresh.analysis(), opened));
            let at = edited.bytes().zip(fresh.bytes()).position(|(a, b)| a != b);
            let near = |s: &str| {
                at.map(|at| {
                    String::from_utf8_lossy(&s.as_bytes()[at.saturating_sub(200)..(at + 100).min(s.len())])
                        .into_owned()
                })
            };
            assert_eq!(near(&edited), near(&fresh), "step {step}");
        }
    }
}
