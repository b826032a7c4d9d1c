//! The intervals between cancellation checks, which bound how long a cancelled read continues.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hlo_analyzer_tests::busy::{self, Busy};
use ide::{
    Analysis, AnalysisHost, CancellationHandle, Cancelled, DomainHints, FileId, InlayHintsConfig, Language,
    Wanted,
};

/// CPU time of this thread. Its resolution is that of the system's scheduler: some milliseconds.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(stat.split(' ').next()?.parse().ok()?))
}

/// Observations of one read.
#[derive(Default)]
struct Seen {
    checks: usize,
    /// The last check: its thread and that thread's CPU time.
    last: Option<(std::thread::ThreadId, Duration)>,
    largest: Duration,
    /// The handle of the read, and the time at which to cancel it.
    cancel: Option<(CancellationHandle, Instant)>,
}

impl Seen {
    fn check(&mut self) {
        self.checks += 1;
        let Some(now) = processor_time() else {
            return test_files::needs::print_once(
                "the system does not report CPU times: they are not checked",
            );
        };
        let thread = std::thread::current().id();
        if let Some((_, last)) = self.last.filter(|(of, _)| *of == thread) {
            self.largest = self.largest.max(now.saturating_sub(last));
        }
        self.last = Some((thread, now));
        if let Some((handle, at)) = &self.cancel
            && Instant::now() > *at
        {
            handle.cancel();
        }
    }
}

type Ask = fn(&Analysis, FileId, usize) -> Result<(), Cancelled>;

const READS: [(&str, Ask); 10] = [
    ("evaluate", |a, file, at| {
        let arguments = ide::Arguments { literals: Vec::new(), fill: Some(ide::Fill::Iota) };
        a.evaluate_at(file, at, &arguments, ide::Form::Summary).map(drop)
    }),
    ("convert", |a, file, _| a.convert(file).map(drop)),
    ("inlay hints", |a, file, _| {
        let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: true };
        a.inlay_hints(file, 0..a.text(file).len_bytes(), &config).map(drop)
    }),
    ("code actions", |a, file, at| a.code_actions(file, at..at, Wanted::Changes).map(drop)),
    ("kernel functions", |a, file, at| a.kernel_functions(file, at).map(drop)),
    ("kernels", |a, file, _| a.look_at_kernels(file).map(drop)),
    ("hover", |a, file, at| a.hover(file, at).map(drop)),
    ("diagnostics", |a, file, _| a.diagnostics(file, 1000).map(drop)),
    ("semantic tokens", |a, file, _| {
        a.semantic_tokens(file, 0..a.text(file).len_bytes(), usize::MAX).map(drop)
    }),
    ("statistics", |a, file, _| a.statistics(file).map(drop)),
];

/// Checks that no read continues for long after a cancellation at any moment.
fn check(busy: &Busy) {
    for (name, ask) in READS {
        let seen = Arc::<Mutex<Seen>>::default();
        let sink = seen.clone();
        let mut host = AnalysisHost::new();
        host.observe_checks(move || sink.lock().expect("no test panics inside").check());
        let language = if busy.language == "mlir" { Language::Mlir } else { Language::Hlo };
        let file = host.open("busy", language, &busy.text);
        let line: usize = busy.text.split_inclusive('\n').take(busy.line).map(str::len).sum();
        let analysis = host.analysis();
        // Long enough to be in the middle of the read.
        let end = Instant::now() + Duration::from_secs(1);
        seen.lock().expect("no test panics inside").cancel = Some((analysis.cancellation(), end));
        let answer = ask(&analysis, file, line + 8);
        let seen = seen.lock().expect("no test panics inside");
        let how = if answer.is_err() { "cancelled" } else { "done" };
        eprintln!(
            "{}: {name}: {how}, {} checks, at most {:?} of processor time apart",
            busy.name, seen.checks, seen.largest
        );
        assert!(answer.is_ok() || answer == Err(Cancelled::Local));
        assert!(seen.checks > 0, "{}: {name}", busy.name);
        // Tests are less optimised than servers.
        assert!(seen.largest < Duration::from_millis(500), "{}: {name}: {:?}", busy.name, seen.largest);
    }
}

#[test]
fn evaluations_check_often() {
    check(&busy::products());
    check(&busy::sorted());
}

#[test]
fn reads_of_nested_fusions_check_often() {
    check(&busy::nested(48));
}

#[test]
fn reads_of_wide_tuples_check_often() {
    check(&busy::wide_tuple(8_000));
}

#[test]
fn reads_of_long_chains_check_often() {
    check(&busy::chain(12_000));
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn reads_of_what_once_froze_check_often() {
        busy::of_the_past().iter().for_each(check);
    }
}
