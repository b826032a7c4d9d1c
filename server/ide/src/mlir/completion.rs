//! Completes names: values after `%`, symbols after `@`, aliases after `#` and `!`, blocks after `^`.

use crate::completion::{Completion, CompletionItem, CompletionKind};
use crate::file_context::FileContext;
use crate::units::shorten;

/// The largest number of names offered.
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
            let here = context.function_around(piece, local);
            let open = being_written(parse, text, local);
            let others: Vec<_> = match here {
                Some(function) => {
                    let others = context.other_pieces(piece, function).into_iter();
                    others.map(|(piece, function)| (piece, Some(function))).collect()
                }
                None => context.mlir_module().pieces_of(part).map(|piece| (piece, None)).collect(),
            };
            let above = others.into_iter().filter(|&(other, _)| other < piece).rev();
            // The nearest first: those above the cursor, from the last.
            let mut count = 0;
            for (at, function) in std::iter::once((piece, here)).chain(above) {
                let read = context.mlir_piece(at);
                let mut values: Vec<_> = read.parse.values.iter().enumerate().collect();
                values.sort_by_key(|(_, v)| v.name.start);
                for (id, value) in values.into_iter().rev() {
                    let start = value.name.start as usize;
                    let is_open = matches!(value.definition, mlir::Definition::Result(op) if at == piece && open.contains(&op));
                    let is_seen = (at < piece || start < local)
                        && !is_open
                        && context.part_at(at, value.name.start) == part
                        && context.function_around(at, start) == function;
                    if is_seen {
                        let ty = context.type_of_value(at, id as u32, 0).unwrap_or_default();
                        let name = &value.name.of(&read.text)[1..];
                        push(name, shorten(&ty, 80), CompletionKind::Instruction);
                        count += 1;
                    }
                    if count >= LIMIT {
                        break;
                    }
                }
                if count >= LIMIT {
                    break;
                }
            }
        }
        Some('@') => {
            for piece in context.mlir_module().pieces_of(part) {
                let read = context.mlir_piece(piece);
                let is_here = |span: syntax::Span| context.part_at(piece, span.start) == part;
                for symbol in read.parse.symbols.iter().filter(|s| s.is_definition && is_here(s.span)) {
                    let detail = read.parse.name(symbol.op, &read.text).to_owned();
                    push(db::symbol_name(symbol.span.of(&read.text)), detail, CompletionKind::Computation);
                }
            }
        }
        Some(sign @ ('#' | '!')) => {
            for piece in context.mlir_module().pieces_of(part) {
                let read = context.mlir_piece(piece);
                let is_here = |span: syntax::Span| context.part_at(piece, span.start) == part;
                let defined = read.parse.aliases.iter().filter(|a| a.is_definition && is_here(a.span));
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
            let part = read.parts.iter().position(|part| Some(part.body) == region);
            let parts = part.map_or(Vec::new(), |part| context.mlir_giants().pieces_of(piece, part));
            let mut regions: Vec<_> = region.map(|region| (piece, region)).into_iter().collect();
            for (other, nth) in parts.into_iter().filter(|&(other, _)| other != piece) {
                regions.extend(context.mlir_piece(other).parts.get(nth).map(|part| (other, part.body)));
            }
            regions.sort_unstable();
            for (at, region) in regions {
                let read = context.mlir_piece(at);
                for block in read.parse.blocks_of(region) {
                    let label = read.parse.blocks[block as usize].label.of(&read.text);
                    if let Some(name) = label.strip_prefix('^') {
                        push(name, String::new(), CompletionKind::Value);
                    }
                }
            }
        }
        _ if is_behind_equal(word) => {
            let typed = &before[word.len()..];
            for (name, opcode) in mlir_hlo::op_names().filter(|(name, _)| name.starts_with(typed)) {
                push(name, format!("as HLO: {}", opcode.name()), CompletionKind::Opcode);
            }
        }
        _ => {}
    }
    let is_incomplete = items.len() == LIMIT;
    Completion { items, is_incomplete }
}

/// The incomplete ops at `local`, whose own results cannot be operands there.
fn being_written(parse: &mlir::Parse, text: &str, local: usize) -> Vec<mlir::OpId> {
    let mut open = parse.op_at(local).map_or(Vec::new(), |op| parse.path_to(op));
    // A sign alone is not part of an op yet.
    let last = parse.ops.partition_point(|op| (op.span.start as usize) < local).checked_sub(1);
    let is_on_line = |&last: &usize| {
        let between = text.get(parse.ops[last].span.start as usize..local);
        between.is_some_and(|between| !between.contains('\n'))
    };
    open.extend(last.filter(is_on_line).map(|last| last as mlir::OpId));
    open
}

/// After `%0 = ` or `%0:2, %1 = ` follows the name of an op.
fn is_behind_equal(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    line.trim_start().starts_with('%')
        && line.trim_end().strip_suffix('=').is_some_and(|results| !results.contains(['=', '(', '"']))
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
        // An op cannot use the result it defines.
        check(&text.replace("HERE", "%1 = x.z %$0"), &["0 f32", "b i32", "a f32"]);
        check(&text.replace("HERE", "%1 = x.z %$0 : f32"), &["0 f32", "b i32", "a f32"]);
        check(&text.replace("HERE", "%1 = stablehlo.trans$0"), &["stablehlo.transpose as HLO: transpose"]);
    }
}
