//! The time that a request may take. One thread of the process ends those that take longer, by the cancellation that clients use too.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Calls `end` when `limit` is over, unless the returned guard is dropped before.
pub fn watch(limit: Duration, end: impl FnOnce() + Send + 'static) -> Watched {
    static WATCH: OnceLock<Arc<Watch>> = OnceLock::new();
    let watch = WATCH.get_or_init(|| {
        let watch = Arc::new(Watch::default());
        let thread = std::thread::Builder::new().name("time limits".to_owned());
        let started = thread.spawn({
            let watch = watch.clone();
            move || watch.run()
        });
        if let Err(error) = started {
            tracing::warn!("requests have no time limit: {error}");
        }
        watch
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let due = Instant::now().checked_add(limit);
    let key = due.map(|due| watch.add(due, Box::new(end), is_over.clone()));
    Watched { watch: watch.clone(), key, is_over }
}

/// Work with a time limit, until it is dropped.
pub struct Watched {
    watch: Arc<Watch>,
    /// `None` if the limit is beyond the clock.
    key: Option<Key>,
    is_over: Arc<AtomicBool>,
}

impl Watched {
    /// Whether the time was over, so that the work was told to end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.watch.lock().limits.remove(&key);
        }
    }
}

/// When the time is over, and a number, because two may be over at once.
type Key = (Instant, u64);

struct Limit {
    end: Box<dyn FnOnce() + Send>,
    is_over: Arc<AtomicBool>,
}

/// Size: the running requests.
#[derive(Default)]
struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    limits: BTreeMap<Key, Limit>,
    added: u64,
    /// When the thread looks again by itself; `None` if it waits for the first limit.
    wakes: Option<Instant>,
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, due: Instant, end: Box<dyn FnOnce() + Send>, is_over: Arc<AtomicBool>) -> Key {
        let mut state = self.lock();
        state.added += 1;
        let key = (due, state.added);
        state.limits.insert(key, Limit { end, is_over });
        // The thread wakes for limits whose work has ended, so that short requests one after the other do not wake it each time.
        if state.wakes.is_none_or(|wakes| due < wakes) {
            self.changed.notify_one();
        }
        key
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if let Some(first) = state.limits.first_entry().filter(|first| first.key().0 <= now) {
                let Limit { end, is_over } = first.remove();
                is_over.store(true, Ordering::Release);
                drop(state);
                end();
                state = self.lock();
                continue;
            }
            state.wakes = state.limits.first_key_value().map(|(&(due, _), _)| due);
            state = match state.wakes {
                Some(due) => {
                    let waited = self.changed.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_takes_too_long_is_ended_in_the_order_of_the_limits() {
        let (ended, ends) = channel();
        let watched = [80, 20, 50].map(|ms| {
            let ended = ended.clone();
            watch(Duration::from_millis(ms), move || ended.send(ms).unwrap())
        });
        let order: Vec<u64> = ends.iter().take(3).collect();
        assert_eq!(order, [20, 50, 80]);
        assert!(watched.iter().all(Watched::is_over));
    }

    #[test]
    fn what_ends_in_time_is_left_alone() {
        let (ended, ends) = channel();
        let watched = watch(Duration::from_millis(10), move || ended.send(()).unwrap());
        assert!(!watched.is_over());
        drop(watched);
        assert!(ends.recv_timeout(Duration::from_millis(60)).is_err(), "the guard was dropped");
        assert!(!watch(Duration::MAX, || ()).is_over());
    }
}
