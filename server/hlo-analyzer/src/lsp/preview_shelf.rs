//! The previews that the client shows.
//!
//! Owned by the session and shared with the pool's threads; holds an entry per open document, with the last preview of a module
//! without errors, which is shown while the module has some.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ide::Preview;
use tower_lsp::lsp_types::Url;

use super::kernel_shelf::hash_of;
use super::preview_tab::PreviewTab;
use super::preview_uri::PreviewUri;

/// The largest number of previews kept up to date.
const MAX_SHOWN: usize = 64;

#[derive(Default)]
pub(super) struct PreviewShelf(Mutex<HashMap<Url, Shown>>);

struct Shown {
    preview: PreviewUri,
    /// Hash of the text that the client has.
    text: u64,
    last: Option<Arc<Preview>>,
}

impl PreviewShelf {
    fn lock(&self) -> MutexGuard<'_, HashMap<Url, Shown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a preview that the client now shows with this text.
    pub(super) fn show(&self, uri: Url, preview: PreviewUri, text: &str) {
        let mut shown = self.lock();
        if shown.len() >= MAX_SHOWN && !shown.contains_key(&uri) {
            tracing::warn!("{uri} is not kept up to date: {MAX_SHOWN} previews are shown already");
            return;
        }
        let last = shown.remove(&uri).and_then(|known| known.last);
        shown.insert(uri, Shown { preview, text: hash_of(text), last });
    }

    pub(super) fn hide(&self, uri: &Url) {
        self.lock().remove(uri);
    }

    /// The previews of a file.
    pub(super) fn of_file(&self, file: &Url) -> Vec<PreviewTab> {
        let shown = self.lock();
        let own = shown.iter().filter(|(_, shown)| shown.preview.file == *file);
        own.map(|(uri, shown)| PreviewTab { uri: uri.clone(), preview: shown.preview.clone() }).collect()
    }

    /// Records the current text. Returns whether it has changed.
    pub(super) fn update(&self, uri: &Url, text: &str) -> bool {
        let mut shown = self.lock();
        let Some(shown) = shown.get_mut(uri) else { return false };
        let text = hash_of(text);
        std::mem::replace(&mut shown.text, text) != text
    }

    /// Keeps the preview of a module without errors.
    pub(super) fn keep(&self, uri: &Url, preview: &Arc<Preview>) {
        if let Some(shown) = self.lock().get_mut(uri) {
            shown.last = Some(preview.clone());
        }
    }

    /// The last one that was kept.
    pub(super) fn last(&self, uri: &Url) -> Option<Arc<Preview>> {
        self.lock().get(uri)?.last.clone()
    }
}
