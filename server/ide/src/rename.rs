//! Renames an instruction or a computation. Each occurrence keeps its `%`, or stays without.

use syntax::Span;
use syntax::hlo::PieceState;

use crate::locate::FileContext;
use crate::occurrences::{Occurrence, Role, Symbol, occurrence_at, occurrences};
use crate::{TextEdit, TextRange};

/// The reason why the rename is impossible, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameError(pub String);

/// The name that a rename at `offset` would replace, without `%`.
pub(crate) fn prepare_rename(context: &FileContext<'_>, offset: usize) -> Result<TextRange, RenameError> {
    let (found, _) = named(context, offset)?;
    Ok(context.range(found.piece, found.span))
}

/// The edits, in text order. Empty if the name is unchanged.
pub(crate) fn rename(
    context: &FileContext<'_>,
    offset: usize,
    new_name: &str,
) -> Result<Vec<TextEdit>, RenameError> {
    let (found, places) = named(context, offset)?;
    // Drop a `%` in the new name: the text already has it, or does not use it.
    let new_name = new_name.trim();
    let new_name = new_name.strip_prefix('%').unwrap_or(new_name);
    if found.span.of(&context.block(found.piece).text) == new_name {
        return Ok(Vec::new());
    }
    check_letters(new_name)?;
    check_free(context, found.symbol, new_name)?;
    let bare = places.iter().filter(|o| o.role != Role::SchedulingName);
    if bare.into_iter().any(|o| !has_percent(context, o)) && !reads_back(new_name, found.symbol) {
        return Err(RenameError(format!(
            "{new_name} is a word of HLO text: it can be a name only behind %, and here names are written without"
        )));
    }
    let edit =
        |o: Occurrence| TextEdit { range: context.range(o.piece, o.span), insert: new_name.to_owned() };
    Ok(places.into_iter().map(edit).collect())
}

/// The name at `offset`, and all occurrences that change with it.
fn named(context: &FileContext<'_>, offset: usize) -> Result<(Occurrence, Vec<Occurrence>), RenameError> {
    if let Some(found) = occurrence_at(context, offset) {
        let places = occurrences(context, found.symbol);
        // Fails in invalid texts: if there are two definitions, uses refer to the first.
        return match places.iter().any(|o| (o.piece, o.span) == (found.piece, found.span)) {
            true => Ok((found, places)),
            false => Err(RenameError(
                "this name is defined twice, or a header and its body differ in it".to_owned(),
            )),
        };
    }
    let on_name = context.instruction_at(offset).is_some_and(|at| {
        let local = offset.saturating_sub(context.range(at.piece, Span::default()).start);
        context.block(at.piece).operands_of(at.id).any(|(o, _)| o.name.contains(local))
    });
    Err(RenameError(match on_name {
        true => "nothing of this name is defined".to_owned(),
        false => "there is no name of an instruction or a computation here".to_owned(),
    }))
}

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

fn check_free(context: &FileContext<'_>, symbol: Symbol, name: &str) -> Result<(), RenameError> {
    match symbol {
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
    }
}

