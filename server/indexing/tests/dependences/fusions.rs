//! Chains of instructions as fused computations: from the root to every parameter.

use dependences::{TracedValue, index_at, trace_graph};
use generators::hlo::{self, Generated};
use generators::{cases, on_all_cores, seed};
use indexing::{Rules, RuntimeSource, fusion, no_callees};
use ir::Opcode;
use random::Rng;

use crate::Elements;
use crate::access::{UNBOUND, World, elements};
use crate::tally::{Direction, Outcome, Tally};

#[test]
fn fusions_agree_with_the_evaluation() {
    let tally = Tally::default();
    on_all_cores(cases(500), |i| {
        let generated = hlo::random_graph(&mut Rng::new(seed(i)));
        let program =
            || format!("seed {:#x}, integers {:?}\n{}", generated.seed, generated.values, generated.text);
        tally.count(Opcode::Fusion, Direction::OutputToInput, check(&generated), program);
    });
    eprintln!("{}", tally.table());
    tally.verdict();
}

fn check(generated: &Generated) -> Outcome {
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
    let world = World { integers: &integers, group: &[], own: 0, leaf: 0 };
    let answer = fusion(&generated.graph, 0, generated.values.len(), Rules::Exact, &no_callees);
    let mut all_exact = true;
    for (number, list) in answer.operands.iter().enumerate() {
        if let Some(unknown) = list.iter().find(|access| access.map.is_undefined()) {
            return Outcome::Unknown(unknown.note.as_deref().unwrap_or_default().to_owned());
        }
        let is_bound = list.iter().any(|access| access.is_upper_bound);
        all_exact &= !is_bound;
        let sizes = generated.graph.parameter(number as u32);
        let sizes = sizes.map_or(Vec::new(), |op| generated.graph.ops[op as usize].shape.dims().to_vec());
        for (at, reads) in root.elements.iter().enumerate() {
            let index = index_at(&root.dims, at);
            let own = reads.iter().filter(|read| read.operand as usize == number);
            let expected: Elements = own.map(|read| (0, None, read.position)).collect();
            let mut got = Elements::new();
            let found = list
                .iter()
                .try_for_each(|access| elements(access, &index, &|_| sizes.clone(), &world, &mut got));
            let maps: Vec<String> = list.iter().map(|access| access.map.to_string()).collect();
            match found {
                Err(reason) if reason == UNBOUND => return Outcome::NotEvaluated(reason),
                Err(reason) => return Outcome::Wrong(format!("parameter {number} at {index:?}: {reason}")),
                Ok(()) if got == expected || is_bound && expected.is_subset(&got) => {}
                Ok(()) => {
                    let (got, expected) = (positions(&got), positions(&expected));
                    let maps = maps.join("\n  ");
                    let what =
                        format!("parameter {number} at {index:?}: {got:?}, not {expected:?}\n  {maps}");
                    return Outcome::Wrong(what);
                }
            }
        }
    }
    if all_exact { Outcome::Exact } else { Outcome::Bound }
}

fn positions(elements: &Elements) -> Vec<u32> {
    elements.iter().map(|(_, _, at)| *at).collect()
}
