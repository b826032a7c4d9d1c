//! Prints the text of files of MLIR bytecode: `cargo run -p mlir-bytecode --example text -- FILE…`

use std::io::Write as _;

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let text = match mlir_bytecode::module_text(&bytes) {
            Ok(text) => text,
            Err(error) => format!("{path}: {error}\n"),
        };
        std::io::stdout().write_all(text.as_bytes()).expect("standard output");
    }
}
