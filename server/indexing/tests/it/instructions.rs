//! Every opcode, one instruction at a time, in both directions.

use dependences::{Read, Traced, trace};
use eval::leaves;
use generators::hlo::{self, Generated};
use generators::{cases, on_all_cores, seed};
use indexing::{
    ArraySource, OperandIndexing, Rules, RuntimeSource, in_graph, input_to_output_by, output_to_input_by,
};
use ir::{AttributeKey, Op, OpId, Opcode, Shape};
use random::Rng;

use crate::Elements;
use crate::access::{World, elements, without_replicas};
use crate::tally::{Direction, Outcome, Tally};

#[test]
fn maps_agree_with_the_evaluation() {
    let opcodes = hlo::opcodes();
    let tally = Tally::default();
    on_all_cores(cases(10_000), |i| {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(seed(i));
        let generated = hlo::random_op(opcode, &mut rng).expect("an instruction");
        check(&generated, None, &mut rng, &tally);
    });
    eprintln!("{}", tally.table());
    tally.verdict();
}

/// The maps of an op with unknown extents, at the extents of the instruction.
#[test]
fn maps_of_unknown_extents_agree_with_the_evaluation() {
    let opcodes = hlo::opcodes();
    let tally = Tally::default();
    on_all_cores(cases(8_000), |i| {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(seed(i));
        let generated = hlo::random_op(opcode, &mut rng).expect("an instruction");
        if !calls(opcode) && has_indices_inside(&generated) {
            let open = hlo::without_some_extents(generated.op(), &mut rng);
            check(&generated, Some(&open), &mut rng, &tally);
        }
    });
    eprintln!("{}", tally.table());
    tally.verdict();
}

/// Indices that constants, iotas and arithmetic give are in the maps.
#[test]
fn maps_of_computed_indices_agree_with_the_evaluation() {
    let opcodes = [Opcode::DynamicSlice, Opcode::DynamicUpdateSlice, Opcode::Gather, Opcode::Scatter];
    let tally = Tally::default();
    on_all_cores(cases(3_000), |i| {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(seed(i));
        let generated = hlo::random_op(opcode, &mut rng).expect("an instruction");
        if let Some(computed) = hlo::with_computed_indices(&generated, &mut rng) {
            check(&computed, None, &mut rng, &tally);
        }
    });
    eprintln!("{}", tally.table());
    tally.verdict();
}

/// Whether no index is clamped: the map of an unknown extent has no number to clamp to, its runtime variables are the clamped ones.
fn has_indices_inside(generated: &Generated) -> bool {
    let answer = output_to_input_by(generated.op(), 0, Rules::Exact);
    answer.operands.iter().flatten().flat_map(|access| &access.runtime_variables).all(|variable| {
        let RuntimeSource::Operand(i) = variable.source else { return true };
        let values = generated.values.get(i).and_then(Option::as_ref);
        values.is_none_or(|values| values.iter().all(|&value| variable.feasible.contains(value)))
    })
}

fn program(generated: &Generated, replica: u32) -> String {
    format!(
        "seed {:#x}, replica {replica}, integers {:?}\n{}",
        generated.seed,
        generated.values.iter().enumerate().filter(|(_, v)| v.is_some()).collect::<Vec<_>>(),
        generated.text
    )
}

