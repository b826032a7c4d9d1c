//! The kernels that the client shows, their rendered tabs, and cached assembler results.
//!
//! Owned by the session and shared with the pool's threads; holds a few entries per open tab, [`MAX_RENDERED`] tabs
//! and the results for [`MAX_ASSEMBLED`] texts. A tab is rendered once per revision. The only value that can be stale
//! is the last text with code, which is shown while the HLO has errors.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ide::{Cancellable, KernelDocument, Revision};
use tower_lsp::lsp_types::{Diagnostic, Url};

use super::kernel_tab::{KernelTab, Rendered};
use super::kernel_uri::KernelUri;
use super::mailbox::{Event, Mailbox};
use crate::assembler::{Assembled, Assembler};

/// The number of tabs that are kept rendered: those of a few kernels.
const MAX_RENDERED: usize = 16;
/// The number of texts whose assembler results are cached.
const MAX_ASSEMBLED: usize = 64;
/// The number of queued texts; older ones are outdated while the user types.
const MAX_WAITING: usize = 8;
/// The largest number of tabs kept up to date.
const MAX_SHOWN: usize = 256;

#[derive(Default)]
pub(super) struct KernelShelf {
    inner: Mutex<Inner>,
    more_work: Condvar,
}

#[derive(Default)]
struct Inner {
    shown: HashMap<Url, Shown>,
    /// Newest last, with what each one depends on.
    rendered: Vec<(Url, Basis, Arc<Rendered>)>,
    /// Counts the changes of the assembler and its results.
    results: u64,
    /// Newest last.
    assembled: Vec<(u64, Arc<Assembled>)>,
    waiting: Vec<(u64, Arc<str>)>,
    running: Option<u64>,
    assembler: Option<Assembler>,
    has_worker: bool,
}

/// What a rendered tab depends on, beside its URI.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Basis {
    revision: Revision,
    results: u64,
}

/// A shown tab.
struct Shown {
    kernel: KernelUri,
    /// Hash of the text that the client has.
    text: u64,
    diagnostics: Vec<Diagnostic>,
    /// The last document that had code.
    last: Option<Arc<KernelDocument>>,
    /// The path of the tab's file, for clients that cannot show virtual documents.
    path: Option<PathBuf>,
}

