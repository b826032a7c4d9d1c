//! Complex numbers: ops on separate parts, and functions as formulas over both.

mod functions;
mod quotient;

use ptx::{Name, Type};
use syntax::hlo::{ElementType, Opcode};

use super::super::machine::Operand;
use super::super::value::Val;
use super::Scalars;
use super::math::flow::X;
use super::math::kind_of;

/// A complex number in a formula.
#[derive(Clone, Copy)]
struct Z<'f> {
    re: X<'f>,
    im: X<'f>,
}

fn part_of(element: ElementType) -> ElementType {
    match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

impl Scalars<'_> {
    pub(super) fn complex_unary(&mut self, opcode: Opcode, a: Val, from: ElementType) -> Option<Val> {
        let Val::Complex(re, im) = a else { return None };
        let part = part_of(from);
        let negated = |e: &mut Self, x: Operand| -> Option<Operand> {
            e.float_unary(Opcode::Negate, Val::Num(x), part, part).map(Val::num)
        };
        match opcode {
            Opcode::Real => return Some(Val::Num(re)),
            Opcode::Imag => return Some(Val::Num(im)),
            Opcode::Negate => return Some(Val::Complex(negated(self, re)?, negated(self, im)?)),
            Opcode::IsFinite => {
                let mut finite = |x: Operand| self.float_unary(opcode, Val::Num(x), part, part);
                let (re, im) = (finite(re)?, finite(im)?);
                return Some(Val::Pred(
                    self.code.pure(Name::And.of(Type::Pred), [re.num(), im.num()]).into(),
                ));
            }
            _ => {}
        }
        let kind = kind_of(part)?;
        self.formula(|code| {
            let z = Z { re: X::new(code, re, kind).in_register(), im: X::new(code, im, kind).in_register() };
            if opcode == Opcode::Abs {
                return Some(Val::Num(functions::abs(z).operand));
            }
            let result = functions::unary(opcode, z)?;
            Some(Val::Complex(result.re.operand, result.im.operand))
        })
    }

    pub(super) fn complex_binary(&mut self, opcode: Opcode, a: Val, b: Val, to: ElementType) -> Option<Val> {
        let part = part_of(to);
        if opcode == Opcode::Complex {
            return Some(Val::Complex(a.num(), b.num()));
        }
        let (Val::Complex(ar, ai), Val::Complex(br, bi)) = (a, b) else { return None };
        let kind = kind_of(part)?;
        self.formula(|code| {
            let of = |x: Operand| X::new(code, x, kind).in_register();
            let (a, b) = (Z { re: of(ar), im: of(ai) }, Z { re: of(br), im: of(bi) });
            let z = match opcode {
                Opcode::Add => Z { re: a.re + b.re, im: a.im + b.im },
                Opcode::Subtract => Z { re: a.re - b.re, im: a.im - b.im },
                Opcode::Multiply => product(a, b),
                Opcode::Divide => quotient::divide(a, b),
                Opcode::Power => functions::power(a, b),
                Opcode::Atan2 => functions::angle(a, b),
                _ => return None,
            };
            Some(Val::Complex(z.re.operand, z.im.operand))
        })
    }
}

fn product<'f>(a: Z<'f>, b: Z<'f>) -> Z<'f> {
    Z { re: a.re * b.re - a.im * b.im, im: a.im * b.re + a.re * b.im }
}
