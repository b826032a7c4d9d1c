//! One request on its way: from its handler through the mailbox to the pool, possibly several times.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use ide::{Analysis, Cancellable, CancellationHandle, Cancelled};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{self, Url};

use super::mailbox::{Event, Mailbox};
use super::read_queue::Permit;
use super::snapshot::{Snapshot, View};

/// How a request is treated. The table of them is in `handlers.rs`.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) when_edited: WhenEdited,
}

/// What becomes of a request whose computation an edit has cancelled.
#[derive(Clone, Copy)]
pub(super) enum WhenEdited {
    /// It is computed again on the new text, its place moved along with the edits, at most this many times;
    /// after that as [`WhenEdited::Refuse`].
    Retry(u32),
    /// The client is told `ContentModified` and asks again if it still wants to know.
    Refuse,
}

/// The part of a document that is asked about, in the client's terms.
pub(super) enum Target {
    Document,
    At(lsp_types::Position),
    Range(lsp_types::Range),
    /// No document, but all that are open: see `View::open`.
    Workspace,
}

/// The same part in bytes, valid at one moment of the document's history; see `Document::find`.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) span: Range<usize>,
    /// Which opening of the document, and how many edits since then had been made.
    pub(super) generation: u64,
    pub(super) edits: u64,
}

pub(super) struct Read {
    pub(super) route: &'static Route,
    pub(super) uri: Url,
    pub(super) target: Target,
    /// Found by the main loop when the request first comes by, because positions mean the text at that moment.
    pub(super) place: Option<Place>,
    /// Held from the start of an attempt until its answer is taken to be written.
    pub(super) permit: Option<Permit>,
    retries: u32,
    cancel: Arc<CancelSlot>,
    work: Box<dyn Work>,
}

/// Makes a request and the future of its answer. Dropping the future cancels the request wherever it is.
///
/// `query` asks the analysis, as often as edits make it necessary; `convert` puts the answer into LSP's form.
pub(super) fn read<V: Send + 'static, T: Default + Send + 'static>(
    route: &'static Route,
    uri: Url,
    target: Target,
    query: impl FnMut(&Analysis, &View) -> Cancellable<V> + Send + 'static,
    convert: impl FnOnce(&View, V) -> T + Send + 'static,
) -> (Read, impl Future<Output = Result<T>>) {
    let (reply, answer) = oneshot::channel();
    let cancel = Arc::new(CancelSlot::default());
    let guard = CancelOnDrop(cancel.clone());
    let work = Box::new(Query { query, value: None, convert, reply });
    let read = Read { route, uri, target, place: None, permit: None, retries: 0, cancel, work };
    (read, async move {
        let _guard = guard;
        // The permit ends here: the threads of the runtime are few, and each has one answer between here and the outbox.
        let (answer, _permit) =
            answer.await.unwrap_or_else(|_| (Err(internal_error("the request was lost")), None));
        answer
    })
}

impl Read {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.lock().cancelled
    }

    /// Lets the client's cancellation reach the snapshot on which [`Read::run`] is going to work.
    pub(super) fn arm(&self, handle: CancellationHandle) {
        let mut slot = self.cancel.lock();
        if slot.cancelled {
            handle.cancel();
        }
        slot.handle = Some(handle);
    }

    /// Computes and answers, on a thread of the pool.
    pub(super) fn run(mut self, snapshot: Snapshot, mailbox: &Mailbox) {
        let Snapshot { analysis, view } = snapshot;
        let cancellation = analysis.cancellation();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work.compute(&analysis, &view)));
        // The next edit waits until every snapshot is gone, so this one goes before anything else happens.
        drop(analysis);
        match outcome {
            // If the client cancels it now nobody waits for the answer.
            Ok(Ok(())) => _ = cancellation.until_cancelled(|| self.work.answer(&view, self.permit)),
            Ok(Err(Cancelled::Local)) => self.work.fail(Error::request_cancelled()),
            Ok(Err(Cancelled::PendingWrite)) => match self.route.when_edited {
                WhenEdited::Retry(at_most) if self.retries < at_most => {
                    self.retries += 1;
                    self.permit = None;
                    mailbox.post(Event::Read(self));
                }
                _ => self.refuse(),
            },
            Err(panic) => {
                let message =
                    format!("{} failed, which is a bug: {}", self.route.method, panic_message(&*panic));
                tracing::error!("{message} ({})", self.uri);
                self.work.fail(internal_error(message));
            }
        }
    }

    /// Answers that the text has changed under the request.
    pub(super) fn refuse(self) {
        self.work.fail(Error::content_modified());
    }

    /// Answers "nothing": the document is not open, or cannot be analysed.
    pub(super) fn answer_nothing(self) {
        self.work.answer_nothing();
    }
}

/// A query and where its answer goes, without the types in between.
trait Work: Send {
    fn compute(&mut self, analysis: &Analysis, view: &View) -> Cancellable<()>;
    /// Sends what was computed.
    fn answer(self: Box<Self>, view: &View, permit: Option<Permit>);
    fn answer_nothing(self: Box<Self>);
    fn fail(self: Box<Self>, error: Error);
}

struct Query<Q, V, C, T> {
    query: Q,
    value: Option<V>,
    convert: C,
    reply: oneshot::Sender<(Result<T>, Option<Permit>)>,
}

// A reply that cannot be sent is one that nobody waits for any more.
impl<Q, V, C, T> Work for Query<Q, V, C, T>
where
    Q: FnMut(&Analysis, &View) -> Cancellable<V> + Send,
    V: Send,
    C: FnOnce(&View, V) -> T + Send,
    T: Default + Send,
{
    fn compute(&mut self, analysis: &Analysis, view: &View) -> Cancellable<()> {
        self.value = Some((self.query)(analysis, view)?);
        Ok(())
    }

    fn answer(self: Box<Self>, view: &View, permit: Option<Permit>) {
        let Self { value, convert, reply, .. } = *self;
        let answer = value.map(|value| convert(view, value)).unwrap_or_default();
        let _ = reply.send((Ok(answer), permit));
    }

    fn answer_nothing(self: Box<Self>) {
        let _ = self.reply.send((Ok(T::default()), None));
    }

    fn fail(self: Box<Self>, error: Error) {
        let _ = self.reply.send((Err(error), None));
    }
}

/// Shared by a request and the future of its answer. The request may be in the mailbox, on the pool or between
/// two attempts when the client loses interest.
#[derive(Default)]
struct CancelSlot(Mutex<CancelState>);

#[derive(Default)]
struct CancelState {
    cancelled: bool,
    /// The attempt that is running.
    handle: Option<CancellationHandle>,
}

impl CancelSlot {
    fn lock(&self) -> std::sync::MutexGuard<'_, CancelState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct CancelOnDrop(Arc<CancelSlot>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let mut slot = self.0.lock();
        slot.cancelled = true;
        // Also after the answer has come: cancelling a snapshot that is gone does nothing.
        if let Some(handle) = slot.handle.take() {
            handle.cancel();
        }
    }
}

fn internal_error(message: impl Into<String>) -> Error {
    Error { code: ErrorCode::InternalError, message: message.into().into(), data: None }
}

/// What a panic said.
pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
