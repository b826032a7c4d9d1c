//! Times parsing, simplifying and composing: `map_bench [FILE]`. The file has one map per line, or is
//! `*.jsonl.gz` with records that have an `input`. Without a file the maps are generated.
//!
//! Prints mean, median and 99th percentile per map in microseconds. Then times chains of reshapes and
//! transposes: 1,000 operations as a whole, and the cost per operation for chains of 100, 1,000 and 10,000.
//! Measure with optimisation: `cargo run --profile dist -p indexing-map --example map_bench`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

use indexing_map::{Expr, IndexingMap, Interval, SimplifyMode, parse_map, print_map};

/// How often each operation runs on each map. The fastest run counts, to exclude the load of other processes.
const REPEATS: usize = 7;
const CHAIN: usize = 1000;
const LENGTHS: [usize; 3] = [100, CHAIN, 10_000];

fn main() {
    let lines: Vec<String> = match std::env::args().nth(1) {
        Some(path) => match maps_in(&path) {
            Ok(lines) => lines,
            Err(e) => {
                eprintln!("{path}: {e}");
                std::process::exit(2);
            }
        },
        None => generated(),
    };
    let texts: Vec<&str> = lines.iter().map(String::as_str).filter(|l| parse_map(l).is_ok()).collect();
    let maps: Vec<IndexingMap> = texts.iter().filter_map(|t| parse_map(t).ok()).collect();
    let simple: Vec<IndexingMap> = maps.iter().map(|m| m.clone().simplified(SimplifyMode::Replace)).collect();
    println!("{} maps", maps.len());
    println!("{:<16}{:>10}{:>10}{:>10}  µs", "", "mean", "median", "p99");
    report("parse", texts.iter().map(|t| fastest(|| (), |()| parse_map(t))));
    report("print", maps.iter().map(|m| fastest(|| (), |()| print_map(m, Default::default()))));
    let simplify = |mut m: IndexingMap| {
        m.simplify(SimplifyMode::Replace);
        m
    };
    // Each map is parsed again every time, because its nodes cache in which context they are simple.
    let parsed = |text: &&str| parse_map(text).unwrap_or_else(|_| IndexingMap::undefined());
    report("simplify", texts.iter().map(|t| fastest(|| parsed(t), simplify)));
    report("simplify again", simple.iter().map(|m| fastest(|| m.clone(), simplify)));
    // Composes the identity over the dimensions of each map with that map.
    report(
        "compose",
        simple.iter().map(|m| {
            let sizes: Vec<i64> = m.dims().iter().map(|d| d.bounds.upper.saturating_add(1)).collect();
            let identity = IndexingMap::identity(&sizes);
            fastest(|| (), |()| identity.compose(m))
        }),
    );

    let heads: &[&[i64]] = &[&[8, 128, 1024], &[8, 128, 16, 64]];
    let digits: &[&[i64]] = &[&[64, 1024], &[64, 16, 64], &[8, 8, 1024], &[65536]];
    for (what, shapes, reverse) in [("split and merged heads", heads, false), ("mixed digits", digits, true)]
    {
        let run = |chain: &[IndexingMap]| {
            let mut map = chain[0].clone();
            for next in &chain[1..] {
                map = map.compose(next);
                map.simplify(SimplifyMode::Replace);
            }
            map
        };
        let times = LENGTHS.map(|length| fastest(|| chain(shapes, length, reverse), |chain| run(&chain)));
        let nodes = run(&chain(shapes, CHAIN, reverse)).node_count();
        println!("chain of {CHAIN}, {what}: {:.2} ms, {nodes} nodes", times[1].as_secs_f64() * 1e3);
        for (length, time) in LENGTHS.iter().zip(times) {
            println!("{length:>8} operations: {:.2} µs each", time.as_secs_f64() * 1e6 / *length as f64);
        }
    }
}

fn maps_in(path: &str) -> std::io::Result<Vec<String>> {
    let Some(_) = path.strip_suffix(".jsonl.gz") else {
        return Ok(std::fs::read_to_string(path)?.lines().map(str::to_owned).collect());
    };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    let input = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line)?;
        Ok(record["input"].as_str().unwrap_or_default().to_owned())
    };
    text.lines().map(input).collect()
}

