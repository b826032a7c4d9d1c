//! Conversions of floats of 8 bits to `tt.fp_to_fp`.
//! Source: `backends/gpu/codegen/triton/transforms/arith_fp8_conversion_to_triton.cc`.

use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Cast, Kind, Op, Triton};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let &[operand] = &op.operands[..] else { return None };
    let ty = rewriter.ty(op.result()?).clone();
    let is_narrow = |element: ElementType| element.bits() == Some(8);
    let narrow = [is_narrow(rewriter.element(operand)), is_narrow(ty.element()?)];
    let rounds = match (&op.kind, narrow) {
        (Kind::Cast(Cast::ExtendFloat), [true, false]) => false,
        (Kind::Cast(Cast::TruncateFloat), [false, true]) => true,
        _ => return None,
    };
    Some(Rewrite::Value(rewriter.push(Kind::Triton(Triton::FloatToFloat { rounds }), vec![operand], ty)))
}
