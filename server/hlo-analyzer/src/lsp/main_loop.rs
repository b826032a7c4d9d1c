//! The thread that owns the database.

mod dumps;
mod edits;
mod held_reads;
mod jobs;
mod settings;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ide::AnalysisHost;
use tokio::runtime::Handle;
use tower_lsp::lsp_types::notification::ShowMessage;
use tower_lsp::lsp_types::request::ShowDocument;
use tower_lsp::lsp_types::{MessageType, ShowDocumentParams, ShowMessageParams};

use self::held_reads::HeldReads;
use super::config::Settings;
use super::documents::Documents;
use super::dump_folders::DumpFolders;
use super::handlers::has_test_hooks;
use super::jobs::Job;
use super::mailbox::{Event, Mailbox};
use super::outbox::Outbox;
use super::read::{Read, Target};
use super::read_queue::ReadQueue;
use super::snapshot::{OpenDocument, Session, Snapshot, View};
use super::work_done::{self, WorkDone};
use super::{requests, status};

/// The longest time spent taking events before the requests among them are started.
const DRAIN: Duration = Duration::from_millis(20);

/// The largest number of warnings of [`Event::WarnOnce`] per session. Each has a few kB at most.
const MAX_WARNINGS: usize = 256;

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
    dumps: DumpFolders,
    work_done: WorkDone,
    held: HeldReads,
    /// The ids of the requests for the client's settings.
    asked_settings: HashSet<String>,
    /// The messages of [`Event::WarnOnce`] that were shown.
    warned: HashSet<String>,
    mailbox: Mailbox,
    outbox: Outbox,
    pool: Handle,
    has_ended: bool,
}

/// A host without documents.
fn empty_host() -> AnalysisHost {
    match has_test_hooks() {
        true => AnalysisHost::with_query_hook(requests::before_query),
        false => AnalysisHost::new(),
    }
}

impl MainLoop {
    pub(super) fn new(mailbox: Mailbox, outbox: Outbox, pool: Handle) -> Self {
        Self {
            host: empty_host(),
            documents: Documents::default(),
            session: Arc::new(Session::new(mailbox.clone())),
            reads: ReadQueue::new(mailbox.clone(), outbox.clone()),
            dumps: DumpFolders::default(),
            work_done: WorkDone::default(),
            held: HeldReads::default(),
            asked_settings: HashSet::new(),
            warned: HashSet::new(),
            mailbox,
            outbox,
            pool,
            has_ended: false,
        }
    }

