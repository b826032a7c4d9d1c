//! Other names and another order, which change nothing.

use std::collections::{BinaryHeap, HashMap};

use random::Rng;
use syntax::hlo::{AttributeKey, ValueNode};

use crate::edit::At;
use crate::text::{Text, replaced};

/// The new place per old one; of a computation with an empty name of an instruction.
pub type Names = HashMap<At, At>;

/// Gives all computations and instructions new names, which others had before, and puts them into another order.
pub fn scramble(text: &mut String, rng: &mut Rng) -> Names {
    let names = rename(text, rng);
    reorder(text, rng);
    names
}

fn rename(text: &mut String, rng: &mut Rng) -> Names {
    let module = Text::new(text);
    let count = module.parse.instructions.len();
    let numbers = rng.permutation(count);
    let computation_numbers = rng.permutation(module.parse.computations.len());
    let computations: HashMap<&str, String> = module
        .parse
        .computations
        .iter()
        .enumerate()
        .map(|(at, computation)| (module.of(computation.name), format!("region.{}", computation_numbers[at])))
        .collect();
    let mut names = Names::new();
    let mut replacements = Vec::new();
    let mut new_names: HashMap<(usize, &str), String> = HashMap::new();
    for (at, computation) in module.parse.computations.iter().enumerate() {
        let name = module.of(computation.name);
        let new = if name.is_empty() { "" } else { computations[name].as_str() };
        if !name.is_empty() {
            replacements.push((computation.name.range(), new.to_owned()));
        }
        names.insert(At::new(name, ""), At::new(new, ""));
        for id in computation.instructions.clone() {
            let id = id as usize;
            let own = module.name(id);
            if !own.is_empty() {
                let opcode = module.of(module.parse.instructions[id].opcode_span);
                let new_name = format!("{opcode}.{}", numbers[id]);
                replacements.push((module.parse.instructions[id].name.range(), new_name.clone()));
                names.insert(At::new(name, own), At::new(new, &new_name));
                new_names.insert((at, own), new_name);
            }
        }
    }
    for (id, instruction) in module.parse.instructions.iter().enumerate() {
        let home = module.computation[id];
        for (name, range) in module.operands(id).into_iter().flatten() {
            replacements.extend(new_names.get(&(home, name)).map(|new| (range, new.clone())));
        }
        for attribute in module.parse.attributes_of(instruction) {
            let spans = match &attribute.value {
                ValueNode::Computation(name) => std::slice::from_ref(name),
                ValueNode::Computations { start, len } => module.parse.spans(*start, *len),
                ValueNode::Names { start, len }
                    if attribute.key == Some(AttributeKey::ControlPredecessors) =>
                {
                    module.parse.spans(*start, *len)
                }
                _ => &[],
            };
            let is_names = matches!(attribute.value, ValueNode::Names { .. });
            for span in spans {
                let name = module.of(*span);
                let bare = name.trim_start_matches('%');
                let new = if is_names { new_names.get(&(home, bare)) } else { computations.get(bare) };
                let range = span.end as usize - bare.len()..span.end as usize;
                replacements.extend(new.filter(|_| !bare.is_empty()).map(|new| (range, new.clone())));
            }
        }
    }
    *text = replaced(text, replacements);
    names
}

fn reorder(text: &mut String, rng: &mut Rng) {
    let module = Text::new(text);
    let all = &module.parse.computations;
    let mut replacements = Vec::new();
    for (at, computation) in all.iter().enumerate() {
        let ids: Vec<usize> = computation.instructions.clone().map(|id| id as usize).collect();
        let has_root = ids.iter().any(|&id| module.parse.instructions[id].is_root);
        if !module.is_plain(at) || !has_root {
            continue;
        }
        let lines: Vec<&str> =
            order(&module, at, rng).iter().map(|&id| module.of(module.parse.instructions[id].span)).collect();
        let (first, last) = (ids[0], ids[ids.len() - 1]);
        let start = module.parse.instructions[first].span.start as usize;
        let end = module.parse.instructions[last].span.end as usize;
        replacements.push((start..end, lines.join("\n  ")));
    }
    *text = replaced(text, replacements);
    let module = Text::new(text);
    let places: Vec<usize> = (0..module.parse.computations.len()).filter(|&at| module.is_plain(at)).collect();
    let of = |at: usize| module.of(module.parse.computations[places[at]].span).to_owned();
    let order = rng.permutation(places.len());
    let moved =
        order.iter().zip(&places).map(|(&from, &to)| (module.parse.computations[to].span.range(), of(from)));
    *text = replaced(text, moved.collect());
}

/// A random order in which operands precede their users.
fn order(module: &Text<'_>, computation: usize, rng: &mut Rng) -> Vec<usize> {
    let ids = module.parse.computations[computation].instructions.clone();
    let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut missing: HashMap<usize, usize> = HashMap::new();
    for id in ids.clone().map(|id| id as usize) {
        let operands = module.operands(id).into_iter().flatten();
        let operands: Vec<usize> =
            operands.filter_map(|(name, _)| module.definition(computation, name)).collect();
        missing.insert(id, operands.len());
        operands.into_iter().for_each(|operand| users.entry(operand).or_default().push(id));
    }
    let is_ready = |id: &usize| missing[id] == 0;
    let ready: Vec<usize> = ids.map(|id| id as usize).filter(is_ready).collect();
    let mut heap: BinaryHeap<(u64, usize)> = ready.into_iter().map(|id| (rng.next_u64(), id)).collect();
    let mut order = Vec::new();
    while let Some((_, id)) = heap.pop() {
        order.push(id);
        for user in users.remove(&id).unwrap_or_default() {
            let rest = missing.entry(user).and_modify(|count| *count -= 1).or_default();
            if *rest == 0 {
                heap.push((rng.next_u64(), user));
            }
        }
    }
    order
}
