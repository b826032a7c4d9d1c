//! The time and the memory that a request may take. One thread of the process watches all requests, and ends those that take more.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::process_memory::ProcessMemory;

/// What a request may take; no limit where a field is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    pub time: Option<Duration>,
    /// In bytes.
    pub memory: Option<u64>,
}

/// The limit that a request has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    Time(Duration),
    /// In bytes.
    Memory(u64),
}

impl Exceeded {
    /// Says what `what` took. `raised_by` is what raises the limit of time, and of memory.
    pub fn message(self, what: &str, raised_by: [&str; 2]) -> String {
        let [time, memory] = raised_by;
        match self {
            Exceeded::Time(limit) => {
                format!("{what} took longer than {} s; {time} raises the limit", limit.as_secs_f64())
            }
            Exceeded::Memory(limit) => {
                format!("{what} took more than {} MiB of memory; {memory} raises the limit", limit >> 20)
            }
        }
    }
}

/// Calls `end` when work has used up its budget, unless the returned guard is dropped before.
pub fn watch(budget: Budget, end: impl FnOnce(Exceeded) + Send + 'static) -> Watched {
    static WATCH: OnceLock<Arc<Watch>> = OnceLock::new();
    let watch = WATCH.get_or_init(|| {
        let mut memory = ProcessMemory::default();
        Watch::start(move || memory.resident())
    });
    watch.add(budget, Box::new(end))
}

/// Work with a budget, until it is dropped.
pub struct Watched {
    watch: Arc<Watch>,
    key: u64,
    exceeded: Arc<OnceLock<Exceeded>>,
}

impl Watched {
    /// The limit that the work has reached, so that it was told to end.
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded.get().copied()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.lock().running.remove(&self.key);
    }
}

/// How often the memory of the process is read while work with a limit of memory runs.
const INTERVAL: Duration = Duration::from_millis(100);

struct Running {
    /// When its time is over, and that limit.
    time: Option<(Instant, Duration)>,
    memory: Option<u64>,
    /// The memory of the process, in bytes, when it was first read during this work.
    at_first: Option<u64>,
    end: Box<dyn FnOnce(Exceeded) + Send>,
    exceeded: Arc<OnceLock<Exceeded>>,
}

struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// In the order of their starts.
    running: BTreeMap<u64, Running>,
    started: u64,
    /// When the memory is read next; `None` if no running work has a limit of memory.
    reads_memory: Option<Instant>,
    /// When the thread looks again by itself; `None` if it waits for the first work.
    wakes: Option<Instant>,
}

