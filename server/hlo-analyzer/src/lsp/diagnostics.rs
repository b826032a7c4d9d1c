//! Diagnostics, pushed after a pause in typing, or after each edit if they are cheap.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ide::{Analysis, Cancellable, CancellationHandle, Cancelled, CoalescingConfig, WarningsConfig};
use tower_lsp::lsp_types::{self, DiagnosticSeverity, NumberOrString, PublishDiagnosticsParams, Url};

use super::read::panic_message;
use super::snapshot::{Snapshot, View};

/// Diagnostics whose last computation took at most this long are computed at once. It is less than half of a
/// fast typist's key interval, so the next key is not delayed. Pending edits are applied first, and a new
/// edit cancels the computation.
const CHEAP: Duration = Duration::from_millis(15);
/// The minimum pause in typing before expensive diagnostics are computed.
const PAUSE: Duration = Duration::from_millis(75);
/// The pause as a multiple of the last cost, so that at most a quarter of the time goes into diagnostics that
/// are discarded.
const TIMES_THE_COST: u32 = 3;
/// The largest age of pending changes, while typing continues, at which a computation starts.
const PATIENCE: Duration = Duration::from_millis(500);

/// The code of the notice about omitted diagnostics.
pub(super) const LIMIT_CODE: &str = "diagnostics-limit";

/// The schedule of a document's diagnostics. At most one computation per document runs at a time, so results
/// arrive in the order of their texts, and a stale result cannot replace a newer one.
#[derive(Default)]
pub(super) struct Schedule {
    stale: Option<Stale>,
    running: Option<Running>,
    /// The duration of the last computation. A cancelled one counts only if it already took longer than the
    /// previous cost.
    cost: Option<Duration>,
    /// Whether all diagnostics of some version of the document have been published.
    pub(super) is_complete: bool,
    /// Whether cheap computations also wait for a pause, because results for half-typed text would flicker.
    awaits_pauses: bool,
}

#[derive(Clone, Copy)]
struct Stale {
    /// The time of the first change since the published diagnostics.
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

/// The outcome of a computation, and the opening of the document it belongs to.
pub(super) struct Finished {
    pub(super) uri: Url,
    pub(super) generation: u64,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Publish(PublishDiagnosticsParams),
    /// The diagnostics available before slow kernel analyses finish; the rest follow.
    Early(PublishDiagnosticsParams),
    Cancelled,
    /// A panic, already logged. The published diagnostics stay until the text changes.
    Failed,
}

/// Computes on the pool. `early` receives the diagnostics that precede the kernel analysis.
pub(super) fn compute(
    snapshot: Snapshot,
    version: i32,
    early: Option<&dyn Fn(PublishDiagnosticsParams)>,
) -> Outcome {
    let Snapshot { analysis, view } = snapshot;
    let found = catch_unwind(AssertUnwindSafe(|| {
        let mut found = find(&analysis, &view)?;
        if view.session.settings.warns_of(ide::UNCOALESCED) {
            if let Some(early) = early.filter(|_| analysis.has_many_kernels(view.file).unwrap_or(false)) {
                early(to_proto(&view, found.clone(), version));
            }
            find_in_kernels(&analysis, &view, &mut found)?;
        }
        Ok(found)
    }));
    // Edits wait for the snapshot, not for the conversion.
    drop(analysis);
    match found {
        Ok(Ok(found)) => Outcome::Publish(to_proto(&view, found, version)),
        Ok(Err(Cancelled::PendingWrite | Cancelled::Local)) => Outcome::Cancelled,
        Err(panic) => {
            let message = panic_message(&*panic);
            tracing::error!("the diagnostics of {} failed, which is a bug: {message}", view.uri);
            Outcome::Failed
        }
    }
}

/// Errors, and up to the limit warnings about unneeded code.
fn find(analysis: &Analysis, view: &View) -> Cancellable<ide::Diagnostics> {
    let settings = &view.session.settings;
    let mut found = analysis.diagnostics(view.file, settings.diagnostics_limit)?;
    let is_disabled = |code: &str| settings.disabled_warnings.iter().any(|disabled| disabled == code);
    found.shown.retain(|d| d.severity == ide::Severity::Error || !is_disabled(d.code));
    if settings.warnings {
        let config = WarningsConfig {
            disabled: settings.disabled_warnings.clone(),
            unoptimized: settings.unoptimized_hints,
            ..WarningsConfig::default()
        };
        let room = settings.diagnostics_limit.saturating_sub(found.shown.len());
        let warnings = analysis.warnings(view.file, &config, room)?;
        found.shown.extend(warnings.shown);
        found.omitted += warnings.omitted;
        found.omitted_hints += warnings.omitted_hints;
    }
    Ok(found)
}

/// Warnings about kernels, up to the limit.
fn find_in_kernels(analysis: &Analysis, view: &View, found: &mut ide::Diagnostics) -> Cancellable<()> {
    let settings = &view.session.settings;
    let config = CoalescingConfig { threshold: settings.coalescing_threshold, marks_causes: true };
    let room = settings.diagnostics_limit.saturating_sub(found.shown.len());
    let wasted = analysis.coalescing_warnings(view.file, &config, room)?;
    found.shown.extend(wasted.shown);
    found.omitted += wasted.omitted;
    Ok(())
}

/// All diagnostics that [`compute`] publishes in the end.
pub(super) fn find_all(analysis: &Analysis, view: &View) -> Cancellable<ide::Diagnostics> {
    let mut found = find(analysis, view)?;
    if view.session.settings.warns_of(ide::UNCOALESCED) {
        find_in_kernels(analysis, view, &mut found)?;
    }
    Ok(found)
}

pub(super) fn to_proto(view: &View, found: ide::Diagnostics, version: i32) -> PublishDiagnosticsParams {
    let limit = view.session.settings.diagnostics_limit;
    let mut diagnostics: Vec<_> = found.shown.into_iter().map(|finding| view.diagnostic(finding)).collect();
    // Omitted hints alone need no notice: the file is clean.
    if found.omitted > 0 {
        let omitted = found.omitted + found.omitted_hints;
        diagnostics.push(lsp_types::Diagnostic {
            severity: Some(DiagnosticSeverity::INFORMATION),
            code: Some(NumberOrString::String(LIMIT_CODE.into())),
            code_description: view.code_description(LIMIT_CODE),
            source: Some(env!("CARGO_PKG_NAME").into()),
            message: format!(
                "{omitted} more findings are not shown; raise the setting hlo-analyzer.diagnostics.limit, which is {limit}"
            ),
            ..Default::default()
        });
    }
    PublishDiagnosticsParams { uri: view.uri.clone(), diagnostics, version: Some(version) }
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
