//! Elements of constants as text.

use std::fmt::Write as _;

use syntax::hlo::float_format::{bf16_to_f32, f16_to_f32};

use crate::Result;
use crate::entries::{Entries, Type};
use crate::type_text::{MAX_DEPTH, Nesting};

/// Above this number of elements a constant is written as its bytes, as MLIR does; truth values are always listed, because MLIR has
/// read their bytes in two ways.
const LISTED: u64 = 100;

/// The number of bits of a float by its type's name.
pub(crate) fn bit_width(name: &str) -> Option<u32> {
    Some(match name {
        "f64" => 64,
        "f32" => 32,
        "tf32" => 19,
        "f16" | "bf16" => 16,
        "f4E2M1FN" => 4,
        "f6E2M3FN" | "f6E3M2FN" => 6,
        _ if name.starts_with("f8E") => 8,
        _ => return None,
    })
}

/// The kind of an element.
#[derive(Clone, Copy)]
enum Element {
    Integer { bits: u32, is_unsigned: bool },
    Float { bits: u32, is_brain: bool },
}

impl Element {
    /// The bytes of one element in a blob.
    fn bytes(self) -> usize {
        let (Element::Integer { bits, .. } | Element::Float { bits, .. }) = self;
        (bits as usize).div_ceil(8)
    }

    fn write(self, bytes: &[u8], out: &mut String) {
        let bits = bytes.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        match self {
            Element::Integer { bits: 1, .. } => out.push_str(if bits == 0 { "false" } else { "true" }),
            Element::Integer { bits: _, is_unsigned: true } => _ = write!(out, "{bits}"),
            Element::Integer { bits: width, .. } => {
                let shift = 64 - width.clamp(1, 64);
                _ = write!(out, "{}", (bits << shift).cast_signed() >> shift);
            }
            Element::Float { bits: width, is_brain } => {
                out.push_str(&float(u128::from(bits), width, is_brain))
            }
        }
    }
}

/// A float by its bits: as a decimal number where that is read back as the same bits, else in hexadecimal digits.
pub(crate) fn float(bits: u128, width: u32, is_brain: bool) -> String {
    let value = match (width, is_brain) {
        (64, _) => f64::from_bits(bits as u64),
        (32, _) => {
            let value = f32::from_bits(bits as u32);
            let short = format!("{value:e}");
            if value.is_finite()
                && short.parse::<f64>().is_ok_and(|read| (read as f32).to_bits() == bits as u32)
            {
                return with_point(&short);
            }
            f64::from(value)
        }
        (16, true) => f64::from(bf16_to_f32(bits as u32)),
        (16, false) => f64::from(f16_to_f32(bits as u32)),
        _ => f64::NAN,
    };
    match value.is_finite() {
        true => double(value),
        false => format!("0x{bits:0width$X}", width = (width as usize).div_ceil(4)),
    }
}

/// A finite number as MLIR reads it, which wants a point.
pub(crate) fn double(value: f64) -> String {
    match value.is_finite() {
        true => with_point(&format!("{value:e}")),
        false => format!("0x{:016X}", value.to_bits()),
    }
}

