//! Comparisons. For floating-point numbers, NaN is unequal to everything; the total order includes it.

use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::super::lower::Lowering;
use super::super::machine::{Class, Operand};
use super::super::memory::class_of;
use super::super::value::Val;
use crate::kernel::{Comparison, Direction};

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Direction::Eq => "eq",
            Direction::Ne => "ne",
            Direction::Lt => "lt",
            Direction::Le => "le",
            Direction::Gt => "gt",
            Direction::Ge => "ge",
        }
    }
}

impl Lowering<'_> {
    pub(super) fn compare(
        &mut self,
        a: Val,
        b: Val,
        element: ElementType,
        comparison: Comparison,
    ) -> Option<Val> {
        let direction = comparison.direction;
        if element.is_complex() {
            return self.compare_complex(a, b, element, direction);
        }
        if element == ElementType::Pred {
            return self.compare_pred(a.num(), b.num(), direction);
        }
        let class = class_of(element);
        let (a, b) = (a.num(), b.num());
        if element.is_floating() && comparison.is_total {
            return self.compare_total(a, b, element, direction);
        }
        if element.is_floating() {
            let (a, b, kind) = self.comparable(a, b, element)?;
            let name = if direction == Direction::Ne { "neu" } else { direction.name() };
            let a = self.in_register(a, if kind == "f64" { Class::B64 } else { Class::B32 });
            return Some(Val::Pred(
                self.code.pure(format!("setp.{name}.{kind}"), Class::Pred, [a, b]).into(),
            ));
        }
        let sign = if element.is_signed_integer() { "s" } else { "u" };
        let width = element.bits()?.max(16);
        let a = self.in_register(a, class);
        let name = format!("setp.{}.{sign}{width}", direction.name());
        Some(Val::Pred(self.code.pure(name, Class::Pred, [a, b]).into()))
    }

    /// Both as `f32` or `f64`, which preserves the order of smaller formats.
    fn comparable(
        &mut self,
        a: Operand,
        b: Operand,
        element: ElementType,
    ) -> Option<(Operand, Operand, &'static str)> {
        match element {
            ElementType::F64 => Some((a, b, "f64")),
            ElementType::F32 => Some((a, b, "f32")),
            _ => {
                let a = self.as_f32(a, element)?;
                let b = self.as_f32(b, element)?;
                Some((a, b, "f32"))
            }
        }
    }

    /// -NaN < -inf < … < -0 < 0 < … < inf < NaN: as integers, with the bits of negative numbers inverted.
    fn compare_total(
        &mut self,
        a: Operand,
        b: Operand,
        element: ElementType,
        direction: Direction,
    ) -> Option<Val> {
        let bits = element.bits()?;
        let width = bits.max(16);
        let class = class_of(element);
        let mut key = |x: Operand| -> Operand {
            let mut x = self.in_register(x, class);
            if bits < 16 {
                let unused = Operand::Int(i64::from(16 - bits));
                let up = self.code.pure("shl.b16", class, [x, unused]);
                x = self.code.pure("shr.s16", class, [up.into(), unused]).into();
            }
            let sign =
                self.code.pure(format!("shr.s{width}"), class, [x, Operand::Int(i64::from(width) - 1)]);
            let all = match bits {
                64 => i64::MAX,
                _ => (1i64 << (bits - 1)) - 1,
            };
            let turned = self.code.pure(format!("and.b{width}"), class, [sign.into(), Operand::Int(all)]);
            self.code.pure(format!("xor.b{width}"), class, [x, turned.into()]).into()
        };
        let (a, b) = (key(a), key(b));
        let name = format!("setp.{}.s{width}", direction.name());
        Some(Val::Pred(self.code.pure(name, Class::Pred, [a, b]).into()))
    }

    fn compare_pred(&mut self, a: Operand, b: Operand, direction: Direction) -> Option<Val> {
        let not = |e: &mut Self, x: Operand| -> Operand {
            let x = e.in_register(x, Class::Pred);
            e.code.pure("not.pred", Class::Pred, [x]).into()
        };
        let result = match direction {
            Direction::Ne => self.logic_op("xor.pred", a, b),
            Direction::Eq => {
                let differ = self.logic_op("xor.pred", a, b);
                not(self, differ)
            }
            Direction::Lt => {
                let below = not(self, a);
                self.logic_op("and.pred", below, b)
            }
            Direction::Gt => {
                let below = not(self, b);
                self.logic_op("and.pred", below, a)
            }
            Direction::Le => {
                let below = not(self, a);
                self.logic_op("or.pred", below, b)
            }
            Direction::Ge => {
                let below = not(self, b);
                self.logic_op("or.pred", below, a)
            }
        };
        Some(Val::Pred(result))
    }

    fn compare_complex(&mut self, a: Val, b: Val, element: ElementType, direction: Direction) -> Option<Val> {
        let (Val::Complex(ar, ai), Val::Complex(br, bi)) = (a, b) else { return None };
        let part = if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
        let (name, both) = match direction {
            Direction::Eq => (Direction::Eq, "and.pred"),
            Direction::Ne => (Direction::Ne, "or.pred"),
            _ => return None,
        };
        let comparison = Comparison { direction: name, is_total: false };
        let re = self.compare(Val::Num(ar), Val::Num(br), part, comparison)?;
        let im = self.compare(Val::Num(ai), Val::Num(bi), part, comparison)?;
        Some(Val::Pred(self.logic_op(both, re.num(), im.num())))
    }
}
