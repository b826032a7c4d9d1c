//! Numbers as indices.

use indexing_map::{Expr, Interval};
use ir::ElementTypeExt;
use ptx::{Name, Type, cvt};
use syntax::hlo::ElementType;

use super::lower::Lowering;
use super::machine::Operand;
use super::value::Val;

impl Lowering<'_> {
    /// Converts a number to an index clamped to bounds. Unsigned numbers that would be negative as signed
    /// ones are large.
    pub(super) fn number_as_index(&mut self, value: Val, from: ElementType, bounds: Interval) -> Expr {
        if let Some(point) = bounds.as_point() {
            return Expr::Const(point);
        }
        if let Operand::Int(constant) = value.num() {
            return Expr::Const(constant.clamp(bounds.lower, bounds.upper));
        }
        let is_signed = from.is_signed_integer();
        let integer = |width| Type::integer(is_signed, width);
        let wide = from.bits().unwrap_or(32) > 32 || bounds.upper > i64::from(i32::MAX);
        let width = if wide { 64 } else { 32 };
        let own = from.bits().unwrap_or(32).max(16);
        let mut register = value.num();
        if own < width {
            register = self.code.pure(cvt(integer(width), integer(own)), [register]).into();
        }
        let least = bounds.lower;
        let low = self.code.pure(Name::Min.of(integer(width)), [register, Operand::Int(bounds.upper)]);
        let inside = match is_signed || least > 0 {
            true => self.code.pure(Name::Max.of(integer(width)), [low.into(), Operand::Int(least)]),
            false => low,
        };
        let inside = match bounds.upper <= i64::from(i32::MAX) && width == 64 {
            true => self.code.pure(cvt(Type::U32, Type::U64), [inside.into()]),
            false => inside,
        };
        self.indices.variable(bounds, inside.into())
    }

    /// Converts a number to an index without clamping: it is used only where it is within the bounds.
    pub(super) fn as_index(&mut self, value: Val, from: ElementType, bounds: Interval) -> Expr {
        if let Some(point) = bounds.as_point() {
            return Expr::Const(point);
        }
        let register = match value.num() {
            Operand::Int(constant) => return Expr::Const(constant.clamp(bounds.lower, bounds.upper)),
            other => other,
        };
        let fits = bounds.upper <= i64::from(i32::MAX);
        let register = match from.bits().unwrap_or(32) {
            // Numbers of at most eight bits are sign-extended in 16-bit registers.
            0..=16 => self.code.pure(cvt(Type::U32, Type::U16), [register]).into(),
            33.. if fits => self.code.pure(cvt(Type::U32, Type::U64), [register]).into(),
            _ => register,
        };
        self.indices.variable(bounds, register)
    }
}
