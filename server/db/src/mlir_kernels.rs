//! Functions of MLIR as computations of HLO, and the kernels that they become: a function is fused as a whole, as XLA fuses a
//! computation; an op is wrapped alone.
//!
//! What a kernel depends on is its function and those it calls, as graphs: an edit elsewhere dirties none.
//!
//! Of functions that are cut see [`cut_functions`].

mod candidates;
mod cut_functions;

use std::sync::Arc;

use ir::{AttributeKey, AttributeValue, Attributes, Graph, Op, Opcode};
use mlir::OpId;
use mlir_hlo::{Environment, HloComputation, HloFunction, PieceNames, Slice};
use rustc_hash::{FxHashMap, FxHashSet};

pub use candidates::{
    MAX_OPS_OF_KERNEL, NoKernel, mlir_holds_hlo_ops, mlir_kernel_candidates, why_no_kernel,
};
pub use cut_functions::{CUT_FUNCTION, LONG_FUNCTION, mlir_instruction, mlir_instruction_called};
use cut_functions::{cut_function, op_source};

use crate::kernel_ids::KernelId;
use crate::kernels::{FusionSource, called_by};
use crate::mlir_queries::{mlir_module, mlir_piece};
use crate::positions::position_of;
use crate::{File, Piece};

/// Functions that one calls, and those that they call, at most.
const MAX_CALLEES: usize = 64;

/// The names of a file, by its parts: aliases, functions, resources.
#[salsa::tracked]
pub fn mlir_environments(db: &dyn salsa::Database, file: File) -> Arc<Vec<Environment>> {
    let mut parts: Vec<Vec<&PieceNames>> = vec![Vec::new()];
    for &piece in file.pieces(db) {
        for (nth, names) in mlir_piece_names(db, piece).iter().enumerate() {
            if nth > 0 {
                parts.push(Vec::new());
            }
            if let Some(part) = parts.last_mut() {
                part.push(names);
            }
        }
    }
    Arc::new(parts.into_iter().map(Environment::of).collect())
}

