//! The models of the shared corpus, where it is there.

use generators::hlo;
use random::Rng;
use test_files::below;

use crate::{faults, to_hlo, to_stablehlo};

/// Writes the conversions of all files of `CONVERT_FROM` to `CONVERT_TO`, for other parsers to judge.
#[test]
fn conversions_are_written_for_a_judge() {
    let (Ok(from), Ok(to)) = (std::env::var("CONVERT_FROM"), std::env::var("CONVERT_TO")) else {
        eprintln!("skipped: CONVERT_FROM and CONVERT_TO are not set");
        return;
    };
    let mut clean = 0;
    let all = below(&from, ".mlir");
    for path in &all {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        if mlir::holds_hlo(&text) {
            continue;
        }
        let start = std::time::Instant::now();
        let module = to_hlo(&text);
        if text.len() > 1 << 20 {
            println!("{} bytes, parsed and converted in {:?}", text.len(), start.elapsed());
        }
        let name = path.strip_prefix(&from).unwrap_or(path).to_string_lossy().replace('/', "__");
        let wrong = faults(&module.text);
        clean += usize::from(wrong.is_empty());
        for fault in wrong.iter().take(5) {
            println!("{name}: {fault}");
        }
        for (_, incomplete) in module.incomplete.iter().take(20) {
            println!("{name}: INCOMPLETE {}", incomplete.what);
        }
        std::fs::write(format!("{to}/{name}.hlo"), &module.text).expect("the folder can be written");
    }
    println!("{clean} of {} parse and verify clean", all.len());
    let all = below(&from, ".hlo");
    let mut complete = 0;
    for path in &all {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let module = to_stablehlo(&text);
        let name = path.strip_prefix(&from).unwrap_or(path).to_string_lossy().replace('/', "__");
        complete += usize::from(module.incomplete.is_empty());
        for missing in module.incomplete.iter().take(5) {
            println!("{name}: INCOMPLETE {missing:?}");
        }
        std::fs::write(format!("{to}/{name}.mlir"), &module.text).expect("the folder can be written");
    }
    println!("{complete} of {} are said completely", all.len());
}

/// Writes as many random instructions as `CONVERT_RANDOM` says to `CONVERT_TO`: as StableHLO, and that as HLO.
#[test]
fn random_conversions_are_written_for_a_judge() {
    let (Ok(count), Ok(to)) = (std::env::var("CONVERT_RANDOM"), std::env::var("CONVERT_TO")) else {
        eprintln!("skipped: CONVERT_RANDOM and CONVERT_TO are not set");
        return;
    };
    let opcodes = hlo::opcodes();
    for i in 0..count.parse::<u64>().expect("it is a number") {
        let opcode = opcodes[i as usize % opcodes.len()];
        let Some(generated) = hlo::random_op(opcode, &mut Rng::new(i ^ 0x5555)) else { continue };
        // What is started alone, or done, is no module.
        if !faults(&generated.text).is_empty() {
            continue;
        }
        let stablehlo = to_stablehlo(&generated.text);
        let back = to_hlo(&stablehlo.text);
        let known = if stablehlo.incomplete.is_empty() { "whole" } else { "part" };
        let write = |ending: &str, text: &str| {
            std::fs::write(format!("{to}/{i}.{opcode}.{known}.{ending}"), text)
                .expect("the folder can be written")
        };
        write("given", &generated.text);
        write("mlir", &stablehlo.text);
        write("hlo", &back.text);
    }
}
