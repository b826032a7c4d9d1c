//! Work-done progress: whatever takes more than half a second is shown by clients that can.
//!
//! Work of any thread is between the creation and the drop of a [`Working`]. The main loop asks the client for a token when the
//! work is due to be shown, and sends `begin` once the client has agreed, if the work still runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tower_lsp::jsonrpc::Id;
use tower_lsp::lsp_types::notification::Progress as ProgressNotification;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;
use tower_lsp::lsp_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, Url, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd,
};

use super::mailbox::{Event, Mailbox};
use super::outbox::Outbox;
use super::snapshot::Session;

/// The duration from which work is shown.
const SHOWN_FROM: Duration = Duration::from_millis(500);

/// Work that has started.
pub(super) struct Work {
    id: u64,
    started: Instant,
    /// What is done, in words: `Computing hover`.
    title: String,
    /// The name of the file that it is about.
    file: Option<String>,
    /// Stops it, if the user may.
    cancel: Option<Box<dyn Fn() + Send>>,
}

/// Running work; its drop ends the progress.
pub(super) struct Working {
    id: u64,
    mailbox: Mailbox,
}

impl Session {
    /// Work that starts now, for a client that shows progress.
    pub(super) fn working(
        &self,
        title: String,
        about: &Url,
        cancel: Option<Box<dyn Fn() + Send>>,
    ) -> Option<Working> {
        if !self.client.shows_progress {
            return None;
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = about.path().trim_end_matches('/');
        let file = path.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
        self.mailbox.post(Event::WorkStarted(Work { id, started: Instant::now(), title, file, cancel }));
        Some(Working { id, mailbox: self.mailbox.clone() })
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.mailbox.post(Event::WorkEnded(self.id));
    }
}

/// What a request does, from the name of its method: `Computing compile details`.
pub(super) fn title(method: &str) -> String {
    let name = method.rsplit('/').next().unwrap_or(method);
    let mut title = "Computing ".to_owned();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            title.push(' ');
        }
        title.push(c.to_ascii_lowercase());
    }
    title
}

#[derive(Clone, PartialEq, Eq)]
enum Progress {
    NotYet,
    /// The client was asked for a token, by the request of this id.
    Asked(String),
    Begun,
    /// The client gave no token.
    Refused,
}

/// The work that runs. Owner: the main loop. Size: the running reads, jobs and listings.
#[derive(Default)]
pub(super) struct WorkDone {
    running: HashMap<u64, (Work, Progress)>,
}

impl WorkDone {
    pub(super) fn started(&mut self, work: Work) {
        self.running.insert(work.id, (work, Progress::NotYet));
    }

    /// When the client is asked to show the next work.
    pub(super) fn due(&self) -> Option<Instant> {
        let waiting = self.running.values().filter(|(_, shown)| *shown == Progress::NotYet);
        waiting.map(|(work, _)| work.started + SHOWN_FROM).min()
    }

    /// Asks for a token for each work that takes long.
    pub(super) fn ask(&mut self, outbox: &Outbox) {
        let now = Instant::now();
        for (work, shown) in self.running.values_mut() {
            if *shown == Progress::NotYet && work.started + SHOWN_FROM <= now {
                let params = WorkDoneProgressCreateParams { token: token(work.id) };
                *shown = Progress::Asked(outbox.request_with::<WorkDoneProgressCreate>(params));
            }
        }
    }

    /// The client's response to the request for a token.
    pub(super) fn answered(&mut self, id: &Id, result: &Result<Value, Value>, outbox: &Outbox) {
        let Id::String(id) = id else { return };
        let asked =
            |(_, shown): &&mut (Work, Progress)| matches!(shown, Progress::Asked(asked) if asked == id);
        let Some((work, shown)) = self.running.values_mut().find(asked) else { return };
        if result.is_err() {
            *shown = Progress::Refused;
            return;
        }
        *shown = Progress::Begun;
        let begin = WorkDoneProgressBegin {
            title: work.title.clone(),
            cancellable: Some(work.cancel.is_some()),
            message: work.file.clone(),
            percentage: None,
        };
        send(outbox, work.id, WorkDoneProgress::Begin(begin));
    }

    pub(super) fn ended(&mut self, id: u64, outbox: &Outbox) {
        if let Some((_, Progress::Begun)) = self.running.remove(&id) {
            send(outbox, id, WorkDoneProgress::End(WorkDoneProgressEnd::default()));
        }
    }

    /// The user stops work that is shown.
    pub(super) fn cancel(&self, asked: &ProgressToken) {
        let of = |(work, _): &&(Work, Progress)| token(work.id) == *asked;
        if let Some((Work { cancel: Some(cancel), .. }, _)) = self.running.values().find(of) {
            cancel();
        }
    }
}

fn token(id: u64) -> ProgressToken {
    ProgressToken::String(format!("hlo-analyzer-work-{id}"))
}

fn send(outbox: &Outbox, id: u64, value: WorkDoneProgress) {
    let value = ProgressParamsValue::WorkDone(value);
    outbox.notify::<ProgressNotification>(ProgressParams { token: token(id), value });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_titles() {
        assert_eq!(title("textDocument/hover"), "Computing hover");
        assert_eq!(title("hlo-analyzer/compileDetails"), "Computing compile details");
        assert_eq!(title("workspace/executeCommand"), "Computing execute command");
    }
}
