//! Value numbers: equal numbers mean equal values. Calls and fusions are transparent, so that an instruction has the same number
//! before and after it is inlined, outlined or fused.
//!
//! A number is a hash of the opcode, the shape, the attributes, the callees and the numbers of the operands. In the second of two
//! modules, instructions that are already matched take the number of their counterpart, so that a change does not change the
//! numbers of what depends on it.

use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

use crate::hash::{Hash, Kind};
use crate::program::{Computation, Program};

/// Deeper calls are opaque.
const MAX_DEPTH: u32 = 100;

/// A computation with at most this many callers is transparent to each of them.
const MAX_CALLERS: u32 = 3;

/// How much of an instruction enters its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Layouts and `backend_config` too.
    Exact,
    Semantic,
}

/// The numbers of one module.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Of the value that an instruction yields; 0 for instructions that no number was computed for.
    pub(crate) values: Vec<u64>,
    /// Under which an instruction is found; 0 for instructions that stand for a value of another one.
    pub(crate) keys: Vec<u64>,
}

/// What numbers of two modules share: the elements of tuples, by the number of the tuple.
#[derive(Debug, Default)]
pub(crate) struct Tuples {
    ranges: FxHashMap<u64, (u32, u32)>,
    elements: Vec<u64>,
}

impl Tuples {
    fn add(&mut self, elements: &[u64]) -> u64 {
        let tuple = Hash::of(Kind::Tuple).words(elements.iter().copied()).end();
        let (pool, start) = (&mut self.elements, elements.len() as u32);
        self.ranges.entry(tuple).or_insert_with(|| {
            pool.extend(elements);
            (pool.len() as u32 - start, start)
        });
        tuple
    }

    fn element(&self, tuple: u64, index: u32) -> u64 {
        match self.ranges.get(&tuple) {
            Some(&(start, len)) if index < len => self.elements[(start + index) as usize],
            _ => Hash::of(Kind::Element).word(tuple).word(index.into()).end(),
        }
    }
}

/// What is known about a module beyond its text.
pub(crate) trait Known {
    /// The number of an instruction that has a counterpart.
    fn value(&self, instruction: u32) -> Option<u64>;

    /// A number that a computation shares with its counterpart and with no other one.
    fn computation(&self, computation: u32) -> u64;

    /// A number that an instruction shares with none, in neither module.
    fn own(&self, instruction: u32) -> u64;
}

pub(crate) fn number(
    program: &Program<'_>,
    detail: Detail,
    known: &dyn Known,
    tuples: &mut Tuples,
) -> Numbers {
    let count = program.instructions.len();
    let mut numbering = Numbering {
        program,
        detail,
        known,
        tuples,
        numbers: Numbers { values: vec![0; count], keys: vec![0; count] },
        is_done: vec![false; program.computations.len()],
        structures: Structures { program, of: vec![None; program.computations.len()] },
        budget: 4 * count + 10_000,
    };
    let entry = Parameters::Of(Hash::of(Kind::Called).end());
    numbering.computation(program.entry, entry, 0);
    for computation in 0..program.computations.len() as u32 {
        if !numbering.is_done[computation as usize] {
            let structure = numbering.structures.structure(computation, 0);
            let own = Hash::of(Kind::Called).word(known.computation(computation)).word(structure).end();
            numbering.computation(computation, Parameters::Of(own), 0);
        }
    }
    numbering.numbers
}

/// The numbers of a computation's parameters.
#[derive(Clone, Copy)]
enum Parameters<'a> {
    Bound(&'a [u64]),
    /// Parameter i is number i of this.
    Of(u64),
}

impl Parameters<'_> {
    fn get(self, number: u32) -> (u64, bool) {
        match self {
            Parameters::Bound(values) if (number as usize) < values.len() => (values[number as usize], true),
            Parameters::Bound(_) => (Hash::of(Kind::Parameter).word(number.into()).end(), false),
            Parameters::Of(base) => (Hash::of(Kind::Parameter).word(base).word(number.into()).end(), false),
        }
    }
}

