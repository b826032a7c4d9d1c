//! XLA's own answers for whole fusions: where a map of ours has another text, it is proven to be the same relation.
//! Skips where the data is not beside the checkout.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

use indexing::{IndexingMap, Rules, grouped};
use indexing_map::{Verdict, parse_map, same_function};
use serde_json::Value;

/// Points and boxes that a proof may look at: most need few.
const BUDGETS: [usize; 2] = [1 << 12, 1 << 20];

/// Points that are looked at one by one where there is no proof.
const POINTS: u64 = 1 << 20;

fn answers() -> Option<impl Iterator<Item = Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/conformance/data/oracle_indexing.jsonl.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    };
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    Some(lines.map(|line| serde_json::from_str(&line.expect("text")).expect("JSON")))
}

/// Every pair of an index (with the values of runtime variables) and what is read there; nothing where they are too many.
fn relation(maps: &[IndexingMap]) -> Option<BTreeSet<(Vec<i64>, Vec<i64>)>> {
    let mut pairs = BTreeSet::new();
    for map in maps.iter().filter(|map| !map.is_known_empty()) {
        for (mut point, results) in map.points(POINTS)? {
            point.drain(map.num_dims()..map.num_dims() + map.num_ranges());
            pairs.insert((point, results));
        }
    }
    Some(pairs)
}

/// How the same relation is proven, where it is: map by map, or by looking at every point.
fn proof(ours: &[IndexingMap], theirs: &[IndexingMap]) -> Option<&'static str> {
    let is_same =
        |a: &IndexingMap, b: &IndexingMap| BUDGETS.iter().any(|&n| same_function(a, b, n) == Verdict::Yes);
    let covers = |a: &[IndexingMap], b: &[IndexingMap]| a.iter().all(|a| b.iter().any(|b| is_same(a, b)));
    if covers(ours, theirs) && covers(theirs, ours) {
        return Some("the same function");
    }
    let (ours, theirs) = (relation(ours)?, relation(theirs)?);
    (ours == theirs).then_some("the same at every point")
}

#[test]
fn other_texts_are_the_same_relation() {
    let Some(answers) = answers() else { return };
    let mut unproven = Vec::new();
    let mut compared = 0;
    for case in answers.filter(|case| case["kind"] == "grouped_output_to_input") {
        let (graphs, entry) = crate::graphs(case["hlo"].as_str().unwrap());
        let callees = |name: &str| graphs.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone());
        let graph = callees(&entry).unwrap();
        let target = graph.find(case["instruction"].as_str().unwrap()).unwrap();
        let answer = grouped(&graph, target, 0, &[target], Rules::Xla, &callees);
        for (name, theirs) in case["expected_by_instruction"].as_object().unwrap() {
            let theirs: Vec<IndexingMap> = theirs
                .as_array()
                .unwrap()
                .iter()
                .map(|map| parse_map(map.as_str().unwrap()).unwrap())
                .collect();
            let ours: Vec<IndexingMap> = answer
                .ops
                .iter()
                .filter(|op| op.name == *name)
                .flat_map(|op| op.indexing.iter().map(|access| access.map.clone()))
                .collect();
            compared += 1;
            let is_equal =
                ours.iter().all(|map| theirs.contains(map)) && theirs.iter().all(|map| ours.contains(map));
            if is_equal {
                continue;
            }
            let texts = |maps: &[IndexingMap]| {
                maps.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n    ")
            };
            let what = format!(
                "{} {name}:\n  ours\n    {}\n  XLA\n    {}",
                case["id"],
                texts(&ours),
                texts(&theirs)
            );
            match proof(&ours, &theirs) {
                Some(how) => eprintln!("{how}: {what}"),
                None => unproven.push(what),
            }
        }
    }
    eprintln!("{compared} lists of maps");
    assert!(unproven.is_empty(), "not proven to be the same:\n{}", unproven.join("\n"));
}
