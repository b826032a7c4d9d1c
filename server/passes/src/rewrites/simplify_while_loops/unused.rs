//! Elements that a loop carries for nothing, or twice.
//!
//! Source: `TryRemoveDeadWhileParams`, `TryRemoveRepeatedWhileTupleIndices`, `RemoveDeadTupleIndices`.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

use super::super::loops::index_of;
use super::{Loop, add_loop, elements, replace_loop, set_index};
use crate::driver::Run;
use crate::module::{InstructionId, Module};

/// Removes elements that affect nothing.
pub(super) fn remove_unused(run: &mut Run<'_>, parts: &Loop) -> bool {
    let module = &*run.module;
    let Some(results) = parts.results(module) else { return false };
    let count = results.len();
    if count == 0 || !parts.reads_elements(module) {
        return false;
    }
    let is_used = used_behind(module, parts, count);
    let mut graph = Dependences::of(module, parts, &results);
    let mut kept: BTreeSet<usize> = (0..count).collect();
    let mut affects = BTreeSet::new();
    for (i, result) in results.iter().enumerate() {
        affects.extend(graph.inputs(*result).filter(|&index| index != i));
    }
    for (i, is_used) in is_used.iter().enumerate() {
        if !affects.contains(&i) && !is_used && !graph.effects.contains(&i) {
            kept.remove(&i);
        }
    }
    // Elements that depend on each other alone.
    let mut groups: BTreeMap<InstructionId, BTreeSet<usize>> = BTreeMap::new();
    for (i, &result) in results.iter().enumerate() {
        groups.entry(graph.group(result)).or_default().insert(i);
    }
    for computation in [parts.body, parts.condition] {
        for id in module.instructions(computation) {
            if let Some(index) = index_of(module, id).and_then(|index| usize::try_from(index).ok()) {
                groups.entry(graph.group(id)).or_default().insert(index);
            }
        }
    }
    for group in groups.values() {
        let is_needed = |&index: &usize| {
            let is_passed = results.get(index).is_some_and(|&id| parts.is_element(module, id, index));
            graph.effects.contains(&index) || is_used.get(index) == Some(&true) && !is_passed
        };
        if !group.iter().any(is_needed) {
            kept.retain(|index| !group.contains(index));
        }
    }
    if kept.len() == count {
        return false;
    }
    keep_elements(run, parts, &kept, None);
    true
}

/// Which elements are used behind the loop.
fn used_behind(module: &Module, parts: &Loop, count: usize) -> Vec<bool> {
    let mut used = vec![module.is_root(parts.id); count];
    for &user in module[parts.id].users() {
        let index = module[user].attributes().int(syntax::hlo::AttributeKey::Index);
        match (module[user].opcode(), index.and_then(|index| used.get_mut(index as usize))) {
            (Opcode::GetTupleElement, Some(slot)) => *slot = true,
            _ => used.fill(true),
        }
    }
    used
}

/// What depends on what within an iteration.
struct Dependences {
    /// Which elements of the parameter each instruction depends on.
    inputs: FxHashMap<InstructionId, BTreeSet<usize>>,
    /// A forest of instructions that depend on each other.
    parents: FxHashMap<InstructionId, InstructionId>,
    /// Elements on which the condition or something with a side effect depends.
    effects: BTreeSet<usize>,
}

impl Dependences {
    fn of(module: &Module, parts: &Loop, results: &[InstructionId]) -> Dependences {
        let mut graph = Dependences {
            inputs: FxHashMap::default(),
            parents: FxHashMap::default(),
            effects: BTreeSet::new(),
        };
        let (body_root, condition_root) = (module.root(parts.body), module.root(parts.condition));
        for computation in [parts.body, parts.condition] {
            let parameter = parts.parameter(module, computation);
            for id in module.post_order(computation) {
                cancel::tick();
                if Some(id) == parameter || id == body_root {
                    continue;
                }
                let mut inputs = BTreeSet::new();
                match index_of(module, id).and_then(|index| usize::try_from(index).ok()) {
                    Some(index) => {
                        inputs.insert(index);
                        if let Some(&result) = results.get(index).filter(|&&result| result != id) {
                            graph.join(result, id);
                        }
                    }
                    None => {
                        for &operand in module[id].operands() {
                            graph.join(operand, id);
                            inputs.extend(graph.inputs.get(&operand).into_iter().flatten());
                        }
                    }
                }
                if module.has_side_effect(id) || id == condition_root {
                    graph.effects.extend(&inputs);
                }
                graph.inputs.insert(id, inputs);
            }
        }
        graph
    }

    fn inputs(&self, id: InstructionId) -> impl Iterator<Item = usize> {
        self.inputs.get(&id).into_iter().flatten().copied()
    }

    fn group(&mut self, id: InstructionId) -> InstructionId {
        let mut root = id;
        while let Some(&parent) = self.parents.get(&root).filter(|&&parent| parent != root) {
            root = parent;
        }
        self.parents.insert(id, root);
        root
    }

    fn join(&mut self, a: InstructionId, b: InstructionId) {
        let (a, b) = (self.group(a), self.group(b));
        self.parents.insert(b, a);
    }
}

