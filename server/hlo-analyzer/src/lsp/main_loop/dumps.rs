//! Dump folders: they are listed on the pool, and the listing arrives like an edit.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use ide::{FileId, ReadDump};
use ropey::Rope;
use tower_lsp::lsp_types::Url;

use super::MainLoop;
use crate::dumps::OnDisk;
use crate::lsp::dump_folders::{Listed, name, relative};
use crate::lsp::jobs::Job;
use crate::lsp::mailbox::Event;
use crate::lsp::read::Read;
use crate::lsp::snapshot::View;

impl MainLoop {
    /// Lists the folder that a read is about, which starts with the listing.
    pub(super) fn list_for(&self, read: Read) {
        let path = read.uri.to_file_path().ok();
        match path.and_then(|path| self.dumps.folder_of(&path)) {
            Some(folder) => self.list(folder, Some(read)),
            None => read.answer_nothing(),
        }
    }

    fn list(&self, folder: PathBuf, read: Option<Read>) {
        let mailbox = self.mailbox.clone();
        self.pool.spawn_blocking(move || mailbox.post(Event::Listed(Listed::now(folder), read)));
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

    pub(super) fn listed(&mut self, Listed { folder, files }: Listed, read: Option<Read>) {
        match files {
            Ok(files) => {
                if self.dumps.keep(&folder, &files) {
                    self.interrupt_reads();
                    self.take_listing(&folder, &files);
                }
            }
            Err(why) => {
                tracing::warn!("{why}");
                return read.into_iter().for_each(Read::answer_nothing);
            }
        }
        if let (Some(mut read), Ok(folder)) = (read, Url::from_file_path(&folder)) {
            read.uri = folder;
            self.reads.push(read);
        }
    }

    fn take_listing(&mut self, folder: &std::path::Path, files: &[ide::ListedFile]) {
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
        let (session, uri) = (self.session.clone(), read.uri.clone());
        // No document: the read names files by their paths.
        let file = FileId(u32::MAX);
        let view = View { session, uri, file, version: 0, text: Rope::new(), span: 0..0, open: Vec::new() };
        self.run_read(read, view);
    }
}
