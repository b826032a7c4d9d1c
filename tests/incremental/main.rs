//! The cost of edits, and their correctness: edits give the same results as opening the final text.

mod checks;
mod mlir;

use std::sync::{Arc, Mutex};

use hlo_analyzer_tests::corpus::own;
use hlo_analyzer_tests::sample::{MODULE, large_module};
use ide::{
    Analysis, AnalysisHost, CallDirection, DomainHints, FileId, FusionQuery, InlayHintsConfig,
    KernelLanguage, Language, TextEdit, WarningsConfig,
};
use proptest::prelude::*;

/// A host that counts the queries that run.
struct Counted {
    host: AnalysisHost,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Counted {
    fn new() -> Counted {
        let ran: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = ran.clone();
        let host =
            AnalysisHost::observed(move |query| sink.lock().expect("no test panics inside").push(query));
        Counted { host, ran }
    }

    /// Executions of `query` since the last call.
    fn count(&self, query: &str) -> usize {
        let ran = self.ran.lock().expect("no test panics inside");
        ran.iter().filter(|q| q.starts_with(&format!("{query}("))).count()
    }

    fn forget(&self) {
        self.ran.lock().expect("no test panics inside").clear();
    }

    fn diagnose(&self, file: FileId) -> usize {
        self.host.analysis().diagnostics(file, 100).expect("nobody cancels").shown.len()
    }

    fn insert(&mut self, file: FileId, at: usize, text: &str) {
        self.host.apply(file, &[TextEdit { range: at..at, insert: text.to_owned() }]);
    }
}

/// Opens a text without errors.
fn opened(text: &str) -> (Counted, FileId) {
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, text);
    assert_eq!(counted.diagnose(file), 0);
    (counted, file)
}

/// The first place of a word in the second half of ENTRY.
fn in_the_entry(text: &str, word: &str) -> usize {
    let entry = text.find("ENTRY").expect("the sample has an entry");
    let line = entry + text[entry..].len() / 2;
    line + text[line..].find(word).expect("the entry goes on")
}

#[test]
fn an_edit_in_one_computation_parses_that_one_alone() {
    let text = large_module(1_000_000);
    let (mut counted, file) = opened(&text);
    assert!(counted.count("block") > 20, "the module is cut into pieces");
    assert_eq!(counted.count("module"), 1);
    counted.forget();
    // A blank before an attribute changes no name, no shape and no call.
    let at = text.find(", metadata").expect("the sample has metadata") + 1;
    counted.insert(file, at, " ");
    assert_eq!(counted.diagnose(file), 0);
    assert_eq!((counted.count("block"), counted.count("outline")), (1, 1));
    assert_eq!(
        (counted.count("module"), counted.count("giant_index"), counted.count("piece_index")),
        (0, 0, 0),
        "white space dirties nothing else"
    );
    counted.forget();
    assert_eq!(counted.diagnose(file), 0);
    assert!(counted.ran.lock().expect("no test panics inside").is_empty(), "nothing changed, nothing runs");
}

#[test]
fn an_edit_looks_for_warnings_in_its_own_piece() {
    let text = large_module(2_000_000);
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    let warn = |counted: &Counted| {
        let config = WarningsConfig::default();
        counted.host.analysis().warnings(file, &config, usize::MAX).expect("nobody cancels").shown
    };
    let before = warn(&counted);
    let at = in_the_entry(&text, "\n  %") + 1;
    // A name that its block does not use is looked up in the other blocks.
    counted.insert(file, at, "  %new.1 = f32[2]{0} constant({1, 2})\n");
    assert_eq!(warn(&counted).len(), before.len() + 1, "the new instruction is unused");
    counted.forget();
    counted.insert(file, at, "  %new.2 = f32[2]{0} constant({3, 4})\n");
    let after = warn(&counted);
    assert_eq!(after.len(), before.len() + 2, "the new instructions are unused");
    assert_eq!((counted.count("block"), counted.count("block_warnings")), (1, 1));
    assert_eq!(counted.count("giant_uses"), 0, "no block uses another name than before");
}

