//! Floating-point arithmetic. Functions without an instruction are in `math`.

use ir::ElementTypeExt;
use syntax::hlo::{ElementType, Opcode};

use super::super::lower::{Bf16, Lowering};
use super::super::machine::{Class, Operand};
use super::super::memory::class_of;
use super::super::value::Val;
use crate::constant::Constant;

impl Lowering<'_> {
    /// Whether the device adds, subtracts and multiplies in this type.
    fn is_native(&self, element: ElementType) -> bool {
        match element {
            ElementType::F32 | ElementType::F64 | ElementType::F16 => true,
            ElementType::Bf16 => self.bf16 == Bf16::Full,
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
        let name = from.name();
        let sign = match from {
            ElementType::F64 => 1i64 << 63,
            ElementType::F32 => 1 << 31,
            _ => 1 << (from.bits()? - 1),
        };
        let width = class.bits();
        match opcode {
            Opcode::Negate if self.is_native(from) => {
                return Some(Val::Num(self.op(&format!("neg.{name}"), from, [x]).into()));
            }
            // In the smallest types, negation flips the sign bit.
            Opcode::Negate => {
                return Some(Val::Num(
                    self.op(&format!("xor.b{width}"), from, [x, Operand::Int(sign)]).into(),
                ));
            }
            Opcode::Abs if matches!(from, ElementType::F32 | ElementType::F64) => {
                return Some(Val::Num(self.op(&format!("abs.{name}"), from, [x]).into()));
            }
            // XLA computes it as f32, which shows where results are stored in pairs.
            Opcode::Abs if matches!(from, ElementType::F16 | ElementType::Bf16) => {
                let wide = self.as_f32(x, from)?;
                let size = self.op("abs.f32", ElementType::F32, [wide]).into();
                return self.convert(Val::Num(size), ElementType::F32, from);
            }
            Opcode::Abs => {
                let rest = Operand::Int(sign - 1);
                return Some(Val::Num(self.op(&format!("and.b{width}"), from, [x, rest]).into()));
            }
            Opcode::IsFinite => {
                let (x, kind, infinity) = match from {
                    ElementType::F64 => (x, "f64", Operand::F64(f64::INFINITY.to_bits())),
                    _ => (self.as_f32(x, from)?, "f32", Operand::F32(f32::INFINITY.to_bits())),
                };
                let of = if kind == "f64" { ElementType::F64 } else { ElementType::F32 };
                let magnitude = self.op(&format!("abs.{kind}"), of, [x]);
                let from = [magnitude.into(), infinity];
                return Some(Val::Pred(self.code.pure(format!("setp.lt.{kind}"), Class::Pred, from).into()));
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
        let name = element.name();
        let to_whole = match opcode {
            Opcode::Floor => "cvt.rmi",
            Opcode::Ceil => "cvt.rpi",
            Opcode::RoundNearestEven => "cvt.rni",
            Opcode::Sign => return Some(self.signum(x, element)),
            _ => return None,
        };
        Some(self.op(&format!("{to_whole}.{name}.{name}"), element, [x]).into())
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
        let inverse = self.op("rcp.approx.f32", ElementType::F32, [sum]).into();
        Some(self.convert(Val::Num(inverse), ElementType::F32, element)?.num())
    }

    /// Approximations that are precise enough for numbers with few bits.
    fn approximate(&mut self, opcode: Opcode, x: Operand) -> Operand {
        let element = ElementType::F32;
        if opcode == Opcode::Exponential {
            let scaled = self.op("mul.rn.f32", element, [x, single(std::f32::consts::LOG2_E)]);
            return self.op("ex2.approx.f32", element, [scaled.into()]).into();
        }
        let log = self.op("lg2.approx.f32", element, [x]);
        self.op("mul.rn.f32", element, [log.into(), single(std::f32::consts::LN_2)]).into()
    }

    /// Functions with an instruction.
    fn single_unary(&mut self, opcode: Opcode, x: Operand) -> Option<Operand> {
        let element = ElementType::F32;
        let name = match opcode {
            Opcode::Floor => "cvt.rmi.f32.f32",
            Opcode::Ceil => "cvt.rpi.f32.f32",
            Opcode::RoundNearestEven => "cvt.rni.f32.f32",
            Opcode::Sqrt => "sqrt.approx.f32",
            Opcode::Sign => return Some(self.signum(x, ElementType::F32)),
            Opcode::RoundNearestAfz => return Some(self.round_away(x, ElementType::F32)),
            _ => return self.math_unary(opcode, x, element),
        };
        Some(self.op(name, element, [x]).into())
    }

    fn double_unary(&mut self, opcode: Opcode, x: Operand) -> Option<Operand> {
        let element = ElementType::F64;
        let name = match opcode {
            Opcode::Floor => "cvt.rmi.f64.f64",
            Opcode::Ceil => "cvt.rpi.f64.f64",
            Opcode::RoundNearestEven => "cvt.rni.f64.f64",
            Opcode::Sqrt => "sqrt.rn.f64",
            Opcode::Sign => return Some(self.signum(x, element)),
            Opcode::RoundNearestAfz => return Some(self.round_away(x, element)),
            _ => return self.math_unary(opcode, x, element),
        };
        Some(self.op(name, element, [x]).into())
    }

    /// -1, 0 or 1; zeros and NaN are unchanged.
    fn signum(&mut self, x: Operand, element: ElementType) -> Operand {
        let name = element.name();
        if class_of(element) == Class::B16 {
            let zero = self.in_register(Operand::Int(0), Class::B16);
            let is_number = self.code.pure(format!("setp.ne.{name}"), Class::Pred, [x, zero]).into();
            let sign = self.op("and.b16", element, [x, Operand::Int(0x8000)]);
            let one = Val::constant(Constant::of_int(element, 1)).num();
            let signed = self.op("or.b16", element, [sign.into(), one]);
            return self.op("selp.b16", element, [signed.into(), x, is_number]).into();
        }
        let (one, zero) = match element {
            ElementType::F64 => (Operand::F64(1f64.to_bits()), Operand::F64(0)),
            _ => (Operand::F32(1f32.to_bits()), Operand::F32(0)),
        };
        let unit = self.in_register(one, class_of(element));
        let signed = self.op(&format!("copysign.{name}"), element, [x, unit]);
        let is_number = self.code.pure(format!("setp.ne.{name}"), Class::Pred, [x, zero]);
        let from = [signed.into(), x, is_number.into()];
        self.op(&format!("selp.{name}"), element, from).into()
    }

    /// Rounds to the nearest integer, ties away from zero.
    fn round_away(&mut self, x: Operand, element: ElementType) -> Operand {
        let name = element.name();
        // The largest number below one half: adding one half itself would round up numbers just below it.
        let half = match element {
            ElementType::F64 => Operand::F64(0.5f64.to_bits()),
            _ => Operand::F32(0.5f32.to_bits()),
        };
        let whole = self.op(&format!("cvt.rzi.{name}.{name}"), element, [x]);
        let rest = self.op(&format!("sub.rn.{name}"), element, [x, whole.into()]);
        let size = self.op(&format!("abs.{name}"), element, [rest.into()]);
        let is_half = self.code.pure(format!("setp.ge.{name}"), Class::Pred, [size.into(), half]);
        let one = match element {
            ElementType::F64 => Operand::F64(1f64.to_bits()),
            _ => Operand::F32(1f32.to_bits()),
        };
        let one = self.in_register(one, class_of(element));
        let step = self.op(&format!("copysign.{name}"), element, [x, one]);
        let further = self.op(&format!("add.rn.{name}"), element, [whole.into(), step.into()]);
        self.op(&format!("selp.{name}"), element, [further.into(), whole.into(), is_half.into()]).into()
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
        let name = element.name();
        let simple = match opcode {
            Opcode::Add => Some("add.rn"),
            Opcode::Subtract => Some("sub.rn"),
            Opcode::Multiply => Some("mul.rn"),
            _ => None,
        };
        if element == ElementType::Bf16 && self.bf16 == Bf16::Fused && simple.is_some() {
            return Some(Val::Num(self.fused_bf16(opcode, a, b)));
        }
        if let Some(simple) = simple
            && self.is_native(element)
        {
            let (a, b) = (self.in_register(a, class), self.constant_allowed(b, element));
            return Some(Val::Num(self.op(&format!("{simple}.{name}"), element, [a, b]).into()));
        }
        if element == ElementType::F64 {
            return self.wide_binary(opcode, a, b, element, simple).map(Val::Num);
        }
        let least_or_greatest = match opcode {
            Opcode::Maximum => Some("max.NaN"),
            Opcode::Minimum => Some("min.NaN"),
            _ => None,
        };
        if let Some(base) = least_or_greatest
            && matches!(element, ElementType::F16 | ElementType::Bf16)
            && self.bf16 != Bf16::None
        {
            let (a, b) = (self.in_register(a, class), self.in_register(b, class));
            return Some(Val::Num(self.op(&format!("{base}.{name}"), element, [a, b]).into()));
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
        self.op("fma.rn.bf16", ElementType::Bf16, from).into()
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
        simple: Option<&str>,
    ) -> Option<Operand> {
        let name = element.name();
        let a = self.in_register(a, class_of(element));
        if let Some(simple) = simple {
            return Some(self.op(&format!("{simple}.{name}"), element, [a, b]).into());
        }
        Some(match opcode {
            Opcode::Divide if element == ElementType::F64 => self.op("div.rn.f64", element, [a, b]).into(),
            Opcode::Divide => self.op("div.full.f32", element, [a, b]).into(),
            Opcode::Maximum | Opcode::Minimum => {
                let base = if opcode == Opcode::Maximum { "max" } else { "min" };
                if element == ElementType::F32 {
                    self.op(&format!("{base}.NaN.f32"), element, [a, b]).into()
                } else {
                    // The instruction ignores a NaN operand; HLO propagates it.
                    let plain = self.op(&format!("{base}.f64"), element, [a, b]);
                    let is_nan = self.code.pure("setp.nan.f64", Class::Pred, [a, b]);
                    let nan = self.op("add.rn.f64", element, [a, b]);
                    self.op("selp.f64", element, [nan.into(), plain.into(), is_nan.into()]).into()
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
