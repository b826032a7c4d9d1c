//! Whether a kernel answers what its fusion means: PTX run on seeded inputs, its outputs held against the interpreter.
//!
//! [`check`] takes the HLO text and the PTX. Whole numbers, data movement and single roundings must be met exactly, all
//! else as [`crate::reference`] says; what that leaves open is counted.
//!
//! Architecture Invariant: nothing here knows who wrote the kernel.

mod buffers;
mod comparison;
mod graphs;
mod values;

use ir::{ArrayShape, Opcode, Shape};

use self::buffers::{fill, physical};
use self::comparison::{compare, places};
use crate::case::Reason;
use crate::ptx::{Argument, Blocks, Contents, Launch, Memory, Program, Report, run};
use crate::reference::{Column, Evaluator, Kind, memory_strides};

pub use buffers::memory_bits;
pub use graphs::Graphs;
pub use values::{Flavour, bits};

/// A kernel and how it is launched.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Text with one kernel.
    pub ptx: String,
    pub grid: [u32; 3],
    pub threads: [u32; 3],
}

/// How much is run and compared.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Of the inputs, and of the blocks that are run of many.
    pub seed: u64,
    /// What floating-point inputs are like.
    pub flavour: Flavour,
    /// Threads up to which a grid is run whole.
    pub threads: u64,
    /// Elements of an output that are compared; with 0 nothing is, only the kernel is run.
    pub elements: usize,
    /// Whether the reports count sectors.
    pub traces: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Elements.
    pub compared: u64,
    /// Elements whose answer the reference leaves open.
    pub open: u64,
    /// One line per wrong element, up to a thousand.
    pub wrong: Vec<String>,
    /// Of each launch.
    pub reports: Vec<Report>,
    /// The buffers of the results; those of the operands are numbered in order.
    pub results: Vec<usize>,
    /// Whether a result shares the buffer of an operand.
    pub is_in_place: bool,
}

fn leaf_arrays(shape: &Shape) -> Vec<ArrayShape> {
    crate::case::leaves(shape).into_iter().filter_map(|s| s.as_array().cloned()).collect()
}

/// Runs a fusion's kernel and compares. `hlo` is a module whose entry's root is the fusion; of a sort the kernels are those of
/// all launches, in order. The kernel's arguments are the fusion's operands, then its results. `Err` says why it cannot be.
pub fn check(hlo: &str, kernels: &[Kernel], effort: Effort) -> Result<Outcome, Reason> {
    // Stable sorts get an index operand before they are compiled; these were not, so that their kernels are not stable.
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
    // XLA's allocations are multiples of 256 bytes, and some of its kernels read what is behind an array.
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
        let launch = Launch {
            blocks,
            traces: effort.traces,
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
    // An output whose address the kernel does not ask for shares the buffer of an operand, the one that is written.
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
        // Several of one size: the one that holds it.
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
