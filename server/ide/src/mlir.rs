//! The features, of MLIR text. None needs a dialect to be known: an op of one that nobody has heard of is read as any other.
//!
//! One file per feature, called like the one for HLO beside it.

pub(crate) mod call_hierarchy;
pub(crate) mod code_actions;
pub(crate) mod completion;
pub(crate) mod context;
pub(crate) mod diagnostics;
pub(crate) mod document_symbols;
pub(crate) mod folding_ranges;
pub(crate) mod formatting;
pub(crate) mod goto_definition;
pub(crate) mod hover;
pub(crate) mod indexing_map_hover;
pub(crate) mod inlay_hints;
pub(crate) mod kernels;
pub(crate) mod map_text;
pub(crate) mod occurrences;
pub(crate) mod op_maps_hover;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod statistics;
pub(crate) mod workspace_symbols;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use crate::{Analysis, AnalysisHost, FileId, InlayHintsConfig, Language, TextEdit, Wanted};

    const CONSTRUCTS: &str = include_str!("../../mlir/tests/fixtures/constructs.mlir");

    /// Everything that the features say of a file.
    fn all(analysis: &Analysis, file: FileId) -> String {
        let text = analysis.rope(file).to_string();
        let everything = (
            analysis.diagnostics(file, 10_000),
            analysis.document_symbols(file, 10_000),
            analysis.folding_ranges(file, 10_000),
            analysis.semantic_tokens(file, 0..text.len(), 100_000),
            analysis.inlay_hints(file, 0..text.len(), &InlayHintsConfig { domains: true, splits: true }),
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

    /// Texts large enough for several pieces, edited at random, are analysed as if they had just been opened.
    #[test]
    fn edits_equal_a_fresh_start() {
        let filler = "  func.func @filler(%a: f32) {\n    %b = x.y %a : f32\n    return\n  }\n".repeat(300);
        let mut text =
            CONSTRUCTS.replacen("  gpu.module @kernels {", &format!("{filler}  gpu.module @kernels {{"), 1);
        let mut host = AnalysisHost::new();
        let file = host.open("a.mlir", Language::Mlir, &text);
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below.max(1) as u64) as usize
        };
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
                        String::from_utf8_lossy(
                            &s.as_bytes()[at.saturating_sub(200)..(at + 100).min(s.len())],
                        )
                        .into_owned()
                    })
                };
                assert_eq!(near(&edited), near(&fresh), "step {step}");
            }
        }
    }

    #[test]
    fn an_edit_in_one_function_reads_no_other_piece() {
        let function = |n: usize| {
            format!("  func.func @f{n}(%a: f32) {{\n{}    return\n  }}\n", "    x.y %a : f32\n".repeat(2000))
        };
        let text = format!("module {{\n{}}}\n", (0..8).map(function).collect::<String>());
        let ran: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = ran.clone();
        let mut host = AnalysisHost::observed(move |query| seen.lock().expect("no panic").push(query));
        let file = host.open("a.mlir", Language::Mlir, &text);
        _ = host.analysis().diagnostics(file, 100);
        let at = text.find("@f4").expect("it is there")
            + text[text.find("@f4").unwrap_or(0)..].find("x.y").unwrap_or(0);
        ran.lock().expect("no panic").clear();
        host.apply(file, &[TextEdit { range: at..at + 3, insert: "x.z".into() }]);
        _ = host.analysis().diagnostics(file, 100);
        let ran = ran.lock().expect("no panic");
        let of = |name: &str| ran.iter().filter(|q| q.starts_with(name)).count();
        assert_eq!((of("mlir_piece"), of("mlir_signature"), of("mlir_module")), (1, 1, 0), "{ran:?}");
    }
}
