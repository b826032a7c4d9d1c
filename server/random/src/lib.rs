//! Random numbers that are the same in every run, so that failures can be reproduced: SplitMix64, whose state
//! is its seed.
//!
//! Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.

use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
    /// The first numbers, last one first.
    given: Vec<u16>,
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed, given: Vec::new() }
    }

    /// Takes the first numbers from `bytes`, two bytes for each, so that who changes a byte changes one decision:
    /// coverage-guided fuzzers find their way through a generator by that. The numbers after those follow from all bytes.
    pub fn from_bytes(bytes: &[u8]) -> Rng {
        let given: Vec<u16> =
            bytes.chunks_exact(2).rev().map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        // FNV-1a.
        let hash = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Rng { state: bytes.iter().fold(0xcbf2_9ce4_8422_2325, hash), given }
    }

    /// Returns the state; `Rng::new(state)` continues the sequence from here, if no given number is left.
    pub fn state(&self) -> u64 {
        self.state
    }

    pub fn next_u64(&mut self) -> u64 {
        if let Some(number) = self.given.pop() {
            return number.into();
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `[lower, upper]`, or `lower` if that interval is empty.
    pub fn range(&mut self, lower: i64, upper: i64) -> i64 {
        lower + (self.next_u64() % (upper - lower + 1).max(1) as u64) as i64
    }

    /// Returns a number in `range`, which must not be empty.
    pub fn below(&mut self, range: Range<i64>) -> i64 {
        self.range(range.start, range.end - 1)
    }

    /// Returns a number in `0..n`, or 0 if `n` is 0.
    pub fn index(&mut self, n: usize) -> usize {
        (self.next_u64() % n.max(1) as u64) as usize
    }

    pub fn flag(&mut self) -> bool {
        self.one_in(2)
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.next_u64().is_multiple_of(n)
    }

    /// Returns a random item of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.range(0, items.len() as i64 - 1) as usize]
    }

    /// Changes, flips, removes or inserts one to four bytes. There must be at least four.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.index(4) {
            let at = self.index(bytes.len());
            match self.index(4) {
                0 => bytes[at] = self.next_u64() as u8,
                1 => bytes[at] ^= 1 << self.index(8),
                2 => _ = bytes.remove(at),
                _ => bytes.insert(at, self.next_u64() as u8),
            }
        }
    }

    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.range(0, i as i64) as usize);
        }
        order
    }

    /// Returns each of `0..n` with probability one half.
    pub fn subset(&mut self, n: usize) -> Vec<usize> {
        (0..n).filter(|_| self.one_in(2)).collect()
    }

    /// Returns `count` numbers of `0..n`, ascending.
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<usize> {
        let mut chosen = self.permutation(n);
        chosen.truncate(count);
        chosen.sort_unstable();
        chosen
    }

    /// Returns `rank` sizes from 1 to `largest`.
    pub fn sizes(&mut self, rank: i64, largest: i64) -> Vec<i64> {
        (0..rank).map(|_| self.range(1, largest)).collect()
    }

    /// Returns sizes in `extents`; their number is in `rank`.
    pub fn shape(&mut self, rank: Range<i64>, extents: Range<i64>) -> Vec<i64> {
        (0..self.below(rank)).map(|_| self.below(extents.clone())).collect()
    }

    /// Returns at most `rank` sizes with the product `n`, or one more where a factor is left over.
    pub fn factors(&mut self, mut n: i64, rank: usize) -> Vec<i64> {
        let mut sizes = Vec::new();
        while sizes.len() < rank && (n > 1 || self.one_in(4)) {
            let divisors: Vec<i64> = (1..=n).filter(|d| n % d == 0).collect();
            let size = if sizes.len() + 1 == rank { n } else { *self.pick(&divisors) };
            sizes.push(size);
            n /= size;
        }
        if n > 1 {
            sizes.push(n);
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_ranges_and_the_same_again() {
        let mut rng = Rng::new(1);
        for _ in 0..1000 {
            let mut again = Rng::new(rng.state());
            let n = rng.range(-3, 5);
            assert!((-3..=5).contains(&n) && n == again.range(-3, 5));
            assert!((2..4).contains(&rng.below(2..4)));
            let mut order = rng.permutation(6);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4, 5]);
            assert_eq!(rng.factors(24, 3).iter().product::<i64>(), 24);
        }
        // The first numbers of the reference implementation.
        let mut rng = Rng::new(1_234_567);
        let expect: [u64; 3] =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expect, [(); 3].map(|()| rng.next_u64()));
    }

    #[test]
    fn bytes_are_the_first_numbers() {
        let numbers = |bytes: &[u8]| {
            let mut rng = Rng::from_bytes(bytes);
            [(); 4].map(|()| rng.next_u64())
        };
        let [a, b, c, d] = numbers(&[1, 0, 2, 1, 7]);
        assert_eq!([a, b], [1, 0x102]);
        assert!(c > 1 << 32 || d > 1 << 32);
        assert_eq!(numbers(&[1, 0, 2, 1, 7]), [a, b, c, d]);
        assert_ne!(numbers(&[1, 0, 2, 1, 8])[2..], [c, d]);
    }
}
