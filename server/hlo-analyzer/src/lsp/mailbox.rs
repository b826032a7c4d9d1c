//! The one queue between everybody and the main loop.

use std::path::PathBuf;
use std::sync::mpsc;

use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::lsp_types::{DidChangeTextDocumentParams, DidOpenTextDocumentParams, Url};

use super::capabilities::ClientProfile;
use super::diagnostics::Finished;
use super::kernel_updates::Updated;
use super::read::Read;

/// All that can happen to the main loop.
pub(super) enum Event {
    /// The client has said what it can do, perhaps what its user wants (`initializationOptions`), and which folders
    /// are open.
    Initialize(ClientProfile, Option<Value>, Vec<PathBuf>),
    /// `workspace/didChangeConfiguration`.
    Configure(Value),
    /// A warning is not wanted any more in this session.
    DisableWarning(String),
    /// What the server is and has.
    Status(oneshot::Sender<Value>),
    Open(DidOpenTextDocumentParams),
    Change(DidChangeTextDocumentParams),
    Close(Url),
    /// A request, from the client or coming round again because an edit cancelled it.
    Read(Read),
    /// A read has ended or the client has read: waiting reads may start.
    Room,
    /// A computation of diagnostics has ended, one way or another.
    Diagnosed(Finished),
    /// Kernels that the client shows have been made anew.
    KernelsUpdated(Updated),
    /// The assembler has answered about some text.
    Assembled,
    /// The client is to show these files.
    ShowDocuments(Vec<Url>),
}

/// Any number of senders post; the main loop takes events out in the order they were posted. Unbounded, because a
/// full queue would make a handler wait and with it every message behind it.
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
