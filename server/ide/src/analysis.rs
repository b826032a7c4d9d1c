//! The host that owns the database, and snapshots of it for readers.

mod compiles;
mod findings;
mod kernels;
mod modules;
mod navigation;
mod optimizer;
mod origins;
mod reading;
mod snapshots;
mod typing;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use db::compiles::{DumpFolder, DumpFolders};
use db::{Database, Documents, FileView, KnownKernels};
use rustc_hash::FxHashMap;
use text::Text;

use self::snapshots::{Registered, Snapshots};
use crate::compiles::KnownCosts;
use crate::file_context::FileContext;
use crate::optimize::known::KnownOptimized;
use crate::*;

/// Owns the database and is its only writer. One per process, on one thread.
#[derive(Default)]
pub struct AnalysisHost {
    db: Database,
    documents: Documents,
    views: Arc<FxHashMap<FileId, FileView>>,
    dumps: DumpFolders,
    /// Those that were listed, by name.
    folders: Arc<FxHashMap<String, DumpFolder>>,
    stage_costs: Arc<KnownCosts>,
    optimized: Arc<KnownOptimized>,
    /// The parent of the cancellation tokens of all snapshots since the last write.
    revision: cancel::Token,
    number: Revision,
    snapshots: Snapshots,
}

/// Identifies the texts and settings of a snapshot: equal for snapshots with no write between them. Unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision(u64);

