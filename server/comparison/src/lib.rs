//! Two modules as texts for a line diff, such that the diff shows what a pass changed and nothing else.
//!
//! - An instruction of the second module has the name of its counterpart in the first.
//! - Metadata, tables of source locations and the signatures of computations are left out.
//! - If the second module has no schedule, its instructions are in the order of their counterparts.
//!
//! Both texts are modules of HLO.
//!
//! Architecture Invariant: pure functions of two texts; time is n log n in their instructions.

mod defaults;
mod edits;
mod names;
mod order;
#[cfg(test)]
mod tests;

use matching::{Fate, Matching, Program, Unreadable, match_programs};
use syntax::Span;
use syntax::hlo::{ComputationKind, Opcode, Parse, PieceState, parse};

use crate::edits::{Edits, edits};
use crate::names::Names;

/// Two modules, ready for a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    pub before: String,
    pub after: String,
    pub counts: Counts,
}

/// How many instructions a pass added and removed, parameters aside: a fusion moves its members and adds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub added: u32,
    pub removed: u32,
}

impl Counts {
    pub fn new(first: &Program<'_>, second: &Program<'_>, matching: &Matching) -> Counts {
        let count = |program: &Program<'_>, is_meant: &dyn Fn(usize) -> bool| {
            let instructions = program.instructions.iter().enumerate();
            instructions.filter(|(id, it)| it.opcode != Some(Opcode::Parameter) && is_meant(*id)).count()
                as u32
        };
        let is_kept = |id: usize| matches!(matching.fates[id], Fate::Kept(_));
        let removed = count(first, &|id| !is_kept(id));
        let kept = count(first, &is_kept);
        Counts { added: count(second, &|_| true).saturating_sub(kept), removed }
    }
}

/// Why two texts cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotComparable {
    Before(Unreadable),
    After(Unreadable),
}

/// # Errors
/// One of the texts is no whole module of HLO.
pub fn compare(before: &str, after: &str) -> Result<Comparison, NotComparable> {
    let first = Program::read(before).map_err(NotComparable::Before)?;
    let second = Program::read(after).map_err(NotComparable::After)?;
    let matching = match_programs(&first, &second);
    let (first_parse, second_parse) = (module(before), module(after));
    let names = Names::new(&first, &second, &matching);
    let is_scheduled = second_parse.header.as_ref().is_some_and(|header| header.is_scheduled);
    let kept = if is_scheduled { order::scheduled(&second) } else { Default::default() };
    let order = order::like_the_first(&first, &second, order::as_written(&second_parse), &names, &kept);
    let counts = Counts::new(&first, &second, &matching);
    Ok(Comparison {
        before: text(
            before,
            &first_parse,
            &edits(before, &first_parse, None),
            &order::as_written(&first_parse),
        ),
        after: text(after, &second_parse, &edits(after, &second_parse, Some((&second, &names))), &order),
        counts,
    })
}

fn module(text: &str) -> Parse {
    parse(text, PieceState::HEADER)
}

/// Writes the instructions of the computations in `order`.
fn text(source: &str, parse: &Parse, edits: &Edits<'_>, order: &order::Order) -> String {
    let mut text = String::with_capacity(source.len());
    if let Some(header) = &parse.header {
        text += "HloModule ";
        text += header.name.of(source);
        // A fingerprint says nothing to a reader.
        let is_shown = |value: &Span| !value.of(source).contains("fingerprint_before_lhs=");
        for (key, value) in header.attributes.iter().filter(|(_, value)| is_shown(value)) {
            text += &format!(", {}={}", key.of(source), value.of(source));
        }
        text.push('\n');
    }
    for (computation, instructions) in order {
        cancel::tick();
        let computation = &parse.computations[*computation as usize];
        if computation.kind == ComputationKind::Bare {
            continue;
        }
        text += if computation.is_entry { "\nENTRY " } else { "\n" };
        let has_sigil = source[..computation.name.start as usize].ends_with('%');
        text += if has_sigil { "%" } else { "" };
        edits.write(source, computation.name, &mut text);
        text += " {\n";
        for &instruction in instructions {
            text += "  ";
            edits.write(source, parse.instructions[instruction as usize].span, &mut text);
            text.push('\n');
        }
        text.push('}');
        if !computation.execution_thread.is_empty() {
            text += &format!(", execution_thread=\"{}\"", computation.execution_thread.of(source));
        }
        text.push('\n');
    }
    text
}
