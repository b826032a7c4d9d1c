//! Names that stand for something at the cursor: values behind `%`, symbols behind `@`, aliases behind `#` and `!`, blocks
//! behind `^`.

use mlir::Definition;

use crate::completion::{Completion, CompletionItem, CompletionKind};
use crate::locate::FileContext;
use crate::markdown::shorten;

/// Names beyond this many are not offered.
const LIMIT: usize = 500;

pub(crate) fn completion(context: &FileContext<'_>, offset: usize) -> Completion {
    let (piece, local) = context.locate(offset);
    let read = context.mlir_piece(piece);
    let (parse, text) = (&read.parse, &*read.text);
    let before = text.get(..local).unwrap_or_default();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let word = before.trim_end_matches(is_letter);
    let start = offset - (before.len() - word.len());
    let sign = word.chars().next_back().filter(|c| "%@#!^".contains(*c));
    let mut items = Vec::new();
    let mut push = |name: &str, detail: String, kind: CompletionKind| {
        if items.len() < LIMIT {
            items.push(CompletionItem {
                label: name.to_owned(),
                kind,
                detail,
                replace: start..offset,
                insert: name.to_owned(),
                snippet: None,
                filter: name.to_owned(),
                sort: format!("{:04}", items.len()),
                documentation: None,
            });
        }
    };
    let part = context.part_at(piece, local as u32);
    match sign {
        Some('%') => {
            let function = |at: usize| {
                let op = parse.op_at(at)?;
                parse.path_to(op).into_iter().find(|&op| mlir::is_function_like(parse.name(op, text)))
            };
            let here = function(local);
            // The nearest ones first: those above the cursor, from the last.
            let mut values: Vec<_> = parse.values.iter().enumerate().collect();
            values.sort_by_key(|(_, v)| v.name.start);
            for (id, value) in values.into_iter().rev() {
                let at = value.name.start as usize;
                let is_seen = at < local || matches!(value.definition, Definition::Binder(_));
                if is_seen && function(at) == here {
                    let ty = parse.type_of(id as u32, 0, text).unwrap_or_default();
                    push(&value.name.of(text)[1..], shorten(&ty, 80), CompletionKind::Instruction);
                }
            }
        }
        Some('@') => {
            for piece in context.mlir_module().pieces_of(part) {
                let read = context.mlir_piece(piece);
                for symbol in read.parse.symbols.iter().filter(|s| s.is_definition) {
                    let detail = read.parse.name(symbol.op, &read.text).to_owned();
                    push(db::symbol_name(symbol.span.of(&read.text)), detail, CompletionKind::Computation);
                }
            }
        }
        Some(sign @ ('#' | '!')) => {
            for piece in context.mlir_module().pieces_of(part) {
                let read = context.mlir_piece(piece);
                let defined = read.parse.aliases.iter().filter(|a| a.is_definition);
                for alias in defined.filter(|a| a.span.of(&read.text).starts_with(sign)) {
                    let value = read.parse.op(alias.op).span.of(&read.text);
                    let value = value.split_once('=').map_or("", |(_, value)| value.trim());
                    push(&alias.span.of(&read.text)[1..], shorten(value, 80), CompletionKind::Value);
                }
            }
        }
        Some('^') => {
            let region = parse
                .op_at(local)
                .and_then(|op| parse.op(op).block)
                .map(|block| parse.blocks[block as usize].region);
            for block in region.into_iter().flat_map(|region| parse.blocks_of(region)) {
                let label = parse.blocks[block as usize].label.of(text);
                if let Some(name) = label.strip_prefix('^') {
                    push(name, String::new(), CompletionKind::Value);
                }
            }
        }
        _ => {}
    }
    let is_incomplete = items.len() == LIMIT;
    Completion { items, is_incomplete }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;

    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, offset) = open_mlir(text);
        let found = analysis.completion(file, offset).expect("nobody cancels");
        let shown: Vec<_> = found.items.iter().map(|i| format!("{} {}", i.label, i.detail)).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn names_in_sight_are_offered() {
        let text = "#map = affine_map<(d0) -> (d0)>\nfunc.func @f(%a: f32, %b: i32) {\n  %0 = x.y %a : f32\n  HERE\n  cf.br ^bb1\n^bb1:\n  return\n}\nfunc.func @g(%c: f32) {\n}\n";
        check(&text.replace("HERE", "x.z %$0"), &["0 f32", "b i32", "a f32"]);
        check(&text.replace("HERE", "x.z @$0"), &["f func.func", "g func.func"]);
        check(&text.replace("HERE", "x.z {m = #m$0}"), &["map affine_map<(d0) -> (d0)>"]);
        check(&text.replace("HERE", "cf.br ^b$0"), &["bb1 "]);
        check(&text.replace("HERE", "x.$0"), &[]);
    }
}
