//! Compares simplification with XLA's own results and with known bugs of XLA (`shared/conformance/data`).
//! Compares values on sampled points, not text. Skipped if the data is missing.

use std::io::Read;
use std::path::PathBuf;

use indexing_map::{IndexingMap, SimplifyMode, Verdict, parse_map, same_function};

fn data(name: &str) -> Option<Vec<serde_json::Value>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/data").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: {} is not here", path.display());
        return None;
    };
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    Some(text.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

/// A small generator that yields the same points in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }
}

/// Points of the box and just outside: corners, edges, random points, and points of the domain found by
/// search.
fn sample(map: &IndexingMap) -> Vec<Vec<i64>> {
    let mut random = Random(7);
    let mut points = Vec::new();
    for k in 0..400u64 {
        let point: Vec<i64> = map
            .variables()
            .iter()
            .map(|v| {
                let b = v.bounds;
                match random.below(if k % 2 == 0 { 12 } else { 24 }) {
                    0 => b.lower,
                    1 => b.upper,
                    2 if k % 8 == 0 => b.lower - 1,
                    3 if k % 8 == 0 => b.upper + 1,
                    _ => b.lower + random.below(b.size()) as i64,
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
    let Some(records) = data("oracle_simplify.jsonl.gz") else { return };
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

#[test]
fn right_where_xla_is_wrong() {
    let Some(records) = data("oracle_xla_bugs.jsonl") else { return };
    for r in &records {
        let input = parse_map(r["input"].as_str().unwrap()).unwrap();
        let simple = input.clone().simplified(SimplifyMode::Replace);
        assert_eq!(difference(&simple, &input), None, "{}: {simple}", r["id"]);
        if let Some(point) = r["point"].as_array() {
            let point: Vec<i64> = point.iter().map(|x| x.as_i64().unwrap()).collect();
            assert_eq!(simple.evaluate(&point), input.evaluate(&point), "{}: {simple}", r["id"]);
        }
    }
}

/// XLA's results are the same functions as its inputs, and nearly all are proven to be.
#[test]
fn equality_is_decided() {
    let Some(records) = data("oracle_simplify.jsonl.gz") else { return };
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
