//! The hover of names and ops: the definition, the op's line without long payloads, the types of its results
//! with their bytes, and the number of uses.

use mlir::{ArrayType, Definition, OpId, Parse, TypeRef, ValueId};
use syntax::Span;

use crate::Hover;
use crate::file_context::FileContext;
use crate::hover::{HoverConfig, Hovers};
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::indexing_map_hover::{describe, indexing_map_hover};
use crate::mlir::kernels::hover::kernel_hover;
use crate::mlir::map_text::domain_text;
use crate::mlir::names::definitions;
use crate::mlir::op_maps_hover::op_maps_hover;
use crate::mlir::source_location::source_location;
use crate::rich_text::{Line, RichText, code, parts, quoted};
use crate::semantics::Names;
use crate::symbol::{Name, Symbol};
use crate::units::{bytes, shorten};

/// The largest number of characters shown of an op's line.
const LINE_LIMIT: usize = 600;
/// The largest number of results whose types are shown.
const RESULT_LIMIT: usize = 8;

impl Hovers for Mlir {
    fn hover(&self, context: &FileContext<'_>, offset: usize, config: &HoverConfig) -> Option<Hover> {
        if let Some(map) = indexing_map_hover(context, offset) {
            return Some(map);
        }
        if let Some(Name { at: found, symbol }) = Mlir.name_at(context, offset) {
            let range = context.range(found.piece, found.span);
            let index = index_at(context, found.piece, found.span);
            let text = match &symbol {
                Symbol::Value { piece, value } => Some(of_value(context, *piece, *value, index, config)),
                Symbol::Block { piece, block } => {
                    let read = context.mlir_piece(*piece);
                    Some(of_block(&read.parse, *block, &read.text))
                }
                _ => of_symbol(context, &symbol),
            };
            return text.map(|text| Hover { range, text });
        }
        let at = context.op_at(offset)?;
        let op = context.mlir_piece(at.piece).parse.op(at.id);
        let local = offset - context.range(at.piece, Span::default()).start;
        // No hover for the op itself inside its regions.
        let span = [op.name, op.head, op.span].into_iter().find(|s| s.contains(local))?;
        (!op.name.is_empty() && (op.first_region.is_none() || op.head.contains(local)))
            .then(|| Hover { range: context.range(at.piece, span), text: of_op(context, at, config) })
    }
}

/// The index in a result pack: `%0#1`.
fn index_at(context: &FileContext<'_>, piece: usize, name: Span) -> usize {
    let text = &context.mlir_piece(piece).text;
    let behind = text.get(name.end as usize..).unwrap_or_default();
    let digits = behind.strip_prefix('#').unwrap_or_default();
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits[..len].parse().unwrap_or(0)
}

fn of_value(
    context: &FileContext<'_>,
    piece: usize,
    value: ValueId,
    index: usize,
    config: &HoverConfig,
) -> RichText {
    let read = context.mlir_piece(piece);
    let (parse, source) = (&read.parse, &*read.text);
    let defined = &parse.values[value as usize];
    let name = defined.name.of(source);
    let ty = context.type_of_value(piece, value, index);
    let shown = match defined.count {
        1 => name.to_owned(),
        _ => format!("{name}#{index}"),
    };
    let mut text = RichText::default();
    match &ty {
        Some(ty) => text.code("mlir", format!("{shown} : {}", shorten(ty, LINE_LIMIT))),
        None => text.code("mlir", shown),
    }
    ty.as_deref().and_then(size).into_iter().for_each(|size| fact(size, &mut text));
    let uses = Mlir.occurrences(context, &Symbol::Value { piece, value }).len().saturating_sub(1);
    let what = match defined.definition {
        Definition::Result(_) if defined.count > 1 => format!("one of {} results", defined.count).into(),
        Definition::Result(_) => Line::from("result"),
        Definition::BlockArgument(_) => "argument of a block".into(),
        Definition::Binder(op) => parts!["argument of ", code(parse.name(op, source))],
    };
    fact(Line::facts([what, used(uses).into()]), &mut text);
    if !matches!(defined.definition, Definition::Result(_)) && ty.is_some_and(|ty| ty == "index") {
        range(context, piece, value).into_iter().for_each(|range| fact(quoted(range), &mut text));
    }
    if let Definition::Result(op) | Definition::Binder(op) = defined.definition {
        text.space();
        text.divider();
        text.space();
        text.code("mlir", head(parse, op, source));
    }
    if let Definition::Result(op) = defined.definition {
        let at = OpRef { piece, id: op };
        text.append(op_maps_hover(context, at, config));
        footer(context, at, &mut text);
    }
    text
}

/// A line of its own.
fn fact(line: impl Into<Line>, text: &mut RichText) {
    text.space();
    text.line(line);
}

fn used(times: usize) -> String {
    match times {
        0 => "not used".to_owned(),
        1 => "used once".to_owned(),
        n => format!("used {n} times"),
    }
}