/// `open` is the instruction without some of its extents.
fn check(generated: &Generated, open: Option<&Op>, rng: &mut Rng, tally: &Tally) {
    let op = generated.op();
    let mapped = open.unwrap_or(op);
    let replica = rng.range(0, i64::from(generated.replicas) - 1) as u32;
    let is_permute = matches!(op.opcode, Opcode::CollectivePermute | Opcode::CollectivePermuteStart);
    let group = match is_permute {
        true => (0..generated.replicas).collect(),
        false => eval::replica_group(op, replica, generated.replicas).unwrap_or_default(),
    };
    let own = group.iter().position(|&member| member == replica).unwrap_or_default() as i64;
    let integers = |source: &RuntimeSource, output: usize| {
        let operand = match source {
            RuntimeSource::Operand(i) => *i,
            RuntimeSource::Op { op: OpId::MAX, .. } => return Some((Vec::new(), vec![own])),
            RuntimeSource::Op { op, .. } => generated.graph.operands[generated.root() as usize]
                .iter()
                .position(|operand| operand == op)?,
            RuntimeSource::Extent { array, dimension } => {
                let shape = match array {
                    ArraySource::Output => *leaves(&op.shape).get(output)?,
                    ArraySource::Operand(i) => op.operand_shapes.get(*i)?,
                    ArraySource::Op { .. } => return None,
                };
                return Some((Vec::new(), vec![*shape.dims().get(*dimension)?]));
            }
        };
        Some((op.operand_shapes.get(operand)?.dims().to_vec(), generated.values.get(operand)?.clone()?))
    };
    // XLA's map of a get-tuple-element does not name the element.
    let index = op.attributes.int(AttributeKey::Index).filter(|_| op.opcode == Opcode::GetTupleElement);
    let callees = |name: &str| generated.callee(name);
    for (output, shape) in leaves(&op.shape).into_iter().enumerate() {
        if shape.as_array().is_none() {
            continue;
        }
        let integers = |source: &RuntimeSource| integers(source, output);
        let leaf = index.unwrap_or(0) as usize;
        let world = World { integers: &integers, group: &group, own, leaf, largest: largest(op) };
        let count =
            |direction, outcome| tally.count(op.opcode, direction, outcome, || program(generated, replica));
        let traced: Result<Vec<Traced>, _> = (0..generated.replicas)
            .map(|replica| generated.on(replica, |setting| trace(op, output, setting)))
            .collect();
        let traced = match traced {
            Ok(mut traced) => {
                // A branch's operand is read by that branch alone, so the union over all branches is exact
                // for each of them.
                traced.iter_mut().for_each(|t| t.is_exact |= op.opcode == Opcode::Conditional);
                traced
            }
            Err(reason) => {
                count(Direction::OutputToInput, Outcome::NotEvaluated(reason.to_string()));
                continue;
            }
        };
        // XLA has no unknown extents.
        let all_rules = if open.is_some() { &[Rules::Exact][..] } else { &[Rules::Exact, Rules::Xla] };
        for &rules in all_rules {
            let (forward, backward) = match rules {
                Rules::Exact => (Direction::OutputToInput, Direction::InputToOutput),
                Rules::Xla => (Direction::XlaOutputToInput, Direction::XlaInputToOutput),
            };
            // In its graph, an op's called computations are known. The unsimplified maps are equivalent.
            let mut answer = match open.is_none() && (rng.one_in(2) || calls(op.opcode)) {
                true => in_graph(&generated.graph, generated.root(), output, rules, &callees),
                false => output_to_input_by(mapped, output, rules),
            };
            if rng.one_in(2) {
                answer.simplify_by(rules);
            }
            for (operand, shape) in op.operand_shapes.iter().enumerate() {
                let list = answer.operands.get(operand).map_or(&[][..], Vec::as_slice);
                count(
                    forward,
                    output_to_input(&traced[replica as usize], operand, shape, list, rules, &world),
                );
                let mut answer = input_to_output_by(mapped, operand, rules);
                if rng.one_in(2) {
                    answer.simplify_by(rules);
                }
                let outcome = match answer.operands.get(output) {
                    Some(list) => input_to_output(&traced, replica, operand, shape, list, rules, &world),
                    None => Outcome::Unknown("no list for this output".to_owned()),
                };
                count(backward, outcome);
            }
        }
    }
}

/// The most values that a range variable without bounds needs.
fn largest(op: &Op) -> i64 {
    let shapes = op.operand_shapes.iter().chain([&op.shape]).flat_map(leaves);
    shapes.flat_map(|shape| shape.dims().to_vec()).max().unwrap_or(1)
}

fn calls(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Fusion | Opcode::Call | Opcode::While | Opcode::Conditional)
}

/// Whether a list of accesses is an upper bound. `Err` if there is no map, or if XLA's map is not exact.
fn claim(list: &[OperandIndexing], rules: Rules) -> Result<bool, Outcome> {
    if let Some(unknown) = list.iter().find(|access| access.map.is_undefined()) {
        let reason = unknown.note.as_deref().unwrap_or("and no reason");
        return Err(match unknown.note.is_some() {
            true => Outcome::Unknown(reason.to_owned()),
            false => Outcome::Wrong("no map, and no reason".to_owned()),
        });
    }
    // Notes on XLA's maps say what they omit, in both directions.
    if rules == Rules::Xla && list.iter().any(|access| access.note.is_some() || access.is_upper_bound) {
        return Err(Outcome::Unknown("XLA's map is not exact, and a note says so".to_owned()));
    }
    Ok(list.iter().any(|access| access.is_upper_bound))
}

