//! Edits: the documents and the database change together, and running reads make way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ide::AnalysisHost;
use text::Text;
use tower_lsp::lsp_types::{DidChangeTextDocumentParams, DidOpenTextDocumentParams, TextDocumentItem, Url};

use super::MainLoop;
use crate::lsp::bounds::file_name;
use crate::lsp::from_proto;
use crate::lsp::jobs::Job;
use crate::lsp::kernel_uri::{self, KernelUri};
use crate::lsp::mailbox::Event;
use crate::lsp::preview_uri::{self, PreviewUri};
use crate::lsp::read::panic_message;

/// An edit waits at most this long plus [`PATIENCE_PER_BYTE`] for reads that do not check for cancellation.
/// After that it goes to a new database, which costs about as much.
const PATIENCE: Duration = Duration::from_millis(40);
/// A text is parsed again at about 100 MB per second.
const PATIENCE_PER_BYTE: Duration = Duration::from_nanos(10);

impl MainLoop {
    pub(super) fn open(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        if item.uri.scheme() == kernel_uri::SCHEME {
            return self.show_kernel(item);
        }
        if self.documents.get_mut(&item.uri).is_some() {
            tracing::warn!("{} was opened twice; the newer text counts", item.uri);
            self.forget(&item.uri);
        }
        if item.uri.scheme() == preview_uri::SCHEME {
            self.show_preview(&item);
        }
        self.interrupt_reads();
        let language = from_proto::language(&item);
        let file = match self.is_analysed(&item.uri, item.text.len()) {
            true => {
                self.guarded("opening a document", |host| host.open(item.uri.as_str(), language, &item.text))
            }
            false => None,
        };
        let text = file.map_or_else(|| Text::from(item.text.as_str()), |file| self.host.text(file).clone());
        let uri = item.uri.clone();
        self.held.changed();
        let document = self.documents.insert(item.uri, language, item.version, text);
        document.file = file;
        document.schedule(Job::Diagnostics).at_once(Instant::now());
        // Its kernels and previews may still be shown from before it was closed.
        document.schedule(Job::Kernels).at_once(Instant::now());
        document.schedule(Job::Previews).at_once(Instant::now());
        self.opened_in_folder(&uri);
    }

    /// The client shows a kernel, perhaps with an outdated text.
    fn show_kernel(&mut self, item: TextDocumentItem) {
        let Some(kernel) = KernelUri::parse(&item.uri) else {
            return tracing::warn!("{} names no kernel", item.uri);
        };
        let file = kernel.file.clone();
        self.session.kernels.show(item.uri, kernel, &item.text, None);
        if let Some(document) = self.documents.get_mut(&file) {
            document.schedule(Job::Kernels).at_once(Instant::now());
        }
    }

    /// The client shows a preview, perhaps with an outdated text.
    fn show_preview(&mut self, item: &TextDocumentItem) {
        let Some(preview) = PreviewUri::parse(&item.uri) else {
            return tracing::warn!("{} names no preview", item.uri);
        };
        let file = preview.file.clone();
        self.session.previews.show(item.uri.clone(), preview, &item.text);
        if let Some(document) = self.documents.get_mut(&file) {
            document.schedule(Job::Previews).at_once(Instant::now());
        }
    }

    pub(super) fn change(&mut self, params: DidChangeTextDocumentParams) {
        let id = params.text_document;
        if id.uri.scheme() == kernel_uri::SCHEME {
            // This is our own text in a read-only document.
            return;
        }
        if self.documents.get_mut(&id.uri).is_none() {
            tracing::warn!("a change of {}, which is not open, is ignored", id.uri);
            return;
        }
        self.interrupt_reads();
        let Some(document) = self.documents.get_mut(&id.uri) else { return };
        let mut edits = Vec::with_capacity(params.content_changes.len());
        for change in params.content_changes {
            let edit = from_proto::text_edit(&document.text, change, self.session.client.encoding);
            document.apply(&edit);
            edits.push(edit);
        }
        document.version = id.version;
        self.held.changed();
        Job::ALL.into_iter().for_each(|job| document.schedule(job).changed(Instant::now()));
        let (file, bytes) = (document.file, document.text.len_bytes());
        if !self.is_analysed(&id.uri, bytes) {
            return self.hold_back(&id.uri);
        }
        let Some(file) = file else {
            // The previous text could not be analysed; this one may be.
            return self.refill();
        };
        if edits.is_empty() || self.guarded("an edit", |host| host.apply(file, &edits)).is_none() {
            return;
        }
        if let Some(document) = self.documents.get_mut(&id.uri) {
            // The same text, in nodes that are shared with the database.
            document.text = self.host.text(file).clone();
        }
    }

    /// Whether a text is short enough to be analysed. The user is told once of each that is not.
    fn is_analysed(&self, uri: &Url, bytes: usize) -> bool {
        let is_analysed = self.session.settings.analyses(bytes);
        if !is_analysed {
            let (name, limit) = (file_name(uri), self.session.settings.text_limit);
            let message = format!(
                "{name} has more than {limit} MiB, so it is not analysed; the setting documents.limit raises that"
            );
            self.mailbox.post(Event::WarnOnce(message));
        }
        is_analysed
    }

