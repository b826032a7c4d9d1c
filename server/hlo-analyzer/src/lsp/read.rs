//! The path of one request: from its handler through the mailbox to the pool, possibly several times.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use ide::{Cancellable, CancellationHandle, Cancelled};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{self, Url};

use super::config::RAISES_BUDGET;
use super::mailbox::{Event, Mailbox};
use super::read_queue::Permit;
use super::requests::Request;
use super::snapshot::{Snapshot, View};
use crate::budget::{self, Budget, Exceeded, Watched};

/// The error code of LSP 3.17 for a request that is correct and failed.
pub(super) const REQUEST_FAILED: i64 = -32803;

/// The handling of a request whose computation an edit of its document has cancelled.
#[derive(Clone, Copy)]
pub(super) enum WhenEdited {
    /// Computed again on the new text, its place moved along with the edits, at most this many times; after
    /// that like [`WhenEdited::Refuse`].
    Retry(u32),
    /// The response is `ContentModified`; the client asks again if it still needs the result.
    Refuse,
}

/// The part of a document that a request is about, in LSP positions.
pub(super) enum Target {
    Document,
    At(lsp_types::Position),
    Range(lsp_types::Range),
    /// All open documents instead of one: see `View::open`.
    Workspace,
    /// The dump folder that has this file, or that this is.
    Folder,
}

/// The same part in bytes, valid at one revision of the document; see `Document::find`.
#[derive(Clone)]
pub(super) struct DocumentSpan {
    pub(super) span: Range<usize>,
    /// Whether it is all of the document, however that is edited.
    pub(super) is_whole: bool,
    /// The opening of the document, and the number of edits since then.
    pub(super) generation: u64,
    pub(super) edits: u64,
}

/// A request is computed again so often if its document was not edited: an edit of another document, a listing of a
/// dump folder or a change of settings has cancelled it.
const MAX_UNEDITED_RETRIES: u32 = 100;

pub(super) struct Read {
    pub(super) method: &'static str,
    when_edited: WhenEdited,
    pub(super) uri: Url,
    pub(super) target: Target,
    /// Resolved by the main loop when the request is first taken out, because positions refer to the text at
    /// that time.
    pub(super) place: Option<DocumentSpan>,
    /// Held from the start of an attempt until its response is taken for writing.
    pub(super) permit: Option<Permit>,
    /// The number of changes when it last started; see `MainLoop::hold`.
    pub(super) changes: u64,
    retries: u32,
    cancel: Arc<CancelSlot>,
    work: Box<dyn Work>,
}

/// The response; `None` if the document is not open or cannot be analysed.
pub(super) type Answer<R> = Result<Option<<R as Request>::Response>>;

/// Creates a request and the future of its response. Dropping the future cancels the request in any state.
pub(super) fn read<R: Request>(
    uri: Url,
    target: Target,
    params: R::Params,
) -> (Read, impl Future<Output = Answer<R>>) {
    let (reply, answer) = oneshot::channel();
    let (over, is_over) = oneshot::channel();
    let cancel = Arc::new(CancelSlot::default());
    cancel.lock().over = Some(over);
    let guard = CancelOnDrop(cancel.clone());
    let slot = cancel.clone();
    let work = Box::new(Asked::<R> { params, found: None, reply });
    let (method, when_edited) = (R::METHOD, R::WHEN_EDITED);
    let (place, permit) = (None, None);
    let read = Read { method, when_edited, uri, target, place, permit, changes: 0, retries: 0, cancel, work };
    (read, async move {
        let _guard = guard;
        // The permit is released here: the runtime has few threads, and each holds one response between here
        // and the outbox.
        let (answer, _permit) = tokio::select! {
            biased;
            answer = answer => answer.unwrap_or_else(|_| {
                let is_stopped = slot.lock().is_stopped;
                let error = match is_stopped {
                    true => Error::request_cancelled(),
                    false => internal_error("the request was lost"),
                };
                (Err(error), None)
            }),
            // At once: the computation may wait for another thread, or not look for a cancellation.
            Ok(exceeded) = is_over => (Err(took_too_much(R::METHOD, exceeded)), None),
        };
        answer
    })
}

