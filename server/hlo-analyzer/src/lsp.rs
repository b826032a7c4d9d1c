//! The language server.
//!
//! ```text
//! reader thread ─► tower-lsp's router ─► handler: post to the mailbox, then wait for the answer
//!                                               │
//!                               main loop thread: owns the database, applies edits in order,
//!                                               │  hands each read a snapshot
//!                                          blocking pool: computes, answers
//! writer thread ◄───────────────────────────────┘
//! ```
//!
//! Messages take effect in the order in which they arrive: the reader polls each handler once before it reads
//! the next message, and the first action of a handler is to post to the mailbox.
//!
//! tower-lsp supplies the typed routes, the protocol's states and `$/cancelRequest`. Its own transport is not
//! used: it ends the server at the first message that is not JSON, and does not end it at `exit` while the
//! input stays open.
//!
//! Architecture Invariant: handlers contain no logic and never touch the database.
//! Architecture Invariant: only this module knows LSP; `ide` uses byte offsets and plain structs.

mod bounds;
mod capabilities;
mod client_process;
mod code_actions;
mod compiling;
mod config;
mod diagnostic_reports;
mod diagnostics;
mod documents;
mod dump_folders;
mod framing;
mod from_proto;
mod handlers;
mod in_order;
mod jobs;
mod kernel_files;
mod kernel_shelf;
mod kernel_tab;
mod kernel_uri;
mod mailbox;
mod main_loop;
mod newer_protocol;
mod outbox;
mod preview_shelf;
mod preview_tab;
mod preview_uri;
mod query_uri;
mod read;
mod read_queue;
mod repeats;
mod requests;
mod schedule;
mod semantic_tokens;
mod server;
mod snapshot;
mod source_files;
mod status;
mod to_proto;
mod warnings_page;
mod watched_folders;
mod work_done;
mod workspace_folders;

pub use server::serve;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

/// Serves one client on standard input and output until it disconnects.
pub fn serve_stdio() -> anyhow::Result<ExitCode> {
    server::serve(Box::new(std::io::stdin()), Box::new(std::io::stdout()))
}

/// Serves one client on a Unix socket that the client has created and listens on, as editors do with
/// `--pipe`.
#[cfg(unix)]
pub fn serve_pipe(path: &Path) -> anyhow::Result<ExitCode> {
    let stream = std::os::unix::net::UnixStream::connect(path)
        .with_context(|| format!("cannot connect to the socket {}", path.display()))?;
    let output = stream.try_clone().context("cannot write to the socket")?;
    server::serve(Box::new(stream), Box::new(output))
}

#[cfg(not(unix))]
pub fn serve_pipe(path: &Path) -> anyhow::Result<ExitCode> {
    anyhow::bail!("--pipe {} needs Unix sockets, which this system does not have", path.display())
}
