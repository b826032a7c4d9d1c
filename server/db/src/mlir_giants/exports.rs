//! The values of a piece that other pieces of its function use: their types, and whether indices follow from them.

use std::sync::Arc;

use mlir::Definition;
use rustc_hash::FxHashMap;

use crate::Piece;
use crate::mlir_imports::is_followed;
use crate::mlir_queries::mlir_read;

/// The types of the values that a piece shows: equal after edits that change no type and no number of results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirExports {
    pub(super) parts: Vec<Box<[Export]>>,
    /// Of `types`, per result of each value; [`NO_TYPE`] where none is known.
    numbers: Vec<u32>,
    /// Each type once.
    types: Vec<Box<str>>,
}

/// No type.
const NO_TYPE: u32 = u32::MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Export {
    pub(super) count: u32,
    /// Of [`MlirExports::numbers`].
    types: (u32, u32),
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

impl MlirExports {
    /// The types of the results of a value, as far as they are known.
    pub(super) fn types_of(&self, export: &Export) -> impl ExactSizeIterator<Item = Option<&str>> {
        let (start, end) = export.types;
        let numbers = self.numbers.get(start as usize..end as usize).unwrap_or_default();
        numbers.iter().map(|&number| self.types.get(number as usize).map(|ty| &**ty))
    }
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
            let first = exports.numbers.len() as u32;
            for &ty in parse.types(&defined.types) {
                let number = parse.type_text(ty, text).map(|ty| {
                    numbers.get(&*ty).copied().unwrap_or_else(|| {
                        let number = exports.types.len() as u32;
                        exports.types.push((&*ty).into());
                        numbers.insert(ty.into_owned(), number);
                        number
                    })
                });
                exports.numbers.push(number.unwrap_or(NO_TYPE));
            }
            let types = (first, exports.numbers.len() as u32);
            let kind = match defined.definition {
                Definition::Result(op) if mlir::is_constant(parse.name(op, text)) => ExportKind::Constant,
                Definition::Result(_) => ExportKind::Result,
                _ => ExportKind::Argument,
            };
            let is_followed = is_followed(parse, text, value);
            shown.push(Export { count: defined.count, types, kind, is_followed });
        }
        exports.parts.push(shown.into());
    }
    exports.numbers.shrink_to_fit();
    Arc::new(exports)
}
