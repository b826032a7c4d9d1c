//! Requests that wait for computation, and the limit on concurrent ones.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::mailbox::{Event, Mailbox};
use super::outbox::Outbox;
use super::read::Read;

/// The largest number of reads between their start and the outbox. It bounds the memory of responses that the
/// outbox does not yet count.
pub(super) const MAX_READS: usize = 8;

/// Reads in the order in which they start. Owner: the main loop. Size: the unanswered requests, whose number
/// the reader bounds.
///
/// No read starts while too many run or the client reads too slowly. Edits do not wait here.
pub(super) struct ReadQueue {
    waiting: VecDeque<Read>,
    /// The length at which cancelled reads are dropped even if nothing starts.
    prune_at: usize,
    running: Arc<AtomicUsize>,
    mailbox: Mailbox,
    outbox: Outbox,
}

/// One slot for a running read, released on drop. The main loop then starts the next read.
pub(super) struct Permit {
    running: Arc<AtomicUsize>,
    mailbox: Mailbox,
}

impl ReadQueue {
    pub(super) fn new(mailbox: Mailbox, outbox: Outbox) -> Self {
        Self { waiting: VecDeque::new(), prune_at: 0, running: Arc::default(), mailbox, outbox }
    }

    pub(super) fn push(&mut self, read: Read) {
        const PRUNE_FROM: usize = 256;
        if self.waiting.len() >= self.prune_at.max(PRUNE_FROM) {
            self.waiting.retain(|read| !read.is_cancelled());
            self.prune_at = 2 * self.waiting.len();
        }
        self.waiting.push_back(read);
    }

    /// The next read, with its permit, if one may start now.
    pub(super) fn pop(&mut self) -> Option<Read> {
        while self.running.load(Ordering::Acquire) < MAX_READS && !self.outbox.is_behind() {
            let mut read = self.waiting.pop_front()?;
            if read.is_cancelled() {
                continue;
            }
            self.running.fetch_add(1, Ordering::AcqRel);
            read.permit = Some(Permit { running: self.running.clone(), mailbox: self.mailbox.clone() });
            return Some(read);
        }
        None
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
        self.mailbox.post(Event::Room);
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types::Url;

    use super::*;
    use crate::lsp::read::{self, Target, WhenEdited};
    use crate::lsp::requests::{Request, Subject};
    use crate::lsp::snapshot::{Snapshot, View};

    struct Nothing;

    impl Request for Nothing {
        const METHOD: &'static str = "test";
        const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
        type Params = ();
        type Found = ();
        type Response = ();

        fn subject((): &()) -> Subject {
            Subject::Nothing
        }

        fn run(_: &Snapshot, (): &()) -> ide::Cancellable<()> {
            Ok(())
        }

        fn respond(_: &View, (): (), (): ()) -> tower_lsp::jsonrpc::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_read_waits_for_one_that_ends() {
        let outbox = Outbox::start(Box::new(std::io::sink()), || (), || ()).unwrap();
        let (mailbox, events) = Mailbox::new();
        let mut queue = ReadQueue::new(mailbox, outbox);
        let mut answers = Vec::new();
        for n in 0..MAX_READS + 4 {
            let uri = Url::parse(&format!("file:///{n}")).unwrap();
            let (read, answer) = read::read::<Nothing>(uri, Target::Document, ());
            queue.push(read);
            answers.push(answer);
        }
        let mut running: Vec<Read> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(running.len(), MAX_READS);
        assert!(events.try_recv().is_err());
        // A read that is cancelled while it waits frees no slot, so nothing starts.
        drop(answers.remove(MAX_READS));
        drop(running.pop());
        assert!(matches!(events.try_recv(), Ok(Event::Room)));
        let next = queue.pop().expect("there is room for one");
        assert_eq!(next.uri.path(), format!("/{}", MAX_READS + 1));
        assert!(queue.pop().is_none());
    }

    #[test]
    fn cancelled_reads_do_not_pile_up() {
        let outbox = Outbox::start(Box::new(std::io::sink()), || (), || ()).unwrap();
        let mut queue = ReadQueue::new(Mailbox::new().0, outbox);
        let uri = Url::parse("file:///a").unwrap();
        for _ in 0..10_000 {
            let ask = read::read::<Nothing>(uri.clone(), Target::Document, ());
            queue.push(ask.0);
        }
        assert!(queue.waiting.len() < 1000, "{} wait", queue.waiting.len());
    }

    #[test]
    fn a_read_that_the_server_stops_is_answered_as_cancelled() {
        let uri = Url::parse("file:///a").unwrap();
        let (read, answer) = read::read::<Nothing>(uri, Target::Document, ());
        read.canceller()();
        // Its response is interrupted on the way.
        drop(read);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let error = runtime.block_on(answer).expect_err("it was stopped");
        assert_eq!(error.code, tower_lsp::jsonrpc::ErrorCode::RequestCancelled);
    }
}
