//! Checks that a kernel computes its fusion: runs PTX on seeded inputs and compares the outputs with the
//! interpreter.
//!
//! [`check`] takes the HLO text and the PTX. Integers, data movement and single roundings must match exactly,
//! everything else within the error of [`eval::Column`]. Elements that it leaves open are counted. The errors of dots
//! allow for operands in TF32 where the PTX has them.
//! [`check_tiles`] takes the tile program of a Triton fusion in the place of PTX. [`xla_kernels`] loads the kernels of XLA's compiler.
//!
//! Architecture Invariant: nothing here depends on which compiler wrote the kernel.

mod buffers;
mod comparison;
mod graphs;
mod tile_programs;
mod values;
pub mod xla_kernels;

use eval::{Column, Evaluator, Kind, Reason, memory_strides};
use ir::{ArrayShape, Opcode, Shape};

use crate::buffers::{fill, physical};
use crate::comparison::{compare, places};
use executor::{Argument, Blocks, Contents, Launch, Memory, Program, Report, run};

pub use buffers::memory_bits;
pub use graphs::Graphs;
pub use tile_programs::{TileEffort, TileOutcome, check_tiles};
pub use values::{Flavour, bits};

/// The shared memory, in bytes, that a block of a kernel gets whose text leaves the size to the launch: all that an H100
/// has for one.
const MOST_SHARED: u64 = 227 << 10;

/// A kernel and its launch dimensions.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// PTX text with one kernel.
    pub ptx: String,
    pub grid: [u32; 3],
    pub threads: [u32; 3],
}

/// Limits on what is run and compared.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The seed of the inputs, and of the choice of blocks in large grids.
    pub seed: u64,
    /// The kind of floating-point inputs.
    pub flavour: Flavour,
    /// The largest number of threads for which the whole grid is run.
    pub threads: u64,
    /// The number of elements compared per output. With 0 the kernel is only run.
    pub elements: usize,
    /// Whether the reports count sectors.
    pub traces: bool,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The number of compared elements.
    pub compared: u64,
    /// The number of elements that the reference leaves open.
    pub open: u64,
    /// One line per wrong element, at most a thousand.
    pub wrong: Vec<String>,
    /// One report per launch.
    pub reports: Vec<Report>,
    /// The buffers of the results. Buffers of operands are numbered in order.
    pub results: Vec<usize>,
    /// Whether a result shares the buffer of an operand.
    pub is_in_place: bool,
}

fn leaf_arrays(shape: &Shape) -> Vec<ArrayShape> {
    eval::leaves(shape).into_iter().filter_map(|s| s.as_array().cloned()).collect()
}

