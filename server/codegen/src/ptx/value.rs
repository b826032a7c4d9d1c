//! The representation of an IR value in PTX.

use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::machine::Operand;
use crate::constant::Constant;

/// The array that contains a tensor of the IR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ArrayPlace {
    Param(usize),
    Shared(u32),
    /// A constant array of the module.
    Table(u32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Val {
    /// An integer or a float in a register of its width; eight bits and less are sign-extended in a 16-bit
    /// register.
    Num(Operand),
    /// A predicate register, or the constant 0 or 1.
    Pred(Operand),
    /// Real and imaginary part.
    Complex(Operand, Operand),
    Tensor(ArrayPlace),
    /// A vector, by its number in the lowering's list.
    Vector(u32),
}

impl Val {
    pub fn constant(constant: Constant) -> Val {
        let element = constant.element;
        match element {
            ElementType::Pred => Val::Pred(Operand::Int(i64::from(constant.bits != 0))),
            _ if element.is_complex() => {
                let (re, im) = constant.parts();
                Val::Complex(number(re), number(im))
            }
            _ => Val::Num(number(constant)),
        }
    }

    /// The numbers of which one element consists.
    pub fn operands(self) -> Vec<Operand> {
        match self {
            Val::Num(operand) | Val::Pred(operand) => vec![operand],
            Val::Complex(re, im) => vec![re, im],
            Val::Tensor(_) | Val::Vector(_) => Vec::new(),
        }
    }

    /// A value of the same kind with other parts.
    pub fn with_operands(self, operands: &[Operand]) -> Val {
        match (self, operands) {
            (Val::Num(_), [one]) => Val::Num(*one),
            (Val::Pred(_), [one]) => Val::Pred(*one),
            (Val::Complex(..), [re, im]) => Val::Complex(*re, *im),
            _ => self,
        }
    }

    pub fn num(self) -> Operand {
        match self {
            Val::Num(operand) | Val::Pred(operand) | Val::Complex(operand, _) => operand,
            Val::Tensor(_) | Val::Vector(_) => Operand::Int(0),
        }
    }
}

fn number(constant: Constant) -> Operand {
    match constant.element {
        ElementType::F32 => Operand::F32(constant.bits as u32),
        ElementType::F64 => Operand::F64(constant.bits as u64),
        _ => Operand::Int(constant.as_int()),
    }
}