impl Default for Revision {
    fn default() -> Revision {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Revision(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A snapshot of the database at one revision, for one reader on one thread. The next write waits until all
/// snapshots are dropped, so drop it after each query.
pub struct Analysis {
    db: Database,
    views: Arc<FxHashMap<FileId, FileView>>,
    folders: Arc<FxHashMap<String, DumpFolder>>,
    stage_costs: Arc<KnownCosts>,
    optimized: Arc<KnownOptimized>,
    token: cancel::Token,
    revision: Revision,
    /// The last field, so that the database is dropped before the host is notified.
    _registered: Registered,
}

/// Cancels the computation of its [`Analysis`] from another thread.
#[derive(Clone)]
pub struct CancellationHandle {
    token: cancel::Token,
    queries: db::CancellationToken,
}

impl CancellationHandle {
    pub fn cancel(&self) {
        // The query token first, because the check unwinds on it; see `Analysis::catch`.
        self.queries.cancel();
        self.token.cancel();
    }

    /// Runs `work` until this handle is cancelled; `None` if it was. Writes do not stop it.
    pub fn until_cancelled<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        self.token.without_parent().catch(work)
    }
}

/// Unwinds to [`Analysis::catch`] if the text has changed or the snapshot was cancelled.
pub(crate) fn check_cancelled(db: &Database) {
    use db::SalsaDatabase;
    cancel::check();
    db.unwind_if_revision_cancelled();
}

impl AnalysisHost {
    pub fn new() -> Self {
        Self::default()
    }

    /// A host for analyses that are part of the computation on this thread, and are cancelled with it.
    pub fn of_this_computation() -> Self {
        let revision = cancel::current().map_or_else(cancel::Token::default, |token| token.child());
        AnalysisHost { revision, ..Self::default() }
    }

    /// A host that uses what other hosts know of kernels, and adds to it: for many files of one compile.
    pub fn knowing(kernels: KnownKernels) -> Self {
        AnalysisHost { db: Database::knowing(kernels), ..Self::default() }
    }

    /// A host that calls `observe` with the name of every query that runs.
    pub fn observed(observe: impl Fn(String) + Send + Sync + 'static) -> Self {
        AnalysisHost { db: Database::observed(observe), ..Self::default() }
    }

    /// A host that calls `hook` before every query that runs, to inject faults.
    pub fn with_query_hook(hook: fn()) -> Self {
        AnalysisHost { db: Database::with_query_hook(hook), ..Self::default() }
    }

    /// Calls `observer` at each cancellation check, for tests that measure the interval between them.
    pub fn observe_checks(&mut self, observer: impl Fn() + Send + Sync + 'static) {
        self.revision = cancel::Token::observed(observer);
    }

    /// Makes `token` cancel all snapshots from now on, as a write does.
    pub fn cancel_with(&mut self, token: &cancel::Token) {
        self.revision = token.child();
    }

    /// A host that splits texts into pieces of at least `min_bytes`, for tests of features that span pieces.
    pub fn in_pieces_of(min_bytes: usize) -> Self {
        AnalysisHost { documents: Documents::in_pieces_of(min_bytes), ..Self::default() }
    }

    /// Opens a text. The path is only a name; no file is read.
    pub fn open(&mut self, _path: &str, language: Language, text: &str) -> FileId {
        self.interrupt();
        let id = self.documents.open(&mut self.db, language, text);
        self.refresh(id);
        id
    }

    /// Applies edits in order. Each range is in bytes of the text before that edit.
    pub fn apply(&mut self, file: FileId, edits: &[TextEdit]) {
        self.interrupt();
        let edits: Vec<text::Edit> =
            edits.iter().map(|e| text::Edit { range: e.range.clone(), insert: e.insert.clone() }).collect();
        self.documents.edit(&mut self.db, file, &edits);
        self.refresh(file);
    }

    /// Sets the device that kernels target, except those of a compile that says its own. The error lists the known names.
    pub fn set_device(&mut self, name: &str) -> Result<(), String> {
        self.use_device(gpu::Device::find(name).map_err(|unknown| unknown.to_string())?);
        Ok(())
    }

    /// As [`AnalysisHost::set_device`].
    pub fn use_device(&mut self, device: &'static gpu::Device) {
        self.interrupt();
        self.db.set_device(device, false);
    }

    /// Sets the device that all kernels target. The error lists the known names.
    pub fn force_device(&mut self, name: &str) -> Result<(), String> {
        let device = gpu::Device::find(name).map_err(|unknown| unknown.to_string())?;
        self.interrupt();
        self.db.set_device(device, true);
        Ok(())
    }

    /// Sets the device that the user named, or else the default one: [`AnalysisHost::force_device`], [`AnalysisHost::set_device`].
    pub fn choose_device(&mut self, named: Option<&str>, default: &str) -> Result<(), String> {
        match named {
            Some(named) => self.force_device(named),
            None => self.set_device(default),
        }
    }

    /// Sets the threshold of [`CoalescingConfig`] whose results are kept between requests.
    pub fn set_coalescing_threshold(&mut self, threshold: f64) {
        self.interrupt();
        self.db.set_waste_threshold(threshold);
    }

    pub fn close(&mut self, file: FileId) {
        self.interrupt();
        if let Some(view) = self.views.get(&file) {
            self.dumps.close(&mut self.db, view.file);
        }
        self.documents.close(&mut self.db, file);
        Arc::make_mut(&mut self.views).remove(&file);
    }

    fn refresh(&mut self, file: FileId) {
        if let Some(view) = self.documents.view(file) {
            Arc::make_mut(&mut self.views).insert(file, view);
        }
    }

    /// The current text.
    ///
    /// # Panics
    ///
    /// If `file` is not open.
    pub fn text(&self, file: FileId) -> &Text {
        self.documents.text(file).expect("the file is open")
    }

    pub fn analysis(&self) -> Analysis {
        Analysis {
            db: self.db.clone(),
            views: self.views.clone(),
            folders: self.folders.clone(),
            stage_costs: self.stage_costs.clone(),
            optimized: self.optimized.clone(),
            token: self.revision.child(),
            revision: self.number,
            _registered: self.snapshots.register(),
        }
    }

    /// Cancels all snapshots. The next write does so itself, and then waits until they are dropped.
    fn interrupt(&mut self) {
        self.number = Revision::default();
        let next = self.revision.renewed();
        std::mem::replace(&mut self.revision, next).cancel();
    }

    /// Cancels all snapshots and waits until they are dropped, for at most `patience`. Returns whether they
    /// are; otherwise a write would block on a snapshot that does not check for cancellation.
    pub fn interrupt_within(&mut self, patience: Duration) -> bool {
        self.interrupt();
        self.snapshots.wait(patience)
    }
}

impl Analysis {
    pub fn cancellation(&self) -> CancellationHandle {
        use db::SalsaDatabase;
        CancellationHandle { token: self.token.clone(), queries: self.db.cancellation_token() }
    }

    /// Returns an error if the text has changed or this snapshot was cancelled. For long work that runs no
    /// queries.
    pub fn check_cancelled(&self) -> Cancellable<()> {
        self.catch(check_cancelled)
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The text of this snapshot.
    ///
    /// # Panics
    ///
    /// If `file` is not open.
    pub fn text(&self, file: FileId) -> &Text {
        &self.views.get(&file).expect("the file is open").text
    }

    fn with_file<T>(&self, file: FileId, query: impl FnOnce(FileContext<'_>) -> T) -> Cancellable<T> {
        let view = self.views.get(&file).expect("the file is open");
        self.catch(|db| {
            view.parse_ahead(db);
            query(FileContext::new(db, view))
        })
    }

    fn catch<T>(&self, query: impl FnOnce(&Database) -> T) -> Cancellable<T> {
        use db::SalsaDatabase;
        let queries = self.db.cancellation_token();
        // Salsa must see a cancelled query rather than a panic, so that other snapshots that wait for the
        // query compute it themselves.
        let before: Box<dyn Fn()> = Box::new(move || queries.cancel());
        let work = || {
            let answer = query(&self.db);
            cancel::check();
            answer
        };
        let caught = catch_unwind(AssertUnwindSafe(|| self.token.enter_with(Some(before), work)));
        caught.map_err(|payload| match payload.is::<cancel::Cancelled>() || payload.is::<db::Cancelled>() {
            true if self.token.is_cancelled_itself() => Cancelled::Local,
            true => Cancelled::PendingWrite,
            false => resume_unwind(payload),
        })
    }
}
