//! A request that takes as much time and memory as a test asks for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

/// Returns the number of these requests computed so far. Sleeps, and unless `blocking` checks for cancellation at
/// intervals, as a long query would.
pub(in crate::lsp) struct TestSleep;

static SLEEPS: AtomicU64 = AtomicU64::new(0);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct SleepParams {
    text_document: TextDocumentIdentifier,
    ms: u64,
    /// Do not check for cancellation, like a computation that forgets to.
    #[serde(default)]
    blocking: bool,
    /// The MiB that it holds, once half of its time is over.
    #[serde(default)]
    mib: usize,
}

impl Request for TestSleep {
    const METHOD: &'static str = "hlo-analyzer/test/sleep";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = SleepParams;
    type Found = u64;
    type Response = Value;

    fn subject(params: &SleepParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, .. }: &Snapshot, params: &SleepParams) -> Cancellable<Self::Found> {
        let computed = SLEEPS.fetch_add(1, Ordering::Relaxed) + 1;
        let end = Instant::now() + Duration::from_millis(params.ms);
        let mut held = Vec::new();
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            std::thread::sleep(left.min(Duration::from_millis(if params.blocking { 50 } else { 1 })));
            if !params.blocking {
                analysis.check_cancelled()?;
            }
            if held.is_empty() && left.as_millis() < u128::from(params.ms / 2) {
                held = std::hint::black_box(vec![1_u8; params.mib << 20]);
            }
        }
        Ok(computed)
    }

    fn respond(_: &View, _: SleepParams, computed: Self::Found) -> Result<Self::Response> {
        Ok(json!(computed))
    }
}
