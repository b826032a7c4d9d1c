//! Copies around everything that may overwrite what something else still reads.

use ir::Shape;
use memory::{Conflict, Copies, Path};
use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use super::deep_copy::deep_copy;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, Planned};

/// Set by a frontend on a loop that needs no copies.
const NO_COPIES: &[&str] = &["xla_disable_while_loop_copies", "xla.disable_while_loop_copies"];
/// Set on an instruction that writes elsewhere than others read.
const DISJOINT: &[&str] = &["xla_disjoint_read_write_regions", "xla.disjoint_read_write_regions"];

/// Source: `CopyInsertion::AddCopiesToResolveInterference`.
pub(super) fn add(run: &mut Run<'_>) -> Result<(), Stop> {
    check(run.module)?;
    for conflict in conflicts(run.module) {
        match conflict {
            Found::Loop(id, elements) => around_loop(run, id, &elements),
            Found::Branches(id, elements) => in_branches(run, id, &elements),
            Found::Overwritten(id, operand) => {
                let copied = run.module.operand(id, operand);
                run.changed(copied, format!("copied: %{} overwrites it", run.module[id].name()));
                let copy = deep_copy(run.module, copied, &|_| true).whole;
                run.module.set_operand(id, operand, copy);
            }
        }
    }
    for_donated_parameters(run);
    Ok(())
}

/// A conflict in a module.
enum Found {
    Loop(InstructionId, Vec<Path>),
    Branches(InstructionId, Vec<Path>),
    Overwritten(InstructionId, usize),
}

/// What cannot be copied has rules of its own.
fn check(module: &Module) -> Result<(), Stop> {
    for computation in module.non_fusion_computations() {
        for id in module.instructions(computation) {
            let instruction = &module[id];
            if matches!(instruction.shape(), Shape::Buffer(_)) {
                let name = instruction.name();
                return Err(Stop::Unsupported(format!("%{name}: memory that is written in place")));
            }
            let is_done = |&user: &InstructionId| {
                matches!(module[user].opcode(), Opcode::SendDone | Opcode::RecvDone | Opcode::CopyDone)
            };
            if matches!(instruction.opcode(), Opcode::Send | Opcode::Recv | Opcode::CopyStart)
                && !instruction.users().iter().all(is_done)
            {
                let name = instruction.name();
                return Err(Stop::Unsupported(format!(
                    "%{name}: an asynchronous value that control flow passes on"
                )));
            }
        }
    }
    Ok(())
}

fn conflicts(module: &Module) -> Vec<Found> {
    let Planned { program, ids, .. } = module.planned();
    let copies = Copies::new(&program, &|_| memory::FusionOrder::default());
    let number: rustc_hash::FxHashMap<InstructionId, memory::Id> = ids.iter().copied().zip(0..).collect();
    let asynchronous = asynchronous(module);
    let mut found = Vec::new();
    for computation in module.non_fusion_computations() {
        if asynchronous.contains(&computation) {
            continue;
        }
        for id in module.post_order(computation) {
            let Some(&at) = number.get(&id) else { continue };
            match copies.conflicts(at) {
                Some(Conflict::Loop { elements, .. }) if !has_mark(module, id, NO_COPIES) => {
                    found.push(Found::Loop(id, elements));
                }
                Some(Conflict::Branches { elements, .. }) => found.push(Found::Branches(id, elements)),
                _ => {}
            }
            for conflict in copies.overwritten(at) {
                let Conflict::Overwritten { operand, .. } = conflict else { continue };
                let is_disjoint = |&user: &InstructionId| user == id || has_mark(module, user, DISJOINT);
                let users = module[module.operand(id, operand)].users();
                if !has_mark(module, id, DISJOINT) || !users.iter().all(is_disjoint) {
                    found.push(Found::Overwritten(id, operand));
                }
            }
        }
    }
    found
}

/// The computations that run beside others.
fn asynchronous(module: &Module) -> FxHashSet<ComputationId> {
    let all = module.computations();
    let instructions = all.iter().flat_map(|&c| module.instructions(c));
    let starts = instructions.filter(|&id| module[id].opcode() == Opcode::AsyncStart);
    starts.flat_map(|id| module[id].called().collect::<Vec<_>>()).collect()
}

