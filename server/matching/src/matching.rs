//! The matching of two modules.

use rustc_hash::FxHashMap;

use crate::links::{After, Before, How, Link, Links};
use crate::numbering::{Detail, Numbers, Tuples, is_transparent, number};
use crate::program::Program;

/// Instructions found by value, then replaced ones, then instructions found by value from those; then what is left.
const ROUNDS: usize = 3;

/// More instructions of one value are not compared.
const MAX_CANDIDATES: usize = 64;

/// What the instructions of two modules are to each other.
///
/// Size: 12 bytes per instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// Per instruction of the second module.
    pub origins: Vec<Origin>,
    /// Per instruction of the first module.
    pub fates: Vec<Fate>,
    /// Per instruction of the second module.
    namesakes: Vec<Option<u32>>,
}

/// Where an instruction comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub relation: Relation,
    /// An instruction of the first module. New instructions have none.
    pub source: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Same name, same computation.
    Same,
    /// In another computation.
    Moved,
    /// The same value under another name.
    Renamed,
    /// A further copy of a value whose instruction lives on.
    Cloned,
    /// One of several instructions that an instruction was expanded to.
    Split,
    /// Took the place of an instruction that is gone.
    Replaced,
    New,
}

/// What became of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Is the same, moved or renamed.
    Kept(u32),
    /// An instruction of the same value took its uses: common subexpressions were eliminated.
    Merged(u32),
    /// The instruction that took its uses.
    Replaced(u32),
    Gone,
}

impl Matching {
    /// The instruction of the first module that has the name and the opcode of an instruction of the second, whether a pass
    /// replaced it in between or not. If the modules differ in names alone, the counterpart.
    pub fn namesake(&self, instruction: u32) -> Option<u32> {
        self.namesakes[instruction as usize]
    }
}

pub fn match_programs(before: &Program<'_>, after: &Program<'_>) -> Matching {
    let mut links = Links::new(before, after);
    let mut values = Vec::new();
    if !links.by_place() {
        links.by_name();
        for round in 0..ROUNDS {
            if round > 0 && links.links.iter().all(Option::is_some) {
                break;
            }
            links.by_caller();
            let detail = if round == 0 { Detail::Exact } else { Detail::Semantic };
            values = links.by_value(detail);
            if round == 0 {
                links.by_derived_name();
            }
            links.by_root();
            if !links.by_uses() && round > 0 {
                break;
            }
        }
        links.by_nearness();
        if links.is_isomorphism() {
            links.namesakes = links.links.iter().map(|link| Some(link.as_ref()?.source)).collect();
        }
    }
    links.classified(&values)
}

