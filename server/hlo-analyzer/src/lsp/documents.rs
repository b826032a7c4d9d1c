//! The open documents, and how positions in them move with edits.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use ide::{FileId, Language, TextEdit};
use text::Text;
use text::position::{self, PositionEncoding};
use tower_lsp::lsp_types::Url;

use super::from_proto;
use super::jobs::Job;
use super::read::{DocumentSpan, Target};
use super::schedule::Schedule;
use super::snapshot::{Session, View};

/// The number of edits remembered per document. Requests about an older text are refused.
const REMEMBERED_EDITS: usize = 4096;

/// The largest text, in bytes, whose memory a hover plans itself: the plan takes at most 20 ms. That of others is made in the
/// background once a hover or a lens needs it.
const PLANNED_AT_ONCE: usize = 200_000;

/// The largest text, in bytes, whose kernels are planned by who shows them: passes and cost model take a few milliseconds.
const KERNELS_AT_ONCE: usize = 12_000;

/// A plan of a document, of its memory or of its kernels, since its last edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Unasked,
    Wanted,
    Made,
}

/// The client's open documents by URI. Owned by the main loop.
#[derive(Default)]
pub(super) struct Documents {
    by_uri: HashMap<Url, Document>,
    generations: u64,
}

/// An open document: the client's text and the state kept for it.
///
/// The text is the authoritative one, from which the database can be rebuilt after a panic; it shares its
/// nodes with the database's copy. Changed by edits only, dropped by `didClose`. Besides the text it holds at
/// most [`REMEMBERED_EDITS`] entries of 24 bytes, whatever the size of the text.
pub(super) struct Document {
    /// `None` while the analysis cannot load this text, which is a bug there.
    pub(super) file: Option<FileId>,
    pub(super) language: Language,
    pub(super) version: i32,
    pub(super) text: Text,
    diagnostics: Schedule,
    kernels: Schedule,
    origins: Schedule,
    memory: Schedule,
    memory_plan: Plan,
    previews: Schedule,
    planned_kernels: Schedule,
    kernel_plan: Plan,
    /// Whether all diagnostics of some version of the document have been published, or are known to a job.
    pub(super) has_all_diagnostics: bool,
    /// Whether a client that asks for diagnostics may have been told of the cheap ones alone.
    pub(super) has_early_diagnostics: bool,
    /// Unique per opening, so that results for an earlier opening are not used.
    pub(super) generation: u64,
    /// The last edits, newest last: the replaced byte range and the length of the replacement.
    edits: VecDeque<(Range<usize>, usize)>,
    edits_forgotten: u64,
}

impl Documents {
    pub(super) fn insert(&mut self, uri: Url, language: Language, version: i32, text: Text) -> &mut Document {
        self.generations += 1;
        let document = Document {
            file: None,
            language,
            version,
            text,
            diagnostics: Schedule::default(),
            kernels: Schedule::of_pauses(),
            origins: Schedule::of_pauses(),
            memory: Schedule::of_pauses(),
            memory_plan: Plan::Unasked,
            previews: Schedule::of_pauses(),
            planned_kernels: Schedule::of_pauses(),
            kernel_plan: Plan::Unasked,
            has_all_diagnostics: false,
            has_early_diagnostics: false,
            generation: self.generations,
            edits: VecDeque::new(),
            edits_forgotten: 0,
        };
        self.by_uri.entry(uri).insert_entry(document).into_mut()
    }

    pub(super) fn remove(&mut self, uri: &Url) -> Option<Document> {
        self.by_uri.remove(uri)
    }

    pub(super) fn get_mut(&mut self, uri: &Url) -> Option<&mut Document> {
        self.by_uri.get_mut(uri)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Url, &mut Document)> {
        self.by_uri.iter_mut()
    }
}

