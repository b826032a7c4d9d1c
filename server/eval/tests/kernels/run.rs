//! One pair: its kernel run on seeded inputs, what it writes held against the interpreter.

use std::borrow::Cow;

use eval::ptx::{Argument, Blocks, Contents, Launch, Memory, Program, Report, run};
use eval::reference::{Column, Evaluator, Kind, memory_strides};
use ir::{ArrayShape, Opcode, Shape};

use crate::pairs::{Graphs, Pair};
use crate::values::{self, Flavour};

/// How much is run and compared.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    pub seed: u64,
    pub flavour: Flavour,
    /// Threads up to which a grid is run whole.
    pub threads: u64,
    /// Elements of an output that are compared; with 0 nothing is, only the kernel is run.
    pub elements: usize,
    pub traces: bool,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub compared: u64,
    /// Elements whose answer the reference leaves open.
    pub open: u64,
    pub wrong: Vec<String>,
    pub reports: Vec<Report>,
    /// The buffers of the results; those of the operands are numbered in order.
    pub results: Vec<usize>,
    /// Whether a result shares the buffer of an operand.
    pub is_in_place: bool,
}

/// Bits of an element in memory.
pub fn memory_bits(array: &ArrayShape) -> u64 {
    let Some(kind) = Kind::of(array.element) else { return 8 };
    let stated = array.layout.as_ref().map_or(0, |layout| layout.element_bits);
    match u64::try_from(stated) {
        Ok(bits) if bits > 0 => bits,
        // XLA's GPU compiler packs these whether the layout says so or not.
        _ if matches!(kind, Kind::Signed(2 | 4) | Kind::Unsigned(2 | 4)) => u64::from(kind.width()),
        _ => u64::from(kind.width()).next_multiple_of(8),
    }
}

fn leaf_arrays(shape: &Shape) -> Vec<ArrayShape> {
    eval::leaves(shape).into_iter().filter_map(|s| s.as_array().cloned()).collect()
}

/// What stands in memory for the array of a parameter, from a byte offset on.
fn fill(array: &ArrayShape, effort: Effort, parameter: u32, offset: u64, bytes: &mut [u8]) {
    let width = memory_bits(array);
    bytes.fill(0);
    let count = array.elements().unwrap_or(0) as u64;
    if width < 8 {
        let per_byte = 8 / width;
        for (i, byte) in bytes.iter_mut().enumerate() {
            for k in 0..per_byte {
                let place = (offset + i as u64) * per_byte + k;
                if place < count {
                    let bits = values::bits(array.element, effort.seed, parameter, place, effort.flavour);
                    *byte |= (bits as u8) << (k * width);
                }
            }
        }
        return;
    }
    let width = width / 8;
    let mut place = offset / width;
    let mut at = 0i64 - (offset % width) as i64;
    while at < bytes.len() as i64 && place < count {
        let bits = values::bits(array.element, effort.seed, parameter, place, effort.flavour);
        for k in 0..width as i64 {
            if let Some(byte) = usize::try_from(at + k).ok().and_then(|i| bytes.get_mut(i)) {
                *byte = (bits >> (8 * k)) as u8;
            }
        }
        at += width as i64;
        place += 1;
    }
}

fn logical(array: &ArrayShape, places: &[u64]) -> Vec<i64> {
    let order = array.minor_to_major();
    let mut strides = vec![1i64; array.dims.len()];
    for d in (1..array.dims.len()).rev() {
        strides[d - 1] = strides[d] * array.dims[d];
    }
    let of = |&place: &u64| {
        let mut rest = place as i64;
        order.iter().fold(0, |position, &d| {
            let index = rest % array.dims[d];
            rest /= array.dims[d];
            position + index * strides[d]
        })
    };
    places.iter().map(of).collect()
}

fn physical(array: &ArrayShape, position: i64, strides: &[i64]) -> u64 {
    let mut rest = position;
    let mut place = 0;
    for d in (0..array.dims.len()).rev() {
        place += rest % array.dims[d] * strides[d];
        rest /= array.dims[d];
    }
    place as u64
}

