//! Floating-point arithmetic. Functions without an instruction are in `math`.

use ir::ElementTypeExt;
use ptx::{Comparison, Modifier, Name, Rounding, Type, rounding_cvt, setp};
use syntax::hlo::{ElementType, Opcode};

use super::super::element::{class_of, float_type};
use super::super::features::Bf16;
use super::super::machine::{Class, Operand};
use super::super::value::Val;
use super::Scalars;
use crate::constant::Constant;

impl Scalars<'_> {
    /// Whether the device adds, subtracts and multiplies in this type.
    fn is_native(&self, element: ElementType) -> bool {
        match element {
            ElementType::F32 | ElementType::F64 | ElementType::F16 => true,
            ElementType::Bf16 => self.features.bf16 == Bf16::Full,
            _ => false,
        }
    }

    pub(super) fn float_unary(
        &mut self,
        opcode: Opcode,
        a: Val,
        from: ElementType,
        to: ElementType,
    ) -> Option<Val> {
        let class = class_of(from);
        let x = self.in_register(a.num(), class);
        let ty = float_type(from);
        let sign = match from {
            ElementType::F64 => 1i64 << 63,
            ElementType::F32 => 1 << 31,
            _ => 1 << (from.bits()? - 1),
        };
        let width = class.bits();
        match opcode {
            Opcode::Negate if self.is_native(from) => {
                return Some(Val::Num(self.code.pure(Name::Neg.of(ty), [x]).into()));
            }
            // In the smallest types, negation flips the sign bit.
            Opcode::Negate => {
                return Some(Val::Num(
                    self.code.pure(Name::Xor.of(Type::b(width)), [x, Operand::Int(sign)]).into(),
                ));
            }
            Opcode::Abs if matches!(from, ElementType::F32 | ElementType::F64) => {
                return Some(Val::Num(self.code.pure(Name::Abs.of(ty), [x]).into()));
            }
            // XLA computes it as f32, which shows where results are stored in pairs.
            Opcode::Abs if matches!(from, ElementType::F16 | ElementType::Bf16) => {
                let wide = self.as_f32(x, from)?;
                let size = self.code.pure(Name::Abs.of(Type::F32), [wide]).into();
                return self.convert(Val::Num(size), ElementType::F32, from);
            }
            Opcode::Abs => {
                let rest = Operand::Int(sign - 1);
                return Some(Val::Num(self.code.pure(Name::And.of(Type::b(width)), [x, rest]).into()));
            }
            Opcode::IsFinite => {
                let (x, ty, infinity) = match from {
                    ElementType::F64 => (x, Type::F64, Operand::F64(f64::INFINITY.to_bits())),
                    _ => (self.as_f32(x, from)?, Type::F32, Operand::F32(f32::INFINITY.to_bits())),
                };
                let magnitude = self.code.pure(Name::Abs.of(ty), [x]);
                let from = [magnitude.into(), infinity];
                return Some(Val::Pred(self.code.pure(setp(Comparison::Lt, ty), from).into()));
            }
            Opcode::Real => return Some(a),
            Opcode::Imag => return Some(Val::constant(Constant::zero(to))),
            _ => {}
        }
        if from == ElementType::F64 {
            return self.double_unary(opcode, x).map(Val::Num);
        }
        if let Some(result) = self.half_unary(opcode, x, from) {
            return Some(Val::Num(result));
        }
        let wide = self.as_f32(x, from)?;
        let result = match opcode {
            Opcode::Exponential | Opcode::Log if from != ElementType::F32 => self.approximate(opcode, wide),
            _ => self.single_unary(opcode, wide)?,
        };
        self.convert(Val::Num(result), ElementType::F32, to)
    }

    /// Functions with 16-bit instructions, and functions for which XLA rounds each step.
    fn half_unary(&mut self, opcode: Opcode, x: Operand, element: ElementType) -> Option<Operand> {
        if !matches!(element, ElementType::F16 | ElementType::Bf16) {
            return None;
        }
        if opcode == Opcode::Logistic {
            return self.half_logistic(x, element);
        }
        if !self.is_native(element) {
            return None;
        }
        let ty = float_type(element);
        let to_whole = match opcode {
            Opcode::Floor => Rounding::Rmi,
            Opcode::Ceil => Rounding::Rpi,
            Opcode::RoundNearestEven => Rounding::Rni,
            Opcode::Sign => return Some(self.signum(x, element)),
            _ => return None,
        };
        Some(self.code.pure(rounding_cvt(to_whole, ty, ty), [x]).into())
    }

    /// 1 / (1 + e^-x), with negation, exponential, sum and quotient each rounded.
    fn half_logistic(&mut self, x: Operand, element: ElementType) -> Option<Operand> {
        let minus = self.float_unary(Opcode::Negate, Val::Num(x), element, element)?.num();
        let minus = self.as_f32(minus, element)?;
        let power = self.math_unary(Opcode::Exponential, minus, ElementType::F32)?;
        let power = self.convert(Val::Num(power), ElementType::F32, element)?;
        let one = Val::constant(Constant::of_int(element, 1));
        let sum = self.float_binary(Opcode::Add, power, one, element)?.num();
        let sum = self.as_f32(sum, element)?;
        let inverse = self.code.pure(Name::Rcp.with(Modifier::Approx, Type::F32), [sum]).into();
        Some(self.convert(Val::Num(inverse), ElementType::F32, element)?.num())
    }

    /// Approximations that are precise enough for numbers with few bits.
    fn approximate(&mut self, opcode: Opcode, x: Operand) -> Operand {
        if opcode == Opcode::Exponential {
            let scaled = self.code.pure(Name::Mul.rn(Type::F32), [x, single(std::f32::consts::LOG2_E)]);
            return self.code.pure(Name::Ex2.with(Modifier::Approx, Type::F32), [scaled.into()]).into();
        }
        let log = self.code.pure(Name::Lg2.with(Modifier::Approx, Type::F32), [x]);
        self.code.pure(Name::Mul.rn(Type::F32), [log.into(), single(std::f32::consts::LN_2)]).into()
    }

    /// Functions with an instruction.
    fn single_unary(&mut self, opcode: Opcode, x: Operand) -> Option<Operand> {
        let element = ElementType::F32;
        let name = match opcode {
            Opcode::Floor => rounding_cvt(Rounding::Rmi, Type::F32, Type::F32),
            Opcode::Ceil => rounding_cvt(Rounding::Rpi, Type::F32, Type::F32),
            Opcode::RoundNearestEven => rounding_cvt(Rounding::Rni, Type::F32, Type::F32),
            Opcode::Sqrt => Name::Sqrt.with(Modifier::Approx, Type::F32),
            Opcode::Sign => return Some(self.signum(x, ElementType::F32)),
            Opcode::RoundNearestAfz => return Some(self.round_away(x, ElementType::F32)),
            _ => return self.math_unary(opcode, x, element),
        };
        Some(self.code.pure(name, [x]).into())
    }

    fn double_unary(&mut self, opcode: Opcode, x: Operand) -> Option<Operand> {
        let element = ElementType::F64;
        let name = match opcode {
            Opcode::Floor => rounding_cvt(Rounding::Rmi, Type::F64, Type::F64),
            Opcode::Ceil => rounding_cvt(Rounding::Rpi, Type::F64, Type::F64),
            Opcode::RoundNearestEven => rounding_cvt(Rounding::Rni, Type::F64, Type::F64),
            Opcode::Sqrt => Name::Sqrt.rn(Type::F64),
            Opcode::Sign => return Some(self.signum(x, element)),
            Opcode::RoundNearestAfz => return Some(self.round_away(x, element)),
            _ => return self.math_unary(opcode, x, element),
        };
        Some(self.code.pure(name, [x]).into())
    }

    /// -1, 0 or 1; zeros and NaN are unchanged.
    fn signum(&mut self, x: Operand, element: ElementType) -> Operand {
        let ty = float_type(element);
        if class_of(element) == Class::B16 {
            let zero = self.in_register(Operand::Int(0), Class::B16);
            let is_number = self.code.pure(setp(Comparison::Ne, ty), [x, zero]).into();
            let sign = self.code.pure(Name::And.of(Type::B16), [x, Operand::Int(0x8000)]);
            let one = Val::constant(Constant::of_int(element, 1)).num();
            let signed = self.code.pure(Name::Or.of(Type::B16), [sign.into(), one]);
            return self.code.pure(Name::Selp.of(Type::B16), [signed.into(), x, is_number]).into();
        }
        let (one, zero) = match element {
            ElementType::F64 => (Operand::F64(1f64.to_bits()), Operand::F64(0)),
            _ => (Operand::F32(1f32.to_bits()), Operand::F32(0)),
        };
        let unit = self.in_register(one, class_of(element));
        let signed = self.code.pure(Name::Copysign.of(ty), [x, unit]);
        let is_number = self.code.pure(setp(Comparison::Ne, ty), [x, zero]);
        let from = [signed.into(), x, is_number.into()];
        self.code.pure(Name::Selp.of(ty), from).into()
    }

    /// Rounds to the nearest integer, ties away from zero.
    fn round_away(&mut self, x: Operand, element: ElementType) -> Operand {
        let ty = float_type(element);
        // The largest number below one half: adding one half itself would round up numbers just below it.
        let half = match element {
            ElementType::F64 => Operand::F64(0.5f64.to_bits()),
            _ => Operand::F32(0.5f32.to_bits()),
        };
        let whole = self.code.pure(rounding_cvt(Rounding::Rzi, ty, ty), [x]);
        let rest = self.code.pure(Name::Sub.rn(ty), [x, whole.into()]);
        let size = self.code.pure(Name::Abs.of(ty), [rest.into()]);
        let is_half = self.code.pure(setp(Comparison::Ge, ty), [size.into(), half]);
        let one = match element {
            ElementType::F64 => Operand::F64(1f64.to_bits()),
            _ => Operand::F32(1f32.to_bits()),
        };
        let one = self.in_register(one, class_of(element));
        let step = self.code.pure(Name::Copysign.of(ty), [x, one]);
        let further = self.code.pure(Name::Add.rn(ty), [whole.into(), step.into()]);
        self.code.pure(Name::Selp.of(ty), [further.into(), whole.into(), is_half.into()]).into()
    }

    pub(super) fn float_binary(
        &mut self,
        opcode: Opcode,
        a: Val,
        b: Val,
        element: ElementType,
    ) -> Option<Val> {
        let class = class_of(element);
        let (a, b) = (a.num(), b.num());
        let ty = float_type(element);
        let simple = match opcode {
            Opcode::Add => Some(Name::Add),
            Opcode::Subtract => Some(Name::Sub),
            Opcode::Multiply => Some(Name::Mul),
            _ => None,
        };
        if element == ElementType::Bf16 && self.features.bf16 == Bf16::Fused && simple.is_some() {
            return Some(Val::Num(self.fused_bf16(opcode, a, b)));
        }
        if let Some(simple) = simple
            && self.is_native(element)
        {
            let (a, b) = (self.in_register(a, class), self.constant_allowed(b, element));
            return Some(Val::Num(self.code.pure(simple.rn(ty), [a, b]).into()));
        }
        if element == ElementType::F64 {
            return self.wide_binary(opcode, a, b, element, simple).map(Val::Num);
        }
        let least_or_greatest = match opcode {
            Opcode::Maximum => Some(Name::Max),
            Opcode::Minimum => Some(Name::Min),
            _ => None,
        };
        if let Some(base) = least_or_greatest
            && matches!(element, ElementType::F16 | ElementType::Bf16)
            && self.features.bf16 != Bf16::None
        {
            let (a, b) = (self.in_register(a, class), self.in_register(b, class));
            return Some(Val::Num(self.code.pure(base.with(Modifier::Nan, ty), [a, b]).into()));
        }
        let wide = (self.as_f32(a, element)?, self.as_f32(b, element)?);
        let result = self.wide_binary(opcode, wide.0, wide.1, ElementType::F32, simple)?;
        self.convert(Val::Num(result), ElementType::F32, element)
    }

    /// Computes `a + b` as `a * 1 + b`, and `a * b` as `a * b + -0`.
    fn fused_bf16(&mut self, opcode: Opcode, a: Operand, b: Operand) -> Operand {
        const ONE: i64 = 0x3f80;
        const MINUS_ONE: i64 = 0xbf80;
        const MINUS_ZERO: i64 = 0x8000;
        let from = match opcode {
            Opcode::Add => [a, Operand::Int(ONE), b],
            Opcode::Subtract => [b, Operand::Int(MINUS_ONE), a],
            _ => [a, b, Operand::Int(MINUS_ZERO)],
        };
        let from = from.map(|operand| self.in_register(operand, Class::B16));
        self.code.pure(Name::Fma.rn(Type::Bf16), from).into()
    }

    /// Moves a 16-bit constant to a register.
    fn constant_allowed(&mut self, b: Operand, element: ElementType) -> Operand {
        match class_of(element) {
            Class::B16 => self.in_register(b, Class::B16),
            _ => b,
        }
    }

    fn wide_binary(
        &mut self,
        opcode: Opcode,
        a: Operand,
        b: Operand,
        element: ElementType,
        simple: Option<Name>,
    ) -> Option<Operand> {
        let ty = float_type(element);
        let a = self.in_register(a, class_of(element));
        if let Some(simple) = simple {
            return Some(self.code.pure(simple.rn(ty), [a, b]).into());
        }
        Some(match opcode {
            Opcode::Divide if element == ElementType::F64 => {
                self.code.pure(Name::Div.rn(Type::F64), [a, b]).into()
            }
            Opcode::Divide => self.code.pure(Name::Div.with(Modifier::Full, Type::F32), [a, b]).into(),
            Opcode::Maximum | Opcode::Minimum => {
                let base = if opcode == Opcode::Maximum { Name::Max } else { Name::Min };
                if element == ElementType::F32 {
                    self.code.pure(base.with(Modifier::Nan, Type::F32), [a, b]).into()
                } else {
                    // The instruction ignores a NaN operand; HLO propagates it.
                    let plain = self.code.pure(base.of(Type::F64), [a, b]);
                    let is_nan = self.code.pure(setp(Comparison::Nan, Type::F64), [a, b]);
                    let nan = self.code.pure(Name::Add.rn(Type::F64), [a, b]);
                    self.code.pure(Name::Selp.of(Type::F64), [nan.into(), plain.into(), is_nan.into()]).into()
                }
            }
            _ => return self.math_binary(opcode, a, b, element),
        })
    }

    /// Converts the number to `f32`.
    pub(super) fn as_f32(&mut self, x: Operand, element: ElementType) -> Option<Operand> {
        match element {
            ElementType::F32 => Some(x),
            _ => self.convert(Val::Num(x), element, ElementType::F32).map(Val::num),
        }
    }
}

fn single(value: f32) -> Operand {
    Operand::F32(value.to_bits())
}
