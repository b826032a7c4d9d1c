//! What a piece tells of the values that other pieces of its function use: their types, and short constants.

use std::sync::Arc;

use mlir::Definition;
use rustc_hash::FxHashMap;

use crate::Piece;
use crate::mlir_queries::mlir_read;

/// What a piece tells of the values that it shows: equal after edits that change no type, no number of results and no scalar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirExports {
    pub(super) parts: Vec<Vec<Export>>,
    /// Each type once.
    pub(super) types: Vec<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Export {
    pub(super) count: u32,
    /// Of [`MlirExports::types`], per result.
    pub(super) types: smallvec::SmallVec<[Option<u32>; 1]>,
    pub(super) kind: ExportKind,
    /// The op, of a short constant.
    pub(super) constant: Option<Box<str>>,
}

/// Bytes of the op of a constant that other pieces know.
const MAX_CONSTANT: usize = 200;

/// What defines a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportKind {
    Result,
    Constant,
    Argument,
}

#[salsa::tracked]
pub(crate) fn mlir_exports(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirExports> {
    let read = mlir_read(db, piece);
    let (parse, text) = (&read.parse, &*read.text);
    let mut exports = MlirExports::default();
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    for part in read.parts.iter() {
        let mut shown = Vec::with_capacity(part.values.len() + part.arguments.len());
        for &value in part.values.iter().chain(&part.arguments) {
            let defined = &parse.values[value as usize];
            let types = parse.types(&defined.types).iter().map(|&ty| {
                let ty = parse.type_text(ty, text)?;
                if let Some(&number) = numbers.get(&*ty) {
                    return Some(number);
                }
                exports.types.push((&*ty).into());
                let number = numbers.len() as u32;
                numbers.insert(ty.into_owned(), number);
                Some(number)
            });
            let types = types.collect();
            let (kind, constant) = match defined.definition {
                Definition::Result(op) if mlir::last_segment(parse.name(op, text)) == "constant" => {
                    let written = parse.op(op).span.of(text);
                    (ExportKind::Constant, Some(written).filter(|w| w.len() <= MAX_CONSTANT))
                }
                Definition::Result(_) => (ExportKind::Result, None),
                _ => (ExportKind::Argument, None),
            };
            let constant = constant.map(Box::from);
            shown.push(Export { count: defined.count, types, kind, constant });
        }
        exports.parts.push(shown);
    }
    Arc::new(exports)
}
