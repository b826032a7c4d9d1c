//! The name under the cursor, and all its other occurrences.

use db::GiantDefinition;
use mlir::{BlockId, ValueId};
use syntax::Span;

use crate::locate::FileContext;

/// The definition that a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A result or an argument: `%name`.
    Value { piece: usize, value: ValueId },
    /// For example `^bb0`.
    Block { piece: usize, block: BlockId },
    /// `@name`, stored without `@`, in a part of the file.
    Global { part: usize, name: String },
    /// `#map` or `!array`, stored with its sign, in a part of the file.
    Alias { part: usize, name: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) piece: usize,
    /// The span with the name's sign, without the `#1` of a result pack.
    pub(crate) span: Span,
    pub(crate) is_definition: bool,
}

pub(crate) fn occurrence_at(context: &FileContext<'_>, offset: usize) -> Option<(Occurrence, Symbol)> {
    let (piece, local) = context.locate(offset);
    in_piece(context, piece, local).or_else(|| {
        let before = piece.checked_sub(1).filter(|_| local == 0)?;
        in_piece(context, before, offset - context.view.starts[before].offset)
    })
}

/// `%a` of `%a#1`.
pub(crate) fn without_index(span: Span, text: &str) -> Span {
    let len = span.of(text).find('#').unwrap_or((span.end - span.start) as usize);
    Span { start: span.start, end: span.start + len as u32 }
}

fn in_piece(context: &FileContext<'_>, piece: usize, local: usize) -> Option<(Occurrence, Symbol)> {
    let read = context.mlir_piece(piece);
    let (parse, text) = (&read.parse, &*read.text);
    let at = |span: Span, is_definition: bool| Occurrence { piece, span, is_definition };
    if let Some(value) = parse.value_at(local) {
        return Some((at(parse.values[value as usize].name, true), Symbol::Value { piece, value }));
    }
    // An op's names are inside it, and in no other op.
    if let Some(op) = parse.op_at(local)
        && let Some(nth) = parse.uses_of(op).iter().position(|u| u.span.contains(local))
    {
        let nth = parse.op(op).uses.start as usize + nth;
        let (defining, value) = context.value_of_use(piece, nth)?;
        let symbol = Symbol::Value { piece: defining, value };
        return Some((at(without_index(parse.uses[nth].span, text), false), symbol));
    }
    let label = parse.blocks.iter().position(|b| !b.label.is_empty() && b.label.contains(local));
    if let Some(block) = label {
        let symbol = Symbol::Block { piece, block: block as BlockId };
        return Some((at(parse.blocks[block].label, true), symbol));
    }
    if let Some(nth) = parse.successors.iter().position(|s| s.span.contains(local)) {
        let (defining, block) = context.block_of_successor(piece, nth)?;
        return Some((at(parse.successors[nth].span, false), Symbol::Block { piece: defining, block }));
    }
    if let Some(mention) = parse.symbols.iter().find(|s| s.span.contains(local)) {
        let name = db::symbol_name(mention.span.of(text)).to_owned();
        let part = context.part_at(piece, mention.span.start);
        return Some((at(mention.span, mention.is_definition), Symbol::Global { part, name }));
    }
    let mention = parse.aliases.iter().find(|a| a.span.contains(local))?;
    let name = mention.span.of(text).to_owned();
    let part = context.part_at(piece, mention.span.start);
    Some((at(mention.span, mention.is_definition), Symbol::Alias { part, name }))
}