struct Numbering<'a, 't> {
    program: &'a Program<'t>,
    detail: Detail,
    known: &'a dyn Known,
    tuples: &'a mut Tuples,
    numbers: Numbers,
    is_done: Vec<bool>,
    structures: Structures<'a, 't>,
    /// Instructions that may still be numbered: several callers of one computation, each with several callers, must not
    /// multiply.
    budget: usize,
}

impl Numbering<'_, '_> {
    /// Numbers a computation; returns the number of its root.
    fn computation(&mut self, computation: u32, parameters: Parameters<'_>, depth: u32) -> u64 {
        recursion::grow(|| self.level(computation, parameters, depth))
    }

    fn level(&mut self, computation: u32, parameters: Parameters<'_>, depth: u32) -> u64 {
        let program = self.program;
        let range = program.computation(computation).instructions.clone();
        let is_first = !std::mem::replace(&mut self.is_done[computation as usize], true);
        self.budget = self.budget.saturating_sub(range.len());
        let mut values = vec![0u64; range.len()];
        let mut operands: Vec<u64> = Vec::new();
        for id in range.clone() {
            cancel::tick();
            operands.clear();
            for operand in program.operands(id) {
                let used = operand.instruction.wrapping_sub(range.start) as usize;
                let value = values.get(used).copied().unwrap_or_default();
                let path = program.path(operand).iter();
                operands.push(path.fold(value, |value, &index| self.tuples.element(value, index)));
            }
            let (value, key) = self.instruction(id, &operands, parameters, depth);
            values[(id - range.start) as usize] = value;
            if is_first {
                self.numbers.values[id as usize] = value;
                self.numbers.keys[id as usize] = key;
            }
        }
        let root = program.computation(computation).root;
        values[(root - range.start) as usize]
    }

    /// The number of the value, and the key of the instruction.
    fn instruction(
        &mut self,
        id: u32,
        operands: &[u64],
        parameters: Parameters<'_>,
        depth: u32,
    ) -> (u64, u64) {
        let instruction = self.program.instruction(id);
        let own = |kind: Kind, value: u64| Hash::of(kind).text(instruction.opcode_text).word(value).end();
        match instruction.opcode {
            Some(Opcode::Parameter) => {
                let (value, is_bound) = parameters.get(instruction.number.unwrap_or(u32::MAX));
                return (value, if is_bound { 0 } else { value });
            }
            Some(Opcode::GetTupleElement) => {
                let tuple = operands.first().copied().unwrap_or_default();
                let value = self.tuples.element(tuple, instruction.number.unwrap_or(u32::MAX));
                return (value, own(Kind::TupleAccess, value));
            }
            Some(Opcode::Tuple) => {
                let value = self.tuples.add(operands);
                return (value, value);
            }
            _ => (),
        }
        let callees = self.program.callees(id);
        let counterpart = self.known.value(id);
        if is_transparent(instruction.opcode)
            && let Some(&callee) = callees.first()
        {
            let value = self.called(callee, operands, depth);
            return (counterpart.unwrap_or(value), own(Kind::Called, value));
        }
        let key = self.key(id, operands);
        let value = counterpart.unwrap_or(key);
        match instruction.opcode {
            Some(Opcode::While) => {
                let state = Parameters::Of(Hash::of(Kind::Loop).word(value).end());
                self.once(callees, |_| state, depth);
            }
            Some(Opcode::Conditional) => {
                let branch = |at: usize| Parameters::Bound(operands.get(at + 1..at + 2).unwrap_or_default());
                self.once(callees, branch, depth);
            }
            _ => (),
        }
        (value, key)
    }

