//! What defines a name of a function that is cut, by itself.

use std::sync::Arc;

use mlir::{Definition, OpId, Parse, TypeRef, Use, Value, ValueId, without_result};
use rustc_hash::FxHashSet;
use text::Span;

use crate::mlir_giants::{GiantName, mlir_giant_index, mlir_links};
use crate::mlir_queries::{MlirPiece, mlir_piece};
use crate::positions::position_of;
use crate::{File, Piece};

/// An op of the body of a function, or one of its arguments, read: the text of that alone.
#[derive(Debug, Clone)]
pub(crate) struct MlirDefinition {
    pub(crate) text: Box<str>,
    /// One op, with its regions where they are short.
    pub(crate) parse: Parse,
    pub(crate) value: ValueId,
    /// Uses, by their place in [`Parse::uses`], of other names of the function.
    pub(crate) operands: Vec<(u32, GiantName)>,
}

/// The rest follows from these.
impl PartialEq for MlirDefinition {
    fn eq(&self, other: &MlirDefinition) -> bool {
        (&self.text, self.value, &self.operands) == (&other.text, other.value, &other.operands)
    }
}

/// Bytes of an op: one that is longer holds a payload, and no index.
const MAX_BYTES: u32 = 64 << 10;
/// Bytes and ops of regions that come along.
const MAX_REGION_BYTES: u32 = 16 << 10;
const MAX_REGION_OPS: u32 = 256;
/// The most bytes of the type and the attributes of an argument.
const MAX_ARGUMENT_BYTES: usize = 640;
/// Bytes of a constant of which indices are read.
const MAX_CONSTANT_BYTES: u32 = 2048;

/// Equal after edits that change neither the op nor what its operands stand for. Asked by the name, which stays when others come
/// and go.
#[salsa::tracked(lru = 1024)]
fn definition(
    db: &dyn salsa::Database,
    piece: Piece,
    part: u32,
    name: Arc<str>,
) -> Option<Arc<MlirDefinition>> {
    let (_, at) = position_of(db, piece)?;
    let read = mlir_piece(db, piece);
    let shown = read.parts.get(part as usize)?;
    // The first one in the body is meant, and of arguments the last.
    let is_it = |value: &&ValueId| read.parse.values[**value as usize].name.of(&read.text) == &*name;
    let body = shown.values.iter().find(is_it);
    let value = *body.or_else(|| shown.arguments.iter().rev().find(is_it))?;
    let definition = match read.parse.values.get(value as usize)?.definition {
        Definition::Result(op) => {
            of_op(db, piece, GiantName { piece: at as u32, part, nth: 0 }, read, op, value)
        }
        Definition::Binder(_) | Definition::BlockArgument(_) => of_argument(read, value),
    };
    definition.map(Arc::new)
}

/// What defines a name, which is written so, with its sign. Nothing for an op that holds a payload.
pub(crate) fn mlir_definition_of<'a>(
    db: &'a dyn salsa::Database,
    file: File,
    name: GiantName,
    written: &str,
) -> Option<&'a Arc<MlirDefinition>> {
    let piece = *file.pieces(db).get(name.piece as usize)?;
    definition(db, piece, name.part, without_result(written).into()).as_ref()
}

/// Whether an op that is short enough to be read, and has operands, defines a name.
pub(crate) fn has_operands(db: &dyn salsa::Database, file: File, name: GiantName) -> bool {
    let index = mlir_giant_index(db, file);
    let definition = mlir_definition_of(db, file, name, index.name(name));
    definition.is_some_and(|definition| !definition.parse.uses.is_empty())
}

/// Names, and what the definitions of those use, breadth first: at most `limit` of them.
pub(crate) fn mlir_definitions_behind(
    db: &dyn salsa::Database,
    file: File,
    names: &[GiantName],
    limit: usize,
) -> Vec<GiantName> {
    let index = mlir_giant_index(db, file);
    let mut found: Vec<GiantName> = Vec::new();
    let mut seen: FxHashSet<GiantName> = FxHashSet::default();
    found.extend(names.iter().filter(|name| seen.insert(**name)));
    let mut at = 0;
    while at < found.len() && found.len() < limit {
        if let Some(definition) = mlir_definition_of(db, file, found[at], index.name(found[at])) {
            let operands = definition.operands.iter().map(|&(_, name)| name);
            found.extend(operands.filter(|name| seen.insert(*name)));
        }
        at += 1;
    }
    found
}

