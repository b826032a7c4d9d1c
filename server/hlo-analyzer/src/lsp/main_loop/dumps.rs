//! Dump folders: they are listed on the pool, and the listing arrives like an edit.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ide::{FileId, ListedFile, ReadDump};
use tower_lsp::lsp_types::request::InlayHintRefreshRequest;
use tower_lsp::lsp_types::{FileChangeType, FileEvent, Url};

use super::MainLoop;
use crate::dumps::OnDisk;
use crate::lsp::dump_folders::{Freshness, Listed, name, relative};
use crate::lsp::jobs::Job;
use crate::lsp::mailbox::Event;
use crate::lsp::read::{Read, panic_message};
use crate::lsp::snapshot::View;
use crate::lsp::watched_folders::{self, CompilesChanged, CompilesChangedParams};

impl MainLoop {
    /// Lists the folder that a read is about, which then starts. It starts at once if the client watches the folder.
    pub(super) fn list_for(&mut self, read: Read) {
        let path = read.uri.to_file_path().ok();
        let Some(folder) = path.and_then(|path| self.dumps.folder_of(&path)) else {
            return read.answer_nothing();
        };
        match self.dumps.freshness(&folder) {
            Freshness::Fresh => self.start_in_folder(read, &folder),
            Freshness::Ageing => {
                self.start_in_folder(read, &folder);
                self.list(folder, None);
            }
            Freshness::Stale => self.list(folder, Some(read)),
        }
    }

    fn list(&mut self, folder: PathBuf, read: Option<Read>) {
        if self.dumps.wait(&folder, read) {
            self.spawn_listing(folder);
        }
    }

    fn spawn_listing(&self, folder: PathBuf) {
        let mailbox = self.mailbox.clone();
        let url = Url::from_file_path(&folder).ok();
        let working =
            url.and_then(|url| self.session.working("Listing a dump folder".to_owned(), &url, None));
        self.pool.spawn_blocking(move || {
            // Requests wait for the listing, whatever becomes of it.
            let listed = catch_unwind(|| Listed::now(folder.clone())).unwrap_or_else(|panic| {
                let why = format!(
                    "listing {} failed, which is a bug: {}",
                    folder.display(),
                    panic_message(&*panic)
                );
                Listed { folder, files: Err(why) }
            });
            mailbox.post(Event::Listed(listed));
            drop(working);
        });
    }

    /// A file was saved. A client that does not watch files reports changes of a dump folder by this alone.
    pub(super) fn saved(&mut self, uri: &Url) {
        if let Ok(path) = uri.to_file_path() {
            self.dumps.changed(&path, FileChangeType::CHANGED);
        }
    }

    /// Asks the client to watch the folders that it may watch only now.
    pub(super) fn watch_known(&mut self) {
        let known: Vec<PathBuf> = self.dumps.iter().map(|(folder, _)| folder.to_owned()).collect();
        known.iter().for_each(|folder| self.watch(folder));
    }

    pub(super) fn files_changed(&mut self, files: &[FileEvent]) {
        for FileEvent { uri, typ } in files {
            if let Ok(path) = uri.to_file_path() {
                self.dumps.changed(&path, *typ);
            }
        }
    }

    /// Lists the folders that the client reported changes in, some time ago.
    pub(super) fn list_changed(&mut self) {
        for folder in self.dumps.due_now() {
            self.list(folder, None);
        }
    }

    /// A file was opened: it may be the stage of a compile.
    pub(super) fn opened_in_folder(&mut self, uri: &Url) {
        let Ok(path) = uri.to_file_path() else { return };
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if !file_name.is_some_and(|name| compile::is_dump_name(&name)) {
            return;
        }
        let Some(folder) = self.dumps.folder_of(&path) else { return };
        let file = self.documents.get_mut(uri).and_then(|document| document.file);
        let is_known = file.zip(relative(&folder, &path)).is_some_and(|(file, path)| {
            let folder = name(&folder);
            self.guarded("opening a stage", |host| host.open_dump(&folder, &path, file)).unwrap_or(false)
        });
        match self.documents.get_mut(uri) {
            Some(document) if is_known => document.schedule(Job::Origins).changed(Instant::now()),
            _ => self.list(folder, None),
        }
    }

