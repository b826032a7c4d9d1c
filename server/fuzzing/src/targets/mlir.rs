//! Text of MLIR.

use ide::{Language, Severity};

use crate::editor::analyse;

pub fn run(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let found = analyse(Language::Mlir, &text);
    found.iter().all(|finding| finding.severity != Severity::Error)
}