impl Document {
    /// When the computation of this kind starts.
    pub(super) fn schedule(&mut self, job: Job) -> &mut Schedule {
        match job {
            Job::Diagnostics => &mut self.diagnostics,
            Job::Kernels => &mut self.kernels,
            Job::Origins => &mut self.origins,
            Job::Memory => &mut self.memory,
            Job::Previews => &mut self.previews,
            Job::PlannedKernels => &mut self.planned_kernels,
        }
    }

    /// Plans the memory soon, unless that was asked for since the last edit.
    pub(super) fn want_memory(&mut self, now: Instant) {
        if self.memory_plan == Plan::Unasked {
            self.memory_plan = Plan::Wanted;
            self.memory.at_once(now);
        }
    }

    pub(super) fn wants_memory(&self) -> bool {
        self.memory_plan == Plan::Wanted
    }

    pub(super) fn memory_is_planned(&mut self) {
        if self.memory_plan == Plan::Wanted {
            self.memory_plan = Plan::Made;
        }
    }

    /// Plans the kernels soon, unless that was asked for since the last edit.
    pub(super) fn want_kernels(&mut self, now: Instant) {
        if self.kernel_plan == Plan::Unasked {
            self.kernel_plan = Plan::Wanted;
            self.planned_kernels.at_once(now);
        }
    }

    pub(super) fn wants_kernels(&self) -> bool {
        self.kernel_plan == Plan::Wanted
    }

    /// The plan was for another device.
    pub(super) fn forget_kernels(&mut self) {
        self.kernel_plan = Plan::Unasked;
    }

    pub(super) fn kernels_are_planned(&mut self) {
        if self.kernel_plan == Plan::Wanted {
            self.kernel_plan = Plan::Made;
        }
    }

    /// This part of the document for a request; `None` while the analysis cannot load the text.
    pub(super) fn view(&self, uri: &Url, session: &Arc<Session>, span: Range<usize>) -> Option<View> {
        Some(View {
            session: session.clone(),
            uri: uri.clone(),
            file: self.file?,
            version: self.version,
            text: self.text.clone(),
            span,
            has_all_diagnostics: self.has_all_diagnostics,
            has_memory: self.memory_plan == Plan::Made || self.text.len_bytes() <= PLANNED_AT_ONCE,
            has_kernels: self.kernel_plan == Plan::Made || self.text.len_bytes() <= KERNELS_AT_ONCE,
            open: Vec::new(),
        })
    }

    /// Applies one edit. `edit` fits the text, as [`from_proto::text_edit`] creates it.
    pub(super) fn apply(&mut self, edit: &TextEdit) {
        self.memory_plan = Plan::Unasked;
        self.kernel_plan = Plan::Unasked;
        let Range { start, end } = edit.range;
        if edit.range == (0..self.text.len_bytes()) {
            self.text = Text::from(edit.insert.as_str());
        } else {
            self.text.replace(start..end, &edit.insert);
        }
        if self.edits.len() == REMEMBERED_EDITS {
            self.edits.pop_front();
            self.edits_forgotten += 1;
        }
        self.edits.push_back((start..end, edit.insert.len()));
    }

    /// The byte range of a request's target in the current text.
    pub(super) fn find(&self, target: &Target, encoding: PositionEncoding) -> DocumentSpan {
        DocumentSpan {
            span: from_proto::span(&self.text, target, encoding),
            is_whole: !matches!(target, Target::At(_) | Target::Range(_)),
            generation: self.generation,
            edits: self.edits_forgotten + self.edits.len() as u64,
        }
    }

    /// Whether the text has changed since a place was found in it.
    pub(super) fn is_edited_since(&self, place: &DocumentSpan) -> bool {
        let edits = self.edits_forgotten + self.edits.len() as u64;
        place.generation != self.generation || place.edits != edits
    }