/// Runs a fusion's kernel and compares its outputs. `hlo` is a module whose entry's root is the fusion. For a
/// sort, the kernels are those of all launches, in order. The kernel's arguments are the fusion's operands,
/// then its results. `Err` says why the check is not possible.
pub fn check(hlo: &str, kernels: &[Kernel], effort: Effort) -> Result<Outcome, Reason> {
    // XLA adds an index operand to stable sorts before compiling them. It is missing here, so these kernels
    // are not stable.
    let graphs = Graphs::new(&hlo.replace("is_stable=true", "is_stable=false"));
    let entry = graphs.entry().ok_or("no fusion in the text")?;
    let fusion = &entry.ops[entry.root as usize];
    let operands = &entry.operands[entry.root as usize];
    let buffers = graphs.shared_buffers(fusion);
    let is_sort = buffers.iter().flatten().any(|(_, how)| *how == Opcode::Sort);
    let outputs = leaf_arrays(&fusion.shape);
    let parameter = |operand: usize| entry.ops[operands[operand] as usize].parameter.ok_or("no parameter");

    let mut memory = Memory::new(1 << 30);
    let mut arguments = Vec::new();
    let mut arrays = Vec::new();
    let neutral = graphs.init_parameters(fusion);
    // XLA's allocations are multiples of 256 bytes, and some of its kernels read past the end of an array.
    let size_of = |array: &ArrayShape| {
        (array.elements().unwrap_or(0) as u64)
            .saturating_mul(memory_bits(array))
            .div_ceil(8)
            .next_multiple_of(256)
    };
    for (i, &operand) in operands.iter().enumerate() {
        let array = entry.ops[operand as usize].shape.as_array().cloned().ok_or("a tuple operand")?;
        let number = parameter(i)?;
        let source = array.clone();
        let is_zero = neutral.contains(&i);
        let contents = Contents::Known(Box::new(move |offset, bytes: &mut [u8]| match is_zero {
            true => bytes.fill(0),
            false => fill(&source, effort, number, offset, bytes),
        }));
        arguments.push(Argument::Buffer(memory.add(size_of(&array), contents)));
        arrays.push(array);
    }
    let mut written = Vec::new();
    let mut in_place = Vec::new();
    for (i, array) in outputs.iter().enumerate() {
        let size = size_of(array);
        let argument = match buffers.get(i).copied().flatten() {
            // A sort works on a copy of its operand.
            Some((operand, Opcode::Sort)) => {
                let (source, number) = (arrays[operand].clone(), parameter(operand)?);
                let fill = move |offset, bytes: &mut [u8]| fill(&source, effort, number, offset, bytes);
                Argument::Buffer(memory.add(size, Contents::Known(Box::new(fill))))
            }
            Some((operand, _)) => arguments[operand],
            None => Argument::Buffer(memory.add(size, Contents::Unknown)),
        };
        in_place.push(buffers.get(i).copied().flatten().is_some());
        let Argument::Buffer(buffer) = argument else { return Err("a value".into()) };
        written.push(buffer);
        arguments.push(argument);
    }

    let mut outcome = Outcome::default();
    let mut is_whole = true;
    for launch in kernels {
        let program = Program::new(&launch.ptx, None).map_err(|p| format!("{}: {}", p.code, p.words))?;
        let threads = launch.grid.iter().chain(&launch.threads).map(|&n| u64::from(n)).product::<u64>();
        let has_order = is_sort || launch.ptx.contains("atom.") || launch.ptx.contains("\tred.");
        let blocks = match threads > effort.threads && !has_order {
            true => {
                let block: u64 = launch.threads.iter().map(|&n| u64::from(n)).product();
                Blocks::Some { count: (effort.threads / block).clamp(2, 64), seed: effort.seed }
            }
            false => Blocks::Whole { seed: effort.seed },
        };
        let kernel_text = &launch.ptx;
        let launch = Launch {
            blocks,
            traces: effort.traces,
            dynamic_shared: if kernel_text.contains(".extern .shared") { MOST_SHARED } else { 0 },
            ..Launch::new(launch.grid, launch.threads, arguments.clone())
        };
        let report = run(&program, &launch, &mut memory).map_err(|p| format!("run: {p}"))?;
        is_whole &= report.is_whole;
        if has_order && !report.is_whole {
            return Err("too many threads for one that must be run whole".into());
        }
        outcome.reports.push(report);
    }

    outcome.results = written.clone();
    outcome.is_in_place = in_place.contains(&true);
    if effort.elements == 0 {
        return Ok(outcome);
    }
    let inputs = |number: u32, _: usize, positions: &[i64]| -> Result<Column, Reason> {
        let at = (0..operands.len()).find(|&i| entry.ops[operands[i] as usize].parameter == Some(number));
        let array = &arrays[at.ok_or("no such parameter")?];
        let strides = memory_strides(array);
        let kind = Kind::of(array.element).ok_or("a type without values")?;
        let is_zero = at.is_some_and(|at| neutral.contains(&at));
        let bits = positions.iter().map(|&position| {
            if is_zero {
                return 0;
            }
            let place = physical(array, position, &strides);
            bits(array.element, effort.seed, number, place, effort.flavour)
        });
        Ok(Column::from_bits(kind, bits))
    };
    let callees = |name: &str| graphs.get(name);
    let mut evaluator = Evaluator::new(entry.clone(), &callees, &inputs);
    if kernels.iter().any(|launch| launch.ptx.contains(".tf32")) {
        evaluator.multiply_in_tf32();
    }
    // An output whose address the kernel does not load shares the buffer of the operand that the kernel
    // writes.
    for (leaf, array) in outputs.iter().enumerate() {
        let parameter = format!("_param_{}]", operands.len() + leaf);
        if kernels.iter().any(|launch| launch.ptx.contains(&parameter)) || in_place[leaf] {
            continue;
        }
        let is_it = |&i: &usize| -> bool {
            let mut is_written = false;
            memory.for_each_written(i, |_, _| is_written = true);
            is_written && memory.size(i) == size_of(array) && !written.contains(&i)
        };
        let candidates: Vec<usize> = (0..operands.len()).filter(is_it).collect();
        // If several have this size, the one that holds the output.
        let is_right = |&&candidate: &&usize| {
            let few: Vec<u64> = (0..array.elements().unwrap_or(0).min(16) as u64).collect();
            let mut outcome = Outcome::default();
            let root = (entry.root, leaf);
            candidates.len() == 1
                || compare(&mut evaluator, root, array, &few, &memory, candidate, &mut outcome).is_ok()
                    && outcome.wrong.is_empty()
        };
        if let Some(&operand) = candidates.iter().find(is_right).or(candidates.first()) {
            written[leaf] = operand;
        }
    }
    for (leaf, array) in outputs.iter().enumerate() {
        let places = places(&memory, written[leaf], array, is_whole && !in_place[leaf], effort)?;
        compare(&mut evaluator, (entry.root, leaf), array, &places, &memory, written[leaf], &mut outcome)?;
    }
    Ok(outcome)
}
