//! The maps of an op of MLIR: by its own rules, or those of its twin in HLO.

use std::sync::Arc;

use indexing::{OpIndexing, OperandIndexing, Rules, RuntimeSource};
use indexing_map::Interval;
use mlir::{Finding, OpId, ValueId};
use mlir_indexing::{
    Access, OpMaps, Producers, Role, Source, Space, Symbol, SymbolSource, through_producers,
};

use crate::hlo_twins::{HloTwin, hlo_twin};
use crate::mlir_imports::{MlirImported, mlir_imported};
use crate::mlir_queries::{MlirPiece, mlir_module, mlir_piece};
use crate::{File, Piece};

/// The text that an alias stands for which another piece of the same part of the file defines. `piece` is the number of the
/// piece that uses it, `at` where in it.
pub fn mlir_alias(db: &dyn salsa::Database, file: File, piece: usize, name: &str, at: u32) -> Option<String> {
    let pieces = file.pieces(db);
    let module = mlir_module(db, file);
    let part = module.part_at(piece, &mlir_piece(db, *pieces.get(piece)?).parse, at);
    module.alias(part, name).iter().find_map(|&other| {
        let read: &MlirPiece = mlir_piece(db, *pieces.get(other)?);
        let is_it = |a: &&mlir::AliasMention| {
            a.is_definition
                && a.span.of(&read.text) == name
                && module.part_at(other, &read.parse, a.span.start) == part
        };
        let found = read.parse.aliases.iter().find(is_it)?;
        mlir_indexing::alias_value(&read.parse, &read.text, found.op).map(str::to_owned)
    })
}