fn has_mark(module: &Module, id: InstructionId, names: &[&str]) -> bool {
    let text = module[id].attributes().text(AttributeKey::FrontendAttributes).unwrap_or_default();
    names.iter().any(|name| text.contains(name))
}

/// Copies what a loop changes in front of it, and at start and end of its body. The copy at the end runs after the one at the
/// start, so that the two do not conflict.
/// Source: `AddCopiesForWhile`.
fn around_loop(run: &mut Run<'_>, id: InstructionId, elements: &[Path]) {
    let Some(body) = run.module[id].callee(AttributeKey::Body) else { return };
    let is_wanted = |path: &[i64]| elements.iter().any(|element| element == path);
    let module = &mut *run.module;
    let (parameters, root) = (module.parameters(body), module.root(body));
    let &[parameter] = &parameters[..] else { return };
    if parameter == root {
        return;
    }
    let init = module.operand(id, 0);
    let name = module[id].name().to_owned();
    run.changed(init, format!("{} copied around %{name}, which changes them", plural(elements.len())));
    let module = &mut *run.module;
    let copy = deep_copy(module, init, &is_wanted).whole;
    module.set_operand(id, 0, copy);
    let users = module[parameter].users().to_vec();
    let start = deep_copy(module, parameter, &is_wanted);
    let end = deep_copy(module, root, &is_wanted);
    for ((_, start), (_, end)) in start.arrays.iter().zip(&end.arrays) {
        module.add_control(*start, *end);
    }
    for user in users {
        module.replace_use(parameter, user, start.whole);
    }
    module.set_root(body, end.whole);
}

fn plural(count: usize) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}

/// Copies what each branch returns.
/// Source: `CopyInsertion::AddCopiesForConditional`.
fn in_branches(run: &mut Run<'_>, id: InstructionId, elements: &[Path]) {
    let is_wanted = |path: &[i64]| elements.iter().any(|element| element == path);
    let name = run.module[id].name().to_owned();
    for branch in run.module[id].called().collect::<Vec<_>>() {
        let root = run.module.root(branch);
        run.changed(root, format!("{} copied: %{name} returns them", plural(elements.len())));
        let users = run.module[root].users().to_vec();
        let copy = deep_copy(run.module, root, &is_wanted).whole;
        for user in users {
            run.module.replace_use(root, user, copy);
        }
        run.module.set_root(branch, copy);
    }
}

/// Copies donated parameters, and the results that take their memory.
/// Source: `AddCopiesForAliasedInputOutputs`.
fn for_donated_parameters(run: &mut Run<'_>) {
    let aliases = run.module.header.aliases.clone();
    if aliases.is_empty() {
        return;
    }
    let entry = run.module.entry();
    let mut starts: Vec<(i64, Vec<i64>, InstructionId)> = Vec::new();
    for parameter in run.module.parameters(entry) {
        let number = run.module[parameter].parameter_number().map_or(-1, i64::from);
        let is_wanted =
            |path: &[i64]| aliases.iter().any(|alias| alias.parameter == number && alias.index == path);
        if aliases.iter().all(|alias| alias.parameter != number) {
            continue;
        }
        run.changed(parameter, "copied: a result takes its memory");
        let users = run.module[parameter].users().to_vec();
        let is_root = run.module.is_root(parameter);
        let copy = deep_copy(run.module, parameter, &is_wanted);
        if is_root {
            run.module.set_root(entry, copy.whole);
        }
        for user in users {
            run.module.replace_use(parameter, user, copy.whole);
        }
        starts.extend(copy.arrays.into_iter().map(|(path, copy)| (number, path, copy)));
    }
    let root = run.module.root(entry);
    let end = deep_copy(run.module, root, &|path| aliases.iter().any(|alias| alias.output == path));
    for alias in &aliases {
        let start =
            starts.iter().find(|(number, path, _)| *number == alias.parameter && *path == alias.index);
        let end = end.arrays.iter().find(|(path, _)| *path == alias.output);
        if let (Some((_, _, start)), Some((_, end))) = (start, end) {
            run.module.add_control(*start, *end);
        }
    }
    run.module.set_root(entry, end.whole);
}