fn compare(got: Elements, expected: &Elements, is_bound: bool) -> Result<(), String> {
    let tells = got.iter().all(|(_, replica, _)| replica.is_some());
    let is_silent = got.iter().all(|(_, replica, _)| replica.is_none());
    let (got, expected) = match tells && !got.is_empty() {
        true => (got, expected.clone()),
        false if is_silent => (got, without_replicas(expected)),
        false => return Err("some accesses tell the replica, others do not".to_owned()),
    };
    let agrees = if is_bound { expected.is_subset(&got) } else { got == expected };
    if agrees {
        return Ok(());
    }
    let short = |elements: Vec<&(u32, Option<u32>, u32)>| {
        let places: Vec<String> = elements
            .iter()
            .take(8)
            .map(|(leaf, replica, at)| match (leaf, replica) {
                (0, None) => at.to_string(),
                (leaf, replica) => format!("{at} of leaf {leaf} on {replica:?}"),
            })
            .collect();
        places.join(", ")
    };
    Err(format!(
        "missing [{}], too many [{}]",
        short(expected.difference(&got).collect()),
        short(got.difference(&expected).collect())
    ))
}

fn maps(list: &[OperandIndexing]) -> String {
    let of = |access: &OperandIndexing| {
        let runtime: Vec<String> =
            access.runtime_variables.iter().map(|v| format!("{:?} at {}", v.source, v.map)).collect();
        format!("{} {} note: {:?}", access.map, runtime.join("; "), access.note)
    };
    list.iter().map(of).collect::<Vec<_>>().join("\n  ")
}

fn leaf_sizes(shape: &Shape) -> Vec<Vec<i64>> {
    leaves(shape).iter().map(|leaf| leaf.dims().to_vec()).collect()
}

fn output_to_input(
    traced: &Traced,
    operand: usize,
    shape: &Shape,
    list: &[OperandIndexing],
    rules: Rules,
    world: &World<'_>,
) -> Outcome {
    let is_bound = match claim(list, rules) {
        Ok(is_bound) => is_bound,
        Err(outcome) => return outcome,
    };
    let sizes = leaf_sizes(shape);
    for (at, reads) in traced.elements.iter().enumerate() {
        let index = dependences::index_at(&traced.dims, at);
        let of_operand = reads.iter().filter(|read| read.operand as usize == operand);
        let expected: Elements = of_operand.map(|r| (r.leaf, Some(r.replica), r.position)).collect();
        let mut got = Elements::new();
        let dims = |leaf: usize| sizes.get(leaf).cloned().unwrap_or_default();
        let compared = list
            .iter()
            .try_for_each(|access| elements(access, &index, &dims, world, &mut got))
            .and_then(|()| compare(got, &expected, is_bound || !traced.is_exact));
        if let Err(what) = compared {
            return Outcome::Wrong(format!("operand {operand} at {index:?}: {what}\n  {}", maps(list)));
        }
    }
    if is_bound { Outcome::Bound } else { Outcome::Exact }
}

/// The inverse: for every element of an operand on `replica`, the elements of the output, on all replicas,
/// that depend on it. `traced` is the output per replica.
fn input_to_output(
    traced: &[Traced],
    replica: u32,
    operand: usize,
    shape: &Shape,
    list: &[OperandIndexing],
    rules: Rules,
    world: &World<'_>,
) -> Outcome {
    let is_bound = match claim(list, rules) {
        Ok(is_bound) => is_bound,
        Err(outcome) => return outcome,
    };
    let is_exact = traced.iter().all(|t| t.is_exact);
    for (leaf, sizes) in leaf_sizes(shape).into_iter().enumerate() {
        let mut fed = vec![Elements::new(); sizes.iter().product::<i64>() as usize];
        for (of, traced) in traced.iter().enumerate() {
            for (at, reads) in traced.elements.iter().enumerate() {
                let is_own = |r: &&Read| {
                    r.operand as usize == operand && r.leaf as usize == leaf && r.replica == replica
                };
                let own = reads.iter().filter(is_own);
                own.for_each(|read| _ = fed[read.position as usize].insert((0, Some(of as u32), at as u32)));
            }
        }
        // For a tuple operand an access names its source leaf.
        let starts_here = |access: &&OperandIndexing| access.element.unwrap_or(world.leaf) == leaf;
        let world = World { leaf: 0, ..*world };
        for (at, expected) in fed.iter().enumerate() {
            let index = dependences::index_at(&sizes, at);
            let mut got = Elements::new();
            let compared = list
                .iter()
                .filter(starts_here)
                .try_for_each(|access| {
                    let access = OperandIndexing { element: None, ..access.clone() };
                    elements(&access, &index, &|_| traced[0].dims.clone(), &world, &mut got)
                })
                .and_then(|()| compare(got, expected, is_bound || !is_exact));
            if let Err(what) = compared {
                return Outcome::Wrong(format!(
                    "operand {operand}'s {index:?} feeds: {what}\n  {}",
                    maps(list)
                ));
            }
        }
    }
    if is_bound { Outcome::Bound } else { Outcome::Exact }
}
