//! A file that was just opened, or much of which has changed, is parsed and checked on all cores.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::cancellation::for_each_in_parallel;
use crate::{
    Database, File, FileView, Language, Piece, giant_index, hlo_op_findings, link_findings,
    mlir_call_findings, mlir_map_findings, mlir_signature, mlir_unknown_names, module, outline, signature,
    verify_findings,
};

/// How far an open file was read ahead. Most edits touch few pieces: whoever asks first computes those.
#[derive(Debug, Default)]
pub struct Progress {
    is_parsed: AtomicBool,
    is_checked: AtomicBool,
}

impl FileView {
    /// Parses all pieces, the first time it is called.
    pub fn parse_ahead(&self, db: &Database) {
        if !self.progress.is_parsed.load(Ordering::Relaxed) {
            match self.file.language(db) {
                Language::Hlo => for_each_piece(db, self.file, |db, piece| {
                    outline(db, piece);
                    signature(db, piece);
                    crate::queries::exports(db, piece);
                    crate::giants::shown_names(db, piece);
                }),
                Language::Mlir => for_each_piece(db, self.file, |db, piece| {
                    mlir_signature(db, piece);
                    crate::mlir_giants::mlir_shown(db, piece);
                    crate::mlir_giants::mlir_exports(db, piece);
                }),
            }
            self.progress.is_parsed.store(true, Ordering::Relaxed);
        }
    }

    /// Computes all findings, the first time it is called.
    pub fn check_ahead(&self, db: &Database) {
        self.parse_ahead(db);
        if !self.progress.is_checked.load(Ordering::Relaxed) && self.file.language(db) == Language::Mlir {
            // What every piece asks for is computed before they all wait for it.
            crate::mlir_module(db, self.file);
            crate::mlir_giant_index(db, self.file);
            for_each_piece(db, self.file, |db, piece| {
                crate::mlir_link_findings(db, piece);
                hlo_op_findings(db, piece);
                mlir_map_findings(db, piece);
                mlir_unknown_names(db, piece);
                mlir_call_findings(db, piece);
            });
            self.progress.is_checked.store(true, Ordering::Relaxed);
        }
        if !self.progress.is_checked.load(Ordering::Relaxed) {
            // What every piece asks for is computed before they all wait for it.
            module(db, self.file);
            giant_index(db, self.file);
            for_each_piece(db, self.file, |db, piece| {
                link_findings(db, piece);
                verify_findings(db, piece);
            });
            self.progress.is_checked.store(true, Ordering::Relaxed);
        }
    }
}

fn for_each_piece(db: &Database, file: File, query: impl Fn(&Database, Piece) + Sync + Send) {
    let pieces = file.pieces(db);
    if pieces.len() > 1 {
        for_each_in_parallel(db, pieces, |db, &piece| query(db, piece));
    }
}
