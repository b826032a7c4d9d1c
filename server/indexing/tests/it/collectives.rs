//! Collectives on a group of replicas: the definition of each op, compared with maps of both directions.

use std::collections::BTreeSet;

use indexing::{OWN_REPLICA, OperandIndexing, Rules, RuntimeSource, input_to_output_by, output_to_input_by};
use ir::Op;

use crate::{indices, position};

const GROUP: i64 = 3;

/// Replica, number of the operand (or output), index in it.
type Place = (i64, usize, Vec<i64>);

/// The places that an access gives for an element, as seen from one replica.
fn places(access: &OperandIndexing, own: i64, index: &[i64], number: usize) -> BTreeSet<Place> {
    assert!(!access.map.is_undefined(), "{:?}", access.note);
    let mut all = BTreeSet::new();
    if access.map.is_known_empty() {
        return all;
    }
    for variable in &access.runtime_variables {
        assert!(matches!(variable.source, RuntimeSource::Op { op: OWN_REPLICA, .. }));
    }
    let runtime = vec![own; access.map.num_runtime()];
    let ranges = |map: &indexing::IndexingMap| {
        indices(&map.ranges().iter().map(|v| v.bounds.size() as i64).collect::<Vec<_>>())
    };
    for s in ranges(&access.map) {
        let Some(at) = access.map.evaluate(&[index, &s, &runtime].concat()) else { continue };
        match &access.replica_id_map {
            None => _ = all.insert((own, number, at)),
            Some(replica) => {
                for s in ranges(replica) {
                    let own = vec![own; replica.num_runtime()];
                    let from = replica.evaluate(&[index, &s, &own].concat()).unwrap();
                    all.insert((from[0], number, at.clone()));
                }
            }
        }
    }
    all
}

