//! Tuples, and ops that call computations.

use ir::Opcode;

use super::program::{Operand, Program};
use crate::value::list;

pub(super) fn tuple(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let elements = p.rng.range(1, 3) as usize;
    let mut shapes = Vec::new();
    for _ in 0..elements {
        let rank = p.rng.range(0, 2) as usize;
        let dims = p.sizes(rank, 5);
        shapes.push((p.shape("f32", &dims), dims));
    }
    let whole =
        format!("({})", shapes.iter().map(|(shape, _)| shape.as_str()).collect::<Vec<_>>().join(", "));
    if opcode == Opcode::Tuple {
        let operands: Vec<Operand> =
            shapes.into_iter().map(|(shape, dims)| p.parameter_of("f32", &dims, shape, None)).collect();
        let operands: Vec<&Operand> = operands.iter().collect();
        return Some(p.push_of(opcode, "f32", &[], whole, &operands, ""));
    }
    let operand = p.parameter_of("f32", &[], whole, None);
    let index = p.rng.range(0, elements as i64 - 1) as usize;
    let (shape, dims) = shapes.swap_remove(index);
    Some(p.push_of(opcode, "f32", &dims, shape, &[&operand], &format!("index={index}")))
}

/// The body of a computation from one array to another of the same sizes (a matrix): a sequence of moves.
fn moves(p: &mut Program<'_>, input: &str, dims: &[i64]) -> Vec<String> {
    let shape = format!("f32[{}]", list(dims));
    let turned = format!("f32[{},{}]", dims[1], dims[0]);
    let mut lines = Vec::new();
    let mut last = input.to_owned();
    for i in 0..p.rng.range(1, 3) {
        let next = format!("m{i}");
        match p.rng.range(0, 2) {
            0 => {
                lines.push(format!("{next} = {shape} reverse({last}), dimensions={{{}}}", p.rng.range(0, 1)))
            }
            1 => {
                lines.push(format!("t{i} = {turned} transpose({last}), dimensions={{1,0}}"));
                lines.push(format!("{next} = {shape} reshape(t{i})"));
            }
            _ => {
                lines.push(format!("r{i} = {shape} reverse({last}), dimensions={{1}}"));
                lines.push(format!("{next} = {shape} add({last}, r{i})"));
            }
        }
        last = next;
    }
    lines
}

pub(super) fn call(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let dims = p.sizes(2, 5);
    let shape = format!("f32[{}]", list(&dims));
    let parameter = |p: &mut Program<'_>| p.parameter_of("f32", &dims, shape.clone(), None);
    match opcode {
        Opcode::Fusion | Opcode::Call => {
            let operand = parameter(p);
            let mut lines = vec![format!("a = {shape} parameter(0)")];
            lines.extend(moves(p, "a", &dims));
            let name = p.computation("called", &lines);
            let attributes = match opcode {
                Opcode::Fusion => format!("kind=kLoop, calls={name}"),
                _ => format!("to_apply={name}"),
            };
            Some(p.push_of(opcode, "f32", &dims, shape.clone(), &[&operand], &attributes))
        }
        Opcode::Conditional => {
            // Unknown: maps describe the reads of a branch's operand if that branch is taken.
            let predicate = p.parameter_of("pred", &[], "pred[]".to_owned(), None);
            let operands = [predicate, parameter(p), parameter(p)];
            let mut names = Vec::new();
            for name in ["taken", "other"] {
                let mut lines = vec![format!("a = {shape} parameter(0)")];
                lines.extend(moves(p, "a", &dims));
                names.push(p.computation(name, &lines));
            }
            let attributes = format!("true_computation={}, false_computation={}", names[0], names[1]);
            let operands: Vec<&Operand> = operands.iter().collect();
            Some(p.push_of(opcode, "f32", &dims, shape.clone(), &operands, &attributes))
        }
        _ => {
            let state = format!("(s32[], {shape})");
            let operand = p.parameter_of("f32", &dims, state.clone(), None);
            let condition = [
                format!("s = {state} parameter(0)"),
                "i = s32[] get-tuple-element(s), index=0".to_owned(),
                "n = s32[] constant(3)".to_owned(),
                "less = pred[] compare(i, n), direction=LT".to_owned(),
            ];
            let condition = p.computation("condition", &condition);
            let mut body = vec![
                format!("s = {state} parameter(0)"),
                "i = s32[] get-tuple-element(s), index=0".to_owned(),
                "one = s32[] constant(1)".to_owned(),
                "next = s32[] add(i, one)".to_owned(),
                format!("a = {shape} get-tuple-element(s), index=1"),
            ];
            body.extend(moves(p, "a", &dims));
            let last = body.last().and_then(|line| line.split(' ').next()).unwrap_or("a").to_owned();
            body.push(format!("done = {state} tuple(next, {last})"));
            let body = p.computation("body", &body);
            let attributes = format!("condition={condition}, body={body}");
            Some(p.push_of(opcode, "f32", &dims, state, &[&operand], &attributes))
        }
    }
}
