//! Comparisons. For floating-point numbers, NaN is unequal to everything; the total order includes it.

use ir::ElementTypeExt;
use ptx::{Comparison, Name, Type, setp};
use syntax::hlo::ElementType;

use super::super::element::class_of;
use super::super::machine::{Class, Operand};
use super::super::value::Val;
use super::Scalars;
use crate::kernel::{self, Direction};

impl Direction {
    fn comparison(self) -> Comparison {
        match self {
            Direction::Eq => Comparison::Eq,
            Direction::Ne => Comparison::Ne,
            Direction::Lt => Comparison::Lt,
            Direction::Le => Comparison::Le,
            Direction::Gt => Comparison::Gt,
            Direction::Ge => Comparison::Ge,
        }
    }
}

impl Scalars<'_> {
    pub(super) fn compare(
        &mut self,
        a: Val,
        b: Val,
        element: ElementType,
        comparison: kernel::Comparison,
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
            let (a, b, ty) = self.comparable(a, b, element)?;
            let comparison =
                if direction == Direction::Ne { Comparison::Neu } else { direction.comparison() };
            let a = self.in_register(a, if ty == Type::F64 { Class::B64 } else { Class::B32 });
            return Some(Val::Pred(self.code.pure(setp(comparison, ty), [a, b]).into()));
        }
        let width = element.bits()?.max(16);
        let a = self.in_register(a, class);
        let name = setp(direction.comparison(), Type::integer(element.is_signed_integer(), width));
        Some(Val::Pred(self.code.pure(name, [a, b]).into()))
    }

    /// Both as `f32` or `f64`, which preserves the order of smaller formats.
    fn comparable(
        &mut self,
        a: Operand,
        b: Operand,
        element: ElementType,
    ) -> Option<(Operand, Operand, Type)> {
        match element {
            ElementType::F64 => Some((a, b, Type::F64)),
            ElementType::F32 => Some((a, b, Type::F32)),
            _ => {
                let a = self.as_f32(a, element)?;
                let b = self.as_f32(b, element)?;
                Some((a, b, Type::F32))
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
                let up = self.code.pure(Name::Shl.of(Type::B16), [x, unused]);
                x = self.code.pure(Name::Shr.of(Type::S16), [up.into(), unused]).into();
            }
            let sign = self.code.pure(Name::Shr.of(Type::s(width)), [x, Operand::Int(i64::from(width) - 1)]);
            let all = match bits {
                64 => i64::MAX,
                _ => (1i64 << (bits - 1)) - 1,
            };
            let turned = self.code.pure(Name::And.of(Type::b(width)), [sign.into(), Operand::Int(all)]);
            self.code.pure(Name::Xor.of(Type::b(width)), [x, turned.into()]).into()
        };
        let (a, b) = (key(a), key(b));
        let name = setp(direction.comparison(), Type::s(width));
        Some(Val::Pred(self.code.pure(name, [a, b]).into()))
    }

    fn compare_pred(&mut self, a: Operand, b: Operand, direction: Direction) -> Option<Val> {
        let not = |e: &mut Self, x: Operand| -> Operand {
            let x = e.in_register(x, Class::Pred);
            e.code.pure(Name::Not.of(Type::Pred), [x]).into()
        };
        let result = match direction {
            Direction::Ne => self.logic_op(Name::Xor, a, b),
            Direction::Eq => {
                let differ = self.logic_op(Name::Xor, a, b);
                not(self, differ)
            }
            Direction::Lt => {
                let below = not(self, a);
                self.logic_op(Name::And, below, b)
            }
            Direction::Gt => {
                let below = not(self, b);
                self.logic_op(Name::And, below, a)
            }
            Direction::Le => {
                let below = not(self, a);
                self.logic_op(Name::Or, below, b)
            }
            Direction::Ge => {
                let below = not(self, b);
                self.logic_op(Name::Or, below, a)
            }
        };
        Some(Val::Pred(result))
    }

    fn compare_complex(&mut self, a: Val, b: Val, element: ElementType, direction: Direction) -> Option<Val> {
        let (Val::Complex(ar, ai), Val::Complex(br, bi)) = (a, b) else { return None };
        let part = if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
        let (name, both) = match direction {
            Direction::Eq => (Direction::Eq, Name::And),
            Direction::Ne => (Direction::Ne, Name::Or),
            _ => return None,
        };
        let comparison = kernel::Comparison { direction: name, is_total: false };
        let re = self.compare(Val::Num(ar), Val::Num(br), part, comparison)?;
        let im = self.compare(Val::Num(ai), Val::Num(bi), part, comparison)?;
        Some(Val::Pred(self.logic_op(both, re.num(), im.num())))
    }
}
