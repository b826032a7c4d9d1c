//! Counts the live snapshots of the database, so that a writer can wait for them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The snapshots of one host.
#[derive(Default)]
pub(super) struct Snapshots(Arc<Count>);

#[derive(Default)]
struct Count {
    live: Mutex<usize>,
    dropped: Condvar,
}

impl Count {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshots {
    pub(super) fn register(&self) -> Registered {
        *self.0.lock() += 1;
        Registered(self.0.clone())
    }

    /// Waits until none is left, for at most `patience`. Returns whether none is.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let waited = self.0.dropped.wait_timeout_while(self.0.lock(), patience, |live| *live > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }
}

/// Counts one snapshot until dropped.
pub(super) struct Registered(Arc<Count>);

impl Drop for Registered {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.dropped.notify_all();
    }
}
