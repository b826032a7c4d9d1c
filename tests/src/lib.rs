//! Shared plumbing of the cross-crate tests.
