//! Modules of HLO as XLA's protocol buffers: what the bytes of a file are, their text, and messages from a text.
//!
//! Architecture Invariant: nothing of a message is dropped silently. What the text has no place for, and fields that XLA has
//! added since, are named in the notes.
//!
//! Architecture Invariant: an attribute is described once for both directions, in the table of `attributes`; which ones an opcode has
//! is in the table of `ir`.

mod attributes;
mod bytecode;
mod contents;
mod element_type;
mod from_text;
mod literal;
pub mod messages;
mod notes;
mod read;
mod scan;
mod shapes;
mod to_text;
mod wire;

pub use bytecode::Bytecode;
pub use contents::{Contents, Message, contents};
pub use from_text::{ModuleProto, module_proto};
pub use read::{Module, read};
pub use to_text::{ModuleText, module_text};
