//! The examples of the rules with something changed: mostly what a rule asks for. No rule changes a value then, and how often each
//! still applies is recorded, so that a rule that applies less often or more often changes a number.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::expect_file;
use random::Rng;
use test_files::Tally;

use crate::algsimp::{CALLEES, apply};
use crate::compare::compare;
use crate::{module, print};

/// Variants of each example.
const VARIANTS: u64 = 24;

/// An example as a pass, a pipeline, and the lines of a computation.
fn examples() -> Vec<(&'static str, &'static str, &'static str)> {
    let split = |text: &'static str| {
        text.split("// -----\n").filter_map(|example| {
            let (title, body) = example.split_once('\n')?;
            Some((title.trim_start_matches("// "), body))
        })
    };
    let of_algsimp = split(include_str!("algsimp.txt")).map(|(title, body)| {
        let pipeline = title.split_once(": ").map_or("simplification", |(pipeline, _)| pipeline);
        ("algsimp", pipeline, body)
    });
    let of_others = split(include_str!("passes.txt"))
        .filter_map(|(title, body)| Some((title.split_once(": ")?.0, "post-layout_assignment", body)));
    of_algsimp.chain(of_others).collect()
}

const OPCODES: [&[&str]; 4] = [
    &["add", "subtract", "multiply", "maximum", "minimum", "divide"],
    &["negate", "sine", "exponential", "abs", "sqrt"],
    &["and", "or", "xor"],
    &["shift-left", "shift-right-logical", "shift-right-arithmetic"],
];
const DIRECTIONS: [&str; 6] = ["=LT", "=GT", "=LE", "=GE", "=EQ", "=NE"];

/// The places of `word` that are no part of another word.
fn places(text: &str, word: &str) -> Vec<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    let is_whole = |&at: &usize| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    };
    text.match_indices(word).map(|(at, _)| at).filter(is_whole).collect()
}

/// Replaces `word` at one of its places, or at all.
fn replaced(text: &str, word: &str, by: &str, rng: &mut Rng) -> Option<String> {
    let places = places(text, word);
    let chosen = if rng.flag() { places } else { vec![*places.get(rng.index(places.len()))?] };
    let mut text = text.to_owned();
    chosen.into_iter().rev().for_each(|at| text.replace_range(at..at + word.len(), by));
    Some(text)
}

fn varied(body: &str, rng: &mut Rng) -> Option<String> {
    match rng.range(0, 7) {
        0..=2 => {
            let words = body.split(|c: char| !c.is_ascii_alphanumeric() && !"_.-".contains(c));
            let numbers: BTreeSet<&str> = words.filter(|word| word.parse::<i64>().is_ok()).collect();
            let numbers: Vec<&str> = numbers.into_iter().collect();
            let word = *numbers.get(rng.index(numbers.len()))?;
            let number: i64 = word.parse().ok()?;
            let by = *rng.pick(&[number + 1, number - 1, 0, 1, 2, number * 2]);
            replaced(body, word, &by.to_string(), rng)
        }
        3 => {
            let family = *rng.pick(&OPCODES);
            let there: Vec<&str> =
                family.iter().copied().filter(|opcode| !places(body, opcode).is_empty()).collect();
            let opcode = *there.get(rng.index(there.len()))?;
            let by = *rng.pick(family);
            replaced(body, opcode, by, rng)
        }
        4 => {
            let to = *rng.pick(&["f64", "f16", "bf16", "s32", "u8", "pred"]);
            let mut body = body.to_owned();
            places(&body, "f32").into_iter().rev().for_each(|at| body.replace_range(at..at + 3, to));
            Some(body)
        }
        5 => {
            let there: Vec<&str> =
                DIRECTIONS.into_iter().filter(|direction| body.contains(direction)).collect();
            let direction = *there.get(rng.index(there.len()))?;
            let by = *rng.pick(&DIRECTIONS);
            Some(body.replacen(direction, by, 1))
        }
        6 => {
            let pairs: Vec<(usize, &str)> = body
                .match_indices('(')
                .filter_map(|(at, _)| Some((at + 1, body[at + 1..].split(')').next()?)))
                .filter(|(_, inside)| inside.split(", ").count() == 2 && !inside.contains(['[', '(']))
                .collect();
            let &(at, inside) = pairs.get(rng.index(pairs.len()))?;
            let (a, b) = inside.split_once(", ")?;
            let by = *rng.pick(&[(b, a), (a, a), (b, b)]);
            let mut body = body.to_owned();
            body.replace_range(at..at + inside.len(), &format!("{}, {}", by.0, by.1));
            Some(body)
        }
        // One more use of something.
        _ => {
            let lines: Vec<&str> = body.lines().collect();
            let (root, before) = lines.split_last()?;
            let shape = |line: &str| Some(line.split_once(" = ")?.1.split([' ', '(']).next()?.to_owned());
            let name =
                |line: &str| Some(line.trim().trim_start_matches("ROOT ").split_once(" = ")?.0.to_owned());
            let other = *before.get(rng.index(before.len()))?;
            let (shapes, names) = ((shape(root)?, shape(other)?), (name(root)?, name(other)?));
            let root = root.trim_start().trim_start_matches("ROOT ");
            Some(format!(
                "{}\n{root}\nROOT both = ({}, {}) tuple({}, {})\n",
                before.join("\n"),
                shapes.0,
                shapes.1,
                names.0,
                names.1
            ))
        }
    }
}

