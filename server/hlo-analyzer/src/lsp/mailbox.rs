//! The one queue of events for the main loop.

use std::path::PathBuf;
use std::sync::mpsc;

use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::Id;
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidOpenTextDocumentParams, FileEvent, ProgressToken, Url,
    WorkspaceFoldersChangeEvent,
};

use super::capabilities::ClientProfile;
use super::dump_folders::Listed;
use super::jobs::Progress;
use super::read::Read;
use super::work_done::Work;

/// All events of the main loop.
pub(super) enum Event {
    /// The client's capabilities, the user's settings if sent (`initializationOptions`), and the open
    /// folders.
    Initialize(ClientProfile, Option<Value>, Vec<PathBuf>),
    /// `workspace/didChangeConfiguration`.
    Configure(Value),
    /// Disables a warning for the rest of this session.
    DisableWarning(String),
    /// Requests the server's version and state.
    Status(oneshot::Sender<Value>),
    Open(DidOpenTextDocumentParams),
    Change(DidChangeTextDocumentParams),
    Close(Url),
    /// A request from the client.
    Read(Read),
    /// A request that a change of the database has cancelled.
    Interrupted(Read),
    /// A request that has nothing to report until something changes.
    Hold(Read),
    /// The client's response to a request of the server.
    Answered(Id, Result<Value, Value>),
    /// `initialized`.
    Initialized,
    /// `workspace/didChangeWorkspaceFolders`.
    FoldersChanged(WorkspaceFoldersChangeEvent),
    /// `textDocument/didSave`.
    Saved(Url),
    /// Work has started that may take long, see `work_done.rs`.
    WorkStarted(Work),
    WorkEnded(u64),
    /// `window/workDoneProgress/cancel`.
    CancelWork(ProgressToken),
    /// `workspace/didChangeWatchedFiles`.
    FilesChanged(Vec<FileEvent>),
    /// A dump folder was listed.
    Listed(Listed),
    /// A read has ended or the client has read output: waiting reads may start.
    Room,
    /// A computation that follows a document has ended, by success or not, or has something to tell before.
    Progress(Progress),
    /// The assembler has finished some text.
    Assembled,
    /// A hover or a lens needs the memory of this document.
    PlanMemory(Url),
    /// A hover, a hint or a lens needs the kernels that this document would become.
    PlanKernels(Url),
    /// Shows the user this message, unless it was shown before.
    WarnOnce(String),
    /// Asks the client to show these files.
    ShowDocuments(Vec<Url>),
    /// The connection has ended: the main loop ends too.
    End,
}

/// Any number of senders post; the main loop takes events in the order in which they were posted. Unbounded,
/// because a full queue would block a handler and with it every later message.
#[derive(Clone)]
pub(super) struct Mailbox(mpsc::Sender<Event>);

impl Mailbox {
    pub(super) fn new() -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel();
        (Self(sender), receiver)
    }

    /// Never blocks and never fails: without a main loop the process is ending.
    pub(super) fn post(&self, event: Event) {
        let _ = self.0.send(event);
    }
}
