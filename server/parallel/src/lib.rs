//! Work on all cores, a part of which the caller does.
//!
//! With the iterators of rayon the caller sleeps while the threads of the pool work. On some machines two of these threads wake up on
//! one core, and share it until the scheduler balances the cores, every few milliseconds: longer than many steps of an analysis. Here
//! the caller works from the start, and wakes one thread fewer than there are cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` once for each number below `count`, on all cores. Each thread has its own clone of `state`.
///
/// A panic ends the work and continues in the caller.
pub fn for_each_with<S: Clone + Send>(count: usize, state: S, work: impl Fn(&mut S, usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = |mut state: S| {
        let _end = EndsForAll { next: &next, count };
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < count);
        while let Some(n) = take() {
            work(&mut state, n);
        }
    };
    let others = rayon::current_num_threads().min(count).saturating_sub(1);
    rayon::in_place_scope(|scope| {
        for _ in 0..others {
            let (run, state) = (&run, state.clone());
            scope.spawn(move |_| run(state));
        }
        run(state);
    });
}

/// Returns `work` of each number below `count`, in this order, computed on all cores.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let done = Mutex::new(Vec::with_capacity(count));
    for_each_with(count, (), |(), n| {
        let result = work(n);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((n, result));
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(n, _)| n);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Takes the numbers that are left from all threads when one of them ends, also by a panic.
struct EndsForAll<'a> {
    next: &'a AtomicUsize,
    count: usize,
}

impl Drop for EndsForAll<'_> {
    fn drop(&mut self) {
        self.next.store(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_are_in_order_and_each_number_is_done_once() {
        for count in [0, 1, 2, 3, 1000] {
            let calls = AtomicU64::new(0);
            let squares = map(count, |n| {
                calls.fetch_add(1, Ordering::Relaxed);
                n * n
            });
            assert_eq!(squares, (0..count).map(|n| n * n).collect::<Vec<_>>());
            assert_eq!(calls.into_inner(), count as u64);
        }
    }

    #[test]
    fn each_thread_has_its_own_state() {
        let sums = Mutex::new(Vec::new());
        struct Sum<'a>(u64, &'a Mutex<Vec<u64>>);
        impl Clone for Sum<'_> {
            fn clone(&self) -> Self {
                Sum(0, self.1)
            }
        }
        impl Drop for Sum<'_> {
            fn drop(&mut self) {
                self.1.lock().expect("nothing panics").push(self.0);
            }
        }
        for_each_with(100, Sum(0, &sums), |sum, n| sum.0 += n as u64);
        let sums = sums.into_inner().expect("nothing panics");
        assert!(sums.len() <= rayon::current_num_threads() && sums.iter().sum::<u64>() == 4950, "{sums:?}");
    }

    /// Inside of work that is itself on all cores, too.
    #[test]
    fn work_may_be_divided_further() {
        let sums = map(20, |n| map(n, |m| m).into_iter().sum::<usize>());
        assert_eq!(sums, (0..20usize).map(|n| n * n.saturating_sub(1) / 2).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_reaches_the_caller_and_ends_the_work() {
        let calls = AtomicU64::new(0);
        let result = catch_unwind(|| {
            for_each_with(10_000, (), |(), n| {
                calls.fetch_add(1, Ordering::Relaxed);
                if n == 3 {
                    std::panic::resume_unwind(Box::new("three"));
                }
                std::thread::sleep(Duration::from_millis(1));
            });
        });
        assert_eq!(result.expect_err("it panics").downcast_ref(), Some(&"three"));
        assert!(calls.into_inner() < 5_000);
    }
}
