//! Requests by which this project's tests bring the real server into rare states. They exist only if the
//! environment variable `HLO_ANALYZER_TEST_HOOKS=1` is set.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::TextDocumentIdentifier;
use tower_lsp::{LanguageServer, LspServiceBuilder};

use super::diagnostics;
use super::handlers::Handlers;
use super::read::{Route, Target, WhenEdited};

static SLEEP: Route = Route { method: "hlo-analyzer/test/sleep", when_edited: WhenEdited::Refuse };
static PANIC: Route = Route { method: "hlo-analyzer/test/panic", when_edited: WhenEdited::Refuse };
static DIAGNOSTICS: Route =
    Route { method: "hlo-analyzer/test/diagnostics", when_edited: WhenEdited::Retry(100) };
static TEXT: Route = Route { method: "hlo-analyzer/test/text", when_edited: WhenEdited::Retry(100) };

static SLEEPS: AtomicU64 = AtomicU64::new(0);

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers>
where
    Handlers: LanguageServer,
{
    if std::env::var_os("HLO_ANALYZER_TEST_HOOKS").is_none_or(|value| value != "1") {
        return service;
    }
    service
        .custom_method(SLEEP.method, Handlers::test_sleep)
        .custom_method(PANIC.method, Handlers::test_panic)
        .custom_method(DIAGNOSTICS.method, Handlers::test_diagnostics)
        .custom_method(TEXT.method, Handlers::test_text)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SleepParams {
    text_document: TextDocumentIdentifier,
    ms: u64,
    /// Do not check for cancellation, like a computation that forgets to.
    #[serde(default)]
    blocking: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentParams {
    text_document: TextDocumentIdentifier,
}

impl Handlers {
    /// Returns the number of these requests computed so far. Sleeps, and unless `blocking` checks for
    /// cancellation at intervals, as a long query would.
    async fn test_sleep(&self, params: SleepParams) -> Result<Value> {
        self.ask(
            &SLEEP,
            params.text_document.uri,
            Target::Document,
            move |analysis, _| {
                let computed = SLEEPS.fetch_add(1, Ordering::Relaxed) + 1;
                let end = Instant::now() + Duration::from_millis(params.ms);
                while let Some(left) = end.checked_duration_since(Instant::now()) {
                    std::thread::sleep(left.min(Duration::from_millis(if params.blocking { 50 } else { 1 })));
                    if !params.blocking {
                        analysis.check_cancelled()?;
                    }
                }
                Ok(computed)
            },
            |_, computed| json!(computed),
        )
        .await
    }

    async fn test_panic(&self, params: DocumentParams) -> Result<Value> {
        self.ask(
            &PANIC,
            params.text_document.uri,
            Target::Document,
            |_, _| -> ide::Cancellable<()> { panic!("a test asked for it") },
            |_, ()| Value::Null,
        )
        .await
    }

    /// The diagnostics that are published after a pause in typing.
    async fn test_diagnostics(&self, params: DocumentParams) -> Result<Value> {
        self.ask(
            &DIAGNOSTICS,
            params.text_document.uri,
            Target::Document,
            diagnostics::find_all,
            |view, found| json!(diagnostics::to_proto(view, found, 0).diagnostics),
        )
        .await
    }

    /// The text in the analysis.
    async fn test_text(&self, params: DocumentParams) -> Result<Value> {
        self.ask(
            &TEXT,
            params.text_document.uri,
            Target::Document,
            |analysis, view| Ok(analysis.rope(view.file).to_string()),
            |_, text| Value::String(text),
        )
        .await
    }
}