#[test]
fn typing_at_the_top_of_a_file_leaves_what_is_below() {
    let text = large_module(400_000);
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    counted.diagnose(file);
    counted.forget();
    counted.insert(file, 0, "// a comment\n\n");
    counted.diagnose(file);
    assert_eq!(counted.count("block"), 1);
}

#[test]
fn pieces_are_counted_once_per_list_of_pieces() {
    let text = large_module(1_000_000);
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    counted.diagnose(file);
    let pieces = counted.count("block");
    assert_eq!((counted.count("piece_index"), counted.count("position") > 1), (1, true));
    let near_end = text.rfind("ENTRY").expect("the sample has an entry");
    counted.forget();
    // Enough new computations for a piece of their own.
    let computations: String =
        (0..4000).map(|n| format!("%new.{n} {{\n  ROOT %p.{n} = f32[2]{{0}} parameter(0)\n}}\n\n")).collect();
    counted.insert(file, near_end, &computations);
    counted.diagnose(file);
    let positions = counted.count("position");
    assert_eq!(counted.count("piece_index"), 1);
    assert!(counted.count("block") > 1 && positions <= pieces + counted.count("block"), "{positions}");
}

#[test]
fn a_new_name_in_a_giant_computation_parses_one_block() {
    let text = large_module(2_000_000);
    let (mut counted, file) = opened(&text);
    let at = in_the_entry(&text, "\n  %") + 1;
    counted.forget();
    counted.insert(file, at, "  %new = f32[2]{0} constant({1, 2})\n");
    assert_eq!(counted.diagnose(file), 0);
    assert_eq!(counted.count("block"), 1);
    assert_eq!(counted.count("giant_index"), 1);
}

#[test]
fn another_name_in_a_giant_computation_is_told_to_its_users_alone() {
    let text = large_module(2_000_000);
    let (mut counted, file) = opened(&text);
    let pieces = counted.count("block");
    let at = in_the_entry(&text, "\n  %") + "\n  %".len();
    counted.forget();
    counted.insert(file, at, "x");
    assert!(counted.diagnose(file) > 0, "its users do not find it");
    assert_eq!((counted.count("giant_index"), counted.count("module")), (1, 0));
    let told = counted.count("surroundings");
    assert!(told < pieces / 4, "{told} of {pieces} blocks are verified in other surroundings");
    assert!(counted.count("link_findings") < pieces / 4);
}

#[test]
fn an_error_in_a_giant_computation_dirties_no_other_block() {
    let text = large_module(2_000_000);
    let (mut counted, file) = opened(&text);
    let at = in_the_entry(&text, "metadata={") + "metadata={".len();
    for insert in ["(", "\""] {
        counted.forget();
        counted.insert(file, at, insert);
        assert!(counted.diagnose(file) > 0, "{insert} is no attribute");
        assert_eq!(counted.count("giant_index"), 0);
        assert!(counted.count("links") <= 2 && counted.count("surroundings") <= 2, "{insert}");
        counted.host.apply(file, &[TextEdit { range: at..at + insert.len(), insert: String::new() }]);
        assert_eq!(counted.diagnose(file), 0);
    }
}

#[test]
fn another_shape_in_a_giant_computation_is_told_to_its_users_alone() {
    let text = large_module(2_000_000);
    let (mut counted, file) = opened(&text);
    let at = in_the_entry(&text, " = f32[8,128]") + " = f32[".len();
    counted.forget();
    counted.insert(file, at, "1");
    assert!(counted.diagnose(file) > 0, "an addend has another shape");
    assert_eq!(counted.count("giant_index"), 0, "no name changed");
    assert!(counted.count("links") <= 1);
    assert!(counted.count("verify_findings") <= 2, "of its block and perhaps the next");
}

