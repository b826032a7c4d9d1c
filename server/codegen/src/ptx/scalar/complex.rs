//! Complex numbers, part by part.

use syntax::hlo::{ElementType, Opcode};

use super::super::lower::Lowering;
use super::super::machine::Operand;
use super::super::value::Val;

fn part_of(element: ElementType) -> ElementType {
    match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

impl Lowering<'_> {
    pub(super) fn complex_unary(
        &mut self,
        opcode: Opcode,
        a: Val,
        from: ElementType,
        _to: ElementType,
    ) -> Option<Val> {
        let Val::Complex(re, im) = a else { return None };
        let part = part_of(from);
        let negated = |e: &mut Self, x: Operand| -> Option<Operand> {
            e.float_unary(Opcode::Negate, Val::Num(x), part, part).map(Val::num)
        };
        match opcode {
            Opcode::Real => Some(Val::Num(re)),
            Opcode::Imag => Some(Val::Num(im)),
            Opcode::Negate => Some(Val::Complex(negated(self, re)?, negated(self, im)?)),
            _ => None,
        }
    }

    pub(super) fn complex_binary(&mut self, opcode: Opcode, a: Val, b: Val, to: ElementType) -> Option<Val> {
        let part = part_of(to);
        if opcode == Opcode::Complex {
            return Some(Val::Complex(a.num(), b.num()));
        }
        let (Val::Complex(ar, ai), Val::Complex(br, bi)) = (a, b) else { return None };
        let op = |e: &mut Self, opcode: Opcode, x: Operand, y: Operand| -> Option<Operand> {
            e.float_binary(opcode, Val::Num(x), Val::Num(y), part).map(Val::num)
        };
        match opcode {
            Opcode::Add | Opcode::Subtract => {
                Some(Val::Complex(op(self, opcode, ar, br)?, op(self, opcode, ai, bi)?))
            }
            Opcode::Multiply => {
                let (rr, ii) = (op(self, Opcode::Multiply, ar, br)?, op(self, Opcode::Multiply, ai, bi)?);
                let (ri, ir) = (op(self, Opcode::Multiply, ar, bi)?, op(self, Opcode::Multiply, ai, br)?);
                Some(Val::Complex(op(self, Opcode::Subtract, rr, ii)?, op(self, Opcode::Add, ri, ir)?))
            }
            _ => None,
        }
    }
}
