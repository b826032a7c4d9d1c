//! Inlines, extracts, or removes unused `#map = …` aliases.

use std::ops::Range;

use mlir::Form;
use syntax::Span;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::code_actions::map_texts::{MapText, letters, map_texts};
use crate::mlir::names::definitions;
use crate::semantics::Names;
use crate::symbol::{Name, Occurrence, Symbol};
use crate::{TextEdit, TextRange};

/// The largest size in bytes of an edit's text.
const MAX_WRITTEN: usize = 1 << 20;

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    if let Some(Name { at, symbol: symbol @ Symbol::Alias { .. } }) = Mlir.name_at(context, range.start) {
        of_alias(context, at, &symbol, actions);
    }
    extract(context, range, actions);
}

/// The value of an alias of a part, as text, if it is defined once.
pub(super) fn value_of<'a>(context: &'a FileContext<'_>, part: usize, name: &str) -> Option<&'a str> {
    let found = definitions(context, &Symbol::Alias { part, name: name.to_owned() });
    let [definition] = found.as_slice() else { return None };
    let (piece, op) = definition_span(context, definition)?;
    let (_, value) = op.of(&context.mlir_piece(piece).text).split_once('=')?;
    Some(value.trim())
}

/// The whole `#map = …` of the alias whose name is given.
fn definition_span(context: &FileContext<'_>, at: &Occurrence) -> Option<(usize, Span)> {
    let parse = &context.mlir_piece(at.piece).parse;
    let op = parse.op(parse.op_at(at.span.start as usize)?);
    (op.form == Form::Alias).then_some((at.piece, op.span))
}

fn of_alias(context: &FileContext<'_>, at: Occurrence, symbol: &Symbol, actions: &mut Actions<'_>) {
    let Symbol::Alias { part, name } = symbol else { return };
    let (defined, uses): (Vec<_>, Vec<_>) =
        Mlir.occurrences(context, symbol).into_iter().partition(Occurrence::is_definition);
    let [definition] = defined.as_slice() else { return };
    let Some((piece, span)) = definition_span(context, definition) else { return };
    let removal = || TextEdit { range: whole_lines(context, piece, span), insert: String::new() };
    if uses.is_empty() {
        let title = format!("Remove unused alias {name}");
        actions
            .offer("remove-alias", title, CodeActionKind::QuickFix, || Some(Change::Edits(vec![removal()])));
        return;
    }
    let Some(value) = value_of(context, *part, name) else { return };
    // A location inside a location is written without `loc`.
    if value.starts_with("loc(") || value.len().saturating_mul(uses.len()) > MAX_WRITTEN {
        return;
    }
    let inlined =
        |at: &Occurrence| TextEdit { range: context.range(at.piece, at.span), insert: value.to_owned() };
    if !at.is_definition() && uses.len() > 1 {
        let title = format!("Inline {name} here");
        actions.offer("inline-alias-here", title, CodeActionKind::RefactorRewrite, || {
            Some(Change::Edits(vec![inlined(&at)]))
        });
    }
    let title = match uses.len() {
        1 => format!("Inline {name}"),
        n => format!("Inline {name} in {n} places"),
    };
    actions.offer("inline-alias", title, CodeActionKind::RefactorRewrite, || {
        let mut edits = vec![removal()];
        edits.extend(uses.iter().map(inlined));
        edits.sort_by_key(|edit| edit.range.start);
        Some(Change::Edits(edits))
    });
}

/// A span extended to whole lines, if nothing else is on them.
fn whole_lines(context: &FileContext<'_>, piece: usize, span: Span) -> TextRange {
    let text = &context.mlir_piece(piece).text;
    let Range { start, end } = span.range();
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let behind = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let is_alone = text[line..start].trim().is_empty() && text[end..behind].trim().is_empty();
    context.range(piece, if is_alone { Span::new(line, behind) } else { span })
}