/// The op's source location.
fn footer(context: &FileContext<'_>, at: OpRef, text: &mut RichText) {
    let footer = source_location(context, at).footer();
    if !footer.is_empty() {
        // In Markdown, three dashes below a line of text would make it a heading.
        text.space();
        text.append(footer);
    }
}

/// The range of an index that a loop or a function introduces.
fn range(context: &FileContext<'_>, piece: usize, value: ValueId) -> Option<String> {
    let range = |source: &mlir_ops::Source<'_>| mlir_indexing::index_range(source, value);
    let map = db::with_mlir_source(context.db, context.view.file, piece, range)??;
    Some(domain_text(&map)).filter(|domain| !domain.is_empty())
}

/// `1.05 MB · 262144 elements`, for an array with static extents.
fn size(ty: &str) -> Option<String> {
    let array = ArrayType::parse(ty).ok()?;
    match (array.bytes(), array.elements()) {
        (Some(size), Some(1)) => Some(format!("{} · 1 element", bytes(size))),
        (Some(size), Some(elements)) => Some(format!("{} · {elements} elements", bytes(size))),
        (None, Some(elements)) => Some(format!("{elements} elements")),
        _ => None,
    }
}

fn of_op(context: &FileContext<'_>, at: OpRef, config: &HoverConfig) -> RichText {
    let read = context.mlir_piece(at.piece);
    let (parse, source) = (&read.parse, &*read.text);
    let op = parse.op(at.id);
    let mut text = RichText::default();
    text.code("mlir", head(parse, at.id, source));
    for value in op.results.clone().take(RESULT_LIMIT) {
        let defined = &parse.values[value as usize];
        let types = parse.types(&defined.types);
        for (index, &ty) in types.iter().enumerate().take(RESULT_LIMIT) {
            let Some(ty) = parse.type_text(ty, source) else { continue };
            let name = match defined.count {
                1 => defined.name.of(source).to_owned(),
                _ => format!("{}#{index}", defined.name.of(source)),
            };
            let is_written = matches!(types[index], TypeRef::Written(_));
            let size = size(&ty);
            // A written type is already in the line.
            if !is_written || size.is_some() {
                let ty = parts![code(name), " : ", code(shorten(&ty, 200))];
                fact(Line::facts([Some(ty), size.map(Line::from)].into_iter().flatten()), &mut text);
            }
        }
    }
    if let Some(symbol) = parse.attribute(at.id, "callee", source) {
        fact(parts!["calls ", code(symbol)], &mut text);
    }
    text.append(op_maps_hover(context, at, config));
    footer(context, at, &mut text);
    text
}

fn of_block(parse: &Parse, block: mlir::BlockId, text: &str) -> RichText {
    let block = &parse.blocks[block as usize];
    let arguments: Vec<_> = block
        .arguments
        .clone()
        .map(|v| {
            let name = parse.values[v as usize].name.of(text);
            format!("{name}: {}", parse.type_of(v, 0, text).unwrap_or_default())
        })
        .collect();
    let label = block.label.of(text);
    let mut shown = RichText::default();
    shown.code("mlir", format!("{label}({})", arguments.join(", ")));
    shown
}

/// The definition of the symbol or alias.
fn of_symbol(context: &FileContext<'_>, symbol: &Symbol) -> Option<RichText> {
    let mut text = RichText::default();
    let mut kernel = RichText::default();
    for found in definitions(context, symbol).iter().take(RESULT_LIMIT) {
        let read = context.mlir_piece(found.piece);
        let op = read.parse.op_at(found.span.start as usize)?;
        text.code("mlir", head(&read.parse, op, &read.text));
        if let Symbol::Alias { .. } = symbol
            && let Some(map) = mlir_ops::alias_value(&read.parse, &read.text, op).and_then(describe)
        {
            text.space();
            text.append(map);
        }
        if let Symbol::Global { .. } = symbol {
            kernel.append(kernel_hover(context, found));
        }
    }
    let uses = Mlir.occurrences(context, symbol).iter().filter(|o| !o.is_definition()).count();
    fact(used(uses), &mut text);
    if !kernel.is_empty() {
        text.space();
        text.append(kernel);
    }
    Some(text)
}

/// The op up to its regions, with long payloads cut.
fn head(parse: &Parse, op: OpId, text: &str) -> String {
    let head = parse.op(op).head.of(text);
    shorten(without_payloads(head), LINE_LIMIT)
}

/// Replaces strings longer than a line by their start and length: a constant may have megabytes.
pub(crate) fn without_payloads(text: &str) -> String {
    const SHOWN: usize = 64;
    let (tokens, _) = mlir::tokens(text, 0, text.len(), true);
    let mut shown = String::new();
    let mut at = 0;
    for token in tokens.iter().filter(|t| t.kind == mlir::TokenKind::String) {
        let span = token.span.range();
        if span.len() > SHOWN + 32 {
            let start: String = text[span.clone()].chars().take(SHOWN / 2).collect();
            shown += &text[at..span.start];
            shown += &format!("{start}…\" /* {} */", bytes(span.len() as u64));
            at = span.end;
        }
    }
    shown + &text[at..]
}

#[cfg(test)]
mod tests;