/// All occurrences, in text order.
pub(crate) fn occurrences(context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
    match symbol {
        Symbol::Value { piece, value } => {
            let read = context.mlir_piece(*piece);
            let Some(defined) = read.parse.values.get(*value as usize) else { return Vec::new() };
            let uses = read.parse.uses.iter().filter(|u| u.value == Some(*value));
            let mut found: Vec<_> = uses
                .map(|u| Occurrence {
                    piece: *piece,
                    span: without_index(u.span, &read.text),
                    is_definition: false,
                })
                .collect();
            found.push(Occurrence { piece: *piece, span: defined.name, is_definition: true });
            in_other_pieces(context, *piece, GiantDefinition::Value(*value), &mut found);
            found
        }
        Symbol::Block { piece, block } => {
            let parse = &context.mlir_piece(*piece).parse;
            let uses = parse.successors.iter().filter(|s| s.block == Some(*block));
            let mut found: Vec<_> =
                uses.map(|s| Occurrence { piece: *piece, span: s.span, is_definition: false }).collect();
            let label = parse.blocks.get(*block as usize).map(|b| b.label);
            found.extend(label.map(|span| Occurrence { piece: *piece, span, is_definition: true }));
            in_other_pieces(context, *piece, GiantDefinition::Block(*block), &mut found);
            found
        }
        Symbol::Global { part, name } => in_part(context, *part, |read| {
            let mentions = read.parse.symbols.iter();
            let here = mentions.filter(|s| db::symbol_name(s.span.of(&read.text)) == name);
            here.map(|s| (s.span, s.is_definition)).collect()
        }),
        Symbol::Alias { part, name } => in_part(context, *part, |read| {
            let here = read.parse.aliases.iter().filter(|a| a.span.of(&read.text) == name);
            here.map(|a| (a.span, a.is_definition)).collect()
        }),
    }
}

/// Adds the uses of a value or a block in other pieces of the function, and sorts.
fn in_other_pieces(
    context: &FileContext<'_>,
    piece: usize,
    definition: GiantDefinition,
    found: &mut Vec<Occurrence>,
) {
    let file = context.view.file;
    if let Some(name) = db::mlir_giant_name(context.db, file, piece, definition) {
        for (other, _) in context.mlir_giants().pieces_with(name).into_iter().filter(|&(p, _)| p != piece) {
            crate::analysis::check_cancelled(context.db);
            let (read, links) = (context.mlir_piece(other), context.mlir_links(other));
            let uses = links.uses_of(name).map(|nth| without_index(read.parse.uses[nth].span, &read.text));
            let successors = links.successors_of(name).map(|nth| read.parse.successors[nth].span);
            let spans = uses.chain(successors);
            found.extend(spans.map(|span| Occurrence { piece: other, span, is_definition: false }));
        }
    }
    found.sort_by_key(|o| (o.piece, o.span.start));
}

fn in_part(
    context: &FileContext<'_>,
    part: usize,
    find: impl Fn(&db::MlirPiece) -> Vec<(Span, bool)>,
) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for piece in context.mlir_module().pieces_of(part) {
        crate::analysis::check_cancelled(context.db);
        for (span, is_definition) in find(context.mlir_piece(piece)) {
            if context.part_at(piece, span.start) == part {
                found.push(Occurrence { piece, span, is_definition });
            }
        }
    }
    found
}

/// The definitions of a symbol, an alias, a value or a block.
pub(crate) fn definitions(context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
    let pieces: &[usize] = match symbol {
        Symbol::Value { .. } | Symbol::Block { .. } => {
            return occurrences(context, symbol).into_iter().filter(|o| o.is_definition).collect();
        }
        Symbol::Global { part, name } => context.mlir_module().symbol(*part, name),
        Symbol::Alias { part, name } => context.mlir_module().alias(*part, name),
    };
    let mut found = Vec::new();
    // In order; an op that defines the name several times appears as often.
    let mut last = None;
    for &piece in pieces.iter().filter(|piece| last.replace(**piece) != Some(**piece)) {
        let read = context.mlir_piece(piece);
        let text = &*read.text;
        let spans: Vec<Span> = match symbol {
            Symbol::Global { name, .. } => {
                let defined = read.parse.symbols.iter().filter(|s| s.is_definition);
                defined.map(|s| s.span).filter(|s| db::symbol_name(s.of(text)) == name).collect()
            }
            Symbol::Alias { name, .. } => {
                let defined = read.parse.aliases.iter().filter(|a| a.is_definition);
                defined.map(|a| a.span).filter(|s| s.of(text) == name).collect()
            }
            Symbol::Value { .. } | Symbol::Block { .. } => Vec::new(),
        };
        for span in spans {
            let occurrence = Occurrence { piece, span, is_definition: true };
            let part = context.part_at(piece, span.start);
            let is_here = matches!(symbol, Symbol::Global { part: p, .. } | Symbol::Alias { part: p, .. } if *p == part);
            if is_here && !found.contains(&occurrence) {
                found.push(occurrence);
            }
        }
    }
    found
}
