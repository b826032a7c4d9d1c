//! Pairs within two computations, or within what is left of two modules, by equal hashes and by the pairs around them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::hash::{Hash, Kind};
use crate::links::is_parameter;
use crate::matching::Chains;
use crate::pairing::{Pairs, Side};

/// How much two instructions have in common that neighbouring pairs lead to, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    /// Opcode, dimensions, attributes and callees.
    Code,
    Opcode,
    Dimensions,
}

impl Common {
    pub(crate) fn key(self, side: &Side<'_, '_>, id: u32) -> u64 {
        let instruction = side.program.instruction(id);
        match self {
            Common::Code => side.contexts.code[id as usize],
            Common::Opcode => crate::hash::text(instruction.opcode_text),
            // The parameters of fusions are pairs of parameters alone.
            Common::Dimensions => {
                let hash = Hash::of(Kind::Pair).word(instruction.dimensions);
                hash.word(is_parameter(instruction).into()).end()
            }
        }
    }
}

/// The instructions that are to be paired: all of two computations, or all of two modules.
#[derive(Clone)]
pub(crate) struct Scope {
    pub(crate) before: std::ops::Range<u32>,
    pub(crate) after: std::ops::Range<u32>,
}

fn word(words: impl IntoIterator<Item = u64>) -> u64 {
    Hash::of(Kind::Pair).words(words).end()
}

