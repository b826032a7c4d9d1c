//! Modules survive reading and printing, and passes keep the values that modules compute.

mod algsimp;
mod compare;
mod convolutions;
mod copies;
mod estimates;
mod fusions;
mod layout_assignment;
mod names;
mod power;
mod relayouts;
mod round_trip;
mod schedules;
mod triton;
mod values;
mod varied;

use std::sync::Arc;

use passes::{Applied, Module, Options, Stop, optimize};

fn options(pipeline: &str) -> Options {
    let device = gpu::Device::find(gpu::DEFAULT_DEVICE).expect("it is known");
    Options::new(pipeline, device)
}

#[track_caller]
fn module(text: &str) -> Module {
    Module::from_text(text).unwrap_or_else(|| panic!("no module:\n{text}"))
}

fn print(module: &Module) -> String {
    module.to_text(&ir::PrintOptions::lossless()).expect("it is small")
}

fn run(module: &mut Module, pass: &str) -> Result<Vec<Applied>, Stop> {
    optimize(module, &[pass], &options("simplification"))
}

/// The canonical text of a text, without passes in between.
fn canonical(text: &str) -> String {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let block = ir::lower(text, parse);
    let module = ir::Module::of_block(&block);
    ir::print_module(&[&block], &module, &ir::PrintOptions::lossless()).expect("it is small")
}
