//! The outline: modules and functions with their ops, nested.

use mlir::{Form, OpId, Parse};
use syntax::Span;

use crate::document_symbols::{self, note_omitted};
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::units::shorten;
use crate::{DocumentSymbol, SymbolKind};

/// Ops nested deeper than this are not listed.
const MAX_DEPTH: usize = 32;
/// The number of functions listed regardless of the limit.
const MAX_FUNCTIONS: usize = 10_000;
/// The largest number of characters of a type.
const DETAIL_LIMIT: usize = 100;

impl document_symbols::Outline for Mlir {
    /// Modules and functions come first, so that a limit omits ops of the last ones rather than functions.
    fn document_symbols(&self, context: &FileContext<'_>, limit: usize) -> (Vec<DocumentSymbol>, usize) {
        let module = context.mlir_module();
        let mut outline = Outline { context, room: limit.saturating_sub(module.functions), omitted: 0 };
        let mut symbols: Vec<DocumentSymbol> = Vec::new();
        // Modules, and the function that ends in a later piece.
        let mut open: Vec<Open> = Vec::new();
        let mut functions = 0;
        for piece in 0..context.pieces() {
            crate::analysis::check_cancelled(context.db);
            let parse = &context.mlir_piece(piece).parse;
            let opened: Vec<OpId> =
                parse.open_below.iter().map(|&region| parse.regions[region as usize].op).collect();
            // The contents of the innermost open op come first.
            for id in (0..parse.continued.min(open.len() as OpId)).rev() {
                let is_open = id < parse.open_above || opened.contains(&id);
                outline.fill(piece, id, &opened, &mut open[id as usize], &mut 0);
                if !is_open && open.len() > id as usize {
                    while open.len() > id as usize {
                        close(&mut open, context.range(piece, parse.op(id).span).end, &mut symbols);
                    }
                }
            }
            for id in parse.top_ops().filter(|&id| !parse.is_continued(id)) {
                if functions > limit.max(MAX_FUNCTIONS) {
                    outline.omitted += 1;
                    continue;
                }
                if opened.contains(&id) {
                    continue;
                }
                symbols.extend(outline.symbol(piece, id, 0, &mut functions));
            }
            for &id in opened.iter().filter(|&&id| !parse.is_continued(id)) {
                let mut inside = Open { symbol: outline.without_children(piece, id), omitted: 0 };
                outline.fill(piece, id, &opened, &mut inside, &mut 0);
                open.push(inside);
            }
        }
        while !open.is_empty() {
            close(&mut open, context.view.text.len_bytes(), &mut symbols);
        }
        (symbols, outline.omitted)
    }
}

/// An op that continues in the next piece, with its symbols so far.
struct Open {
    symbol: DocumentSymbol,
    /// The number of ops in it that are not listed.
    omitted: usize,
}

/// Closes the innermost open op.
fn close(open: &mut Vec<Open>, end: usize, symbols: &mut Vec<DocumentSymbol>) {
    let Some(Open { mut symbol, omitted }) = open.pop() else { return };
    symbol.range.end = end.max(symbol.range.end);
    note_omitted(&mut symbol, omitted);
    open.last_mut().map_or(symbols, |outer| &mut outer.symbol.children).push(symbol);
}

struct Outline<'a> {
    context: &'a FileContext<'a>,
    room: usize,
    omitted: usize,
}

impl Outline<'_> {
    /// Adds the ops that a piece has of an op spanning several pieces, except ops that themselves span
    /// pieces.
    fn fill(&mut self, piece: usize, id: OpId, opened: &[OpId], inside: &mut Open, functions: &mut usize) {
        let parse = &self.context.mlir_piece(piece).parse;
        for region in parse.regions_of(id) {
            for child in parse.blocks_of(region).flat_map(|block| parse.ops_of(block)) {
                if parse.is_continued(child) || opened.contains(&child) {
                    continue;
                }
                let before = self.omitted;
                match self.symbol(piece, child, 1, functions) {
                    Some(child) => inside.symbol.children.push(child),
                    None => inside.omitted += self.omitted - before,
                }
            }
        }
    }

    fn symbol(
        &mut self,
        piece: usize,
        id: OpId,
        depth: usize,
        functions: &mut usize,
    ) -> Option<DocumentSymbol> {
        let read = self.context.mlir_piece(piece);
        let parse = &read.parse;
        let op = parse.op(id);
        if op.form == Form::Resources || op.name.is_empty() {
            return None;
        }
        if is_container(parse, id, &read.text) {
            *functions += 1;
        } else if self.room == 0 {
            self.omitted += 1;
            return None;
        } else {
            self.room -= 1;
        }
        let mut symbol = self.without_children(piece, id);
        let mut omitted = 0;
        for region in parse.regions_of(id) {
            for child in parse.blocks_of(region).flat_map(|block| parse.ops_of(block)) {
                let before = self.omitted;
                if depth >= MAX_DEPTH {
                    self.omitted += 1;
                    omitted += 1;
                    continue;
                }
                match self.symbol(piece, child, depth + 1, functions) {
                    Some(child) => symbol.children.push(child),
                    None => omitted += self.omitted - before,
                }
            }
        }
        note_omitted(&mut symbol, omitted);
        Some(symbol)
    }

    fn without_children(&self, piece: usize, id: OpId) -> DocumentSymbol {
        let read = self.context.mlir_piece(piece);
        let (parse, text) = (&read.parse, &*read.text);
        let op = parse.op(id);
        let (name, selection) = name_of(parse, id, text);
        let op_name = parse.name(id, text);
        let ty = op.results.clone().next().and_then(|value| parse.type_of(value, 0, text));
        let detail = match ty {
            _ if op.form == Form::Alias => String::new(),
            Some(ty) => format!("{} {op_name}", shorten(&ty, DETAIL_LIMIT)),
            None if name == op_name => String::new(),
            None => op_name.to_owned(),
        };
        let range = self.context.range(piece, op.span);
        let selection = self.context.range(piece, selection);
        let fits = range.start <= selection.start && selection.end <= range.end;
        DocumentSymbol {
            name,
            detail,
            kind: kind_of(parse, id, text),
            selection_range: if fits { selection } else { range.start..range.start },
            range,
            children: Vec::new(),
        }
    }
}