fn of_op(
    db: &dyn salsa::Database,
    piece: Piece,
    own: GiantName,
    read: &MlirPiece,
    op: OpId,
    value: ValueId,
) -> Option<MlirDefinition> {
    let (parse, text) = (&*read.parse, &*read.text);
    let found = parse.op(op);
    let (span, head) = (found.span, found.head);
    let inside = parse.regions_of(op).map(|region| parse.regions[region as usize].span);
    let behind = inside.last().map_or(head.end, |last| last.end.clamp(head.end, span.end));
    let length = behind - head.end;
    let regions = length <= MAX_REGION_BYTES && found.behind - op <= MAX_REGION_OPS;
    // Without the regions, the types after them move up.
    let left_out = if regions { 0 } else { length };
    if span.end - span.start - left_out > MAX_BYTES {
        return None;
    }
    let place = |s: Span| {
        let moved = |at: u32| {
            let at = if at > head.end { at.saturating_sub(left_out).max(head.end) } else { at };
            at.saturating_sub(span.start)
        };
        Span { start: moved(s.start), end: moved(s.end) }
    };
    let mut copy = Parse::default();
    let values = copy.copy(parse, op, regions, &place);
    let text = match left_out {
        0 => span.of(text).to_owned(),
        _ => {
            let (front, back) = (Span { end: head.end, ..span }, Span { start: behind, ..span });
            format!("{}{}", front.of(text), back.of(text))
        }
    };
    let part = read.parts.get(own.part as usize)?;
    let links = mlir_links(db, piece);
    let stands_for = |(nth, used): (usize, &Use)| match used.value {
        Some(value) => {
            let number = |list: &[ValueId]| list.binary_search(&value).ok();
            let arguments = || Some(part.values.len() + number(&part.arguments)?);
            let nth = number(&part.values).or_else(arguments)?;
            Some(GiantName { nth: nth as u32, ..own })
        }
        None => links.of_use(nth),
    };
    let last = if regions { found.behind } else { op + 1 };
    let used = (op..last).flat_map(|id| {
        let range = parse.op(id).uses.clone();
        (range.start as usize..range.end as usize).map(|nth| (nth, &parse.uses[nth]))
    });
    let mut operands = Vec::new();
    for ((at, copied), used) in copy.uses.iter().enumerate().zip(used) {
        if copied.value.is_none()
            && let Some(name) = stands_for(used)
        {
            operands.push((at as u32, name));
        }
    }
    Some(MlirDefinition { text: text.into(), value: *values.get(&value)?, parse: copy, operands })
}

/// The name with its type and its attributes.
fn of_argument(read: &MlirPiece, value: ValueId) -> Option<MlirDefinition> {
    let (parse, text) = (&*read.parse, &*read.text);
    let found = &parse.values[value as usize];
    let TypeRef::Written(ty) = *parse.types(&found.types).first()? else { return None };
    let start = found.name.start as usize;
    let limit = (ty.end.max(found.name.end) as usize + MAX_ARGUMENT_BYTES).min(text.len());
    let limit = (start..=limit).rev().find(|&at| text.is_char_boundary(at))?;
    if ty.start < found.name.start || ty.end - found.name.start > MAX_BYTES {
        return None;
    }
    let place = |s: Span| Span { start: s.start - found.name.start, end: s.end - found.name.start };
    let mut own = Parse::default();
    own.types.push(TypeRef::Written(place(ty)));
    own.values.push(Value {
        name: place(found.name),
        definition: Definition::Binder(0),
        count: 1,
        types: 0..1,
    });
    let span = Span { start: 0, end: (argument_end(text, ty.end as usize, limit) - start) as u32 };
    // Isolated, like the function that it replaces.
    own.ops.push(mlir::Op { is_isolated: true, ..super::unnamed(0, span, 0..0, 0..0) });
    let text = text[start..][span.range()].into();
    Some(MlirDefinition { text, parse: own, value: 0, operands: Vec::new() })
}

/// After the attributes of an argument, whose type ends at `from`.
fn argument_end(text: &str, from: usize, limit: usize) -> usize {
    let (tokens, _) = mlir::tokens(text, from, limit, false);
    let mut depth = 0usize;
    let mut end = from;
    for token in &tokens {
        use mlir::TokenKind::*;
        match token.kind {
            OpenParen | OpenSquare | OpenAngle | OpenBrace => depth += 1,
            CloseParen | CloseSquare | CloseAngle | CloseBrace if depth > 0 => depth -= 1,
            CloseParen | CloseSquare | CloseAngle | CloseBrace | Comma if depth == 0 => break,
            _ => {}
        }
        end = token.span.end as usize;
    }
    end
}

/// Whether indices and extents may follow from what defines a value: then other pieces read it.
pub(crate) fn is_followed(parse: &Parse, text: &str, value: ValueId) -> bool {
    let found = &parse.values[value as usize];
    let mut types = parse.types(&found.types).iter().filter_map(|&ty| parse.type_text(ty, text));
    let Definition::Result(op) = found.definition else {
        return types.any(|ty| !ty.contains('<') && !ty.starts_with('!'));
    };
    let name = parse.name(op, text);
    if mlir::is_constant(name) {
        return parse.op(op).span.end - parse.op(op).span.start <= MAX_CONSTANT_BYTES;
    }
    let dialect = name.split('.').next().unwrap_or_default();
    let computes = matches!(
        dialect,
        "affine"
            | "arith"
            | "bufferization"
            | "gpu"
            | "index"
            | "linalg"
            | "math"
            | "memref"
            | "tensor"
            | "vector"
            | "xla"
    );
    let is_number = |ty: &str| {
        let width = ty.strip_prefix('i').unwrap_or_default();
        ty == "index" || !width.is_empty() && width.bytes().all(|b| b.is_ascii_digit())
    };
    computes && types.any(|ty| is_number(&ty) || ty.contains('?'))
}
