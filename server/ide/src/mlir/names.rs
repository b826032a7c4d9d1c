//! The name under the cursor, and all its other occurrences.

use db::GiantDefinition;
use mlir::{BlockId, Definition};
use syntax::Span;

use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::semantics::Names;
use crate::source_location::SourceLocation;
use crate::symbol::{Defined, Name, Occurrence, Role, Symbol};
use crate::{SourceFrame, TextRange};

impl Names for Mlir {
    fn source_frames(
        &self,
        context: &FileContext<'_>,
        offset: usize,
    ) -> Option<(TextRange, Vec<SourceFrame>)> {
        crate::mlir::source_location::frames_at(context, offset)
    }

    fn source_location(&self, context: &FileContext<'_>, offset: usize) -> Option<SourceLocation> {
        Some(crate::mlir::source_location::source_location(context, context.op_at(offset)?))
    }

    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str {
        &context.mlir_piece(piece).text
    }

    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name> {
        let (piece, local) = context.locate(offset);
        in_piece(context, piece, local).or_else(|| {
            let before = piece.checked_sub(1).filter(|_| local == 0)?;
            in_piece(context, before, offset - context.view.starts[before].offset)
        })
    }

    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
        match symbol {
            Symbol::Value { piece, value } => {
                let read = context.mlir_piece(*piece);
                let Some(defined) = read.parse.values.get(*value as usize) else { return Vec::new() };
                let uses = read.parse.uses.iter().filter(|u| u.value == Some(*value));
                let mut found: Vec<_> =
                    uses.map(|u| occurrence(*piece, without_index(u.span, &read.text), false)).collect();
                found.push(occurrence(*piece, defined.name, true));
                in_other_pieces(context, *piece, GiantDefinition::Value(*value), &mut found);
                found
            }
            Symbol::Block { piece, block } => {
                let parse = &context.mlir_piece(*piece).parse;
                let uses = parse.successors.iter().filter(|s| s.block == Some(*block));
                let mut found: Vec<_> = uses.map(|s| occurrence(*piece, s.span, false)).collect();
                let label = parse.blocks.get(*block as usize).map(|b| b.label);
                found.extend(label.map(|span| occurrence(*piece, span, true)));
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
            Symbol::Instruction(_) | Symbol::Computation(_) => Vec::new(),
        }
    }

    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined> {
        let whole = |o: &Occurrence| Defined {
            range: whole(context, o, symbol),
            name: context.range(o.piece, o.span),
        };
        definitions(context, symbol).iter().map(whole).collect()
    }

    fn find_name(&self, context: &FileContext<'_>, name: &str) -> Option<usize> {
        context.find_value(name)
    }
}

fn occurrence(piece: usize, span: Span, is_definition: bool) -> Occurrence {
    Occurrence { piece, span, role: if is_definition { Role::Definition } else { Role::Use } }
}

/// `%a` of `%a#1`.
pub(crate) fn without_index(span: Span, text: &str) -> Span {
    let len = span.of(text).find('#').unwrap_or((span.end - span.start) as usize);
    Span { start: span.start, end: span.start + len as u32 }
}

fn in_piece(context: &FileContext<'_>, piece: usize, local: usize) -> Option<Name> {
    let read = context.mlir_piece(piece);
    let (parse, text) = (&read.parse, &*read.text);
    let found = |span: Span, is_definition: bool, symbol: Symbol| {
        Some(Name { at: occurrence(piece, span, is_definition), symbol })
    };
    if let Some(value) = parse.value_at(local) {
        return found(parse.values[value as usize].name, true, Symbol::Value { piece, value });
    }
    // An op's names are inside it, and in no other op.
    if let Some(op) = parse.op_at(local)
        && let Some(nth) = parse.uses_of(op).iter().position(|u| u.span.contains(local))
    {
        let nth = parse.op(op).uses.start as usize + nth;
        let (defining, value) = context.value_of_use(piece, nth)?;
        let symbol = Symbol::Value { piece: defining, value };
        return found(without_index(parse.uses[nth].span, text), false, symbol);
    }
    let label = parse.blocks.iter().position(|b| !b.label.is_empty() && b.label.contains(local));
    if let Some(block) = label {
        let symbol = Symbol::Block { piece, block: block as BlockId };
        return found(parse.blocks[block].label, true, symbol);
    }
    if let Some(nth) = parse.successors.iter().position(|s| s.span.contains(local)) {
        let (defining, block) = context.block_of_successor(piece, nth)?;
        return found(parse.successors[nth].span, false, Symbol::Block { piece: defining, block });
    }
    if let Some(mention) = parse.symbols.iter().find(|s| s.span.contains(local)) {
        let name = db::symbol_name(mention.span.of(text)).to_owned();
        let part = context.part_at(piece, mention.span.start);
        return found(mention.span, mention.is_definition, Symbol::Global { part, name });
    }
    let mention = parse.aliases.iter().find(|a| a.span.contains(local))?;
    let name = mention.span.of(text).to_owned();
    let part = context.part_at(piece, mention.span.start);
    found(mention.span, mention.is_definition, Symbol::Alias { part, name })
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
            found.extend(spans.map(|span| occurrence(other, span, false)));
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
                found.push(occurrence(piece, span, is_definition));
            }
        }
    }
    found
}

/// The definitions of a symbol, an alias, a value or a block.
pub(crate) fn definitions(context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
    let pieces: &[usize] = match symbol {
        Symbol::Value { .. } | Symbol::Block { .. } => {
            return Mlir.occurrences(context, symbol).into_iter().filter(Occurrence::is_definition).collect();
        }
        Symbol::Global { part, name } => context.mlir_module().symbol(*part, name),
        Symbol::Alias { part, name } => context.mlir_module().alias(*part, name),
        Symbol::Instruction(_) | Symbol::Computation(_) => &[],
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
            _ => Vec::new(),
        };
        for span in spans {
            let definition = occurrence(piece, span, true);
            let part = context.part_at(piece, span.start);
            let is_here = matches!(symbol, Symbol::Global { part: p, .. } | Symbol::Alias { part: p, .. } if *p == part);
            if is_here && !found.contains(&definition) {
                found.push(definition);
            }
        }
    }
    found
}

/// The range of the whole definition: the op, or the name alone.
fn whole(context: &FileContext<'_>, at: &Occurrence, symbol: &Symbol) -> TextRange {
    let parse = &context.mlir_piece(at.piece).parse;
    let op = match symbol {
        Symbol::Value { value, .. } => match parse.values[*value as usize].definition {
            Definition::Result(op) => Some(op),
            Definition::BlockArgument(_) | Definition::Binder(_) => None,
        },
        Symbol::Global { .. } | Symbol::Alias { .. } => parse.op_at(at.span.start as usize),
        _ => None,
    };
    let name = context.range(at.piece, at.span);
    let range = op.map_or(name.clone(), |id| context.whole_op(OpRef { piece: at.piece, id }));
    // In an invalid text, a name may be outside its op.
    if range.start <= name.start && name.end <= range.end { range } else { name }
}
