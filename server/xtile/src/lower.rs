//! From the tile program of a fusion to Triton's operations, by XLA's passes in their order.
//! Source: `LowerXTileToTriton`, `backends/gpu/codegen/triton/xtile_compiler.cc`.
//!
//! A pass is a list of rules on single ops, which [`rewrite`] applies: to a fixed point with folds of constants
//! and unused ops removed, as MLIR's greedy driver does, or once.

mod arithmetic;
mod bitcast;
mod broadcast;
mod common;
mod constants;
mod convert;
mod dot;
mod dot_algorithm;
mod fold;
mod forms;
mod indices;
mod libdevice;
mod loops;
mod moves;
mod narrow_floats;
mod reduce;
mod rewrite;
mod scalars;
mod scaled_dot;
mod scan;
mod signless;

use crate::Reason;
use crate::program::{Block, Kind, Program};
use rewrite::{apply_once, apply_to_fixed_point};

/// Stack for passes over nested blocks, whose depth is bounded.
const STACK: usize = 8 << 20;

/// Lowers a program to Triton's operations. What reads and writes tiles stays as it is.
pub fn lower(program: &Program) -> Result<Program, Reason> {
    recursion::with_stack(STACK, || {
        let mut lowered = program.clone();
        passes(&mut lowered);
        match unlowered(&lowered.body) {
            None => Ok(lowered),
            Some(what) => Err(format!("{what} in Triton's operations is not supported yet").into()),
        }
    })
}

fn passes(program: &mut Program) {
    apply_to_fixed_point(program, &[bitcast::lower]);
    apply_to_fixed_point(program, &[arithmetic::lower, convert::lower]);
    apply_once(program, &[narrow_floats::lower]);
    signless::run(program);
    apply_to_fixed_point(program, &[broadcast::lower, reduce::lower, dot::canonicalize, dot::lower]);
    scalars::run(program);
    apply_to_fixed_point(
        program,
        &[scaled_dot::canonicalize, scaled_dot::lower, scan::lower, broadcast::lower],
    );
    apply_once(program, &[loops::carry_without_unit_dims]);
    apply_to_fixed_point(program, &[libdevice::lower]);
    signless::scales(program);
    apply_to_fixed_point(program, &[indices::simplify, forms::simplify, moves::simplify, loops::simplify]);
    common::run(program);
}

/// An op that no pass lowers.
fn unlowered(block: &Block) -> Option<&'static str> {
    block.ops.iter().find_map(|op| match &op.kind {
        Kind::ScaledDot { .. } | Kind::Dot(_) => {
            Some("a dot of several matrices, or one that nothing adds to,")
        }
        Kind::Reduce { .. } => Some("a reduction over no dimension"),
        Kind::Iota { .. } => Some("an iota of another type than s32"),
        _ => op.blocks.iter().find_map(unlowered),
    })
}
