//! Documents that are opened, edited, renamed and closed.

use random::Rng;
use serde_json::{Value, json};

use super::{MAX_BYTES, MAX_DOCUMENTS, MAX_OPENED, NAMES, Player};
use crate::soak::edits::{Edit, random_edit};
use crate::soak::simulation::oracle::opened;
use crate::soak::simulation::world::{Document, Replaced};
use crate::soak::texts::{ANY_WORDS, Language, texts};

impl Player<'_> {
    pub(super) fn pick(&self, random: &mut Rng) -> Option<String> {
        let open: Vec<&String> = self.world.now().documents.keys().collect();
        (!open.is_empty()).then(|| (*random.pick(&open)).clone())
    }

    pub(super) fn next_version(&mut self, random: &mut Rng) -> i64 {
        self.version += 1 + i64::from(random.one_in(5));
        self.version
    }

    /// Opens a file of the dump folder, sometimes with other text than on disk, or a document outside of it.
    pub(super) fn open(&mut self, random: &mut Rng) {
        let (uri, language, text) = match random.index(3) {
            0 => {
                let (uri, text) = random.pick(self.stages).clone();
                (uri, Language::Hlo, text)
            }
            _ => {
                let language = *random.pick(&Language::BOTH);
                let all = texts(language);
                let short = (0..8).map(|_| random.pick(all)).find(|text| text.len() <= MAX_OPENED);
                let text = short.cloned().unwrap_or_default();
                (format!("file:///simulated/{}", random.pick(NAMES).replace(' ', "%20")), language, text)
            }
        };
        let documents = &self.world.now().documents;
        if documents.contains_key(&uri) || documents.len() >= MAX_DOCUMENTS {
            return;
        }
        let text = match random.index(6) {
            0 => text.replace('\n', "\r\n"),
            1 => format!("{text}// é→😀\n"),
            _ => text,
        };
        self.open_as(uri, language, text, random);
    }

    pub(super) fn open_as(&mut self, uri: String, language: Language, text: String, random: &mut Rng) {
        let version = self.next_version(random);
        let document = Document { opening: version as u64, language, version, text: text.into() };
        self.notify("textDocument/didOpen", opened(&uri, &document));
        self.world.advance(None, |state| _ = state.documents.insert(uri, document));
    }

    pub(super) fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
        self.tokens.remove(uri);
        self.world.advance(None, |state| _ = state.documents.remove(uri));
    }

    pub(super) fn rename(&mut self, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let new = format!("file:///simulated/renamed-{}.txt", random.index(3));
        if self.world.now().documents.contains_key(&new) {
            return;
        }
        let Document { language, text, .. } = self.world.now().documents[&uri].clone();
        self.close(&uri);
        let language = if random.one_in(4) { *random.pick(&Language::BOTH) } else { language };
        self.open_as(new, language, text.to_string(), random);
    }

    /// Sends edits, with positions that clients may write in several ways.
    pub(super) fn edit(&mut self, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let document = self.world.now().documents[&uri].clone();
        let mut text = document.text.to_string();
        let (mut changes, mut replaced): (Vec<Value>, Replaced) = (Vec::new(), Vec::new());
        let count = if random.one_in(30) { 0 } else { 1 + random.index(4) * usize::from(random.one_in(3)) };
        for _ in 0..count {
            let mut edit = random_edit(random, &text, document.language);
            if text.len() + edit.insert.len() > MAX_BYTES {
                edit = Edit { range: edit.range.start..text.len(), insert: String::new() };
            }
            changes.push(self.change(&text, &edit, random));
            replaced.push((edit.range.clone(), edit.insert.len()));
            edit.apply(&mut text);
        }
        self.changed(&uri, changes, text, replaced, random);
    }

    /// An edit in the format of `didChange`.
    pub(super) fn change(&self, text: &str, edit: &Edit, random: &mut Rng) -> Value {
        let start = self.world.point(text, edit.range.start);
        let mut end = self.world.point(text, edit.range.end);
        let ends_line = text[edit.range.end..].chars().next().is_none_or(|c| matches!(c, '\n' | '\r'));
        if ends_line && random.one_in(6) {
            // A column behind the end of a line is its end.
            end["character"] = json!(end["character"].as_u64().unwrap_or_default() + 7);
        }
        if edit.range.end == text.len() && random.one_in(6) {
            end = json!({"line": u32::MAX, "character": 0});
        }
        let is_reversed = edit.range.len() > 1 && random.one_in(12);
        let range = match is_reversed {
            true => json!({"start": end, "end": start}),
            false => json!({"start": start, "end": end}),
        };
        json!({"range": range, "text": edit.insert})
    }

    pub(super) fn changed(
        &mut self,
        uri: &str,
        changes: Vec<Value>,
        text: String,
        replaced: Replaced,
        random: &mut Rng,
    ) {
        let version = self.next_version(random);
        let id = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": changes}));
        self.world.advance(Some((uri.to_owned(), replaced)), |state| {
            if let Some(document) = state.documents.get_mut(uri) {
                (document.version, document.text) = (version, text.into());
            }
        });
    }

    pub(super) fn replace(&mut self, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let document = self.world.now().documents[&uri].clone();
        let old = document.text.to_string();
        let new = match random.index(6) {
            0 => String::new(),
            1 => old.replace("\r\n", "\n"),
            2 if old.len() * 2 < MAX_BYTES => old.replace("\r\n", "\n").replace('\n', "\r\n"),
            3 => (0..random.index(30)).map(|_| *random.pick(ANY_WORDS)).collect(),
            4 => old.clone(),
            _ => random.pick(texts(document.language)).chars().take(MAX_OPENED).collect(),
        };
        let replaced = vec![(0..old.len(), new.len())];
        self.changed(&uri, vec![json!({"text": new})], new, replaced, random);
    }
}
