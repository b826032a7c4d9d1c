//! Computations that follow the documents: their start, and what the client is sent of them.

use std::time::Instant;

use tower_lsp::lsp_types::notification::PublishDiagnostics;
use tower_lsp::lsp_types::request::{CodeLensRefresh, InlayHintRefreshRequest, WorkspaceDiagnosticRefresh};
use tower_lsp::lsp_types::{PublishDiagnosticsParams, Url};

use super::MainLoop;
use crate::budget;
use crate::lsp::bounds::file_name;
use crate::lsp::config::RAISES_BUDGET;
use crate::lsp::jobs::{Job, KernelChanged, KernelChangedParams, Outcome, PreviewChanged, Progress, Work};
use crate::lsp::kernel_files;
use crate::lsp::kernel_tab::Rendered;
use crate::lsp::mailbox::Event;
use crate::lsp::preview_uri;
use crate::lsp::requests::{Refresh, RefreshParams};
use crate::lsp::snapshot::{Session, Snapshot};

impl MainLoop {
    /// Starts the computations whose pause is over.
    pub(super) fn start_jobs(&mut self) {
        let now = Instant::now();
        for (uri, document) in self.documents.iter_mut() {
            for job in Job::ALL {
                if document.schedule(job).due().is_none_or(|due| due > now) {
                    continue;
                }
                let work = match job {
                    Job::Diagnostics if !preview_uri::has_findings(uri) => None,
                    // A client that asks for them needs the job for slow ones alone, see `diagnostic_reports.rs`.
                    Job::Diagnostics
                        if self.session.client.pulls_diagnostics && document.has_all_diagnostics =>
                    {
                        None
                    }
                    Job::Diagnostics => Some(Work::Diagnostics { is_first: !document.has_all_diagnostics }),
                    Job::Kernels => Some(self.session.kernels.of_file(uri))
                        .filter(|tabs| !tabs.is_empty())
                        .map(Work::Kernels),
                    Job::Origins => {
                        document.file.filter(|file| self.host.is_stage(*file)).map(|_| Work::Origins)
                    }
                    Job::Previews => Some(self.session.previews.of_file(uri))
                        .filter(|tabs| !tabs.is_empty())
                        .map(Work::Previews),
                    Job::PlannedKernels => document.wants_kernels().then_some(Work::PlannedKernels),
                    Job::Memory => document.wants_memory().then_some(Work::Memory),
                };
                let view = document.view(uri, &self.session, 0..document.text.len_bytes());
                let Some((work, view)) = work.zip(view) else {
                    document.schedule(job).cancel();
                    continue;
                };
                let snapshot = Snapshot { analysis: self.host.analysis(), view };
                document.schedule(job).started(snapshot.analysis.cancellation(), now);
                let (generation, about, mailbox) = (document.generation, uri.clone(), self.mailbox.clone());
                let post = move |outcome| {
                    let uri = about.clone();
                    mailbox.post(Event::Progress(Progress { job, uri, generation, outcome }));
                };
                let working = self.session.working(format!("Computing {work}"), uri, None);
                let watched = budget::watch(self.session.settings.budget, {
                    let (handle, mailbox) = (snapshot.analysis.cancellation(), self.mailbox.clone());
                    let what = format!("the {work} of {}", file_name(uri));
                    move |exceeded| {
                        mailbox.post(Event::WarnOnce(exceeded.message(&what, RAISES_BUDGET)));
                        handle.cancel();
                    }
                });
                self.pool.spawn_blocking(move || {
                    work.run(snapshot, post);
                    drop((watched, working));
                });
            }
        }
    }

