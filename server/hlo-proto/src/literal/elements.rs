//! The elements of a literal's text as codes, in the order of memory.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc`, ParseDenseLiteral and SetValueInLiteral.

use ir::{ArrayShape, complex_parts, literal_elements};
use syntax::hlo::{ElementType, FloatFormat, Specials};

use super::codes::{integer_bits, per_element, quiet_nan};
use super::{Order, codes};

/// The largest literal that is written: more codes than this take more memory than a message may have.
const MAX_CODES: usize = 1 << 28;

/// `None` where the text leaves out elements.
pub(super) fn codes(text: &str, array: &ArrayShape) -> Result<Option<Vec<u64>>, String> {
    let per_element = per_element(array.element);
    let count = array.elements().and_then(|n| usize::try_from(n).ok()?.checked_mul(per_element));
    let count = count
        .filter(|&n| n <= MAX_CODES)
        .ok_or_else(|| format!("a literal of shape {array} is too large"))?;
    if codes::per_element(array.element) == 1
        && integer_bits(array.element).is_none()
        && FloatFormat::of(array.element).is_none()
        && array.element != ElementType::Pred
    {
        return Err(format!("a literal of shape {array}"));
    }
    // Elements that are not written are zero, as those after a bare value for an array are.
    let mut codes = vec![0; count];
    let order = Order::of(array);
    let mut index = vec![0i64; array.rank()];
    for (number, element) in literal_elements(text).enumerate() {
        cancel::tick();
        if element == "..." {
            return Ok(None);
        }
        if number * per_element >= count {
            return Err(format!("more than {} elements for {array}", count / per_element));
        }
        let at = order.place(&index) * per_element;
        match complex_parts(element).filter(|_| per_element == 2) {
            Some((real, imaginary)) => {
                codes[at] = code(real, array.element)?;
                codes[at + 1] = code(imaginary, array.element)?;
            }
            None => codes[at] = code(element, array.element)?,
        }
        for dim in (0..array.rank()).rev() {
            index[dim] += 1;
            if index[dim] < array.dims[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    Ok(Some(codes))
}

fn code(text: &str, element: ElementType) -> Result<u64, String> {
    let fault = || format!("{text} is no value of type {element}");
    if element == ElementType::Pred {
        return match text {
            "true" => Ok(1),
            "false" => Ok(0),
            _ => text.parse::<i64>().map(|value| u64::from(value != 0)).map_err(|_| fault()),
        };
    }
    match integer_bits(element) {
        Some((bits, _)) => {
            let value: i128 = match text {
                "true" => 1,
                "false" => 0,
                _ => text.parse().map_err(|_| fault())?,
            };
            let range = -(1i128 << (bits - 1))..1 << bits;
            let value = if range.contains(&value) { value as u64 } else { return Err(fault()) };
            Ok(value & (u64::MAX >> (64 - bits)))
        }
        None => float_code(text, element).ok_or_else(fault),
    }
}

fn float_code(text: &str, element: ElementType) -> Option<u64> {
    let format = FloatFormat::of(element)?;
    let (is_negative, word) = match text.strip_prefix('-') {
        Some(word) => (true, word),
        None => (false, text),
    };
    let sign = u64::from(is_negative) << (format.exponent + format.mantissa);
    if let Some(payload) = word.strip_prefix("nan") {
        return Some(match format.specials {
            Specials::Ieee => {
                let digits = payload.strip_prefix("(0x").and_then(|payload| payload.strip_suffix(')'));
                let payload = match digits {
                    Some(digits) => u64::from_str_radix(digits, 16).ok()? & ((1 << format.mantissa) - 1),
                    None => quiet_nan(format),
                };
                sign | ((1 << format.exponent) - 1) << format.mantissa | payload
            }
            Specials::Finite => sign | ((1 << (format.exponent + format.mantissa)) - 1),
            Specials::FiniteUnsignedZero => 1 << (format.exponent + format.mantissa),
            Specials::PowersOfTwo => 0xff,
            Specials::NumbersOnly => return None,
        });
    }
    // A token without point and exponent is an integer, which has no negative zero.
    let value = match text.parse::<i64>() {
        Ok(value) => value as f64,
        Err(_) => text.parse::<f64>().ok()?,
    };
    Some(match element {
        ElementType::F32 | ElementType::C64 => (value as f32).to_bits().into(),
        ElementType::F64 | ElementType::C128 => value.to_bits(),
        _ => format.encode(value, false),
    })
}
