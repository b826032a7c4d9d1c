//! Keeps the shown kernels up to date: after a pause in typing their texts are regenerated, and the client is
//! notified of those that have changed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ide::{Cancellable, Cancelled};
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::Url;
use tower_lsp::lsp_types::notification::Notification;

use super::kernel_tab::{KernelTab, Rendered};
use super::read::panic_message;
use super::snapshot::Snapshot;

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
pub(super) fn compute(snapshot: Snapshot, shown: Vec<KernelTab>) -> Outcome {
    let made = catch_unwind(AssertUnwindSafe(|| {
        let made = shown.into_iter().map(|tab| Ok((snapshot.render(&tab)?, tab.uri)));
        made.map(|made| made.map(|(rendered, uri)| (uri, rendered))).collect::<Cancellable<Vec<_>>>()
    }));
    let Snapshot { analysis, view } = snapshot;
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
