//! What a query returned last, beside salsa.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The last result of a query for one key. The query starts from it to compute the next one faster, and returns the same value
/// without it. It is a field of the key's input and is never set, so no query depends on it.
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