impl Pairs<'_, '_, '_> {
    /// Pairs instructions whose inputs or uses agree, then what these lead to.
    pub(crate) fn by_context(&mut self, scope: &Scope) {
        let both = |side: &Side<'_, '_>, id: u32| {
            [side.contexts.inputs[id as usize], side.contexts.uses[id as usize]]
        };
        let exact = |side: &Side<'_, '_>, id: u32| {
            let [inputs, uses] = both(side, id);
            let instruction = side.program.instruction(id);
            [inputs, uses, instruction.shape, instruction.attributes]
        };
        self.in_order(scope, |side, id| word(exact(side, id).into_iter().chain([side.name(id)])));
        self.in_order(scope, |side, id| word(exact(side, id)));
        self.in_order(scope, |side, id| word(both(side, id)));
        self.in_order(scope, |side, id| word([side.contexts.inputs[id as usize], side.name(id)]));
        self.by_uses_and_name(scope);
        self.unique(scope, |side, id| side.contexts.inputs[id as usize]);
        let used = |side: &Side<'_, '_>, id: u32| {
            word([side.contexts.code[id as usize], side.contexts.uses[id as usize]])
        };
        self.unique(scope, used);
        self.spread(scope, Common::Code);
        self.preferring_names(scope, |side, id| side.contexts.inputs[id as usize]);
        self.preferring_names(scope, used);
        self.spread(scope, Common::Code);
        let opcode = |side: &Side<'_, '_>, id: u32| {
            word([Common::Opcode.key(side, id), side.contexts.uses[id as usize]])
        };
        self.unique(scope, opcode);
        self.spread(scope, Common::Opcode);
    }

    /// Pairs what takes the place of another instruction, and what only names and metadata lead to.
    pub(crate) fn by_place_and_name(&mut self, scope: &Scope) {
        self.spread(scope, Common::Dimensions);
        self.in_order(scope, |side, id| word([Common::Opcode.key(side, id), side.name(id)]));
        self.unique(scope, |side, id| {
            let instruction = side.program.instruction(id);
            match instruction.metadata {
                0 => 0,
                metadata => word([Common::Opcode.key(side, id), instruction.dimensions, metadata]),
            }
        });
        self.spread(scope, Common::Code);
        self.spread(scope, Common::Opcode);
    }

    /// Pairs instructions of equal keys: of equal names first, then of equal metadata, then in order.
    pub(crate) fn preferring_names(&mut self, scope: &Scope, key: impl Fn(&Side<'_, '_>, u32) -> u64) {
        let if_any = |key: u64, more: u64| if key == 0 { 0 } else { word([key, more]) };
        self.in_order(scope, |side, id| if_any(key(side, id), side.name(id)));
        self.in_order(scope, |side, id| if_any(key(side, id), side.program.instruction(id).metadata));
        self.in_order(scope, key);
    }

    /// Pairs instructions of equal keys in the order of the text. 0 is no key.
    pub(crate) fn in_order(&mut self, scope: &Scope, key: impl Fn(&Side<'_, '_>, u32) -> u64) {
        let candidates = self.before.open(&scope.before);
        if candidates.is_empty() {
            return;
        }
        let keys: Vec<u64> = candidates.iter().map(|&id| key(&self.before, id)).collect();
        let mut chains = Chains::new(&keys);
        for id in self.after.open(&scope.after) {
            cancel::tick();
            if let Some(at) = chains.take(key(&self.after, id)) {
                self.pair(candidates[at as usize], id);
            }
        }
    }

    /// Pairs instructions whose key no other open instruction of their module has. 0 is no key.
    fn unique(&mut self, scope: &Scope, key: impl Fn(&Side<'_, '_>, u32) -> u64) {
        let only = |side: &Side<'_, '_>, range: &std::ops::Range<u32>| {
            let mut found: FxHashMap<u64, Option<u32>> = FxHashMap::default();
            for id in side.open(range) {
                cancel::tick();
                found.entry(key(side, id)).and_modify(|only| *only = None).or_insert(Some(id));
            }
            found.remove(&0);
            found
        };
        let before = only(&self.before, &scope.before);
        if before.is_empty() {
            return;
        }
        let after = only(&self.after, &scope.after);
        let pairs = after.iter().filter_map(|(key, id)| Some(((*id)?, (*before.get(key)?)?)));
        let mut pairs: Vec<(u32, u32)> = pairs.collect();
        // The order of a hash map is no order.
        pairs.sort_unstable();
        for (id, source) in pairs {
            self.pair(source, id);
        }
    }

    /// Pairs namesakes of equal uses, unless the inputs of each have a counterpart of their own: then the name was given anew.
    fn by_uses_and_name(&mut self, scope: &Scope) {
        let inputs = |side: &Side<'_, '_>, id: u32| side.contexts.inputs[id as usize];
        let key = |side: &Side<'_, '_>, id: u32| {
            word([side.contexts.code[id as usize], side.contexts.uses[id as usize], side.name(id)])
        };
        let (theirs, ours) = (self.before.open(&scope.before), self.after.open(&scope.after));
        let mut sources: FxHashMap<u64, u32> = FxHashMap::default();
        let mut known: [FxHashSet<u64>; 2] = Default::default();
        for &id in &theirs {
            cancel::tick();
            sources.insert(key(&self.before, id), id);
            known[0].insert(inputs(&self.before, id));
        }
        known[1].extend(ours.iter().map(|&id| inputs(&self.after, id)));
        for id in ours {
            cancel::tick();
            if let Some(&source) = sources.get(&key(&self.after, id)) {
                let has_others = known[0].contains(&inputs(&self.after, id))
                    && known[1].contains(&inputs(&self.before, source));
                if !has_others {
                    self.pair(source, id);
                }
            }
        }
    }

    /// Pairs operands of pairs that are in the same place, and users that use them in the same way; then what these lead to.
    pub(crate) fn spread(&mut self, scope: &Scope, common: Common) {
        if self.before.open(&scope.before).is_empty() || self.after.open(&scope.after).is_empty() {
            return;
        }
        let pairs = scope.after.clone().filter_map(|id| Some((self.after.other[id as usize]?, id)));
        let mut open: Vec<(u32, u32)> = pairs.collect();
        while let Some((source, id)) = open.pop() {
            cancel::tick();
            let first = self.found.len();
            self.operands(source, id, common);
            self.users(source, id, common);
            open.extend_from_slice(&self.found[first..]);
        }
    }

    fn operands(&mut self, source: u32, id: u32, common: Common) {
        let (before, after) = (self.before.program, self.after.program);
        let (theirs, ours) = (before.operands(source), after.operands(id));
        if theirs.len() != ours.len() {
            return;
        }
        for (theirs, ours) in theirs.iter().zip(ours) {
            let (source, id) = (theirs.instruction, ours.instruction);
            if self.before.is_open(source)
                && self.after.is_open(id)
                && before.path(theirs) == after.path(ours)
                && common.key(&self.before, source) == common.key(&self.after, id)
            {
                self.pair(source, id);
            }
        }
    }

    fn users(&mut self, source: u32, id: u32, common: Common) {
        let only = |side: &Side<'_, '_>, id: u32| {
            let mut found: Vec<(u64, u32)> = Vec::new();
            for used in side.program.users(id) {
                if side.is_open(used.user) {
                    let operand = &side.program.operands(used.user)[used.operand as usize];
                    let path = side.program.path(operand).iter().map(|&index| index.into());
                    let place = [common.key(side, used.user), used.operand.into()];
                    found.push((word(place.into_iter().chain(path)), used.user));
                }
            }
            found
        };
        let theirs = only(&self.before, source);
        if theirs.is_empty() {
            return;
        }
        let ours = only(&self.after, id);
        let count = |users: &[(u64, u32)]| {
            let mut counts: FxHashMap<u64, Option<u32>> = FxHashMap::default();
            for &(key, user) in users {
                counts.entry(key).and_modify(|only| *only = None).or_insert(Some(user));
            }
            counts
        };
        let known = count(&theirs);
        let own = count(&ours);
        for (key, id) in ours {
            if own[&key].is_some()
                && let Some(&Some(source)) = known.get(&key)
                && self.before.is_open(source)
                && self.after.is_open(id)
            {
                self.pair(source, id);
            }
        }
    }
}
