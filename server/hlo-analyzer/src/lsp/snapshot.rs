//! What a request may look at.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use ide::{Analysis, FileId};
use ropey::Rope;
use text::position::PositionEncoding;
use tower_lsp::lsp_types::Url;

use super::capabilities::ClientProfile;
use super::config::Settings;
use super::kernel_shelf::KernelShelf;

/// The analysis at one revision, and the document a request is about.
///
/// Lives as long as one attempt to compute one answer, on one thread of the pool. Keeping it longer would stop
/// the main loop at the next edit, which waits until every snapshot is gone.
pub(super) struct Snapshot {
    pub(super) analysis: Analysis,
    pub(super) view: View,
}

/// One document at one revision, and how this client wants its answers. Holds no part of the database, so
/// answers are put into LSP's form with this alone, and edits need not wait for that.
pub(super) struct View {
    pub(super) session: Arc<Session>,
    pub(super) uri: Url,
    pub(super) file: FileId,
    /// The client's number of this text.
    pub(super) version: i32,
    /// The same text as the analysis has; the copy shares its nodes.
    pub(super) text: Rope,
    /// What is asked about; empty for a position, the whole text where the request names no part of it.
    pub(super) span: Range<usize>,
    /// All open documents, for a request that is about no single one; else empty.
    pub(super) open: Vec<OpenDocument>,
}

pub(super) struct OpenDocument {
    pub(super) file: FileId,
    pub(super) uri: Url,
    pub(super) text: Rope,
}

impl View {
    pub(super) fn encoding(&self) -> PositionEncoding {
        self.session.client.encoding
    }
}

/// What the client can do and what its user has set. Owned by the main loop, replaced when either changes.
#[derive(Clone, Default)]
pub(super) struct Session {
    pub(super) client: ClientProfile,
    pub(super) settings: Settings,
    /// Folders that the editor has open.
    pub(super) roots: Vec<PathBuf>,
    /// What the client shows; shared by all sessions of the process.
    pub(super) kernels: Arc<KernelShelf>,
}
