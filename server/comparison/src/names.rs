//! Which name of the first module stands for what in the second.

use std::borrow::Cow;

use matching::{Fate, Matching, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// The second module in the names of the first.
pub(crate) struct Names<'t> {
    /// Per instruction: its name.
    pub(crate) instructions: Vec<Cow<'t, str>>,
    /// Per instruction: the instruction of the first module that has this name.
    pub(crate) counterparts: Vec<Option<u32>>,
    /// Per computation: its name.
    pub(crate) computations: Vec<Cow<'t, str>>,
    /// Per computation: the computation of the first module that has this name.
    pub(crate) homes: Vec<Option<u32>>,
}

impl<'t> Names<'t> {
    pub(crate) fn new(first: &Program<'t>, second: &Program<'t>, matching: &Matching) -> Names<'t> {
        let counterparts: Vec<Option<u32>> = (0..second.instructions.len() as u32)
            .map(|id| {
                let source = matching.origins[id as usize].source?;
                let is_its = matches!(matching.fates[source as usize], Fate::Kept(now) | Fate::Replaced(now) if now == id);
                is_its.then_some(source)
            })
            .collect();
        let homes = homes(first, second, &counterparts);
        let computations = unique(
            second.computations.iter().map(|computation| (0, computation.name)),
            homes.iter().map(|home| Some(first.computation((*home)?).name)),
        );
        let instructions = unique(
            second.instructions.iter().map(|instruction| (instruction.computation, instruction.name)),
            counterparts.iter().map(|source| Some(first.instruction((*source)?).name)),
        );
        Names { instructions, counterparts, computations, homes }
    }
}

/// Computations of equal names are the same; others if their roots are.
fn homes(first: &Program<'_>, second: &Program<'_>, counterparts: &[Option<u32>]) -> Vec<Option<u32>> {
    let by_name: FxHashMap<&str, u32> = first
        .computations
        .iter()
        .enumerate()
        .map(|(at, computation)| (computation.name, at as u32))
        .collect();
    let mut is_taken = vec![false; first.computations.len()];
    let mut homes: Vec<Option<u32>> = vec![None; second.computations.len()];
    homes[second.entry as usize] = Some(first.entry);
    is_taken[first.entry as usize] = true;
    for (home, computation) in homes.iter_mut().zip(&second.computations) {
        let named = by_name.get(computation.name).filter(|_| !computation.name.is_empty());
        if let (None, Some(&named)) = (*home, named.filter(|named| !is_taken[**named as usize])) {
            is_taken[named as usize] = true;
            *home = Some(named);
        }
    }
    for (home, computation) in homes.iter_mut().zip(&second.computations) {
        let source = counterparts.get(computation.root as usize).copied().flatten();
        let of_source = source.map(|source| first.instruction(source).computation);
        let is_root = |of: &u32| Some(first.computation(*of).root) == source && !is_taken[*of as usize];
        if let (None, Some(of)) = (*home, of_source.filter(is_root)) {
            is_taken[of as usize] = true;
            *home = Some(of);
        }
    }
    homes
}

/// The wished names; where there is no wish, the own name, with a suffix if something else has it. Names are unique in their
/// scope. Empty names stay empty.
fn unique<'t>(
    own: impl Iterator<Item = (u32, &'t str)> + Clone,
    wishes: impl Iterator<Item = Option<&'t str>> + Clone,
) -> Vec<Cow<'t, str>> {
    let mut taken: FxHashSet<(u32, Cow<'t, str>)> = FxHashSet::default();
    let mut names: Vec<Cow<'t, str>> = Vec::new();
    for ((scope, _), wish) in own.clone().zip(wishes) {
        // What two instructions of one scope wish for, one of them gets.
        let name = Cow::Borrowed(wish.unwrap_or_default());
        let is_free = !name.is_empty() && taken.insert((scope, name.clone()));
        names.push(if is_free { name } else { Cow::Borrowed("") });
    }
    let mut tries: FxHashMap<&str, u32> = FxHashMap::default();
    for (name, (scope, own)) in names.iter_mut().zip(own) {
        cancel::tick();
        if !name.is_empty() || own.is_empty() {
            continue;
        }
        *name = Cow::Borrowed(own);
        while !taken.insert((scope, name.clone())) {
            let number = tries.entry(own).or_default();
            *number += 1;
            *name = Cow::Owned(format!("{own}.new.{number}"));
        }
    }
    names
}
