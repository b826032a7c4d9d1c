//! Surveys how well the files below a folder parse:
//! `cargo run --release -p mlir --example survey -- DIR [--deleted N]`.
//!
//! With `--deleted N` one bracket is deleted from a text, N times for each kind, and the other ops that are
//! still found at their places are counted.
#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use mlir::{Form, Parse, PieceState, parse};

/// The start and name of each op.
fn ops(parse: &Parse, text: &str) -> Vec<(usize, String)> {
    let named = parse.ops.iter().filter(|op| !op.name.is_empty() && op.form != Form::Alias);
    named.map(|op| (op.name.start as usize, op.name.of(text).to_owned())).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let paths = test_files::below(arguments.get(1).map_or(".", String::as_str), ".mlir");
    let trials =
        arguments.iter().position(|a| a == "--deleted").and_then(|at| arguments.get(at + 1)?.parse().ok());
    let texts: Vec<(PathBuf, String)> = paths
        .into_iter()
        .filter_map(|p| Some((p.clone(), std::fs::read_to_string(p).ok()?)))
        .filter(|(_, text)| !mlir::holds_hlo(text) && !text.contains("expected-error"))
        .collect();
    match trials {
        Some(trials) => deleted(&texts, trials),
        None => survey(&texts),
    }
}

fn survey(texts: &[(PathBuf, String)]) {
    let (mut clean, mut count, mut values, mut typed, mut uses, mut unknown) = (0, 0, 0, 0, 0, 0);
    let mut untyped: BTreeMap<String, usize> = BTreeMap::new();
    let mut time = std::time::Duration::ZERO;
    let mut bytes = 0;
    for (path, text) in texts {
        let start = std::time::Instant::now();
        let read = parse(text, PieceState::default());
        time += start.elapsed();
        bytes += text.len();
        count += ops(&read, text).len();
        if read.errors.is_empty() && read.open_below.is_empty() {
            clean += 1;
        } else {
            let error = read.errors.first();
            let line = error.map_or(0, |e| text[..e.span.start as usize].lines().count());
            println!("{}:{line}: {:?}", path.display(), error.map(|e| &e.message));
        }
        for (id, value) in read.values.iter().enumerate() {
            values += 1;
            if read.type_of(id as u32, 0, text).is_some() {
                typed += 1;
            } else if let mlir::Definition::Result(op) = value.definition {
                *untyped.entry(read.name(op, text).to_owned()).or_default() += 1;
            } else {
                *untyped
                    .entry(format!("{:?}", value.definition).split('(').next().unwrap_or_default().to_owned())
                    .or_default() += 1;
            }
        }
        for finding in mlir::check(&read, text) {
            let line = text[..finding.span.start as usize].lines().count();
            println!("{} {}:{line}: {}", finding.code, path.display(), finding.message);
        }
        for used in &read.uses {
            uses += 1;
            if used.value.is_none() {
                unknown += 1;
                if unknown < 60 {
                    let line = text[..used.span.start as usize].lines().count();
                    println!(
                        "unknown {} {}:{line} in {}",
                        used.span.of(text),
                        path.display(),
                        read.name(used.op, text)
                    );
                }
            }
        }
    }
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
    println!("{untyped:?}");
    println!("files {} clean {clean} = {:.2} %", texts.len(), percent(clean, texts.len()));
    println!("ops {count}; values {values}, typed {typed} = {:.2} %", percent(typed, values));
    println!(
        "uses {uses}, unresolved {unknown}; {bytes} bytes in {time:?} = {:.0} MB/s",
        bytes as f64 / 1e6 / time.as_secs_f64()
    );
}

fn deleted(texts: &[(PathBuf, String)], trials: usize) {
    let mut random = random::Rng::new(1);
    let mut next = |below: usize| random.index(below);
    let big: Vec<&str> = texts
        .iter()
        .flat_map(|(_, text)| text.split("\n// -----"))
        .filter(|part| part.len() < 200_000 && part.matches("func.func").count() >= 2)
        .collect();
    for sign in ['{', '}', '(', ')', '<', '>', '[', ']'] {
        let (mut kept, mut all) = (0usize, 0usize);
        let mut worst: Vec<(usize, usize, String)> = Vec::new();
        for _ in 0..trials {
            let text = big[next(big.len())];
            let read = parse(text, PieceState::default());
            // Brackets outside of comments and strings.
            let (tokens, _) = mlir::tokens(text, 0, text.len(), false);
            let places: Vec<usize> = tokens
                .iter()
                .filter(|t| t.span.of(text).len() == 1 && t.span.of(text).starts_with(sign))
                .map(|t| t.span.start as usize)
                .collect();
            if places.is_empty() {
                continue;
            }
            let at = places[next(places.len())];
            let without = format!("{}{}", &text[..at], &text[at + 1..]);
            let broken = parse(&without, PieceState::default());
            let found: HashSet<_> = ops(&broken, &without).into_iter().collect();
            let hit = read.op_at(at);
            let mut lost = 0;
            for (id, op) in read.ops.iter().enumerate() {
                if op.name.is_empty() || op.form == Form::Alias || hit == Some(id as u32) {
                    continue;
                }
                all += 1;
                let start = op.name.start as usize;
                let moved = start - usize::from(start > at);
                match found.contains(&(moved, op.name.of(text).to_owned())) {
                    true => kept += 1,
                    false => lost += 1,
                }
            }
            if lost > 0 {
                let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
                worst.push((
                    lost,
                    read.ops.len(),
                    text[line..].lines().next().unwrap_or_default().chars().take(150).collect(),
                ));
            }
        }
        println!("{sign} {kept} of {all} = {:.2} %", 100.0 * kept as f64 / all.max(1) as f64);
        worst.sort_by_key(|w| std::cmp::Reverse(w.0));
        for (lost, all, line) in worst.iter().take(4) {
            println!("    lost {lost} of {all}: {line}");
        }
    }
}