/// Whether the op is a function, or contains functions.
pub(crate) fn is_container(parse: &Parse, id: OpId, text: &str) -> bool {
    let name = parse.name(id, text);
    mlir::is_function_like(name) || mlir::is_module_like(name)
}

fn kind_of(parse: &Parse, id: OpId, text: &str) -> SymbolKind {
    let name = parse.name(id, text);
    if mlir::is_module_like(name) {
        SymbolKind::Entry
    } else if mlir::is_function_like(name) {
        SymbolKind::Computation
    } else if mlir::is_constant(name) || parse.op(id).form == Form::Alias {
        SymbolKind::Constant
    } else {
        SymbolKind::Instruction
    }
}

/// The op's name in the outline: its symbol, its results, or else the op itself.
pub(crate) fn name_of(parse: &Parse, id: OpId, text: &str) -> (String, Span) {
    let op = parse.op(id);
    let first = parse.symbols.partition_point(|s| s.span.start < op.span.start);
    let inside = parse.symbols[first..].iter().take_while(|s| s.span.start < op.head.end);
    if let Some(symbol) = inside.into_iter().find(|s| s.is_definition && s.op == id) {
        return (format!("@{}", db::symbol_name(symbol.span.of(text))), symbol.span);
    }
    let results: Vec<_> = op.results.clone().map(|v| parse.values[v as usize].name).collect();
    match (results.first(), results.last()) {
        (Some(&first), Some(_)) if results.len() > 4 => {
            (format!("{}, … ({} results)", first.of(text), results.len()), first)
        }
        (Some(&first), Some(_)) => {
            let names: Vec<_> = results.iter().map(|r| r.of(text)).collect();
            (names.join(", "), first)
        }
        _ => (parse.name(id, text).to_owned(), op.name),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::DocumentSymbol;
    use crate::fixture::open_mlir;

    fn show(symbols: &[DocumentSymbol], depth: usize, shown: &mut String) {
        for symbol in symbols {
            *shown +=
                &format!("{}{:?} {}: {}\n", "  ".repeat(depth), symbol.kind, symbol.name, symbol.detail);
            for child in &symbol.children {
                assert!(symbol.range.start <= child.range.start && child.range.end <= symbol.range.end);
            }
            show(&symbol.children, depth + 1, shown);
        }
    }

    fn check(text: &str, limit: usize, expect: Expect) {
        let (analysis, file, _) = open_mlir(text);
        let (symbols, omitted) = analysis.document_symbols(file, limit).expect("nobody cancels");
        let mut shown = String::new();
        show(&symbols, 0, &mut shown);
        expect.assert_eq(&format!("{shown}{omitted} omitted\n"));
    }

    const TEXT: &str = "#map = affine_map<(d0) -> (d0)>
module @m {
  func.func @f(%a: f32) -> f32 {
    %0:2 = x.y %a : f32, f32
    x.loop {
      x.use %0#1 : f32
    }
    return %0#0 : f32
  }
  \"func.func\"() <{sym_name = \"g\"}> ({}) : () -> ()
}
";

    #[test]
    fn functions_hold_their_ops() {
        check(
            TEXT,
            100,
            expect![[r#"
                Constant #map: 
                Entry @m: module
                  Computation @f: func.func
                    Instruction %0: f32 x.y
                    Instruction x.loop: 
                      Instruction x.use: 
                    Instruction return: 
                  Computation @g: func.func
                0 omitted
            "#]],
        );
    }

    #[test]
    fn a_limit_leaves_out_ops_first() {
        check(
            TEXT,
            4,
            expect![[r#"
                Constant #map: 
                Entry @m: module
                  Computation @f: func.func
                    Instruction %0: f32 x.y
                    Note … 2 more: not listed
                  Computation @g: func.func
                2 omitted
            "#]],
        );
    }

    /// A cut module has the same outline as a whole one.
    #[test]
    fn pieces_do_not_show() {
        let filler = "    x.y : () -> ()\n".repeat(2000);
        let text = format!(
            "\
module @m {{
  func.func @f() {{
{filler}  }}
  func.func @g() {{
{filler}  }}
}}
func.func @h() {{
}}
"
        );
        let (analysis, file, _) = open_mlir(&text);
        assert!(analysis.statistics(file).expect("nobody cancels").pieces > 1);
        check(
            &text,
            0,
            expect![[r#"
                Entry @m: module
                  Computation @f: func.func
                    Note … 2000 more: not listed
                  Computation @g: func.func
                    Note … 2000 more: not listed
                Computation @h: func.func
                4000 omitted
            "#]],
        );
    }
}