    /// Drops what is computed for a document that has grown too long.
    fn hold_back(&mut self, uri: &Url) {
        if let Some(file) = self.documents.get_mut(uri).and_then(|document| document.file.take()) {
            self.guarded("holding a document back", |host| host.close(file));
            self.publish_no_diagnostics(uri);
        }
    }

    /// Applies a new limit of texts.
    pub(super) fn hold_back_or_take(&mut self) {
        let documents: Vec<_> = self
            .documents
            .iter_mut()
            .map(|(uri, document)| (uri.clone(), document.text.len_bytes()))
            .collect();
        self.interrupt_reads();
        for (uri, bytes) in documents {
            if !self.is_analysed(&uri, bytes) {
                self.hold_back(&uri);
            }
        }
        if self.documents.iter_mut().any(|(_, document)| document.file.is_none()) {
            self.refill();
        }
        let now = Instant::now();
        for (_, document) in self.documents.iter_mut() {
            Job::ALL.into_iter().for_each(|job| document.schedule(job).changed(now));
        }
    }

    pub(super) fn close(&mut self, uri: &Url) {
        if uri.scheme() == kernel_uri::SCHEME {
            if self.session.kernels.hide(uri) {
                self.publish_no_diagnostics(uri);
            }
            return;
        }
        self.session.previews.hide(uri);
        if !self.forget(uri) {
            tracing::warn!("{uri} was closed but is not open");
            return;
        }
        self.publish_no_diagnostics(uri);
    }

    fn forget(&mut self, uri: &Url) -> bool {
        if self.documents.get_mut(uri).is_none() {
            return false;
        }
        self.interrupt_reads();
        self.held.changed();
        let Some(mut document) = self.documents.remove(uri) else { return false };
        Job::ALL.into_iter().for_each(|job| document.schedule(job).cancel());
        if let Some(file) = document.file {
            self.guarded("closing a document", |host| host.close(file));
        }
        true
    }

    /// Cancels all reads before the database is written. Reads that do not end keep the old database.
    pub(super) fn interrupt_reads(&mut self) {
        let bytes: usize = self.documents.iter_mut().map(|(_, document)| document.text.len_bytes()).sum();
        let patience = PATIENCE_PER_BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX)) + PATIENCE;
        if !self.host.interrupt_within(patience) {
            tracing::warn!(
                "a read did not end within {patience:?} of its cancellation; \
                 the documents are analysed in a new database"
            );
            self.refill();
        }
    }

    /// Changes the database. If that panics, the database may be inconsistent, so it is replaced by a new one
    /// that is filled from the documents.
    pub(super) fn guarded<T>(
        &mut self,
        what: &str,
        change: impl FnOnce(&mut AnalysisHost) -> T,
    ) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| change(&mut self.host))) {
            Ok(done) => Some(done),
            Err(panic) => {
                tracing::error!("{what} failed, which is a bug: {}", panic_message(&*panic));
                self.refill();
                None
            }
        }
    }

    fn refill(&mut self) {
        self.host = super::empty_host();
        self.session.settings.apply(&mut self.host);
        for (uri, document) in self.documents.iter_mut() {
            document.file = None;
            if !self.session.settings.analyses(document.text.len_bytes()) {
                continue;
            }
            let text = document.text.to_string();
            let fill = || self.host.open(uri.as_str(), document.language, &text);
            document.file = catch_unwind(AssertUnwindSafe(fill)).ok();
            if document.file.is_none() {
                tracing::error!(
                    "{uri} cannot be analysed, which is a bug; it is tried again when it changes"
                );
            }
        }
        self.list_again();
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types::DidOpenTextDocumentParams;

    use super::*;
    use crate::lsp::mailbox::Mailbox;
    use crate::lsp::outbox::Outbox;

    #[test]
    fn a_panic_while_writing_loses_no_document() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outbox = Outbox::start(Box::new(std::io::sink()), || (), || ()).unwrap();
        let (mailbox, _events) = Mailbox::new();
        let mut main_loop = MainLoop::new(mailbox, outbox, runtime.handle().clone());
        let uris = ["file:///a.hlo", "file:///b.hlo"].map(|uri| Url::parse(uri).unwrap());
        for uri in &uris {
            let text = format!("// {uri}");
            main_loop.open(DidOpenTextDocumentParams {
                text_document: TextDocumentItem::new(uri.clone(), "hlo".into(), 1, text),
            });
        }
        assert_eq!(main_loop.guarded("a test", |_| -> () { panic!("on purpose") }), None);
        for uri in &uris {
            let file = main_loop.documents.get_mut(uri).and_then(|document| document.file).unwrap();
            assert_eq!(**main_loop.host.text(file), format!("// {uri}"));
        }
    }
}