/// Keeps one of elements that start as the same value and stay equal.
pub(super) fn remove_repeated(run: &mut Run<'_>, parts: &Loop) -> bool {
    let module = &*run.module;
    let Some(results) = parts.results(module).filter(|_| parts.has_tuple_init(module)) else { return false };
    if !parts.reads_elements(module) {
        return false;
    }
    let mut alike: BTreeMap<Vec<InstructionId>, Vec<usize>> = BTreeMap::new();
    for (index, (&result, &init)) in results.iter().zip(module[parts.init].operands()).enumerate() {
        if parts.is_element(module, result, index) {
            alike.entry(vec![init]).or_default().push(index);
        }
    }
    if let Some(new) = remove_alike(run, parts, &alike, true) {
        let Some(new) = Loop::of(run.module, new) else { return true };
        remove_repeated_updates(run, &new);
        return true;
    }
    remove_repeated_updates(run, parts)
}

/// Those that are updated with the same value at the same place.
fn remove_repeated_updates(run: &mut Run<'_>, parts: &Loop) -> bool {
    let module = &*run.module;
    let Some(results) = parts.results(module) else { return false };
    let mut alike: BTreeMap<Vec<InstructionId>, Vec<usize>> = BTreeMap::new();
    for (index, (&result, &init)) in results.iter().zip(module[parts.init].operands()).enumerate() {
        if module[result].opcode() == Opcode::DynamicUpdateSlice
            && parts.is_element(module, module.operand(result, 0), index)
        {
            let key = [init].into_iter().chain(module[result].operands()[1..].iter().copied()).collect();
            alike.entry(key).or_default().push(index);
        }
    }
    remove_alike(run, parts, &alike, false).is_some()
}

fn remove_alike(
    run: &mut Run<'_>,
    parts: &Loop,
    alike: &BTreeMap<Vec<InstructionId>, Vec<usize>>,
    is_passed: bool,
) -> Option<InstructionId> {
    let mut survivors: BTreeMap<usize, usize> = BTreeMap::new();
    for indices in alike.values() {
        survivors.extend(indices[1..].iter().map(|&dead| (dead, indices[0])));
    }
    if survivors.is_empty() {
        return None;
    }
    for computation in [parts.body, parts.condition] {
        let Some(parameter) = parts.parameter(run.module, computation) else { continue };
        let mut known: BTreeMap<usize, InstructionId> = BTreeMap::new();
        for element in run.module[parameter].users().to_vec() {
            let index = index_of(run.module, element).and_then(|index| usize::try_from(index).ok());
            let Some(&survivor) = index.and_then(|index| survivors.get(&index)) else { continue };
            let one = match known.get(&survivor) {
                Some(&one) => one,
                None => run.module.add_element(parameter, survivor as i64),
            };
            known.insert(survivor, one);
            run.module.replace(element, one);
        }
    }
    let count = parts.results(run.module).map_or(0, |results| results.len());
    let kept = (0..count).filter(|index| !survivors.contains_key(index)).collect();
    Some(keep_elements(run, parts, &kept, (!is_passed).then_some(&survivors)))
}

/// Makes a loop carry only some elements. Others are what they were before it, or equal to their survivors.
fn keep_elements(
    run: &mut Run<'_>,
    parts: &Loop,
    kept: &BTreeSet<usize>,
    survivors: Option<&BTreeMap<usize, usize>>,
) -> InstructionId {
    let new_index: BTreeMap<usize, usize> = kept.iter().enumerate().map(|(new, &old)| (old, new)).collect();
    let init = match parts.has_tuple_init(run.module) {
        true => run.module[parts.init].operands().to_vec(),
        false => elements(run, parts.init),
    };
    let count = init.len();
    let init: Vec<_> = kept.iter().map(|&index| init[index]).collect();
    let init = run.module.add_tuple(run.module[parts.id].parent(), &init);
    let shape = run.module[init].shape().clone();
    let root = run.module.root(parts.body);
    let results: Vec<_> = kept.iter().map(|&index| run.module.operand(root, index)).collect();
    let new_root = run.module.add_tuple(parts.body, &results);
    run.module.set_root(parts.body, new_root);
    run.module.remove_with_operands(root);
    for computation in [parts.body, parts.condition] {
        let Some(parameter) = parts.parameter(run.module, computation) else { continue };
        for element in run.module[parameter].users().to_vec() {
            let index = index_of(run.module, element).and_then(|index| usize::try_from(index).ok());
            match index.and_then(|index| new_index.get(&index)) {
                Some(&index) => set_index(run.module, element, index),
                None => remove_users(run.module, element),
            }
        }
        run.module.set_shape(parameter, shape.clone());
    }
    let new = add_loop(run, parts, init);
    let results: Vec<_> = (0..count)
        .map(|old| {
            let survivor = survivors.and_then(|survivors| survivors.get(&old)).copied().unwrap_or(old);
            match new_index.get(&survivor) {
                Some(&index) => run.module.add_element(new, index as i64),
                None => run.module.add_element(parts.init, old as i64),
            }
        })
        .collect();
    let tuple = run.module.add_tuple(run.module[parts.id].parent(), &results);
    replace_loop(run, parts, tuple, "carries only the elements that are used");
    new
}

/// Removes a value with all that uses it, which nothing needs.
fn remove_users(module: &mut Module, id: InstructionId) {
    let mut open = vec![id];
    while let Some(&last) = open.last() {
        cancel::tick();
        let users = module[last].users().to_vec();
        if users.is_empty() {
            open.pop();
            if module.is_dead(last) && !module[last].has_control_dependencies() {
                module.remove(last);
            }
        } else if users.iter().any(|user| module.is_root(*user))
            || open.len() > module.count(module[id].parent())
        {
            return;
        } else {
            open.extend(users);
        }
    }
}
