//! Diagnostics, pushed when the user pauses; those that are cheap, with each edit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ide::{Analysis, Cancellable, CancellationHandle, Cancelled, CoalescingConfig, WarningsConfig};
use tower_lsp::lsp_types::{self, DiagnosticSeverity, NumberOrString, PublishDiagnosticsParams, Url};

use super::read::panic_message;
use super::snapshot::{Snapshot, View};

/// Findings that took no longer than this the last time are computed at once: less than half of the time between two keys of a
/// fast typist, so that the next key waits for nothing. Edits that are waiting already go first, and one that comes cancels.
const CHEAP: Duration = Duration::from_millis(15);
/// Typing must pause so long before others are computed, where they took long…
const PAUSE: Duration = Duration::from_millis(75);
/// …and else so many times as long as they took: no more than a quarter of the time goes into findings nobody waits for…
const TIMES_THE_COST: u32 = 3;
/// …but while it goes on, they are no older than this when the computing starts.
const PATIENCE: Duration = Duration::from_millis(500);

/// Says how many findings are left out.
pub(super) const LIMIT_CODE: &str = "diagnostics-limit";

/// When a document's findings are due. At most one computation per document runs at a time, so results come in
/// the order of the texts they are about and a stale one cannot be published over a newer one.
#[derive(Default)]
pub(super) struct Schedule {
    stale: Option<Stale>,
    running: Option<Running>,
    /// How long the last computation took; of one that was cancelled, if it had taken longer already than the one before.
    cost: Option<Duration>,
    /// All findings of some text of the document have been published.
    pub(super) is_complete: bool,
    /// What is cheap awaits a pause, too: what is half typed would only make it flicker.
    awaits_pauses: bool,
}

#[derive(Clone, Copy)]
struct Stale {
    /// The first change that the published findings do not know.
    since: Instant,
    /// The newest.
    changed: Instant,
}

struct Running {
    since: Instant,
    started: Instant,
    handle: CancellationHandle,
}

impl Schedule {
    /// Of what is wanted of texts that stay for a moment.
    pub(super) fn of_pauses() -> Schedule {
        Schedule { awaits_pauses: true, ..Schedule::default() }
    }

    /// The text has changed, or what is wanted of it.
    pub(super) fn changed(&mut self, now: Instant) {
        let since = self.stale.map_or(now, |stale| stale.since);
        self.stale = Some(Stale { since, changed: now });
    }

    /// There is nothing to wait for: the document has just been opened.
    pub(super) fn at_once(&mut self, now: Instant) {
        let earlier = now.checked_sub(PAUSE).unwrap_or(now);
        self.stale = Some(Stale { since: earlier, changed: earlier });
    }

    /// When the next computation is to start; `None` while one runs or if there is nothing to do.
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

    /// The computation has ended; if an edit to any document cancelled it, it is wanted again.
    pub(super) fn ended(&mut self, cancelled: bool, now: Instant) {
        let Some(running) = self.running.take() else { return };
        let took = now.saturating_duration_since(running.started);
        if cancelled {
            let changed = self.stale.map_or(now, |stale| stale.changed);
            self.stale = Some(Stale { since: running.since, changed });
            // What was cheap is not any more: it waits for a pause, and then ends.
            self.cost = self.cost.map(|cost| cost.max(took));
        } else {
            self.cost = Some(took);
        }
    }

    /// Stops what is running, for a document that is closed.
    pub(super) fn cancel(&mut self) {
        self.stale = None;
        if let Some(running) = self.running.take() {
            running.handle.cancel();
        }
    }
}

/// How a computation ended, and for which opening of which document.
pub(super) struct Finished {
    pub(super) uri: Url,
    pub(super) generation: u64,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Publish(PublishDiagnosticsParams),
    /// What is known already of a text whose kernels take a while; the rest follows.
    Early(PublishDiagnosticsParams),
    Cancelled,
    /// A panic, already logged. The findings published last stay until the text changes.
    Failed,
}

/// Runs on the pool.
/// `early` takes what is found before the kernels are looked at.
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

/// What is wrong, and in the room that is left, what is unneeded.
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

/// What kernels waste, in the room that is left.
fn find_in_kernels(analysis: &Analysis, view: &View, found: &mut ide::Diagnostics) -> Cancellable<()> {
    let settings = &view.session.settings;
    let config = CoalescingConfig { threshold: settings.coalescing_threshold, marks_causes: true };
    let room = settings.diagnostics_limit.saturating_sub(found.shown.len());
    let wasted = analysis.coalescing_warnings(view.file, &config, room)?;
    found.shown.extend(wasted.shown);
    found.omitted += wasted.omitted;
    Ok(())
}

/// All that [`compute`] publishes in the end.
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
    // Hints alone are no reason for a notice: the file is clean.
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

    /// A schedule of a document whose findings took so long.
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
        // One that is cancelled at once says nothing of what it would have taken.
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
