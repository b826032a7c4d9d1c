//! The thread that owns the database.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ide::AnalysisHost;
use ropey::Rope;
use serde_json::Value;
use tokio::runtime::Handle;
use tower_lsp::lsp_types::notification::{PublishDiagnostics, ShowMessage};
use tower_lsp::lsp_types::request::{InlayHintRefreshRequest, ShowDocument};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidOpenTextDocumentParams, MessageType, PublishDiagnosticsParams,
    ShowDocumentParams, ShowMessageParams, TextDocumentItem, Url,
};

use super::config::Settings;
use super::diagnostics::{self, Finished, Outcome};
use super::documents::Documents;
use super::kernel_updates::{self, KernelChanged, KernelChangedParams, Updated};
use super::kernel_uri::{self, KernelUri};
use super::mailbox::{Event, Mailbox};
use super::outbox::Outbox;
use super::read::{Read, Target, panic_message};
use super::read_queue::ReadQueue;
use super::snapshot::{OpenDocument, Session, Snapshot, View};
use super::{from_proto, kernel_files, status};
use crate::assembler::Assembler;

/// An edit waits at most this long plus [`PATIENCE_PER_BYTE`] for reads that do not check for cancellation.
/// After that it goes to a new database, which costs about as much.
const PATIENCE: Duration = Duration::from_millis(40);
/// A text is parsed again at about 100 MB per second.
const PATIENCE_PER_BYTE: Duration = Duration::from_nanos(10);

/// The longest time spent taking events before the requests among them are started.
const DRAIN: Duration = Duration::from_millis(20);

/// The state of the server. It changes only in the order of the mailbox.
///
/// Requests start when the mailbox is empty rather than when they are taken out, because a waiting edit would
/// cancel them at once. Their positions are resolved when they are taken out and moved along with the edits
/// that follow.
pub(super) struct MainLoop {
    host: AnalysisHost,
    documents: Documents,
    session: Arc<Session>,
    reads: ReadQueue,
    mailbox: Mailbox,
    outbox: Outbox,
    pool: Handle,
}

impl MainLoop {
    pub(super) fn new(mailbox: Mailbox, outbox: Outbox, pool: Handle) -> Self {
        Self {
            host: AnalysisHost::new(),
            documents: Documents::default(),
            session: Arc::new(Session::new(mailbox.clone())),
            reads: ReadQueue::new(mailbox.clone(), outbox.clone()),
            mailbox,
            outbox,
            pool,
        }
    }

