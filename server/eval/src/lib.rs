//! Reference evaluation of the op graph.