/// Extracts the map under the cursor, and all with the same text, to an alias.
fn extract(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.op_at(range.start) else { return };
    let read = context.mlir_piece(at.piece);
    let op = read.parse.op(at.id);
    let local = range.start - context.range(at.piece, Span::default()).start;
    let found = map_texts(&read.text, op.head).into_iter().find(|m| m.span.contains(local));
    let Some(map) = found.filter(|_| op.form != Form::Alias) else { return };
    let part = context.part_at(at.piece, map.span.start);
    let wanted = letters(map.span.of(&read.text));
    let all = Maps::of(context, part, &wanted);
    let count = match all.uses.len() {
        1 => String::new(),
        n => format!(" in {n} places"),
    };
    if let Some(name) = all.aliases.first() {
        let title = format!("Write {name} instead{count}");
        actions.offer("use-alias", title, CodeActionKind::RefactorExtract, || {
            Some(Change::Edits(all.replaced(context, name)))
        });
        return;
    }
    let name = fresh_name(context, part);
    actions.offer("extract-alias", format!("Extract {name}{count}"), CodeActionKind::RefactorExtract, || {
        let mut edits = all.replaced(context, &name);
        let top = top_of(context, part)?;
        let insert = format!("{name} = {}\n", map.span.of(&read.text));
        edits.insert(0, TextEdit { range: top..top, insert });
        Some(Change::Edits(edits))
    });
}

/// Maps of a part with the same text.
struct Maps {
    uses: Vec<(usize, Span)>,
    /// Aliases with this value.
    aliases: Vec<String>,
}

impl Maps {
    fn of(context: &FileContext<'_>, part: usize, wanted: &str) -> Maps {
        let mut maps = Maps { uses: Vec::new(), aliases: Vec::new() };
        let head = wanted.split('<').next().unwrap_or_default();
        for piece in context.mlir_module().pieces_of(part) {
            crate::analysis::check_cancelled(context.db);
            let read = context.mlir_piece(piece);
            let mut last = None;
            for (at, _) in read.text.match_indices(head) {
                if !starts_with_letters(&read.text[at..], wanted) {
                    continue;
                }
                let Some(id) = read.parse.op_at(at).filter(|id| last != Some(*id)) else { continue };
                last = Some(id);
                let op = read.parse.op(id);
                let is_wanted = |m: &MapText| letters(m.span.of(&read.text)) == wanted;
                for map in map_texts(&read.text, op.head).into_iter().filter(is_wanted) {
                    if context.part_at(piece, map.span.start) != part {
                        continue;
                    }
                    let alias = read.parse.aliases.iter().find(|a| a.op == id && a.is_definition);
                    match alias.filter(|_| op.form == Form::Alias) {
                        Some(alias) if map.span.end == op.span.end => {
                            maps.aliases.push(alias.span.of(&read.text).to_owned());
                        }
                        Some(_) => {}
                        None => maps.uses.push((piece, map.span)),
                    }
                }
            }
        }
        maps.uses.dedup();
        maps
    }

    fn replaced(&self, context: &FileContext<'_>, name: &str) -> Vec<TextEdit> {
        let edit = |&(piece, span): &(usize, Span)| TextEdit {
            range: context.range(piece, span),
            insert: name.to_owned(),
        };
        self.uses.iter().map(edit).collect()
    }
}

/// Whether a text starts with these letters, ignoring white space in it.
fn starts_with_letters(text: &str, letters: &str) -> bool {
    let mut here = text.chars().filter(|c| !c.is_whitespace());
    letters.chars().all(|letter| here.next() == Some(letter))
}

/// `#map`, or the first of `#map1`, `#map2`, … that is neither defined nor used.
fn fresh_name(context: &FileContext<'_>, part: usize) -> String {
    // Definitions are indexed by name; uses of undefined names are searched only without a definition.
    let is_taken = |name: &str| {
        !context.mlir_module().alias(part, name).is_empty()
            || !Mlir.occurrences(context, &Symbol::Alias { part, name: name.to_owned() }).is_empty()
    };
    let names = (0..10_000).map(|n| if n == 0 { "#map".to_owned() } else { format!("#map{n}") });
    names.into_iter().find(|name| !is_taken(name)).unwrap_or_else(|| "#map_extracted".to_owned())
}

