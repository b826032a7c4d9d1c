//! Random clients, for a short time here and for longer with `cargo xtask soak`.
//!
//! `HLO_ANALYZER_SOAK_SEED=N` repeats one case; `HLO_ANALYZER_SOAK_MINUTES=N` sets the duration in minutes.
//! `HLO_ANALYZER_SOAK_SCRIPT=FILE` plays the reduced script in the report of a failed simulation.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use hlo_analyzer_tests::soak::queries::QueryProcess;
use hlo_analyzer_tests::soak::texts::Language;
use hlo_analyzer_tests::soak::{
    Campaign, Length, PATIENCE, changing_files, differential, queries, simulation,
};
use serde_json::json;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// The campaign set by the environment, else `cases` cases.
fn campaign(cases: u64) -> Campaign {
    let seed = number("HLO_ANALYZER_SOAK_SEED");
    let minutes = number("HLO_ANALYZER_SOAK_MINUTES");
    let first_seed = seed.or_else(|| number("HLO_ANALYZER_SOAK_FIRST_SEED"));
    let length = match (seed, minutes) {
        (Some(_), _) => Length::Cases(1),
        (None, Some(minutes)) => Length::Time(Duration::from_secs(minutes * 60)),
        (None, None) => Length::Cases(cases),
    };
    Campaign { first_seed: first_seed.unwrap_or(1), length }
}

#[test]
fn random_edits_give_what_the_text_gives_from_scratch() {
    differential::run(campaign(30)).check("differential");
}

/// Cases after which each method of the server has been asked.
const CASES_OF_ALL_METHODS: u64 = 75;

#[test]
fn a_simulated_client_is_answered_as_by_a_server_without_edits() {
    if let Some(file) = std::env::var_os("HLO_ANALYZER_SOAK_SCRIPT") {
        let report = std::fs::read_to_string(file).expect("the report can be read");
        return simulation::replay(&serde_json::from_str(&report).expect("the report is JSON"));
    }
    let report = simulation::run(campaign(CASES_OF_ALL_METHODS));
    report.check("simulation");
    if report.cases >= CASES_OF_ALL_METHODS {
        let unasked: Vec<String> = methods_of_server().difference(&report.methods).cloned().collect();
        assert!(unasked.is_empty(), "the simulated client never asks {unasked:?}");
    }
}

/// The methods in the server's table of requests, from its sources.
fn methods_of_server() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/hlo-analyzer/src/lsp/requests");
    let mut methods: BTreeSet<String> =
        ["completionItem/resolve", "hlo-analyzer/status"].map(str::to_owned).into();
    for file in std::fs::read_dir(folder).expect("the requests are there") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("it is text");
        let names = text.lines().filter_map(|line| {
            line.trim().strip_prefix("const METHOD: &'static str = \"")?.strip_suffix("\";")
        });
        methods.extend(names.map(str::to_owned));
    }
    // This one is a request of the server to its client.
    assert!(methods.remove("workspace/textDocumentContent/refresh"));
    assert!(methods.len() > 60, "{methods:?}");
    methods
}

#[test]
fn files_of_a_dump_may_change_while_requests_read_them() {
    changing_files::run(campaign(40)).check("changing-files");
}

#[test]
fn every_query_has_an_answer() {
    queries::run(campaign(150)).check("queries");
}