/// Runs a pair. `Err` with the reason where it cannot be.
pub fn check(pair: &Pair, effort: Effort) -> Result<Outcome, Cow<'static, str>> {
    // Stable sorts get an index operand before they are compiled; these were not, so that their kernels are not stable.
    let graphs = Graphs::new(&pair.hlo.replace("is_stable=true", "is_stable=false"));
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
    for launch in &pair.launches {
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
    let inputs = |number: u32, _: usize, positions: &[i64]| -> Result<Column, Cow<'static, str>> {
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
            values::bits(array.element, effort.seed, number, place, effort.flavour)
        });
        Ok(Column::from_bits(kind, bits))
    };
    let callees = |name: &str| graphs.get(name);
    let mut evaluator = Evaluator::new(entry.clone(), &callees, &inputs);
    // An output whose address the kernel does not ask for shares the buffer of an operand, the one that is written.
    for (leaf, array) in outputs.iter().enumerate() {
        let parameter = format!("_param_{}]", operands.len() + leaf);
        if pair.launches.iter().any(|launch| launch.ptx.contains(&parameter)) || in_place[leaf] {
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

/// The elements of an output to compare: those that were written, or a part of them. `Err` where one was not that should be.
fn places(
    memory: &Memory<'_>,
    buffer: usize,
    array: &ArrayShape,
    must_all_be_written: bool,
    effort: Effort,
) -> Result<Vec<u64>, String> {
    let width = memory_bits(array);
    let count = array.elements().unwrap_or(0) as u64;
    let mut ranges = Vec::new();
    let mut total = 0;
    memory.for_each_written(buffer, |offset, bytes| {
        let from = (offset * 8).div_ceil(width);
        let to = ((offset + bytes.len() as u64) * 8 / width).min(count);
        total += to.saturating_sub(from);
        ranges.push(from..to);
    });
    if must_all_be_written && total < count {
        return Err(format!("{total} of {count} elements of an output were written"));
    }
    let step = (total / effort.elements as u64).max(1);
    // The first and last ones, and every step-th with a wandering offset.
    let mut all = Vec::new();
    let mut seen = 0;
    for range in ranges {
        for place in range {
            let turn = seen / step;
            if seen % step == turn.wrapping_mul(0x9E37_79B9) % step || seen < 64 || seen + 64 >= total {
                all.push(place);
            }
            seen += 1;
        }
    }
    Ok(all)
}

fn compare(
    evaluator: &mut Evaluator<'_>,
    (root, leaf): (u32, usize),
    array: &ArrayShape,
    places: &[u64],
    memory: &Memory<'_>,
    buffer: usize,
    outcome: &mut Outcome,
) -> Result<(), Cow<'static, str>> {
    let kind = Kind::of(array.element).ok_or("a type without values")?;
    let width = memory_bits(array);
    for places in places.chunks(1 << 13) {
        let positions = logical(array, places);
        let expected =
            evaluator.elements(root, leaf, &positions).map_err(|why| format!("reference: {why}"))?;
        let bits = places.iter().map(|&place| {
            let mut bytes = [0u8; 16];
            let len = width.div_ceil(8) as usize;
            let at = place * width;
            _ = memory.read(buffer, at / 8, &mut bytes[..len]);
            let bits = u128::from_le_bytes(bytes) >> (at % 8);
            if width >= 128 { bits } else { bits & ((1 << width) - 1) }
        });
        let got = Column::from_bits(kind, bits);
        for (i, position) in positions.iter().enumerate() {
            outcome.compared += 1;
            outcome.open += u64::from(expected.is_open(i));
            if let Some((want, got)) = expected.differs(i, &got)
                && outcome.wrong.len() < 1000
            {
                let words = format!(
                    "output {leaf}, element {}: {want:e} expected (error {:e}), {got:e} written",
                    position,
                    expected.error_at(i)
                );
                outcome.wrong.push(words);
            }
        }
    }
    Ok(())
}
