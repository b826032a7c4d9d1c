//! `triangular-solve-rewriter`: calls cuBLAS for triangular solves.
//!
//! Source: XLA `backends/gpu/transforms/triangular_solve_rewriter.cc`.

use ir::{AttributeValue, ElementType, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{every, replace};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

/// Bytes of the two pointers per matrix that the library needs.
const POINTERS: i64 = 16;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::TriangularSolve && !run.module[id].has_control_dependencies() {
            rewrite(run, id);
        }
    });
    Ok(())
}

fn rewrite(run: &mut Run<'_>, id: InstructionId) {
    let solve = &run.module[id];
    let &[_, values] = solve.operands() else { return };
    let dims = run.module[values].dims();
    let batch =
        dims[..dims.len().saturating_sub(2)].iter().fold(1i64, |product, &size| product.saturating_mul(size));
    let bytes = if batch == 1 { 0 } else { batch.saturating_mul(POINTERS) };
    let shape = Shape::tuple([solve.shape().clone(), Shape::array(ElementType::S8, &[bytes])]);
    let attributes = solve.attributes();
    let is_set = |key| attributes.bool(key).unwrap_or(false);
    let config = format!(
        "{{\"left_side\":{},\"lower\":{},\"transpose_a\":\"{}\",\"unit_diagonal\":{}}}",
        is_set(AttributeKey::LeftSide),
        is_set(AttributeKey::Lower),
        attributes.text(AttributeKey::TransposeA).unwrap_or("NO_TRANSPOSE"),
        is_set(AttributeKey::UnitDiagonal),
    );
    let new = NewOp::new(Opcode::CustomCall, shape, solve.operands())
        .with(AttributeKey::CustomCallTarget, AttributeValue::Quoted("__cublas$triangularSolve".to_owned()))
        .with(AttributeKey::BackendConfig, AttributeValue::Text(config));
    let call = run.module.add_named(run.module[id].parent(), new, "triangular-solve");
    run.module.inherit(call, id);
    let result = run.module.add_element(call, 0);
    replace(run, id, result, "solved by cuBLAS");
}
