//! Elements that grow by a constant in each iteration: one counter is enough.
//!
//! Source: `TryMergeInductionVariables`.

use std::collections::BTreeMap;

use ir::{ElementType, Shape};
use syntax::hlo::Opcode;

use super::super::loops::integer;
use super::{Loop, add_loop, elements, replace_loop, replace_parameter};
use crate::driver::Run;
use crate::module::{InstructionId, NewOp};

/// The new loop, if there was more than one counter of the type.
pub(super) fn merge(run: &mut Run<'_>, parts: &Loop, element: ElementType) -> Option<InstructionId> {
    let module = &*run.module;
    let results = parts.results(module).filter(|_| parts.has_tuple_init(module))?;
    let init = module[parts.init].operands().to_vec();
    let mut counter = None;
    let mut steps: BTreeMap<usize, InstructionId> = BTreeMap::new();
    for (index, &result) in results.iter().enumerate() {
        let &[a, b] = module[result].operands() else { continue };
        let is_constant =
            |id: InstructionId| module[id].opcode() == Opcode::Constant && module[id].dims().is_empty();
        let step = match (parts.is_element(module, a, index), parts.is_element(module, b, index)) {
            (true, _) if is_constant(b) => b,
            (_, true) if is_constant(a) => a,
            _ => continue,
        };
        if module[result].opcode() != Opcode::Add || module[result].shape().element() != Some(element) {
            continue;
        }
        let starts_at_0 = init.get(index).is_some_and(|&init| integer(module, init) == Some(0));
        if counter.is_none() && integer(module, step) == Some(1) && starts_at_0 {
            counter = Some(index);
        } else {
            steps.insert(index, step);
        }
    }
    if steps.len() + usize::from(counter.is_some()) < 2 {
        return None;
    }
    let Shape::Tuple(shapes) = run.module[parts.init].shape().clone() else { return None };
    let scalar = Shape::array(element, &[]);
    let added = counter.is_none();
    let counter = counter.unwrap_or(shapes.len());
    let new_shape = Shape::tuple(shapes.iter().cloned().chain(added.then(|| scalar.clone())));
    let count = shapes.len();
    let constants: BTreeMap<usize, String> = steps
        .iter()
        .filter_map(|(&index, &step)| Some((index, run.module[step].literal()?.to_owned())))
        .collect();
    let old_form = |run: &mut Run<'_>, value: InstructionId| {
        let parent = run.module[value].parent();
        let all = elements(run, value);
        let old: Vec<_> = (0..count)
            .map(|index| {
                let Some(step) = constants.get(&index) else { return all[index] };
                let shape = shapes[index].clone();
                let step = run.module.add(parent, NewOp::constant(scalar.clone(), step.clone()));
                let grown = NewOp::new(Opcode::Multiply, shape.clone(), &[all[counter], step]);
                let grown = run.module.add(parent, grown);
                run.module.add(parent, NewOp::new(Opcode::Add, shape, &[all[index], grown]))
            })
            .collect();
        run.module.add_tuple(parent, &old)
    };
    replace_parameter(run, parts.condition, new_shape.clone(), old_form);
    let parameter = replace_parameter(run, parts.body, new_shape, old_form)?;
    let root = run.module.root(parts.body);
    let mut new: Vec<_> = (0..count)
        .map(|index| {
            let from = if steps.contains_key(&index) { parameter } else { root };
            run.module.add_element(from, index as i64)
        })
        .collect();
    if added {
        let before = run.module.add_element(parameter, counter as i64);
        let one = run.module.add(parts.body, NewOp::constant(scalar.clone(), "1"));
        let next = NewOp::new(Opcode::Add, scalar.clone(), &[before, one]);
        new.push(run.module.add(parts.body, next));
    }
    let new_root = run.module.add_tuple(parts.body, &new);
    run.module.set_root(parts.body, new_root);
    let mut start = parts.init;
    if added {
        let mut all = elements(run, parts.init);
        let parent = run.module[parts.id].parent();
        all.push(run.module.add(parent, NewOp::constant(scalar.clone(), "0")));
        start = run.module.add_tuple(parent, &all);
    }
    let new = add_loop(run, parts, start);
    let tuple = old_form(run, new);
    replace_loop(run, parts, tuple, "counts its iterations once");
    Some(new)
}
