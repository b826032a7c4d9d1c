//! Random numbers: SplitMix64, whose state is its seed.

#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// `Rng::new` of this goes on from here.
    pub fn state(&self) -> u64 {
        self.0
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `[lower, upper]`; `lower` where there is nothing between.
    pub fn range(&mut self, lower: i64, upper: i64) -> i64 {
        lower + (self.next_u64() % (upper - lower + 1).max(1) as u64) as i64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.next_u64().is_multiple_of(n)
    }

    /// `items` is not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.range(0, items.len() as i64 - 1) as usize]
    }

    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.range(0, i as i64) as usize);
        }
        order
    }

    /// Each of `0..n` with probability a half.
    pub fn subset(&mut self, n: usize) -> Vec<usize> {
        (0..n).filter(|_| self.one_in(2)).collect()
    }

    /// `count` of `0..n`, in order.
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<usize> {
        let mut chosen = self.permutation(n);
        chosen.truncate(count);
        chosen.sort_unstable();
        chosen
    }

    /// Sizes with this product, at most `rank` of them (one more where the product is left over).
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