impl Read {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.lock().cancelled
    }

    /// Stops it as the client's `$/cancelRequest` does, but with a response.
    pub(super) fn canceller(&self) -> Box<dyn Fn() + Send> {
        let slot = self.cancel.clone();
        Box::new(move || {
            let mut slot = slot.lock();
            slot.is_stopped = true;
            if let Some(handle) = &slot.handle {
                handle.cancel();
            }
        })
    }

    /// Answers with an error when the budget is used up, which cancels the computation.
    pub(super) fn watch(&self, budget: Budget) -> Watched {
        let slot = self.cancel.clone();
        budget::watch(budget, move |exceeded| {
            let over = slot.lock().over.take();
            // Without a receiver, nobody waits any longer.
            _ = over.map(|over| over.send(exceeded));
        })
    }

    /// Whether it is computed again after a change of the database has cancelled it.
    pub(super) fn may_run_again(&mut self, is_edited: bool) -> bool {
        let at_most = match self.when_edited {
            WhenEdited::Retry(at_most) if is_edited => at_most,
            WhenEdited::Refuse if is_edited => 0,
            WhenEdited::Retry(at_most) => at_most.max(MAX_UNEDITED_RETRIES),
            WhenEdited::Refuse => MAX_UNEDITED_RETRIES,
        };
        let may_run = self.retries < at_most;
        self.retries += u32::from(may_run);
        may_run
    }

    /// Connects the client's cancellation to the snapshot on which [`Read::run`] works.
    pub(super) fn arm(&self, handle: CancellationHandle) {
        let mut slot = self.cancel.lock();
        if slot.cancelled {
            handle.cancel();
        }
        slot.handle = Some(handle);
    }

    /// Computes and responds, on a thread of the pool.
    pub(super) fn run(mut self, snapshot: Snapshot, mailbox: &Mailbox) {
        let cancellation = snapshot.analysis.cancellation();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work.compute(&snapshot)));
        let Snapshot { analysis, view } = snapshot;
        // The next edit waits until every snapshot is dropped, so drop this one first.
        drop(analysis);
        match outcome {
            // If the client cancels it now, the response is not needed.
            Ok(Ok(IsReady::Yes)) => {
                _ = cancellation.until_cancelled(|| self.work.answer(&view, self.permit));
            }
            Ok(Ok(IsReady::AfterNextChange)) => {
                self.permit = None;
                mailbox.post(Event::Hold(self));
            }
            Ok(Err(Cancelled::Local)) => self.work.fail(Error::request_cancelled()),
            Ok(Err(Cancelled::PendingWrite)) => {
                self.permit = None;
                mailbox.post(Event::Interrupted(self));
            }
            Err(panic) => {
                let message = format!("{} failed, which is a bug: {}", self.method, panic_message(&*panic));
                tracing::error!("{message} ({})", self.uri);
                self.work.fail(internal_error(message));
            }
        }
    }

    /// Responds that the text has changed during the request.
    pub(super) fn refuse(self) {
        self.work.fail(Error::content_modified());
    }

    /// Responds with an empty result: the document is not open, or cannot be analysed.
    pub(super) fn answer_nothing(self) {
        self.work.answer_nothing();
    }
}

/// Whether a result is worth a response now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IsReady {
    Yes,
    /// It repeats what the client has: the request is computed again after the next change.
    AfterNextChange,
}

/// A request and the channel of its response, with the types erased.
trait Work: Send {
    fn compute(&mut self, snapshot: &Snapshot) -> Cancellable<IsReady>;
    /// Sends the result.
    fn answer(self: Box<Self>, view: &View, permit: Option<Permit>);
    fn answer_nothing(self: Box<Self>);
    fn fail(self: Box<Self>, error: Error);
}

struct Asked<R: Request> {
    params: R::Params,
    found: Option<R::Found>,
    reply: oneshot::Sender<(Answer<R>, Option<Permit>)>,
}

// If a reply cannot be sent, its receiver no longer waits.
impl<R: Request> Work for Asked<R> {
    fn compute(&mut self, snapshot: &Snapshot) -> Cancellable<IsReady> {
        let found = R::run(snapshot, &self.params)?;
        let ready = R::is_ready(&found);
        self.found = Some(found);
        Ok(ready)
    }

    fn answer(self: Box<Self>, view: &View, permit: Option<Permit>) {
        let Self { params, found, reply } = *self;
        let answer = found.map(|found| R::respond(view, params, found)).transpose();
        let _ = reply.send((answer, permit));
    }

    fn answer_nothing(self: Box<Self>) {
        let _ = self.reply.send((Ok(None), None));
    }

    fn fail(self: Box<Self>, error: Error) {
        let _ = self.reply.send((Err(error), None));
    }
}

/// Shared by a request and the future of its response. The request may be in the mailbox, on the pool or
/// between two attempts when the client cancels it.
#[derive(Default)]
struct CancelSlot(Mutex<CancelState>);

#[derive(Default)]
struct CancelState {
    cancelled: bool,
    /// Cancelled by the server itself, which then responds.
    is_stopped: bool,
    /// Answers that it has used up its budget.
    over: Option<oneshot::Sender<Exceeded>>,
    /// The cancellation handle of the running attempt.
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
        // Also after the response has arrived: cancelling a dropped snapshot has no effect.
        if let Some(handle) = slot.handle.take() {
            handle.cancel();
        }
    }
}

fn took_too_much(method: &str, exceeded: Exceeded) -> Error {
    let message = exceeded.message(method, RAISES_BUDGET);
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: message.into(), data: None }
}

fn internal_error(message: impl Into<String>) -> Error {
    Error { code: ErrorCode::InternalError, message: message.into().into(), data: None }
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
