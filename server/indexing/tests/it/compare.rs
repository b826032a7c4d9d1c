//! Compares enumerated maps with the reference.

use std::collections::BTreeSet;

use indexing::{OperandIndexing, Rules, RuntimeSource, no_callees};
use ir::Graph;

use crate::generate::Program;
use crate::reference::{Tags, Tensor, indices, position};

/// The elements of a parameter that an access reads for one output element, as row-major positions.
fn read(
    program: &Program,
    graph: &Graph,
    access: &OperandIndexing,
    output: &[i64],
    dims: &[i64],
) -> BTreeSet<i64> {
    let map = &access.map;
    assert!(!map.is_undefined(), "no map: {:?}\n{}", access.note, program.text());
    if map.is_known_empty() {
        return BTreeSet::new();
    }
    let sizes: Vec<i64> = map.ranges().iter().map(|v| v.bounds.size() as i64).collect();
    let mut places = BTreeSet::new();
    for offsets in indices(&sizes) {
        let ranges = offsets.iter().zip(map.ranges()).map(|(i, v)| i + v.bounds.lower);
        let mut point: Vec<i64> = output.iter().copied().chain(ranges).collect();
        let runtime: Vec<i64> = access
            .runtime_variables
            .iter()
            .map(|variable| {
                let RuntimeSource::Op { op, .. } = &variable.source else {
                    panic!("a source without a name")
                };
                let number = graph.ops[*op as usize].parameter.unwrap();
                let parameter = &program.parameters[number as usize];
                // Index operands are scalars, or the op is the only one, with whose variables the map is
                // defined.
                let at = variable.map.results().iter().map(|e| e.evaluate(&point).unwrap());
                let at: Vec<i64> = at.collect();
                let place = position(&parameter.dims, &at).unwrap_or_else(|| panic!("{}", variable.map));
                parameter.values[place as usize].clamp(variable.feasible.lower, variable.feasible.upper)
            })
            .collect();
        point.extend(runtime);
        if let Some(result) = map.evaluate(&point) {
            let place = position(dims, &result);
            places.insert(place.unwrap_or_else(|| panic!("{map} leaves {dims:?}\n{}", program.text())));
        }
    }
    places
}

/// Checks equality with the reference; an upper bound must contain it.
fn compare(
    list: &[OperandIndexing],
    read: impl Fn(&OperandIndexing) -> BTreeSet<i64>,
    expected: &BTreeSet<i64>,
    place: impl FnOnce() -> String,
) {
    let got: BTreeSet<i64> = list.iter().flat_map(read).collect();
    let is_right = match list.iter().any(|access| access.is_upper_bound) {
        true => got.is_superset(expected),
        false => got == *expected,
    };
    let maps: Vec<String> = list.iter().map(|a| a.map.to_string()).collect();
    assert!(is_right, "{}: {got:?}, not {expected:?}: {maps:#?}", place());
}

/// Compares the maps from the root to each parameter with the reference.
pub fn check_output_to_input(program: &Program) {
    let text = program.text();
    let graph = crate::entry(&text);
    assert!(graph.is_complete, "{text}");
    let root = program.tensors.last().unwrap();
    let answer = indexing::fusion(&graph, 0, program.parameters.len(), Rules::Exact, &no_callees);
    for (number, list) in answer.operands.iter().enumerate() {
        let dims = &program.parameters[number].dims;
        for output in indices(&root.dims) {
            let expected: BTreeSet<i64> =
                root.at(&output).iter().filter(|(p, _)| *p == number).map(|&(_, at)| at).collect();
            let place = || format!("parameter {number} at {output:?}\n{text}");
            compare(list, |access| read(program, &graph, access, &output, dims), &expected, place);
        }
    }
}

/// Compares the maps from each parameter to the root with the inverse relation.
pub fn check_input_to_output(program: &Program) {
    let text = program.text();
    let graph = crate::entry(&text);
    let root: &Tensor = program.tensors.last().unwrap();
    for (number, parameter) in program.parameters.iter().enumerate() {
        let answer = indexing::fusion_input_to_output(&graph, number, Rules::Exact, &no_callees);
        let [list] = answer.operands.as_slice() else { panic!("not one output\n{text}") };
        for index in indices(&parameter.dims) {
            let tag = (number, position(&parameter.dims, &index).unwrap());
            let feeds = |tags: &Tags| tags.contains(&tag);
            let expected: BTreeSet<i64> =
                (0..).zip(&root.elements).filter(|(_, tags)| feeds(tags)).map(|(at, _)| at).collect();
            let place = || format!("from parameter {number} at {index:?}\n{text}");
            compare(list, |access| read(program, &graph, access, &index, &root.dims), &expected, place);
        }
    }
}
