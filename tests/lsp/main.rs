//! The language server as its clients meet it: the real binary, over its real pipes.

mod answers;
mod bad_input;
mod cancellation;
mod code_actions;
mod completion;
mod diagnostics;
mod editor;
mod formatting;
mod lifecycle;
mod ordering;
mod panics;
mod sync;
mod typing;