#[test]
fn a_name_of_another_block_that_goes_away_is_reported_there() {
    let text = large_module(2_000_000);
    let mut host = AnalysisHost::new();
    let file = host.open("a.hlo", Language::Hlo, &text);
    let entry = text.find("ENTRY").expect("the sample has an entry");
    let parameter = entry + text[entry..].find("  %p.").expect("the entry has a parameter") + 3;
    host.apply(file, &[TextEdit { range: parameter..parameter, insert: "x".into() }]);
    let found = host.analysis().diagnostics(file, 100_000).expect("nobody cancels");
    assert!(found.shown.len() > 5_000, "every use of the parameter is an error, in all blocks");
    assert!(found.shown.iter().all(|d| d.code == "unknown-operand"));
    host.apply(file, &[TextEdit { range: parameter..parameter + 1, insert: String::new() }]);
    assert!(host.analysis().diagnostics(file, 10).expect("nobody cancels").shown.is_empty());
}

/// 40 computations, each with its own caller, and an entry that calls the callers.
fn callers() -> String {
    let mut text = "HloModule callers\n\n".to_owned();
    let body = |text: &mut String, first: &str| {
        let mut last = first.to_owned();
        for n in 0..200 {
            *text += &format!("  v.{n} = f32[8]{{0}} add({last}, p)\n");
            last = format!("v.{n}");
        }
        last
    };
    for i in 0..40 {
        text += &format!("f.{i} {{\n  p = f32[8]{{0}} parameter(0)\n");
        let last = body(&mut text, "p");
        text += &format!("  ROOT root.{i} = f32[8]{{0}} negate({last})\n}}\n\n");
    }
    for i in 0..40 {
        text += &format!(
            "\
g.{i} {{
  p = f32[8]{{0}} parameter(0)
  c = f32[8]{{0}} call(p), to_apply=f.{i}
"
        );
        let last = body(&mut text, "c");
        text += &format!("  ROOT r = f32[8]{{0}} negate({last})\n}}\n\n");
    }
    text += "ENTRY e {\n  p = f32[8]{0} parameter(0)\n";
    (0..40).for_each(|i| text += &format!("  c.{i} = f32[8]{{0}} call(p), to_apply=g.{i}\n"));
    text + "  ROOT r = f32[8]{0} negate(c.0)\n}\n"
}

#[test]
fn an_edit_in_one_computation_verifies_that_one_alone() {
    let text = callers();
    let (mut counted, file) = opened(&text);
    let all = counted.count("verify_findings");
    assert!(all > 10, "the module is cut into {all} pieces");
    counted.forget();
    // A different opcode in the middle of a body: no signature changes.
    let at = text.find("f.7 {").and_then(|at| Some(at + text[at..].find("add(v.100")?)).expect("a body");
    counted.host.apply(file, &[TextEdit { range: at..at + 3, insert: "multiply".to_owned() }]);
    assert_eq!(counted.diagnose(file), 0);
    assert_eq!(counted.count("verify_findings"), 1, "no other piece is verified");
    assert_eq!(counted.count("module"), 0);
    // An additional line: the module knows no instructions.
    counted.forget();
    counted.insert(file, at - "  v.101 = f32[8]{0} ".len(), "  more = f32[8]{0} negate(v.100)\n");
    assert_eq!(counted.diagnose(file), 0);
    assert_eq!(counted.count("module"), 0);
    assert_eq!(counted.count("verify_findings"), 1, "no other piece is verified");
    // White space invalidates nothing except the piece itself.
    counted.forget();
    counted.insert(file, at - "  v.101 = f32[8]{0} ".len(), " ");
    assert_eq!(counted.diagnose(file), 0);
    let ran = ["verify_findings", "surroundings", "module_verify_findings"].map(|query| counted.count(query));
    assert_eq!(ran, [1, 1, 0]);
}

#[test]
fn another_result_is_told_to_the_callers_alone() {
    let text = callers();
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    let all = counted.diagnose(file) + counted.count("verify_findings");
    counted.forget();
    let at = text.find("ROOT root.7 = f32[8]").expect("a root") + "ROOT root.7 = f32[".len();
    counted.host.apply(file, &[TextEdit { range: at..at + 1, insert: "9".to_owned() }]);
    let found = counted.host.analysis().diagnostics(file, 100).expect("nobody cancels").shown;
    let told: Vec<_> = found.iter().map(|d| &text[d.range.start..d.range.end]).collect();
    assert_eq!(
        told,
        ["f32[9]{0}", "f32[8]{0}"].map(|_| "f32[8]{0}"),
        "the root itself and its caller: {found:?}"
    );
    let verified = counted.count("verify_findings");
    assert!((2..=3).contains(&verified), "{verified} of {all} pieces are verified");
}

