//! Consistency: hovers, hints, `explain`, queries and the code of a kernel give the same information.

mod examples;
mod figures;
mod fusion_examples;
mod maps;
mod modules;
mod partitions;
