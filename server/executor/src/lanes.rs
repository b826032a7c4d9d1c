//! The values of a register in one warp, and functions over them: an instruction processes 32 lanes at a
//! time.

/// 32 values of up to 32 bits. The upper bits of narrower registers are zero.
pub(crate) type Words = [u32; 32];

/// 32 values of 64 bits.
pub(crate) type Doubles = [u64; 32];

/// A function from registers to a register or a lane mask.
#[derive(Clone, Copy)]
pub(crate) enum Map {
    W1(fn(&Words) -> Words),
    W2(fn(&Words, &Words) -> Words),
    W3(fn(&Words, &Words, &Words) -> Words),
    W4(fn(&Words, &Words, &Words, &Words) -> Words),
    D1(fn(&Doubles) -> Doubles),
    D2(fn(&Doubles, &Doubles) -> Doubles),
    D3(fn(&Doubles, &Doubles, &Doubles) -> Doubles),
    /// A wide result of narrow operands, and so on.
    DofW(fn(&Words) -> Doubles),
    DofWW(fn(&Words, &Words) -> Doubles),
    DofWWD(fn(&Words, &Words, &Doubles) -> Doubles),
    DofDW(fn(&Doubles, &Words) -> Doubles),
    DofDWW(fn(&Doubles, &Words, &Words) -> Doubles),
    WofD(fn(&Doubles) -> Words),
    /// Comparisons, with one bit per lane.
    Compare32(fn(&Words, &Words) -> u32),
    Compare64(fn(&Doubles, &Doubles) -> u32),
    /// A test of one value (`testp`, `isspacep`).
    Test32(fn(&Words) -> u32),
    Test64(fn(&Doubles) -> u32),
}

/// The register class of an operand or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Word,
    Double,
    Predicate,
}

impl Map {
    pub(crate) fn result(self) -> Class {
        match self {
            Map::W1(_) | Map::W2(_) | Map::W3(_) | Map::W4(_) | Map::WofD(_) => Class::Word,
            Map::D1(_) | Map::D2(_) | Map::D3(_) => Class::Double,
            Map::DofW(_) | Map::DofWW(_) | Map::DofWWD(_) | Map::DofDW(_) | Map::DofDWW(_) => Class::Double,
            Map::Compare32(_) | Map::Compare64(_) | Map::Test32(_) | Map::Test64(_) => Class::Predicate,
        }
    }

    pub(crate) fn operands(self) -> &'static [Class] {
        use Class::{Double as D, Word as W};
        match self {
            Map::W1(_) | Map::DofW(_) | Map::Test32(_) => &[W],
            Map::W2(_) | Map::DofWW(_) | Map::Compare32(_) => &[W, W],
            Map::W3(_) => &[W, W, W],
            Map::W4(_) => &[W, W, W, W],
            Map::D1(_) | Map::WofD(_) | Map::Test64(_) => &[D],
            Map::D2(_) | Map::Compare64(_) => &[D, D],
            Map::D3(_) => &[D, D, D],
            Map::DofWWD(_) => &[W, W, D],
            Map::DofDW(_) => &[D, W],
            Map::DofDWW(_) => &[D, W, W],
        }
    }
}

/// `lanes!(W2, |a, b| a.wrapping_add(b))`: applies the function of one lane to all lanes.
macro_rules! lanes {
    // Closures without captures coerce to function pointers.
    (@each $result:ident, [$($name:ident : $kind:ident),*], $body:expr) => {
        |$($name: &$kind),*| -> $result {
            std::array::from_fn(|lane| {
                $(let $name = $name[lane];)*
                $body
            })
        }
    };
    (@mask [$($name:ident : $kind:ident),*], $body:expr) => {
        |$($name: &$kind),*| -> u32 {
            let mut mask = 0;
            for lane in 0..32 {
                $(let $name = $name[lane];)*
                let holds: bool = $body;
                mask |= u32::from(holds) << lane;
            }
            mask
        }
    };
    (W1, |$a:ident| $e:expr) => { Map::W1(lanes!(@each Words, [$a: Words], $e)) };
    (W2, |$a:ident, $b:ident| $e:expr) => { Map::W2(lanes!(@each Words, [$a: Words, $b: Words], $e)) };
    (W3, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        Map::W3(lanes!(@each Words, [$a: Words, $b: Words, $c: Words], $e))
    };
    (W4, |$a:ident, $b:ident, $c:ident, $d:ident| $e:expr) => {
        Map::W4(lanes!(@each Words, [$a: Words, $b: Words, $c: Words, $d: Words], $e))
    };
    (D1, |$a:ident| $e:expr) => { Map::D1(lanes!(@each Doubles, [$a: Doubles], $e)) };
    (D2, |$a:ident, $b:ident| $e:expr) => { Map::D2(lanes!(@each Doubles, [$a: Doubles, $b: Doubles], $e)) };
    (D3, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        Map::D3(lanes!(@each Doubles, [$a: Doubles, $b: Doubles, $c: Doubles], $e))
    };
    (DofW, |$a:ident| $e:expr) => { Map::DofW(lanes!(@each Doubles, [$a: Words], $e)) };
    (DofWW, |$a:ident, $b:ident| $e:expr) => { Map::DofWW(lanes!(@each Doubles, [$a: Words, $b: Words], $e)) };
    (DofWWD, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        Map::DofWWD(lanes!(@each Doubles, [$a: Words, $b: Words, $c: Doubles], $e))
    };
    (DofDW, |$a:ident, $b:ident| $e:expr) => { Map::DofDW(lanes!(@each Doubles, [$a: Doubles, $b: Words], $e)) };
    (DofDWW, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        Map::DofDWW(lanes!(@each Doubles, [$a: Doubles, $b: Words, $c: Words], $e))
    };
    (WofD, |$a:ident| $e:expr) => { Map::WofD(lanes!(@each Words, [$a: Doubles], $e)) };
    (Compare32, |$a:ident, $b:ident| $e:expr) => { Map::Compare32(lanes!(@mask [$a: Words, $b: Words], $e)) };
    (Compare64, |$a:ident, $b:ident| $e:expr) => { Map::Compare64(lanes!(@mask [$a: Doubles, $b: Doubles], $e)) };
    (Test32, |$a:ident| $e:expr) => { Map::Test32(lanes!(@mask [$a: Words], $e)) };
    (Test64, |$a:ident| $e:expr) => { Map::Test64(lanes!(@mask [$a: Doubles], $e)) };
}
pub(crate) use lanes;
