//! Functions that could be one kernel each, judged by the names of their ops without a conversion.

use std::sync::Arc;

use ir::Opcode;
use memchr::memmem;
use mlir::{OpId, Parse};
use mlir_hlo::Slice;

use crate::Piece;
use crate::mlir_queries::mlir_piece;

/// Ops of a function that may be one kernel, at most.
pub const MAX_OPS_OF_KERNEL: usize = 200;

/// Why a function is not one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoKernel {
    TooLong,
    /// HLO does not have this op.
    NotOfHlo(String),
    /// XLA runs this op by itself.
    NotFused(String),
    NothingComputed,
}

/// Of the ops of a function's first block, by name. `None` where XLA fuses all of them.
pub fn why_no_kernel<'t>(ops: impl Iterator<Item = &'t str>) -> Option<NoKernel> {
    let mut works = false;
    for (count, name) in ops.enumerate() {
        if name.ends_with("return") {
            continue;
        }
        if count >= MAX_OPS_OF_KERNEL {
            return Some(NoKernel::TooLong);
        }
        match mlir_hlo::opcode_of(name) {
            Some(Opcode::Constant) => {}
            Some(opcode) if gpu::is_wrapped(opcode) => works = true,
            None if !mlir::is_call(name) => {
                return Some(NoKernel::NotOfHlo(name.to_owned()));
            }
            _ => return Some(NoKernel::NotFused(name.to_owned())),
        }
    }
    (!works).then_some(NoKernel::NothingComputed)
}

/// Whether some op of the piece has an HLO equivalent.
#[salsa::tracked(returns(copy))]
pub fn mlir_holds_hlo_ops(db: &dyn salsa::Database, piece: Piece) -> bool {
    let read = mlir_piece(db, piece);
    let (parse, text) = (&read.parse, &read.text);
    let is_of_hlo = |name: &str| ["stablehlo.", "mhlo.", "chlo."].iter().any(|d| name.starts_with(d));
    may_hold_hlo(text) && (0..parse.ops.len() as OpId).any(|id| is_of_hlo(parse.name(id, text)))
}

/// Most text of other dialects has no such op at all, which is seen without a look at each of its ops.
fn may_hold_hlo(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"hlo.").is_some()
}

/// The functions that start in a piece and may be one kernel each, in the order of the text. Of one that goes on in other pieces
/// these tell.
#[salsa::tracked]
pub fn mlir_kernel_candidates(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<OpId>> {
    let read = mlir_piece(db, piece);
    let parse = &read.parse;
    let has_hlo = may_hold_hlo(&read.text);
    if !has_hlo && parse.cut_bodies().iter().all(Option::is_none) {
        return Arc::default();
    }
    let is_candidate = |&op: &OpId| {
        parse.is_cut_function(op) || has_hlo && why_no_kernel(first_block(parse, &read.text, op)).is_none()
    };
    Arc::new(Slice::whole(parse, &read.text).functions().filter(is_candidate).collect())
}

/// The names of the ops.
fn first_block<'a>(parse: &'a Parse, text: &'a str, function: OpId) -> impl Iterator<Item = &'a str> {
    let first = parse.regions_of(function).next().and_then(|region| parse.blocks_of(region).next());
    first.into_iter().flat_map(|block| parse.ops_of(block)).map(|op| parse.name(op, text))
}
