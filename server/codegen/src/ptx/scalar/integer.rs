//! Integers. Division by zero gives all ones, a remainder by zero the dividend, a shift beyond the width 0 or
//! the sign.

use ir::ElementTypeExt;
use ptx::{Comparison, Modifier, Name, Type, cvt, setp};
use syntax::hlo::{ElementType, Opcode};

use super::super::element::class_of;
use super::super::machine::{Class, Operand};
use super::super::value::Val;
use super::Scalars;

impl Scalars<'_> {
    pub(super) fn integer_unary(&mut self, opcode: Opcode, a: Val, element: ElementType) -> Option<Val> {
        let bits = element.bits()?;
        let width = bits.max(16);
        let a = self.in_register(a.num(), class_of(element));
        let result = match opcode {
            Opcode::Negate => self.code.pure(Name::Neg.of(Type::s(width)), [a]),
            Opcode::Not => self.code.pure(Name::Not.of(Type::b(width)), [a]),
            Opcode::Abs if element.is_unsigned_integer() => return Some(Val::Num(a)),
            Opcode::Abs => self.code.pure(Name::Abs.of(Type::s(width)), [a]),
            Opcode::Sign if element.is_unsigned_integer() => {
                self.code.pure(Name::Min.of(Type::u(width)), [a, Operand::Int(1)])
            }
            Opcode::Sign => {
                let below = self.code.pure(Name::Max.of(Type::s(width)), [a, Operand::Int(-1)]);
                self.code.pure(Name::Min.of(Type::s(width)), [below.into(), Operand::Int(1)])
            }
            Opcode::Popcnt | Opcode::CountLeadingZeros => return self.counted(opcode, a, element, bits),
            _ => return None,
        };
        Some(Val::Num(self.in_range(result.into(), element)))
    }

    fn counted(&mut self, opcode: Opcode, a: Operand, element: ElementType, bits: u32) -> Option<Val> {
        let wide = if bits == 64 { 64 } else { 32 };
        let mut x = a;
        if bits < 32 {
            let plain = self.code.pure(cvt(Type::U32, Type::U16), [x]);
            let mask = Operand::Int((1i64 << bits) - 1);
            x = self.code.pure(Name::And.of(Type::B32), [plain.into(), mask]).into();
        }
        let name = if opcode == Opcode::Popcnt { Name::Popc } else { Name::Clz };
        // Both instructions count into 32 bits.
        let mut count = self.code.pure(name.of(Type::b(wide)), [x]);
        if opcode == Opcode::CountLeadingZeros && bits < 32 {
            count =
                self.code.pure(Name::Sub.of(Type::S32), [count.into(), Operand::Int(i64::from(32 - bits))]);
        }
        self.convert(Val::Num(count.into()), ElementType::S32, element)
    }

    pub(super) fn integer_binary(
        &mut self,
        opcode: Opcode,
        a: Val,
        b: Val,
        element: ElementType,
    ) -> Option<Val> {
        let bits = element.bits()?;
        let width = bits.max(16);
        let class = class_of(element);
        let is_signed = element.is_signed_integer();
        let (mut a, mut b) = (a.num(), b.num());
        let is_commutative = matches!(
            opcode,
            Opcode::Add
                | Opcode::Multiply
                | Opcode::And
                | Opcode::Or
                | Opcode::Xor
                | Opcode::Maximum
                | Opcode::Minimum
        );
        if is_commutative && !matches!(a, Operand::Reg(_)) {
            std::mem::swap(&mut a, &mut b);
        }
        a = self.in_register(a, class);
        let result = match opcode {
            Opcode::Add => self.code.pure(Name::Add.of(Type::s(width)), [a, b]),
            Opcode::Subtract => self.code.pure(Name::Sub.of(Type::s(width)), [a, b]),
            Opcode::Multiply => self.code.pure(Name::Mul.with(Modifier::Lo, Type::s(width)), [a, b]),
            Opcode::Maximum => self.code.pure(Name::Max.of(Type::integer(is_signed, width)), [a, b]),
            Opcode::Minimum => self.code.pure(Name::Min.of(Type::integer(is_signed, width)), [a, b]),
            Opcode::And => self.code.pure(Name::And.of(Type::b(width)), [a, b]),
            Opcode::Or => self.code.pure(Name::Or.of(Type::b(width)), [a, b]),
            Opcode::Xor => self.code.pure(Name::Xor.of(Type::b(width)), [a, b]),
            Opcode::Mulhi if bits >= 16 => {
                self.code.pure(Name::Mul.with(Modifier::Hi, Type::integer(is_signed, width)), [a, b])
            }
            Opcode::Power => return Some(self.raised(a, b, element)),
            Opcode::Divide => return Some(self.divided(a, b, element, width)),
            Opcode::Remainder => return Some(self.remainder(a, b, element, width)),
            Opcode::ShiftLeft => return Some(self.shifted(Name::Shl.of(Type::b(width)), a, b, element)),
            Opcode::ShiftRightLogical => {
                return Some(self.shifted(Name::Shr.of(Type::u(width)), a, b, element));
            }
            Opcode::ShiftRightArithmetic => {
                return Some(self.shifted(Name::Shr.of(Type::s(width)), a, b, element));
            }
            _ => return None,
        };
        Some(Val::Num(self.in_range(result.into(), element)))
    }

    fn divided(&mut self, a: Operand, b: Operand, element: ElementType, width: u32) -> Val {
        let is_signed = element.is_signed_integer();
        let minus_one = Operand::Int(-1);
        if let Operand::Int(0) = b {
            return Val::Num(self.in_range(minus_one, element));
        }
        // The minimum divided by -1 is the minimum, which the instruction does not guarantee.
        if b == minus_one && is_signed {
            let negated = self.code.pure(Name::Neg.of(Type::s(width)), [a]);
            return Val::Num(self.in_range(negated.into(), element));
        }
        let quotient =
            |e: &mut Self, b: Operand| e.code.pure(Name::Div.of(Type::integer(is_signed, width)), [a, b]);
        if matches!(b, Operand::Int(_)) {
            let plain = quotient(self, b);
            return Val::Num(self.in_range(plain.into(), element));
        }
        let is_zero = self.code.pure(setp(Comparison::Eq, Type::s(width)), [b, Operand::Int(0)]);
        let safe = self.code.pure(Name::Selp.of(Type::b(width)), [Operand::Int(1), b, is_zero.into()]);
        let plain = if is_signed {
            let is_minus = self.code.pure(setp(Comparison::Eq, Type::s(width)), [b, minus_one]);
            let divisor = self
                .code
                .pure(Name::Selp.of(Type::b(width)), [Operand::Int(1), safe.into(), is_minus.into()]);
            let plain = quotient(self, divisor.into());
            let negated = self.code.pure(Name::Neg.of(Type::s(width)), [a]);
            self.code.pure(Name::Selp.of(Type::b(width)), [negated.into(), plain.into(), is_minus.into()])
        } else {
            quotient(self, safe.into())
        };
        let result = self.code.pure(Name::Selp.of(Type::b(width)), [minus_one, plain.into(), is_zero.into()]);
        Val::Num(self.in_range(result.into(), element))
    }

    fn remainder(&mut self, a: Operand, b: Operand, element: ElementType, width: u32) -> Val {
        let is_signed = element.is_signed_integer();
        match b {
            Operand::Int(0) => return Val::Num(a),
            Operand::Int(-1) if is_signed => return Val::Num(Operand::Int(0)),
            Operand::Int(_) => {
                let rest = self.code.pure(Name::Rem.of(Type::integer(is_signed, width)), [a, b]);
                return Val::Num(rest.into());
            }
            _ => {}
        }
        let is_zero = self.code.pure(setp(Comparison::Eq, Type::s(width)), [b, Operand::Int(0)]);
        let mut safe = self.code.pure(Name::Selp.of(Type::b(width)), [Operand::Int(1), b, is_zero.into()]);
        if is_signed {
            // The remainder by -1 equals the remainder by 1.
            let is_minus = self.code.pure(setp(Comparison::Eq, Type::s(width)), [b, Operand::Int(-1)]);
            safe = self
                .code
                .pure(Name::Selp.of(Type::b(width)), [Operand::Int(1), safe.into(), is_minus.into()]);
        }
        let rest = self.code.pure(Name::Rem.of(Type::integer(is_signed, width)), [a, safe.into()]);
        Val::Num(self.code.pure(Name::Selp.of(Type::b(width)), [a, rest.into(), is_zero.into()]).into())
    }

    /// By squaring, in six iterations. Larger powers of even numbers are 0, and those of odd ones equal the
    /// result of six iterations. Negative powers are 0 except for 1 and -1. Source: XLA's lowering of integer
    /// powers.
    fn raised(&mut self, a: Operand, b: Operand, element: ElementType) -> Val {
        let bits = element.bits().unwrap_or(32);
        let width = bits.max(16);
        let class = class_of(element);
        let (a, b) = (self.in_register(a, class), self.in_register(b, class));
        let one = Operand::Int(1);
        let multiply = Name::Mul.with(Modifier::Lo, Type::s(width));
        let choose = Name::Selp.of(Type::b(width));
        let has = |e: &mut Self, x: Operand, bit: i64| -> Operand {
            let masked = e.code.pure(Name::And.of(Type::b(width)), [x, Operand::Int(bit)]);
            e.code.pure(setp(Comparison::Ne, Type::s(width)), [masked.into(), Operand::Int(0)]).into()
        };
        let (mut result, mut square) = (one, a);
        for round in 0..6 {
            let is_set = has(self, b, 1 << round);
            let factor: Operand = self.code.pure(choose, [square, one, is_set]).into();
            result = if round == 0 { factor } else { self.code.pure(multiply, [result, factor]).into() };
            if round < 5 {
                square = self.code.pure(multiply, [square, square]).into();
            }
        }
        let is_odd = has(self, a, 1);
        let large: Operand = self.code.pure(choose, [result, Operand::Int(0), is_odd]).into();
        let is_large = self.code.pure(setp(Comparison::Gt, Type::u(width)), [b, Operand::Int(63)]);
        result = self.code.pure(choose, [large, result, is_large.into()]).into();
        if element.is_signed_integer() {
            let odd_power = has(self, b, 1);
            let test = |e: &mut Self, comparison, x: Operand, value: i64| -> Operand {
                e.code.pure(setp(comparison, Type::s(width)), [x, Operand::Int(value)]).into()
            };
            let (is_one, is_minus) = (test(self, Comparison::Eq, a, 1), test(self, Comparison::Eq, a, -1));
            let of_one: Operand = self.code.pure(choose, [one, Operand::Int(0), is_one]).into();
            let sign: Operand = self.code.pure(choose, [Operand::Int(-1), one, odd_power]).into();
            let of_units: Operand = self.code.pure(choose, [sign, of_one, is_minus]).into();
            let is_negative = test(self, Comparison::Lt, b, 0);
            result = self.code.pure(choose, [of_units, result, is_negative]).into();
        }
        Val::Num(self.in_range(result, element))
    }

    /// Shifts. A shift by at least the width gives 0, or the sign.
    fn shifted(&mut self, shift: ptx::Opcode, a: Operand, by: Operand, element: ElementType) -> Val {
        let bits = element.bits().unwrap_or(32);
        let width = bits.max(16);
        let class = class_of(element);
        let limit = i64::from(bits) - 1;
        // An unsigned small number must have zeros above its bits.
        let ty = shift.types().next();
        let keeps_sign = ty.is_some_and(Type::is_signed);
        let a = match ty {
            Some(Type::U16) if bits < 16 => {
                self.code.pure(Name::And.of(Type::B16), [a, Operand::Int((1 << bits) - 1)]).into()
            }
            _ => a,
        };
        let by_bits = match by {
            Operand::Int(n) => {
                let is_beyond = n < 0 || n > limit;
                if is_beyond && !keeps_sign {
                    return Val::Num(Operand::Int(0));
                }
                Operand::Int(if is_beyond { limit } else { n })
            }
            _ => {
                // The count is a 32-bit number for every operand type.
                let count = match class {
                    Class::B64 => {
                        let least = self.code.pure(Name::Min.of(Type::U64), [by, Operand::Int(64)]);
                        self.code.pure(cvt(Type::U32, Type::U64), [least.into()])
                    }
                    Class::B32 => self.code.pure(Name::Min.of(Type::U32), [by, Operand::Int(32)]),
                    _ => {
                        let mask = Operand::Int((1i64 << bits) - 1);
                        let plain = self.code.pure(cvt(Type::U32, Type::U16), [by]);
                        self.code.pure(Name::And.of(Type::B32), [plain.into(), mask])
                    }
                };
                count.into()
            }
        };
        let plain = self.code.pure(shift, [a, by_bits]);
        if matches!(by_bits, Operand::Int(_)) || keeps_sign {
            // The instruction clamps the count to the width.
            return Val::Num(self.in_range(plain.into(), element));
        }
        let is_beyond = self.code.pure(setp(Comparison::Gt, Type::U32), [by_bits, Operand::Int(limit)]);
        let result =
            self.code.pure(Name::Selp.of(Type::b(width)), [Operand::Int(0), plain.into(), is_beyond.into()]);
        Val::Num(self.in_range(result.into(), element))
    }

    /// Brings a number of fewer than 16 bits back into its range.
    pub(super) fn in_range(&mut self, value: Operand, element: ElementType) -> Operand {
        let bits = element.bits().unwrap_or(32);
        if bits >= 16 {
            return value;
        }
        if let Operand::Int(constant) = value {
            let raw = constant as u64 & ((1 << bits) - 1);
            let unused = 64 - bits;
            let signed = ((raw << unused) as i64) >> unused;
            return Operand::Int(if element.is_signed_integer() { signed } else { raw as i64 });
        }
        match (element.is_signed_integer(), bits) {
            (true, 8) => self.code.pure(cvt(Type::S16, Type::S8), [value]).into(),
            (true, _) => {
                let unused = Operand::Int(i64::from(16 - bits));
                let up = self.code.pure(Name::Shl.of(Type::B16), [value, unused]);
                self.code.pure(Name::Shr.of(Type::S16), [up.into(), unused]).into()
            }
            (false, _) => {
                self.code.pure(Name::And.of(Type::B16), [value, Operand::Int((1 << bits) - 1)]).into()
            }
        }
    }
}