    /// The number of a call's result.
    fn called(&mut self, callee: u32, operands: &[u64], depth: u32) -> u64 {
        let is_shared = self.is_done[callee as usize];
        let size = self.program.computation(callee).instructions.len();
        let has_few_callers = self.program.computation(callee).callers <= MAX_CALLERS;
        if depth < MAX_DEPTH && (!is_shared || has_few_callers && size <= self.budget) {
            return self.computation(callee, Parameters::Bound(operands), depth + 1);
        }
        let structure = self.structures.structure(callee, 0);
        Hash::of(Kind::Opaque).word(structure).words(operands.iter().copied()).end()
    }

    /// Numbers the callees of control flow that are not numbered yet.
    fn once<'p>(&mut self, callees: &[u32], parameters: impl Fn(usize) -> Parameters<'p>, depth: u32) {
        for (at, &callee) in callees.iter().enumerate() {
            if !self.is_done[callee as usize] && depth < MAX_DEPTH {
                self.computation(callee, parameters(at), depth + 1);
            }
        }
    }

    fn key(&mut self, id: u32, operands: &[u64]) -> u64 {
        let instruction = self.program.instruction(id);
        let hash = Hash::of(Kind::Instruction).text(instruction.opcode_text);
        let hash = match self.detail {
            Detail::Exact => hash.word(instruction.shape).word(instruction.attributes),
            Detail::Semantic => hash.word(instruction.dimensions).word(instruction.semantics),
        };
        let structures = &mut self.structures;
        let callees = self.program.callees(id).iter().map(|&callee| structures.structure(callee, 0));
        let hash = hash.words(callees).words(operands.iter().copied());
        // What a loop computes depends on more than its operands.
        match instruction.opcode {
            Some(Opcode::While | Opcode::Conditional) => hash.word(self.known.own(id)).end(),
            _ => hash.end(),
        }
    }
}

/// Instructions whose value is that of the root of the computation that they call.
pub(crate) fn is_transparent(opcode: Option<Opcode>) -> bool {
    matches!(opcode, Some(Opcode::Fusion | Opcode::Call | Opcode::AsyncStart))
}

/// Hashes of whole computations: equal for equal code, whatever the names.
pub(crate) struct Structures<'a, 't> {
    program: &'a Program<'t>,
    of: Vec<Option<u64>>,
}

impl Structures<'_, '_> {
    /// 0 for a computation that calls itself, or that is nested too deeply.
    fn structure(&mut self, computation: u32, depth: u32) -> u64 {
        if let Some(known) = self.of[computation as usize] {
            return known;
        }
        if depth > MAX_DEPTH {
            return 0;
        }
        self.of[computation as usize] = Some(0);
        let hash = recursion::grow(|| self.compute(computation, depth));
        self.of[computation as usize] = Some(hash);
        hash
    }

    fn compute(&mut self, computation: u32, depth: u32) -> u64 {
        let program = self.program;
        let Computation { instructions, root, .. } = program.computation(computation);
        let start = instructions.start;
        let mut hashes: Vec<u64> = Vec::with_capacity(instructions.len());
        for id in instructions.clone() {
            cancel::tick();
            let instruction = program.instruction(id);
            let hash = Hash::of(Kind::Structure)
                .text(instruction.opcode_text)
                .word(instruction.dimensions)
                .word(instruction.semantics)
                .word(instruction.number.map_or(0, |number| u64::from(number) + 1))
                .words(program.callees(id).iter().map(|&callee| self.structure(callee, depth + 1)));
            let operands = program.operands(id).iter().map(|operand| {
                let path = program.path(operand).iter().map(|&index| index.into());
                let used = operand.instruction.wrapping_sub(start) as usize;
                let used = hashes.get(used).copied().unwrap_or_default();
                Hash::of(Kind::Element).word(used).words(path).end()
            });
            let hash = hash.words(operands).end();
            hashes.push(hash);
        }
        hashes.get((root - start) as usize).copied().unwrap_or_default()
    }
}
