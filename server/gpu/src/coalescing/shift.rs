//! The effect of a variable on an expression: after a period the value has moved by a fixed step.

use indexing_map::{BinaryOp, Expr, gcd};

/// The maximum period.
const MAX_PERIOD: i64 = 1 << 24;

/// The property `e(v + period) = e(v) + step` for all values of the other variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) period: i64,
    pub(super) step: i64,
}

impl Shift {
    const NONE: Shift = Shift { period: 1, step: 0 };

    /// The shift of an expression in variable `v`. `None` if there is no such period, or none that is small
    /// enough.
    pub(super) fn of(e: &Expr, v: u32) -> Option<Shift> {
        match e {
            Expr::Const(_) => Some(Shift::NONE),
            Expr::Var(id) => Some(Shift { period: 1, step: i64::from(*id == v) }),
            Expr::Binary(b) => {
                let (l, r) = (Shift::of(b.lhs(), v)?, Shift::of(b.rhs(), v)?);
                match b.op() {
                    BinaryOp::Add => {
                        let (l, r) = l.with(r)?;
                        Some(Shift { period: l.period, step: l.step.checked_add(r.step)? })
                    }
                    BinaryOp::Mul => match (b.lhs().as_const(), b.rhs().as_const()) {
                        (_, Some(c)) => Some(Shift { step: l.step.checked_mul(c)?, ..l }),
                        (Some(c), _) => Some(Shift { step: r.step.checked_mul(c)?, ..r }),
                        _ => l.unmoved_with(r),
                    },
                    BinaryOp::Mod => match b.rhs().as_const() {
                        Some(m) if m > 0 => Some(Shift { step: 0, ..l.until_multiple_of(m)? }),
                        _ => l.unmoved_with(r),
                    },
                    BinaryOp::FloorDiv | BinaryOp::CeilDiv => match b.rhs().as_const() {
                        Some(d) if d > 0 => {
                            let l = l.until_multiple_of(d)?;
                            Some(Shift { step: l.step / d, ..l })
                        }
                        _ => l.unmoved_with(r),
                    },
                    BinaryOp::Min | BinaryOp::Max => {
                        let (l, r) = l.with(r)?;
                        (l.step == r.step).then_some(l)
                    }
                }
            }
        }
    }

    /// The same property for the least number of periods whose step is a multiple of `unit`.
    pub(super) fn until_multiple_of(self, unit: i64) -> Option<Shift> {
        let times = unit / i64::try_from(gcd(self.step, unit)).ok()?.max(1);
        self.times(times)
    }

    /// Both with a common period.
    fn with(self, other: Shift) -> Option<(Shift, Shift)> {
        let period = lcm(self.period, other.period)?;
        Some((self.times(period / self.period)?, other.times(period / other.period)?))
    }

    fn unmoved_with(self, other: Shift) -> Option<Shift> {
        let (l, r) = self.with(other)?;
        (l.step == 0 && r.step == 0).then_some(l)
    }

    fn times(self, times: i64) -> Option<Shift> {
        let period = self.period.checked_mul(times).filter(|&p| p <= MAX_PERIOD)?;
        Some(Shift { period, step: self.step.checked_mul(times)? })
    }
}

/// The least common multiple, if it does not exceed the maximum period.
pub(super) fn lcm(a: i64, b: i64) -> Option<i64> {
    let gcd = i64::try_from(gcd(a, b)).ok()?.max(1);
    (a / gcd).checked_mul(b).filter(|&p| p <= MAX_PERIOD)
}

#[cfg(test)]
mod tests {
    use indexing_map::parse_map;

    use super::*;

    /// Checks the shift of a result at many values.
    #[track_caller]
    fn check(result: &str, expect: Option<(i64, i64)>) {
        let map =
            parse_map(&format!("(d0, d1) -> ({result}), domain: d0 in [0, 999], d1 in [0, 7]")).unwrap();
        let e = &map.results()[0];
        let shift = Shift::of(e, 0);
        assert_eq!(shift.map(|s| (s.period, s.step)), expect);
        let Some(shift) = shift else { return };
        for (d0, d1) in (0..900).flat_map(|d0| [(d0, 0), (d0, 5)]) {
            let (a, b) = (e.evaluate(&[d0, d1]).unwrap(), e.evaluate(&[d0 + shift.period, d1]).unwrap());
            assert_eq!(b, a + shift.step, "at {d0}, {d1}");
        }
    }

    #[test]
    fn periods() {
        check("d0 * 4 + d1", Some((1, 4)));
        check("d0 mod 7", Some((7, 0)));
        check("(d0 * 6) mod 8", Some((4, 0)));
        check("(d0 * 6 + d1) floordiv 8 + d0 mod 3", Some((12, 9)));
        check("(d0 floordiv 5) mod 4 + d0 * 2", Some((20, 40)));
        check("d0 * d1", None);
        check("(d0 mod 4) * (d0 mod 6)", Some((12, 0)));
    }
}