/// The start of the line of a part's first op.
fn top_of(context: &FileContext<'_>, part: usize) -> Option<usize> {
    for piece in context.mlir_module().pieces_of(part) {
        let read = context.mlir_piece(piece);
        let first =
            read.parse.top_ops().find(|&op| context.part_at(piece, read.parse.op(op).span.start) == part);
        if let Some(first) = first {
            let start = read.parse.op(first).span.start as usize;
            let line = read.text[..start].rfind('\n').map_or(0, |at| at + 1);
            let is_margin = read.text[line..start].trim().is_empty();
            return Some(context.range(piece, Span::new(if is_margin { line } else { start }, start)).start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::mlir::code_actions::tests::{apply, titles};

    const TEXT: &str = "// RUN: x
#map = affine_map<(d0) -> (d0 * 2)>
#unused = 1
func.func @f(%a: index) {
  %0 = affine.apply #map(%a)
  %1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%a)
  %2 = affine.apply affine_map<(d0)->(d0 + 1)>(%a)
  x.y %0 {m = #map} : index
}
// -----
func.func @g(%a: index) {
  %1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%a)
}
";

    #[track_caller]
    fn check(cursor: &str, id: &str, changes: &[(&str, &str)]) {
        let text = TEXT.replacen(cursor, &format!("$0{cursor}"), 1);
        let expect = changes.iter().fold(TEXT.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
        assert_eq!(apply(&text, id).as_deref(), Some(&*expect));
    }

    #[test]
    fn aliases_are_written_out() {
        let value = "affine_map<(d0) -> (d0 * 2)>";
        check("#map(%a)", "inline-alias-here", &[("#map(%a)", &format!("{value}(%a)"))]);
        let everywhere = [
            ("#map = affine_map<(d0) -> (d0 * 2)>\n", ""),
            ("#map(%a)", &*format!("{value}(%a)")),
            ("= #map}", &*format!("= {value}}}")),
        ];
        check("#map}", "inline-alias", &everywhere);
        check("#map =", "inline-alias", &everywhere);
        check("#unused", "remove-alias", &[("#unused = 1\n", "")]);
        assert_eq!(titles(&TEXT.replacen("#map =", "$0#map =", 1)), ["Inline #map in 2 places"]);
        let location = "#loc = loc(\"f\")\nx.y loc(#l$0oc)\n";
        assert_eq!(titles(location), [""; 0]);
    }

    #[test]
    fn maps_are_taken_out() {
        check(
            "affine_map<(d0) -> (d0 + 1)>",
            "extract-alias",
            &[
                ("#map =", "#map1 = affine_map<(d0) -> (d0 + 1)>\n#map ="),
                ("apply affine_map<(d0) -> (d0 + 1)>", "apply #map1"),
                ("affine_map<(d0)->(d0 + 1)>", "#map1"),
            ],
        );
        let second = TEXT.rfind("affine_map").expect("it is there");
        let text = format!("{}$0{}", &TEXT[..second], &TEXT[second..]);
        let expect = format!(
            "{}#map = affine_map<(d0) -> (d0 + 1)>\n{}",
            &TEXT[..TEXT.find("func.func @g").expect("it is there")],
            TEXT[TEXT.find("func.func @g").expect("it is there")..]
                .replace("affine_map<(d0) -> (d0 + 1)>", "#map")
        );
        assert_eq!(apply(&text, "extract-alias"), Some(expect));
    }

    #[test]
    fn an_alias_that_is_there_is_used() {
        let text = TEXT.replacen("d0 + 1", "d0 $0* 2", 1);
        let titles = titles(&text);
        assert_eq!(titles, ["Write #map instead"]);
        let expect = text.replacen("affine_map<(d0) -> (d0 $0* 2)>(%a)", "#map(%a)", 1);
        assert_eq!(apply(&text, "use-alias"), Some(expect));
    }
}
