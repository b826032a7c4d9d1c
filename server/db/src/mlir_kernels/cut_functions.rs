//! Kernels of functions that are cut. One that may be a kernel as a whole is short, and read as a whole; of longer ones each op is
//! converted when it is asked for, with what its operands are in other pieces.

use std::sync::Arc;

use ir::{Graph, Op};
use mlir::{Definition, OpId, PieceState};
use mlir_hlo::{Environment, HloFunction, Slice};

use super::candidates::MAX_OPS_OF_KERNEL;
use super::{called_graphs, mlir_environments};
use crate::Piece;
use crate::kernels::FusionSource;
use crate::mlir_giants::{GiantDefinition, mlir_definition, mlir_giant_index};
use crate::mlir_imports::mlir_imported;
use crate::mlir_queries::{mlir_module, mlir_piece};
use crate::positions::position_of;

/// The number of the function that starts in a piece and goes on in the next ones, where it is short enough for a kernel.
pub const CUT_FUNCTION: u32 = u32::MAX;
/// The number of the same function for somebody who asks for all of it, and waits.
pub const LONG_FUNCTION: u32 = u32::MAX - 1;

/// Ops and bytes of a function that is read as a whole.
struct Limits {
    ops: usize,
    bytes: usize,
}

// One more for the `return`, which is not an op of the kernel.
const OF_KERNELS: Limits = Limits { ops: MAX_OPS_OF_KERNEL + 1, bytes: 4 << 20 };
const OF_LONG_FUNCTIONS: Limits = Limits { ops: 1 << 16, bytes: 32 << 20 };

/// A function that is cut, as HLO.
#[derive(Debug)]
pub(crate) struct CutFunction {
    /// The part of the file that it is in.
    pub(crate) part: usize,
    pub(crate) function: HloFunction,
    /// Per op of its text: how many pieces further down than its first one, and its number there.
    pub(crate) places: Vec<(usize, OpId)>,
}

/// Which of the parts of a piece is the function that starts there and goes on in the next ones.
fn open_part(db: &dyn salsa::Database, piece: Piece) -> Option<usize> {
    mlir_piece(db, piece).parts.iter().position(|part| part.is_open && !part.is_continued)
}

/// The function that starts in a piece and goes on in the next ones. `nth` is [`CUT_FUNCTION`] or [`LONG_FUNCTION`].
pub(super) fn cut_function(db: &dyn salsa::Database, piece: Piece, nth: u32) -> Option<&Arc<CutFunction>> {
    match nth {
        CUT_FUNCTION => mlir_cut_function(db, piece).as_ref(),
        LONG_FUNCTION => mlir_long_function(db, piece).as_ref(),
        _ => None,
    }
}

/// Nothing for one with more ops than a kernel may have.
#[salsa::tracked(no_eq, lru = 64)]
fn mlir_cut_function(db: &dyn salsa::Database, piece: Piece) -> Option<Arc<CutFunction>> {
    read_whole(db, piece, OF_KERNELS)
}

#[salsa::tracked(no_eq, lru = 1)]
fn mlir_long_function(db: &dyn salsa::Database, piece: Piece) -> Option<Arc<CutFunction>> {
    read_whole(db, piece, OF_LONG_FUNCTIONS)
}

fn read_whole(db: &dyn salsa::Database, piece: Piece, limits: Limits) -> Option<Arc<CutFunction>> {
    let (file, at) = position_of(db, piece)?;
    let nth = open_part(db, piece)?;
    let mut text = String::new();
    let mut ops = 0;
    // Where each piece starts in the text, and where in the piece that is.
    let mut starts = Vec::new();
    for (piece, nth) in mlir_giant_index(db, file).pieces_of(at, nth) {
        let read = mlir_piece(db, *file.pieces(db).get(piece)?);
        let part = read.parts.get(nth)?;
        let body = part.blocks.iter().flat_map(|&block| read.parse.ops_of(block));
        ops += body.take(limits.ops + 1).count();
        let span = read.parse.op(part.op).span;
        starts.push((text.len(), piece, span.start));
        // A function that continues in the next piece extends to the end of this one.
        let end = if part.is_open { read.text.len() } else { span.end as usize };
        text += read.text.get(span.start as usize..end)?;
        if ops > limits.ops || text.len() > limits.bytes {
            return None;
        }
    }
    let parse = mlir::parse(&text, PieceState::default());
    let read = mlir_piece(db, piece);
    let file_part = mlir_module(db, file).part_at(at, &read.parse, u32::MAX);
    let environment = mlir_environments(db, file).get(file_part)?;
    let functions = mlir_hlo::functions(Slice::whole(&parse, &text), environment);
    let function = functions.into_iter().find(|function| function.op == 0)?;
    let place_of = |op: &mlir::Op| {
        let nth = starts.partition_point(|&(start, ..)| start <= op.span.start as usize).max(1) - 1;
        let (start, piece, from) = starts[nth];
        let parse = &mlir_piece(db, *file.pieces(db).get(piece)?).parse;
        let local = op.span.start - start as u32 + from;
        let found = parse.ops.partition_point(|op| op.span.start < local);
        Some((piece - at, found as OpId))
    };
    let places = parse.ops.iter().map(place_of).collect::<Option<_>>()?;
    Some(Arc::new(CutFunction { part: file_part, function, places }))
}

