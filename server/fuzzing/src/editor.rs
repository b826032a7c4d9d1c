//! All features of an editor on one text.

use std::time::{Duration, Instant};

use ide::{
    Analysis, AnalysisHost, CallDirection, Diagnostic, DomainHints, FileId, FusionQuery, HoverConfig,
    InlayHintsConfig, KernelLanguage, Language,
};

/// Runs all features on a text and returns the diagnostics. Exceeding a generous time limit is a hang.
///
/// # Panics
///
/// If a result lies outside of the text, or contradicts another one.
pub fn analyse(language: Language, text: &str) -> Vec<Diagnostic> {
    let started = Instant::now();
    let mut host = AnalysisHost::new();
    let file = host.open("a", language, text);
    let analysis = host.analysis();
    let found = analysis.diagnostics(file, 10_000).expect("nobody cancels").shown;
    for diagnostic in &found {
        let (start, end) = (diagnostic.range.start, diagnostic.range.end);
        assert!(start <= end && end <= text.len(), "{diagnostic:?} lies outside the text");
        assert!(
            text.is_char_boundary(start) && text.is_char_boundary(end),
            "{diagnostic:?} cuts a character"
        );
    }
    let step = (text.len() / 50).max(1);
    // Each of these examines all uses of a name, so a few offsets suffice in a text of megabytes.
    let far = if text.len() > 100_000 { 10 } else { 1 };
    for at in (0..=text.len()).step_by(step * far) {
        navigate(&analysis, file, at, text);
    }
    for at in (0..=text.len()).step_by(step) {
        analysis.hover(file, at).expect("nobody cancels");
        analysis.goto_definition(file, at).expect("nobody cancels");
    }
    analysis.folding_ranges(file, 1000).expect("nobody cancels");
    analysis.document_links(file, 1000).expect("nobody cancels");
    analysis.workspace_symbols("a", 100).expect("nobody cancels");
    if let Some(tokens) = analysis.semantic_tokens(file, 0..text.len(), 100_000).expect("nobody cancels") {
        assert!(tokens.windows(2).all(|w| w[0].range.end <= w[1].range.start), "tokens overlap");
        assert!(tokens.iter().all(|t| text.get(t.range.clone()).is_some_and(|t| !t.is_empty())));
    }
    for place in analysis.code_lens_places(file, true, 50).expect("nobody cancels") {
        analysis.code_lens(file, place.start, true).expect("nobody cancels");
        show_kernel(&analysis, file, place.start, text);
    }
    analysis
        .inlay_hints(
            file,
            0..text.len(),
            &InlayHintsConfig { domains: DomainHints::All, splits: true, memory: true },
        )
        .expect("nobody cancels");
    analysis.document_symbols(file, 1000).expect("nobody cancels");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?} for {} bytes", started.elapsed(), text.len());
    found
}

/// Shows the kernel at an offset: its lines map to instructions of the text, and those to lines.
fn show_kernel(analysis: &Analysis, file: FileId, at: usize, text: &str) {
    let Some(kernel) = analysis.shown_kernel(file, at).expect("nobody cancels") else { return };
    assert!(text.get(kernel.range.clone()).is_some_and(|name| !name.is_empty()));
    let query = FusionQuery { instruction: kernel.instruction, computation: Some(kernel.computation) };
    for language in [KernelLanguage::Mlir, KernelLanguage::Ptx] {
        let document = analysis.kernel_document(file, &query, language).expect("nobody cancels");
        let Ok(document) = document else { continue };
        let count = document.body.lines().count();
        assert_eq!(document.lines.len(), count, "{}", document.body);
        assert!(document.accesses.iter().all(|(line, _)| *line < count));
        for (n, origin) in document.lines.iter().enumerate() {
            assert_eq!(document.instruction_of(n).is_some(), origin.is_some());
        }
        for place in document.instructions.iter().filter_map(|instruction| instruction.at.as_ref()) {
            assert!(text.get(place.0.clone()).is_some() && text.get(place.1.clone()).is_some());
            let runs = analysis.kernel_lines(file, &query, &document, place.1.start).expect("nobody cancels");
            assert!(runs.iter().all(|run| run.start < run.end && run.end <= count));
        }
        for (line, _) in document.accesses.iter().take(3) {
            let config = HoverConfig::default();
            let hover = analysis.kernel_document_hover(file, &query, &document, *line, 0, &config);
            hover.expect("nobody cancels");
        }
    }
}

/// Runs all navigation features at an offset. Targets are ranges of the text, and a name that can be renamed
/// is one of its own references.
fn navigate(analysis: &Analysis, file: FileId, at: usize, text: &str) {
    let is_text = |range: &std::ops::Range<usize>| text.get(range.clone()).is_some();
    let found = analysis.references(file, at, true).expect("nobody cancels");
    assert!(found.iter().all(|r| is_text(&r.range)));
    for target in analysis.goto_type_definition(file, at).expect("nobody cancels") {
        assert!(is_text(&target.range) && is_text(&target.selection_range));
    }
    if let Ok(name) = analysis.prepare_rename(file, at).expect("nobody cancels") {
        let edits = analysis.rename(file, at, "a_name_nobody_has").expect("nobody cancels");
        let edits = edits.expect("the name is free");
        // In MLIR the mark before a name is shown to who renames it, and stays.
        let is_it = |range: &std::ops::Range<usize>| range.end == name.end && name.start <= range.start;
        assert!(edits.iter().any(|e| is_it(&e.range)), "{name:?} is not among {edits:?}");
        assert!(edits.windows(2).all(|w| w[0].range.end <= w[1].range.start), "{edits:?} overlap");
    }
    if let Some(item) = analysis.prepare_call_hierarchy(file, at).expect("nobody cancels") {
        for direction in [CallDirection::Incoming, CallDirection::Outgoing] {
            analysis.calls(file, item.selection_range.start, direction).expect("nobody cancels");
        }
    }
    let selections = analysis.selection_ranges(file, at).expect("nobody cancels");
    assert!(selections.iter().all(is_text));
    assert!(selections.windows(2).all(|w| w[1].start <= w[0].start && w[0].end <= w[1].end && w[0] != w[1]));
}