    pub(super) fn run(mut self, events: &Receiver<Event>) {
        loop {
            let due = self.documents.iter_mut();
            let due = due.flat_map(|(_, document)| Job::ALL.map(|job| document.schedule(job).due()));
            let due = due.flatten().chain(self.dumps.due());
            let due = due.chain(self.work_done.due()).chain(self.held.due()).min();
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
            if self.has_ended {
                return;
            }
            self.held.release(&mut self.reads);
            self.work_done.ask(&self.outbox);
            while let Some(read) = self.reads.pop() {
                self.start_read(read);
            }
            self.list_changed();
            self.start_jobs();
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Initialize(client, options, roots) => {
                let has_settings = options.is_some();
                let settings = options.map(|sent| self.updated(&Settings::default(), &sent));
                let session = Arc::make_mut(&mut self.session);
                session.settings = settings.unwrap_or_default();
                session.has_sent_settings = has_settings;
                (session.client, session.roots) = (client, roots);
                self.use_device();
                self.use_assembler();
            }
            Event::Initialized => self.ask_for_settings_at_start(),
            Event::Configure(settings) => self.configure_or_ask(&settings),
            Event::FoldersChanged(event) => self.folders_changed(&event),
            Event::Answered(id, result) => self.answered(&id, result),
            Event::Saved(uri) => self.saved(&uri),
            Event::Hold(read) => self.held.hold(read, &mut self.reads),
            Event::WorkStarted(work) => self.work_done.started(work),
            Event::WorkEnded(id) => self.work_done.ended(id, &self.outbox),
            Event::CancelWork(token) => self.work_done.cancel(&token),
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
            Event::Interrupted(read) => self.interrupted(read),
            Event::FilesChanged(files) => self.files_changed(&files),
            Event::Listed(listed) => self.listed(listed),
            // Reads are started when the mailbox is empty.
            Event::Room => {}
            Event::Progress(progress) => self.publish(progress),
            Event::PlanMemory(uri) => {
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.want_memory(Instant::now());
                }
            }
            Event::PlanKernels(uri) => {
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.want_kernels(Instant::now());
                }
            }
            Event::Assembled => self.look_at_shown_kernels(),
            Event::End => self.has_ended = true,
            Event::WarnOnce(message) => {
                if self.warned.len() < MAX_WARNINGS && self.warned.insert(message.clone()) {
                    let params = ShowMessageParams { typ: MessageType::WARNING, message };
                    self.outbox.notify::<ShowMessage>(params);
                }
            }
            Event::ShowDocuments(files) => {
                // The first file last: an editor may have one window for all of them. Emacs 30 takes `takeFocus:
                // false` for true.
                for (n, uri) in files.into_iter().enumerate().rev() {
                    let (external, take_focus) = (Some(false), (n == 0).then_some(true));
                    let params = ShowDocumentParams { uri, external, take_focus, selection: None };
                    self.outbox.request_with::<ShowDocument>(params);
                }
            }
        }
    }

    fn receive(&mut self, mut read: Read) {
        if matches!(read.target, Target::Folder) {
            return self.list_for(read);
        }
        if read.place.is_none()
            && let Some(document) = self.documents.get_mut(&read.uri)
        {
            read.place = Some(document.find(&read.target, self.session.client.encoding));
        }
        self.reads.push(read);
    }

    /// Computes a read again that a change of the database has cancelled, or refuses it.
    fn interrupted(&mut self, mut read: Read) {
        let is_edited = match &read.place {
            Some(place) => {
                let document = self.documents.get_mut(&read.uri);
                document.is_none_or(|document| document.is_edited_since(place))
            }
            None => !matches!(read.target, Target::Folder),
        };
        match read.may_run_again(is_edited) {
            true => self.reads.push(read),
            false => read.refuse(),
        }
    }

    fn start_read(&mut self, read: Read) {
        match read.target {
            Target::Workspace => return self.start_workspace_read(read),
            Target::Folder => return self.start_folder_read(read),
            _ => {}
        }
        let Some((place, document)) = read.place.as_ref().zip(self.documents.get_mut(&read.uri)) else {
            tracing::debug!("{} asks about {}, which is not open", read.method, read.uri);
            return read.answer_nothing();
        };
        let Some(span) = document.now(place) else { return read.refuse() };
        match document.view(&read.uri, &self.session, span) {
            Some(view) => self.run_read(read, view),
            None => read.answer_nothing(),
        }
    }

    /// Starts a request about all open documents.
    fn start_workspace_read(&mut self, read: Read) {
        let documents = self.documents.iter_mut().filter_map(|(uri, document)| {
            Some(OpenDocument {
                file: document.file?,
                uri: uri.clone(),
                version: document.version,
                text: document.text.clone(),
                has_all_diagnostics: document.has_all_diagnostics,
            })
        });
        let open: Vec<OpenDocument> = documents.collect();
        let Some(file) = open.first().map(|document| document.file) else { return read.answer_nothing() };
        let view = View::without_document(self.session.clone(), read.uri.clone(), file, open);
        self.run_read(read, view);
    }

    fn run_read(&self, mut read: Read, view: View) {
        let snapshot = Snapshot { analysis: self.host.analysis(), view };
        read.arm(snapshot.analysis.cancellation());
        let watched = read.watch(self.session.settings.budget);
        read.changes = self.held.changes();
        let working = self.session.working(work_done::title(read.method), &read.uri, Some(read.canceller()));
        let mailbox = self.mailbox.clone();
        self.pool.spawn_blocking(move || {
            read.run(snapshot, &mailbox);
            drop((watched, working));
        });
    }
}
