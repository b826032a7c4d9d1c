//! Rules for functions of one number: `abs`, `exponential`, `log`, `power`, `rsqrt`, and the parts of complex numbers.
//! Source: `HandleAbs`, `HandleExp`, `HandleLog`, `HandlePower`, `HandleRsqrt`, `HandleComplex`, `HandleReal`, `HandleImag`.

use ir::Opcode;

use super::rewriter::{Id, Rewriter};

pub(super) fn abs(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    if r.is_nonnegative(operand) {
        r.replace(id, operand, "is never negative");
    }
}

pub(super) fn exponential(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let scalar = match r.is_scalar_constant(operand) {
        true => Some(operand),
        false => r.broadcast_scalar_constant(operand),
    };
    if scalar.is_some_and(|scalar| r.is_zero_constant(scalar)) {
        let one = r.scalar_like(id, 1.0);
        r.replace(id, one, "has exponent zero");
    }
}

pub(super) fn log(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let shape = r.shape(id).clone();
    if let Some((a, b)) = r.operands_of(operand, Opcode::Power) {
        let base = match r.is_complex(a) {
            true => a,
            false => r.plain(Opcode::Abs, shape.clone(), &[a], id),
        };
        let logarithm = r.plain(Opcode::Log, shape.clone(), &[base], id);
        let product = r.plain(Opcode::Multiply, shape.clone(), &[logarithm, b], operand);
        let zero = r.scalar_like(b, 0.0);
        let is_zero = r.compare(b, zero, "EQ", id);
        let zero = r.scalar_like(id, 0.0);
        let new = r.plain(Opcode::Select, shape, &[is_zero, zero, product], id);
        r.replace(id, new, "multiplies by the exponent");
        return;
    }
    for (root, factor) in [(Opcode::Sqrt, 0.5), (Opcode::Rsqrt, -0.5)] {
        if let Some(a) = r.operand_of(operand, root) {
            let logarithm = r.plain(Opcode::Log, shape.clone(), &[a], id);
            let factor = r.scalar_like(id, factor);
            let new = r.plain(Opcode::Multiply, shape, &[logarithm, factor], id);
            r.replace(id, new, "multiplies by the exponent");
            return;
        }
    }
}

pub(super) fn power(r: &mut Rewriter<'_, '_>, id: Id) {
    let (base, exponent) = (r.operand(id, 0), r.operand(id, 1));
    let shape = r.shape(id).clone();
    if r.is_all(exponent, 0.0) {
        let one = r.scalar_like(id, 1.0);
        r.replace(id, one, "has exponent zero");
        return;
    }
    if r.is_all(exponent, 1.0) && r.replace_if_same(id, base, "has exponent one") {
        return;
    }
    let (new, rule) = if let Some(a) = r.operand_of(base, Opcode::Exponential) {
        let product = r.plain(Opcode::Multiply, shape.clone(), &[a, exponent], id);
        (r.plain(Opcode::Exponential, shape, &[product], id), "multiplies the exponents")
    } else if r.is_all(exponent, 2.0) {
        (r.plain(Opcode::Multiply, shape, &[base, base], id), "is a square")
    } else if r.is_all(exponent, 3.0) {
        let square = r.plain(Opcode::Multiply, shape.clone(), &[base, base], id);
        (r.plain(Opcode::Multiply, shape, &[base, square], id), "is a cube")
    } else if r.is_all(exponent, -1.0) {
        let one = r.scalar_like(base, 1.0);
        (r.plain(Opcode::Divide, shape, &[one, base], id), "is an inverse")
    } else if r.is_float(exponent) && r.is_all(exponent, 0.5) && r.is_nonnegative(base) {
        (r.plain(Opcode::Sqrt, shape, &[base], id), "is a square root")
    } else {
        return;
    };
    r.replace(id, new, rule);
}

pub(super) fn rsqrt(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    if let Some((a, exponent)) = r.operands_of(operand, Opcode::Power)
        && r.is_all(exponent, -2.0)
        && r.is_nonnegative(a)
    {
        r.replace(id, a, "inverts the root of an inverse square");
        return;
    }
    if let Some((one, a)) = r.operands_of(operand, Opcode::Divide)
        && r.is_all(one, 1.0)
        && r.is_nonnegative(a)
    {
        let new = r.plain(Opcode::Sqrt, r.shape(id).clone(), &[a], id);
        r.replace(id, new, "inverts the root of an inverse");
    }
}

pub(super) fn complex(r: &mut Rewriter<'_, '_>, id: Id) {
    let (re, im) = (r.operand(id, 0), r.operand(id, 1));
    if let (Some(a), Some(b)) = (r.operand_of(re, Opcode::Real), r.operand_of(im, Opcode::Imag))
        && a == b
    {
        r.replace(id, a, "joins the parts of one number");
    }
}

/// The real and the imaginary part.
pub(super) fn part(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let is_real = r.is(id, Opcode::Real);
    if let Some((re, im)) = r.operands_of(operand, Opcode::Complex) {
        r.replace(id, if is_real { re } else { im }, "takes a part of joined parts");
    } else if !r.is_complex(operand) {
        let value = match is_real {
            true => operand,
            false => {
                let zero = r.scalar(r.element(id), 0.0, id);
                r.broadcast(r.shape(id).clone(), zero, &[], id)
            }
        };
        r.replace(id, value, "takes a part of a real number");
    }
}