impl Watch {
    /// Starts the thread. `memory` returns the bytes that the process has now.
    fn start(memory: impl FnMut() -> Option<u64> + Send + 'static) -> Arc<Self> {
        let watch = Arc::new(Self { state: Mutex::default(), changed: Condvar::new() });
        let thread = std::thread::Builder::new().name("budgets of requests".to_owned());
        let started = thread.spawn({
            let watch = watch.clone();
            move || watch.run(memory)
        });
        if let Err(error) = started {
            tracing::warn!("requests have no limits of time and memory: {error}");
        }
        watch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(self: &Arc<Self>, budget: Budget, end: Box<dyn FnOnce(Exceeded) + Send>) -> Watched {
        let exceeded = Arc::<OnceLock<Exceeded>>::default();
        let now = Instant::now();
        // A limit beyond the clock is none.
        let time = budget.time.and_then(|limit| Some((now.checked_add(limit)?, limit)));
        let running =
            Running { time, memory: budget.memory, at_first: None, end, exceeded: exceeded.clone() };
        let mut state = self.lock();
        state.started += 1;
        let key = state.started;
        state.running.insert(key, running);
        if budget.memory.is_some() && state.reads_memory.is_none() {
            state.reads_memory = Some(now + INTERVAL);
        }
        // The thread also wakes for work that has ended, so that short requests one after the other do not wake it each time.
        let first = [time.map(|(due, _)| due), state.reads_memory].into_iter().flatten().min();
        if first.is_some_and(|first| state.wakes.is_none_or(|wakes| first < wakes)) {
            self.changed.notify_one();
        }
        Watched { watch: self.clone(), key, exceeded }
    }

    fn run(&self, mut memory: impl FnMut() -> Option<u64>) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if let Some((key, exceeded)) = state.late(now).or_else(|| state.largest(now, &mut memory)) {
                if let Some(Running { end, exceeded: says, .. }) = state.running.remove(&key) {
                    _ = says.set(exceeded);
                    drop(state);
                    end(exceeded);
                    state = self.lock();
                }
                continue;
            }
            let dues = state.running.values().filter_map(|running| Some(running.time?.0));
            state.wakes = dues.chain(state.reads_memory).min();
            state = match state.wakes {
                Some(due) => {
                    let waited = self.changed.wait_timeout(state, due.saturating_duration_since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl State {
    /// The work whose time was over first.
    fn late(&self, now: Instant) -> Option<(u64, Exceeded)> {
        let dues = self.running.iter().filter_map(|(key, running)| Some((running.time?, *key)));
        let ((_, limit), key) = dues.filter(|((due, _), _)| *due <= now).min()?;
        Some((key, Exceeded::Time(limit)))
    }

    /// Reads the memory if it is time to. Returns the work that started first of those during which the process grew by more than their
    /// limit. The others may not be to blame: their growth is counted from now on.
    fn largest(&mut self, now: Instant, memory: &mut impl FnMut() -> Option<u64>) -> Option<(u64, Exceeded)> {
        self.reads_memory.take_if(|due| *due <= now)?;
        let mut limited = self.running.iter_mut().filter(|(_, running)| running.memory.is_some()).peekable();
        limited.peek()?;
        self.reads_memory = Some(now + INTERVAL);
        let bytes = memory()?;
        let mut found = None;
        for (&key, running) in limited {
            let at_first = running.at_first.get_or_insert(bytes);
            // Memory that was freed in the meantime was not of this work.
            *at_first = bytes.min(*at_first);
            if let Some(limit) = running.memory.filter(|limit| bytes - *at_first > *limit) {
                found = found.or(Some((key, Exceeded::Memory(limit))));
                *at_first = bytes;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    fn time(ms: u64) -> Budget {
        Budget { time: Some(Duration::from_millis(ms)), memory: None }
    }

    #[test]
    fn what_takes_too_long_is_ended_in_the_order_of_the_limits() {
        let (ended, ends) = channel();
        let watched = [80, 20, 50].map(|ms| {
            let ended = ended.clone();
            watch(time(ms), move |_| ended.send(ms).unwrap())
        });
        let order: Vec<u64> = ends.iter().take(3).collect();
        assert_eq!(order, [20, 50, 80]);
        let limits = [80, 20, 50].map(|ms| Some(Exceeded::Time(Duration::from_millis(ms))));
        assert_eq!(watched.map(|watched| watched.exceeded()), limits);
    }

    #[test]
    fn what_ends_in_time_is_left_alone() {
        let (ended, ends) = channel();
        let watched = watch(time(10), move |_| ended.send(()).unwrap());
        assert_eq!(watched.exceeded(), None);
        drop(watched);
        assert!(ends.recv_timeout(Duration::from_millis(60)).is_err(), "the guard was dropped");
        let none = Budget { time: Some(Duration::MAX), memory: None };
        assert_eq!(watch(none, |_| ()).exceeded(), None);
    }

    #[test]
    fn what_grows_too_much_is_ended_and_only_that() {
        let (bytes, (ended, ends)) = (Arc::new(AtomicU64::new(500)), channel());
        let read = bytes.clone();
        let (was_read, reads) = channel();
        let watch = Watch::start(move || {
            let bytes = read.load(Ordering::Acquire);
            was_read.send(bytes).ok()?;
            Some(bytes)
        });
        let until = |wanted| {
            reads.try_iter().for_each(drop);
            assert!(reads.iter().any(|bytes| bytes == wanted));
        };
        let begin = |name: &'static str, limit| {
            let ended = ended.clone();
            let memory = Some(limit);
            watch.add(Budget { time: None, memory }, Box::new(move |_| ended.send(name).unwrap()))
        };
        let first = begin("first", 100);
        let second = begin("second", 100);
        let patient = begin("patient", 1_000);
        until(500);
        // 100 more are allowed.
        bytes.store(600, Ordering::Release);
        until(600);
        bytes.store(601, Ordering::Release);
        assert_eq!(ends.recv(), Ok("first"));
        assert_eq!((first.exceeded(), second.exceeded()), (Some(Exceeded::Memory(100)), None));
        drop(first);
        // Less than before: the second one starts from there, and is to blame for what is added.
        bytes.store(450, Ordering::Release);
        until(450);
        bytes.store(551, Ordering::Release);
        assert_eq!(ends.recv(), Ok("second"));
        assert_eq!(patient.exceeded(), None);
    }

    #[test]
    fn messages_have_the_limit_and_what_raises_it() {
        let says = |exceeded: Exceeded| exceeded.message("hover", ["--max-time", "--max-memory"]);
        let time = Exceeded::Time(Duration::from_millis(1500));
        assert_eq!(says(time), "hover took longer than 1.5 s; --max-time raises the limit");
        let memory = Exceeded::Memory(64 << 20);
        assert_eq!(says(memory), "hover took more than 64 MiB of memory; --max-memory raises the limit");
    }
}
