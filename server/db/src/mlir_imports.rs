//! A piece with the definitions of what it uses of other pieces: for what looks at an op and at what defines its operands.

use std::fmt::Write as _;
use std::sync::Arc;

use mlir::{AliasMention, Form, Op, Parse, PieceState, TypeRef};
use rustc_hash::FxHashMap;
use text::Span;

use crate::Piece;
use crate::mlir_giants::{Elsewhere, GiantName, mlir_links};
use crate::mlir_queries::mlir_piece;

/// A piece whose ops are those of [`crate::MlirPiece`], and behind them the definitions that are imported.
#[derive(Debug)]
pub struct MlirImported {
    pub text: Arc<str>,
    pub parse: Arc<Parse>,
}

/// Definitions that a piece imports at most.
const MAX_IMPORTS: usize = 10_000;

/// The piece itself where it uses nothing of others.
#[salsa::tracked(no_eq, lru = 256)]
pub fn mlir_imported(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirImported> {
    let read = mlir_piece(db, piece);
    let own = || Arc::new(MlirImported { text: read.text.clone(), parse: read.parse.clone() });
    let Some(elsewhere) = Elsewhere::of(db, piece) else { return own() };
    let links = mlir_links(db, piece);
    let mut definitions = String::new();
    let mut lines: FxHashMap<GiantName, usize> = FxHashMap::default();
    let mut uses = Vec::new();
    for (at, used) in read.parse.uses.iter().enumerate().filter(|(_, used)| used.is_external) {
        let Some(name) = links.of_use(at) else { continue };
        if !lines.contains_key(&name) {
            let written = used.span.of(&read.text).split('#').next().unwrap_or_default();
            let Some(definition) = elsewhere.definition(name, written).filter(|_| lines.len() < MAX_IMPORTS)
            else {
                continue;
            };
            lines.insert(name, definitions.len());
            _ = writeln!(definitions, "{definition}");
        }
        uses.push((at, lines[&name]));
    }
    for alias in elsewhere.type_aliases(&definitions) {
        _ = writeln!(definitions, "{alias}");
    }
    if definitions.is_empty() {
        return own();
    }
    let imported = mlir::parse(&definitions, PieceState::default());
    let start = read.text.len() as u32 + 1;
    let first_value = read.parse.values.len() as u32;
    let mut parse = Parse::clone(&read.parse);
    append(&mut parse, &imported, start);
    let mut by_place: FxHashMap<Span, u32> = FxHashMap::default();
    for (at, line) in uses {
        let value = imported.values.partition_point(|v| (v.name.start as usize) < line) as u32;
        if imported.values.get(value as usize).is_some_and(|v| v.name.start as usize == line) {
            parse.uses[at].value = Some(first_value + value);
            by_place.insert(parse.uses[at].span, first_value + value);
        }
    }
    // What a name is bound to is used where it is bound.
    for ty in &mut parse.types {
        if let TypeRef::Elsewhere(span) = *ty
            && let Some(&value) = by_place.get(&span)
        {
            let index = span.of(&read.text).split_once('#').and_then(|(_, index)| index.parse().ok());
            *ty = TypeRef::SameAs(value, index.unwrap_or(0));
        }
    }
    Arc::new(MlirImported { text: format!("{}\n{definitions}", read.text).into(), parse: Arc::new(parse) })
}

/// Adds ops of a text of definitions without regions and operands, which starts at `start`.
fn append(parse: &mut Parse, more: &Parse, start: u32) {
    let moved = |span: Span| Span { start: span.start + start, end: span.end + start };
    let by = |range: &std::ops::Range<u32>, len: usize| range.start + len as u32..range.end + len as u32;
    let (ops, values) = (parse.ops.len(), parse.values.len());
    let (types, attributes, uses) = (parse.types.len(), parse.attributes.len(), parse.uses.len());
    for op in &more.ops {
        parse.ops.push(Op {
            span: moved(op.span),
            name: moved(op.name),
            head: moved(op.head),
            location: moved(op.location),
            block: None,
            first_region: None,
            behind: op.behind + ops as u32,
            results: by(&op.results, values),
            uses: uses as u32..uses as u32,
            attributes: by(&op.attributes, attributes),
            operand_types: by(&op.operand_types, types),
            result_types: by(&op.result_types, types),
            ..op.clone()
        });
    }
    for value in &more.values {
        let definition = match value.definition {
            mlir::Definition::Result(op) => mlir::Definition::Result(op + ops as u32),
            other => other,
        };
        let (name, types) = (moved(value.name), by(&value.types, types));
        parse.values.push(mlir::Value { name, definition, types, count: value.count });
    }
    parse.types.extend(more.types.iter().map(|ty| match *ty {
        TypeRef::Written(span) => TypeRef::Written(moved(span)),
        TypeRef::ElementOf(span) => TypeRef::ElementOf(moved(span)),
        TypeRef::I1Like(span) => TypeRef::I1Like(moved(span)),
        other => other,
    }));
    parse.attributes.extend(more.attributes.iter().map(|a| mlir::Attribute {
        name: moved(a.name),
        value: moved(a.value),
        place: a.place,
    }));
    let aliases = more
        .aliases
        .iter()
        .filter(|a| a.is_definition && more.ops.get(a.op as usize).is_some_and(|op| op.form == Form::Alias));
    let aliases = aliases.map(|a| AliasMention { span: moved(a.span), op: a.op + ops as u32, ..*a });
    parse.aliases.extend(aliases);
}