fn is_valid(text: &str) -> bool {
    let text: Arc<str> = text.into();
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let block = ir::lower(text, parse.clone());
    parse.errors.is_empty()
        && block.findings.is_empty()
        && ir::verify(&block, &ir::Surroundings::alone(&block)).is_empty()
}

/// Passes that take initial values of reductions for identities, or call libraries.
const NOT_COMPARED: [&str; 5] = [
    "associative-scan-rewriter",
    "conv-rewriter",
    "reduce-window-rewriter",
    "reduction-degenerate-dim-remover",
    "topk-rewriter",
];

#[test]
fn no_rule_changes_a_value_and_each_applies_as_often_as_recorded() {
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for (number, (pass, pipeline, body)) in examples().into_iter().enumerate() {
        for variant in 0..VARIANTS {
            let rng = &mut Rng::new(number as u64 * VARIANTS + variant);
            let Some(body) = varied(body, rng) else { continue };
            let text = format!("HloModule example\n{CALLEES}\nENTRY e {{\n{body}}}\n");
            if !is_valid(&text) {
                continue;
            }
            let mut module = module(&text);
            let Ok(rules) = apply(&mut module, pass, pipeline) else {
                tally.add(format!("{pass}: not supported"), 1);
                continue;
            };
            let after = print(&module);
            tally.add(format!("{pass}: variants"), 1);
            tally.add(format!("{pass}: instructions after"), after.matches(" = ").count());
            // Which element of no elements is gathered is not defined.
            let gathers_nothing = body.contains("slice_sizes={0");
            for rule in rules {
                tally.add(format!("{pass}: {}", rule.replace(|c: char| c.is_ascii_digit(), "")), 1);
            }
            // As in XLA, the initial value must be the smallest number: of other ones, the result differs.
            let is_undefined = gathers_nothing || body.contains("to_apply=greatest");
            if NOT_COMPARED.contains(&pass) || is_undefined {
                continue;
            }
            match compare(&text, &after, 7, &[]) {
                Ok(compared) => tally.add("compared", usize::from(compared > 0)),
                Err(why) if why.starts_with("no value") => tally.add(format!("{pass}: no value after"), 1),
                Err(why) => failures.push(format!("{pass}: {why}\n{body}\nbecame\n{after}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    tally.check_file(expect_file!["varied.txt"]);
}
