//! The language server as clients use it: the real binary, over its real pipes.

mod answers;
mod bad_input;
mod cancellation;
mod code_actions;
mod compile_with_xla;
mod compiles;
mod completion;
mod diagnostics;
mod editor;
mod formatting;
mod kernels;
mod lifecycle;
mod memory;
mod mlir;
mod navigation;
mod nothing_blocks;
mod ordering;
mod origins;
mod panics;
mod previews;
mod semantic_tokens;
mod source_files;
mod sync;
mod typing;
mod unread;
mod watching;
