//! The maps of an op of MLIR: by the rules of its dialect, or those of its op of HLO.

use std::fmt;
use std::sync::Arc;

use indexing::{ArraySource, OpIndexing, OperandIndexing, Reason, Rules, RuntimeSource};
use indexing_map::{Expr, Interval};
use mlir::{Definition, Finding, OpId, ValueId};
use mlir_hlo::{HloOp, NotInHlo};
use mlir_indexing::{
    Access, MapChecks, OpMaps, Producers, Role, Space, Symbol, SymbolSource, through_producers,
};
use mlir_ops::{Aliases, NoMap, Source};

use rustc_hash::FxHashSet;

use crate::hlo_ops::hlo_op_maps;
use crate::mlir_giants::{GiantName, mlir_links};
use crate::mlir_imports::{MlirImported, has_operands, mlir_definitions_behind, mlir_imported};
use crate::mlir_queries::{MlirPiece, mlir_module, mlir_piece};
use crate::positions::position_of;
use crate::{File, Piece};

/// The text that an alias stands for which another piece of the same part of the file defines. `piece` is the number of the
/// piece that uses it, `at` where in it.
pub fn mlir_alias<'a>(
    db: &'a dyn salsa::Database,
    file: File,
    piece: usize,
    name: &str,
    at: u32,
) -> Option<&'a str> {
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
        mlir_ops::alias_value(&read.parse, &read.text, found.op)
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

/// The same for a piece whose position in its file is not known. Other pieces are asked for only where an alias is one of theirs.
pub(crate) fn with_imported_source<T>(
    db: &dyn salsa::Database,
    piece: Piece,
    f: impl FnOnce(&Source<'_>) -> T,
) -> Option<T> {
    let nth = std::cell::OnceCell::new();
    let number = || *nth.get_or_init(|| position_of(db, piece).map_or(0, |(_, at)| at));
    Some(mlir_imported(db, piece).with_source(db, piece.file(db)?, &number, f))
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
    let wanted = definitions_behind_op(db, file, input, op, NEAR);
    Some(MlirImported::of(db, input, &wanted).with_source(db, file, &|| piece, f))
}

/// The definitions in other pieces that an op is computed from, through at most `limit` ops of its piece and `limit` of others.
fn definitions_behind_op(
    db: &dyn salsa::Database,
    file: File,
    piece: Piece,
    op: OpId,
    limit: usize,
) -> FxHashSet<GiantName> {
    let (parse, links) = (&mlir_piece(db, piece).parse, mlir_links(db, piece));
    let mut ops = vec![op];
    let mut seen = FxHashSet::from_iter([op]);
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(&op) = ops.get(at) {
        for nth in parse.op(op).uses.clone() {
            match parse.uses[nth as usize].value.map(|value| parse.values[value as usize].definition) {
                Some(Definition::Result(op)) if ops.len() < limit && seen.insert(op) => ops.push(op),
                Some(_) => {}
                None => names.extend(links.of_use(nth as usize)),
            }
        }
        at += 1;
    }
    mlir_definitions_behind(db, file, &names, limit).into_iter().collect()
}

impl MlirImported {
    fn with_source<T>(
        &self,
        db: &dyn salsa::Database,
        file: File,
        piece: &dyn Fn() -> usize,
        f: impl FnOnce(&Source<'_>) -> T,
    ) -> T {
        f(&Source::new(&self.parse, &self.text, &OtherPieces { db, file, piece, imported: self }))
    }
}

/// The aliases that other pieces of the file define.
struct OtherPieces<'a> {
    db: &'a dyn salsa::Database,
    file: File,
    piece: &'a dyn Fn() -> usize,
    imported: &'a MlirImported,
}

impl Aliases for OtherPieces<'_> {
    fn value(&self, name: &str, at: u32) -> Option<&str> {
        let Some(import) = self.imported.import_at(at) else {
            return mlir_alias(self.db, self.file, (self.piece)(), name, at);
        };
        // The function is open at the start of the piece of the definition, or at its end.
        let there = mlir_piece(self.db, *self.file.pieces(self.db).get(import.piece as usize)?);
        let part = there.parts.get(import.part as usize)?;
        let at = if part.is_continued { 0 } else { u32::MAX };
        mlir_alias(self.db, self.file, import.piece as usize, name, at)
    }
}

/// Findings about maps and subscripts: [`MapChecks`] of every op that is read without errors.
#[salsa::tracked]
pub fn mlir_map_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<(OpId, Finding)> {
    let read = mlir_piece(db, piece);
    let is_checked = |id: &OpId| mlir_indexing::has_checked_maps(&read.parse, &read.text, *id);
    let checked: Vec<OpId> = (0..read.parse.ops.len() as OpId).filter(is_checked).collect();
    // Nothing is imported for ops that are not looked at.
    if checked.is_empty() {
        return Vec::new();
    }
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
    with_imported_source(db, piece, of_all).unwrap_or_default()
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
    /// The op of HLO has no maps over unknown extents.
    Rule(Reason),
}

