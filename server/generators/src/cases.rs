//! How many random cases a test runs, with which seeds, and on how many cores.

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns `count` times the number in the environment variable `HLO_ANALYZER_CASES`, for long runs.
pub fn cases(count: u64) -> u64 {
    count.saturating_mul(variable("HLO_ANALYZER_CASES").unwrap_or(1))
}

/// Returns the seed of case `i`, far from those of its neighbours. The environment variable
/// `HLO_ANALYZER_FIRST_CASE` sets the number of the first case.
pub fn seed(i: u64) -> u64 {
    let first = variable("HLO_ANALYZER_FIRST_CASE").unwrap_or(0);
    first.wrapping_add(i).wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5851_f42d_4c95_7f2d
}

/// Calls `f` with `0..count`, on all cores.
pub fn on_all_cores(count: u64, f: impl Fn(u64) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let f = &f;
            scope.spawn(move || (thread..count).step_by(threads as usize).for_each(f));
        }
    });
}
