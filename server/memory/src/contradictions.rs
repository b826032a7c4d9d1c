//! Aliases that contradict each other or the shapes: left out of the plan, and reported.

use ir::{Alias, Shape};
use rustc_hash::FxHashMap;

use crate::program::{Id, Program};
use crate::sizes::bytes;

/// Leaves out aliases of the module and of instructions that cannot hold.
pub(crate) fn leave_out(program: &mut Program) {
    let aliases = std::mem::take(&mut program.aliases);
    let entry = &program.computations[program.entry];
    let result = program.instruction(entry.root).shape.clone();
    let parameters = entry.parameters.clone();
    let of_parameter = |number: i64| {
        let id = usize::try_from(number).ok().and_then(|number| parameters.get(number).copied());
        id.filter(|&id| id != Id::MAX).map(|id| &program.instructions[id as usize].shape)
    };
    let (kept, whys) = consistent(aliases, &result, "parameter", of_parameter);
    for why in whys {
        program.problems.add(|| format!("input_output_alias: {why}"));
    }
    program.aliases = kept;
    for id in 0..program.instructions.len() {
        if program.instructions[id].aliasing.is_empty() {
            continue;
        }
        cancel::tick();
        let aliases = std::mem::take(&mut program.instructions[id].aliasing);
        let instruction = &program.instructions[id];
        let of_operand = |number: i64| {
            let operand = usize::try_from(number).ok().and_then(|number| instruction.operands.get(number));
            operand.map(|&operand| &program.instructions[operand as usize].shape)
        };
        let (kept, whys) = consistent(aliases, &instruction.shape, "operand", of_operand);
        let name = instruction.name.clone();
        for why in whys {
            program.problems.add(|| format!("%{name}: output_to_operand_aliasing: {why}"));
        }
        program.instructions[id].aliasing = kept;
    }
}

/// The aliases that can hold together, the first of those that contradict each other, and why the others cannot. `of` has the
/// shape of a parameter or operand by number.
fn consistent<'a>(
    aliases: Vec<Alias>,
    result: &Shape,
    what: &str,
    of: impl Fn(i64) -> Option<&'a Shape>,
) -> (Vec<Alias>, Vec<String>) {
    let mut kept: Vec<Alias> = Vec::new();
    let mut whys = Vec::new();
    let mut outputs: FxHashMap<Vec<i64>, usize> = FxHashMap::default();
    let mut inputs: FxHashMap<(i64, Vec<i64>), usize> = FxHashMap::default();
    for alias in aliases {
        cancel::tick();
        let from = format!("{what} {}{}", alias.parameter, element(&alias.index));
        let to = format!("the result{}", element(&alias.output));
        let input = (alias.parameter, alias.index.clone());
        let why = match (of(alias.parameter), result.element_at(&alias.output)) {
            (None, _) => format!("there is no {what} {}", alias.parameter),
            (Some(shape), _) if shape.element_at(&alias.index).is_none() => format!("there is no {from}"),
            (_, None) => format!("there is no element {} of the result", path(&alias.output)),
            (Some(shape), Some(output)) => {
                let [own, other] = [shape.element_at(&alias.index).and_then(bytes), bytes(output)];
                if let Some(&first) = inputs.get(&input) {
                    format!("the result{} is in its memory", element(&kept[first].output))
                } else if let Some(&first) = outputs.get(&alias.output) {
                    let Alias { parameter, index, .. } = &kept[first];
                    format!("{to} is in the memory of {what} {parameter}{}", element(index))
                } else if own != other {
                    let [own, other] = [own, other].map(|bytes| {
                        bytes.map_or("an unknown number of bytes".to_owned(), |bytes| format!("{bytes} B"))
                    });
                    format!("it has {own}, {to} {other}")
                } else {
                    inputs.insert(input, kept.len());
                    outputs.insert(alias.output.clone(), kept.len());
                    kept.push(alias);
                    continue;
                }
            }
        };
        whys.push(format!("{to} cannot take the memory of {from}: {why}; left out"));
    }
    (kept, whys)
}

/// ` {0,1}`, or nothing for the whole.
fn element(index: &[i64]) -> String {
    if index.is_empty() { String::new() } else { format!(" {}", path(index)) }
}

fn path(index: &[i64]) -> String {
    let index: Vec<String> = index.iter().map(i64::to_string).collect();
    format!("{{{}}}", index.join(","))
}
