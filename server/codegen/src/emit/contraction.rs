//! Dot and convolution, one product at a time. Source: `EmitDotLoop`, `EmitConvolution` of
//! `elemental_hlo_to_mlir.cc`.

use indexing_map::{Expr, IndexingMap};
use ir::{ElementTypeExt, Op, OpId, Opcode};
use syntax::hlo::ElementType;

use crate::Reason;
use crate::constant::Constant;
use crate::emit::elemental::{Elements, MapArguments, element};
use crate::kernel::{Detail, ValueId};

impl<'a> Elements<'a> {
    pub(super) fn contracted(&mut self, id: OpId, op: &Op, at: &[Expr]) -> Result<ValueId, Reason> {
        let accesses = self.indexing(id);
        let map_of = |n: usize| -> Option<IndexingMap> { Some(accesses.get(n)?.first()?.map.clone()) };
        let (Some(left), Some(right)) = (map_of(0), map_of(1)) else {
            return Err("nothing is known of its operands".into());
        };
        if left.num_ranges() != right.num_ranges() || right.is_undefined() {
            return Err("its operands are not walked together".into());
        }
        let result = element(op);
        // For `bf16`, and for smaller types than XLA leaves in kernels, sums and products are `f32`.
        // Otherwise sums have the result's type, and products the operands' type.
        let is_wide = result == ElementType::Bf16
            || result.is_floating() && result.bits().is_some_and(|bits| bits < 16);
        let sum = if is_wide { ElementType::F32 } else { result };
        let &[first, second, ..] = self.operands(id) else { return Err("it takes two operands".into()) };
        let zero = self.body.constant(Constant::zero(sum));
        // The left map's constraints are those of the product, because the right map never leaves its
        // operand.
        let dims: Vec<Expr> = at.to_vec();
        let ranges_before = self.body.function.index_vars.len();
        let results = self.each(&left, at, vec![zero], |e, index, carried| {
            let ranges: Vec<Expr> = left
                .ranges()
                .iter()
                .enumerate()
                .map(|(n, range)| Expr::var(ranges_before + n) + range.bounds.lower)
                .collect();
            let place = MapArguments { at: &dims, ranges: &ranges, runtime: &[] };
            let other: Vec<Expr> = right.results().iter().map(|r| place.of(&right, r)).collect();
            let (a, b) = (e.value(first, index), e.value(second, &other));
            let own = e.body.function.element(a);
            let is_own = !is_wide
                && sum.is_floating()
                && own == e.body.function.element(b)
                && own.is_floating()
                && own.bits().is_some_and(|bits| bits >= 16);
            let factor = if is_own { own } else { sum };
            let (a, b) = (e.converted(a, factor), e.converted(b, factor));
            let (multiply, add) = match sum {
                ElementType::Pred => (Opcode::And, Opcode::Or),
                _ => (Opcode::Multiply, Opcode::Add),
            };
            let product = e.body.compute(multiply, vec![a, b], Detail::None, factor);
            let product = e.converted(product, sum);
            Ok(vec![e.body.compute(add, vec![carried[0], product], Detail::None, sum)])
        })?;
        Ok(self.converted(results[0], result))
    }

    /// Converts a number to another element type.
    pub(super) fn converted(&mut self, value: ValueId, to: ElementType) -> ValueId {
        match self.body.function.element(value) == to {
            true => value,
            false => self.body.compute(Opcode::Convert, vec![value], Detail::None, to),
        }
    }
}
