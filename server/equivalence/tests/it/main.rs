//! Rewrites are found equal, and wrong ones are found out.

#![allow(clippy::print_stdout, reason = "the figures are what a run over all compiles is for")]

mod examples;
mod pairs;
mod random_modules;

use equivalence::{Verdict, compare};
use passes::{Module, Options};

#[track_caller]
fn module(text: &str) -> Module {
    Module::from_text(text).unwrap_or_else(|| panic!("no module:\n{text}"))
}

fn print(module: &Module) -> String {
    module.to_text(&ir::PrintOptions::lossless()).expect("it is small")
}

fn compared(before: &str, after: &str) -> Verdict {
    compare(&module(before), &module(after))
}

fn options(pipeline: &str) -> Options {
    let device = gpu::Device::find(gpu::DEFAULT_DEVICE).expect("it is known");
    Options::new(pipeline, device)
}
