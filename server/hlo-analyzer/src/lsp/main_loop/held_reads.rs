//! Requests whose response would repeat what the client has: they wait for a change.

use std::time::{Duration, Instant};

use crate::lsp::read::Read;
use crate::lsp::read_queue::ReadQueue;

/// The time between a change and the start of the requests that wait for one, so that they do not start at each key.
const PAUSE: Duration = Duration::from_millis(250);

/// Owned by the main loop. Size: one request per client that polls.
#[derive(Default)]
pub(super) struct HeldReads {
    waiting: Vec<Read>,
    /// The number of changes of documents, settings and folders so far.
    changes: u64,
    /// The first change that the waiting requests have not seen.
    changed: Option<Instant>,
}

impl HeldReads {
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Records a change that may alter diagnostics.
    pub(super) fn changed(&mut self) {
        self.changes += 1;
        if !self.waiting.is_empty() {
            self.changed.get_or_insert_with(Instant::now);
        }
    }

    /// Keeps a request until the next change, or starts it again if one came while it was computed.
    pub(super) fn hold(&mut self, read: Read, reads: &mut ReadQueue) {
        match read.changes == self.changes {
            true => {
                self.waiting.retain(|waiting| !waiting.is_cancelled());
                self.waiting.push(read);
            }
            false => reads.push(read),
        }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        Some(self.changed? + PAUSE)
    }

    /// Starts the waiting requests if a change is some time ago.
    pub(super) fn release(&mut self, reads: &mut ReadQueue) {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.changed = None;
            self.waiting.drain(..).for_each(|read| reads.push(read));
        }
    }
}
