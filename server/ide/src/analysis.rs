//! The host that owns the database, and snapshots of it for readers.

mod findings;
mod kernels;
mod modules;
mod navigation;
mod reading;
mod typing;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use db::{Database, Documents, FileView};
use ropey::Rope;
use rustc_hash::FxHashMap;

use crate::locate::FileContext;
use crate::*;

/// Owns the database and is the only writer. One per process, on one thread.
#[derive(Default)]
pub struct AnalysisHost {
    db: Database,
    documents: Documents,
    views: Arc<FxHashMap<FileId, FileView>>,
}

/// A snapshot of everything at one moment, for one reader on one thread. The next write waits until all snapshots
/// are dropped: ask, answer, drop.
pub struct Analysis {
    db: Database,
    views: Arc<FxHashMap<FileId, FileView>>,
}

/// Stops what its [`Analysis`] is computing, from another thread.
#[derive(Clone)]
pub struct CancellationHandle(db::CancellationToken);

impl CancellationHandle {
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

/// Unwinds to [`Analysis::catch`] if the text has changed or the snapshot was cancelled.
pub(crate) fn check_cancelled(db: &Database) {
    use db::SalsaDatabase;
    db.unwind_if_revision_cancelled();
}

impl AnalysisHost {
    pub fn new() -> Self {
        Self::default()
    }

    /// A host that tells `observe` the name of every query that runs.
    pub fn observed(observe: impl Fn(String) + Send + Sync + 'static) -> Self {
        AnalysisHost { db: Database::observed(observe), ..Self::default() }
    }

    /// A host that cuts texts into pieces of at least `min_bytes`: for tests of what crosses pieces.
    pub fn in_pieces_of(min_bytes: usize) -> Self {
        AnalysisHost { documents: Documents::in_pieces_of(min_bytes), ..Self::default() }
    }

    /// Opens a text. The path only names it; nothing is read.
    pub fn open(&mut self, _path: &str, language: Language, text: &str) -> FileId {
        let id = self.documents.open(&mut self.db, language, text);
        self.refresh(id);
        id
    }

    /// Applies edits in order; ranges are bytes of the text before each edit.
    pub fn apply(&mut self, file: FileId, edits: &[TextEdit]) {
        let edits: Vec<text::Edit> =
            edits.iter().map(|e| text::Edit { range: e.range.clone(), insert: e.insert.clone() }).collect();
        self.documents.edit(&mut self.db, file, &edits);
        self.refresh(file);
    }

    /// Kernels are for this device from now on. The error names those that are known.
    pub fn set_device(&mut self, name: &str) -> Result<(), String> {
        let device = gpu::Device::find(name).map_err(|unknown| unknown.to_string())?;
        self.db.set_device(device);
        Ok(())
    }

    pub fn close(&mut self, file: FileId) {
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
    /// Where `file` is not open.
    pub fn rope(&self, file: FileId) -> &Rope {
        self.documents.rope(file).expect("the file is open")
    }

    pub fn analysis(&self) -> Analysis {
        Analysis { db: self.db.clone(), views: self.views.clone() }
    }
}

impl Analysis {
    pub fn cancellation(&self) -> CancellationHandle {
        use db::SalsaDatabase;
        CancellationHandle(self.db.cancellation_token())
    }

    /// Gives up here if the text has changed or this snapshot was cancelled: for long work that asks no queries.
    pub fn check_cancelled(&self) -> Cancellable<()> {
        self.catch(check_cancelled)
    }

    /// The text this snapshot is about.
    ///
    /// # Panics
    /// Where `file` is not open.
    pub fn rope(&self, file: FileId) -> &Rope {
        &self.views.get(&file).expect("the file is open").rope
    }

    /// As [`Self::with_file`], by the language of the file.
    fn of_language<T>(
        &self,
        file: FileId,
        hlo: impl FnOnce(FileContext<'_>) -> T,
        mlir: impl FnOnce(FileContext<'_>) -> T,
    ) -> Cancellable<T> {
        self.with_file(file, |context| if context.is_mlir() { mlir(context) } else { hlo(context) })
    }

    fn with_file<T>(&self, file: FileId, query: impl FnOnce(FileContext<'_>) -> T) -> Cancellable<T> {
        let view = self.views.get(&file).expect("the file is open");
        self.catch(|db| {
            view.parse_ahead(db);
            query(FileContext::new(db, view))
        })
    }

    fn catch<T>(&self, query: impl FnOnce(&Database) -> T) -> Cancellable<T> {
        db::Cancelled::catch(AssertUnwindSafe(|| query(&self.db))).map_err(|cancelled| match cancelled {
            db::Cancelled::Local => Cancelled::Local,
            _ => Cancelled::PendingWrite,
        })
    }
}
