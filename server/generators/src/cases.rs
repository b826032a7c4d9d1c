//! How many random cases a test runs, with which seeds, and on how many cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// The results of `f` for `0..count`, in their order, computed on all cores. The threads are its own, unlike those of `parallel::map`: a
/// case may wait for a server, and a thread of the pool that waits is given other work.
///
/// # Panics
///
/// Panics if `f` does.
pub fn on_all_cores<R: Send>(count: u64, f: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let next = AtomicU64::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return done;
            }
            done.push((i, f(i)));
        }
    };
    let mut done = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(count)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            done.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    done.sort_unstable_by_key(|&(i, _)| i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_their_numbers() {
        assert_eq!(super::on_all_cores(1000, |i| 2 * i), (0..1000).map(|i| 2 * i).collect::<Vec<_>>());
    }
}
