//! The hover of names and ops: the definition, the op's line without long payloads, the types of its results
//! with their bytes, and the number of uses.

use mlir::{ArrayType, Definition, OpId, Parse, TypeRef, ValueId};
use syntax::Span;

use crate::Hover;
use crate::hover::HoverConfig;
use crate::locate::FileContext;
use crate::markdown::{bytes, code, fence, prose, shorten};
use crate::mlir::context::OpRef;
use crate::mlir::indexing_map_hover::{describe, indexing_map_hover};
use crate::mlir::kernels::hover::kernel_hover;
use crate::mlir::map_text::domain_text;
use crate::mlir::names::{definitions, name_at, occurrences};
use crate::mlir::op_maps_hover::op_maps_hover;
use crate::mlir::source_location::source_location;
use crate::semantics::{Name, Symbol};

/// The largest number of characters shown of an op's line.
const LINE_LIMIT: usize = 600;
/// The largest number of results whose types are shown.
const RESULT_LIMIT: usize = 8;

pub(crate) fn hover(context: &FileContext<'_>, offset: usize, config: &HoverConfig) -> Option<Hover> {
    if let Some(map) = indexing_map_hover(context, offset) {
        return Some(map);
    }
    if let Some(Name { at: found, symbol }) = name_at(context, offset) {
        let range = context.range(found.piece, found.span);
        let index = index_at(context, found.piece, found.span);
        let markdown = match &symbol {
            Symbol::Value { piece, value } => Some(of_value(context, *piece, *value, index, config)),
            Symbol::Block { piece, block } => {
                let read = context.mlir_piece(*piece);
                Some(of_block(&read.parse, *block, &read.text))
            }
            _ => of_symbol(context, &symbol),
        };
        return markdown.map(|markdown| Hover { range, markdown });
    }
    let at = context.op_at(offset)?;
    let op = context.mlir_piece(at.piece).parse.op(at.id);
    let local = offset - context.range(at.piece, Span::default()).start;
    // No hover for the op itself inside its regions.
    let span = [op.name, op.head, op.span].into_iter().find(|s| s.contains(local))?;
    (!op.name.is_empty() && (op.first_region.is_none() || op.head.contains(local)))
        .then(|| Hover { range: context.range(at.piece, span), markdown: of_op(context, at, config) })
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
) -> String {
    let read = context.mlir_piece(piece);
    let (parse, text) = (&read.parse, &*read.text);
    let defined = &parse.values[value as usize];
    let name = defined.name.of(text);
    let ty = context.type_of_value(piece, value, index);
    let shown = match defined.count {
        1 => name.to_owned(),
        _ => format!("{name}#{index}"),
    };
    let mut markdown = match &ty {
        Some(ty) => fence("mlir", &format!("{shown} : {}", shorten(ty, LINE_LIMIT))),
        None => fence("mlir", &shown),
    };
    if let Some(ty) = &ty {
        markdown += &size(ty);
    }
    let uses = occurrences(context, &Symbol::Value { piece, value }).len().saturating_sub(1);
    let used = match uses {
        0 => "not used".to_owned(),
        1 => "used once".to_owned(),
        n => format!("used {n} times"),
    };
    let what = match defined.definition {
        Definition::Result(_) if defined.count > 1 => format!("one of {} results", defined.count),
        Definition::Result(_) => "result".to_owned(),
        Definition::BlockArgument(_) => "argument of a block".to_owned(),
        Definition::Binder(op) => format!("argument of {}", code(parse.name(op, text))),
    };
    markdown += &format!("\n{what} · {used}\n");
    if !matches!(defined.definition, Definition::Result(_)) && ty.is_some_and(|ty| ty == "index") {
        markdown += &range(context, piece, value);
    }
    if let Definition::Result(op) | Definition::Binder(op) = defined.definition {
        markdown += "\n---\n\n";
        markdown += &fence("mlir", &head(parse, op, text));
    }
    if let Definition::Result(op) = defined.definition {
        let at = OpRef { piece, id: op };
        markdown += &op_maps_hover(context, at, config);
        markdown += &footer(context, at);
    }
    markdown
}