    /// The current range of a place in an earlier text, or `None` if that text is no longer remembered.
    pub(super) fn now(&self, place: &DocumentSpan) -> Option<Range<usize>> {
        if place.generation != self.generation {
            return None;
        }
        if place.is_whole {
            // Moved along, it would miss what was inserted at the start.
            return Some(0..self.text.len_bytes());
        }
        let known = place.edits.checked_sub(self.edits_forgotten)?;
        let later = self.edits.iter().skip(usize::try_from(known).ok()?);
        let mut span = place.span.clone();
        for (replaced, inserted) in later {
            let end = shift(span.end, replaced, *inserted);
            span = shift(span.start, replaced, *inserted).min(end)..end;
        }
        // The new text may have another character or line end there.
        Some(position::floor(&self.text, span.start)..position::floor(&self.text, span.end))
    }
}

/// The offset after an edit. An offset inside the replaced text keeps its distance from the start, up to the
/// length of the new text, so replacing a name leaves the pointer on the name.
fn shift(offset: usize, replaced: &Range<usize>, inserted: usize) -> usize {
    if offset < replaced.start {
        offset
    } else if offset >= replaced.end {
        offset - replaced.len() + inserted
    } else {
        offset.min(replaced.start + inserted)
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types;

    use super::*;

    fn document(text: &str) -> Document {
        let mut documents = Documents::default();
        let uri = Url::parse("file:///a.hlo").unwrap();
        documents.insert(uri.clone(), Language::Hlo, 1, Text::from(text));
        documents.remove(&uri).unwrap()
    }

    /// `$0` marks the offset in the text before and after the edits.
    fn check(before: &str, edits: &[(Range<usize>, &str)], after: &str) {
        let mut document = document(&before.replace("$0", ""));
        let offset = before.find("$0").unwrap();
        let mut place = document.find(&Target::Document, PositionEncoding::Utf8);
        (place.span, place.is_whole) = (offset..offset, false);
        for (range, insert) in edits {
            document.apply(&TextEdit { range: range.clone(), insert: (*insert).to_owned() });
        }
        let mut found = document.text.to_string();
        found.insert_str(document.now(&place).unwrap().start, "$0");
        assert_eq!(found, after);
    }

    #[test]
    fn places_move_with_edits() {
        check("ab$0cd", &[(0..0, "xy")], "xyab$0cd");
        check("ab$0cd", &[(3..4, "")], "ab$0c");
        check("ab$0cd", &[(2..2, "x"), (0..1, "")], "bx$0cd");
        check("%ad$0d = x", &[(1..4, "multiply")], "%mu$0ltiply = x");
        check("%ad$0d = x", &[(0..8, "")], "$0");
        check("é→$0b", &[(2..5, "é")], "éé$0b");
        check("ab$0cd", &[(0..4, "a new text")], "a $0new text");
        check("ab$0cd", &[(0..4, "a😀")], "a$0😀");
        check("ab\n$0cd", &[(0..5, "ab\r\ncd")], "ab$0\r\ncd");
    }

    #[test]
    fn a_whole_document_has_what_was_inserted_at_its_ends() {
        let mut document = document("abc");
        let place = document.find(&Target::Document, PositionEncoding::Utf8);
        for (range, insert) in [(0..0, "xy"), (5..5, "z"), (0..6, ""), (0..0, "new")] {
            document.apply(&TextEdit { range, insert: insert.to_owned() });
            assert_eq!(document.now(&place), Some(0..document.text.len_bytes()), "{}", *document.text);
        }
    }

    #[test]
    fn places_of_another_opening_or_too_long_ago_are_lost() {
        let mut document = document("abc");
        let all = lsp_types::Range::new(lsp_types::Position::new(0, 0), lsp_types::Position::new(0, 3));
        let place = document.find(&Target::Range(all), PositionEncoding::Utf8);
        assert_eq!(document.now(&DocumentSpan { generation: 99, ..place.clone() }), None);
        for _ in 0..REMEMBERED_EDITS {
            document.apply(&TextEdit { range: 0..0, insert: "x".into() });
        }
        assert_eq!(document.now(&place), Some(REMEMBERED_EDITS..REMEMBERED_EDITS + 3));
        document.apply(&TextEdit { range: 0..0, insert: "x".into() });
        assert_eq!(document.now(&place), None);
    }
}
