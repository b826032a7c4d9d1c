//! Renames what the name under the cursor refers to. Each occurrence keeps its sign, or stays without.

use crate::file_context::FileContext;
use crate::symbol::{Name, Occurrence, Symbol};
use crate::{TextEdit, TextRange};

/// The reason why the rename is impossible, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameError(pub String);

/// Which names a symbol can get.
pub(crate) trait NewNames {
    /// Why there is no name at `offset`, for the user.
    fn why_no_name(&self, context: &FileContext<'_>, offset: usize) -> RenameError;

    /// Whether all occurrences of a name are known and mean the same.
    fn check_occurrences(&self, _: &Name, _: &[Occurrence]) -> Result<(), RenameError> {
        Ok(())
    }

    /// Whether `new`, without its sign, can be the name of a symbol at its occurrences.
    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        occurrences: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError>;
}

/// The name that a rename at `offset` would replace.
pub(crate) fn prepare_rename(context: &FileContext<'_>, offset: usize) -> Result<TextRange, RenameError> {
    let (name, _) = named(context, offset)?;
    Ok(context.range(name.at.piece, name.at.span))
}

/// The edits, in text order. Empty if the name is unchanged.
pub(crate) fn rename(
    context: &FileContext<'_>,
    offset: usize,
    new_name: &str,
) -> Result<Vec<TextEdit>, RenameError> {
    let (name, occurrences) = named(context, offset)?;
    let semantics = context.semantics();
    let sign = name.symbol.sign();
    let text_of = |o: &Occurrence| o.span.of(semantics.text(context, o.piece));
    // Drop the sign of the new name: the text already has it, or does not use it.
    let new_name = new_name.trim();
    let new_name = new_name.strip_prefix(sign).unwrap_or(new_name);
    if text_of(&name.at).trim_start_matches(sign) == new_name {
        return Ok(Vec::new());
    }
    semantics.check_new_name(context, &name.symbol, &occurrences, new_name)?;
    let edit = |o: &Occurrence| {
        let mut range = context.range(o.piece, o.span);
        range.start += usize::from(text_of(o).starts_with(sign));
        TextEdit { range, insert: new_name.to_owned() }
    };
    Ok(occurrences.iter().map(edit).collect())
}

/// The name at `offset`, and all occurrences that change with it.
fn named(context: &FileContext<'_>, offset: usize) -> Result<(Name, Vec<Occurrence>), RenameError> {
    let semantics = context.semantics();
    let name = semantics.name_at(context, offset).ok_or_else(|| semantics.why_no_name(context, offset))?;
    let occurrences = semantics.occurrences(context, &name.symbol);
    semantics.check_occurrences(&name, &occurrences)?;
    Ok((name, occurrences))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{open, open_mlir};
    use crate::{Analysis, FileId};

    /// The text after the rename, or the error.
    fn renamed(text: &str, new_name: &str) -> Result<String, String> {
        renamed_in(open(text), new_name)
    }

    fn renamed_in(
        (analysis, file, offset): (Analysis, FileId, usize),
        new_name: &str,
    ) -> Result<String, String> {
        let mut text = analysis.text(file).to_string();
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

    const MLIR: &str = "#map = affine_map<(d0) -> (d0)>
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

    fn check_mlir(from: &str, to: &str, new_name: &str, expect: &str) {
        assert_eq!(renamed_in(open_mlir(&MLIR.replace(from, to)), new_name).as_deref(), Ok(expect));
    }

    fn check_mlir_refused(from: &str, to: &str, new_name: &str, expect: &str) {
        let refused = renamed_in(open_mlir(&MLIR.replace(from, to)), new_name).expect_err("it is refused");
        assert!(refused.contains(expect), "{refused}");
    }

    #[test]
    fn every_place_of_mlir_changes_and_no_other() {
        check_mlir("f(%a", "f($0%a", "%x-1", &MLIR.replacen("%a", "%x-1", 2));
        check_mlir("%0#1 :", "%0$0#1 :", "pair", &MLIR.replace("%0", "%pair"));
        check_mlir("br ^bb1", "br $0^bb1", "2", &MLIR.replace("^bb1", "^2"));
        check_mlir("call @f", "call $0@f", "h", &MLIR.replace("@f", "@h"));
        check_mlir("= #map}", "= #m$0ap}", "#id", &MLIR.replace("#map", "#id"));
    }

    #[test]
    fn names_that_cannot_be_in_mlir_are_refused_with_the_reason() {
        check_mlir_refused("f(%a", "f($0%a", "b", "%b exists already");
        check_mlir_refused("f(%a", "f($0%a", "b c", "cannot stand after %");
        check_mlir_refused("call @f", "call $0@f", "g", "@g exists already");
        check_mlir_refused("call @f", "call $0@f", "1", "cannot stand after @");
        check_mlir_refused("= #map}", "= $0#map}", "a.b", "one of a dialect");
        check_mlir_refused("x.y %a {", "x.y $0%c {", "d", "nothing of this name");
    }
}