/// `reads(own, output, index)` returns the places from which that element of the executing replica is
/// computed.
fn check(op: &Op, reads: impl Fn(i64, usize, &[i64]) -> BTreeSet<Place>) {
    let outputs: Vec<&ir::Shape> = match op.shape.tuple_elements() {
        Some(elements) => elements.iter().collect(),
        None => vec![&op.shape],
    };
    let mut feeds: Vec<(Place, Place)> = Vec::new();
    for (k, output) in outputs.iter().enumerate() {
        let answer = output_to_input_by(op, k, Rules::Exact);
        for own in 0..GROUP {
            for index in indices(output.dims()) {
                let expected = reads(own, k, &index);
                let got: BTreeSet<Place> = answer
                    .operands
                    .iter()
                    .enumerate()
                    .flat_map(|(i, list)| {
                        list.iter().flat_map(|a| places(a, own, &index, i)).collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(got, expected, "{:?} output {k} of replica {own} at {index:?}", op.opcode);
                feeds.extend(expected.into_iter().map(|from| (from, (own, k, index.clone()))));
            }
        }
    }
    for (i, operand) in op.operand_shapes.iter().enumerate() {
        let answer = input_to_output_by(op, i, Rules::Exact);
        for own in 0..GROUP {
            for index in indices(operand.dims()) {
                let from = (own, i, index.clone());
                let expected: BTreeSet<Place> =
                    feeds.iter().filter(|(source, _)| *source == from).map(|(_, to)| to.clone()).collect();
                let got: BTreeSet<Place> = answer
                    .operands
                    .iter()
                    .enumerate()
                    .flat_map(|(k, list)| {
                        list.iter().flat_map(|a| places(a, own, &index, k)).collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(got, expected, "{:?} operand {i} of replica {own} at {index:?}", op.opcode);
            }
        }
    }
}

fn op(line: &str, parameters: &[&str]) -> Op {
    let mut text = "HloModule m\nENTRY e {\n".to_owned();
    for (i, shape) in parameters.iter().enumerate() {
        text += &format!("  p{i} = {shape} parameter({i})\n");
    }
    text += &format!("  ROOT x = {line}, replica_groups={{{{0,1,2}}}}\n}}\n");
    let graph = crate::entry(&text);
    graph.ops[graph.root as usize].clone()
}

#[test]
fn gathers() {
    let gathered = |_: i64, k: usize, i: &[i64]| BTreeSet::from([(i[1] / 2, k, vec![i[0], i[1] % 2])]);
    check(&op("f32[2,6] all-gather(p0), dimensions={1}", &["f32[2,2]"]), gathered);
    let pair = "(f32[2,6], f32[1,6]) all-gather(p0, p1), dimensions={1}";
    check(&op(pair, &["f32[2,2]", "f32[1,2]"]), gathered);
    check(
        &op("(f32[2,2], f32[2,6]) all-gather-start(p0), dimensions={1}", &["f32[2,2]"]),
        |own, k, i| match k {
            0 => BTreeSet::from([(own, 0, i.to_vec())]),
            _ => gathered(own, 0, i),
        },
    );
}

#[test]
fn reductions() {
    let all = |k: usize, at: Vec<i64>| (0..GROUP).map(|replica| (replica, k, at.clone())).collect();
    check(&op("f32[4] all-reduce(p0), to_apply=f", &["f32[4]"]), |_, k, i| all(k, i.to_vec()));
    check(&op("(f32[4], f32[2]) all-reduce(p0, p1), to_apply=f", &["f32[4]", "f32[2]"]), |_, k, i| {
        all(k, i.to_vec())
    });
    // Operands of one size, so that only the number says which output each feeds.
    let equal = op("(f32[4], f32[4]) all-reduce(p0, p1), to_apply=f", &["f32[4]"; 2]);
    check(&equal, |_, k, i| all(k, i.to_vec()));
    check(&op("f32[2,3] reduce-scatter(p0), dimensions={0}, to_apply=f", &["f32[6,3]"]), |own, k, i| {
        all(k, vec![own * 2 + i[0], i[1]])
    });
}

#[test]
fn exchanges() {
    check(&op("f32[6,2] all-to-all(p0), dimensions={0}", &["f32[6,2]"]), |own, _, i| {
        BTreeSet::from([(i[0] / 2, 0, vec![own * 2 + i[0] % 2, i[1]])])
    });
    let arrays = "(f32[2], f32[2], f32[2]) all-to-all(p0, p1, p2)";
    check(&op(arrays, &["f32[2]"; 3]), |own, k, i| BTreeSet::from([(k as i64, own as usize, i.to_vec())]));
    check(&op("f32[4] collective-broadcast(p0)", &["f32[4]"]), |_, _, i| {
        BTreeSet::from([(0, 0, i.to_vec())])
    });
}

#[test]
fn sums_on_one_device() {
    let members = |k: usize, i: &[i64]| (0..GROUP).map(|id| (id, k, i.to_vec())).collect::<BTreeSet<_>>();
    check(
        &op("(f32[4], f32[2]) collective-reduce(p0, p1), to_apply=f", &["f32[4]", "f32[2]"]),
        |own, k, i| {
            if own == 0 { members(k, i) } else { BTreeSet::new() }
        },
    );
    for by_root in ["collective-reduce(p0, p1), to_apply=f", "collective-broadcast(p0, p1)"] {
        let by_root = op(&format!("f32[4] {by_root}, has_dynamic_root=true"), &["f32[4]", "s32[1]"]);
        let answer = output_to_input_by(&by_root, 0, Rules::Exact);
        assert!(answer.operands.iter().flatten().all(|access| access.is_upper_bound), "{answer:?}");
        assert_eq!(places(&answer.operands[0][0], 1, &[3], 0), members(0, &[3]));
        assert_eq!(places(&answer.operands[1][0], 1, &[3], 1).len() as i64, 1);
    }
}

#[test]
fn a_permutation_round_the_ring() {
    let line = "f32[4] collective-permute(p0), source_target_pairs={{0,1},{1,2},{2,0}}";
    let mut text = "HloModule m\nENTRY e {\n  p0 = f32[4] parameter(0)\n".to_owned();
    text += &format!("  ROOT x = {line}\n}}\n");
    let graph = crate::entry(&text);
    check(&graph.ops[graph.root as usize], |own, _, i| BTreeSet::from([((own + 2) % 3, 0, i.to_vec())]));
}

#[test]
fn ragged_exchanges_are_bounds() {
    let parameters = ["f32[8,2]", "f32[6,2]", "s32[3]", "s32[3]", "s32[3]", "s32[3]"];
    let op = op("f32[6,2] ragged-all-to-all(p0, p1, p2, p3, p4, p5)", &parameters);
    let answer = output_to_input_by(&op, 0, Rules::Exact);
    let input = &answer.operands[0][0];
    assert!(input.is_upper_bound && input.note.as_deref().unwrap().starts_with("reads at most any row"));
    assert_eq!(places(input, 0, &[1, 1], 0).len() as i64, GROUP * 8);
    assert_eq!(position(&[6, 2], &answer.operands[1][0].map.evaluate(&[4, 1]).unwrap()), Some(9));
}
