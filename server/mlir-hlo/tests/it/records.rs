//! XLA's own tests of its analysis of StableHLO: the module as StableHLO by our converter has the maps of its HLO form.

use mlir::PieceState;

use crate::graphs::{Graphs, op_maps, shown};
use crate::to_stablehlo;

fn compare(record: &serde_json::Value) -> Result<(), String> {
    let hlo = record["hlo"].as_str().ok_or("no text")?;
    let instruction = record["instruction"].as_str().ok_or("no instruction")?;
    let output = record["output_id"].as_u64().unwrap_or(0) as usize;
    let graphs = Graphs::of(hlo);
    let graph = graphs.entry();
    let op = graph.find(instruction).ok_or("no such instruction")?;
    let expected = shown(&graphs.maps(graph, op, output));
    let converted = to_stablehlo(hlo);
    if let Some(missing) = converted.incomplete.first() {
        return Err(format!("{missing:?}"));
    }
    let text = &converted.text;
    let parse = mlir::parse(text, PieceState::default());
    if let Some(error) = parse.errors.first() {
        return Err(format!("{} in\n{text}", error.message));
    }
    let wanted = format!("%{instruction}");
    let value = parse.values.iter().find(|v| v.name.of(text) == wanted).ok_or("its value is gone")?;
    let mlir::Definition::Result(id) = value.definition else { return Err("it is no result".to_owned()) };
    let found = op_maps(&parse, text, id, output).ok_or("it is no op of HLO")??;
    let found = shown(&found);
    match found == expected {
        true => Ok(()),
        false => Err(format!("\n{found:#?}\nis not\n{expected:#?}\n{text}")),
    }
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn maps_of_stablehlo_are_those_of_hlo() {
        let path = test_files::needs::shared("conformance/data/indexing_analysis.jsonl");
        let data = std::fs::read_to_string(path).expect("it is readable");
        let (mut same, mut all) = (0, 0);
        for line in data.lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            let modes = record["modes"].as_array().expect("modes");
            if !modes.iter().any(|mode| mode == "stablehlo") {
                continue;
            }
            all += 1;
            let id = record["id"].as_str().unwrap_or_default();
            match compare(&record) {
                Ok(()) => same += 1,
                Err(why) => println!("{id}: {why}"),
            }
        }
        println!("{same} of {all} records of StableHLO have the maps of their HLO form");
        assert_eq!((same, all), (54, 54));
    }
}