    pub(super) fn run(mut self, events: &Receiver<Event>) {
        loop {
            let due = self.documents.iter_mut();
            let due = due.flat_map(|(_, document)| [document.schedule.due(), document.kernels.due()]);
            let due = due.flatten().min();
            let event = match due {
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(event) => {
                    let start = Instant::now();
                    self.handle(event);
                    while start.elapsed() < DRAIN
                        && let Ok(event) = events.try_recv()
                    {
                        self.handle(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Some(read) = self.reads.pop() {
                self.start_read(read);
            }
            self.start_diagnostics();
            self.start_kernels();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Initialize(client, options, roots) => {
                let session = Arc::make_mut(&mut self.session);
                let settings = options.map(|sent| Settings::default().updated(&sent));
                session.settings = settings.unwrap_or_default();
                (session.client, session.roots) = (client, roots);
                self.use_device();
                self.use_assembler();
            }
            Event::Configure(settings) => self.configure(&settings),
            Event::DisableWarning(code) => {
                let mut disabled = self.session.settings.disabled_warnings.clone();
                if !disabled.contains(&code) {
                    disabled.push(code);
                    self.configure(&serde_json::json!({"warnings": {"disabled": disabled}}));
                }
            }
            Event::Status(reply) => {
                // If this fails, the receiver no longer waits.
                let _ = reply.send(status::status(&self.session, self.documents.iter_mut().count()));
            }
            Event::Open(params) => self.open(params),
            Event::Change(params) => self.change(params),
            Event::Close(uri) => self.close(&uri),
            Event::Read(read) => self.receive(read),
            // Reads are started when the mailbox is empty.
            Event::Room => {}
            Event::Diagnosed(finished) => self.publish(finished),
            Event::KernelsUpdated(updated) => self.kernels_updated(updated),
            Event::Assembled => self.look_at_shown_kernels(),
            Event::ShowDocuments(files) => {
                for (n, uri) in files.into_iter().enumerate() {
                    let (external, take_focus) = (Some(false), Some(n == 0));
                    let params = ShowDocumentParams { uri, external, take_focus, selection: None };
                    self.outbox.request_with::<ShowDocument>(params);
                }
            }
        }
    }

    fn configure(&mut self, sent: &Value) {
        let settings = self.session.settings.updated(sent);
        let old = std::mem::replace(&mut Arc::make_mut(&mut self.session).settings, settings);
        let new = &self.session.settings;
        let hints = |settings: &Settings| (settings.inlay_hints(), settings.device.clone());
        if hints(&old) != hints(new) && self.session.client.inlay_hint_refresh {
            self.outbox.request::<InlayHintRefreshRequest>();
        }
        let found = |settings: &Settings| {
            (
                (settings.diagnostics_limit, settings.warnings, settings.disabled_warnings.clone()),
                settings.unoptimized_hints,
                (settings.device.clone(), settings.coalescing_threshold.to_bits()),
            )
        };
        let device_changed = old.device != new.device;
        if found(&old) != found(new) {
            let now = Instant::now();
            self.documents.iter_mut().for_each(|(_, document)| document.schedule.changed(now));
        }
        if device_changed {
            self.use_device();
        }
        let programs = |settings: &Settings| (settings.assembles, settings.assembler.clone());
        if device_changed || programs(&old) != programs(&self.session.settings) {
            self.use_assembler();
            self.look_at_shown_kernels();
        }
    }

    fn use_assembler(&mut self) {
        let settings = &self.session.settings;
        let found = Some(&settings.assembler).filter(|_| settings.assembles).and_then(Assembler::find);
        self.session.kernels.set_assembler(found);
    }

    /// Schedules an update of all shown kernels, whose texts may have changed.
    fn look_at_shown_kernels(&mut self) {
        let now = Instant::now();
        for file in self.session.kernels.files() {
            if let Some(document) = self.documents.get_mut(&file) {
                document.kernels.at_once(now);
            }
        }
    }

    /// Applies the device of the settings. For an unknown name the user gets a list of the known ones.
    fn use_device(&mut self) {
        let name = self.session.settings.device.clone();
        self.interrupt_reads();
        if let Some(Err(message)) = self.guarded("setting the device", |host| host.set_device(&name)) {
            let message = format!("The setting hlo-analyzer.gpu.device: {message}");
            self.outbox.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message });
        }
    }

    /// Cancels all reads before the database is written. Reads that do not end keep the old database.
    fn interrupt_reads(&mut self) {
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

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        if item.uri.scheme() == kernel_uri::SCHEME {
            return self.show_kernel(item);
        }
        if self.documents.get_mut(&item.uri).is_some() {
            tracing::warn!("{} was opened twice; the newer text counts", item.uri);
            self.forget(&item.uri);
        }
        self.interrupt_reads();
        let language = from_proto::language(&item);
        let file =
            self.guarded("opening a document", |host| host.open(item.uri.as_str(), language, &item.text));
        let text = file.map_or_else(|| Rope::from_str(&item.text), |file| self.host.rope(file).clone());
        let document = self.documents.insert(item.uri, language, item.version, text);
        document.file = file;
        document.schedule.at_once(Instant::now());
        // Its kernels may still be shown from before it was closed.
        document.kernels.at_once(Instant::now());
    }

    /// The client shows a kernel, perhaps with an outdated text.
    fn show_kernel(&mut self, item: TextDocumentItem) {
        let Some(kernel) = KernelUri::parse(&item.uri) else {
            return tracing::warn!("{} names no kernel", item.uri);
        };
        let file = kernel.file.clone();
        self.session.kernels.show(item.uri, kernel, &item.text, None);
        if let Some(document) = self.documents.get_mut(&file) {
            document.kernels.at_once(Instant::now());
        }
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
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
        document.schedule.changed(Instant::now());
        document.kernels.changed(Instant::now());
        let Some(file) = document.file else {
            // The previous text could not be analysed; this one may be.
            return self.refill();
        };
        if edits.is_empty() || self.guarded("an edit", |host| host.apply(file, &edits)).is_none() {
            return;
        }
        if let Some(document) = self.documents.get_mut(&id.uri) {
            // The same text, in nodes that are shared with the database.
            document.text = self.host.rope(file).clone();
        }
    }

    fn close(&mut self, uri: &Url) {
        if uri.scheme() == kernel_uri::SCHEME {
            if self.session.kernels.hide(uri) {
                let diagnostics = Vec::new();
                let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version: None };
                self.outbox.notify_latest::<PublishDiagnostics>(&params.uri.clone(), params);
            }
            return;
        }
        if !self.forget(uri) {
            tracing::warn!("{uri} was closed but is not open");
            return;
        }
        let empty = PublishDiagnosticsParams { uri: uri.clone(), diagnostics: Vec::new(), version: None };
        self.outbox.notify_latest::<PublishDiagnostics>(uri, empty);
    }

    fn forget(&mut self, uri: &Url) -> bool {
        if self.documents.get_mut(uri).is_none() {
            return false;
        }
        self.interrupt_reads();
        let Some(mut document) = self.documents.remove(uri) else { return false };
        document.schedule.cancel();
        document.kernels.cancel();
        if let Some(file) = document.file {
            self.guarded("closing a document", |host| host.close(file));
        }
        true
    }

    fn receive(&mut self, mut read: Read) {
        if read.place.is_none()
            && let Some(document) = self.documents.get_mut(&read.uri)
        {
            read.place = Some(document.find(&read.target, self.session.client.encoding));
        }
        self.reads.push(read);
    }

    fn start_read(&mut self, read: Read) {
        if matches!(read.target, Target::Workspace) {
            return self.start_workspace_read(read);
        }
        let Some((place, document)) = read.place.as_ref().zip(self.documents.get_mut(&read.uri)) else {
            tracing::debug!("{} asks about {}, which is not open", read.method, read.uri);
            return read.answer_nothing();
        };
        let Some(span) = document.now(place) else { return read.refuse() };
        let Some(file) = document.file else { return read.answer_nothing() };
        let (text, version) = (document.text.clone(), document.version);
        let (session, uri) = (self.session.clone(), read.uri.clone());
        self.run_read(read, View { session, uri, file, version, text, span, open: Vec::new() });
    }

    /// Starts a request about all open documents.
    fn start_workspace_read(&mut self, read: Read) {
        let documents = self.documents.iter_mut().filter_map(|(uri, document)| {
            Some(OpenDocument { file: document.file?, uri: uri.clone(), text: document.text.clone() })
        });
        let open: Vec<OpenDocument> = documents.collect();
        let Some(file) = open.first().map(|document| document.file) else { return read.answer_nothing() };
        let (session, uri) = (self.session.clone(), read.uri.clone());
        let view = View { session, uri, file, version: 0, text: Rope::new(), span: 0..0, open };
        self.run_read(read, view);
    }

    fn run_read(&self, read: Read, view: View) {
        let snapshot = Snapshot { analysis: self.host.analysis(), view };
        read.arm(snapshot.analysis.cancellation());
        let mailbox = self.mailbox.clone();
        self.pool.spawn_blocking(move || read.run(snapshot, &mailbox));
    }

    fn start_diagnostics(&mut self) {
        let now = Instant::now();
        for (uri, document) in self.documents.iter_mut() {
            if document.schedule.due().is_none_or(|due| due > now) {
                continue;
            }
            let Some(file) = document.file else {
                document.schedule.cancel();
                continue;
            };
            let text = document.text.clone();
            let span = 0..text.len_bytes();
            let (session, version) = (self.session.clone(), document.version);
            let view = View { session, uri: uri.clone(), file, version, text, span, open: Vec::new() };
            let snapshot = Snapshot { analysis: self.host.analysis(), view };
            document.schedule.started(snapshot.analysis.cancellation(), now);
            let (generation, version, uri) = (document.generation, document.version, uri.clone());
            let mailbox = self.mailbox.clone();
            let is_complete = document.schedule.is_complete;
            self.pool.spawn_blocking(move || {
                let early = |params| {
                    let outcome = Outcome::Early(params);
                    mailbox.post(Event::Diagnosed(Finished { uri: uri.clone(), generation, outcome }));
                };
                let early: &dyn Fn(PublishDiagnosticsParams) = &early;
                let outcome = diagnostics::compute(snapshot, version, (!is_complete).then_some(early));
                mailbox.post(Event::Diagnosed(Finished { uri, generation, outcome }));
            });
        }
    }

    fn start_kernels(&mut self) {
        let now = Instant::now();
        for (uri, document) in self.documents.iter_mut() {
            if document.kernels.due().is_none_or(|due| due > now) {
                continue;
            }
            let shown = self.session.kernels.of_file(uri);
            let Some(file) = document.file.filter(|_| !shown.is_empty()) else {
                document.kernels.cancel();
                continue;
            };
            let text = document.text.clone();
            let span = 0..text.len_bytes();
            let (session, version) = (self.session.clone(), document.version);
            let view = View { session, uri: uri.clone(), file, version, text, span, open: Vec::new() };
            let snapshot = Snapshot { analysis: self.host.analysis(), view };
            document.kernels.started(snapshot.analysis.cancellation(), now);
            let (generation, file) = (document.generation, uri.clone());
            let mailbox = self.mailbox.clone();
            self.pool.spawn_blocking(move || {
                let outcome = kernel_updates::compute(snapshot, shown);
                mailbox.post(Event::KernelsUpdated(Updated { file, generation, outcome }));
            });
        }
    }

    fn kernels_updated(&mut self, updated: Updated) {
        let Some(document) = self.documents.get_mut(&updated.file) else { return };
        if document.generation != updated.generation {
            return;
        }
        let is_cancelled = matches!(updated.outcome, kernel_updates::Outcome::Cancelled);
        document.kernels.ended(is_cancelled, Instant::now());
        let kernel_updates::Outcome::Made(tabs) = updated.outcome else { return };
        for (uri, tab) in tabs {
            let news = self.session.kernels.update(&uri, &tab.text, &tab.diagnostics);
            let Some((is_other, path, says_other)) = news else { continue };
            match path {
                Some(path) if is_other => _ = kernel_files::write(&path, &tab.text),
                Some(_) => {}
                None if is_other => {
                    self.outbox
                        .notify_latest::<KernelChanged>(&uri, KernelChangedParams { uri: uri.clone() });
                }
                None => {}
            }
            if says_other {
                let diagnostics = tab.diagnostics;
                let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
                self.outbox.notify_latest::<PublishDiagnostics>(&params.uri.clone(), params);
            }
        }
    }

    fn publish(&mut self, finished: Finished) {
        let Some(document) = self.documents.get_mut(&finished.uri) else { return };
        if document.generation != finished.generation {
            return;
        }
        if let Outcome::Early(params) = finished.outcome {
            return self.outbox.notify_latest::<PublishDiagnostics>(&params.uri.clone(), params);
        }
        document.schedule.ended(matches!(finished.outcome, Outcome::Cancelled), Instant::now());
        if let Outcome::Publish(params) = finished.outcome {
            document.schedule.is_complete = true;
            self.outbox.notify_latest::<PublishDiagnostics>(&params.uri.clone(), params);
        }
    }

    /// Changes the database. If that panics, the database may be inconsistent, so it is replaced by a new one
    /// that is filled from the documents.
    fn guarded<T>(&mut self, what: &str, change: impl FnOnce(&mut AnalysisHost) -> T) -> Option<T> {
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
        self.host = AnalysisHost::new();
        // An unknown name was reported when it was set.
        _ = self.host.set_device(&self.session.settings.device);
        for (uri, document) in self.documents.iter_mut() {
            let text = document.text.to_string();
            let fill = || self.host.open(uri.as_str(), document.language, &text);
            document.file = catch_unwind(AssertUnwindSafe(fill)).ok();
            if document.file.is_none() {
                tracing::error!(
                    "{uri} cannot be analysed, which is a bug; it is tried again when it changes"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(main_loop.host.rope(file), &format!("// {uri}"));
        }
    }
}
