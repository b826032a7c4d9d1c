//! Real modules parse without errors, and every instruction has a hover.

use hlo_analyzer_tests::corpus::{Module, own, real};
use ide::{AnalysisHost, DomainHints, InlayHintsConfig, Language, PrintOptions, WarningsConfig};

fn check(module: &Module) -> usize {
    let mut host = AnalysisHost::new();
    let file = host.open(&module.name, Language::Hlo, &module.text);
    let analysis = host.analysis();
    let found = analysis.diagnostics(file, 10).expect("nobody cancels");
    assert!(found.shown.is_empty(), "{}: {:?}", module.name, found.shown);
    let statistics = analysis.statistics(file).expect("nobody cancels");
    assert!(statistics.instructions > 0 && statistics.computations > 0, "{}", module.name);
    statistics.instructions
}

#[test]
fn own_modules_have_no_findings() {
    let modules = own();
    assert!(modules.len() >= 3, "the project's own corpus is gone");
    for module in &modules {
        check(module);
    }
}

/// Inlay hints query the map of every instruction, including fusions.
#[test]
fn every_instruction_of_the_small_modules_has_its_answer() {
    for module in own().into_iter().chain(real()).filter(|m| m.text.len() < 700_000) {
        let mut host = AnalysisHost::new();
        let file = host.open(&module.name, Language::Hlo, &module.text);
        let analysis = host.analysis();
        let all = 0..module.text.len();
        let hints = analysis
            .inlay_hints(
                file,
                all,
                &InlayHintsConfig { domains: DomainHints::All, splits: true, memory: true },
            )
            .expect("nobody cancels");
        assert!(!hints.is_empty(), "{} has no hint", module.name);
        for hint in &hints {
            assert!(
                hint.offset <= module.text.len() && !hint.label.is_empty(),
                "{hint:?} in {}",
                module.name
            );
        }
    }
}

/// The printed text of a real module parses without errors, and prints the same again.
#[test]
fn real_modules_read_back_as_they_are_printed() {
    let options = PrintOptions::lossless();
    for module in own().into_iter().chain(real()) {
        let print = |name: &str, text: &str| {
            let mut host = AnalysisHost::new();
            let file = host.open(name, Language::Hlo, text);
            let analysis = host.analysis();
            let found = analysis.diagnostics(file, 10).expect("nobody cancels");
            assert!(found.shown.is_empty(), "{name}, printed: {:?}", found.shown);
            analysis.print(file, &options).expect("nobody cancels").expect("it is not too large")
        };
        let printed = print(&module.name, &module.text);
        let again = print(&module.name, &printed);
        let differs = printed.lines().zip(again.lines()).find(|(a, b)| a != b);
        assert_eq!((differs, printed.len()), (None, again.len()), "{}", module.name);
    }
}

/// A dump is already formatted except for manual edits, and formatting changes only white space.
#[test]
fn formatting_real_modules_changes_white_space_alone() {
    for module in own().into_iter().chain(real()) {
        let mut host = AnalysisHost::new();
        let file = host.open(&module.name, Language::Hlo, &module.text);
        let edits = host.analysis().formatting(file, 0..module.text.len()).expect("nobody cancels");
        for edit in &edits {
            let is_same = |c: &char| !c.is_whitespace();
            let old = &module.text[edit.range.clone()];
            assert!(old.chars().filter(is_same).eq(edit.insert.chars().filter(is_same)), "{edit:?}");
        }
        let printed = module.text.contains("entry_computation_layout") && !module.text.contains("//");
        assert!(!printed || edits.is_empty(), "{}: {:?}", module.name, &edits[..edits.len().min(3)]);
    }
}

/// Instructions reported as unused do not occur below their definition in a plain text search.
#[test]
fn what_is_called_unused_is_not_used() {
    let (mut warnings, mut unused) = (0, 0);
    for module in own().into_iter().chain(real()) {
        let mut host = AnalysisHost::new();
        let file = host.open(&module.name, Language::Hlo, &module.text);
        let analysis = host.analysis();
        let found = analysis.warnings(file, &WarningsConfig::default(), usize::MAX).expect("nobody cancels");
        warnings += found.shown.len();
        for finding in found.shown.iter().filter(|d| d.code == "unused-instruction") {
            unused += 1;
            let name = &module.text[finding.range.clone()];
            let below = &module.text[finding.range.end..];
            let body = &below[..below.find("\n}").unwrap_or(below.len())];
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
            let used = body.match_indices(name).any(|(at, _)| {
                !body[..at].ends_with(is_part) && !body[at + name.len()..].starts_with(is_part)
            });
            // Only operands and control predecessors count: metadata may contain the same words.
            let quoted = body.matches(&format!("\"{name}\"")).count() > 0;
            assert!(!used || quoted, "{name} of {} is used", module.name);
        }
    }
    eprintln!("{warnings} warnings, {unused} of them about unused instructions");
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn real_modules_have_no_findings() {
        let modules = real();
        assert!(!modules.is_empty(), "this test needs shared/corpus beside the checkout");
        let instructions: usize = modules.iter().map(check).sum();
        eprintln!("{} real modules, {instructions} instructions, no finding", modules.len());
    }
}
