//! The open documents: text and piece boundaries outside of salsa, inputs for their pieces inside.

use std::sync::Arc;

use ropey::Rope;
use salsa::Setter;
use syntax::hlo::PieceState;
use text::{Cuts, Document, Edit, PieceStart, Text};

use crate::earlier::Earlier;
use crate::{Database, File, Language, Piece, Progress, block, outline, signature};

/// An open file. Ids of closed files are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// The parts of a file that a reader needs in addition to the database: its text and the starts of its pieces. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileView {
    pub file: File,
    pub text: Text,
    pub starts: Arc<[PieceStart]>,
    pub(crate) progress: Arc<Progress>,
}

/// Owner: the thread that owns the [`Database`]; the only writer of its inputs. Inputs of closed files and of pieces
/// that went away are kept in free lists and used again, because salsa never frees an input.
#[derive(Default)]
pub struct Documents {
    open: Vec<Option<OpenFile>>,
    free_files: Vec<File>,
    free_pieces: Vec<Piece>,
    /// Bytes below which units share a piece, where that is not left to the document.
    min_bytes: Option<usize>,
}

struct OpenFile {
    document: Document,
    /// The language that the file was opened with.
    named: Language,
    language: Language,
    /// The language depends on this many bytes at the start of the text.
    head: usize,
    file: File,
    pieces: Vec<Piece>,
    progress: Arc<Progress>,
}

/// The piece has another text than the one that was read while it was cut.
fn forget_ahead(db: &mut Database, piece: Piece) {
    if piece.ahead(db).is_some() {
        piece.set_ahead(db).to(None);
    }
}

/// After an edit that changes more pieces than this the file is read on all cores again.
const MANY: usize = 16;

/// The text of an open file.
pub(crate) fn whole_text(db: &dyn salsa::Database, file: File) -> String {
    file.pieces(db).iter().map(|piece| &**piece.text(db)).collect()
}

/// The language of a file that is opened as `named`, and the number of bytes at its start that decide it: HLO is often saved as
/// `.mlir`.
fn language_of(named: Language, text: &str) -> (Language, usize) {
    let language = if mlir::holds_hlo(text) { Language::Hlo } else { named };
    (language, mlir::deciding_bytes(text))
}

/// The same of a rope, which is not copied as a whole.
fn language_of_rope(named: Language, text: &Rope) -> (Language, usize) {
    let mut bytes = 1 << 10;
    loop {
        let end = text.byte_to_char(bytes.min(text.len_bytes()));
        let start = text.slice(..end).to_string();
        let (language, head) = language_of(named, &start);
        if head < start.len() || start.len() == text.len_bytes() {
            return (language, head);
        }
        bytes *= 2;
    }
}

fn split_hlo(text: &str, state: u8, min_bytes: usize) -> Cuts {
    let cuts = syntax::hlo::split(text, PieceState::from_u8(state), min_bytes);
    Cuts {
        pieces: cuts.pieces.into_iter().map(|(at, state)| (at, state.to_u8())).collect(),
        units: cuts.units,
        end: cuts.end.map(PieceState::to_u8),
    }
}

impl Documents {
    /// Documents that are cut into pieces of at least `min_bytes`: for tests of what crosses pieces.
    pub fn in_pieces_of(min_bytes: usize) -> Documents {
        Documents { min_bytes: Some(min_bytes), ..Documents::default() }
    }

    pub fn open(&mut self, db: &mut Database, named: Language, text: &str) -> FileId {
        let (language, head) = language_of(named, text);
        let file = match self.free_files.pop() {
            Some(file) => {
                file.set_language(db).to(language);
                file
            }
            None => File::new(db, language, Vec::new(), None, Earlier::default()),
        };
        let open = self.opened(db, file, text, (named, language, head));
        let slot = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if slot == self.open.len() {
            self.open.push(None);
        }
        self.open[slot] = Some(open);
        FileId(slot as u32)
    }

    /// Cuts a text and writes the pieces of a file that has none.
    fn opened(
        &mut self,
        db: &mut Database,
        file: File,
        text: &str,
        (named, language, head): (Language, Language, usize),
    ) -> OpenFile {
        let split = match language {
            Language::Hlo => split_hlo,
            Language::Mlir => mlir::split,
        };
        let (document, ahead) = Document::cut(text, split, self.min_bytes, |min_bytes| match language {
            Language::Hlo => (split(text, 0, min_bytes), Vec::new()),
            Language::Mlir => mlir::read_in_pieces(text, min_bytes),
        });
        let (pieces, progress) = (Vec::new(), Arc::default());
        let mut open = OpenFile { document, named, language, head, file, pieces, progress };
        let all = 0..open.document.pieces().len();
        self.write_pieces(db, &mut open, 0..0, all, ahead);
        open
    }

    /// Applies edits one after the other; ranges are bytes of the text before each edit.
    pub fn edit(&mut self, db: &mut Database, id: FileId, edits: &[Edit]) {
        let Some(mut open) = self.open.get_mut(id.0 as usize).and_then(Option::take) else { return };
        for edit in edits {
            let change = open.document.edit(edit);
            if change.new.max(change.replaced.len()) > MANY {
                open.progress = Arc::default();
            }
            let new = change.replaced.start..change.replaced.start + change.new;
            self.write_pieces(db, &mut open, change.replaced, new, Vec::new());
        }
        if open.named != Language::Hlo && edits.iter().any(|edit| edit.range.start <= open.head) {
            let (language, head) = language_of_rope(open.named, open.document.text());
            open.head = head;
            if language != open.language {
                let text = open.document.text().to_string();
                open.file.set_pieces(db).to(Vec::new());
                self.release(db, open.pieces);
                open.file.set_language(db).to(language);
                open = self.opened(db, open.file, &text, (open.named, language, head));
            }
        }
        self.open[id.0 as usize] = Some(open);
    }

