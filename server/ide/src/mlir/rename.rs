//! Renames a value, a block, a symbol or an alias.

use mlir::OpId;

use crate::locate::FileContext;
use crate::mlir::occurrences::{Occurrence, Symbol, occurrence_at, occurrences};
use crate::{RenameError, TextEdit, TextRange};

/// The name that a rename at `offset` would replace, with its sign.
pub(crate) fn prepare_rename(context: &FileContext<'_>, offset: usize) -> Result<TextRange, RenameError> {
    let (found, ..) = named(context, offset)?;
    Ok(context.range(found.piece, found.span))
}

fn named(
    context: &FileContext<'_>,
    offset: usize,
) -> Result<(Occurrence, Symbol, Vec<Occurrence>), RenameError> {
    let Some((found, symbol)) = occurrence_at(context, offset) else {
        return Err(RenameError("there is no name here, or nothing of this name is defined".to_owned()));
    };
    let places = occurrences(context, &symbol);
    match places.iter().filter(|o| o.is_definition).count() {
        1 => Ok((found, symbol, places)),
        0 => Err(RenameError("nothing of this name is defined in this file".to_owned())),
        _ => Err(RenameError(
            "this name is defined several times: which one is meant cannot be told".to_owned(),
        )),
    }
}

/// The edits, in text order. Empty if the name is unchanged.
pub(crate) fn rename(
    context: &FileContext<'_>,
    offset: usize,
    new_name: &str,
) -> Result<Vec<TextEdit>, RenameError> {
    let (found, symbol, places) = named(context, offset)?;
    let text_of = |o: &Occurrence| o.span.of(&context.mlir_piece(o.piece).text);
    let sign = match symbol {
        Symbol::Value { .. } => '%',
        Symbol::Block { .. } => '^',
        Symbol::Global { .. } => '@',
        Symbol::Alias { .. } if text_of(&found).starts_with('!') => '!',
        Symbol::Alias { .. } => '#',
    };
    let name = new_name.trim();
    let name = name.strip_prefix(sign).unwrap_or(name);
    check_letters(name, sign)?;
    if text_of(&found).trim_start_matches(sign) == name {
        return Ok(Vec::new());
    }
    check_free(context, &symbol, sign, name)?;
    let edit = |o: &Occurrence| {
        let mut range = context.range(o.piece, o.span);
        // The string of a `sym_name` has no sign.
        range.start += usize::from(text_of(o).starts_with(sign));
        TextEdit { range, insert: name.to_owned() }
    };
    Ok(places.iter().map(edit).collect())
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
        false => Err(RenameError(format!("“{name}” cannot stand behind {sign}"))),
    }
}

fn check_free(context: &FileContext<'_>, symbol: &Symbol, sign: char, name: &str) -> Result<(), RenameError> {
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
            !context.mlir_module().alias(*part, &format!("{sign}{name}")).is_empty()
        }
    };
    match is_taken {
        true => Err(RenameError(format!("{sign}{name} exists already"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{apply_edits, open_mlir};

    fn renamed(text: &str, new_name: &str) -> Result<String, String> {
        let (analysis, file, offset) = open_mlir(text);
        let text = analysis.rope(file).to_string();
        let range = analysis.prepare_rename(file, offset).expect("nobody cancels");
        let edits = analysis.rename(file, offset, new_name).expect("nobody cancels");
        assert!(range.is_ok() || edits.is_err(), "what cannot be prepared cannot be done");
        Ok(apply_edits(&text, &edits.map_err(|e| e.0)?))
    }

    const TEXT: &str = "#map = affine_map<(d0) -> (d0)>
func.func @f(%a: f32) -> f32 {
  %0:2 = x.y %a {m = #map} : f32, f32
  cf.br ^bb1(%0#1 : f32)
^bb1(%b: f32):
  %1 = func.call @f(%b) : (f32) -> f32
  return %1 : f32
}
func.func @g(%a: f32) {
  x.y %a : f32
}
";

    fn check(from: &str, to: &str, new_name: &str, expect: &str) {
        assert_eq!(renamed(&TEXT.replace(from, to), new_name).as_deref(), Ok(expect));
    }

    fn check_refused(from: &str, to: &str, new_name: &str, expect: &str) {
        let refused = renamed(&TEXT.replace(from, to), new_name).expect_err("it is refused");
        assert!(refused.contains(expect), "{refused}");
    }

    #[test]
    fn every_place_changes_and_no_other() {
        check("f(%a", "f($0%a", "%x-1", &TEXT.replacen("%a", "%x-1", 2));
        check("%0#1 :", "%0$0#1 :", "pair", &TEXT.replace("%0", "%pair"));
        check("br ^bb1", "br $0^bb1", "2", &TEXT.replace("^bb1", "^2"));
        check("call @f", "call $0@f", "h", &TEXT.replace("@f", "@h"));
        check("= #map}", "= #m$0ap}", "#id", &TEXT.replace("#map", "#id"));
    }

    #[test]
    fn names_that_cannot_be_are_refused_with_the_reason() {
        check_refused("f(%a", "f($0%a", "b", "%b exists already");
        check_refused("f(%a", "f($0%a", "b c", "cannot stand behind %");
        check_refused("call @f", "call $0@f", "g", "@g exists already");
        check_refused("call @f", "call $0@f", "1", "cannot stand behind @");
        check_refused("= #map}", "= $0#map}", "a.b", "one of a dialect");
        check_refused("x.y %a {", "x.y $0%c {", "d", "nothing of this name");
    }
}
