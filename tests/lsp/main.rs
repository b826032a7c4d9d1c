//! The language server as its clients meet it: the real binary, over its real pipes.

mod answers;
mod bad_input;
mod cancellation;
mod code_actions;
mod diagnostics;
mod editor;
mod lifecycle;
mod ordering;
mod panics;
mod sync;
mod typing;