    pub fn close(&mut self, db: &mut Database, id: FileId) {
        let Some(open) = self.open.get_mut(id.0 as usize).and_then(Option::take) else { return };
        self.release(db, open.pieces);
        open.file.set_pieces(db).to(Vec::new());
        // What was computed for the file is computed for nothing, and so forgotten.
        crate::module(db, open.file);
        crate::giant_findings(db, open.file);
        crate::positions::piece_index(db, open.file);
        crate::giant_index(db, open.file);
        open.file.earlier_giants(db).set(None);
        crate::giants::giant_duplicates(db, open.file);
        crate::giant_uses(db, open.file);
        crate::fused_computations(db, open.file);
        crate::has_fusions(db, open.file);
        crate::is_of_cpu(db, open.file);
        crate::uncalled_computations(db, open.file);
        crate::module_memory(db, open.file);
        crate::mlir_module(db, open.file);
        crate::mlir_giant_index(db, open.file);
        self.free_files.push(open.file);
    }

    pub fn view(&self, id: FileId) -> Option<FileView> {
        let open = self.open.get(id.0 as usize)?.as_ref()?;
        Some(FileView {
            file: open.file,
            text: open.document.text().clone(),
            starts: open.document.pieces().into(),
            progress: open.progress.clone(),
        })
    }

    pub fn text(&self, id: FileId) -> Option<&Text> {
        Some(self.open.get(id.0 as usize)?.as_ref()?.document.text())
    }

    /// The inputs of pieces `old` become those of the document's pieces `new`. `ahead` is what each new piece was read as, where it
    /// was.
    fn write_pieces(
        &mut self,
        db: &mut Database,
        open: &mut OpenFile,
        old: std::ops::Range<usize>,
        new: std::ops::Range<usize>,
        ahead: Vec<Option<mlir::Parse>>,
    ) {
        let mut ahead = ahead.into_iter();
        let mut inputs = open.pieces[old.clone()].to_vec();
        let kept = inputs.len().min(new.len());
        let surplus = inputs.split_off(kept);
        for (i, at) in new.clone().enumerate() {
            let text = open.document.piece_text(at).clone();
            let state = open.document.pieces()[at].state;
            let units = open.document.units(at).clone();
            let ahead = ahead.next().flatten().map(Arc::new);
            match inputs.get(i).copied() {
                Some(piece) => {
                    if **piece.text(db) != *text {
                        piece.set_text(db).to(text);
                        forget_ahead(db, piece);
                    }
                    if piece.state(db) != state {
                        piece.set_state(db).to(state);
                        forget_ahead(db, piece);
                    }
                    if *piece.units(db) != units {
                        piece.set_units(db).to(units);
                    }
                }
                None => inputs.push(self.piece(db, open.file, text, state, units, ahead)),
            }
        }
        let is_same = surplus.is_empty() && old.len() == new.len();
        self.release(db, surplus);
        open.pieces.splice(old, inputs);
        if !is_same {
            open.file.set_pieces(db).to(open.pieces.clone());
        }
    }

    fn piece(
        &mut self,
        db: &mut Database,
        file: File,
        text: Arc<str>,
        state: u8,
        units: Arc<[u32]>,
        ahead: Option<Arc<mlir::Parse>>,
    ) -> Piece {
        let Some(piece) = self.free_pieces.pop() else {
            return Piece::new(db, Some(file), text, state, units, ahead, Earlier::default());
        };
        piece.set_file(db).to(Some(file));
        piece.set_text(db).to(text);
        piece.set_state(db).to(state);
        piece.set_units(db).to(units);
        if piece.ahead(db).is_some() || ahead.is_some() {
            piece.set_ahead(db).to(ahead);
        }
        piece
    }

    /// Puts pieces on the free list and replaces what was computed for them by next to nothing.
    fn release(&mut self, db: &mut Database, pieces: Vec<Piece>) {
        for &piece in &pieces {
            piece.set_file(db).to(None);
            piece.set_text(db).to("".into());
            piece.set_units(db).to(Arc::default());
            forget_ahead(db, piece);
            piece.earlier_links(db).set(None);
        }
        for &piece in &pieces {
            block(db, piece);
            outline(db, piece);
            signature(db, piece);
            crate::queries::exports(db, piece);
            crate::giants::shown_names(db, piece);
            crate::link_findings(db, piece);
            crate::block_warnings(db, piece);
            crate::outside_uses(db, piece);
            crate::memory::memory_part(db, piece);
            crate::mlir_signature(db, piece);
            crate::mlir_piece(db, piece);
            crate::mlir_ops(db, piece);
            crate::mlir_links(db, piece);
            crate::mlir_imported(db, piece);
            crate::mlir_link_findings(db, piece);
            crate::mlir_giants::mlir_exports(db, piece);
            crate::hlo_op_findings(db, piece);
            crate::mlir_map_findings(db, piece);
            crate::mlir_unknown_names(db, piece);
            crate::mlir_kernels::mlir_piece_names(db, piece);
        }
        self.free_pieces.extend(pieces);
    }
}
