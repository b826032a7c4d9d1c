//! Keeps the shown kernels up to date: after a pause in typing their texts are regenerated, and the client is
//! notified of those that have changed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ide::{Cancellable, Cancelled};
use tower_lsp::lsp_types::Url;

use super::kernel_documents::{Maker, Rendered};
use super::kernel_uri::KernelUri;
use super::mailbox::Mailbox;
use super::read::panic_message;
use super::snapshot::Snapshot;

/// The outcome of a computation, and the opening of the file it belongs to.
pub(super) struct Updated {
    pub(super) file: Url,
    pub(super) generation: u64,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Made(Vec<(Url, Rendered)>),
    Cancelled,
    /// A panic, already logged.
    Failed,
}

/// Computes on the pool.
pub(super) fn compute(snapshot: Snapshot, shown: Vec<(Url, KernelUri)>, mailbox: &Mailbox) -> Outcome {
    let Snapshot { analysis, view } = snapshot;
    let made = catch_unwind(AssertUnwindSafe(|| {
        let shelf = &view.session.kernels;
        let maker = Maker { analysis: &analysis, file: view.file, shelf, mailbox };
        let made = shown.into_iter().map(|(uri, kernel)| Ok((maker.render(&uri, &kernel)?, uri)));
        made.map(|made| made.map(|(rendered, uri)| (uri, rendered))).collect::<Cancellable<Vec<_>>>()
    }));
    drop(analysis);
    match made {
        Ok(Ok(made)) => Outcome::Made(made),
        Ok(Err(Cancelled::PendingWrite | Cancelled::Local)) => Outcome::Cancelled,
        Err(panic) => {
            let message = panic_message(&*panic);
            tracing::error!("the kernels of {} failed, which is a bug: {message}", view.uri);
            Outcome::Failed
        }
    }
}
