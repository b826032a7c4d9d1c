//! Extents that a reshape merges or splits.

use random::Rng;

/// Groups of extents with a small product.
pub(super) fn groups(random: &mut Rng) -> Vec<Vec<i64>> {
    groups_of(random, &|random| random.range(2, 7), 1500)
}

/// Groups of realistic extents: powers of two, and others.
pub(super) fn large_groups(random: &mut Rng) -> Vec<Vec<i64>> {
    let extent = |random: &mut Rng| match random.range(0, 3) {
        0 => 1 << random.range(1, 12),
        1 => 3 << random.range(0, 8),
        _ => random.range(2, 2000),
    };
    groups_of(random, &extent, 1 << 36)
}

fn groups_of(random: &mut Rng, extent: &dyn Fn(&mut Rng) -> i64, most: i64) -> Vec<Vec<i64>> {
    loop {
        let with_ones = random.one_in(3);
        let rank = *random.pick(&[1, 1, 2, 2, 3]);
        let mut found: Vec<Vec<i64>> = Vec::new();
        for _ in 0..rank {
            let len = *random.pick(&[1, 2, 2, 3, 3, 4]);
            let mut group: Vec<i64> =
                (0..len).map(|_| if random.one_in(8) { 1 } else { extent(random) }).collect();
            if with_ones {
                let large = random.range(0, len - 1);
                (0..len).filter(|&k| k != large).for_each(|k| group[k as usize] = 1);
            }
            found.push(group);
        }
        let all = found.concat().iter().try_fold(1i64, |n, &e| n.checked_mul(e));
        if all.is_some_and(|all| all <= most) {
            return found;
        }
    }
}

/// The divisors, ascending.
pub(super) fn divisors(n: i64) -> Vec<i64> {
    let small: Vec<i64> = (1..).take_while(|d| d * d <= n).filter(|d| n % d == 0).collect();
    let large = small.iter().rev().filter(|&d| d * d != n).map(|d| n / d);
    small.iter().copied().chain(large).collect()
}

pub(super) fn divisor_of(random: &mut Rng, n: i64) -> i64 {
    *random.pick(&divisors(n))
}
