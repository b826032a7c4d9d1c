//! Elementwise ops on scalars, as XLA's GPU emitters compute them.
//!
//! Numbers of fewer than 32 bits: 8-bit integers are sign-extended in 16-bit registers and brought back into
//! range after each op. `f16` and `bf16` ops use the device's instruction if it has one, else they compute in
//! `f32` and round, which gives the same result for a single sum, difference or product.

mod compare;
mod complex;
mod convert;
mod float;
mod integer;
mod math;
mod precision;
mod small;

use ir::{ElementTypeExt, OpId};
use ptx::{Comparison, Name, Type, setp};
use syntax::hlo::{ElementType, Opcode};

use super::code::Code;
use super::element::class_of;
use super::features::{Bf16, Features};
use super::machine::{Class, Operand};
use super::value::Val;
use crate::constant::Constant;
use crate::kernel::Detail;
pub(super) use math::{COS_F64, SIN_F64};

/// What elementwise ops need: the code they append to, the device, and the list of ops without a rule.
pub(super) struct Scalars<'c> {
    pub code: &'c mut Code,
    pub features: Features,
    pub missing: &'c mut Vec<(OpId, String)>,
}

impl Scalars<'_> {
    /// Whether the device has all instructions for `bf16`.
    fn has_bf16(&self) -> bool {
        self.features.bf16 == Bf16::Full
    }

    /// Emits an elementwise op. `from` is the element type of the (first) operand, `to` that of the result.
    pub(super) fn scalar(
        &mut self,
        opcode: Opcode,
        inputs: &[Val],
        from: ElementType,
        to: ElementType,
        detail: Detail,
    ) -> Val {
        let written = match (opcode, inputs) {
            (Opcode::Select, [condition, a, b]) => Some(self.select(*condition, *a, *b, to)),
            (Opcode::Compare, [a, b]) => match detail {
                Detail::Compare(comparison) => self.compare(*a, *b, from, comparison),
                _ => None,
            },
            (Opcode::Convert, [a]) => self.convert(*a, from, to),
            (Opcode::BitcastConvert | Opcode::Bitcast, [a]) => self.reinterpret(*a, from, to),
            (Opcode::Clamp, [low, x, high]) => self
                .binary(Opcode::Maximum, *low, *x, to)
                .and_then(|bounded| self.binary(Opcode::Minimum, bounded, *high, to)),
            (Opcode::ReducePrecision, [a]) => match detail {
                Detail::Precision(exponent, mantissa) => self.reduce_precision(*a, to, exponent, mantissa),
                _ => None,
            },
            (_, [a]) if from.is_complex() || to.is_complex() => self.complex_unary(opcode, *a, from),
            (_, [a, b]) if from.is_complex() || to.is_complex() => self.complex_binary(opcode, *a, *b, to),
            (_, [a]) => self.unary(opcode, *a, from, to),
            (_, [a, b]) => self.binary(opcode, *a, *b, to),
            _ => None,
        };
        written.unwrap_or_else(|| self.unwritten(opcode, from, to))
    }

    /// Records an op that no rule implements in the header, and returns zero in its place.
    fn unwritten(&mut self, opcode: Opcode, from: ElementType, to: ElementType) -> Val {
        let what = format!("{opcode} from {from} to {to} is not written");
        if let Some(op) = self.code.origin
            && self.missing.iter().all(|(known, _)| *known != op)
        {
            self.code.push(super::machine::Kind::Note(format!("not written: {what}")), Vec::new());
            self.missing.push((op, what));
        }
        Val::constant(Constant::zero(to))
    }

    fn unary(&mut self, opcode: Opcode, a: Val, from: ElementType, to: ElementType) -> Option<Val> {
        match from {
            ElementType::Pred => self.not(opcode, a),
            _ if from.is_floating() => self.float_unary(opcode, a, from, to),
            _ => self.integer_unary(opcode, a, to),
        }
    }

    fn binary(&mut self, opcode: Opcode, a: Val, b: Val, to: ElementType) -> Option<Val> {
        match to {
            ElementType::Pred => self.logic(opcode, a, b),
            _ if to.is_floating() => self.float_binary(opcode, a, b, to),
            _ => self.integer_binary(opcode, a, b, to),
        }
    }

    /// The operand in a register: most instructions take no constant as their first operand.
    pub(super) fn in_register(&mut self, operand: Operand, class: Class) -> Operand {
        match operand {
            Operand::Reg(_) => operand,
            Operand::Int(value) if class == Class::Pred => {
                let from = [Operand::Int(value), Operand::Int(0)];
                let one = self.code.pure(Name::Mov.of(Type::B32), [from[0]]);
                self.code.pure(setp(Comparison::Ne, Type::B32), [one.into(), from[1]]).into()
            }
            other => self.code.pure(Name::Mov.of(Type::b(class.bits())), [other]).into(),
        }
    }

    fn select(&mut self, condition: Val, a: Val, b: Val, element: ElementType) -> Val {
        let condition = condition.num();
        match condition {
            Operand::Int(0) => return b,
            Operand::Int(_) => return a,
            _ => {}
        }
        if a == b {
            return a;
        }
        if element == ElementType::Pred {
            let then = self.logic_op(Name::And, condition, a.num());
            let not = self.code.pure(Name::Not.of(Type::Pred), [condition]);
            let other = self.logic_op(Name::And, not.into(), b.num());
            return Val::Pred(self.logic_op(Name::Or, then, other));
        }
        let parts: Vec<Operand> = a
            .operands()
            .into_iter()
            .zip(b.operands())
            .map(|(a, b)| {
                let bits = element.bits().unwrap_or(32);
                let class = Class::of_bits(if element.is_complex() { bits / 2 } else { bits });
                self.code.pure(Name::Selp.of(Type::b(class.bits())), [a, b, condition]).into()
            })
            .collect();
        a.with_operands(&parts)
    }

    /// `and`, `or`, `xor` on predicates, which take no constant operands.
    pub(super) fn logic_op(&mut self, name: Name, a: Operand, b: Operand) -> Operand {
        let a = self.in_register(a, Class::Pred);
        let b = self.in_register(b, Class::Pred);
        self.code.pure(name.of(Type::Pred), [a, b]).into()
    }

    fn logic(&mut self, opcode: Opcode, a: Val, b: Val) -> Option<Val> {
        let name = match opcode {
            Opcode::And | Opcode::Multiply | Opcode::Minimum => Name::And,
            Opcode::Or | Opcode::Maximum | Opcode::Add => Name::Or,
            Opcode::Xor | Opcode::Subtract => Name::Xor,
            _ => return None,
        };
        Some(Val::Pred(self.logic_op(name, a.num(), b.num())))
    }

    fn not(&mut self, opcode: Opcode, a: Val) -> Option<Val> {
        match opcode {
            Opcode::Not => {
                let a = self.in_register(a.num(), Class::Pred);
                Some(Val::Pred(self.code.pure(Name::Not.of(Type::Pred), [a]).into()))
            }
            _ => None,
        }
    }

    /// Converts an index to a number.
    pub(super) fn index_as_number(&mut self, index: Operand, width: u32, to: ElementType) -> Val {
        let from = if width == 32 { ElementType::S32 } else { ElementType::S64 };
        if let Operand::Int(value) = index {
            return Val::constant(Constant::of_int(to, value));
        }
        match to {
            ElementType::C64 => {
                let re = self.convert(Val::Num(index), from, ElementType::F32);
                Val::Complex(re.map_or(Operand::F32(0), Val::num), Operand::F32(0))
            }
            ElementType::C128 => {
                let re = self.convert(Val::Num(index), from, ElementType::F64);
                Val::Complex(re.map_or(Operand::F64(0), Val::num), Operand::F64(0))
            }
            _ => self
                .convert(Val::Num(index), from, to)
                .unwrap_or_else(|| self.unwritten(Opcode::Iota, from, to)),
        }
    }
}