    /// Sends the client what a computation has found.
    pub(super) fn publish(&mut self, Progress { job, uri, generation, outcome }: Progress) {
        let document = self.documents.get_mut(&uri);
        let Some(document) = document.filter(|document| document.generation == generation) else { return };
        if !matches!(outcome, Outcome::Early(_)) {
            let is_cancelled = matches!(outcome, Outcome::Cancelled);
            document.schedule(job).ended(is_cancelled, Instant::now());
        }
        match outcome {
            Outcome::Early(_) if self.session.client.pulls_diagnostics => {
                document.has_early_diagnostics = true
            }
            Outcome::Early(params) => self.publish_diagnostics(params),
            Outcome::Diagnostics(params) => {
                document.has_all_diagnostics = true;
                if !self.session.client.pulls_diagnostics {
                    self.publish_diagnostics(params);
                } else if std::mem::take(&mut document.has_early_diagnostics) {
                    self.refresh_diagnostics();
                }
            }
            Outcome::Kernels(tabs) => tabs.into_iter().for_each(|(uri, tab)| self.publish_tab(uri, &tab)),
            Outcome::Origins => tracing::debug!("the origins of {uri} are computed"),
            Outcome::Memory => {
                document.memory_is_planned();
                if self.session.client.code_lens_refresh {
                    self.outbox.request::<CodeLensRefresh>();
                }
                if self.session.settings.inlay_memory && self.session.client.inlay_hint_refresh {
                    self.outbox.request::<InlayHintRefreshRequest>();
                }
            }
            Outcome::Previews(previews) => {
                for (uri, text) in previews {
                    if self.session.previews.update(&uri, &text) {
                        let params = KernelChangedParams { uri: uri.clone() };
                        self.outbox.notify_latest::<PreviewChanged>(&uri, params);
                        self.publish_content(&uri, self.session.client.shows_previews);
                    }
                }
            }
            Outcome::PlannedKernels(found) => {
                document.kernels_are_planned();
                let Session { client, settings, .. } = &*self.session;
                if found && client.code_lens_refresh && settings.optimizer_lenses {
                    self.outbox.request::<CodeLensRefresh>();
                }
                if found && client.inlay_hint_refresh && settings.optimizer_hints {
                    self.outbox.request::<InlayHintRefreshRequest>();
                }
            }
            Outcome::Cancelled | Outcome::Failed => {}
        }
    }

    /// Has the client ask for diagnostics again, where they may have changed without an edit.
    pub(super) fn refresh_diagnostics(&mut self) {
        self.held.changed();
        if self.session.client.pulls_diagnostics {
            self.outbox.request::<WorkspaceDiagnosticRefresh>();
        }
    }

    /// Tells a client that shows a document of the server that its text has changed.
    fn publish_content(&self, uri: &Url, is_shown_by_client: bool) {
        if !is_shown_by_client && self.session.client.asks_for_content {
            self.outbox.request_with::<Refresh>(RefreshParams { uri: uri.clone() });
        }
    }

    fn publish_diagnostics(&self, params: PublishDiagnosticsParams) {
        self.outbox.notify_latest::<PublishDiagnostics>(&params.uri.clone(), params);
    }

    /// Sends the client the text or the diagnostics of a tab, if they have changed.
    fn publish_tab(&self, uri: Url, tab: &Rendered) {
        let news = self.session.kernels.update(&uri, &tab.text, &tab.diagnostics);
        let Some((is_other, path, says_other)) = news else { return };
        match path {
            Some(path) if is_other => _ = kernel_files::write(&path, &tab.text),
            None if is_other => {
                let params = KernelChangedParams { uri: uri.clone() };
                self.outbox.notify_latest::<KernelChanged>(&uri, params);
                self.publish_content(&uri, self.session.client.shows_kernels);
            }
            _ => {}
        }
        if says_other {
            let diagnostics = tab.diagnostics.clone();
            self.publish_diagnostics(PublishDiagnosticsParams { uri, diagnostics, version: None });
        }
    }

    pub(super) fn publish_no_diagnostics(&self, uri: &Url) {
        let (uri, diagnostics) = (uri.clone(), Vec::new());
        self.publish_diagnostics(PublishDiagnosticsParams { uri, diagnostics, version: None });
    }
}
