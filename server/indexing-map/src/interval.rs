//! Closed intervals of 64-bit integers. `i64::MIN` and `i64::MAX` as a bound mean "no bound".

use std::fmt;

/// The integers `lower ..= upper`. Empty if `lower > upper`.
///
/// A bound of `i64::MIN` (below) or `i64::MAX` (above) means "unbounded". Arithmetic saturates there, so that
/// an interval always contains the true range. Rules: XLA `hlo/analysis/interval.cc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    pub lower: i64,
    pub upper: i64,
}

// Range analysis asks these of each node of each map: other crates inline them.
impl Interval {
    /// Every integer.
    pub const ALL: Interval = Interval { lower: i64::MIN, upper: i64::MAX };
    /// The canonical empty interval, `[0, -1]`.
    pub const EMPTY: Interval = Interval { lower: 0, upper: -1 };

    #[inline]
    pub const fn new(lower: i64, upper: i64) -> Self {
        Interval { lower, upper }
    }

    #[inline]
    pub const fn point(value: i64) -> Self {
        Interval { lower: value, upper: value }
    }

    /// `[0, size - 1]`, the bounds of a dimension of `size` elements; empty for a size of zero or less.
    pub const fn from_size(size: i64) -> Self {
        Interval { lower: 0, upper: size.saturating_sub(1) }
    }

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.lower > self.upper
    }

    /// Returns the only value if there is exactly one and it is not a bound that means "unbounded".
    #[inline]
    pub const fn as_point(self) -> Option<i64> {
        if self.lower == self.upper && self.lower != i64::MIN && self.lower != i64::MAX {
            Some(self.lower)
        } else {
            None
        }
    }

    #[inline]
    pub const fn contains(self, value: i64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Whether every element of `other` is in `self`.
    #[inline]
    pub const fn contains_interval(self, other: Interval) -> bool {
        other.is_empty() || (self.lower <= other.lower && other.upper <= self.upper)
    }

    /// The intersection. Disjoint intervals give an empty one whose upper bound is `lower - 1`.
    #[inline]
    pub fn intersect(self, other: Interval) -> Interval {
        let lower = self.lower.max(other.lower);
        let upper = self.upper.min(other.upper);
        if lower <= upper {
            Interval { lower, upper }
        } else {
            Interval { lower, upper: lower.saturating_sub(1) }
        }
    }

    #[inline]
    pub fn union(self, other: Interval) -> Interval {
        Interval { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }

    /// The number of elements; saturates, and is `u64::MAX` for an unbounded interval.
    pub fn size(self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        if self.lower == i64::MIN || self.upper == i64::MAX {
            return u64::MAX;
        }
        u64::try_from(i128::from(self.upper) - i128::from(self.lower) + 1).unwrap_or(u64::MAX)
    }

    #[inline]
    pub fn min(self, other: Interval) -> Interval {
        Interval { lower: self.lower.min(other.lower), upper: self.upper.min(other.upper) }
    }

    #[inline]
    pub fn max(self, other: Interval) -> Interval {
        Interval { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// Returns the same or a slightly wider interval whose lower bound is not `i64::MAX` and whose upper
    /// bound is not `i64::MIN`. There these values do not mean "unbounded", and arithmetic that treated them
    /// so would lose values.
    #[inline]
    fn widened(self) -> Interval {
        Interval { lower: self.lower.min(i64::MAX - 1), upper: self.upper.max(i64::MIN + 1) }
    }

    /// Returns the range of `a mod m` for `a` in `self` and a nonzero `m`; only the magnitude of `m` matters.
    pub fn modulo(self, m: i64) -> Interval {
        if m == 0 {
            return Interval::ALL;
        }
        let last = i64::try_from(m.unsigned_abs() - 1).unwrap_or(i64::MAX);
        if self.lower >= 0 && self.upper <= last { self } else { Interval::new(0, last) }
    }

    /// Returns the range of `floor(a / d)` for `a` in `self`.
    pub fn floor_div(self, d: i64) -> Interval {
        if d == 0 {
            return Interval::ALL;
        }
        let wide = self.widened();
        let (a, b) = (floor_div_bound(wide.lower, d), floor_div_bound(wide.upper, d));
        Interval { lower: a.min(b), upper: a.max(b) }.widened()
    }
}

impl std::ops::Add for Interval {
    type Output = Interval;
    fn add(self, other: Interval) -> Interval {
        let (a, b) = (self.widened(), other.widened());
        Interval {
            lower: add_bound(a.lower, b.lower, i64::MIN),
            upper: add_bound(a.upper, b.upper, i64::MAX),
        }
        .widened()
    }
}

impl std::ops::Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        let a = self.widened();
        Interval { lower: neg_bound(a.upper), upper: neg_bound(a.lower) }.widened()
    }
}

impl std::ops::Mul for Interval {
    type Output = Interval;
    fn mul(self, other: Interval) -> Interval {
        let (a, b) = (self.widened(), other.widened());
        let p = [
            mul_bound(a.lower, b.lower),
            mul_bound(a.lower, b.upper),
            mul_bound(a.upper, b.lower),
            mul_bound(a.upper, b.upper),
        ];
        Interval { lower: p[0].min(p[1]).min(p[2]).min(p[3]), upper: p[0].max(p[1]).max(p[2]).max(p[3]) }
            .widened()
    }
}

impl std::ops::Mul<i64> for Interval {
    type Output = Interval;
    fn mul(self, k: i64) -> Interval {
        if is_infinite(k) {
            return self * Interval::point(k);
        }
        let wide = self.widened();
        let (a, b) = (mul_bound(wide.lower, k), mul_bound(wide.upper, k));
        Interval { lower: a.min(b), upper: a.max(b) }.widened()
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lower, self.upper)
    }
}

