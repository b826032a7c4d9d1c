//! Completes names: values after `%`, symbols after `@`, aliases after `#` and `!`, blocks after `^`; and names
//! of ops.

use crate::completion::{Completion, CompletionItem, CompletionKind, Completions, matches};
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::units::shorten;

impl Completions for Mlir {
    fn completion(&self, context: &FileContext<'_>, offset: usize) -> Completion {
        let (piece, local) = context.locate(offset);
        let here = Cursor { context, piece, local, part: context.part_at(piece, local as u32) };
        let text = &*context.mlir_piece(piece).text;
        let before = text.get(..local).unwrap_or_default();
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let line = before.trim_end_matches(is_letter);
        let typed = &before[line.len()..];
        let mut out = Completion::default();
        let mut add = |kind, names: &mut dyn Iterator<Item = Named>| {
            let names = names.filter(|(name, _)| matches(typed, name)).enumerate();
            out.add(names.map(|(nth, (name, detail))| CompletionItem {
                detail: detail(),
                sort: format!("{nth:04}"),
                ..CompletionItem::new(name, kind, offset - typed.len()..offset)
            }));
        };
        match line.chars().next_back() {
            Some('%') => add(CompletionKind::Instruction, &mut here.values()),
            Some('@') => add(CompletionKind::Computation, &mut here.symbols()),
            Some(sign @ ('#' | '!')) => add(CompletionKind::Value, &mut here.aliases(sign)),
            Some('^') => add(CompletionKind::Value, &mut here.blocks()),
            _ if is_behind_equal(line) => {
                let ops = mlir_hlo::op_names().filter(|(name, _)| name.starts_with(typed));
                add(
                    CompletionKind::Opcode,
                    &mut ops.map(|(name, opcode)| {
                        (name, Box::new(move || format!("as HLO: {}", opcode.name())) as Detail)
                    }),
                );
            }
            _ => {}
        }
        out
    }
}

/// A name in scope, without its sign, and what it is.
type Named<'a> = (&'a str, Detail<'a>);
type Detail<'a> = Box<dyn Fn() -> String + 'a>;

struct Cursor<'a> {
    context: &'a FileContext<'a>,
    piece: usize,
    /// The offset in the piece.
    local: usize,
    part: usize,
}