impl fmt::Display for NoMlirMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMlirMaps::Own(why) => why.fmt(f),
            NoMlirMaps::Hlo(why) => why.fmt(f),
            NoMlirMaps::Rule(why) => f.write_str(why),
        }
    }
}

impl MlirMaps {
    /// The maps as accesses, without those that a map alone does not determine.
    pub fn into_op_maps(self, source: &Source<'_>, id: OpId, result: usize) -> OpMaps {
        match self {
            MlirMaps::Own(maps) => maps,
            MlirMaps::Hlo(op) => {
                let maps = hlo_op_maps(&op, result, Rules::Exact);
                op_maps_of(source, id, &op, result, maps)
            }
        }
    }
}

/// The maps of an op for one of its results; `None` for an op that reads nothing by index, or that has no rule.
pub fn mlir_maps(source: &Source<'_>, id: OpId, result: usize) -> Option<Result<MlirMaps, NoMlirMaps>> {
    let own = || {
        let found = mlir_indexing::op_maps(source, id, result)?;
        Some(found.map(MlirMaps::Own).map_err(NoMlirMaps::Own))
    };
    let Some(found) = mlir_hlo::hlo_op(source, id) else {
        return own();
    };
    let of_hlo = found.map_err(NoMlirMaps::Hlo).and_then(|op| match op.only_maps {
        false => Ok(MlirMaps::Hlo(Box::new(op))),
        true => own_maps(source, id, &op, result).map(MlirMaps::Own).map_err(NoMlirMaps::Rule),
    });
    // The reason of HLO's rules is reported, unless the dialect's own know the op.
    Some(of_hlo.or_else(|reason| own().and_then(Result::ok).ok_or(reason)))
}

/// The maps of an op of HLO that has no other use. Unknown extents are symbols.
fn own_maps(source: &Source<'_>, id: OpId, op: &HloOp, result: usize) -> Result<OpMaps, Reason> {
    let maps = hlo_op_maps(op, result, Rules::Exact);
    if let Some(unknown) = maps.operands.iter().flatten().find(|access| access.map.is_undefined()) {
        return Err(unknown.note.clone().unwrap_or("no map is known".into()));
    }
    Ok(op_maps_of(source, id, op, result, maps))
}

/// Definitions of other pieces that are looked into at once.
const BATCH: usize = 256;
/// How often the way back is tried again with more definitions.
const MAX_ROUNDS: usize = 8;

