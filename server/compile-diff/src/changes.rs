//! The changes from one module to another, each once.

use matching::{Pairing, pair_programs};
use rustc_hash::FxHashMap;

use crate::differences::{Comparer, Difference};
use crate::missing::Missing;
use crate::module::Module;
use crate::words::{apart, squeezed};

/// A change. Instructions and computations are indices of their programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An instruction of the second module that the first has not, with what only it calls.
    New {
        instruction: u32,
        members: u32,
    },
    /// An instruction of the first module that the second has not.
    Gone {
        instruction: u32,
        members: u32,
    },
    Changed {
        before: u32,
        after: u32,
        differences: Vec<Difference>,
    },
    /// Instructions that another computation contains, most often another fusion: pairs of them.
    Moved {
        from: u32,
        to: u32,
        instructions: Vec<(u32, u32)>,
    },
    /// Two paired computations return other values.
    Root {
        before: u32,
        after: u32,
    },
    /// A computation of the second module that nothing calls.
    NewComputation(u32),
    /// A computation of the first module that nothing calls.
    GoneComputation(u32),
    /// An attribute of the module.
    Header {
        key: String,
        before: String,
        after: String,
    },
}

/// The changes from one module to another, and what is no change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub changes: Vec<Change>,
    pub renamed_computations: usize,
    pub renamed_instructions: usize,
    /// Computations whose instructions are in another order.
    pub reordered_computations: usize,
}

/// Compares two modules.
pub fn changes(before: &Module<'_>, after: &Module<'_>) -> (Changes, Pairing) {
    let pairing = pair_programs(&before.program, &after.program);
    let comparer = Comparer { before, after, pairing: &pairing };
    let mut found = Changes::default();
    found.count_names(&comparer);
    header(before, after, &mut found.changes);
    let [theirs, ours] = [&pairing.digests_before, &pairing.digests_after];
    let gone = Missing::of(before, &pairing.after, &pairing.computation_after, [theirs, ours]);
    found.changes.extend(gone.into_iter().map(|missing| match missing {
        Missing::Instruction { instruction, members } => Change::Gone { instruction, members },
        Missing::Computation(computation) => Change::GoneComputation(computation),
    }));
    let new = Missing::of(after, &pairing.before, &pairing.computation_before, [ours, theirs]);
    found.changes.extend(new.into_iter().map(|missing| match missing {
        Missing::Instruction { instruction, members } => Change::New { instruction, members },
        Missing::Computation(computation) => Change::NewComputation(computation),
    }));
    found.pairs(&comparer);
    (found, pairing)
}

impl Changes {
    fn count_names(&mut self, comparer: &Comparer<'_, '_, '_>) {
        let (before, after) = (&comparer.before.program, &comparer.after.program);
        for (id, source) in comparer.pairing.before.iter().enumerate() {
            let is_renamed =
                |&source: &u32| before.instruction(source).name != after.instruction(id as u32).name;
            self.renamed_instructions += usize::from(source.as_ref().is_some_and(is_renamed));
        }
        for (at, source) in comparer.pairing.computation_before.iter().enumerate() {
            let Some(source) = *source else { continue };
            let (one, other) = (before.computation(source), after.computation(at as u32));
            self.renamed_computations += usize::from(one.name != other.name);
            let own = other.instructions.clone().filter_map(|id| comparer.pairing.before[id as usize]);
            let own = own.filter(|source| one.instructions.contains(source));
            self.reordered_computations += usize::from(!own.is_sorted());
        }
    }

    fn pairs(&mut self, comparer: &Comparer<'_, '_, '_>) {
        let pairing = comparer.pairing;
        let mut moved: FxHashMap<(u32, u32), Vec<(u32, u32)>> = FxHashMap::default();
        for (id, source) in pairing.before.iter().enumerate() {
            cancel::tick();
            let (Some(source), id) = (*source, id as u32) else { continue };
            let differences = comparer.differences(source, id);
            if !differences.is_empty() {
                self.changes.push(Change::Changed { before: source, after: id, differences });
            }
            let from = comparer.before.program.instruction(source).computation;
            let to = comparer.after.program.instruction(id).computation;
            let is_plumbing = comparer.before.is_plumbing(source) || comparer.after.is_plumbing(id);
            if pairing.computation_after[from as usize] != Some(to) && !is_plumbing {
                moved.entry((from, to)).or_default().push((source, id));
            }
        }
        let mut moved: Vec<_> = moved.into_iter().collect();
        moved.sort_unstable_by_key(|((from, to), _)| (*to, *from));
        let moved =
            moved.into_iter().map(|((from, to), instructions)| Change::Moved { from, to, instructions });
        self.changes.extend(moved);
        for (after, before) in pairing.computation_before.iter().enumerate() {
            let Some(before) = *before else { continue };
            if comparer.has_other_root(before, after as u32) {
                self.changes.push(Change::Root { before, after: after as u32 });
            }
        }
    }
}

/// Attributes of the header that follow from others, or that are new in every compile.
const FOLLOWING: [&str; 2] = ["entry_computation_layout", "frontend_attributes"];

fn header(before: &Module<'_>, after: &Module<'_>, found: &mut Vec<Change>) {
    let attributes = |module: &Module<'_>| -> Vec<(String, String)> {
        let header = module.parse.header.iter().flat_map(|header| &header.attributes);
        let texts = header.map(|(key, value)| (module.of(*key).to_owned(), squeezed(module.of(*value))));
        texts.filter(|(key, _)| !FOLLOWING.contains(&key.as_str())).collect()
    };
    let (theirs, ours) = (attributes(before), attributes(after));
    let value = |all: &[(String, String)], key: &str| {
        all.iter().find(|(known, _)| known == key).map_or_else(String::new, |(_, value)| value.clone())
    };
    let more = ours.iter().filter(|(key, _)| !theirs.iter().any(|(known, _)| known == key));
    for (key, _) in theirs.iter().chain(more) {
        let (one, other) = (value(&theirs, key), value(&ours, key));
        if one != other {
            let (before, after) = apart(&one, &other);
            found.push(Change::Header { key: key.clone(), before, after });
        }
    }
}
