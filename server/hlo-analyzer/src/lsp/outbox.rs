//! Outgoing messages. Any thread may post; one thread writes.

use std::collections::VecDeque;
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use serde::Serialize;
use tower_lsp::jsonrpc::{Error, ErrorCode, Response};
use tower_lsp::lsp_types::Url;
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::request::Request as ClientRequest;

use super::framing::write_message;

/// Bytes queued for a slow client beyond which no read is started.
const READS_WAIT: usize = 16 << 20;
/// Bytes beyond which responses are replaced by an error. Only many equal requests, which are computed once,
/// reach this limit.
const LIMIT: usize = 64 << 20;
/// Bytes of such errors beyond which the input is not read either.
const ROOM_FOR_ERRORS: usize = 16 << 20;
/// Bytes beyond which only the latest message of a kind about a document is kept.
const BEHIND: usize = 1 << 20;
/// LSP `ServerCancelled`: the client may ask again.
const SERVER_CANCELLED: i64 = -32802;

/// A cheap handle to the writer thread's queue. Messages leave in the order in which they were posted.
///
/// Architecture Invariant: posting never blocks, however slowly the client reads, so neither the main loop
/// nor a handler ever waits for the client. The queue is still bounded: see [`LIMIT`].
#[derive(Clone)]
pub(super) struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Signals that a message was posted or the writer has failed.
    posted: Condvar,
    /// Signals that a message was written or the writer has failed.
    written: Condvar,
    next_id: AtomicU64,
    news: AtomicU64,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Outgoing>,
    bytes: usize,
    /// Whether the writer has failed or ended; nothing is queued any more.
    is_broken: bool,
}

enum Outgoing {
    Message {
        body: Vec<u8>,
        /// The method and document, by which a later message replaces this one.
        subject: Option<(&'static str, Url)>,
    },
    /// Notifies the sender when everything posted before it has been written.
    Flush(mpsc::Sender<()>),
    /// Ends the writer.
    End,
}

/// A request or notification from the server.
#[derive(Serialize)]
struct Call<P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

impl Outbox {
    /// Starts the writer thread. It calls `on_room` when reads may start again, and `on_broken` once if the
    /// client stops reading for good.
    pub(super) fn start(
        output: Box<dyn Write + Send>,
        on_room: impl Fn() + Send + 'static,
        on_broken: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let outbox = Outbox(shared.clone());
        std::thread::Builder::new().name("writer".into()).spawn(move || {
            let mut output = BufWriter::new(output);
            loop {
                let body = match shared.next() {
                    Outgoing::Message { body, .. } => body,
                    Outgoing::Flush(done) => {
                        let _ = done.send(());
                        continue;
                    }
                    Outgoing::End => {
                        shared.wrote(0, true);
                        return;
                    }
                };
                // A writer that panics ends the server too.
                let written = catch_unwind(AssertUnwindSafe(|| write_message(&mut output, &body)))
                    .unwrap_or_else(|_| Err(std::io::Error::other("the writer failed, which is a bug")));
                if shared.wrote(body.len(), written.is_err()) {
                    on_room();
                }
                if let Err(error) = written {
                    tracing::error!("cannot write to the client: {error}");
                    on_broken();
                    return;
                }
            }
        })?;
        Ok(outbox)
    }

    /// Sends a response, or an error in its place if the queue is full.
    pub(super) fn respond(&self, response: Response) {
        if !self.is_full() {
            return self.post(&response, None);
        }
        let (id, result) = response.into_parts();
        let error = result.err().unwrap_or_else(not_read);
        self.post(&Response::from_error(id, error), None);
    }

    pub(super) fn notify<N: Notification>(&self, params: N::Params) {
        self.call(Call { jsonrpc: "2.0", id: None, method: N::METHOD, params: Some(params) }, None);
    }

    /// Like [`Outbox::notify`], for a notification that supersedes earlier ones about the same document: a
    /// slow client gets only the latest.
    pub(super) fn notify_latest<N: Notification>(&self, about: &Url, params: N::Params) {
        let call = Call { jsonrpc: "2.0", id: None, method: N::METHOD, params: Some(params) };
        self.call(call, Some((N::METHOD, about.clone())));
    }

