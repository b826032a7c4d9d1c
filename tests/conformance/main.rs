//! Compares the results on XLA's own tests with the recorded scores, which must not drop.

use std::process::Command;

use hlo_analyzer_tests::binary;
use ide::{AnalysisHost, Language};
use test_files::needs::shared;

fn hold(suites: &[&str], quick: bool, minima: &[&str]) {
    let mut command = Command::new("python3");
    command.arg(shared("conformance/run.py")).arg("--bin").arg(binary::hlo_analyzer()).args([
        "--no-ptxas",
        "--failures",
        "5",
    ]);
    for suite in suites {
        command.args(["--suite", suite]);
    }
    for minimum in minima {
        command.args(["--min", minimum]);
    }
    if quick {
        command.arg("--quick");
    }
    let output = command.output().expect("python3 is on PATH");
    eprintln!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "below its mark: {}", String::from_utf8_lossy(&output.stderr));
}

/// XLA's own test files that its verifier rejects (checked with XLA 0.10.2, module by module), with the codes
/// reported for each. All other files in that suite have no errors.
const REFUSED: [(&str, &[&str]); 10] = [
    // The header's types differ from those of the entry's parameters and result.
    ("xla/hlo/builder/tests/math_next_after.hlo", &["entry-layout", "entry-layout", "entry-layout"]),
    // Two calls pass f32[4] for f32[].
    (
        "xla/hlo/tools/tests/generate_hlo_test_checks_test_input.hlo",
        &["called-computation", "called-computation"],
    ),
    (
        "xla/hlo/tools/tests/generate_hlo_test_checks_test_output.hlo",
        &["called-computation", "called-computation"],
    ),
    // A dot without contracting dimensions is f32[8,8].
    ("xla/hlo/transforms/tests/operand_upcaster.hlo", &["shape-mismatch"]),
    // rng takes two operands, but has three in each of seven modules.
    ("xla/hlo/transforms/tests/rng_expander.hlo", &["operand-count"; 7]),
    ("xla/hlo/translate/hlo_to_mhlo/tests/custom_call.hlo", &["unbounded-dimension"; 6]),
    // Starts whose shapes lack the operands, or repeat them.
    ("xla/hlo/translate/hlo_to_mhlo/tests/import_async.hlo", &["shape-mismatch"; 3]),
    ("xla/hlo/translate/hlo_to_mhlo/tests/import_emit_stablehlo.hlo", &["unbounded-dimension"; 2]),
    // A size of 1 is not stretched.
    ("xla/hlo/translate/hlo_to_mhlo/tests/while.hlo", &["shape-mismatch", "shape-mismatch"]),
    // A fusion passes s32[1024] for s32[].
    ("xla/tools/print_indexing_test.hlo", &["called-computation"]),
];

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn parsing() {
        hold(
            &["emitters", "xla_gpu_parse", "oracle_hlo_parse"],
            false,
            &[
                "emitters=100",
                "xla_gpu_parse=100",
                "oracle_hlo_parse:valid=100",
                "oracle_hlo_parse:invalid=99",
            ],
        );
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn maps() {
        hold(
            &["indexing_map", "indexing_map_serialization", "symbolic", "oracle_simplify"],
            true,
            &["oracle_simplify:equal=100", "oracle_simplify:as-simple=98", "indexing_map=98", "symbolic=100"],
        );
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn indexing() {
        hold(
            &["indexing_analysis", "oracle_indexing"],
            true,
            &["indexing_analysis=100", "oracle_indexing:output-to-input=99", "oracle_indexing=99"],
        );
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn what_xla_refuses_of_its_own_files_is_told_and_nothing_else() {
        let lines = test_files::gzip_lines(&shared("conformance/data/emitters.jsonl.gz"));
        let mut seen = 0;
        for line in lines.expect("it is there") {
            let row: serde_json::Value = serde_json::from_str(&line).expect("a line is JSON");
            let (Some(path), Some(text)) = (row["path"].as_str(), row["hlo"].as_str()) else { continue };
            let mut host = AnalysisHost::new();
            let file = host.open(path, Language::Hlo, text);
            let found = host.analysis().diagnostics(file, usize::MAX).expect("nobody cancels").shown;
            let errors = found.iter().filter(|d| d.severity == ide::Severity::Error);
            let codes: Vec<&str> = errors.map(|d| d.code).collect();
            let expected =
                REFUSED.iter().find(|(refused, _)| *refused == path).map_or(&[][..], |(_, codes)| codes);
            assert_eq!(codes, expected, "{path}: {found:?}");
            seen += 1;
        }
        assert!(seen > 300, "{seen} modules");
    }
}