/// An op by itself, as HLO.
pub struct MlirInstruction {
    /// As it is called in the computation of its function.
    pub name: Box<str>,
    op: Op,
    /// The computations of its regions.
    callees: Vec<(Box<str>, Arc<Graph>)>,
}

/// The kernel that XLA would make of an op of a function that is cut, or why HLO does not have the op.
pub fn mlir_instruction(db: &dyn salsa::Database, piece: Piece, op: OpId) -> Result<MlirInstruction, String> {
    let (file, at) = position_of(db, piece).ok_or("it is in no file")?;
    let imported = mlir_imported(db, piece);
    let part =
        mlir_module(db, file).part_at(at, &mlir_piece(db, piece).parse, imported.parse.op(op).span.start);
    let none = Environment::default();
    let environment = mlir_environments(db, file).get(part).unwrap_or(&none);
    let found = mlir_hlo::hlo_instructions(Slice::whole(&imported.parse, &imported.text), environment, op)
        .map_err(|why| why.to_string())?;
    let graph = &found.computation.graph;
    let own = (found.parameters..graph.ops.len()).rev();
    let wrapped = own.into_iter().find(|&id| gpu::is_wrapped(graph.ops[id].opcode));
    let id = wrapped.ok_or("XLA makes no kernel of it alone")?;
    let callees = found.callees.into_iter().map(|c| (c.name, c.graph)).collect();
    Ok(MlirInstruction { name: graph.names[id].as_str().into(), op: graph.ops[id].clone(), callees })
}

/// The op of the function that starts in a piece and goes on in others whose instruction is called so: its piece, and its number
/// there.
pub fn mlir_instruction_called(db: &dyn salsa::Database, piece: Piece, name: &str) -> Option<(usize, OpId)> {
    let (file, at) = position_of(db, piece)?;
    let part = open_part(db, piece)?;
    let index = mlir_giant_index(db, file);
    // `add.1` of `%1`; `x` of `%x`, and `add_` of `%add`, which HLO reads as something else.
    let number = name.rsplit_once('.').map(|(_, n)| n).filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let written = [number, Some(name), name.strip_suffix('_')];
    written.into_iter().flatten().find_map(|written| {
        let found = index.find(at, part, &format!("%{written}"))?;
        let GiantDefinition::Value(value) = mlir_definition(db, file, found)? else { return None };
        let piece = *file.pieces(db).get(found.piece as usize)?;
        let Definition::Result(op) = mlir_piece(db, piece).parse.values.get(value as usize)?.definition
        else {
            return None;
        };
        let is_it = mlir_instruction(db, piece, op).is_ok_and(|instruction| *instruction.name == *name);
        is_it.then_some((found.piece as usize, op))
    })
}

/// What the kernel of one op depends on.
pub(super) fn op_source(db: &dyn salsa::Database, piece: Piece, name: Arc<str>) -> Option<Arc<FusionSource>> {
    let (at, op) = mlir_instruction_called(db, piece, &name)?;
    let (file, _) = position_of(db, piece)?;
    let MlirInstruction { op, callees, .. } = mlir_instruction(db, *file.pieces(db).get(at)?, op).ok()?;
    let graph_of = |name: &str| callees.iter().find(|(own, _)| **own == *name).map(|(_, graph)| graph);
    let callees = called_graphs(&op, graph_of);
    Some(Arc::new(FusionSource { name, op, callees, same_as: Vec::new(), is_function: false, is_cut: false }))
}
