//! What goes to the client. Any thread may post; one thread writes.

use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use tower_lsp::jsonrpc::{Request, Response};
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::request::Request as ClientRequest;

use super::framing::write_message;

enum Outgoing {
    Response(Response),
    Request(Request),
    /// Says when everything posted before it has been written.
    Flush(mpsc::Sender<()>),
}

/// A cheap handle to the queue in front of the writer thread. Messages leave in the order they were posted.
///
/// Architecture Invariant: posting never blocks, however slowly the client reads, so neither the main loop nor a
/// handler ever waits for the client.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: mpsc::Sender<Outgoing>,
    next_id: Arc<AtomicU64>,
}

impl Outbox {
    /// Starts the writer thread. `on_broken` is called once if the client stops reading for good.
    pub(super) fn start(
        output: Box<dyn Write + Send>,
        on_broken: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (queue, posted) = mpsc::channel();
        std::thread::Builder::new().name("writer".into()).spawn(move || {
            let mut output = BufWriter::new(output);
            for message in posted {
                let body = match message {
                    Outgoing::Response(response) => serde_json::to_vec(&response),
                    Outgoing::Request(request) => serde_json::to_vec(&request),
                    Outgoing::Flush(done) => {
                        let _ = done.send(());
                        continue;
                    }
                };
                let written = body.map_err(Into::into).and_then(|body| write_message(&mut output, &body));
                if let Err(error) = written {
                    tracing::error!("cannot write to the client: {error}");
                    on_broken();
                    return;
                }
            }
        })?;
        Ok(Self { queue, next_id: Arc::default() })
    }

    pub(super) fn respond(&self, response: Response) {
        self.post(Outgoing::Response(response));
    }

    pub(super) fn notify<N: Notification>(&self, params: N::Params) {
        match serde_json::to_value(params) {
            Ok(params) => self.post(Outgoing::Request(Request::build(N::METHOD).params(params).finish())),
            Err(error) => tracing::error!("{} cannot be written: {error}", N::METHOD),
        }
    }

    /// Asks the client for something whose answer nobody waits for, like a refresh.
    pub(super) fn request<R: ClientRequest<Params = ()>>(&self) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.post(Outgoing::Request(Request::build(R::METHOD).id(format!("server-{id}")).finish()));
    }

    /// The same, with parameters.
    pub(super) fn request_with<R: ClientRequest>(&self, params: R::Params) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let build = Request::build(R::METHOD).id(format!("server-{id}"));
        match serde_json::to_value(params) {
            Ok(params) => self.post(Outgoing::Request(build.params(params).finish())),
            Err(error) => tracing::error!("{} cannot be written: {error}", R::METHOD),
        }
    }

    /// Waits until all that was posted has been written, at most `patience`.
    pub(super) fn flush(&self, patience: Duration) {
        let (done, written) = mpsc::channel();
        self.post(Outgoing::Flush(done));
        // An error means that time has run out or the writer has given up.
        let _ = written.recv_timeout(patience);
    }

    fn post(&self, message: Outgoing) {
        // The writer is gone only when the client is, and then `on_broken` is already ending the server.
        let _ = self.queue.send(message);
    }
}