    /// Sends a request whose response is ignored, like a refresh.
    pub(super) fn request<R: ClientRequest<Params = ()>>(&self) {
        self.call(Call::<()> { jsonrpc: "2.0", id: Some(self.id()), method: R::METHOD, params: None }, None);
    }

    /// Like [`Outbox::request`], with parameters. Returns the id, by which the main loop finds the response.
    pub(super) fn request_with<R: ClientRequest>(&self, params: R::Params) -> String {
        let id = self.id();
        let call = Call { jsonrpc: "2.0", id: Some(id.clone()), method: R::METHOD, params: Some(params) };
        self.call(call, None);
        id
    }

    /// The number of notifications after which the client may repeat requests.
    pub(super) fn news(&self) -> u64 {
        self.0.news.load(Ordering::Acquire)
    }

    /// Whether too much output is queued to start another read.
    pub(super) fn is_behind(&self) -> bool {
        self.0.lock().bytes >= READS_WAIT
    }

    /// Whether responses are replaced by errors.
    fn is_full(&self) -> bool {
        self.0.lock().bytes >= LIMIT
    }

    /// Waits while the queue exceeds the room for errors too. Such a client must read before its input is
    /// read.
    pub(super) fn wait_for_room(&self) {
        let is_full = |queue: &mut Queue| queue.bytes >= LIMIT + ROOM_FOR_ERRORS;
        let room = self.0.written.wait_while(self.0.lock(), is_full);
        drop(room.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until all posted messages have been written, for at most `patience`.
    pub(super) fn flush(&self, patience: Duration) {
        let (done, written) = mpsc::channel();
        self.0.push(Outgoing::Flush(done));
        // An error is a timeout or a failed writer.
        let _ = written.recv_timeout(patience);
    }

    /// Ends the writer after what was posted before. What is posted later is dropped.
    pub(super) fn end(&self) {
        self.0.push(Outgoing::End);
    }

    fn id(&self) -> String {
        format!("server-{}", self.0.next_id.fetch_add(1, Ordering::Relaxed))
    }

    fn call<P: Serialize>(&self, call: Call<P>, subject: Option<(&'static str, Url)>) {
        self.0.news.fetch_add(1, Ordering::AcqRel);
        self.post(&call, subject);
    }

    fn post(&self, message: &impl Serialize, subject: Option<(&'static str, Url)>) {
        match serde_json::to_vec(message) {
            Ok(body) => self.0.push(Outgoing::Message { body, subject }),
            Err(error) => tracing::error!("a message cannot be written: {error}"),
        }
    }
}

/// The response for a client that does not read.
fn not_read() -> Error {
    busy(format!("{} MB of answers wait to be read; read them and ask again", LIMIT >> 20))
}

/// The response to a request that may be repeated when the server is less busy.
pub(super) fn busy(message: String) -> Error {
    Error { code: ErrorCode::ServerError(SERVER_CANCELLED), message: message.into(), data: None }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Outgoing) {
        let mut queue = self.lock();
        // The writer fails only when the client is gone, and then `on_broken` is already ending the server.
        if queue.is_broken {
            return;
        }
        if let Outgoing::Message { body, subject } = &message {
            if subject.is_some() && queue.bytes > BEHIND {
                let mut dropped = 0;
                queue.messages.retain(|waiting| match waiting {
                    Outgoing::Message { body, subject: earlier } if earlier == subject => {
                        dropped += body.len();
                        false
                    }
                    _ => true,
                });
                queue.bytes -= dropped;
            }
            queue.bytes += body.len();
        }
        queue.messages.push_back(message);
        drop(queue);
        self.posted.notify_one();
    }

    /// Waits for the next message. Its bytes count until it is written.
    fn next(&self) -> Outgoing {
        let mut queue = self.lock();
        loop {
            if let Some(message) = queue.messages.pop_front() {
                return message;
            }
            queue = self.posted.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records a written message. Returns whether waiting reads may now start.
    fn wrote(&self, bytes: usize, is_broken: bool) -> bool {
        let mut queue = self.lock();
        queue.bytes -= bytes;
        let is_room = queue.bytes < READS_WAIT && queue.bytes + bytes >= READS_WAIT;
        if is_broken {
            *queue = Queue { is_broken, ..Queue::default() };
        }
        drop(queue);
        self.written.notify_all();
        is_room
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tower_lsp::jsonrpc::Id;
    use tower_lsp::lsp_types::PublishDiagnosticsParams;
    use tower_lsp::lsp_types::notification::{PublishDiagnostics, TelemetryEvent};

    use super::*;

    /// A client that reads only while allowed to, and the bytes it has read.
    #[derive(Clone, Default)]
    struct Client(Arc<(Mutex<Reading>, Condvar)>);

    /// Whether the client reads, and the bytes it has read.
    type Reading = (bool, Vec<u8>);

    impl Client {
        fn read(&self) {
            self.0.0.lock().unwrap().0 = true;
            self.0.1.notify_all();
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.0.lock().unwrap().1.clone()).unwrap()
        }
    }

    impl Write for Client {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let mut state = self.0.1.wait_while(self.0.0.lock().unwrap(), |(reads, _)| !*reads).unwrap();
            state.1.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn start() -> (Client, Outbox) {
        let client = Client::default();
        (client.clone(), Outbox::start(Box::new(client), || (), || ()).unwrap())
    }

    #[test]
    fn answers_to_a_client_that_does_not_read_become_errors() {
        let (client, outbox) = start();
        let large = "x".repeat(32 << 20);
        for id in 0..20 {
            outbox.respond(Response::from_ok(Id::Number(id), json!(large)));
        }
        assert!(outbox.is_full());
        let bytes = outbox.0.lock().bytes;
        assert!(bytes < LIMIT + (33 << 20), "{bytes} bytes wait");
        client.read();
        outbox.flush(Duration::from_secs(60));
        let text = client.text();
        assert_eq!(text.matches("\"error\"").count(), 20 - LIMIT.div_ceil(32 << 20));
        assert_eq!(text.matches("Content-Length").count(), 20);
        assert!(!outbox.is_full());
    }

    #[test]
    fn reads_wait_until_the_client_has_read() {
        let client = Client::default();
        let (room, rooms) = mpsc::channel();
        let outbox = Outbox::start(Box::new(client.clone()), move || room.send(()).unwrap(), || ()).unwrap();
        let answer = json!("x".repeat(1 << 20));
        assert!(!outbox.is_behind());
        for id in 0..20 {
            outbox.respond(Response::from_ok(Id::Number(id), answer.clone()));
        }
        assert!(outbox.is_behind());
        assert!(rooms.recv_timeout(Duration::from_millis(50)).is_err());
        client.read();
        rooms.recv_timeout(Duration::from_secs(60)).expect("reads may start");
        outbox.flush(Duration::from_secs(60));
        assert!(!outbox.is_behind() && rooms.try_recv().is_err());
    }

    #[test]
    fn nothing_is_read_from_a_client_that_does_not_read_errors_either() {
        let (client, outbox) = start();
        let large = "x".repeat(1 << 20);
        while outbox.0.lock().bytes < LIMIT + ROOM_FOR_ERRORS {
            outbox.notify::<TelemetryEvent>(json!(large));
        }
        let (waiting, waits) = (outbox.clone(), mpsc::channel());
        std::thread::spawn(move || {
            waiting.wait_for_room();
            waits.0.send(()).unwrap();
        });
        assert!(waits.1.recv_timeout(Duration::from_millis(50)).is_err());
        client.read();
        waits.1.recv_timeout(Duration::from_secs(60)).expect("there is room again");
    }

    #[test]
    fn a_client_that_is_behind_gets_the_latest_diagnostics_alone() {
        let (client, outbox) = start();
        outbox.respond(Response::from_ok(Id::Number(1), json!("x".repeat(BEHIND * 2))));
        for version in 0..50 {
            for name in ["a", "b"] {
                let uri = Url::parse(&format!("file:///{name}.hlo")).unwrap();
                let params = PublishDiagnosticsParams::new(uri.clone(), Vec::new(), Some(version));
                outbox.notify_latest::<PublishDiagnostics>(&uri, params);
            }
        }
        client.read();
        outbox.flush(Duration::from_secs(60));
        let text = client.text();
        for name in ["a", "b"] {
            assert_eq!(text.matches(&format!("file:///{name}.hlo")).count(), 1);
        }
        assert_eq!(text.matches("\"version\":49").count(), 2);
    }
}
