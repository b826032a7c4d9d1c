//! The data available to a request.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use ide::{Analysis, FileId};
use text::Text;
use text::position::PositionEncoding;
use tower_lsp::lsp_types::Url;

use super::capabilities::ClientProfile;
use super::config::Settings;
use super::kernel_shelf::KernelShelf;
use super::mailbox::{Event, Mailbox};
use super::preview_shelf::PreviewShelf;
use super::semantic_tokens::TokenCache;

/// The analysis at one revision, and the document a request is about.
///
/// Lives for one attempt to compute one response, on one thread of the pool. Keeping it longer would block
/// the main loop at the next edit, which waits until every snapshot is dropped.
pub(super) struct Snapshot {
    pub(super) analysis: Analysis,
    pub(super) view: View,
}

/// One document at one revision, and this client's response format. Holds no part of the database: results
/// are converted to LSP with this alone, and edits need not wait for the conversion.
pub(super) struct View {
    pub(super) session: Arc<Session>,
    pub(super) uri: Url,
    pub(super) file: FileId,
    /// The client's version number of this text.
    pub(super) version: i32,
    /// The same text as in the analysis; the copy shares its nodes.
    pub(super) text: Text,
    /// The target of the request; empty for a position, the whole text if the request names no part of it.
    pub(super) span: Range<usize>,
    /// Whether all diagnostics of some version of the document are known.
    pub(super) has_all_diagnostics: bool,
    /// Whether the memory of the module is planned, or planned in a few milliseconds.
    pub(super) has_memory: bool,
    /// The same of the kernels that the module would become.
    pub(super) has_kernels: bool,
    /// All open documents, for a request about the workspace; otherwise empty.
    pub(super) open: Vec<OpenDocument>,
}

pub(super) struct OpenDocument {
    pub(super) file: FileId,
    pub(super) uri: Url,
    pub(super) version: i32,
    pub(super) text: Text,
    pub(super) has_all_diagnostics: bool,
}

impl View {
    /// Of a request that is about no document in particular. `open` are all open ones.
    pub(super) fn without_document(
        session: Arc<Session>,
        uri: Url,
        file: FileId,
        open: Vec<OpenDocument>,
    ) -> View {
        View {
            session,
            uri,
            file,
            version: 0,
            text: Text::default(),
            span: 0..0,
            has_all_diagnostics: false,
            has_memory: false,
            has_kernels: false,
            open,
        }
    }

    /// One of the open documents of a request about the workspace.
    pub(super) fn of_open(&self, document: &OpenDocument) -> View {
        View {
            version: document.version,
            span: 0..document.text.len_bytes(),
            text: document.text.clone(),
            has_all_diagnostics: document.has_all_diagnostics,
            ..View::without_document(self.session.clone(), document.uri.clone(), document.file, Vec::new())
        }
    }

    /// Whether to show the memory of the module. If its plan takes long, it is made in the background and shown next time.
    pub(super) fn plans_memory(&self) -> bool {
        if !self.has_memory {
            self.session.mailbox.post(Event::PlanMemory(self.uri.clone()));
        }
        self.has_memory
    }

    /// The same for the kernels that the module would become.
    pub(super) fn plans_kernels(&self) -> bool {
        if !self.has_kernels {
            self.session.mailbox.post(Event::PlanKernels(self.uri.clone()));
        }
        self.has_kernels
    }

    pub(super) fn encoding(&self) -> PositionEncoding {
        self.session.client.encoding
    }
}

/// The client's capabilities and the user's settings. Owned by the main loop, replaced when either changes.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) client: ClientProfile,
    pub(super) settings: Settings,
    /// The client sent settings with `initialize`.
    pub(super) has_sent_settings: bool,
    /// Folders open in the editor.
    pub(super) roots: Vec<PathBuf>,
    /// The shown kernels; shared by all sessions of the process.
    pub(super) kernels: Arc<KernelShelf>,
    /// The shown previews; shared by all sessions of the process.
    pub(super) previews: Arc<PreviewShelf>,
    /// The last semantic tokens sent; shared by all sessions of the process.
    pub(super) tokens: Arc<TokenCache>,
    /// The queue of the main loop, for what follows from a response.
    pub(super) mailbox: Mailbox,
}

impl Session {
    /// The session before `initialize`.
    pub(super) fn new(mailbox: Mailbox) -> Session {
        Session {
            client: ClientProfile::default(),
            settings: Settings::default(),
            has_sent_settings: false,
            roots: Vec::new(),
            kernels: Arc::default(),
            previews: Arc::default(),
            tokens: Arc::default(),
            mailbox,
        }
    }
}
