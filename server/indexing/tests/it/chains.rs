//! Chains of instructions as fused computations: from the root to every parameter.

use dependences::{Read, Traced, TracedValue, index_at, trace_graph};
use generators::hlo::{self, Generated};
use generators::{cases, on_all_cores, seed};
use indexing::{OperandIndexing, Rules, RuntimeSource, fusion, fusion_input_to_output, no_callees};
use ir::Opcode;
use random::Rng;

use crate::Elements;
use crate::access::{UNBOUND, World, elements};
use crate::tally::{Direction, Outcome, Tally};

#[test]
fn maps_compose() {
    let tally = Tally::default();
    on_all_cores(cases(1_500), |i| {
        let generated = hlo::random_graph(&mut Rng::new(seed(i)));
        let program =
            || format!("seed {:#x}, integers {:?}\n{}", generated.seed, generated.values, generated.text);
        for direction in [Direction::OutputToInput, Direction::InputToOutput] {
            tally.count(Opcode::Fusion, direction, check(&generated, direction), program);
        }
    });
    eprintln!("{}", tally.table());
    tally.verdict();
}

fn check(generated: &Generated, direction: Direction) -> Outcome {
    let values = generated.on(0, |setting| trace_graph(&generated.graph, setting)).remove(0);
    let root = match &values[generated.root() as usize] {
        Ok(TracedValue { leaves, .. }) => &leaves[0],
        Err(reason) => return Outcome::NotEvaluated(reason.to_string()),
    };
    let integers = |source: &RuntimeSource| {
        let RuntimeSource::Op { op, .. } = source else { return None };
        let numbers = values.get(*op as usize)?.as_ref().ok()?.numbers.clone()?;
        Some((generated.graph.ops[*op as usize].shape.dims().to_vec(), numbers))
    };
    let world = World { integers: &integers, group: &[], own: 0, leaf: 0, largest: 0 };
    let parameters = generated.values.len();
    let lists: Vec<Vec<OperandIndexing>> = match direction {
        Direction::InputToOutput => (0..parameters)
            .map(|number| fusion_input_to_output(&generated.graph, number, Rules::Exact, &no_callees))
            .map(|answer| answer.operands.into_iter().next().expect("one output"))
            .collect(),
        _ => fusion(&generated.graph, 0, parameters, Rules::Exact, &no_callees).operands,
    };
    let mut all_exact = true;
    for (number, list) in lists.iter().enumerate() {
        if let Some(unknown) = list.iter().find(|access| access.map.is_undefined()) {
            return Outcome::Unknown(unknown.note.as_deref().unwrap_or_default().to_owned());
        }
        let is_bound = list.iter().any(|access| access.is_upper_bound);
        all_exact &= !is_bound;
        let sizes = generated.graph.parameter(number as u32);
        let sizes = sizes.map_or(Vec::new(), |op| generated.graph.ops[op as usize].shape.dims().to_vec());
        let (from, to, related) = match direction {
            Direction::InputToOutput => (&sizes, &root.dims, feeds(root, number, &sizes)),
            _ => (&root.dims, &sizes, reads(root, number)),
        };
        for (at, expected) in related.iter().enumerate() {
            let index = index_at(from, at);
            let mut got = Elements::new();
            let found = list
                .iter()
                .try_for_each(|access| elements(access, &index, &|_| to.clone(), &world, &mut got));
            let place = || format!("{direction:?}, parameter {number} at {index:?}");
            match found {
                Err(reason) if reason == UNBOUND => return Outcome::NotEvaluated(reason),
                Err(reason) => return Outcome::Wrong(format!("{}: {reason}", place())),
                Ok(()) if got == *expected || is_bound && expected.is_subset(&got) => {}
                Ok(()) => {
                    let maps: Vec<String> = list.iter().map(|access| access.map.to_string()).collect();
                    let (got, expected) = (positions(&got), positions(expected));
                    let maps = maps.join("\n  ");
                    return Outcome::Wrong(format!("{}: {got:?}, not {expected:?}\n  {maps}", place()));
                }
            }
        }
    }
    if all_exact { Outcome::Exact } else { Outcome::Bound }
}

/// For each element of the root, the elements of the parameter that it reads.
fn reads(root: &Traced, number: usize) -> Vec<Elements> {
    let of = |reads: &Vec<Read>| {
        let own = reads.iter().filter(|read| read.operand as usize == number);
        own.map(|read| (0, None, read.position)).collect()
    };
    root.elements.iter().map(of).collect()
}

/// For each element of the parameter, the elements of the root that read it.
fn feeds(root: &Traced, number: usize, sizes: &[i64]) -> Vec<Elements> {
    let mut all = vec![Elements::new(); sizes.iter().product::<i64>() as usize];
    for (at, reads) in root.elements.iter().enumerate() {
        for read in reads.iter().filter(|read| read.operand as usize == number) {
            all[read.position as usize].insert((0, None, at as u32));
        }
    }
    all
}

fn positions(elements: &Elements) -> Vec<u32> {
    elements.iter().map(|(_, _, at)| *at).collect()
}