/// The op's source location.
fn footer(context: &FileContext<'_>, at: OpRef) -> String {
    let footer = source_location(context, at).footer();
    // Three dashes below a line of text would make it a heading.
    if footer.is_empty() { footer } else { format!("\n{footer}") }
}

/// The range of an index that a loop or a function introduces.
fn range(context: &FileContext<'_>, piece: usize, value: ValueId) -> String {
    let found = db::with_mlir_source(context.db, context.view.file, piece, |source| {
        let map = mlir_indexing::index_range(source, value)?;
        let domain = domain_text(&map);
        (!domain.is_empty()).then(|| format!("\n{}\n", prose(&domain)))
    });
    found.flatten().unwrap_or_default()
}

/// `1.05 MB · 262144 elements`, for an array with static extents.
fn size(ty: &str) -> String {
    let Ok(array) = ArrayType::parse(ty) else { return String::new() };
    match (array.bytes(), array.elements()) {
        (Some(size), Some(1)) => format!("\n{} · 1 element\n", bytes(size)),
        (Some(size), Some(elements)) => format!("\n{} · {elements} elements\n", bytes(size)),
        (None, Some(elements)) => format!("\n{elements} elements\n"),
        _ => String::new(),
    }
}

fn of_op(context: &FileContext<'_>, at: OpRef, config: &HoverConfig) -> String {
    let read = context.mlir_piece(at.piece);
    let (parse, text) = (&read.parse, &*read.text);
    let op = parse.op(at.id);
    let mut markdown = fence("mlir", &head(parse, at.id, text));
    for value in op.results.clone().take(RESULT_LIMIT) {
        let defined = &parse.values[value as usize];
        let types = parse.types(&defined.types);
        for (index, &ty) in types.iter().enumerate().take(RESULT_LIMIT) {
            let Some(ty) = parse.type_text(ty, text) else { continue };
            let name = match defined.count {
                1 => defined.name.of(text).to_owned(),
                _ => format!("{}#{index}", defined.name.of(text)),
            };
            let is_written = matches!(types[index], TypeRef::Written(_));
            let size = size(&ty);
            // A written type is already in the line.
            if !is_written || !size.is_empty() {
                let size = size.trim();
                let separator = if size.is_empty() { "" } else { " · " };
                markdown += &format!("\n{} : {}{separator}{size}\n", code(&name), code(&shorten(&ty, 200)));
            }
        }
    }
    if let Some(symbol) = parse.attribute(at.id, "callee", text) {
        markdown += &format!("\ncalls {}\n", code(symbol));
    }
    markdown += &op_maps_hover(context, at, config);
    markdown + &footer(context, at)
}

fn of_block(parse: &Parse, block: mlir::BlockId, text: &str) -> String {
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
    fence("mlir", &format!("{label}({})", arguments.join(", ")))
}

/// The definition of the symbol or alias.
fn of_symbol(context: &FileContext<'_>, symbol: &Symbol) -> Option<String> {
    let mut markdown = String::new();
    let mut kernel = String::new();
    for found in definitions(context, symbol).iter().take(RESULT_LIMIT) {
        let read = context.mlir_piece(found.piece);
        let op = read.parse.op_at(found.span.start as usize)?;
        markdown += &fence("mlir", &head(&read.parse, op, &read.text));
        if let Symbol::Alias { .. } = symbol
            && let Some(map) = mlir_ops::alias_value(&read.parse, &read.text, op).and_then(describe)
        {
            markdown += &format!("\n{map}");
        }
        if let Symbol::Global { .. } = symbol {
            kernel += &kernel_hover(context, found);
        }
    }
    let uses = occurrences(context, symbol).iter().filter(|o| !o.is_definition()).count();
    markdown += &format!("\nused {uses} times\n")
        .replace("used 1 times", "used once")
        .replace("used 0 times", "not used");
    if !kernel.is_empty() {
        markdown += &format!("\n{kernel}");
    }
    Some(markdown)
}

/// The op up to its regions, with long payloads cut.
fn head(parse: &Parse, op: OpId, text: &str) -> String {
    let head = parse.op(op).head.of(text);
    shorten(&without_payloads(head), LINE_LIMIT)
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
