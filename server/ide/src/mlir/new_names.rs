//! Which names a value, a block, a symbol or an alias can get.

use mlir::OpId;

use crate::RenameError;
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::rename::NewNames;
use crate::symbol::{Name, Occurrence, Symbol};

impl NewNames for Mlir {
    fn why_no_name(&self, _: &FileContext<'_>, _: usize) -> RenameError {
        RenameError("there is no name here, or nothing of this name is defined".to_owned())
    }

    fn check_occurrences(&self, _: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError> {
        match occurrences.iter().filter(|o| o.is_definition()).count() {
            1 => Ok(()),
            0 => Err(RenameError("nothing of this name is defined in this file".to_owned())),
            _ => Err(RenameError(
                "this name is defined several times: which one is meant cannot be told".to_owned(),
            )),
        }
    }

    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        _: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError> {
        check_letters(new, symbol.sign())?;
        check_free(context, symbol, new)
    }
}

/// Source of the alphabet: `mlir/lib/AsmParser/Lexer.cpp`.
fn check_letters(name: &str, sign: char) -> Result<(), RenameError> {
    let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_' || sign != '@' && matches!(c, '$' | '.' | '-');
    let fits = name.starts_with(starts) && name.chars().all(|c| is_letter(c) && !(sign == '@' && c == '-'));
    if matches!(sign, '#' | '!') && name.contains('.') {
        return Err(RenameError("a name with a dot is one of a dialect, not an alias".to_owned()));
    }
    match fits || is_number && sign != '@' {
        true => Ok(()),
        false => Err(RenameError(format!("“{name}” cannot stand after {sign}"))),
    }
}

fn check_free(context: &FileContext<'_>, symbol: &Symbol, name: &str) -> Result<(), RenameError> {
    let is_taken = match symbol {
        Symbol::Value { piece, value } => {
            let read = context.mlir_piece(*piece);
            let parse = &read.parse;
            // Scopes are ignored: any use of this name in the function is a conflict.
            let has = |piece: usize, function: Option<OpId>| {
                let read = context.mlir_piece(piece);
                let mut others = read.parse.values.iter().filter(|v| v.name.of(&read.text)[1..] == *name);
                others.any(|v| context.function_around(piece, v.name.start as usize) == function)
            };
            let here = context.function_around(*piece, parse.values[*value as usize].name.start as usize);
            let others = here.map_or(Vec::new(), |function| context.other_pieces(*piece, function));
            has(*piece, here) || others.into_iter().any(|(piece, function)| has(piece, Some(function)))
        }
        Symbol::Block { piece, block } => {
            let read = context.mlir_piece(*piece);
            let region = read.parse.blocks[*block as usize].region;
            let part = read.parts.iter().position(|part| part.body == region);
            let mut pieces = vec![(*piece, region)];
            for (other, nth) in part.map_or(Vec::new(), |part| context.mlir_giants().pieces_of(*piece, part))
            {
                pieces.extend(context.mlir_piece(other).parts.get(nth).map(|part| (other, part.body)));
            }
            pieces.into_iter().any(|(piece, region)| {
                let read = context.mlir_piece(piece);
                let mut labels = read.parse.blocks_of(region).map(|b| read.parse.blocks[b as usize].label);
                labels.any(|label| label.of(&read.text).trim_start_matches('^') == name)
            })
        }
        Symbol::Global { part, .. } => !context.mlir_module().symbol(*part, name).is_empty(),
        Symbol::Alias { part, .. } => {
            !context.mlir_module().alias(*part, &format!("{}{name}", symbol.sign())).is_empty()
        }
        Symbol::Instruction(_) | Symbol::Computation(_) => false,
    };
    match is_taken {
        true => Err(RenameError(format!("{}{name} exists already", symbol.sign()))),
        false => Ok(()),
    }
}