/// 30 fusions that share pieces, and an entry that calls them.
fn fusions() -> String {
    let mut text = "HloModule fusions\n\n".to_owned();
    for i in 0..30 {
        text += &format!(
            "\
f.{i} {{
  p = f32[2048,2048]{{1,0}} parameter(0)
  q = f32[2048,2048]{{0,1}} parameter(1)
  a.{i} = f32[2048,2048]{{1,0}} add(p, q)
  ROOT r.{i} = f32[2048,2048]{{1,0}} exponential(a.{i})
}}

"
        );
    }
    text += "\
ENTRY e {
  x = f32[2048,2048]{1,0} parameter(0)
  y = f32[2048,2048]{0,1} parameter(1)
";
    for i in 0..30 {
        text += &format!("  g.{i} = f32[2048,2048]{{1,0}} fusion(x, y), kind=kLoop, calls=f.{i}\n");
    }
    text + "  ROOT t = f32[2048,2048]{1,0} transpose(x), dimensions={0,1}\n}\n"
}

#[test]
fn an_edit_in_one_fusion_runs_its_kernel_alone() {
    let text = fusions();
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    let look = |counted: &Counted| {
        let analysis = counted.host.analysis();
        let config = ide::CoalescingConfig { marks_causes: false, ..ide::CoalescingConfig::default() };
        let wasted = analysis.coalescing_warnings(file, &config, 100).expect("nobody cancels").shown.len();
        for place in analysis.code_lens_places(file, true, 1000).expect("nobody cancels") {
            analysis.code_lens(file, place.start, false).expect("nobody cancels");
            analysis.hover(file, place.start).expect("nobody cancels");
        }
        let kernels = ["kernel", "kernel_partition", "kernel_coalescing", "kernel_estimate"];
        (wasted, kernels.map(|query| counted.count(query)))
    };
    // 30 fusions and a transpose; one read of each fusion is uncoalesced.
    assert_eq!(look(&counted), (30, [31, 31, 31, 31]));
    counted.forget();
    assert_eq!(look(&counted), (30, [0; 4]), "nothing changed, nothing runs");
    // A different opcode in one fused computation.
    let at = text.find("exponential(a.7)").expect("a root");
    counted.host.apply(file, &[TextEdit { range: at..at + 11, insert: "abs".to_owned() }]);
    counted.forget();
    assert_eq!(look(&counted), (30, [1; 4]));
    // White space in a fused computation and among the fusions.
    for needle in ["abs(a.7)", "fusion(x, y), kind=kLoop, calls=f.3\n"] {
        let at = counted.host.text(file).to_string().find(needle).expect(needle);
        counted.insert(file, at, " ");
        counted.forget();
        assert_eq!(look(&counted), (30, [0; 4]), "white space dirties no kernel");
    }
    // An additional line among the fusions: the others keep their kernels.
    let at = counted.host.text(file).to_string().find("  g.5 =").expect("a fusion");
    counted.insert(file, at, "  more = f32[2048,2048]{1,0} negate(x)\n");
    counted.forget();
    assert_eq!(look(&counted), (30, [1; 4]), "the new instruction alone has a new kernel");
    // A different device: every kernel changes.
    counted.host.set_device("b200").expect("a known device");
    counted.forget();
    let (_, kernels) = look(&counted);
    assert_eq!(kernels[0], 32);
}

