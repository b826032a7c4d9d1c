//! The scoreboard of XLA's own tests and answers, held to what it has reached. Skips where the data is not there.

use std::process::Command;

use hlo_analyzer_tests::{binary, corpus};

fn hold(suites: &[&str], quick: bool, minima: &[&str]) {
    let Some(shared) = corpus::shared() else { return };
    let mut command = Command::new("python3");
    command.arg(shared.join("conformance/run.py")).arg("--bin").arg(binary::hlo_analyzer()).args([
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
    match command.output() {
        Err(error) => eprintln!("skipped: python3 cannot be started: {error}"),
        Ok(output) => {
            let board = String::from_utf8_lossy(&output.stdout);
            eprintln!("{board}");
            assert!(output.status.success(), "below its mark: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn parsing() {
    hold(
        &["emitters", "xla_gpu_parse", "oracle_hlo_parse"],
        false,
        &["emitters=100", "xla_gpu_parse=100", "oracle_hlo_parse:valid=100", "oracle_hlo_parse:invalid=99"],
    );
}

#[test]
fn maps() {
    hold(
        &["indexing_map", "indexing_map_serialization", "symbolic", "oracle_simplify"],
        true,
        &["oracle_simplify:equal=100", "oracle_simplify:as-simple=98", "indexing_map=98", "symbolic=100"],
    );
}

#[test]
fn indexing() {
    hold(
        &["indexing_analysis", "oracle_indexing"],
        true,
        &["indexing_analysis=100", "oracle_indexing:output-to-input=99", "oracle_indexing=99"],
    );
}
