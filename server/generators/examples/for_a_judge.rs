//! Writes random instructions as files of HLO, for another program to judge: as they are generated, or with an
//! arbitrary change. The name of a changed file ends with 1 if our verifier has a finding, else with 0.
//!
//! `cargo run -p generators --example for_a_judge -- FOLDER COUNT [--changed]`

use std::path::Path;
use std::sync::Arc;

use generators::hlo;
use ir::{Block, Surroundings};
use random::Rng;
use syntax::hlo::PieceState;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, count, changed) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [folder, count] => (folder, count, false),
        [folder, count, "--changed"] => (folder, count, true),
        _ => panic!("for_a_judge takes FOLDER COUNT [--changed]"),
    };
    let opcodes = hlo::opcodes();
    for i in 0..count.parse().expect("COUNT is a number") {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(generators::seed(i));
        let Some(generated) = hlo::random_op(opcode, &mut rng) else { continue };
        let (name, text) = match changed {
            false => (format!("{i}_{opcode}.hlo"), generated.text),
            true => {
                let Some(text) = any_change(&generated.text, &mut rng) else { continue };
                (format!("{i}_{opcode}_{}.hlo", u8::from(has_finding(&text))), text)
            }
        };
        std::fs::write(Path::new(folder).join(name), text).expect("FOLDER can be written");
    }
}

fn lowered(text: &str) -> Block {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    ir::lower(text, parse)
}

fn has_finding(text: &str) -> bool {
    let block = lowered(text);
    let is_read = block.parse.errors.is_empty() && block.parse.unknown.is_empty();
    !(is_read && block.findings.is_empty() && ir::verify(&block, &Surroundings::alone(&block)).is_empty())
}

/// Changes a number, an element type or an attribute of any instruction.
fn any_change(text: &str, rng: &mut Rng) -> Option<String> {
    let block = lowered(text);
    let count = block.parse.instructions.len() as i64;
    let id = if rng.one_in(4) { rng.range(0, count - 1) } else { count - 1 } as usize;
    let instruction = &block.parse.instructions[id];
    let line = instruction.span;
    let inside = line.of(text);
    let from = inside.find('=')?;
    let mut text = text.to_owned();
    let types = ["f32[", "s32[", "pred[", "bf16[", "u32[", "c64[", "f16["];
    match rng.range(0, 3) {
        0 => {
            let (at, old) = types.iter().find_map(|old| Some((inside.find(old)?, old)))?;
            let start = line.start as usize + at;
            let other: &str = rng.pick::<&str>(&types);
            text.replace_range(start..start + old.len(), other);
        }
        1 => {
            let attributes = block.parse.attributes_of(instruction);
            let attribute = attributes.get(rng.range(0, attributes.len().max(1) as i64 - 1) as usize)?;
            let start = text[..attribute.key_span.start as usize].rfind(',')?;
            text.replace_range(start..attribute.value_span.end as usize, "");
        }
        _ => {
            let numbers: Vec<(usize, usize)> = number_tokens(&inside[from..]).collect();
            let (at, len) = *numbers.get(rng.range(0, numbers.len().max(1) as i64 - 1) as usize)?;
            let start = line.start as usize + from + at;
            let old: i64 = text[start..start + len].parse().ok()?;
            let new = *rng.pick(&[old + 1, old - 1, 0, 1, old * 2]);
            if new == old {
                return None;
            }
            text.replace_range(start..start + len, &new.to_string());
        }
    }
    Some(text)
}

/// Numbers that are not part of a word.
fn number_tokens(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b == b'-';
    let starts = (0..bytes.len()).filter(move |&i| {
        bytes[i].is_ascii_digit()
            && (i == 0
                || !is_word(bytes[i - 1])
                || bytes[i - 1] == b'_' && i > 1 && bytes[i - 2].is_ascii_digit())
    });
    starts.map(move |i| (i, bytes[i..].iter().take_while(|b| b.is_ascii_digit()).count()))
}
