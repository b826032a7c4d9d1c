//! Maps enumerated, against the reference.

use std::collections::BTreeSet;

use indexing::{OperandIndexing, Rules, RuntimeSource, no_callees};
use ir::{Graph, Opcode};

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
    let runtime: Vec<i64> = access
        .runtime_variables
        .iter()
        .map(|variable| {
            let RuntimeSource::Op { op, .. } = &variable.source else { panic!("a source without a name") };
            let parameter = &program.parameters[graph.ops[*op as usize].parameter.unwrap() as usize];
            // Index operands are scalars, or the op is the only one: the dimensions suffice to find the element.
            let used = variable.map.results().iter().map(|e| e.evaluate(output).unwrap()).collect::<Vec<_>>();
            let value = parameter.values[position(&parameter.dims, &used).unwrap() as usize];
            value.clamp(variable.feasible.lower, variable.feasible.upper)
        })
        .collect();
    let ranges: Vec<i64> = map.ranges().iter().map(|v| v.bounds.size() as i64).collect();
    let mut places = BTreeSet::new();
    for offsets in indices(&ranges) {
        let ranges = offsets.iter().zip(map.ranges()).map(|(i, v)| i + v.bounds.lower);
        let point: Vec<i64> = output.iter().copied().chain(ranges).chain(runtime.iter().copied()).collect();
        if let Some(result) = map.evaluate(&point) {
            let place = position(dims, &result);
            places.insert(place.unwrap_or_else(|| panic!("{map} leaves {dims:?}\n{}", program.text())));
        }
    }
    places
}

/// From the root to each parameter: exactly what the reference says.
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
            let mut got = BTreeSet::new();
            for access in list {
                got.extend(read(program, &graph, access, &output, dims));
            }
            let maps: Vec<String> = list.iter().map(|a| a.map.to_string()).collect();
            assert_eq!(got, expected, "parameter {number} at {output:?}: {maps:#?}\n{text}");
        }
    }
}

/// From each operand of the last op, where it is a parameter and has a map, to its output: the inverse relation.
pub fn check_input_to_output(program: &Program) {
    let text = program.text();
    let graph = crate::entry(&text);
    let root: &Tensor = program.tensors.last().unwrap();
    let op = &graph.ops[graph.root as usize];
    for (i, &operand) in graph.operands[graph.root as usize].iter().enumerate() {
        let Some(number) = graph.ops[operand as usize].parameter else { continue };
        let answer = indexing::input_to_output_by(op, i, Rules::Exact);
        let [list] = answer.operands.as_slice() else { panic!("not one output\n{text}") };
        let [access] = list.as_slice() else { panic!("not one map\n{text}") };
        // The padding value feeds what is not the operand's; that needs a union.
        if access.map.is_undefined() {
            assert!(access.note.is_some(), "{text}");
            let is_known =
                matches!(op.opcode, Opcode::Dot | Opcode::Slice | Opcode::Reshape | Opcode::Bitcast);
            assert!(!is_known, "no map: {:?}\n{text}", access.note);
            continue;
        }
        for index in indices(&program.parameters[number as usize].dims) {
            let tag = (number as usize, position(&program.parameters[number as usize].dims, &index).unwrap());
            let feeds = |tags: &Tags| tags.contains(&tag);
            let expected: BTreeSet<i64> =
                (0..).zip(&root.elements).filter(|(_, tags)| feeds(tags)).map(|(at, _)| at).collect();
            let got = read(program, &graph, access, &index, &root.dims);
            assert_eq!(got, expected, "from operand {i} at {index:?}: {}\n{text}", access.map);
        }
    }
}
