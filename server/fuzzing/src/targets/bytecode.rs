//! Bytecode of MLIR.

use mlir::PieceState;

pub fn run(bytes: &[u8]) -> bool {
    let Ok(text) = mlir_bytecode::module_text(bytes) else { return false };
    // Names in damaged bytes may be none of the language: that is an error at its place.
    _ = mlir::parse(&text, PieceState::default());
    true
}
