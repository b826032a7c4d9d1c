//! Numbers of a type, their distances, and lists of them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    F16,
    Bf16,
    F32,
    F64,
}

impl Bits {
    pub fn name(self) -> &'static str {
        match self {
            Bits::F16 => "f16",
            Bits::Bf16 => "bf16",
            Bits::F32 => "f32",
            Bits::F64 => "f64",
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Bits::F16 | Bits::Bf16 => 2,
            Bits::F32 => 4,
            Bits::F64 => 8,
        }
    }

    /// Bits of the mantissa, exponent of the smallest normal number, and the largest number.
    fn format(self) -> (i32, i32, f64) {
        match self {
            Bits::F16 => (10, -14, 65504.0),
            Bits::Bf16 => (7, -126, f64::from(f32::from_bits(0x7f7f_0000))),
            Bits::F32 => (23, -126, f64::from(f32::MAX)),
            Bits::F64 => (52, -1022, f64::MAX),
        }
    }

    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Bits::F64 => f64::from_bits(bits),
            Bits::F32 => f64::from(f32::from_bits(bits as u32)),
            Bits::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
            Bits::F16 => {
                let (exponent, mantissa) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
                let size = match exponent {
                    0 => mantissa * f64::powi(2.0, -24),
                    31 if mantissa == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1024.0 + mantissa) * f64::powi(2.0, exponent - 25),
                };
                if bits >> 15 & 1 == 1 { -size } else { size }
            }
        }
    }

    /// The nearest number of the type, ties to even.
    pub fn round(self, value: f64) -> f64 {
        let unit = self.unit(value);
        let (_, _, largest) = self.format();
        let near = (value / unit).round_ties_even() * unit;
        if near.abs() > largest { f64::INFINITY.copysign(near) } else { near }
    }

    /// The spacing of numbers of the type around a number.
    fn unit(self, value: f64) -> f64 {
        let (mantissa, least, _) = self.format();
        let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(least);
        let power = exponent - mantissa;
        // In two steps, because the unit may be subnormal in f64 itself.
        f64::powi(2.0, power / 2) * f64::powi(2.0, power - power / 2)
    }

    /// The error of a result; infinite if only one of the two is NaN, or infinite other than by rounding.
    pub fn distance(self, result: f64, right: f64) -> f64 {
        if right.is_nan() || result.is_nan() {
            return if right.is_nan() == result.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if right == result {
            return if right == 0.0 && right.is_sign_negative() != result.is_sign_negative() {
                1e9
            } else {
                0.0
            };
        }
        let (_, _, largest) = self.format();
        if right.abs() > largest || result.is_infinite() {
            let edge = self.unit(largest);
            // One may round to infinity where the other does not.
            let near = |x: f64| x.abs().min(largest + edge);
            let beyond = (near(right) - near(result)).abs() / edge;
            return if right.signum() == result.signum() { beyond } else { f64::INFINITY };
        }
        (result - right).abs() / self.unit(right)
    }
}

/// Special numbers, all 16-bit numbers, and random ones: of random bits, and of moderate size.
pub fn ladder(bits: Bits) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    if bits.bytes() == 2 {
        return (0..1 << 16).collect();
    }
    let of = |x: f64| if bits == Bits::F64 { x.to_bits() } else { u64::from((x as f32).to_bits()) };
    let top = if bits == Bits::F64 { 1u64 << 63 } else { 1 << 31 };
    let special = [
        0.0,
        1.0,
        0.5,
        2.0,
        1.5,
        2.5,
        3.0,
        0.499_999_97,
        0.25,
        1e-3,
        1e-8,
        1e-20,
        1e-38,
        1e-45,
        5e-324,
        1e-310,
        1e-300,
        1e38,
        1e300,
        f64::INFINITY,
        f64::NAN,
        88.7,
        88.8,
        89.0,
        103.9,
        104.0,
        709.7,
        709.8,
        745.2,
        16_777_216.0,
        8_388_608.5,
        1e9,
        1e15,
        1e22,
        1e30,
        std::f64::consts::PI,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::FRAC_PI_4,
        105_615.0,
        6.0,
        5.9,
        9.0,
        9.1,
        22.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        3.402_823_4e38,
        1.175_494_4e-38,
        0.999_999_94,
        1.000_000_1,
        4_503_599_627_370_497.5,
    ];
    for x in special {
        for neighbour in [-2i64, -1, 0, 1, 2] {
            let near = of(x).wrapping_add_signed(neighbour) & (top - 1);
            values.extend([near, near | top]);
        }
    }
    let mut rng = random::Rng::new(7);
    let mut random = move || rng.next_u64();
    for _ in 0..12_000 {
        values.push(random() & (top | (top - 1)));
        let unit = random() as f64 / u64::MAX as f64 * 2.0 - 1.0;
        values.extend([of(unit), of(unit * 10.0), of(unit * 100.0), of(unit * 800.0), of(1.0 + unit * 0.01)]);
        values.push(of(unit.signum() * f64::powf(2.0, unit * 40.0)));
        values.push(of(f64::round(unit * 60.0) * std::f64::consts::FRAC_PI_2));
    }
    while !values.len().is_multiple_of(1024) {
        values.push(of(1.0));
    }
    values
}

/// Two lists of the same length: all pairs of special numbers, and random ones.
pub fn pairs(bits: Bits) -> (Vec<u64>, Vec<u64>) {
    let all = ladder(bits);
    let few: Vec<u64> =
        if bits.bytes() == 2 { all.iter().copied().step_by(331).collect() } else { all[..500].to_vec() };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (i, &x) in few.iter().enumerate() {
        for &y in few.iter().skip(i % 3).step_by(3) {
            a.push(x);
            b.push(y);
        }
    }
    let whole: Vec<u64> = (-40..40)
        .map(|n| match bits {
            Bits::F64 => f64::from(n).to_bits(),
            Bits::F32 => u64::from((n as f32).to_bits()),
            Bits::Bf16 => u64::from((n as f32).to_bits() >> 16),
            Bits::F16 => all[(n + 40) as usize * 100],
        })
        .collect();
    for (i, &x) in all.iter().enumerate().take(60_000) {
        a.push(x);
        b.push(if i % 5 == 0 { whole[i / 5 % whole.len()] } else { all[(i * 7919 + 13) % all.len()] });
    }
    while !a.len().is_multiple_of(1024) {
        a.push(a[0]);
        b.push(b[0]);
    }
    (a, b)
}

pub fn bytes_of(values: &[u64], bytes: usize) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()[..bytes].to_vec()).collect()
}

pub fn bits_of(bytes: &[u8], size: usize) -> Vec<u64> {
    let number = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    bytes.chunks(size).map(number).collect()
}
