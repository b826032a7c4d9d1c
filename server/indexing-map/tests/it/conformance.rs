//! Compares simplification with XLA's own results (`test_files::xla_answers`) and with known bugs of XLA.
//! Compares values on sampled points, not text.

use indexing_map::{IndexingMap, SimplifyMode, Verdict, parse_map, same_function};
use random::Rng;

/// XLA's answers: at least the committed sample.
fn answers() -> Vec<serde_json::Value> {
    let lines = test_files::xla_answers("oracle_simplify");
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Points of the box and just outside: corners, edges, random points, and points of the domain found by
/// search.
fn sample(map: &IndexingMap) -> Vec<Vec<i64>> {
    let mut random = Rng::new(7);
    let mut points = Vec::new();
    for k in 0..400u64 {
        let point: Vec<i64> = map
            .variables()
            .iter()
            .map(|v| {
                let b = v.bounds;
                match random.index(if k % 2 == 0 { 12 } else { 24 }) {
                    0 => b.lower,
                    1 => b.upper,
                    2 if k % 8 == 0 => b.lower - 1,
                    3 if k % 8 == 0 => b.upper + 1,
                    _ => random.range(b.lower, b.upper),
                }
            })
            .collect();
        points.push(point);
    }
    if let Some(Some(point)) = map.find_point(2000) {
        points.push(point);
    }
    points
}

/// Describes the first sampled point where the maps differ.
fn difference(a: &IndexingMap, b: &IndexingMap) -> Option<String> {
    if a.is_known_empty() || b.is_known_empty() {
        let other = if a.is_known_empty() { b } else { a };
        return (other.prove_empty(20_000) == Some(false)).then(|| "one is empty".to_owned());
    }
    if a.variables().len() != b.variables().len() {
        return Some("counts of variables".to_owned());
    }
    let points = sample(a).into_iter().chain(sample(b));
    points
        .map(|p| (a.evaluate(&p), b.evaluate(&p), p))
        .find(|(x, y, _)| x != y)
        .map(|(x, y, p)| format!("at {p:?}: {x:?}, {y:?}"))
}

#[test]
fn as_xla_simplifies() {
    let records = answers();
    let (mut wrong, mut more_complex) = (Vec::new(), 0);
    for r in &records {
        let input = parse_map(r["input"].as_str().unwrap()).unwrap();
        let expected = parse_map(r["expected"].as_str().unwrap()).unwrap();
        let mut simple = input.clone();
        assert!(!simple.simplify(SimplifyMode::Replace).bound_reached, "{}", r["id"]);
        if let Some(why) = difference(&simple, &expected).or_else(|| difference(&simple, &input)) {
            wrong.push(format!("{}: {why}\n  {simple}\n  {expected}", r["id"]));
        }
        more_complex += usize::from(simple.node_count() > expected.node_count());
        let twice = simple.clone().simplified(SimplifyMode::Replace);
        assert_eq!(twice, simple, "{}", r["id"]);
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        more_complex * 200 <= records.len(),
        "{more_complex} of {} are more complex than XLA's",
        records.len()
    );
}

/// XLA's results are the same functions as its inputs, and nearly all are proven to be.
#[test]
fn equality_is_decided() {
    let records = answers();
    let mut open = Vec::new();
    for r in &records {
        let (input, expected) = (r["input"].as_str().unwrap(), r["expected"].as_str().unwrap());
        match same_function(&parse_map(input).unwrap(), &parse_map(expected).unwrap(), 2000) {
            Verdict::Yes => {}
            Verdict::No { witness } => panic!("{}: not the same at {witness:?}", r["id"]),
            Verdict::Unknown => open.push(format!("{}\n  {input}\n  {expected}", r["id"])),
        }
    }
    eprintln!("{} of {} not decided\n{}", open.len(), records.len(), open.join("\n"));
    assert!(open.len() * 50 <= records.len());
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn right_where_xla_is_wrong() {
        let path = test_files::needs::shared("conformance/data/oracle_xla_bugs.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        for r in records {
            let input = parse_map(r["input"].as_str().unwrap()).unwrap();
            let simple = input.clone().simplified(SimplifyMode::Replace);
            assert_eq!(difference(&simple, &input), None, "{}: {simple}", r["id"]);
            if let Some(point) = r["point"].as_array() {
                let point: Vec<i64> = point.iter().map(|x| x.as_i64().unwrap()).collect();
                assert_eq!(simple.evaluate(&point), input.evaluate(&point), "{}: {simple}", r["id"]);
            }
        }
    }
}