fn fastest<A, B>(prepare: impl Fn() -> A, run: impl Fn(A) -> B) -> Duration {
    let time = |_| {
        let input = prepare();
        let start = Instant::now();
        let output = run(black_box(input));
        let time = start.elapsed();
        black_box(output);
        time
    };
    (0..REPEATS).map(time).min().unwrap_or_default()
}

fn report(what: &str, times: impl Iterator<Item = Duration>) {
    let mut us: Vec<f64> = times.map(|t| t.as_secs_f64() * 1e6).collect();
    if us.is_empty() {
        return;
    }
    us.sort_by(f64::total_cmp);
    let mean = us.iter().sum::<f64>() / us.len() as f64;
    println!("{what:<16}{mean:>10.2}{:>10.2}{:>10.2}", us[us.len() / 2], us[us.len() * 99 / 100]);
}

/// A chain of reshapes through the shapes in turn, output to input. With `reverse`, all dimensions are
/// reversed in between, so that the digits of the index mix more and more. Without it, the heads of an
/// attention layer are split, swapped and merged repeatedly.
fn chain(shapes: &[&[i64]], length: usize, reverse: bool) -> Vec<IndexingMap> {
    let mut shape = shapes[0].to_vec();
    let mut maps = Vec::new();
    for k in 0..length {
        if k % 2 == 0 && reverse {
            let input = shapes[(k / 2 + 1) % shapes.len()];
            maps.push(IndexingMap::from_sizes(&shape, &[], reshape(&shape, input)));
            shape = input.to_vec();
        } else if reverse {
            let n = shape.len();
            maps.push(IndexingMap::from_sizes(&shape, &[], (0..n).map(|i| Expr::var(n - 1 - i)).collect()));
            shape.reverse();
        } else {
            // [b, s, h * d] -> [b, s, h, d] -> [b, h, s, d] -> [b, s, h, d] -> [b, s, h * d]
            let (whole, split) = (shapes[0], shapes[1]);
            let swapped = [split[0], split[2], split[1], split[3]];
            let swap = || [0, 2, 1, 3].map(Expr::var).to_vec();
            maps.push(match k % 4 {
                0 => IndexingMap::from_sizes(whole, &[], reshape(whole, split)),
                1 => IndexingMap::from_sizes(split, &[], swap()),
                2 => IndexingMap::from_sizes(&swapped, &[], swap()),
                _ => IndexingMap::from_sizes(split, &[], reshape(split, whole)),
            });
        }
    }
    maps
}

/// The index into `input` of each element of `output`, both row-major.
fn reshape(output: &[i64], input: &[i64]) -> Vec<Expr> {
    let mut linear = Expr::ZERO;
    for (i, size) in output.iter().enumerate() {
        linear = linear * *size + Expr::var(i);
    }
    let mut stride: i64 = input.iter().product();
    let along = |size: &i64| {
        let whole = stride;
        stride /= size;
        linear.clone().modulo(whole).floor_div(stride)
    };
    input.iter().map(along).collect()
}

/// Reshapes, chains of reshapes, slices and pads over several shapes.
fn generated() -> Vec<String> {
    let shapes: [&[i64]; 6] = [
        &[4096, 1024],
        &[32, 128, 1024],
        &[8, 4, 128, 1024],
        &[64, 64, 1024],
        &[2, 2048, 32, 32],
        &[4194304],
    ];
    let mut lines = Vec::new();
    for a in shapes {
        for b in shapes {
            let first = IndexingMap::from_sizes(a, &[], reshape(a, b));
            lines.push(first.to_string());
            for c in shapes {
                let second = IndexingMap::from_sizes(b, &[], reshape(b, c));
                lines.push(first.compose(&second).to_string());
            }
        }
        let padded = a.iter().enumerate().map(|(i, _)| (Expr::var(i) - 1).floor_div(2)).collect();
        let mut pad = IndexingMap::from_sizes(a, &[], padded);
        for i in 0..a.len() {
            pad.add_constraint((Expr::var(i) - 1).modulo(2), Interval::point(0));
        }
        lines.push(pad.to_string());
    }
    lines
}
