//! Computations that follow the text of a document: its diagnostics, the kernels and previews of it that the client shows, and the
//! origins of its instructions, where it is a stage of a compile.
//!
//! They start by their [`Schedule`](super::schedule::Schedule), run on the pool, are cancelled and scheduled again by
//! an edit, and post what they find to the main loop.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ide::{Cancellable, Cancelled};
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::{PublishDiagnosticsParams, Url};

use super::diagnostics;
use super::kernel_tab::{KernelTab, Rendered};
use super::preview_tab::PreviewTab;
use super::read::panic_message;
use super::snapshot::{Snapshot, View};

/// The kinds of computation, each with a schedule per document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    Diagnostics,
    /// The texts of the shown kernels.
    Kernels,
    /// What hovers of a stage need. It runs on one thread, and an edit of any document cancels it.
    Origins,
    /// The memory of a scheduled module, for hovers, lenses and hints.
    Memory,
    /// The texts of the shown previews.
    Previews,
    /// The kernels that a module would become, for hovers, lenses and hints.
    PlannedKernels,
}

/// A computation, and what it needs besides the snapshot.
pub(super) enum Work {
    /// `is_first`: no diagnostics of this document are published yet, so the cheap ones are not held back.
    Diagnostics {
        is_first: bool,
    },
    Kernels(Vec<KernelTab>),
    Origins,
    Memory,
    Previews(Vec<PreviewTab>),
    PlannedKernels,
}

/// What a computation has to tell, and the opening of the document it belongs to.
pub(super) struct Progress {
    pub(super) job: Job,
    pub(super) uri: Url,
    pub(super) generation: u64,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Diagnostics(PublishDiagnosticsParams),
    /// The diagnostics available before slow kernel analyses finish; the rest follow.
    Early(PublishDiagnosticsParams),
    Kernels(Vec<(Url, Arc<Rendered>)>),
    /// Nothing is published: the database keeps them.
    Origins,
    /// As for origins. Lenses and hints are asked for again.
    Memory,
    /// The texts of previews.
    Previews(Vec<(Url, String)>),
    /// As for memory. Whether there are any: not of a module with fusions.
    PlannedKernels(bool),
    Cancelled,
    /// A panic, already logged. What is published stays until the text changes.
    Failed,
}

enum Found {
    Diagnostics(ide::Diagnostics),
    Kernels(Vec<(Url, Arc<Rendered>)>),
    Origins,
    Memory,
    Previews(Vec<(Url, String)>),
    PlannedKernels(bool),
}

impl Job {
    pub(super) const ALL: [Job; 6] =
        [Job::Diagnostics, Job::Kernels, Job::Previews, Job::PlannedKernels, Job::Origins, Job::Memory];
}

impl Work {
    /// Computes on the pool and posts the outcome, the last one after the snapshot is released.
    pub(super) fn run(self, snapshot: Snapshot, post: impl Fn(Outcome)) {
        let found = catch_unwind(AssertUnwindSafe(|| self.find(&snapshot, &post)));
        // Edits wait for the snapshot, not for the conversion.
        let Snapshot { analysis, view } = snapshot;
        drop(analysis);
        // Without an outcome the job would count as running, and never start again.
        let outcome = found.and_then(|found| catch_unwind(AssertUnwindSafe(|| outcome(&view, found))));
        post(outcome.unwrap_or_else(|panic| {
            let (uri, message) = (&view.uri, panic_message(&*panic));
            tracing::error!("the {self} of {uri} failed, which is a bug: {message}");
            Outcome::Failed
        }));
    }

    fn find(&self, snapshot: &Snapshot, post: &impl Fn(Outcome)) -> Cancellable<Found> {
        match self {
            Work::Diagnostics { is_first } => {
                let early = |found| post(Outcome::Early(diagnostics::to_proto(&snapshot.view, found)));
                let early: &dyn Fn(ide::Diagnostics) = &early;
                let found =
                    diagnostics::find_all(&snapshot.analysis, &snapshot.view, is_first.then_some(early));
                found.map(Found::Diagnostics)
            }
            Work::Kernels(tabs) => {
                let tabs = tabs.iter().map(|tab| Ok((tab.uri.clone(), snapshot.render(tab)?)));
                tabs.collect::<Cancellable<_>>().map(Found::Kernels)
            }
            Work::Memory => snapshot.analysis.prepare_memory(snapshot.view.file).map(|()| Found::Memory),
            Work::Previews(tabs) => {
                let tabs = tabs.iter().map(|tab| Ok((tab.uri.clone(), snapshot.render_preview(tab)?.text)));
                tabs.collect::<Cancellable<_>>().map(Found::Previews)
            }
            Work::PlannedKernels => {
                snapshot.analysis.prepare_kernels(snapshot.view.file).map(Found::PlannedKernels)
            }
            Work::Origins => snapshot.analysis.prepare_origins(snapshot.view.file).map(|()| Found::Origins),
        }
    }
}

fn outcome(view: &View, found: Cancellable<Found>) -> Outcome {
    match found {
        Ok(Found::Diagnostics(found)) => Outcome::Diagnostics(diagnostics::to_proto(view, found)),
        Ok(Found::Kernels(tabs)) => Outcome::Kernels(tabs),
        Ok(Found::Origins) => Outcome::Origins,
        Ok(Found::Memory) => Outcome::Memory,
        Ok(Found::Previews(previews)) => Outcome::Previews(previews),
        Ok(Found::PlannedKernels(found)) => Outcome::PlannedKernels(found),
        Err(Cancelled::PendingWrite | Cancelled::Local) => Outcome::Cancelled,
    }
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Work::Diagnostics { .. } => "diagnostics",
            Work::Kernels(_) => "kernels",
            Work::Origins => "origins",
            Work::Memory => "memory",
            Work::Previews(_) => "previews",
            Work::PlannedKernels => "planned kernels",
        })
    }
}

/// The text of a kernel that the client shows has changed.
pub(super) enum KernelChanged {}

impl Notification for KernelChanged {
    type Params = KernelChangedParams;
    const METHOD: &'static str = "hlo-analyzer/kernelChanged";
}

#[derive(Serialize, Deserialize)]
pub(super) struct KernelChangedParams {
    pub(super) uri: Url,
}

/// The text of a preview that the client shows has changed.
pub(super) enum PreviewChanged {}

impl Notification for PreviewChanged {
    type Params = KernelChangedParams;
    const METHOD: &'static str = "hlo-analyzer/previewChanged";
}