/// From a result of an op to arguments, through the ops that compute its operands, in whatever pieces they are.
///
/// The way back is followed in the piece and in definitions of others that its operands lead to; where it ends at another one of
/// these, that and what it uses is read, and the way is followed again. So a function of any size costs what the way back is long.
pub fn mlir_producers(
    db: &dyn salsa::Database,
    file: File,
    piece: usize,
    id: OpId,
    result: usize,
) -> Producers {
    let Some(&input) = file.pieces(db).get(piece) else { return Producers::default() };
    let mut wanted = definitions_behind_op(db, file, input, id, BATCH);
    let mut imported = match wanted.is_empty() {
        true => mlir_imported(db, input).clone(),
        false => Arc::new(MlirImported::of(db, input, &wanted)),
    };
    for round in 0.. {
        db.unwind_if_revision_cancelled();
        let missing = std::cell::RefCell::new(Vec::new());
        let mut producers = imported.with_source(db, file, &|| piece, |source| {
            // A constant, or a payload that is too long to be read.
            let reads_nothing = |id: OpId| match imported.stub(id) {
                Some(name) => !has_operands(db, file, name),
                None => source.parse.uses_of(id).is_empty(),
            };
            let maps_of = |id: OpId, result: usize| {
                if let Some(name) = imported.stub(id) {
                    missing.borrow_mut().push(name);
                    return None;
                }
                if source.parse.uses_of(id).is_empty() {
                    return None;
                }
                let maps = mlir_maps(source, id, result)?.ok()?;
                let OpMaps { space, accesses } = maps.into_op_maps(source, id, result);
                Some((space, accesses))
            };
            through_producers(source.parse, &maps_of, &reads_nothing, id, result, None)
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

/// The maps of an op of HLO as those of the op of MLIR.
fn op_maps_of(source: &Source<'_>, id: OpId, op: &HloOp, result: usize, maps: OpIndexing) -> OpMaps {
    let mut accesses = Vec::new();
    let arrays = Arrays::of(source, id, op, result);
    for (nth, list) in maps.operands.into_iter().enumerate() {
        for access in list {
            accesses.extend(arrays.converted(nth, access));
        }
    }
    OpMaps { space: Space::Result(result), accesses }
}

/// A value of MLIR: its name as written, and where it is defined.
type Named = (String, Option<(ValueId, u32)>);

/// The operands and the result of an op of HLO, as values of MLIR.
struct Arrays<'a> {
    op: &'a HloOp,
    operands: Vec<Named>,
    result: Named,
    source: &'a Source<'a>,
    only_maps: bool,
}

impl<'a> Arrays<'a> {
    fn of(source: &'a Source<'a>, id: OpId, op: &'a HloOp, result: usize) -> Arrays<'a> {
        let named = |name: &String| (name.clone(), value_of(source, id, name));
        let operands = op.operands.iter().map(named).collect();
        let own = mlir_indexing::result_of(source, id, result);
        let result = (own.name, own.value.map(|value| (value, own.index)));
        Arrays { op, operands, result, source, only_maps: op.only_maps }
    }

    fn of_op(&self, op: ir::OpId) -> Option<&Named> {
        match op == self.op.graph.root {
            true => Some(&self.result),
            false => self.operands.get(self.op.operand(op)?),
        }
    }

    /// Returns `None` for an access that its map alone does not determine.
    fn converted(&self, nth: usize, access: OperandIndexing) -> Option<Access> {
        if access.map.is_undefined() || access.replica_id_map.is_some() || access.element.is_some() {
            return None;
        }
        let mut symbols = Vec::new();
        for (at, variable) in access.runtime_variables.iter().enumerate() {
            let index = variable.map.results().to_vec();
            let (mut source, mut name) = self.symbol(&variable.source, index.is_empty(), at)?;
            // An element of a list is numbered by its place.
            if let (true, SymbolSource::Element { nth, .. }, [Expr::Const(place)]) =
                (self.only_maps, &mut source, &index[..])
            {
                *nth = usize::try_from(*place).unwrap_or(*nth);
                name = source.short_name().into();
            }
            let bounds = access.map.runtime().get(at).map_or(Interval::ALL, |v| v.bounds);
            symbols.push(Symbol { source, name, bounds, index });
        }
        let (operand, value) = self.operands.get(nth)?.clone();
        // Other remarks are about the op of HLO.
        let note = access.note.filter(|_| self.only_maps || access.is_upper_bound).map(Into::into);
        let mut access =
            Access { operand, value, role: Role::Read, map: access.map, symbols, address: None, note };
        access.follow_extents(self.source);
        access.name_symbols();
        Some(access)
    }

    fn symbol(
        &self,
        source: &RuntimeSource,
        is_scalar: bool,
        nth: usize,
    ) -> Option<(SymbolSource, Arc<str>)> {
        let (name, of) = match source {
            RuntimeSource::Operand(n) => self.operands.get(*n)?,
            RuntimeSource::Op { op, .. } => self.operands.get(self.op.operand(*op)?)?,
            RuntimeSource::Extent { array: ArraySource::Op { op, .. }, .. } => self.of_op(*op)?,
            RuntimeSource::Extent { array: ArraySource::Operand(n), .. } => self.operands.get(*n)?,
            RuntimeSource::Extent { array: ArraySource::Output, .. } => &self.result,
        };
        let (name, of) = (name.clone(), *of);
        let source = match source {
            RuntimeSource::Extent { dimension, .. } => {
                SymbolSource::Extent { of, name, dimension: *dimension }
            }
            _ if is_scalar => SymbolSource::Value { value: of, name },
            _ => SymbolSource::Element { of, name, nth },
        };
        let short = if self.only_maps { source.short_name() } else { value_name(&source) };
        Some((source, Arc::from(short)))
    }
}

/// The name of the value that a symbol is read from, as an identifier.
fn value_name(source: &SymbolSource) -> String {
    let (SymbolSource::Value { name, .. }
    | SymbolSource::Loop { name, .. }
    | SymbolSource::Extent { name, .. }
    | SymbolSource::Element { name, .. }
    | SymbolSource::Layout { name, .. }) = source;
    let letters = name.trim_start_matches('%').replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    match letters.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => letters,
        false => format!("v{letters}"),
    }
}

fn value_of(source: &Source<'_>, id: OpId, name: &str) -> Option<(ValueId, u32)> {
    let found = source.parse.uses_of(id).iter().find(|u| u.span.of(source.text) == name)?;
    let index = name.split_once('#').and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
    Some((found.value?, index))
}
