//! The text of a module after a change.

use memory::{Action, Donation, Move, Relayout, Rematerialisation, SecondCopy, Sharding};

fn path(index: &[i64]) -> String {
    let parts: Vec<String> = index.iter().map(i64::to_string).collect();
    format!("{{{}}}", parts.join(","))
}

/// The text after a change.
pub fn rewritten(text: &str, action: &Action) -> String {
    match action {
        Action::Donate(donations) => {
            let entry = |donation: &Donation| {
                let Donation { parameter, index, output, .. } = donation;
                format!("{}: ({parameter}, {}, may-alias)", path(output), path(index))
            };
            let entries: Vec<String> = donations.iter().map(entry).collect();
            let scheduled = "is_scheduled=true";
            let aliases = format!("{scheduled}, input_output_alias={{ {} }}", entries.join(", "));
            text.replacen(scheduled, &aliases, 1)
        }
        Action::Move(Move { names, before, .. }) => {
            let is_moved = |line: &&str| names.iter().any(|name| defines(line, name));
            let moved: Vec<&str> = text.lines().filter(is_moved).collect();
            let mut lines = Vec::new();
            for line in text.lines().filter(|line| !is_moved(line)) {
                if defines(line, before) {
                    lines.extend(&moved);
                }
                lines.push(line);
            }
            assert_eq!(
                (moved.len(), lines.len()),
                (names.len(), text.lines().count()),
                "{names:?} before {before}"
            );
            lines.join("\n")
        }
        Action::Rematerialise(Rematerialisation { names, before, .. }) => {
            let copied: Vec<&str> =
                text.lines().filter(|line| names.iter().any(|n| defines(line, n))).collect();
            assert_eq!(copied.len(), names.len(), "{names:?}");
            let mut lines: Vec<String> = Vec::new();
            let mut is_behind = false;
            for line in text.lines() {
                if defines(line, before) {
                    is_behind = true;
                    lines.extend(copied.iter().map(|line| with_copies(line, names)));
                }
                lines.push(if is_behind { with_copies(line, names) } else { line.to_owned() });
            }
            lines.join("\n")
        }
        Action::Relayout(Relayout { names, minor_to_major, .. }) => {
            let lines = text.lines().map(|line| match names.iter().any(|name| defines(line, name)) {
                true => in_order(line, minor_to_major),
                false => line.to_owned(),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Action::Shard(Sharding { name, shape, dimension, gathered_before, .. }) => {
            let mut lines = Vec::new();
            let mut whole = String::new();
            for line in text.lines() {
                if defines(line, name) {
                    let (front, rest) = line.split_once(" = ").expect("it is an instruction");
                    let (own, opcode) = rest.split_once(' ').expect("it has an opcode");
                    whole = own.to_owned();
                    lines.push(format!("{front} = {shape} {opcode}"));
                } else if let Some(reader) = gathered_before.iter().find(|reader| defines(line, reader)) {
                    let gathered = format!("{name}.{reader}");
                    lines.push(format!(
                        "  {gathered} = {whole} all-gather({name}), dimensions={{{dimension}}}"
                    ));
                    lines.push(renamed(line, |word| (*word == **name).then(|| gathered.clone())));
                } else {
                    lines.push(line.to_owned());
                }
            }
            lines.join("\n")
        }
        Action::DropCopy(SecondCopy { source, copy, removed, stored_as, .. }) => {
            let kept = text.lines().filter(|line| !removed.iter().any(|name| defines(line, name)));
            let lines = kept.map(|line| match stored_as {
                Some(shape) if defines(line, source) => {
                    let (name, rest) = line.split_once(" = ").expect("it is an instruction");
                    let opcode = rest.split_once(' ').expect("it has an opcode").1;
                    format!("{name} = {shape} {opcode}")
                }
                _ => renamed(line, |word| (*word == **copy).then(|| source.to_string())),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// A line in which the layout of the result has another order.
fn in_order(line: &str, order: &[i64]) -> String {
    let order: Vec<String> = order.iter().map(i64::to_string).collect();
    let (front, layout) = line.split_once("]{").expect("it has a layout");
    let end = layout.find([':', '}']).expect("it ends");
    format!("{front}]{{{}{}", order.join(","), &layout[end..])
}

fn defines(line: &str, name: &str) -> bool {
    line.trim_start().trim_start_matches("ROOT ").starts_with(&format!("{name} ="))
}

/// A line in which names stand for copies of these instructions.
fn with_copies(line: &str, names: &[Box<str>]) -> String {
    renamed(line, |word| names.iter().any(|name| **name == *word).then(|| format!("{word}.again")))
}

/// A line with other words where there are some.
fn renamed(line: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let mut words: Vec<String> = vec![String::new()];
    for c in line.chars() {
        let last = words.last_mut().expect("there is one");
        if last.is_empty() || last.ends_with(is_part) == is_part(c) {
            last.push(c);
        } else {
            words.push(c.to_string());
        }
    }
    words.into_iter().map(|word| other(&word).unwrap_or(word)).collect()
}