#[test]
fn a_shown_kernel_is_written_again_where_it_may_be_another() {
    let text = fusions();
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    let show = |counted: &Counted| {
        counted.forget();
        let texts = shown(&counted.host.analysis(), file, "g.7");
        let written = ["kernel_code", "kernel_mlir", "kernel_ptx"].map(|query| counted.count(query));
        (texts, written)
    };
    let (before, written) = show(&counted);
    assert_eq!(written, [1; 3]);
    assert!(before.contains("math.exp") && before.contains("ex2.approx"), "{before}");
    // A comment at the top, white space in its own computation, a different opcode in another computation.
    for (needle, insert) in
        [("HloModule", "// a remark\n"), ("exponential(a.7)", " "), ("ponential(a.8)", "")]
    {
        let at = counted.host.text(file).to_string().find(needle).expect(needle);
        match insert {
            "" => counted.host.apply(file, &[TextEdit { range: at - 2..at + 9, insert: "abs".to_owned() }]),
            _ => counted.insert(file, at, insert),
        }
        assert_eq!(show(&counted), (before.clone(), [0; 3]), "{needle}");
    }
    let at = counted.host.text(file).to_string().find("exponential(a.7)").expect("a root");
    counted.host.apply(file, &[TextEdit { range: at..at + 11, insert: "abs".to_owned() }]);
    let (after, written) = show(&counted);
    assert_eq!(written, [1; 3]);
    assert!(after.contains("abs.f32") && !after.contains("math.exp"), "{after}");
}

/// The kernel of an instruction of the entry, as MLIR and PTX.
fn shown(analysis: &Analysis, file: FileId, instruction: &str) -> String {
    let query = FusionQuery { instruction: instruction.to_owned(), computation: None };
    let text = |language| match analysis.kernel_document(file, &query, language).expect("nobody cancels") {
        Ok(document) => document.text(&[]).0,
        Err(why) => format!("{why:?}"),
    };
    [KernelLanguage::Mlir, KernelLanguage::Ptx].map(text).concat()
}

