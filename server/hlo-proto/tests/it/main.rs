//! Modules survive the way to XLA's messages and back, and any bytes are read without a panic.

mod bad_bytes;
mod fixtures;
mod kinds;
mod round_trip;
mod xla_parser;

use std::sync::Arc;

use hlo_proto::messages::encoded;
use hlo_proto::{Contents, ModuleText, contents};

/// The text in the form in which XLA prints it, without a message in between.
fn canonical(text: &str) -> String {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let block = ir::lower(text, parse);
    let module = ir::Module::of_block(&block);
    ir::print_module(&[&block], &module, &ir::PrintOptions::lossless()).expect("it is small")
}

/// The bytes of a text's `HloProto`.
fn bytes_of(text: &str) -> Result<Vec<u8>, String> {
    Ok(encoded(&hlo_proto::module_proto(text)?.into_hlo()))
}

/// The text in a message.
fn text_of(bytes: &[u8]) -> Result<ModuleText, String> {
    match contents(bytes) {
        Contents::Module(message) => hlo_proto::read(bytes, message)?.into_text(),
        other => Err(format!("{other:?}")),
    }
}
