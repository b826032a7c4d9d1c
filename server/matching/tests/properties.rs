//! Properties of the matching of random modules with edited copies of themselves.

use std::collections::HashMap;
use std::fmt::Write;

use matching::{Fate, Matching, Program, Relation, match_programs, pair_programs};
use random::Rng;

/// An instruction of a generated module, by the indices of its operands.
#[derive(Clone)]
struct Line {
    name: String,
    opcode: &'static str,
    operands: Vec<usize>,
}

/// A random entry computation. Every instruction but the last has a user, so that nothing is there twice by accident alone.
fn lines(rng: &mut Rng, count: usize) -> Vec<Line> {
    let mut lines: Vec<Line> =
        (0..3).map(|n| Line { name: format!("p.{n}"), opcode: "parameter", operands: Vec::new() }).collect();
    for n in 3..count {
        let opcode = *rng.pick(&["add", "multiply", "subtract", "negate", "exponential"]);
        let arity = if matches!(opcode, "negate" | "exponential") { 1 } else { 2 };
        let operands = (0..arity).map(|_| n - 1 - rng.index(n.min(6))).collect();
        lines.push(Line { name: format!("{opcode}.{n}"), opcode, operands });
    }
    lines
}

fn text(lines: &[Line]) -> String {
    let mut text = String::from("HloModule m\n\nENTRY e {\n");
    for (n, line) in lines.iter().enumerate() {
        let root = if n + 1 == lines.len() { "ROOT " } else { "" };
        let arguments = match line.opcode {
            "parameter" => line.name.trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned(),
            _ => line.operands.iter().map(|&o| lines[o].name.as_str()).collect::<Vec<_>>().join(", "),
        };
        writeln!(text, "  {root}{} = f32[8] {}({arguments})", line.name, line.opcode)
            .expect("text is written");
    }
    text.push_str("}\n");
    text
}

/// The same lines, in which an instruction may have the name of another one. Parameters keep theirs.
fn with_permuted_names(rng: &mut Rng, before: &[Line]) -> Vec<Line> {
    let mut after = before.to_vec();
    for (n, m) in rng.permutation(before.len() - 3).into_iter().enumerate() {
        after[n + 3].name.clone_from(&before[m + 3].name);
    }
    after
}

/// A number per line, equal for equal values.
fn values(lines: &[Line]) -> Vec<usize> {
    let mut known: HashMap<(String, Vec<usize>), usize> = HashMap::new();
    let mut values = Vec::new();
    for line in lines {
        let opcode = if line.opcode == "parameter" { &line.name } else { line.opcode };
        let operands = line.operands.iter().map(|&o| values[o]).collect();
        let next = known.len();
        values.push(*known.entry((opcode.to_owned(), operands)).or_insert(next));
    }
    values
}

fn matched(before: &str, after: &str) -> Matching {
    let read = |text| Program::read(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    match_programs(&read(before), &read(after))
}

#[test]
fn a_module_matches_itself() {
    for seed in 0..200 {
        let text = text(&lines(&mut Rng::new(seed), 40));
        let matching = matched(&text, &text);
        for (id, (origin, fate)) in matching.origins.iter().zip(&matching.fates).enumerate() {
            assert_eq!((origin.relation, origin.source), (Relation::Same, Some(id as u32)));
            assert_eq!(*fate, Fate::Kept(id as u32));
        }
    }
}

/// Even if an instruction takes the former name of another one of its opcode.
#[test]
fn permuted_names_give_the_permutation() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let before = lines(&mut rng, 40);
        let after = with_permuted_names(&mut rng, &before);
        let matching = matched(&text(&before), &text(&after));
        for (id, origin) in matching.origins.iter().enumerate() {
            assert_eq!(origin.source, Some(id as u32), "seed {seed}");
            let is_renamed = before[id].name != after[id].name;
            assert_eq!(origin.relation, if is_renamed { Relation::Renamed } else { Relation::Same });
        }
    }
}

