//! What a piece tells of the values that other pieces of its function use: their types, and whether indices follow from them.

use std::sync::Arc;

use mlir::Definition;
use rustc_hash::FxHashMap;

use crate::Piece;
use crate::mlir_imports::is_followed;
use crate::mlir_queries::mlir_read;

/// What a piece tells of the values that it shows: equal after edits that change no type and no number of results.
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
    /// Other pieces read what defines it.
    pub(super) is_followed: bool,
}

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
            let kind = match defined.definition {
                Definition::Result(op) if mlir::last_segment(parse.name(op, text)) == "constant" => {
                    ExportKind::Constant
                }
                Definition::Result(_) => ExportKind::Result,
                _ => ExportKind::Argument,
            };
            let is_followed = is_followed(parse, text, value);
            shown.push(Export { count: defined.count, types, kind, is_followed });
        }
        exports.parts.push(shown);
    }
    Arc::new(exports)
}