pub(super) fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl KernelShelf {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a tab that the client now shows with this text.
    pub(super) fn show(&self, uri: Url, kernel: KernelUri, text: &str, path: Option<PathBuf>) {
        let mut inner = self.lock();
        if inner.shown.len() >= MAX_SHOWN && !inner.shown.contains_key(&uri) {
            tracing::warn!("{uri} is not kept up to date: {MAX_SHOWN} kernels are shown already");
            return;
        }
        let known = inner.shown.remove(&uri);
        let (diagnostics, last) = known.map(|known| (known.diagnostics, known.last)).unwrap_or_default();
        // Reads of this revision find the tab rendered.
        let last = last.or_else(|| {
            let (_, _, rendered) = inner.rendered.iter().find(|(known, ..)| *known == uri)?;
            rendered.document.code().is_some().then(|| rendered.document.clone())
        });
        inner.shown.insert(uri, Shown { kernel, text: hash_of(text), diagnostics, last, path });
    }

    /// The tab at this revision. `render` computes it unless an earlier read of the same revision did.
    pub(super) fn rendered(
        &self,
        uri: &Url,
        revision: Revision,
        render: impl FnOnce() -> Cancellable<Rendered>,
    ) -> Cancellable<Arc<Rendered>> {
        let inner = self.lock();
        let basis = Basis { revision, results: inner.results };
        let known = inner.rendered.iter().find(|(known, of, _)| known == uri && *of == basis);
        if let Some((_, _, rendered)) = known {
            return Ok(rendered.clone());
        }
        drop(inner);
        let rendered = Arc::new(render()?);
        let mut inner = self.lock();
        inner.rendered.retain(|(known, ..)| known != uri);
        if inner.rendered.len() == MAX_RENDERED {
            inner.rendered.remove(0);
        }
        inner.rendered.push((uri.clone(), basis, rendered.clone()));
        Ok(rendered)
    }

    /// Removes a tab that the client has closed. Returns whether it had diagnostics.
    pub(super) fn hide(&self, uri: &Url) -> bool {
        self.lock().shown.remove(uri).is_some_and(|shown| !shown.diagnostics.is_empty())
    }

    /// The tabs of a file.
    pub(super) fn of_file(&self, file: &Url) -> Vec<KernelTab> {
        let inner = self.lock();
        let own = inner.shown.iter().filter(|(_, shown)| shown.kernel.file == *file);
        own.map(|(uri, shown)| KernelTab { uri: uri.clone(), kernel: shown.kernel.clone() }).collect()
    }

    /// The files with shown kernels.
    pub(super) fn files(&self) -> Vec<Url> {
        self.lock().shown.values().map(|shown| shown.kernel.file.clone()).collect()
    }

    /// Records the tab's current text and diagnostics. Returns whether the text has changed, with its file if
    /// there is one, and whether the diagnostics have.
    pub(super) fn update(
        &self,
        uri: &Url,
        text: &str,
        diagnostics: &[Diagnostic],
    ) -> Option<(bool, Option<PathBuf>, bool)> {
        let mut inner = self.lock();
        let shown = inner.shown.get_mut(uri)?;
        let text = hash_of(text);
        let changed = std::mem::replace(&mut shown.text, text) != text;
        let said = shown.diagnostics != diagnostics;
        shown.diagnostics = diagnostics.to_vec();
        Some((changed, shown.path.clone(), said))
    }

    /// Stores a document with code; returns the last one with code if this one has none.
    pub(super) fn last_with_code(
        &self,
        uri: &Url,
        document: &Arc<KernelDocument>,
    ) -> Option<Arc<KernelDocument>> {
        let mut inner = self.lock();
        let shown = inner.shown.get_mut(uri)?;
        if document.code().is_some() {
            shown.last = Some(document.clone());
            return None;
        }
        shown.last.clone().filter(|_| document.body.is_empty())
    }

    pub(super) fn set_assembler(&self, assembler: Option<Assembler>) {
        let mut inner = self.lock();
        if inner.assembler != assembler {
            inner.assembler = assembler;
            inner.results += 1;
            inner.assembled.clear();
            inner.waiting.clear();
        }
    }

    pub(super) fn assembler(&self) -> Option<Assembler> {
        self.lock().assembler.clone()
    }

    /// The assembler result for a text. If unknown, it is computed in the background, and
    /// [`Event::Assembled`] follows.
    pub(super) fn assembled(self: &Arc<Self>, ptx: &str, mailbox: &Mailbox) -> Option<Arc<Assembled>> {
        let mut inner = self.lock();
        inner.assembler.as_ref()?;
        let hash = hash_of(ptx);
        if let Some(at) = inner.assembled.iter().position(|(known, _)| *known == hash) {
            let found = inner.assembled.remove(at);
            inner.assembled.push(found.clone());
            return Some(found.1);
        }
        let is_coming = inner.running == Some(hash) || inner.waiting.iter().any(|(known, _)| *known == hash);
        if !is_coming {
            if inner.waiting.len() == MAX_WAITING {
                inner.waiting.remove(0);
            }
            inner.waiting.push((hash, ptx.into()));
            self.more_work.notify_one();
        }
        if !std::mem::replace(&mut inner.has_worker, true) {
            let (shelf, mailbox) = (self.clone(), mailbox.clone());
            let worker = std::thread::Builder::new().name("assembler".into());
            let work = move || {
                // If it fails, the next text starts another worker. The panic itself is logged.
                _ = catch_unwind(AssertUnwindSafe(|| shelf.work(&mailbox)));
                let mut inner = shelf.lock();
                (inner.running, inner.has_worker) = (None, false);
            };
            inner.has_worker = worker.spawn(work).is_ok();
        }
        None
    }

    /// Assembles queued texts one at a time, newest first, for the life of the process.
    fn work(&self, mailbox: &Mailbox) {
        let mut inner = self.lock();
        loop {
            let Some((hash, text)) = inner.waiting.pop() else {
                inner = self.more_work.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(assembler) = inner.assembler.clone() else { continue };
            inner.running = Some(hash);
            drop(inner);
            let assembled = Arc::new(assembler.assemble(&text));
            inner = self.lock();
            inner.running = None;
            if inner.assembler.as_ref() != Some(&assembler) {
                continue;
            }
            if inner.assembled.len() == MAX_ASSEMBLED {
                inner.assembled.remove(0);
            }
            inner.assembled.push((hash, assembled));
            inner.results += 1;
            mailbox.post(Event::Assembled);
        }
    }
}

#[cfg(test)]
mod tests {
    use ide::{FusionError, KernelCode, KernelOrigin};

    use super::*;
    use crate::lsp::kernel_uri::Tab;

    fn kernel() -> KernelUri {
        let (computation, instruction) = ("main".to_owned(), "f".to_owned());
        KernelUri { file: Url::parse("file:///a.hlo").unwrap(), computation, instruction, tab: Tab::Ptx }
    }

    fn without_code() -> KernelDocument {
        KernelDocument::without_code(Vec::new(), FusionError::NotFound(String::new()))
    }

    fn with_code() -> KernelDocument {
        let launch = ide::Launch::linear(1, 1);
        let facts = KernelCode {
            name: "f".to_owned(),
            launch: Some(launch),
            params: Vec::new(),
            missing: Vec::new(),
            comparison: None,
        };
        let origin = KernelOrigin::Emitters(facts);
        KernelDocument { origin, body: "ret;".to_owned(), ..without_code() }
    }

    #[test]
    fn a_tab_changes_when_its_text_does() {
        let shelf = KernelShelf::default();
        let (kernel, uri) = (kernel(), kernel().uri());
        let file = kernel.file.clone();
        assert_eq!(shelf.update(&uri, "a", &[]), None);
        shelf.show(uri.clone(), kernel, "a", None);
        assert_eq!(shelf.update(&uri, "a", &[]), Some((false, None, false)));
        assert_eq!(shelf.update(&uri, "b", &[]), Some((true, None, false)));
        assert_eq!(shelf.update(&uri, "b", &[Diagnostic::default()]), Some((false, None, true)));
        assert_eq!(shelf.of_file(&file).len(), 1);
        let (none, code) = (Arc::new(without_code()), Arc::new(with_code()));
        assert!(shelf.last_with_code(&uri, &code).is_none());
        assert_eq!(shelf.last_with_code(&uri, &none).unwrap().body, "ret;");
        assert!(shelf.hide(&uri));
        assert!(shelf.files().is_empty());
    }

    #[test]
    fn a_tab_is_rendered_once_per_revision_and_result() {
        let (shelf, uri) = (KernelShelf::default(), kernel().uri());
        let count = std::cell::Cell::new(0);
        let read = |revision: Revision| {
            let render = || {
                count.set(count.get() + 1);
                let (text, document) = ("ret;".to_owned(), Arc::new(with_code()));
                Ok(Rendered { text, first: 0, document, diagnostics: Vec::new() })
            };
            shelf.rendered(&uri, revision, render).expect("nobody cancels")
        };
        let first = Revision::default();
        let rendered = read(first);
        for _ in 0..9 {
            assert!(Arc::ptr_eq(&read(first), &rendered));
        }
        assert_eq!(count.get(), 1, "the reads of one revision share it");
        let second = Revision::default();
        read(second);
        read(second);
        assert_eq!(count.get(), 2, "after an edit it is rendered again");
        shelf.lock().results += 1;
        read(second);
        assert_eq!(count.get(), 3, "the note on the assembler's result is in its head");
        assert!(shelf.rendered(&uri, first, || Err(ide::Cancelled::Local)).is_err());
        read(second);
        assert_eq!(count.get(), 3, "what is cancelled replaces nothing");
        // A tab that is shown after it was rendered keeps its code through errors.
        shelf.show(uri.clone(), kernel(), "ret;", None);
        assert_eq!(shelf.last_with_code(&uri, &Arc::new(without_code())).unwrap().body, "ret;");
    }
}
