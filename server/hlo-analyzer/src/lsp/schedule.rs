//! When the computations that follow a document start: after a pause in typing, or at once if they are cheap.

use std::time::{Duration, Instant};

use ide::CancellationHandle;

/// What took at most this long last time is computed at once. It is less than half of a
/// fast typist's key interval, so the next key is not delayed. Pending edits are applied first, and a new
/// edit cancels the computation.
const CHEAP: Duration = Duration::from_millis(15);
/// The minimum pause in typing before an expensive computation.
const PAUSE: Duration = Duration::from_millis(75);
/// The pause as a multiple of the last cost, so that at most a quarter of the time goes into results that are
/// discarded.
const TIMES_THE_COST: u32 = 3;
/// The largest age of pending changes, while typing continues, at which a computation starts.
const PATIENCE: Duration = Duration::from_millis(500);

/// The schedule of one computation of a document. At most one runs at a time, so results arrive in the order of
/// their texts, and a stale result cannot replace a newer one.
#[derive(Default)]
pub(super) struct Schedule {
    stale: Option<Stale>,
    running: Option<Running>,
    /// The duration of the last computation. A cancelled one counts only if it already took longer than the
    /// previous cost.
    cost: Option<Duration>,
    /// Whether cheap computations also wait for a pause, because results for half-typed text would flicker.
    awaits_pauses: bool,
}

#[derive(Clone, Copy)]
struct Stale {
    /// The time of the first change since the published result.
    since: Instant,
    /// The time of the latest change.
    changed: Instant,
}

struct Running {
    since: Instant,
    started: Instant,
    handle: CancellationHandle,
}

impl Schedule {
    /// A schedule for results that are updated only after a pause.
    pub(super) fn of_pauses() -> Schedule {
        Schedule { awaits_pauses: true, ..Schedule::default() }
    }

    /// Records a change of the text, or of what is computed from it.
    pub(super) fn changed(&mut self, now: Instant) {
        let since = self.stale.map_or(now, |stale| stale.since);
        self.stale = Some(Stale { since, changed: now });
    }

    /// Skips the pause, for example for a document that has just been opened.
    pub(super) fn at_once(&mut self, now: Instant) {
        let earlier = now.checked_sub(PAUSE).unwrap_or(now);
        self.stale = Some(Stale { since: earlier, changed: earlier });
    }

    /// The start of the next computation; `None` while one runs or if nothing has changed.
    pub(super) fn due(&self) -> Option<Instant> {
        let stale = self.stale.filter(|_| self.running.is_none())?;
        let pause = match self.cost {
            Some(cost) if cost <= CHEAP && !self.awaits_pauses => Duration::ZERO,
            Some(cost) => (cost * TIMES_THE_COST).min(PAUSE),
            None => PAUSE,
        };
        Some((stale.changed + pause).min(stale.since + PATIENCE))
    }

    pub(super) fn started(&mut self, handle: CancellationHandle, now: Instant) {
        if let Some(stale) = self.stale.take() {
            self.running = Some(Running { since: stale.since, started: now, handle });
        }
    }

    /// Records the end of a computation. One that an edit to any document cancelled is scheduled again.
    pub(super) fn ended(&mut self, cancelled: bool, now: Instant) {
        let Some(running) = self.running.take() else { return };
        let took = now.saturating_duration_since(running.started);
        if cancelled {
            let changed = self.stale.map_or(now, |stale| stale.changed);
            self.stale = Some(Stale { since: running.since, changed });
            // A computation that is no longer cheap waits for a pause, and can then complete.
            self.cost = self.cost.map(|cost| cost.max(took));
        } else {
            self.cost = Some(took);
        }
    }

    /// Cancels the running computation of a closed document.
    pub(super) fn cancel(&mut self) {
        self.stale = None;
        if let Some(running) = self.running.take() {
            running.handle.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn a_pause_is_awaited_but_not_for_ever() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        assert_eq!(schedule.due(), None);
        schedule.changed(start);
        assert_eq!(schedule.due(), Some(at(start, 75)));
        for ms in (50..2000).step_by(50) {
            schedule.changed(at(start, ms));
        }
        assert_eq!(schedule.due(), Some(at(start, 500)));
    }

    fn compute(schedule: &mut Schedule, start: Instant, ms: u64, is_cancelled: bool) {
        let mut host = ide::AnalysisHost::new();
        _ = host.open("a.hlo", ide::Language::Hlo, "");
        schedule.started(host.analysis().cancellation(), start);
        schedule.ended(is_cancelled, at(start, ms));
    }

    /// A schedule whose last computation took `ms`.
    fn after(ms: u64, start: Instant) -> Schedule {
        let mut schedule = Schedule::default();
        schedule.at_once(start);
        compute(&mut schedule, start, ms, false);
        schedule
    }

    #[test]
    fn what_is_cheap_waits_for_nothing_and_the_rest_the_less_the_cheaper_it_is() {
        let start = Instant::now();
        for (cost, pause) in [(2, 0), (15, 0), (20, 60), (200, 75)] {
            let mut schedule = after(cost, start);
            assert_eq!(schedule.due(), None);
            schedule.changed(at(start, 1000));
            assert_eq!(schedule.due(), Some(at(start, 1000 + pause)));
        }
        let mut schedule = Schedule { awaits_pauses: true, ..after(2, start) };
        schedule.changed(at(start, 1000));
        assert_eq!(schedule.due(), Some(at(start, 1006)));
    }

    #[test]
    fn what_is_not_cheap_any_more_is_cancelled_once() {
        let start = Instant::now();
        let mut schedule = after(2, start);
        schedule.changed(at(start, 1000));
        compute(&mut schedule, at(start, 1000), 90, true);
        schedule.changed(at(start, 1090));
        assert_eq!(schedule.due(), Some(at(start, 1165)));
        // A computation cancelled at once gives no information about its cost.
        let mut schedule = after(2, start);
        schedule.changed(at(start, 1000));
        compute(&mut schedule, at(start, 1000), 1, true);
        schedule.changed(at(start, 1001));
        assert_eq!(schedule.due(), Some(at(start, 1001)));
    }

    #[test]
    fn opening_needs_no_pause() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.at_once(start);
        assert!(schedule.due().is_some_and(|due| due <= start));
    }
}
