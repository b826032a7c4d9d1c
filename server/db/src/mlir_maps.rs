//! The maps of an op of MLIR: by the rules of its dialect, or those of its op of HLO.

use std::fmt;
use std::sync::Arc;

use indexing::{OpIndexing, OperandIndexing, Rules, RuntimeSource};
use indexing_map::Interval;
use mlir::{Definition, Finding, OpId, ValueId};
use mlir_hlo::{Environment, HloOp, NotInHlo, Slice};
use mlir_indexing::{
    Access, MapChecks, OpMaps, Producers, Role, Space, Symbol, SymbolSource, through_producers,
};
use mlir_ops::{NoMap, Source};

use rustc_hash::FxHashSet;

use crate::hlo_ops::{alias_environment, hlo_op_maps};
use crate::mlir_giants::{GiantName, mlir_links};
use crate::mlir_imports::{MlirImported, mlir_definitions_behind, mlir_imported};
use crate::mlir_queries::{MlirPiece, mlir_module, mlir_piece};
use crate::positions::position_of;
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
        mlir_ops::alias_value(&read.parse, &read.text, found.op).map(str::to_owned)
    })
}

/// Ops that are near another one, of those that it is computed from.
const NEAR: usize = 16;

/// Calls `f` with the text of a piece, in which aliases and definitions of other pieces are known.
pub fn with_mlir_source<T>(
    db: &dyn salsa::Database,
    file: File,
    piece: usize,
    f: impl FnOnce(&Source<'_>) -> T,
) -> Option<T> {
    let imported = mlir_imported(db, *file.pieces(db).get(piece)?);
    Some(imported.with_source(db, file, &|| piece, f))
}

/// The same with the definitions in other pieces of the operands of an op, and of what those are computed from.
pub fn with_mlir_operands<T>(
    db: &dyn salsa::Database,
    file: File,
    piece: usize,
    op: OpId,
    f: impl FnOnce(&Source<'_>) -> T,
) -> Option<T> {
    let input = *file.pieces(db).get(piece)?;
    let (parse, links) = (&mlir_piece(db, input).parse, mlir_links(db, input));
    // Ops of the piece that the op is computed from.
    let mut ops = vec![op];
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(&op) = ops.get(at) {
        for nth in parse.op(op).uses.clone() {
            match parse.uses[nth as usize].value.map(|value| parse.values[value as usize].definition) {
                Some(Definition::Result(op)) if ops.len() < NEAR && !ops.contains(&op) => ops.push(op),
                Some(_) => {}
                None => names.extend(links.of_use(nth as usize)),
            }
        }
        at += 1;
    }
    let wanted = mlir_definitions_behind(db, file, &names, NEAR).into_iter().collect();
    Some(MlirImported::of(db, input, &wanted).with_source(db, file, &|| piece, f))
}

impl MlirImported {
    fn with_source<T>(
        &self,
        db: &dyn salsa::Database,
        file: File,
        piece: &dyn Fn() -> usize,
        f: impl FnOnce(&Source<'_>) -> T,
    ) -> T {
        let outside = |name: &str, at: u32| match self.import_at(at) {
            None => mlir_alias(db, file, piece(), name, at),
            // The function is open at the start of the piece of the definition, or at its end.
            Some(import) => {
                let there = mlir_piece(db, *file.pieces(db).get(import.piece as usize)?);
                let part = there.parts.get(import.part as usize)?;
                let at = if part.is_continued { 0 } else { u32::MAX };
                mlir_alias(db, file, import.piece as usize, name, at)
            }
        };
        f(&Source::new(&self.parse, &self.text, &outside))
    }
}

/// Findings about maps and subscripts: [`MapChecks`] of every op that is read without errors.
#[salsa::tracked]
pub fn mlir_map_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<(OpId, Finding)> {
    let read = mlir_piece(db, piece);
    let Some(file) = piece.file(db) else { return Vec::new() };
    let is_checked = |id: &OpId| mlir_indexing::has_checked_maps(&read.parse, &read.text, *id);
    let checked: Vec<OpId> = (0..read.parse.ops.len() as OpId).filter(is_checked).collect();
    // Nothing is imported for ops that are not looked at.
    if checked.is_empty() {
        return Vec::new();
    }
    // Other pieces are asked for only where an alias is one of theirs.
    let nth = std::cell::OnceCell::new();
    let number = || *nth.get_or_init(|| position_of(db, piece).map_or(0, |(_, at)| at));
    let of_all = |source: &Source<'_>| {
        let (parse, checks) = (source.parse, MapChecks::new(source));
        let mut found = Vec::new();
        for &id in &checked {
            cancel::check();
            let span = parse.op(id).head;
            let error = parse.errors.partition_point(|e| e.span.start < span.start);
            if parse.errors.get(error).is_none_or(|e| e.span.start > span.end) {
                found.extend(checks.of(id).into_iter().map(|f| (id, f)));
            }
        }
        found
    };
    mlir_imported(db, piece).with_source(db, file, &number, of_all)
}

/// Which rule says most of an op.
pub enum MlirMaps {
    /// Its dialect's own.
    Own(OpMaps),
    /// Those of the op of HLO.
    Hlo(Box<HloOp>),
}

/// Why an op has no maps, by the rules that were asked first.
#[derive(Debug)]
pub enum NoMlirMaps {
    Own(NoMap),
    Hlo(NotInHlo),
}

impl fmt::Display for NoMlirMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMlirMaps::Own(why) => why.fmt(f),
            NoMlirMaps::Hlo(why) => why.fmt(f),
        }
    }
}

