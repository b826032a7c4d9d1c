//! Tile programs compared with their fusions: blocks are executed on seeded inputs, and what they write is compared with the
//! interpreter.

use std::collections::HashMap;

use eval::{Column, Evaluator, Kind, Reason};
use ir::ArrayShape;
use random::Rng;
use tile_eval::{Memory, Program};

use crate::values::{Flavour, bits};
use crate::{Graphs, leaf_arrays};

/// Limits on what is run and compared.
#[derive(Debug, Clone, Copy)]
pub struct TileEffort {
    /// The seed of the inputs, of what is outside of arrays, and of the choice of blocks.
    pub seed: u64,
    /// The kind of floating-point inputs.
    pub flavour: Flavour,
    /// The number of elements that blocks compute before the next one is not started. The first and the last block are always
    /// run.
    pub work: u64,
    /// The number of elements compared per output.
    pub elements: usize,
}

/// The result of a check.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TileOutcome {
    /// The number of blocks that were run.
    pub blocks: u64,
    /// Whether these are all blocks of the launch.
    pub is_whole: bool,
    /// The number of compared elements.
    pub compared: u64,
    /// The number of elements that the reference leaves open.
    pub open: u64,
    /// One line per wrong element.
    pub wrong: Vec<String>,
}

/// The most elements that one block may compute.
const MAX_WORK: u64 = 1 << 33;

/// Runs blocks of a tile program and compares what they write with the fusion. `hlo` is a module whose entry's root is the
/// fusion.
///
/// # Errors
///
/// If the text is no program, an element is not written, two blocks write one element with different values, or the
/// interpreter has no values.
pub fn check_tiles(hlo: &str, program: &str, effort: TileEffort) -> Result<TileOutcome, Reason> {
    let graphs = Graphs::new(hlo);
    let entry = graphs.entry().ok_or("no fusion in the text")?;
    let root = &entry.ops[entry.root as usize];
    let program = Program::read(program).map_err(|why| why.to_string())?;
    let operands = root.operand_shapes.iter().map(|shape| shape.as_array().cloned());
    let mut arrays: Vec<ArrayShape> = operands.collect::<Option<_>>().ok_or("an operand that is no array")?;
    let numbers = entry.operands[entry.root as usize].iter().map(|&id| entry.ops[id as usize].parameter);
    let numbers: Vec<u32> = numbers.collect::<Option<_>>().ok_or("an operand that is no parameter")?;
    let inputs = arrays.len();
    arrays.extend(leaf_arrays(&root.shape));
    check_arguments(&program, &arrays)?;
    let outputs = arrays.len() - inputs;
    let mut launch = Launch {
        effort,
        program: &program,
        arrays: &arrays,
        numbers: &numbers,
        written: vec![HashMap::new(); outputs],
        poison: Rng::new(effort.seed),
    };
    let mut outcome = TileOutcome::default();
    launch.run(&mut outcome)?;
    let source = |number: u32, _: usize, positions: &[i64]| -> Result<Column, Reason> {
        let at = numbers.iter().position(|&known| known == number).ok_or("no such parameter")?;
        let element = arrays[at].element;
        let kind = Kind::of(element).ok_or("a type without values")?;
        Ok(Column::from_bits(
            kind,
            positions.iter().map(|&place| bits(element, effort.seed, number, place as u64, effort.flavour)),
        ))
    };
    let callees = |name: &str| graphs.get(name);
    let mut evaluator = Evaluator::new(entry.clone(), &callees, &source);
    for (leaf, array) in arrays[inputs..].iter().enumerate() {
        let written = &launch.written[leaf];
        let count = array.elements().unwrap_or(0);
        if outcome.is_whole && written.len() as i64 != count {
            return Err(format!("{} of {count} elements of an output were written", written.len()).into());
        }
        let positions = sample(written.keys().copied().collect(), effort.elements);
        let kind = Kind::of(array.element).ok_or("a type without values")?;
        let expected =
            evaluator.elements(entry.root, leaf, &positions).map_err(|why| format!("reference: {why}"))?;
        let got = Column::from_bits(kind, positions.iter().map(|position| written[position]));
        for (i, position) in positions.iter().enumerate() {
            outcome.compared += 1;
            outcome.open += u64::from(expected.is_open(i));
            if let Some((want, got)) = expected.differs(i, &got) {
                let error = expected.error_at(i);
                outcome.wrong.push(format!(
                    "output {leaf}, element {position}: {want:e} expected (error {error:e}), {got:e} written"
                ));
            }
        }
    }
    Ok(outcome)
}

