//! One truth in every place: popups, hints, `explain`, queries and the code of a kernel say the same of the same thing.

mod examples;
mod figures;
mod fusion_examples;
mod maps;
mod modules;
mod partitions;
