//! Work on all cores, a part of which the caller does.
//!
//! The iterators of rayon leave everything to the threads of its pool, and the caller sleeps. The first thread that wakes then wakes
//! the second one while the core of the caller is still busy, so that both start on one core, where they stay until the system
//! balances its cores, every few milliseconds. Many steps of an analysis are shorter than that. Here the caller begins at once, and
//! wakes threads for the other cores alone.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` once for each number below `count`, on all cores. Each thread has its own clone of `state`.
///
/// The first panic goes on in the caller; the numbers that no thread has begun with are then left out.
pub fn for_each_with<S: Clone + Send>(count: usize, state: S, work: impl Fn(&mut S, usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = |mut state: S| {
        let all = EndsForAll { next: &next, count };
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= count {
                break;
            }
            work(&mut state, n);
        }
        drop(all);
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

/// `work` of each number below `count`, in this order, computed on all cores.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each_with(count, (), |(), n| {
        let result = work(n);
        if let Ok(mut place) = results[n].lock() {
            *place = Some(result);
        }
    });
    // Each number has a result where nothing panicked.
    results.into_iter().filter_map(|place| place.into_inner().ok().flatten()).collect()
}

/// Lets all threads end once one has, also by a panic.
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
