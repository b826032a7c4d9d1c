//! Sine, cosine and tangent: reduction modulo π/2, then polynomials on [-π/4, π/4].

use super::coefficients::{COS_F32, COS_F64, SIN_F32, SIN_F64};
use super::flow::{Kind, X};
use super::reduction::reduced;
use crate::ptx::library::{COEFFICIENTS_STEP, SIN_COS_F64};

/// Sine and cosine of a number in [-π/4, π/4].
fn both(r: X<'_>) -> (X<'_>, X<'_>) {
    let z = r * r;
    let (sine, cosine) = match r.is_double() {
        true => (z.poly(&SIN_F64), z.poly(&COS_F64)),
        false => (z.poly(&SIN_F32), z.poly(&COS_F32)),
    };
    (sine_of(r, z, sine), cosine_of(z, cosine))
}

fn sine_of<'f>(r: X<'f>, z: X<'f>, polynomial: X<'f>) -> X<'f> {
    // Adding 0 restores the sign of zeros.
    polynomial.fma(z.fma(r, 0.0), r)
}

fn cosine_of<'f>(z: X<'f>, polynomial: X<'f>) -> X<'f> {
    z.fma(polynomial, -0.5).fma(z, 1.0)
}

/// At most 2 ulp, for every number.
pub(in crate::ptx::scalar) fn sin(x: X<'_>) -> X<'_> {
    let (r, quotient) = reduced(x);
    at(r, quotient)
}

/// At most 2 ulp, for every number.
pub(in crate::ptx::scalar) fn cos(x: X<'_>) -> X<'_> {
    let (r, quotient) = reduced(x);
    at(r, quotient.plus(1))
}

fn at<'f>(r: X<'f>, quotient: X<'f>) -> X<'f> {
    let odd = quotient.and(1);
    let is_odd = odd.ne(0i64);
    let (sine, cosine) = match r.is_double() {
        true => {
            // One polynomial, with coefficients from a table.
            let z = r * r;
            let table = r.table(SIN_COS_F64) + odd.mul_wide(odd.with_int(COEFFICIENTS_STEP));
            let highest = |of: &[f64]| r.like(of.last().copied().unwrap_or(0.0));
            let first = is_odd.select(highest(&COS_F64), highest(&SIN_F64));
            let polynomial = (1..SIN_F64.len() as i64).fold(first, |sum, n| {
                let offset = (n - 1) * 8;
                sum.fma(z, X::read(table, offset, 16, Kind::F64))
            });
            (sine_of(r, z, polynomial), cosine_of(z, polynomial))
        }
        false => both(r),
    };
    let size = is_odd.select(cosine, sine);
    quotient.and(2).ne(0i64).select(size.like(0.0).in_register() - size, size)
}

/// At most 4 ulp, for every number.
pub(in crate::ptx::scalar) fn tan(x: X<'_>) -> X<'_> {
    let (r, quotient) = reduced(x);
    let (sine, cosine) = both(r);
    let is_odd = quotient.and(1).ne(0i64);
    is_odd.select(-cosine, sine).over(is_odd.select(sine, cosine))
}
