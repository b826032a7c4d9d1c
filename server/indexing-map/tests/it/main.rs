//! Maps against enumeration, and against XLA's answers.

mod chains;
mod conformance;
mod equality;
mod power;
mod properties;
mod random_maps;
mod soup;
