//! The pairing of two modules that come from two compiles, by structure.

use crate::alike::{Common, Scope};
use crate::boundaries::Boundaries;
use crate::contexts::Contexts;
use crate::links::{Before, is_parameter};
use crate::numbering::{Detail, Known, Tuples, number};
use crate::program::Program;

/// Which instruction of one module is which of another. Each has at most one counterpart; instructions without one are gone or new.
///
/// Size: 8 bytes per instruction of both modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// Per instruction of the first module: its counterpart in the second.
    pub after: Vec<Option<u32>>,
    /// Per instruction of the second module: its counterpart in the first.
    pub before: Vec<Option<u32>>,
    /// Per computation of the first module.
    pub computation_after: Vec<Option<u32>>,
    /// Per computation of the second module.
    pub computation_before: Vec<Option<u32>>,
    /// Per computation of the first module: a digest that is equal for equal code, in any order and under any names.
    pub digests_before: Vec<u64>,
    /// Per computation of the second module.
    pub digests_after: Vec<u64>,
    /// Per instruction of the second module: a number that is equal for instructions of equal value within a computation.
    pub values_after: Vec<u64>,
}

/// Pairs the instructions of two modules whose names mean nothing to each other.
///
/// From the entry down: two computations are paired where paired instructions call them, their instructions by what they are
/// computed from and by what uses them. What is left is then searched for in other computations, because fusions move
/// instructions. Names decide between equals alone.
pub fn pair_programs(before: &Program<'_>, after: &Program<'_>) -> Pairing {
    let mut pairs = Pairs {
        before: Side::new(before),
        after: Side::new(after),
        computations: [vec![None; before.computations.len()], vec![None; after.computations.len()]],
        queue: Vec::new(),
        scopes: Vec::new(),
        found: Vec::new(),
    };
    pairs.pair_computations(before.entry, after.entry);
    pairs.called();
    pairs.uncalled();
    pairs.across();
    pairs.in_places();
    let [computation_after, computation_before] = pairs.computations;
    Pairing {
        after: pairs.before.other,
        before: pairs.after.other,
        computation_after,
        computation_before,
        digests_before: pairs.before.contexts.digests,
        digests_after: pairs.after.contexts.digests,
        values_after: pairs.after.contexts.inputs,
    }
}

/// One of the two modules.
pub(crate) struct Side<'a, 't> {
    pub(crate) program: &'a Program<'t>,
    pub(crate) contexts: Contexts,
    /// Per instruction: its counterpart in the other module.
    pub(crate) other: Vec<Option<u32>>,
    /// Per instruction: its value number, while instructions are searched for in other computations.
    keys: Vec<u64>,
}

impl<'a, 't> Side<'a, 't> {
    fn new(program: &'a Program<'t>) -> Side<'a, 't> {
        let other = vec![None; program.instructions.len()];
        Side { program, contexts: Contexts::of(program), other, keys: Vec::new() }
    }

    pub(crate) fn is_open(&self, id: u32) -> bool {
        self.other[id as usize].is_none()
    }

    /// The instructions that have no counterpart yet.
    pub(crate) fn open(&self, range: &std::ops::Range<u32>) -> Vec<u32> {
        range.clone().filter(|&id| self.is_open(id)).collect()
    }

    pub(crate) fn name(&self, id: u32) -> u64 {
        self.program.instruction(id).names.full
    }
}

pub(crate) struct Pairs<'a, 't, 's> {
    pub(crate) before: Side<'a, 't>,
    pub(crate) after: Side<'a, 's>,
    /// Per computation of each module: its counterpart.
    computations: [Vec<Option<u32>>; 2],
    /// Pairs of computations whose instructions are not paired yet.
    queue: Vec<(u32, u32)>,
    /// Of the pairs of computations whose instructions are.
    scopes: Vec<Scope>,
    /// All pairs, in the order of their discovery.
    pub(crate) found: Vec<(u32, u32)>,
}

