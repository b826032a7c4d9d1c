//! Code that rewrites write, run on tensors of their own indices, and read by upstream's `mlir-opt`.

mod equality;
mod interpreter;
mod programs;
mod upstream;