/// What a piece adds to the environments of the parts that it holds. Equal after edits inside of functions.
#[salsa::tracked]
pub(crate) fn mlir_piece_names(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<PieceNames>> {
    let read = mlir_piece(db, piece);
    Arc::new(Slice::parts(&read.parse, &read.text).into_iter().map(PieceNames::of).collect())
}

/// The functions of a piece as HLO, each with the part of the file that it is in.
#[salsa::tracked]
pub fn mlir_functions(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<(usize, HloFunction)>> {
    let Some((file, at)) = position_of(db, piece) else { return Arc::default() };
    let environments = mlir_environments(db, file);
    let read = mlir_piece(db, piece);
    let first = mlir_module(db, file).part_at(at, &read.parse, 0);
    let slices = Slice::parts(&read.parse, &read.text).into_iter().enumerate();
    let of = |(nth, slice)| {
        let found = environments.get(first + nth).map(|environment| mlir_hlo::functions(slice, environment));
        let found = found.unwrap_or_default().into_iter();
        // Of a function that is cut a piece has a part.
        let whole = found.filter(|function| !read.parse.is_cut_function(function.op));
        whole.map(move |function| (first + nth, function)).collect::<Vec<_>>()
    };
    Arc::new(slices.flat_map(of).collect())
}

/// A function as computations of HLO, and the fusion that a kernel makes of it.
#[derive(Debug)]
pub struct MlirFunction {
    /// The function itself.
    pub op: OpId,
    /// The name of its computation; the fusion is called so, too.
    pub name: Arc<str>,
    /// The computations of the functions that it calls, callees first, then its own. The last is the function.
    pub computations: Vec<HloComputation>,
    /// How many of the computations are of functions that it calls.
    callees: usize,
    fusion: Op,
    /// By the name of an instruction of its computations, the op of MLIR that it comes from: the piece, counted from the piece of
    /// the function, and the op's number there.
    pub ops: FxHashMap<Box<str>, (usize, OpId)>,
}

impl MlirFunction {
    fn own(&self) -> Option<&HloComputation> {
        self.computations.last()
    }

    /// The graph of a computation.
    pub fn graph(&self, name: &str) -> Option<&Arc<Graph>> {
        self.computations.iter().find(|c| *c.name == *name).map(|c| &c.graph)
    }

    /// The instruction of the function's own computation that an op became, and that XLA wraps into a kernel. `op` is as in
    /// [`MlirFunction::ops`].
    pub fn instruction_of(&self, op: (usize, OpId)) -> Option<&str> {
        let graph = &self.own()?.graph;
        let is_it = |id: &usize| self.ops.get(graph.names[*id].as_str()) == Some(&op);
        let found = (0..graph.ops.len()).rev().find(|id| is_it(id) && gpu::is_wrapped(graph.ops[*id].opcode));
        found.map(|id| graph.names[id].as_str())
    }

    /// The last instruction that an op became, with its computation; it may be one of a region.
    pub fn last_instruction_of(&self, op: (usize, OpId)) -> Option<(&str, &str)> {
        self.computations[self.callees..].iter().rev().find_map(|computation| {
            let names = computation.graph.names.iter().rev();
            let found = names.into_iter().find(|name| self.ops.get(name.as_str()) == Some(&op))?;
            Some((&*computation.name, found.as_str()))
        })
    }
}

/// The function that is the `nth` of its piece, or [`CUT_FUNCTION`] or [`LONG_FUNCTION`].
#[salsa::tracked(no_eq, lru = 256)]
pub fn mlir_function(db: &dyn salsa::Database, piece: Piece, nth: u32) -> Option<Arc<MlirFunction>> {
    let is_cut = matches!(nth, CUT_FUNCTION | LONG_FUNCTION);
    let found = cut_function(db, piece, nth);
    let (part, function) = match is_cut {
        true => found.map(|f| (&f.part, &f.function))?,
        false => mlir_functions(db, piece).get(nth as usize).map(|(part, function)| (part, function))?,
    };
    let place_of = |op: OpId| match is_cut {
        true => found?.places.get(op as usize).copied(),
        false => Some((0, op)),
    };
    let own = function.computations.last()?;
    let mut computations = Vec::new();
    let mut seen = FxHashSet::default();
    let (file, _) = position_of(db, piece)?;
    let cut = if is_cut { nth } else { CUT_FUNCTION };
    callees(db, file, (*part, cut), function, &mut seen, &mut computations);
    let callees = computations.len();
    computations.extend(function.computations.iter().cloned());
    let mut ops = FxHashMap::default();
    for computation in &function.computations {
        for (name, &op) in computation.graph.names.iter().zip(&computation.ops) {
            if let Some(place) = place_of(op) {
                ops.insert(name.as_str().into(), place);
            }
        }
    }
    let attributes = Attributes::default()
        .with(AttributeKey::Kind, AttributeValue::Word("kLoop".to_owned()))
        .with(AttributeKey::Calls, AttributeValue::Computation(own.name.to_string()));
    let fusion = Op {
        opcode: Opcode::Fusion,
        operand_shapes: function.header.parameters.clone(),
        attributes,
        ..Op::leaf(function.header.result.clone()?)
    };
    let (_, op) = place_of(function.op)?;
    Some(Arc::new(MlirFunction { op, name: (&*own.name).into(), computations, callees, fusion, ops }))
}

/// Adds the functions that one calls, callees first: of the same part of the file, and where they are
/// cut as [`cut_function`] reads them for `cut`.
fn callees(
    db: &dyn salsa::Database,
    file: File,
    (part, cut): (usize, u32),
    function: &HloFunction,
    seen: &mut FxHashSet<Box<str>>,
    found: &mut Vec<HloComputation>,
) {
    for symbol in &function.calls {
        if seen.len() >= MAX_CALLEES || !seen.insert(symbol.clone()) {
            continue;
        }
        let pieces = mlir_module(db, file).symbol(part, symbol);
        let callee = pieces.iter().find_map(|&at| {
            let piece = *file.pieces(db).get(at)?;
            let functions = mlir_functions(db, piece).iter().map(|(part, function)| (part, function));
            let cut = cut_function(db, piece, cut).map(|f| (&f.part, &f.function));
            functions.chain(cut).find(|(own, f)| **own == part && f.symbol == *symbol)
        });
        let Some((_, callee)) = callee else { continue };
        callees(db, file, (part, cut), callee, seen, found);
        found.extend(callee.computations.iter().cloned());
    }
}

/// Calls `found` with the kernels of the functions that start in a piece: of each whole function, and of each instruction that
/// XLA would wrap alone. A kernel has the number of its function, as in [`mlir_function`], and its name.
pub(crate) fn mlir_kernel_names(db: &dyn salsa::Database, piece: Piece, found: &mut dyn FnMut(u32, &str)) {
    let functions = mlir_functions(db, piece).iter().map(|(_, function)| function);
    let cut = cut_function(db, piece, CUT_FUNCTION).map(|cut| (CUT_FUNCTION, &cut.function));
    for (nth, function) in (0..).zip(functions).chain(cut) {
        let Some(own) = function.computations.last() else { continue };
        found(nth, &own.name);
        let instructions = own.graph.ops.iter().zip(&own.graph.names);
        instructions.filter(|(op, _)| gpu::is_wrapped(op.opcode)).for_each(|(_, name)| found(nth, name));
    }
}

/// An instruction of a function, or the fusion of the whole function by its name, with what its kernel depends on.
pub(crate) fn mlir_fusion_source(db: &dyn salsa::Database, id: KernelId<'_>) -> Option<Arc<FusionSource>> {
    let (piece, nth, name) = (id.piece(db), id.computation(db), id.name(db));
    let Some(function) = mlir_function(db, piece, nth).as_ref() else {
        return op_source(db, piece, name).filter(|_| nth == CUT_FUNCTION);
    };
    let is_function = *name == *function.name;
    let op = match is_function {
        true => function.fusion.clone(),
        false => {
            let graph = &function.own()?.graph;
            graph.ops[graph.find(&name)? as usize].clone()
        }
    };
    let callees = called_graphs(&op, |name| function.graph(name));
    Some(Arc::new(FusionSource { name, op, callees, same_as: Vec::new(), is_function, is_cut: false }))
}

/// The graphs of the computations that an op calls, and of those that they call.
fn called_graphs<'g>(
    op: &Op,
    graph_of: impl Fn(&str) -> Option<&'g Arc<Graph>>,
) -> Vec<(String, Arc<Graph>)> {
    let mut found: Vec<(String, Arc<Graph>)> = Vec::new();
    let mut open: Vec<String> = called_by(op).map(str::to_owned).collect();
    while let Some(name) = open.pop() {
        if found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let Some(graph) = graph_of(&name) else { continue };
        open.extend(graph.ops.iter().flat_map(called_by).map(str::to_owned));
        found.push((name, graph.clone()));
    }
    found
}