impl Links<'_, '_, '_> {
    /// Links instructions of equal value; returns the numbers of the first module.
    fn by_value(&mut self, detail: Detail) -> Vec<u64> {
        let mut tuples = Tuples::default();
        let theirs = number(self.before, detail, &Before, &mut tuples);
        let known = After { links: self, values: &theirs.values };
        let ours = number(self.after, detail, &known, &mut tuples);
        let by_key = Chains::new(&theirs.keys);
        let by_value = Chains::new(&theirs.values);
        for id in self.unlinked() {
            cancel::tick();
            let mut candidates = self.candidates(&by_key, ours.keys[id as usize], id);
            if candidates.is_empty() && !is_transparent(self.after.instruction(id).opcode) {
                candidates = self.candidates(&by_value, ours.values[id as usize], id);
            }
            if let Some(source) = self.best(&candidates, id) {
                self.link(id, source, How::Value);
            }
        }
        let Numbers { values, .. } = theirs;
        values
    }

    fn candidates(&self, chains: &Chains, number: u64, id: u32) -> Vec<u32> {
        let instruction = self.after.instruction(id);
        let same = chains.of(number).filter(|&candidate| self.before.has_opcode_of(candidate, instruction));
        same.take(MAX_CANDIDATES).collect()
    }

    /// Whether the second module is the first with other names, in another order, and perhaps without computations that
    /// nothing calls.
    fn is_isomorphism(&self) -> bool {
        let mut is_taken = vec![false; self.before.instructions.len()];
        (0..self.links.len() as u32).all(|id| {
            cancel::tick();
            let Some(source) = self.source(id) else { return false };
            let is_first = !std::mem::replace(&mut is_taken[source as usize], true);
            let (one, other) = (self.before.instruction(source), self.after.instruction(id));
            let (theirs, ours) = (self.before.operands(source), self.after.operands(id));
            is_first
                && one.opcode_text == other.opcode_text
                && one.shape == other.shape
                && one.attributes == other.attributes
                && one.number == other.number
                && one.is_root == other.is_root
                && theirs.len() == ours.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| {
                    self.source(ours.instruction) == Some(theirs.instruction)
                        && self.after.path(ours) == self.before.path(theirs)
                })
        })
    }

    fn classified(&self, values: &[u64]) -> Matching {
        let mut fates: Vec<Fate> = vec![Fate::Gone; self.before.instructions.len()];
        // The strongest link keeps the instruction; further ones are clones and parts.
        let strong = |link: &Link| matches!(link.how, How::Name | How::Place);
        let equal = |link: &Link| matches!(link.how, How::Value | How::DerivedName | How::Clone);
        let any = |_: &Link| true;
        let passes: [&dyn Fn(&Link) -> bool; 3] = [&strong, &equal, &any];
        for (pass, is_meant) in passes.into_iter().enumerate() {
            for (id, link) in self.links.iter().enumerate() {
                if let Some(link) = link.filter(|link| is_meant(link))
                    && fates[link.source as usize] == Fate::Gone
                {
                    let keep = if pass < 2 { Fate::Kept } else { Fate::Replaced };
                    fates[link.source as usize] = keep(id as u32);
                }
            }
        }
        self.merge(&mut fates, values);
        let origins = (0..self.links.len() as u32).map(|id| self.origin(id, &fates)).collect();
        Matching { origins, fates, namesakes: self.namesakes.clone() }
    }

    /// Finds what took the uses of instructions that are gone.
    fn merge(&self, fates: &mut [Fate], values: &[u64]) {
        let mut kept: FxHashMap<u64, u32> = FxHashMap::default();
        for (id, &value) in values.iter().enumerate() {
            if let (Fate::Kept(now), true) = (fates[id], value != 0) {
                kept.entry(value).or_insert(now);
            }
        }
        for id in 0..fates.len() as u32 {
            cancel::tick();
            if fates[id as usize] != Fate::Gone {
                continue;
            }
            let value = values.get(id as usize).copied().unwrap_or_default();
            let merged = kept.get(&value).copied().filter(|&now| {
                self.after.instruction(now).opcode_text == self.before.instruction(id).opcode_text
            });
            fates[id as usize] = match (merged, self.replacement(id, fates)) {
                (Some(now), _) => Fate::Merged(now),
                (None, Some(now)) => Fate::Replaced(now),
                (None, None) => Fate::Gone,
            };
        }
    }

    /// What a user of `id` that is kept uses now in its place.
    fn replacement(&self, id: u32, fates: &[Fate]) -> Option<u32> {
        self.before.users(id).iter().take(MAX_CANDIDATES).find_map(|used| {
            let Fate::Kept(now) = fates[used.user as usize] else { return None };
            let is_alike = self.before.has_opcode_of(used.user, self.after.instruction(now))
                && self.before.operands(used.user).len() == self.after.operands(now).len();
            let operand = self.after.operands(now).get(used.operand as usize)?;
            is_alike.then_some(operand.instruction)
        })
    }

    fn origin(&self, id: u32, fates: &[Fate]) -> Origin {
        let Some(Link { source, how }) = self.links[id as usize] else {
            return Origin { relation: Relation::New, source: None };
        };
        let (one, other) = (self.before.instruction(source), self.after.instruction(id));
        let is_at_home = self.computations[other.computation as usize] == Some(one.computation);
        let relation = match fates[source as usize] {
            Fate::Kept(now) if now == id => match () {
                () if !is_at_home => Relation::Moved,
                () if one.name == other.name => Relation::Same,
                () => Relation::Renamed,
            },
            Fate::Replaced(now) if now == id => Relation::Replaced,
            _ if matches!(how, How::Value | How::DerivedName | How::Clone) => Relation::Cloned,
            _ => Relation::Split,
        };
        Origin { relation, source: Some(source) }
    }
}

/// Indices by number, in order; index i is in the chain of its number. 0 is no number.
pub(crate) struct Chains {
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
}

const END: u32 = u32::MAX;

impl Chains {
    pub(crate) fn new(numbers: &[u64]) -> Chains {
        let mut chains = Chains { first: FxHashMap::default(), next: vec![END; numbers.len()] };
        for (at, &number) in numbers.iter().enumerate().rev().filter(|(_, number)| **number != 0) {
            let behind = chains.first.insert(number, at as u32);
            chains.next[at] = behind.unwrap_or(END);
        }
        chains
    }

    fn of(&self, number: u64) -> impl Iterator<Item = u32> {
        let is_index = |at: &u32| *at != END;
        let first = self.first.get(&number).copied().filter(is_index);
        std::iter::successors(first, move |&at| Some(self.next[at as usize]).filter(is_index))
    }

    /// The first index of a number, which leaves its chain.
    pub(crate) fn take(&mut self, number: u64) -> Option<u32> {
        let first = self.first.get_mut(&number).filter(|first| **first != END)?;
        Some(std::mem::replace(first, self.next[*first as usize]))
    }
}
