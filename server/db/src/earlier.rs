//! What a query returned last, beside salsa.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The last result of a query for one key, from which the query computes the next one sooner. It is no input: a query returns the
/// same with it and without it. It is a field of an input that nobody sets again, so that it goes with its key.
pub struct Earlier<T>(Arc<Mutex<Option<T>>>);

impl<T: Clone> Earlier<T> {
    pub(crate) fn get(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, value: Option<T>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

impl<T> Default for Earlier<T> {
    fn default() -> Self {
        Earlier(Arc::default())
    }
}

impl<T> Clone for Earlier<T> {
    fn clone(&self) -> Self {
        Earlier(self.0.clone())
    }
}

impl<T> fmt::Debug for Earlier<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Earlier")
    }
}
