//! The life of one connection, from the first message to the exit code.

use std::io::{BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::runtime::Handle;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_lsp::{ExitedError, LspService};

use super::compiling::Compiling;
use super::framing::{Incoming, read_message};
use super::handlers::Handlers;
use super::in_order::{Answer, InOrder};
use super::mailbox::{Event, Mailbox};
use super::main_loop::MainLoop;
use super::outbox::{Outbox, busy};
use super::read_queue::MAX_READS;
use super::repeats::{Cancellation, Repeats};
use super::{client_process, kernel_files, newer_protocol, requests, warnings_page};

/// The time for the client to read remaining output when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The time for running requests after the input has ended without `exit`.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Threads that serialise responses. With one, a short response would wait for a long one. Each holds one
/// response as a JSON tree.
const WRITERS: usize = 2;
/// Threads that compute: one for each read, and some for diagnostics and kernels of documents.
const POOL: usize = MAX_READS + 4;
/// The largest number of unanswered requests. Further ones are refused.
const MAX_UNANSWERED: usize = 8192;

/// The reason why the server ends.
enum End {
    /// The `exit` notification.
    Exit,
    /// The input ended, or cannot be read.
    Disconnected,
    /// The client no longer reads.
    Broken,
    /// The client's process has exited.
    Orphaned,
    /// A thread is gone without which nothing is answered. The editor starts the server again.
    Failed,
}

/// Ends the server when the thread that owns it panics.
struct Vital(mpsc::Sender<(End, bool)>);

impl Drop for Vital {
    fn drop(&mut self) {
        if thread::panicking() {
            tracing::error!("the {} failed, which is a bug", thread::current().name().unwrap_or("thread"));
            // The receiver is gone only if the server is already ending.
            _ = self.0.send((End::Failed, false));
        }
    }
}

/// Serves one client. The exit code is 0 if it requested `shutdown` first, as the protocol requires, and
/// otherwise 1.
///
/// Reading and writing have their own threads, so that `exit` ends the process although a read of the input
/// cannot be interrupted.
pub fn serve(input: Box<dyn Read + Send>, output: Box<dyn Write + Send>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WRITERS)
        .max_blocking_threads(POOL)
        .thread_name("pool")
        .build()
        .context("cannot start the thread pool")?;
    let (ending, end) = mpsc::channel();
    let broken = ending.clone();
    let (mailbox, events) = Mailbox::new();
    let waiting = mailbox.clone();
    let on_room = move || waiting.post(Event::Room);
    let outbox = Outbox::start(output, on_room, move || drop(broken.send((End::Broken, false))))?;
    let main_loop = MainLoop::new(mailbox.clone(), outbox.clone(), runtime.handle().clone());
    let ended = mailbox.clone();
    let vital = Vital(ending.clone());
    thread::Builder::new().name("main loop".into()).spawn(move || {
        let _vital = vital;
        main_loop.run(&events);
    })?;

    // The router's own channel to the client is not used, see `outbox.rs`.
    let handlers = Handlers { mailbox: mailbox.clone(), compiling: Compiling::default() };
    let (service, _) = requests::register(LspService::build(|_| handlers)).finish();
    let mut reader = Reader {
        mailbox,
        service: InOrder(service),
        outbox: outbox.clone(),
        tasks: runtime.handle().clone(),
        running: Arc::default(),
        repeats: Repeats::default(),
        ending: ending.clone(),
        shut_down: false,
    };
    let vital = Vital(ending.clone());
    thread::Builder::new().name("reader".into()).spawn(move || {
        let _vital = vital;
        let end = reader.read_all(input);
        if matches!(end, End::Disconnected) {
            reader.wait_for_answers();
        }
        // The receiver is gone only if the server is already ending.
        let _ = ending.send((end, reader.shut_down));
    })?;

    let (end, shut_down) = end.recv().context("the reader is gone")?;
    if !matches!(end, End::Broken | End::Orphaned) {
        outbox.flush(LAST_WORDS);
    }
    ended.post(Event::End);
    outbox.end();
    // Computations that do not check for cancellation are not awaited.
    runtime.shutdown_background();
    kernel_files::clean();
    warnings_page::clean();
    Ok(if shut_down { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Passes messages to the router and responses to the outbox, without interpreting them.
struct Reader {
    service: InOrder<LspService<Handlers>>,
    mailbox: Mailbox,
    outbox: Outbox,
    tasks: Handle,
    /// The number of unanswered requests.
    running: Arc<AtomicUsize>,
    repeats: Repeats,
    ending: mpsc::Sender<(End, bool)>,
    shut_down: bool,
}

impl Reader {
    fn read_all(&mut self, input: Box<dyn Read + Send>) -> End {
        let mut input = BufReader::with_capacity(1 << 16, input);
        loop {
            self.outbox.wait_for_room();
            match read_message(&mut input) {
                Ok(Some(Incoming::Request(request))) if request.method() == "exit" => return End::Exit,
                Ok(Some(Incoming::Request(request))) => self.call(request),
                Ok(Some(Incoming::Response(id, result))) => {
                    if let Err(error) = &result {
                        tracing::warn!("the client answered {error}");
                    }
                    self.mailbox.post(Event::Answered(id, result));
                }
                Ok(Some(Incoming::Malformed(answer))) => self.outbox.respond(*answer),
                Ok(None) => return End::Disconnected,
                Err(error) => {
                    tracing::error!("cannot read from the client: {error}");
                    return End::Disconnected;
                }
            }
        }
    }

    fn call(&mut self, request: Request) {
        let is_shutdown = request.method() == "shutdown";
        let is_initialize = request.method() == "initialize";
        let id = request.id().cloned();
        let request = match request.method() {
            "$/cancelRequest" => match self.cancel(request) {
                Some(request) => request,
                None => return,
            },
            "initialize" => {
                self.watch_client(&request);
                newer_protocol::lift(request)
            }
            _ => request,
        };
        match &id {
            None if !request.method().starts_with("$/") => self.repeats.notified(),
            Some(id) if self.unanswered() >= MAX_UNANSWERED && !is_shutdown => {
                let error =
                    busy(format!("{MAX_UNANSWERED} requests wait for their answers; ask again later"));
                return self.outbox.respond(Response::from_error(id.clone(), error));
            }
            _ => {}
        }
        if self.repeats.join(&request, self.outbox.news()) {
            return;
        }
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| self.service.call(request))) else {
            return self.repeats.respond(&self.outbox, id, Err(Error::internal_error()));
        };
        let answer = match answer {
            Answer::Now(done) => {
                let agreed = matches!(&done, Ok(Some(response)) if response.is_ok());
                self.shut_down |= is_shutdown && agreed;
                let done = done.map(|response| match is_initialize {
                    true => response.map(newer_protocol::lower),
                    false => response,
                });
                return respond(&self.outbox, &self.repeats, id, done);
            }
            Answer::Later(answer) => answer,
        };
        let (outbox, repeats) = (self.outbox.clone(), self.repeats.clone());
        let running = Running::new(&self.running);
        self.tasks.spawn(async move {
            respond(&outbox, &repeats, id, answer.await);
            drop(running);
        });
    }

    fn unanswered(&self) -> usize {
        self.running.load(Ordering::Acquire).max(self.repeats.len())
    }

    /// The cancellation to pass to the router. `None` if others wait for the same response.
    fn cancel(&self, request: Request) -> Option<Request> {
        let asked =
            request.params().and_then(|params| serde_json::from_value(params.get("id")?.clone()).ok());
        let Some(id) = asked else { return Some(request) };
        match self.repeats.cancel(id) {
            Cancellation::Cancel(id) => {
                Some(Request::build("$/cancelRequest").params(serde_json::json!({"id": id})).finish())
            }
            Cancellation::Leave(id) => {
                self.outbox.respond(Response::from_error(id, Error::request_cancelled()));
                None
            }
            Cancellation::Nothing => None,
        }
    }

    /// Ends the server when the client's process exits, if the client sends its process id.
    fn watch_client(&self, request: &Request) {
        let id = request.params().and_then(|params| params.get("processId")?.as_u64());
        let Some(id) = id.and_then(|id| u32::try_from(id).ok()) else { return };
        let ending = self.ending.clone();
        let on_end = move || drop(ending.send((End::Orphaned, false)));
        if let Err(error) = client_process::watch(id, on_end) {
            tracing::warn!("the client's process {id} is not watched: {error}");
        }
    }

    /// Waits for responses when the input ends without `exit`, like a file of messages.
    fn wait_for_answers(&self) {
        let end = Instant::now() + LAST_ANSWERS;
        while self.running.load(Ordering::Acquire) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn respond(
    outbox: &Outbox,
    repeats: &Repeats,
    id: Option<Id>,
    answer: Result<Option<Response>, ExitedError>,
) {
    let response = answer.unwrap_or_else(|error| {
        tracing::error!("{error}");
        None
    });
    // The router drops unknown requests whose name starts with `$/`; only notifications may be dropped.
    match response {
        Some(response) => {
            let (own, result) = response.into_parts();
            repeats.respond(outbox, id.or(Some(own)), result);
        }
        None => repeats.respond(outbox, id, Err(Error::method_not_found())),
    }
}

struct Running(Arc<AtomicUsize>);

impl Running {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Panics;

    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("a test asked for it")
        }
    }

    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            panic!("a test asked for it")
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A client that sends nothing and does not end.
    struct Silence;

    impl Read for Silence {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            loop {
                thread::park();
            }
        }
    }

    #[test]
    fn a_server_without_its_reader_ends() {
        let code = serve(Box::new(Panics), Box::new(std::io::sink())).unwrap();
        assert_eq!(code, ExitCode::FAILURE);
    }

    #[test]
    fn a_server_without_its_writer_ends() {
        let malformed = b"Content-Length: 1\r\n\r\n{".chain(Silence);
        let code = serve(Box::new(malformed), Box::new(Panics)).unwrap();
        assert_eq!(code, ExitCode::FAILURE);
    }

    #[test]
    fn a_thread_that_panics_ends_the_server_and_one_that_returns_does_not() {
        let (ending, end) = mpsc::channel();
        let vital = Vital(ending.clone());
        thread::spawn(move || drop(vital)).join().unwrap();
        assert!(end.try_recv().is_err());
        let vital = Vital(ending);
        let panic = thread::spawn(move || {
            let _vital = vital;
            panic!("a test asked for it");
        });
        panic.join().expect_err("it panics");
        assert!(matches!(end.try_recv(), Ok((End::Failed, false))));
    }
}