impl<'a> Cursor<'a> {
    /// The values above, the nearest first.
    fn values(&self) -> impl Iterator<Item = Named<'a>> {
        let &Cursor { context, piece, local, part } = self;
        let here = context.function_around(piece, local);
        let others: Vec<_> = match here {
            Some(function) => {
                let others = context.other_pieces(piece, function).into_iter();
                others.map(|(piece, function)| (piece, Some(function))).collect()
            }
            None => context.mlir_module().pieces_of(part).map(|piece| (piece, None)).collect(),
        };
        let read = context.mlir_piece(piece);
        let open = being_written(&read.parse, &read.text, local);
        let above = others.into_iter().filter(move |&(other, _)| other < piece).rev();
        std::iter::once((piece, here)).chain(above).flat_map(move |(at, function)| {
            let read = context.mlir_piece(at);
            let is_seen = |value: &mlir::Value| {
                let start = value.name.start as usize;
                let is_open = matches!(value.definition, mlir::Definition::Result(op) if at == piece && open.contains(&op));
                (at < piece || start < local)
                    && !is_open
                    && context.part_at(at, value.name.start) == part
                    && context.function_around(at, start) == function
            };
            let values = read.parse.values.iter().enumerate().filter(|(_, value)| is_seen(value));
            let mut values: Vec<_> = values.collect();
            values.sort_by_key(|(_, value)| std::cmp::Reverse(value.name.start));
            values.into_iter().map(move |(id, value)| {
                let ty = move || context.type_of_value(at, id as u32, 0).unwrap_or_default();
                (&value.name.of(&read.text)[1..], Box::new(move || shorten(ty(), 80)) as Detail)
            })
        })
    }

    fn symbols(&self) -> impl Iterator<Item = Named<'a>> {
        let &Cursor { context, part, .. } = self;
        context.mlir_module().pieces_of(part).flat_map(move |piece| {
            let read = context.mlir_piece(piece);
            let symbols = read.parse.symbols.iter().filter(|symbol| symbol.is_definition);
            let symbols = symbols.filter(move |symbol| context.part_at(piece, symbol.span.start) == part);
            symbols.map(|symbol| {
                let op = || read.parse.name(symbol.op, &read.text).to_owned();
                (db::symbol_name(symbol.span.of(&read.text)), Box::new(op) as Detail)
            })
        })
    }

    fn aliases(&self, sign: char) -> impl Iterator<Item = Named<'a>> {
        let &Cursor { context, part, .. } = self;
        context.mlir_module().pieces_of(part).flat_map(move |piece| {
            let read = context.mlir_piece(piece);
            let aliases = read.parse.aliases.iter().filter(|alias| alias.is_definition);
            let aliases = aliases.filter(move |alias| {
                context.part_at(piece, alias.span.start) == part
                    && alias.span.of(&read.text).starts_with(sign)
            });
            aliases.map(|alias| {
                let value = || {
                    let text = read.parse.op(alias.op).span.of(&read.text);
                    shorten(text.split_once('=').map_or("", |(_, value)| value.trim()), 80)
                };
                (&alias.span.of(&read.text)[1..], Box::new(value) as Detail)
            })
        })
    }

    /// The labels of the region around the cursor.
    fn blocks(&self) -> impl Iterator<Item = Named<'a>> {
        let &Cursor { context, piece, local, .. } = self;
        let read = context.mlir_piece(piece);
        let parse = &read.parse;
        let block = parse.op_at(local).and_then(|op| parse.op(op).block);
        let region = block.map(|block| parse.blocks[block as usize].region);
        let part = read.parts.iter().position(|part| Some(part.body) == region);
        let parts = part.map_or(Vec::new(), |part| context.mlir_giants().pieces_of(piece, part));
        let mut regions: Vec<_> = region.map(|region| (piece, region)).into_iter().collect();
        for (other, nth) in parts.into_iter().filter(|&(other, _)| other != piece) {
            regions.extend(context.mlir_piece(other).parts.get(nth).map(|part| (other, part.body)));
        }
        regions.sort_unstable();
        regions.into_iter().flat_map(move |(at, region)| {
            let read = context.mlir_piece(at);
            let labels = read.parse.blocks_of(region).map(|block| read.parse.blocks[block as usize].label);
            let names = labels.filter_map(|label| label.of(&read.text).strip_prefix('^'));
            names.map(|name| (name, Box::new(String::new) as Detail))
        })
    }
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

    /// Completes what is typed in the first function.
    #[track_caller]
    fn check_in(typed: &str, expect: &[&str]) {
        let text = format!(
            "\
#map = affine_map<(d0) -> (d0)>
func.func @f(%a: f32, %b: i32) {{
  %0 = x.y %a : f32
  {typed}
  cf.br ^bb1
^bb1:
  return
}}
func.func @g(%c: f32) {{
}}
"
        );
        check(&text, expect);
    }

    #[test]
    fn names_in_sight_are_offered() {
        check_in("x.z %$0", &["0 f32", "b i32", "a f32"]);
        check_in("x.z %B$0", &["b i32"]);
        check_in("x.z @$0", &["f func.func", "g func.func"]);
        check_in("x.z {m = #m$0}", &["map affine_map<(d0) -> (d0)>"]);
        check_in("cf.br ^b$0", &["bb1 "]);
        check_in("x.$0", &[]);
        // An op cannot use the result it defines.
        check_in("%1 = x.z %$0", &["0 f32", "b i32", "a f32"]);
        check_in("%1 = x.z %$0 : f32", &["0 f32", "b i32", "a f32"]);
        check_in("%1 = stablehlo.trans$0", &["stablehlo.transpose as HLO: transpose"]);
    }

    #[test]
    fn typing_reaches_names_beyond_the_limit() {
        let ops: String = (0..300).map(|n| format!("  %v{n} = x.y : f32\n")).collect();
        let items = |typed: &str| {
            let (analysis, file, offset) =
                open_mlir(&format!("func.func @f() {{\n{ops}  x.z %{typed}$0\n}}\n"));
            analysis.completion(file, offset).expect("nobody cancels")
        };
        let all = items("");
        assert_eq!((all.items.len(), all.items[0].label.as_str(), all.is_incomplete), (200, "v299", true));
        let found = items("v17");
        assert!(found.items.iter().any(|item| item.label == "v17") && !found.is_incomplete);
    }
}
