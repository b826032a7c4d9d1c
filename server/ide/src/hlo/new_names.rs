//! Which names an instruction or a computation can get.

use syntax::Span;
use syntax::hlo::PieceState;

use crate::RenameError;
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::rename::NewNames;
use crate::symbol::{Name, Occurrence, Role, Symbol};

impl NewNames for Hlo {
    fn why_no_name(&self, context: &FileContext<'_>, offset: usize) -> RenameError {
        let on_name = context.instruction_at(offset).is_some_and(|at| {
            let local = offset.saturating_sub(context.range(at.piece, Span::default()).start);
            context.block(at.piece).operands_of(at.id).any(|(o, _)| o.name.contains(local))
        });
        RenameError(match on_name {
            true => "nothing of this name is defined".to_owned(),
            false => "there is no name of an instruction or a computation here".to_owned(),
        })
    }

    fn check_occurrences(&self, name: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError> {
        match occurrences.iter().any(|o| (o.piece, o.span) == (name.at.piece, name.at.span)) {
            true => Ok(()),
            false => Err(RenameError(
                "this name is defined twice, or a header and its body differ in it".to_owned(),
            )),
        }
    }

    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        occurrences: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError> {
        check_letters(new)?;
        check_free(context, symbol, new)?;
        let mut names = occurrences.iter().filter(|o| o.role != Role::SchedulingName);
        if names.any(|o| !has_percent(context, o)) && !reads_back(new, symbol) {
            return Err(RenameError(format!(
                "{new} is a word of HLO text: it can be a name only after %, and here names are written without"
            )));
        }
        Ok(())
    }
}

/// Fails in invalid texts: if there are two definitions, uses refer to the first.
fn has_percent(context: &FileContext<'_>, at: &Occurrence) -> bool {
    let text = &context.block(at.piece).text;
    (at.span.start as usize).checked_sub(1).is_some_and(|before| text.as_bytes()[before] == b'%')
}

/// Source of the alphabet: `hlo_lexer.cc`.
fn check_letters(name: &str) -> Result<(), RenameError> {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(is_start) {
        return Err(RenameError(format!("a name starts with a letter or _, and “{name}” does not")));
    }
    match name.chars().find(|&c| !(is_start(c) || c.is_ascii_digit() || c == '.' || c == '-')) {
        Some(other) => {
            Err(RenameError(format!("a name consists of letters, digits, _ . and -, and “{other}” is none")))
        }
        None => Ok(()),
    }
}

fn check_free(context: &FileContext<'_>, symbol: &Symbol, name: &str) -> Result<(), RenameError> {
    match *symbol {
        Symbol::Instruction(at) => match context.find_in_scope(at, name) {
            Some(_) => Err(RenameError(format!("an instruction named {name} exists in this computation"))),
            None => Ok(()),
        },
        Symbol::Computation(index) => {
            let section = context.module().computations[index].section;
            match context.module().find_in(section, name) {
                Some(_) => Err(RenameError(format!("a computation named {name} exists in this module"))),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Whether the name is valid without `%` in each kind of position. The parser decides.
fn reads_back(name: &str, symbol: &Symbol) -> bool {
    let is_instruction = matches!(symbol, Symbol::Instruction(_));
    let text = match is_instruction {
        true => format!(
            "HloModule m\n\nc ({name}: f32[]) -> f32[] {{\n  {name} = f32[] parameter(0)\n  ROOT r = f32[] add({name}, {name}), control-predecessors={{{name}}}\n}}\n"
        ),
        false => format!(
            "HloModule m\n\n{name} {{\n  ROOT r = f32[] constant(0)\n}}\n\n{name} (p: f32[]) -> f32[] {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply={name}, branch_computations={{{name}, {name}}}\n}}\n"
        ),
    };
    let parse = syntax::hlo::parse(&text, PieceState::HEADER);
    let is = |span: Span| span.of(&text) == name;
    parse.errors.is_empty()
        && match is_instruction {
            true => {
                parse.instructions.first().is_some_and(|i| is(i.name))
                    && parse.operands.len() == 2
                    && parse.operands.iter().all(|o| is(o.name))
            }
            false => parse.computations.len() == 2 && parse.computations.iter().all(|c| is(c.name)),
        }
}