/// The results of all editor features for a file.
fn everything(analysis: &Analysis, file: FileId) -> String {
    let len = analysis.text(file).len_bytes();
    let hints = analysis
        .inlay_hints(
            file,
            0..len,
            &InlayHintsConfig { domains: DomainHints::All, splits: true, memory: true },
        )
        .expect("nobody cancels");
    let hovers: Vec<_> =
        (0..len).step_by(97).map(|at| analysis.hover(file, at).expect("nobody cancels")).collect();
    let warnings = analysis.warnings(file, &WarningsConfig::default(), 1000).expect("nobody cancels");
    let names: Vec<_> = (0..len).step_by(89).map(|at| navigated(analysis, file, at)).collect();
    let lenses: Vec<_> = analysis
        .code_lens_places(file, true, 20)
        .expect("nobody cancels")
        .iter()
        .map(|place| analysis.code_lens(file, place.start, false).expect("nobody cancels"))
        .collect();
    let places = analysis.code_lens_places(file, true, 20).expect("nobody cancels");
    let kernels = places.iter().filter_map(|p| analysis.shown_kernel(file, p.start).expect("nobody cancels"));
    let kernels: Vec<_> = kernels.map(|kernel| shown(analysis, file, &kernel.instruction)).collect();
    format!(
        "\
{kernels:#?}
{warnings:#?}
{:#?}
{:#?}
{hints:#?}
{hovers:#?}
{:?}
{names:#?}
{lenses:#?}
{:#?}
{:#?}
{:#?}",
        analysis.diagnostics(file, 1000).expect("nobody cancels"),
        analysis.document_symbols(file, 1000).expect("nobody cancels"),
        analysis.statistics(file).expect("nobody cancels").instructions,
        analysis.folding_ranges(file, 1000).expect("nobody cancels"),
        analysis.semantic_tokens(file, 0..len, 100_000).expect("nobody cancels"),
        analysis.document_links(file, 1000).expect("nobody cancels"),
    )
}

/// All navigation results for a name.
fn navigated(analysis: &Analysis, file: FileId, at: usize) -> impl std::fmt::Debug + use<> {
    (
        analysis.goto_definition(file, at),
        analysis.goto_type_definition(file, at),
        analysis.references(file, at, true),
        analysis.rename(file, at, "a_name_nobody_has"),
        analysis.calls(file, at, CallDirection::Incoming),
        analysis.calls(file, at, CallDirection::Outgoing),
        analysis.selection_ranges(file, at),
    )
}

#[test]
fn white_space_leaves_calls_and_costs() {
    let text = large_module(400_000);
    let mut counted = Counted::new();
    let file = counted.host.open("a.hlo", Language::Hlo, &text);
    let lens = |counted: &Counted| {
        let entry = counted.host.text(file).to_string().find("%main").expect("the sample has an entry");
        counted.host.analysis().code_lens(file, entry, false).expect("nobody cancels").expect("it is a name")
    };
    let before = lens(&counted);
    assert_eq!((counted.count("call_graph"), counted.count("computation_costs")), (1, 1));
    counted.forget();
    let at = text.find(", metadata").expect("the sample has metadata") + 1;
    counted.insert(file, at, " ");
    assert_eq!(lens(&counted).title, before.title);
    assert_eq!((counted.count("call_graph"), counted.count("computation_costs")), (0, 0));
    assert_eq!(counted.count("own_costs"), 1, "one piece is counted anew");
}

/// Checks a text in pieces of the default size, and in pieces of one computation each.
fn check_edits(text: &str, edits: &[(f64, usize, String)]) {
    check_edits_of(AnalysisHost::new(), text, edits);
    check_edits_of(AnalysisHost::in_pieces_of(0), text, edits);
}

fn check_edits_of(mut host: AnalysisHost, text: &str, edits: &[(f64, usize, String)]) {
    let file = host.open("a.hlo", Language::Hlo, text);
    everything(&host.analysis(), file);
    for (place, len, insert) in edits {
        let rope = host.text(file);
        let start = rope.char_to_byte((place * rope.len_chars() as f64) as usize);
        let end = (start + len).min(rope.len_bytes());
        host.apply(file, &[TextEdit { range: start..end, insert: insert.clone() }]);
        let text = host.text(file).to_string();
        let mut fresh = AnalysisHost::new();
        let same = fresh.open("a.hlo", Language::Hlo, &text);
        let (edited, scratch) = (everything(&host.analysis(), file), everything(&fresh.analysis(), same));
        assert!(edited == scratch, "after {insert:?} at {start}..{end}:\n{}", difference(&edited, &scratch));
    }
}

fn difference(a: &str, b: &str) -> String {
    let at = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or_default();
    let around = |text: &str| text.lines().skip(at.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n");
    format!("edited:\n{}\nfrom scratch:\n{}", around(a), around(b))
}

#[test]
fn which_instructions_are_kernels_does_not_depend_on_what_shares_their_piece() {
    // The first computation has no fusion, ENTRY has one; after the edits they are in two pieces, when opened
    // afresh in one.
    let edits =
        [(0.1350369093763061, 18, " "), (0.3882704503074237, 33, "\n"), (0.23369148456194785, 4, "\n")];
    check_edits(MODULE, &edits.map(|(place, len, insert)| (place, len, insert.to_owned())));
}

fn edits() -> impl Strategy<Value = Vec<(f64, usize, String)>> {
    let insert = prop_oneof![
        "[a-z0-9 ]{1,3}",
        Just("\n".to_owned()),
        Just("}\n".to_owned()),
        Just("{".to_owned()),
        Just("(".to_owned()),
        Just("\"".to_owned()),
        Just("/*".to_owned()),
        Just("*/".to_owned()),
        Just("ENTRY %e {\n".to_owned()),
        Just("  %y = f32[8,128]{1,0} negate(%x)\n".to_owned()),
        Just("HloModule b\n".to_owned()),
        Just("// -----\n".to_owned()),
        Just(String::new()),
    ];
    proptest::collection::vec((0.0..1.0f64, 0usize..40, insert), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_equal_the_final_text_from_scratch(edits in edits()) {
        check_edits(MODULE, &edits);
    }

    #[test]
    fn so_they_do_in_the_projects_modules(edits in edits(), which in 0usize..100) {
        let modules = own();
        check_edits(&modules[which % modules.len()].text, &edits[..edits.len().min(4)]);
    }
}
