//! Integers. Division by zero gives all ones, a remainder by zero the dividend, a shift beyond the width 0 or
//! the sign.

use ir::ElementTypeExt;
use syntax::hlo::{ElementType, Opcode};

use super::super::lower::Lowering;
use super::super::machine::{Class, Operand};
use super::super::memory::class_of;
use super::super::value::Val;

impl Lowering<'_> {
    pub(super) fn integer_unary(&mut self, opcode: Opcode, a: Val, element: ElementType) -> Option<Val> {
        let bits = element.bits()?;
        let width = bits.max(16);
        let a = self.in_register(a.num(), class_of(element));
        let result = match opcode {
            Opcode::Negate => self.op(&format!("neg.s{width}"), element, [a]),
            Opcode::Not => self.op(&format!("not.b{width}"), element, [a]),
            Opcode::Abs if element.is_unsigned_integer() => return Some(Val::Num(a)),
            Opcode::Abs => self.op(&format!("abs.s{width}"), element, [a]),
            Opcode::Sign if element.is_unsigned_integer() => {
                self.op(&format!("min.u{width}"), element, [a, Operand::Int(1)])
            }
            Opcode::Sign => {
                let below = self.op(&format!("max.s{width}"), element, [a, Operand::Int(-1)]);
                self.op(&format!("min.s{width}"), element, [below.into(), Operand::Int(1)])
            }
            Opcode::Popcnt | Opcode::CountLeadingZeros => return self.counted(opcode, a, element, bits),
            _ => return None,
        };
        Some(Val::Num(self.in_range(result.into(), element)))
    }

    fn counted(&mut self, opcode: Opcode, a: Operand, element: ElementType, bits: u32) -> Option<Val> {
        let wide = if bits == 64 { 64 } else { 32 };
        let class = Class::of_bits(wide);
        let mut x = a;
        if bits < 32 {
            let plain = self.code.pure("cvt.u32.u16", Class::B32, [x]);
            let mask = Operand::Int((1i64 << bits) - 1);
            x = self.code.pure("and.b32", class, [plain.into(), mask]).into();
        }
        let name = if opcode == Opcode::Popcnt { "popc.b" } else { "clz.b" };
        // Both instructions count into 32 bits.
        let mut count = self.code.pure(format!("{name}{wide}"), Class::B32, [x]);
        if opcode == Opcode::CountLeadingZeros && bits < 32 {
            count = self.code.pure("sub.s32", Class::B32, [count.into(), Operand::Int(i64::from(32 - bits))]);
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
        let sign = if element.is_signed_integer() { "s" } else { "u" };
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
            Opcode::Add => self.op(&format!("add.s{width}"), element, [a, b]),
            Opcode::Subtract => self.op(&format!("sub.s{width}"), element, [a, b]),
            Opcode::Multiply => self.op(&format!("mul.lo.s{width}"), element, [a, b]),
            Opcode::Maximum => self.op(&format!("max.{sign}{width}"), element, [a, b]),
            Opcode::Minimum => self.op(&format!("min.{sign}{width}"), element, [a, b]),
            Opcode::And => self.op(&format!("and.b{width}"), element, [a, b]),
            Opcode::Or => self.op(&format!("or.b{width}"), element, [a, b]),
            Opcode::Xor => self.op(&format!("xor.b{width}"), element, [a, b]),
            Opcode::Mulhi if bits >= 16 => self.op(&format!("mul.hi.{sign}{width}"), element, [a, b]),
            Opcode::Power => return Some(self.raised(a, b, element)),
            Opcode::Divide => return Some(self.divided(a, b, element, width, sign)),
            Opcode::Remainder => return Some(self.remainder(a, b, element, width, sign)),
            Opcode::ShiftLeft => return Some(self.shifted("shl.b", a, b, element, false)),
            Opcode::ShiftRightLogical => return Some(self.shifted("shr.u", a, b, element, false)),
            Opcode::ShiftRightArithmetic => return Some(self.shifted("shr.s", a, b, element, true)),
            _ => return None,
        };
        Some(Val::Num(self.in_range(result.into(), element)))
    }

    fn divided(&mut self, a: Operand, b: Operand, element: ElementType, width: u32, sign: &str) -> Val {
        let minus_one = Operand::Int(-1);
        if let Operand::Int(0) = b {
            return Val::Num(self.in_range(minus_one, element));
        }
        // The minimum divided by -1 is the minimum, which the instruction does not guarantee.
        if let (Operand::Int(-1), "s") = (b, sign) {
            let negated = self.op(&format!("neg.s{width}"), element, [a]);
            return Val::Num(self.in_range(negated.into(), element));
        }
        let quotient = |e: &mut Self, b: Operand| e.op(&format!("div.{sign}{width}"), element, [a, b]);
        if matches!(b, Operand::Int(_)) {
            let plain = quotient(self, b);
            return Val::Num(self.in_range(plain.into(), element));
        }
        let is_zero = self.code.pure(format!("setp.eq.s{width}"), Class::Pred, [b, Operand::Int(0)]);
        let safe = self.op(&format!("selp.b{width}"), element, [Operand::Int(1), b, is_zero.into()]);
        let plain = if sign == "s" {
            let is_minus = self.code.pure(format!("setp.eq.s{width}"), Class::Pred, [b, minus_one]);
            let divisor =
                self.op(&format!("selp.b{width}"), element, [Operand::Int(1), safe.into(), is_minus.into()]);
            let plain = quotient(self, divisor.into());
            let negated = self.op(&format!("neg.s{width}"), element, [a]);
            self.op(&format!("selp.b{width}"), element, [negated.into(), plain.into(), is_minus.into()])
        } else {
            quotient(self, safe.into())
        };
        let result = self.op(&format!("selp.b{width}"), element, [minus_one, plain.into(), is_zero.into()]);
        Val::Num(self.in_range(result.into(), element))
    }

    fn remainder(&mut self, a: Operand, b: Operand, element: ElementType, width: u32, sign: &str) -> Val {
        match b {
            Operand::Int(0) => return Val::Num(a),
            Operand::Int(-1) if sign == "s" => return Val::Num(Operand::Int(0)),
            Operand::Int(_) => {
                let rest = self.op(&format!("rem.{sign}{width}"), element, [a, b]);
                return Val::Num(rest.into());
            }
            _ => {}
        }
        let is_zero = self.code.pure(format!("setp.eq.s{width}"), Class::Pred, [b, Operand::Int(0)]);
        let mut safe = self.op(&format!("selp.b{width}"), element, [Operand::Int(1), b, is_zero.into()]);
        if sign == "s" {
            // The remainder by -1 equals the remainder by 1.
            let is_minus = self.code.pure(format!("setp.eq.s{width}"), Class::Pred, [b, Operand::Int(-1)]);
            safe =
                self.op(&format!("selp.b{width}"), element, [Operand::Int(1), safe.into(), is_minus.into()]);
        }
        let rest = self.op(&format!("rem.{sign}{width}"), element, [a, safe.into()]);
        Val::Num(self.op(&format!("selp.b{width}"), element, [a, rest.into(), is_zero.into()]).into())
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
        let multiply = format!("mul.lo.s{width}");
        let choose = format!("selp.b{width}");
        let has = |e: &mut Self, x: Operand, bit: i64| -> Operand {
            let masked = e.op(&format!("and.b{width}"), element, [x, Operand::Int(bit)]);
            e.code.pure(format!("setp.ne.s{width}"), Class::Pred, [masked.into(), Operand::Int(0)]).into()
        };
        let (mut result, mut square) = (one, a);
        for round in 0..6 {
            let is_set = has(self, b, 1 << round);
            let factor: Operand = self.op(&choose, element, [square, one, is_set]).into();
            result = if round == 0 { factor } else { self.op(&multiply, element, [result, factor]).into() };
            if round < 5 {
                square = self.op(&multiply, element, [square, square]).into();
            }
        }
        let is_odd = has(self, a, 1);
        let large: Operand = self.op(&choose, element, [result, Operand::Int(0), is_odd]).into();
        let is_large = self.code.pure(format!("setp.gt.u{width}"), Class::Pred, [b, Operand::Int(63)]);
        result = self.op(&choose, element, [large, result, is_large.into()]).into();
        if element.is_signed_integer() {
            let odd_power = has(self, b, 1);
            let test = |e: &mut Self, name: &str, x: Operand, value: i64| -> Operand {
                e.code.pure(format!("setp.{name}.s{width}"), Class::Pred, [x, Operand::Int(value)]).into()
            };
            let (is_one, is_minus) = (test(self, "eq", a, 1), test(self, "eq", a, -1));
            let of_one: Operand = self.op(&choose, element, [one, Operand::Int(0), is_one]).into();
            let sign: Operand = self.op(&choose, element, [Operand::Int(-1), one, odd_power]).into();
            let of_units: Operand = self.op(&choose, element, [sign, of_one, is_minus]).into();
            let is_negative = test(self, "lt", b, 0);
            result = self.op(&choose, element, [of_units, result, is_negative]).into();
        }
        Val::Num(self.in_range(result, element))
    }

    /// Shifts. A shift by at least the width gives 0, or the sign.
    fn shifted(
        &mut self,
        name: &str,
        a: Operand,
        by: Operand,
        element: ElementType,
        keeps_sign: bool,
    ) -> Val {
        let bits = element.bits().unwrap_or(32);
        let width = bits.max(16);
        let class = class_of(element);
        let limit = i64::from(bits) - 1;
        // An unsigned small number must have zeros above its bits.
        let a = match (name, bits < 16) {
            ("shr.u", true) => self.op("and.b16", element, [a, Operand::Int((1 << bits) - 1)]).into(),
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
                        let least = self.code.pure("min.u64", Class::B64, [by, Operand::Int(64)]);
                        self.code.pure("cvt.u32.u64", Class::B32, [least.into()])
                    }
                    Class::B32 => self.code.pure("min.u32", Class::B32, [by, Operand::Int(32)]),
                    _ => {
                        let mask = Operand::Int((1i64 << bits) - 1);
                        let plain = self.code.pure("cvt.u32.u16", Class::B32, [by]);
                        self.code.pure("and.b32", Class::B32, [plain.into(), mask])
                    }
                };
                count.into()
            }
        };
        let plain = self.op(&format!("{name}{width}"), element, [a, by_bits]);
        if matches!(by_bits, Operand::Int(_)) || keeps_sign {
            // The instruction clamps the count to the width.
            return Val::Num(self.in_range(plain.into(), element));
        }
        let is_beyond = self.code.pure("setp.gt.u32", Class::Pred, [by_bits, Operand::Int(limit)]);
        let result =
            self.op(&format!("selp.b{width}"), element, [Operand::Int(0), plain.into(), is_beyond.into()]);
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
            (true, 8) => self.code.pure("cvt.s16.s8", Class::B16, [value]).into(),
            (true, _) => {
                let unused = Operand::Int(i64::from(16 - bits));
                let up = self.code.pure("shl.b16", Class::B16, [value, unused]);
                self.code.pure("shr.s16", Class::B16, [up.into(), unused]).into()
            }
            (false, _) => {
                self.code.pure("and.b16", Class::B16, [value, Operand::Int((1 << bits) - 1)]).into()
            }
        }
    }
}
