//! Runs the code that rewrites produce on tensors of their own indices, and verifies it with upstream's
//! `mlir-opt`.

mod equality;
mod interpreter;
mod upstream;