/// Texts that once crashed the server or made it panic, each with the queried instruction.
const TEXTS_OF_THE_PAST: &[(Language, &str, &str)] = &[
    // Constants that depend on themselves.
    (Language::Mlir, "c.func@t{%0=stablehlo.iota%1=\"stablehlo.sort\"({%cst_2=stablehlo.constant%cst_2", "1"),
    (Language::Mlir, "c.func@m{%0=stablehlo.while{%1{}%cst_1=stablehlo.constant%cst_1}{%c", "0"),
    (Language::Mlir, "func@a{%1=\"stablehlo.sort\"({%cst=stablehlo.constant%cst", "1"),
    (Language::Mlir, "func@n(%arg0:{%0=stablehlo.while%arg0{%1%cst_1=stablehlo.constant%cst_1}{\n}", "0"),
    // Missing operands, or operands of a different rank from the result.
    (Language::Hlo, "f32[1,2,1]{2,0,1}copy", "copy"),
    (
        Language::Hlo,
        "\
HloModule m

f {
  p = f32[4]{0} parameter(0)
  c = f32[4]{0} copy()
  ROOT r = f32[4]{0} add(c, p)
}

ENTRY e {
  p = f32[4]{0} parameter(0)
  ROOT k = f32[4]{0} fusion(p), kind=kLoop, calls=f
}
",
        "k",
    ),
    (
        Language::Hlo,
        "\
HloModule m

f {
  p = f32[4,8]{1,0} parameter(0)
  ROOT b = f32[4,8]{0,1} copy(f32[4,800{1,0} p)
}

ENTRY e {
  p = f32[4,8]{1,0} parameter(0)
  ROOT k = f32[4,8]{0,1} fusion(p), kind=kLoop, calls=f
}
",
        "k",
    ),
    (
        Language::Mlir,
        r#"func.func @u() -> tensor<3x4xi32> {
  %c = mhlo.constant dense<1> : tensor<3x4xi32>
  %v = mhlo.constant dense<[[13, 14]]> : tensor<1x2xi32>
  %s = mhlo.constant dense<1> : tensor<i32>
  %0 = "mhlo.dynamic_update_slice"(%c, %v, %s, %s)
    : (tensor<3x4xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>)
"#,
        "0",
    ),
    (
        Language::Hlo,
        "\
HloModule m

ENTRY e {
  a = f32[3,4]{1,0} parameter(0)
  u = f32[1,2]{1,0} parameter(1)
  i = s32[] parameter(2)
  ROOT k = f32[] dynamic-update-slice(a, u, i, i)
}
",
        "k",
    ),
];

#[test]
fn texts_of_the_past() {
    let mut process = QueryProcess::start();
    for &(language, text, instruction) in TEXTS_OF_THE_PAST {
        for &method in queries::METHODS {
            for emit in ["mlir", "ptx"] {
                let params = json!({"language": language.id(), "text": text, "instruction": instruction, "emit": emit, "inputs": []});
                let request = json!({"id": 1, "method": method, "params": params});
                if let Err(failure) = process.ask(&request, PATIENCE) {
                    panic!("{failure}");
                }
            }
        }
    }
}

/// A line that closes a computation, followed by the next computation: completion once saw the line but not
/// the brace.
#[test]
fn what_is_above_a_computation_does_not_matter_for_completion() {
    let edit = json!({"range": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}}, "text": ""});
    differential::replay(Language::Hlo, "n{\nl}{\nf{", &[edit]);
}

/// The outline of a text with nothing readable except white space has no inverted ranges.
#[test]
fn what_is_not_read_is_no_inverted_range() {
    let edit = json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "    \"sizes\":[\"32\"],\n"});
    differential::replay(Language::Hlo, "", &[edit]);
}

mod needs_shared {
    use super::*;

    /// Sequences of edits after which a response once differed from that of a fresh server.
    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn cases_of_the_past() {
        let folder = test_files::needs::shared("repros/robustness");
        for (file, language) in [
            ("diff_completion_min.json", Language::Hlo),
            ("diff_hlo_21_145_4.min.json", Language::Hlo),
            ("diff_mlir_12_254_2.json", Language::Mlir),
            ("diff_mlir_12_102_5.shrunk.json", Language::Mlir),
        ] {
            let text = std::fs::read_to_string(folder.join(file)).expect("the case is there");
            let case: serde_json::Value = serde_json::from_str(&text).expect("the case is JSON");
            let changes = case["changes"].as_array().or_else(|| case["edit"].as_array());
            let changes = changes.unwrap_or_else(|| panic!("{file} has no changes"));
            eprintln!("{file}");
            differential::replay(language, case["base"].as_str().unwrap_or_default(), changes);
        }
    }
}
