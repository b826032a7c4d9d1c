//! Kernels of random fusions, and decisions about random computations: maps cover what they should, and what the rules make of
//! them is recorded.

mod decisions;
mod devices;
mod kernels;
mod traffic;
