//! Elements that a loop carries as constants.
//!
//! Source: `TryRemoveConstantParams`, `TryPropagateConstant`.

use std::collections::BTreeSet;

use ir::Shape;
use syntax::hlo::Opcode;

use super::super::loops::index_of;
use super::{Loop, add_loop, elements, replace_loop, replace_parameter};
use crate::driver::Run;
use crate::module::InstructionId;

/// Removes elements that are the same constant before and after each iteration.
pub(super) fn remove_constant(run: &mut Run<'_>, parts: &Loop) -> bool {
    let module = &*run.module;
    let Some(results) = parts.results(module).filter(|_| parts.has_tuple_init(module)) else { return false };
    let init = module[parts.init].operands().to_vec();
    let literal = |id: InstructionId| module[id].literal().filter(|literal| !literal.contains("..."));
    let is_constant = |index: &usize| {
        let (before, after) = (init[*index], results[*index]);
        module[before].shape() == module[after].shape()
            && literal(before).is_some_and(|before| literal(after) == Some(before))
    };
    let constant: BTreeSet<usize> = (0..results.len().min(init.len())).filter(is_constant).collect();
    if constant.is_empty() {
        return false;
    }
    if constant.len() == results.len() {
        replace_loop(run, parts, parts.init, "computes constants that it starts with");
        return true;
    }
    let kept: Vec<usize> = (0..results.len()).filter(|index| !constant.contains(index)).collect();
    let Shape::Tuple(shapes) = run.module[parts.init].shape().clone() else { return false };
    let shape = Shape::tuple(kept.iter().map(|&index| shapes[index].clone()));
    let with_constants = |run: &mut Run<'_>, value: InstructionId| {
        let mut others = elements(run, value).into_iter();
        let parent = run.module[value].parent();
        let all: Vec<_> = (0..init.len())
            .filter_map(|index| match constant.contains(&index) {
                true => Some(run.module.add_copy(parent, init[index], &[])),
                false => others.next(),
            })
            .collect();
        run.module.add_tuple(parent, &all)
    };
    let without_constants = |run: &mut Run<'_>, value: InstructionId| {
        let all: Vec<_> = kept.iter().map(|&index| run.module.add_element(value, index as i64)).collect();
        run.module.add_tuple(run.module[value].parent(), &all)
    };
    for computation in [parts.condition, parts.body] {
        replace_parameter(run, computation, shape.clone(), with_constants);
    }
    let root = run.module.root(parts.body);
    let root = without_constants(run, root);
    run.module.set_root(parts.body, root);
    let start = without_constants(run, parts.init);
    let new = add_loop(run, parts, start);
    let tuple = with_constants(run, new);
    replace_loop(run, parts, tuple, "does not carry constants");
    true
}

/// Makes the computations of a loop use scalar constants that it carries unchanged.
pub(super) fn propagate(run: &mut Run<'_>, parts: &Loop) {
    let module = &*run.module;
    let Some(results) = parts.results(module).filter(|_| parts.has_tuple_init(module)) else { return };
    let init = module[parts.init].operands().to_vec();
    let is_constant = |index: usize| {
        let (Some(&before), Some(&after)) = (init.get(index), results.get(index)) else { return false };
        module[before].opcode() == Opcode::Constant
            && module[after].dims().is_empty()
            && parts.is_element(module, after, index)
    };
    let constant: Vec<bool> = (0..init.len()).map(is_constant).collect();
    for computation in [parts.condition, parts.body] {
        let Some(parameter) = parts.parameter(run.module, computation) else { continue };
        for element in run.module[parameter].users().to_vec() {
            let index = index_of(run.module, element).and_then(|index| usize::try_from(index).ok());
            let Some(index) = index.filter(|&index| constant.get(index) == Some(&true)) else { continue };
            let copy = run.module.add_copy(computation, init[index], &[]);
            run.changed(element, "is a constant in each iteration");
            run.module.replace_all_uses(element, copy);
        }
    }
}
