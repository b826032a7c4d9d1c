//! The kernels that the client shows, and what the assembler said about texts.
//!
//! Owned by the session and shared with the threads of the pool; a few entries per open tab and [`MAX_ASSEMBLED`] texts'
//! answers. What a kernel looks like is asked of the analysis each time: nothing here can be out of date but the last text that
//! could be shown, which is kept for the time in which the HLO has errors.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ide::KernelDocument;
use tower_lsp::lsp_types::{Diagnostic, Url};

use super::kernel_uri::KernelUri;
use super::mailbox::{Event, Mailbox};
use crate::assembler::{Assembled, Assembler};

/// Texts whose answers are remembered.
const MAX_ASSEMBLED: usize = 64;
/// Texts that wait; while the user types, older ones are nobody's any more.
const MAX_WAITING: usize = 8;
/// Tabs that are kept up to date.
const MAX_SHOWN: usize = 256;

#[derive(Default)]
pub(super) struct KernelShelf {
    inner: Mutex<Inner>,
    more_work: Condvar,
}

#[derive(Default)]
struct Inner {
    shown: HashMap<Url, Shown>,
    /// The newest last.
    assembled: Vec<(u64, Arc<Assembled>)>,
    waiting: Vec<(u64, Arc<str>)>,
    running: Option<u64>,
    assembler: Option<Assembler>,
    has_worker: bool,
}

/// A tab.
struct Shown {
    kernel: KernelUri,
    /// Of the text that the client has.
    text: u64,
    diagnostics: Vec<Diagnostic>,
    /// The last that had code.
    last: Option<Arc<KernelDocument>>,
    /// Where it is a file, for clients that show no documents of ours.
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

    /// The client shows this text from now on.
    pub(super) fn show(&self, uri: Url, kernel: KernelUri, text: &str, path: Option<PathBuf>) {
        let mut inner = self.lock();
        if inner.shown.len() >= MAX_SHOWN && !inner.shown.contains_key(&uri) {
            tracing::warn!("{uri} is not kept up to date: {MAX_SHOWN} kernels are shown already");
            return;
        }
        let known = inner.shown.remove(&uri);
        let (diagnostics, last) = known.map(|known| (known.diagnostics, known.last)).unwrap_or_default();
        inner.shown.insert(uri, Shown { kernel, text: hash_of(text), diagnostics, last, path });
    }

    /// The client shows it no more. Whether it had diagnostics.
    pub(super) fn hide(&self, uri: &Url) -> bool {
        self.lock().shown.remove(uri).is_some_and(|shown| !shown.diagnostics.is_empty())
    }

    /// The tabs of a file.
    pub(super) fn of_file(&self, file: &Url) -> Vec<(Url, KernelUri)> {
        let inner = self.lock();
        let own = inner.shown.iter().filter(|(_, shown)| shown.kernel.file == *file);
        own.map(|(uri, shown)| (uri.clone(), shown.kernel.clone())).collect()
    }

    /// The files of which kernels are shown.
    pub(super) fn files(&self) -> Vec<Url> {
        self.lock().shown.values().map(|shown| shown.kernel.file.clone()).collect()
    }

    /// Notes what the tab says now: whether the text is another, and its file where it is one; and whether the diagnostics are.
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

    /// Keeps a document with code, and answers the last one where there is none now.
    pub(super) fn last_with_code(&self, uri: &Url, document: &KernelDocument) -> Option<Arc<KernelDocument>> {
        let mut inner = self.lock();
        let shown = inner.shown.get_mut(uri)?;
        if document.has_code {
            shown.last = Some(Arc::new(document.clone()));
            return None;
        }
        shown.last.clone().filter(|_| document.body.is_empty())
    }

    pub(super) fn set_assembler(&self, assembler: Option<Assembler>) {
        let mut inner = self.lock();
        if inner.assembler != assembler {
            inner.assembler = assembler;
            inner.assembled.clear();
            inner.waiting.clear();
        }
    }

    pub(super) fn assembler(&self) -> Option<Assembler> {
        self.lock().assembler.clone()
    }

    /// What the assembler said about a text. Where it is not known yet it is asked in the background, and
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
            inner.has_worker = worker.spawn(move || shelf.work(&mailbox)).is_ok();
        }
        None
    }

    /// One text after the other, the newest first, as long as the process lives.
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
            mailbox.post(Event::Assembled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::kernel_uri::Tab;

    #[test]
    fn a_tab_changes_when_its_text_does() {
        let shelf = KernelShelf::default();
        let file = Url::parse("file:///a.hlo").unwrap();
        let (computation, instruction) = ("main".to_owned(), "f".to_owned());
        let kernel = KernelUri { file: file.clone(), computation, instruction, tab: Tab::Ptx };
        let uri = kernel.uri();
        assert_eq!(shelf.update(&uri, "a", &[]), None);
        shelf.show(uri.clone(), kernel, "a", None);
        assert_eq!(shelf.update(&uri, "a", &[]), Some((false, None, false)));
        assert_eq!(shelf.update(&uri, "b", &[]), Some((true, None, false)));
        assert_eq!(shelf.update(&uri, "b", &[Diagnostic::default()]), Some((false, None, true)));
        assert_eq!(shelf.of_file(&file).len(), 1);
        let code = KernelDocument { has_code: true, body: "ret;".to_owned(), ..Default::default() };
        assert!(shelf.last_with_code(&uri, &code).is_none());
        assert_eq!(shelf.last_with_code(&uri, &KernelDocument::default()).unwrap().body, "ret;");
        assert!(shelf.hide(&uri));
        assert!(shelf.files().is_empty());
    }
}