/// Calls `f` with the text of a piece, in which aliases of other pieces are known.
pub fn with_mlir_source<T>(
    db: &dyn salsa::Database,
    file: File,
    piece: usize,
    f: impl FnOnce(&Source<'_>) -> T,
) -> Option<T> {
    let read = mlir_imported(db, *file.pieces(db).get(piece)?);
    let outside = |name: &str, at: u32| mlir_alias(db, file, piece, name, at);
    Some(f(&Source::new(&read.parse, &read.text, &outside)))
}

/// What is wrong with maps and subscripts: [`mlir_indexing::check_maps`] of every op that is read without errors.
#[salsa::tracked]
pub fn mlir_map_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<(OpId, Finding)> {
    let read = mlir_piece(db, piece);
    let imported = mlir_imported(db, piece);
    let (parse, text) = (&*imported.parse, &*imported.text);
    // Other pieces are asked for only where an alias is one of theirs.
    let outside = |name: &str, at: u32| {
        let file = piece.file(db)?;
        let nth = file.pieces(db).iter().position(|&p| p == piece)?;
        mlir_alias(db, file, nth, name, at)
    };
    let source = Source::new(parse, text, &outside);
    let mut found = Vec::new();
    for id in 0..read.parse.ops.len() as OpId {
        let span = parse.op(id).head;
        let error = parse.errors.partition_point(|e| e.span.start < span.start);
        if parse.errors.get(error).is_none_or(|e| e.span.start > span.end) {
            found.extend(mlir_indexing::check_maps(&source, id).into_iter().map(|f| (id, f)));
        }
    }
    found
}

/// Which rule says most of an op.
pub enum MlirMaps {
    /// Its dialect's own.
    Own(OpMaps),
    /// Those of HLO.
    Twin(Box<HloTwin>),
}

/// The maps of an op for one of its results; `None` for an op that reads nothing by index, or that nobody knows.
pub fn mlir_maps(
    db: &dyn salsa::Database,
    source: &Source<'_>,
    piece: Piece,
    id: OpId,
    result: usize,
) -> Option<Result<MlirMaps, String>> {
    let name = source.parse.name(id, source.text);
    // What tensors and structured ops do, their own rules know better: they have names for loops.
    let is_own = ["tensor.", "linalg."].iter().any(|dialect| name.starts_with(dialect));
    let own = || mlir_indexing::op_maps(source, id, result).map(|maps| maps.map(MlirMaps::Own));
    let twin = || hlo_twin(db, piece, id).map(|twin| twin.map(|t| MlirMaps::Twin(Box::new(t))));
    let (first, second): (Option<Result<_, _>>, &dyn Fn() -> Option<Result<_, _>>) =
        if is_own { (own(), &twin) } else { (twin(), &own) };
    match first {
        Some(Ok(maps)) => Some(Ok(maps)),
        // The reason of the first is told, unless the second knows the op.
        Some(Err(reason)) => match second() {
            Some(Ok(maps)) => Some(Ok(maps)),
            _ => Some(Err(reason)),
        },
        None => second(),
    }
}

/// From a result of an op to arguments, through the ops that compute its operands; to `target` alone where one is given.
pub fn mlir_producers(
    db: &dyn salsa::Database,
    source: &Source<'_>,
    piece: Piece,
    id: OpId,
    result: usize,
    target: Option<ValueId>,
) -> Producers {
    let maps_of = |id: OpId, result: usize| match mlir_maps(db, source, piece, id, result)?.ok()? {
        MlirMaps::Own(maps) => Some((maps.space, maps.accesses)),
        MlirMaps::Twin(twin) => {
            Some((Space::Result(result), twin_accesses(mlir_imported(db, piece), id, &twin, result)))
        }
    };
    through_producers(source.parse, &maps_of, id, result, target)
}

/// The maps of a twin, as those of the op.
fn twin_accesses(piece: &MlirImported, id: OpId, twin: &HloTwin, result: usize) -> Vec<Access> {
    let OpIndexing { operands, .. } = twin.maps(result, Rules::Exact);
    let values: Vec<Option<(ValueId, u32)>> =
        twin.operands.iter().map(|name| value_of(piece, id, name)).collect();
    let mut accesses = Vec::new();
    for (nth, list) in operands.into_iter().enumerate() {
        let Some(name) = twin.operands.get(nth) else { continue };
        for access in list {
            accesses.extend(converted(twin, &values, nth, name, access));
        }
    }
    accesses
}

fn value_of(piece: &MlirImported, id: OpId, name: &str) -> Option<(ValueId, u32)> {
    let found = piece.parse.uses_of(id).iter().find(|u| u.span.of(&piece.text) == name)?;
    let index = name.split_once('#').and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
    Some((found.value?, index))
}

/// Nothing for what a map alone does not tell.
fn converted(
    twin: &HloTwin,
    values: &[Option<(ValueId, u32)>],
    nth: usize,
    name: &str,
    access: OperandIndexing,
) -> Option<Access> {
    if access.map.is_undefined() || access.replica_id_map.is_some() || access.element.is_some() {
        return None;
    }
    let mut symbols = Vec::new();
    for (at, variable) in access.runtime_variables.iter().enumerate() {
        // Operands are the parameters `p0`, `p1`, … of the twin.
        let operand = match &variable.source {
            RuntimeSource::Operand(n) => *n,
            RuntimeSource::Op { name, .. } => name.trim_start_matches('%').strip_prefix('p')?.parse().ok()?,
        };
        let name = twin.operands.get(operand)?.clone();
        let of = values.get(operand).copied().flatten();
        let index = variable.map.results().to_vec();
        let source = match index.is_empty() {
            true => SymbolSource::Value { value: of, name: name.clone() },
            false => SymbolSource::Element { of, name: name.clone(), nth: at },
        };
        let letters: String = name.trim_start_matches('%').replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let short = match letters.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => letters,
            false => format!("v{letters}"),
        };
        let bounds = access.map.runtime().get(at).map_or(Interval::ALL, |v| v.bounds);
        symbols.push(Symbol { source, name: Arc::from(short), bounds, index });
    }
    Some(Access {
        operand: name.to_owned(),
        value: values.get(nth).copied().flatten(),
        role: Role::Read,
        map: access.map,
        symbols,
        address: None,
        note: access.is_upper_bound.then(|| "at most".to_owned()),
    })
}