/// The maps of an op for one of its results; `None` for an op that reads nothing by index, or that has no rule. `environment`
/// is [`alias_environment`] of the source.
pub fn mlir_maps(
    source: &Source<'_>,
    environment: &Environment,
    id: OpId,
    result: usize,
) -> Option<Result<MlirMaps, NoMlirMaps>> {
    let name = source.parse.name(id, source.text);
    // What tensors and structured ops do, their own rules know better: they have names for loops.
    let is_own = ["tensor.", "linalg."].iter().any(|dialect| name.starts_with(dialect));
    let own = || {
        let found = mlir_indexing::op_maps(source, id, result)?;
        Some(found.map(MlirMaps::Own).map_err(NoMlirMaps::Own))
    };
    let of_hlo = || {
        let found = mlir_hlo::hlo_op(Slice::whole(source.parse, source.text), environment, id)?;
        Some(found.map(|op| MlirMaps::Hlo(Box::new(op))).map_err(NoMlirMaps::Hlo))
    };
    let (first, second): (Option<Result<_, _>>, &dyn Fn() -> Option<Result<_, _>>) =
        if is_own { (own(), &of_hlo) } else { (of_hlo(), &own) };
    match first {
        Some(Ok(maps)) => Some(Ok(maps)),
        // The reason of the first is reported, unless the second knows the op.
        Some(Err(reason)) => match second() {
            Some(Ok(maps)) => Some(Ok(maps)),
            _ => Some(Err(reason)),
        },
        None => second(),
    }
}

/// Definitions of other pieces that are looked into at once.
const BATCH: usize = 256;
/// How often the way back is tried again with more definitions.
const MAX_ROUNDS: usize = 8;

/// From a result of an op to arguments, through the ops that compute its operands, in whatever pieces they are.
///
/// The way back is followed in the piece, with what is known of others; where it ends at one of their definitions, these and what
/// they use are read, and it is followed again. So a function of any size costs what the way back is long.
pub fn mlir_producers(
    db: &dyn salsa::Database,
    file: File,
    piece: usize,
    id: OpId,
    result: usize,
) -> Producers {
    let Some(&input) = file.pieces(db).get(piece) else { return Producers::default() };
    let mut wanted: FxHashSet<GiantName> = FxHashSet::default();
    let mut imported = mlir_imported(db, input).clone();
    for round in 0.. {
        db.unwind_if_revision_cancelled();
        let missing = std::cell::RefCell::new(Vec::new());
        let mut producers = imported.with_source(db, file, &|| piece, |source| {
            let environment = alias_environment(source);
            let maps_of = |id: OpId, result: usize| {
                if let Some(name) = imported.stub(id) {
                    missing.borrow_mut().push(name);
                    return None;
                }
                match mlir_maps(source, &environment, id, result)?.ok()? {
                    MlirMaps::Own(maps) => Some((maps.space, maps.accesses)),
                    MlirMaps::Hlo(op) => Some((Space::Result(result), hlo_accesses(source, id, &op, result))),
                }
            };
            through_producers(source.parse, &maps_of, id, result, None)
        });
        let missing = missing.into_inner();
        let known = wanted.len();
        wanted.extend(mlir_definitions_behind(db, file, &missing, BATCH));
        if wanted.len() == known || round == MAX_ROUNDS {
            // Definitions that are too long to be read do not count as cut.
            producers.is_cut |= round == MAX_ROUNDS && !missing.is_empty();
            return producers;
        }
        imported = Arc::new(MlirImported::of(db, input, &wanted));
    }
    Producers::default()
}

/// The maps of an op of HLO as accesses of the op of MLIR.
fn hlo_accesses(source: &Source<'_>, id: OpId, op: &HloOp, result: usize) -> Vec<Access> {
    let OpIndexing { operands, .. } = hlo_op_maps(op, result, Rules::Exact);
    let values: Vec<Option<(ValueId, u32)>> =
        op.operands.iter().map(|name| value_of(source, id, name)).collect();
    let mut accesses = Vec::new();
    for (nth, list) in operands.into_iter().enumerate() {
        let Some(name) = op.operands.get(nth) else { continue };
        for access in list {
            accesses.extend(converted(op, &values, nth, name, access));
        }
    }
    accesses
}

fn value_of(source: &Source<'_>, id: OpId, name: &str) -> Option<(ValueId, u32)> {
    let found = source.parse.uses_of(id).iter().find(|u| u.span.of(source.text) == name)?;
    let index = name.split_once('#').and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
    Some((found.value?, index))
}

/// Nothing for what a map alone does not tell.
fn converted(
    hlo: &HloOp,
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
        let operand = match &variable.source {
            RuntimeSource::Operand(n) => *n,
            RuntimeSource::Op { op, .. } => hlo.operand(*op)?,
        };
        let name = hlo.operands.get(operand)?.clone();
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
