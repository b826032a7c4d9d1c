//! Test support for several crates: the real binary, and a client for it.

pub mod binary;
pub mod busy;
pub mod corpus;
pub mod lsp_client;
pub mod positions;
pub mod sample;
pub mod shapes;
pub mod soak;