/// Whether the name is valid without `%` in each kind of position. The parser decides.
fn reads_back(name: &str, symbol: Symbol) -> bool {
    let text = match symbol {
        Symbol::Instruction(_) => format!(
            "HloModule m\n\nc ({name}: f32[]) -> f32[] {{\n  {name} = f32[] parameter(0)\n  ROOT r = f32[] add({name}, {name}), control-predecessors={{{name}}}\n}}\n"
        ),
        Symbol::Computation(_) => format!(
            "HloModule m\n\n{name} {{\n  ROOT r = f32[] constant(0)\n}}\n\n{name} (p: f32[]) -> f32[] {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply={name}, branch_computations={{{name}, {name}}}\n}}\n"
        ),
    };
    let parse = syntax::hlo::parse(&text, PieceState::HEADER);
    let is = |span: Span| span.of(&text) == name;
    parse.errors.is_empty()
        && match symbol {
            Symbol::Instruction(_) => {
                parse.instructions.first().is_some_and(|i| is(i.name))
                    && parse.operands.len() == 2
                    && parse.operands.iter().all(|o| is(o.name))
            }
            Symbol::Computation(_) => {
                parse.computations.len() == 2 && parse.computations.iter().all(|c| is(c.name))
            }
        }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;

    /// The text after the rename, or the error.
    fn renamed(text: &str, new_name: &str) -> Result<String, String> {
        let (analysis, file, offset) = open(text);
        let mut text = analysis.rope(file).to_string();
        let range = analysis.prepare_rename(file, offset).expect("nobody cancels");
        let edits = analysis.rename(file, offset, new_name).expect("nobody cancels");
        assert!(range.is_ok() || edits.is_err(), "what cannot be prepared cannot be done");
        let edits = edits.map_err(|e| e.0)?;
        for edit in edits.iter().rev() {
            text.replace_range(edit.range.clone(), &edit.insert);
        }
        Ok(text)
    }

    fn check(text: &str, new_name: &str, expect: &str) {
        assert_eq!(renamed(text, new_name).as_deref(), Ok(expect));
    }

    fn check_refused(text: &str, new_name: &str, expect: &str) {
        let refused = renamed(text, new_name).expect_err("it is refused");
        assert!(refused.contains(expect), "{refused}");
    }

    const TEXT: &str = "HloModule m

%f (a: f32[8]) -> f32[8] {
  %a = f32[8] parameter(0)
  ROOT n = f32[8] negate(%a)
}

ENTRY e {
  a = f32[8] parameter(0), metadata={op_name=\"a\" scheduling_name=\"a\"}
  u = f32[8] fusion(%a), kind=kLoop, calls=%f
  c = f32[8] call(f32[8] a), to_apply=f
  ROOT t = (f32[8], f32[8]) tuple(u, c), control-predecessors={a, %u}
}
";

    #[test]
    fn instructions_are_renamed_in_their_computation() {
        check(
            &TEXT.replace("call(f32[8] a)", "call(f32[8] $0a)"),
            "%x.1",
            &TEXT
                .replace("  a = ", "  x.1 = ")
                .replace("scheduling_name=\"a\"", "scheduling_name=\"x.1\"")
                .replace("fusion(%a)", "fusion(%x.1)")
                .replace("call(f32[8] a)", "call(f32[8] x.1)")
                .replace("={a, %u}", "={x.1, %u}"),
        );
        check(
            &TEXT.replace("f (a:", "f ($0a:"),
            "x",
            &TEXT.replace("f (a:", "f (x:").replace("%a = ", "%x = ").replace("negate(%a)", "negate(%x)"),
        );
        check(
            &TEXT.replace("={a, %u}", "={a, $0%u}"),
            "v",
            &TEXT.replace("  u = ", "  v = ").replace("tuple(u", "tuple(v").replace("%u}", "%v}"),
        );
    }

    #[test]
    fn computations_are_renamed_in_the_module() {
        check(
            &TEXT.replace("calls=%f", "calls=%$0f"),
            "neg",
            &TEXT
                .replace("%f (", "%neg (")
                .replace("calls=%f", "calls=%neg")
                .replace("to_apply=f", "to_apply=neg"),
        );
    }

    #[test]
    fn names_that_cannot_be_are_refused_with_the_reason() {
        let u = TEXT.replace("  u = ", "  $0u = ");
        check_refused(&u, "c", "an instruction named c exists");
        check_refused(&u, "", "starts with a letter");
        check_refused(&u, "1u", "starts with a letter");
        check_refused(&u, "u v", "“ ” is none");
        assert_eq!(renamed(&u, " u "), Ok(TEXT.to_owned()), "the old name changes nothing");
        check_refused(&TEXT.replace("%f (", "%$0f ("), "e", "a computation named e exists");
    }

    #[test]
    fn words_of_the_grammar_are_names_behind_a_percent_sign_only() {
        let bare = "HloModule m\n\nENTRY e {\n  ROOT $0p = f32[] parameter(0)\n}\n";
        let percent = "HloModule m\n\nENTRY e {\n  ROOT $0%p = f32[] parameter(0)\n}\n";
        for word in ["f32", "true", "ROOT", "inf", "nan", "replicated", "HloModule"] {
            check_refused(bare, word, "is a word of HLO text");
            check(percent, word, &percent.replace("$0%p", &format!("%{word}")));
        }
        check(bare, "negate", &bare.replace("$0p", "negate"));
    }

    #[test]
    fn places_without_a_name_say_so() {
        check_refused(&TEXT.replace("kLoop", "k$0Loop"), "x", "no name");
        check_refused(&TEXT.replace("tuple(u, c)", "tuple($0v, c)"), "x", "nothing of this name");
        check_refused(&TEXT.replace("to_apply=f", "to_apply=$0g"), "x", "no name");
        check_refused(&TEXT.replace("  c = ", "  $0u = "), "x", "defined twice");
        check_refused(&TEXT.replace("f (a:", "f ($0b:"), "x", "a header and its body differ");
    }
}