/// New names, and another order of the text: the instructions have the values of their origins.
#[test]
fn renamed_and_reordered_instructions_match_by_value() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let before = lines(&mut rng, 40);
        let mut order: Vec<usize> = Vec::new();
        let mut place = vec![usize::MAX; before.len()];
        while order.len() < before.len() {
            let is_ready = |&n: &usize| {
                let is_root = n + 1 == before.len();
                place[n] == usize::MAX
                    && before[n].operands.iter().all(|&o| place[o] != usize::MAX)
                    && (!is_root || order.len() + 1 == before.len())
            };
            let ready: Vec<usize> = (0..before.len()).filter(is_ready).collect();
            let next = *rng.pick(&ready);
            place[next] = order.len();
            order.push(next);
        }
        let line = |(at, &n): (usize, &usize)| Line {
            name: if n < 3 { format!("q.{n}") } else { format!("x.{at}") },
            opcode: before[n].opcode,
            operands: before[n].operands.iter().map(|&o| place[o]).collect(),
        };
        let after: Vec<Line> = order.iter().enumerate().map(line).collect();
        let matching = matched(&text(&before), &text(&after));
        let values = values(&before);
        for (at, origin) in matching.origins.iter().enumerate() {
            let source =
                origin.source.unwrap_or_else(|| panic!("seed {seed}: {} has no origin", after[at].name));
            assert_eq!(values[source as usize], values[order[at]], "seed {seed}: {}", after[at].name);
        }
    }
}

#[test]
fn an_inserted_instruction_is_reported_and_nothing_else() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let before = lines(&mut rng, 40);
        let at = 3 + rng.index(before.len() - 3);
        let mut after = before.clone();
        let operand = after[at].operands[0];
        after.insert(at, Line { name: "inserted".into(), opcode: "tanh", operands: vec![operand] });
        for line in &mut after[at + 1..] {
            line.operands.iter_mut().filter(|o| **o >= at).for_each(|o| *o += 1);
        }
        after[at + 1].operands[0] = at;
        let matching = matched(&text(&before), &text(&after));
        for (id, origin) in matching.origins.iter().enumerate() {
            assert_eq!(origin.relation != Relation::Same, id == at, "seed {seed}: {origin:?}");
        }
        assert!(matching.fates.iter().all(|fate| matches!(fate, Fate::Kept(_))), "seed {seed}");
    }
}

#[test]
fn a_removed_instruction_is_reported_and_nothing_else() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let mut before = lines(&mut rng, 40);
        let at = 3 + rng.index(before.len() - 4);
        // What is removed is no copy of something else.
        before[at].opcode = "tanh";
        before[at].operands.truncate(1);
        let mut after = before.clone();
        let operand = after.remove(at).operands[0];
        for line in &mut after[at..] {
            for o in &mut line.operands {
                *o = if *o == at { operand } else { *o - usize::from(*o > at) };
            }
        }
        let matching = matched(&text(&before), &text(&after));
        assert!(matching.origins.iter().all(|origin| origin.relation == Relation::Same), "seed {seed}");
        for (id, fate) in matching.fates.iter().enumerate() {
            assert_eq!(!matches!(fate, Fate::Kept(_)), id == at, "seed {seed}: {fate:?}");
        }
        let has_users = before.iter().any(|line| line.operands.contains(&at));
        let wanted = if has_users { Fate::Replaced(operand as u32) } else { Fate::Gone };
        assert_eq!(matching.fates[at], wanted, "seed {seed}");
    }
}

/// Names that other instructions had before mislead nobody: what is paired has the same value, and nothing is left.
#[test]
fn pairs_are_by_structure() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let before = lines(&mut rng, 40);
        let after = with_permuted_names(&mut rng, &before);
        let texts = [text(&before), text(&after)];
        let [one, other] = [0, 1].map(|n| Program::read(&texts[n]).expect("it is HLO"));
        let pairing = pair_programs(&one, &other);
        let values = values(&before);
        for (id, source) in pairing.before.iter().enumerate() {
            let source =
                source.unwrap_or_else(|| panic!("seed {seed}: {} has no counterpart", after[id].name));
            assert_eq!(values[source as usize], values[id], "seed {seed}: {}", after[id].name);
            assert_eq!(pairing.after[source as usize], Some(id as u32), "seed {seed}");
        }
    }
}

#[test]
fn many_instructions_are_matched() {
    let mut rng = Rng::new(1);
    let before = lines(&mut rng, 250_000);
    let mut after = before.clone();
    for (n, line) in after.iter_mut().enumerate().skip(3) {
        if rng.one_in(10) {
            line.name = format!("new.{n}");
        }
        if rng.one_in(100) && line.opcode == "add" {
            (line.opcode, line.name) = ("maximum", format!("max.{n}"));
        }
    }
    let (before, after) = (text(&before), text(&after));
    let programs = [&before, &after].map(|text| Program::read(text).expect("it is HLO"));
    let matching = match_programs(&programs[0], &programs[1]);
    let new = matching.origins.iter().filter(|origin| origin.relation == Relation::New).count();
    assert!(new < 10_000, "{new} new");
    let pairing = pair_programs(&programs[0], &programs[1]);
    let unpaired = pairing.before.iter().filter(|source| source.is_none()).count();
    assert!(unpaired < 100, "{unpaired} without a counterpart");
}