/// Fails unless the arguments of a program are the operands and results of its fusion.
fn check_arguments(program: &Program, arrays: &[ArrayShape]) -> Result<(), Reason> {
    let fits = program.arguments.len() == arrays.len()
        && program.arguments.iter().zip(arrays).all(|(argument, array)| argument.dims == array.dims);
    if fits { Ok(()) } else { Err("the arguments are not the operands and results of the fusion".into()) }
}

/// Some of the positions, in order: the first, the last, and others at equal distances.
fn sample(mut positions: Vec<i64>, count: usize) -> Vec<i64> {
    positions.sort_unstable();
    let last = positions.len().saturating_sub(1);
    match positions.len() <= count.max(2) {
        true => positions,
        false => (0..count).map(|i| positions[i * last / (count - 1)]).collect(),
    }
}

/// The arrays of a launch.
struct Launch<'a> {
    effort: TileEffort,
    program: &'a Program,
    /// Operands, then results.
    arrays: &'a [ArrayShape],
    /// The parameter that each operand is.
    numbers: &'a [u32],
    /// Per result, the bits of each element that was written.
    written: Vec<HashMap<i64, u128>>,
    poison: Rng,
}

impl Launch<'_> {
    /// Runs the first block, the last one, and others in random order until the work is done.
    fn run(&mut self, outcome: &mut TileOutcome) -> Result<(), Reason> {
        let (first, last) = (*self.program.blocks.start(), *self.program.blocks.end());
        let count = last - first + 1;
        // Between the first and the last block, steps that have no factor in common with their number visit each once.
        let inner = (count - 2).max(1);
        let mut step = self.poison.range(1, inner);
        while gcd(step, inner) != 1 {
            step += 1;
        }
        let mut spent = 0;
        for turn in 0..count {
            let block = match turn {
                0 => first,
                1 => last,
                _ => first + 1 + (turn - 2) * step % inner,
            };
            if turn > 1 && spent >= self.effort.work {
                break;
            }
            let mut left = MAX_WORK;
            self.program.run(block, self, &mut left).map_err(|why| format!("block {block}: {why}"))?;
            spent += MAX_WORK - left;
            outcome.blocks += 1;
        }
        outcome.is_whole = outcome.blocks as i64 == count;
        Ok(())
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Memory for Launch<'_> {
    fn read(&mut self, argument: usize, positions: &[i64]) -> Result<Column, Reason> {
        let number = *self.numbers.get(argument).ok_or("a result is read")?;
        let element = self.arrays[argument].element;
        let kind = Kind::of(self.program.arguments[argument].element).ok_or("a type without values")?;
        let TileEffort { seed, flavour, .. } = self.effort;
        Ok(Column::from_bits(
            kind,
            positions.iter().map(|&place| bits(element, seed, number, place as u64, flavour)),
        ))
    }

    fn outside(&mut self, kind: Kind, count: usize) -> Column {
        match kind.is_float() {
            true => Column::real(kind, vec![f64::NAN; count]),
            false => Column::from_bits(kind, (0..count).map(|_| u128::from(self.poison.next_u64()))),
        }
    }

    fn write(&mut self, argument: usize, positions: &[i64], values: &Column) -> Result<(), Reason> {
        let result = argument.checked_sub(self.numbers.len()).ok_or("an operand is written")?;
        for (i, &position) in positions.iter().enumerate() {
            let new = values.bits(i);
            let old = self.written[result].insert(position, new);
            if old.is_some_and(|old| old != new) {
                return Err(
                    format!("element {position} of result {result} is written with two values").into()
                );
            }
        }
        Ok(())
    }
}