fn with_point(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

impl Entries<'_> {
    /// The shape of a tensor or a vector, and the type of its elements.
    fn shaped(&self, ty: u32) -> Result<Option<(Vec<i64>, u32)>> {
        Ok(match &*self.ty(ty)? {
            Type::Tensor { shape, element, .. } | Type::Vector { shape, element, .. } => {
                Some((shape.clone(), *element))
            }
            _ => None,
        })
    }

    /// The kind of an element, and how many of it make one: two for complex numbers.
    fn element(&self, ty: u32) -> Result<Option<(Element, usize)>> {
        let float = |name: &str| Some(Element::Float { bits: bit_width(name)?, is_brain: name == "bf16" });
        Ok(match &*self.ty(ty)? {
            Type::Integer { width: width @ 1..=64, sign } => {
                Some((Element::Integer { bits: *width as u32, is_unsigned: *sign == "ui" }, 1))
            }
            Type::Name("index") => Some((Element::Integer { bits: 64, is_unsigned: false }, 1)),
            Type::Name(name) => float(name).map(|float| (float, 1)),
            Type::Text(name) => float(name).map(|float| (float, 1)),
            Type::Complex(part) => match &*self.ty(*part)? {
                Type::Name(name) => float(name).map(|float| (float, 2)),
                _ => None,
            },
            _ => None,
        })
    }

    /// `dense<…> : tensor<…>`
    pub(crate) fn write_dense(
        &self,
        ty: u32,
        bytes: &[u8],
        out: &mut String,
        nesting: Nesting,
    ) -> Result<()> {
        let wrong = |message: String| Err(crate::Error { offset: self.type_offset(ty), message });
        let Some((shape, element_type)) = self.shaped(ty)? else {
            return wrong("a constant is of a type without a shape: the file is damaged".to_owned());
        };
        let Some((element, parts)) = self.element(element_type)? else {
            let mut name = String::new();
            self.write_type(element_type, &mut name)?;
            return wrong(format!(
                "constants of {name} are not supported: print the text with the tool that wrote the file"
            ));
        };
        let count =
            shape.iter().try_fold(1u64, |count, extent| count.checked_mul(u64::try_from(*extent).ok()?));
        let Some(count) = count else {
            return wrong("a constant has no size: the file is damaged".to_owned());
        };
        let size = element.bytes() * parts;
        let is_bit = matches!(element, Element::Integer { bits: 1, .. });
        let unpacked;
        let bytes = match is_bit {
            true => {
                unpacked = bits(bytes, count);
                unpacked.as_deref().unwrap_or(bytes)
            }
            false => bytes,
        };
        let is_splat = bytes.len() == size && count != 1;
        if !is_splat && Some(bytes.len() as u64) != count.checked_mul(size as u64) {
            return wrong(format!(
                "a constant of {count} elements has {} bytes: the file is damaged",
                bytes.len()
            ));
        }
        out.push_str("dense<");
        if count > LISTED && !is_splat && !is_bit {
            out.push_str("\"0x");
            for (n, byte) in bytes.iter().enumerate() {
                if n % 4096 == 0 {
                    cancel::tick();
                }
                _ = write!(out, "{byte:02X}");
            }
            out.push('"');
        } else if count > 0 {
            let mut elements = bytes.chunks_exact(size);
            let mut one = |out: &mut String| {
                let bytes = elements.next().unwrap_or_default();
                match parts {
                    2 => {
                        let (real, imaginary) = bytes.split_at(bytes.len() / 2);
                        out.push('(');
                        element.write(real, out);
                        out.push(',');
                        element.write(imaginary, out);
                        out.push(')');
                    }
                    _ => element.write(bytes, out),
                }
            };
            match is_splat {
                true => one(out),
                false => nested(&shape, out, &mut one, 0),
            }
        }
        out.push_str("> : ");
        self.write_inner_type(ty, out, nesting)
    }

    /// `array<i64: 1, 2>`
    pub(crate) fn write_array(&self, element: u32, len: u64, bytes: &[u8], out: &mut String) -> Result<()> {
        let wrong = |message: &str| {
            Err(crate::Error { offset: self.type_offset(element), message: message.to_owned() })
        };
        let Some((kind, 1)) = self.element(element)? else {
            return wrong("an array of elements that are no numbers");
        };
        if len.checked_mul(kind.bytes() as u64) != Some(bytes.len() as u64) {
            return wrong("an array has other elements than it says: the file is damaged");
        }
        out.push_str("array<");
        self.write_type(element, out)?;
        for (n, bytes) in bytes.chunks_exact(kind.bytes()).enumerate() {
            out.push_str(if n == 0 { ": " } else { ", " });
            kind.write(bytes, out);
        }
        out.push('>');
        Ok(())
    }

    /// The elements of a list of integers or truth values.
    pub(crate) fn numbers(&self, ty: u32, bytes: &[u8]) -> Result<Option<Vec<i64>>> {
        let Some((shape, element)) = self.shaped(ty)? else { return Ok(None) };
        let Some((Element::Integer { bits: width, .. }, 1)) = self.element(element)? else { return Ok(None) };
        let count =
            shape.iter().try_fold(1u64, |count, extent| count.checked_mul(u64::try_from(*extent).ok()?));
        let Some(count) = count.filter(|count| *count < 1 << 20) else { return Ok(None) };
        let unpacked = if width == 1 { bits(bytes, count) } else { None };
        let bytes = unpacked.as_deref().unwrap_or(bytes);
        let size = (width as usize).div_ceil(8);
        let number = |bytes: &[u8]| {
            let bits = bytes.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            let shift = if width == 1 { 0 } else { 64 - width.clamp(1, 64) };
            (bits << shift).cast_signed() >> shift
        };
        let read: Vec<i64> = bytes.chunks_exact(size).map(number).collect();
        Ok(match read.as_slice() {
            [splat] => Some(vec![*splat; usize::try_from(count).unwrap_or(0)]),
            read if read.len() as u64 == count => Some(read.to_vec()),
            _ => None,
        })
    }

    fn type_offset(&self, index: u32) -> usize {
        self.file.types.get(index as usize).map_or(0, |entry| entry.offset)
    }
}

/// Truth values of a byte each, from eight to a byte or from a splat. `None` if they have a byte each already.
fn bits(bytes: &[u8], count: u64) -> Option<Vec<u8>> {
    if bytes == [0xff] {
        return Some(vec![1]);
    }
    let is_packed = bytes.len() as u64 == count.div_ceil(8) && bytes.len() as u64 != count;
    is_packed.then(|| (0..usize::try_from(count).unwrap_or(0)).map(|n| bytes[n / 8] >> (n % 8) & 1).collect())
}

/// Lists in lists, one level per dimension.
fn nested(shape: &[i64], out: &mut String, one: &mut impl FnMut(&mut String), depth: usize) {
    let [extent, rest @ ..] = shape else { return one(out) };
    if depth >= MAX_DEPTH {
        return;
    }
    out.push('[');
    for n in 0..*extent {
        if n > 0 {
            out.push_str(", ");
        }
        nested(rest, out, one, depth + 1);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_read_back_as_the_same_bits() {
        let f32 = |value: f32| float(u128::from(value.to_bits()), 32, false);
        assert_eq!([f32(1.0), f32(-0.1), f32(1e-30), f32(-0.0)], ["1.0e+0", "-1.0e-1", "1.0e-30", "-0.0e+0"]);
        assert_eq!([f32(f32::NAN), f32(f32::NEG_INFINITY)], ["0x7FC00000", "0xFF800000"]);
        assert_eq!([float(0x3c00, 16, false), float(0x3f80, 16, true)], ["1.0e+0", "1.0e+0"]);
        assert_eq!([float(0x0001, 16, false), float(0x38, 8, false)], ["5.960464477539063e-8", "0x38"]);
    }
}