impl Pairs<'_, '_, '_> {
    /// Pairs two instructions, and the computations that they call.
    pub(crate) fn pair(&mut self, source: u32, id: u32) {
        if !self.before.is_open(source) || !self.after.is_open(id) {
            return;
        }
        self.before.other[source as usize] = Some(id);
        self.after.other[id as usize] = Some(source);
        self.found.push((source, id));
        let (before, after) = (self.before.program, self.after.program);
        let (theirs, ours) = (before.callees(source), after.callees(id));
        if theirs.len() == ours.len() && before.has_opcode_of(source, after.instruction(id)) {
            for (&theirs, &ours) in theirs.iter().zip(ours) {
                self.pair_computations(theirs, ours);
            }
        }
    }

    fn pair_computations(&mut self, before: u32, after: u32) {
        let [theirs, ours] = &mut self.computations;
        if theirs[before as usize].is_none() && ours[after as usize].is_none() {
            theirs[before as usize] = Some(after);
            ours[after as usize] = Some(before);
            self.queue.push((before, after));
        }
    }

    fn scope(&self, before: u32, after: u32) -> Scope {
        Scope {
            before: self.before.program.computation(before).instructions.clone(),
            after: self.after.program.computation(after).instructions.clone(),
        }
    }

    fn whole(&self) -> Scope {
        Scope { before: 0..self.before.other.len() as u32, after: 0..self.after.other.len() as u32 }
    }

    /// Pairs the instructions of paired computations, and of what they call.
    fn called(&mut self) {
        while let Some((before, after)) = self.queue.pop() {
            let scope = self.scope(before, after);
            if before == self.before.program.entry {
                self.parameters(&scope);
            }
            self.by_context(&scope);
            self.scopes.push(scope);
        }
    }

    /// The number of a parameter of the entry is its identity.
    fn parameters(&mut self, scope: &Scope) {
        self.in_order(scope, |side, id| {
            let instruction = side.program.instruction(id);
            let number = instruction.number.filter(|_| is_parameter(instruction));
            number.map_or(0, |number| u64::from(number) + 1)
        });
    }

    /// Pairs computations that nothing calls: of equal code, then of equal name.
    fn uncalled(&mut self) {
        let keys: [fn(&Side<'_, '_>, u32) -> u64; 2] = [
            |side, at| side.contexts.digests[at as usize],
            |side, at| crate::hash::text(side.program.computation(at).name),
        ];
        for key in keys {
            let uncalled = |side: &Side<'_, '_>, paired: &[Option<u32>]| -> Vec<u32> {
                let is_open =
                    |at: &u32| paired[*at as usize].is_none() && side.program.computation(*at).callers == 0;
                (0..paired.len() as u32).filter(is_open).collect()
            };
            let theirs = uncalled(&self.before, &self.computations[0]);
            let keys: Vec<u64> = theirs.iter().map(|&at| key(&self.before, at)).collect();
            let mut chains = crate::matching::Chains::new(&keys);
            for ours in uncalled(&self.after, &self.computations[1]) {
                if let Some(at) = chains.take(key(&self.after, ours)) {
                    self.pair_computations(theirs[at as usize], ours);
                }
            }
            self.called();
        }
    }

    /// Pairs instructions of equal value in any computations. Fusions and calls are transparent.
    fn across(&mut self) {
        let whole = self.whole();
        if self.before.open(&whole.before).is_empty() || self.after.open(&whole.after).is_empty() {
            return;
        }
        let mut tuples = Tuples::default();
        let theirs = number(self.before.program, Detail::Semantic, &Before, &mut tuples);
        let known = Counterparts { pairs: self, values: &theirs.values };
        let ours = number(self.after.program, Detail::Semantic, &known, &mut tuples);
        (self.before.keys, self.after.keys) = (theirs.keys, ours.keys);
        // Equal constants are everywhere. They follow their users.
        clear_constants(self.before.program, &mut self.before.keys);
        clear_constants(self.after.program, &mut self.after.keys);
        self.preferring_names(&whole, |side, id| match side.keys[id as usize] {
            0 => 0,
            key => key ^ Common::Opcode.key(side, id),
        });
        self.through_fusions();
        self.called();
    }

    /// Pairs operands of pairs that fusions pass on: what was computed in one fusion may be computed in another.
    fn through_fusions(&mut self) {
        let (before, after) = (self.before.program, self.after.program);
        let boundaries = (Boundaries::of(before), Boundaries::of(after));
        let mut open = self.found.clone();
        while let Some((source, id)) = open.pop() {
            let (theirs, ours) = (before.operands(source), after.operands(id));
            if theirs.len() != ours.len() {
                continue;
            }
            for (theirs, ours) in theirs.iter().zip(ours) {
                cancel::tick();
                if !self.before.is_open(theirs.instruction) && !self.after.is_open(ours.instruction) {
                    continue;
                }
                let (source, id) = (boundaries.0.source(before, theirs), boundaries.1.source(after, ours));
                let pair = (source.instruction, id.instruction);
                if source.path == id.path
                    && self.before.is_open(pair.0)
                    && self.after.is_open(pair.1)
                    && Common::Code.key(&self.before, pair.0) == Common::Code.key(&self.after, pair.1)
                {
                    self.pair(pair.0, pair.1);
                    open.push(pair);
                }
            }
        }
    }

    /// Pairs what took the place of something else.
    fn in_places(&mut self) {
        let mut done = 0;
        while done < self.scopes.len() {
            let scope = self.scopes[done].clone();
            self.by_place_and_name(&scope);
            done += 1;
            self.called();
        }
    }
}

/// Removes the keys of instructions that depend on no parameter, and of those that nothing runs.
fn clear_constants(program: &Program<'_>, keys: &mut [u64]) {
    let mut is_variable = vec![false; keys.len()];
    let is_uncalled = |id: u32| {
        let computation = program.instruction(id).computation;
        computation != program.entry && program.computation(computation).callers == 0
    };
    for id in 0..keys.len() as u32 {
        let mut operands = program.operands(id).iter();
        is_variable[id as usize] = is_parameter(program.instruction(id))
            || operands.any(|operand| is_variable[operand.instruction as usize]);
        if !is_variable[id as usize] || is_uncalled(id) {
            keys[id as usize] = 0;
        }
    }
}

/// What the numbering of the second module knows: the numbers of the counterparts.
struct Counterparts<'p, 'a, 't, 's> {
    pairs: &'p Pairs<'a, 't, 's>,
    /// Of the first module.
    values: &'p [u64],
}

/// Distinguishes the second module where nothing is shared.
const UNPAIRED: u64 = 1 << 40;

impl Known for Counterparts<'_, '_, '_, '_> {
    fn value(&self, instruction: u32) -> Option<u64> {
        Some(self.values[self.pairs.after.other[instruction as usize]? as usize])
    }

    fn computation(&self, computation: u32) -> u64 {
        self.pairs.computations[1][computation as usize].map_or(UNPAIRED + u64::from(computation), u64::from)
    }

    fn own(&self, instruction: u32) -> u64 {
        UNPAIRED + u64::from(instruction)
    }
}