fn is_infinite(bound: i64) -> bool {
    bound == i64::MIN || bound == i64::MAX
}

fn add_bound(a: i64, b: i64, unbounded: i64) -> i64 {
    if a == unbounded || b == unbounded { unbounded } else { a.saturating_add(b) }
}

fn neg_bound(a: i64) -> i64 {
    match a {
        i64::MIN => i64::MAX,
        i64::MAX => i64::MIN,
        a => -a,
    }
}

fn mul_bound(a: i64, b: i64) -> i64 {
    if a == 0 || b == 0 {
        0
    } else if is_infinite(a) || is_infinite(b) {
        if (a < 0) == (b < 0) { i64::MAX } else { i64::MIN }
    } else {
        a.saturating_mul(b)
    }
}

fn floor_div_bound(a: i64, d: i64) -> i64 {
    if is_infinite(a) {
        if (a < 0) == (d < 0) { i64::MAX } else { i64::MIN }
    } else {
        // Only `i64::MIN / -1` overflows, and its dividend is an infinite bound.
        floor_div(a, d).unwrap_or(i64::MAX)
    }
}

/// `floor(a / b)`; `None` if `b` is zero or the quotient does not fit.
pub fn floor_div(a: i64, b: i64) -> Option<i64> {
    // Most divisors are powers of two, and a shift is many times as fast as a division.
    if b > 0 && b & (b - 1) == 0 {
        return Some(a >> b.trailing_zeros());
    }
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
}

/// `ceil(a / b)`; `None` if `b` is zero or the quotient does not fit.
pub fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) == (b < 0) { q + 1 } else { q })
}

/// The remainder of `a` by `|m|`, never negative; `None` if `m` is zero.
pub fn modulo(a: i64, m: i64) -> Option<i64> {
    match m {
        0 => None,
        1 | -1 => Some(0),
        m if m > 0 && m & (m - 1) == 0 => Some(a & (m - 1)),
        m => Some(a.rem_euclid(m)),
    }
}

/// Whether `a` is a multiple of a positive `d`.
pub(crate) fn is_multiple(a: i64, d: i64) -> bool {
    if d & (d - 1) == 0 { a & (d - 1) == 0 } else { a % d == 0 }
}

/// Greatest common divisor of the magnitudes; `gcd(0, x) = |x|`.
pub fn gcd(a: i64, b: i64) -> u64 {
    gcd_of(a.unsigned_abs(), b.unsigned_abs())
}

pub(crate) fn gcd_of(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(got: Interval, expect: (i64, i64)) {
        assert_eq!((got.lower, got.upper), expect);
    }

    #[test]
    fn arithmetic() {
        check(Interval::new(1, 3) + Interval::new(-5, 2), (-4, 5));
        check(Interval::new(-1, 3) * Interval::new(-5, 2), (-15, 6));
        check(Interval::new(-7, 7).floor_div(2), (-4, 3));
        check(Interval::new(-7, 7).floor_div(-2), (-4, 3));
        check(Interval::new(0, 3).modulo(4), (0, 3));
        check(Interval::new(-1, 3).modulo(-4), (0, 3));
    }

    #[test]
    fn unbounded_sides_stay_unbounded() {
        check(Interval::ALL + Interval::point(-5), (i64::MIN, i64::MAX));
        check(Interval::new(0, i64::MAX) * -3, (i64::MIN, 0));
        check(Interval::ALL * Interval::point(0), (0, 0));
        check(Interval::ALL.floor_div(-7), (i64::MIN, i64::MAX));
        check(-Interval::new(i64::MIN, 4), (-4, i64::MAX));
        assert_eq!(Interval::point(i64::MAX).as_point(), None);
        check(Interval::point(i64::MAX) + Interval::point(i64::MAX), (i64::MAX - 1, i64::MAX));
        check(-Interval::point(i64::MIN), (i64::MAX - 1, i64::MAX));
    }

    #[test]
    fn disjoint_intersection_is_empty() {
        check(Interval::new(0, 3).intersect(Interval::new(7, 9)), (7, 6));
        assert!(Interval::EMPTY.is_empty());
        assert_eq!(Interval::from_size(0), Interval::EMPTY);
    }

    #[test]
    fn division_rounds_as_named() {
        for a in -20..=20 {
            for b in (-6..=6).filter(|&b| b != 0) {
                let exact = a as f64 / b as f64;
                assert_eq!(floor_div(a, b), Some(exact.floor() as i64));
                assert_eq!(ceil_div(a, b), Some(exact.ceil() as i64));
                assert!((0..b.abs()).contains(&modulo(a, b).unwrap()));
            }
        }
        assert_eq!(floor_div(i64::MIN, -1), None);
        assert_eq!(modulo(i64::MIN, -1), Some(0));
    }
}