    pub(super) fn listed(&mut self, Listed { folder, files }: Listed) {
        let is_known = self.dumps.is_known(&folder);
        let is_listed = files.is_ok();
        let files = files.unwrap_or_else(|why| {
            tracing::warn!("{why}");
            Vec::new()
        });
        // A folder that can no longer be listed has no files; another one stays unknown.
        if (is_listed || is_known) && self.dumps.keep(&folder, &files) {
            self.interrupt_reads();
            self.take_listing(&folder, &files);
            self.refresh(&folder, is_known);
            self.refresh_diagnostics();
        }
        self.watch(&folder);
        let (reads, is_again) = self.dumps.ended(&folder);
        for read in reads {
            match is_listed {
                true => self.start_in_folder(read, &folder),
                false => read.answer_nothing(),
            }
        }
        if is_again {
            self.spawn_listing(folder);
        }
    }

    fn start_in_folder(&mut self, mut read: Read, folder: &Path) {
        match Url::from_file_path(folder) {
            Ok(folder) => {
                read.uri = folder;
                self.reads.push(read);
            }
            Err(()) => read.answer_nothing(),
        }
    }

    /// Asks the client to report changes in a folder that has dumps, if it can.
    fn watch(&mut self, folder: &Path) {
        if let Some(registration) = watched_folders::registration(&self.session, folder)
            && self.dumps.watch(folder)
        {
            self.outbox.request_with::<watched_folders::Register>(registration);
        }
    }

    /// Asks the client to ask again for what it shows of a folder. `is_known`: it may have asked before.
    fn refresh(&mut self, folder: &Path, is_known: bool) {
        let client = &self.session.client;
        if let (true, true, Ok(uri)) = (is_known, client.follows_compiles, Url::from_file_path(folder)) {
            self.outbox.notify_latest::<CompilesChanged>(&uri.clone(), CompilesChangedParams { uri });
        }
        // Hints depend on the device of the compile.
        let has_open = (self.documents.iter_mut())
            .any(|(uri, _)| uri.to_file_path().is_ok_and(|path| path.starts_with(folder)));
        if has_open && client.inlay_hint_refresh {
            self.outbox.request::<InlayHintRefreshRequest>();
        }
    }

    fn take_listing(&mut self, folder: &Path, files: &[ListedFile]) {
        let reader: Arc<dyn ReadDump> = Arc::new(OnDisk(folder.to_owned()));
        let open: Vec<(String, FileId)> = (self.documents.iter_mut())
            .filter_map(|(uri, document)| {
                let path = relative(folder, &uri.to_file_path().ok()?)?;
                // The folder says what device the file is for, on which warnings depend.
                Job::ALL.into_iter().for_each(|job| document.schedule(job).changed(Instant::now()));
                Some((path, document.file?))
            })
            .collect();
        let name = name(folder);
        self.guarded("listing a folder", |host| {
            host.list_dumps(&name, files, &reader);
            for (path, file) in &open {
                host.open_dump(&name, path, *file);
            }
        });
    }

    /// Fills a new database.
    pub(super) fn list_again(&mut self) {
        let known: Vec<_> =
            self.dumps.iter().map(|(folder, files)| (folder.to_owned(), files.to_owned())).collect();
        for (folder, files) in known {
            self.take_listing(&folder, &files);
        }
    }

    pub(super) fn start_folder_read(&self, read: Read) {
        // The read names files by their paths.
        let file = FileId(u32::MAX);
        let view = View::without_document(self.session.clone(), read.uri.clone(), file, Vec::new());
        self.run_read(read, view);
    }
}
