//! Real modules parse without a finding, and every instruction gets an answer.

use hlo_analyzer_tests::corpus::{Module, own, real};
use ide::{AnalysisHost, InlayHintsConfig, Language};

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

#[test]
fn real_modules_have_no_findings() {
    let modules = real();
    let instructions: usize = modules.iter().map(check).sum();
    eprintln!("{} real modules, {instructions} instructions, no finding", modules.len());
}

/// Inlay hints ask for the map of every instruction, fusions included.
#[test]
fn every_instruction_of_the_small_modules_has_its_answer() {
    for module in own().into_iter().chain(real()).filter(|m| m.text.len() < 700_000) {
        let mut host = AnalysisHost::new();
        let file = host.open(&module.name, Language::Hlo, &module.text);
        let analysis = host.analysis();
        let all = 0..module.text.len();
        let hints =
            analysis.inlay_hints(file, all, &InlayHintsConfig { domains: true }).expect("nobody cancels");
        assert!(!hints.is_empty(), "{} has no hint", module.name);
        for hint in &hints {
            assert!(
                hint.offset <= module.text.len() && hint.label.contains('d'),
                "{hint:?} in {}",
                module.name
            );
        }
    }
}
