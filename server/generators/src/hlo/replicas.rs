//! Ops across two to four replicas, in one or more groups.

use ir::Opcode;

use super::program::{Operand, Program, braces};
use crate::value::list;

/// All replicas in groups of equal size and random order, as text, and the group size.
fn groups(p: &mut Program<'_>) -> (String, i64) {
    let replicas = i64::from(p.replicas);
    let sizes: Vec<i64> = (1..=replicas).filter(|size| replicas % size == 0).collect();
    let size = *p.rng.pick(&sizes);
    if p.rng.one_in(4) {
        return (format!("replica_groups=[{},{size}]<=[{replicas}]", replicas / size), size);
    }
    let order = p.rng.permutation(p.replicas as usize);
    let groups: Vec<String> = order.chunks(size as usize).map(braces).collect();
    (format!("replica_groups={{{}}}", groups.join(",")), size)
}

pub(super) fn collective(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(1..=3, 5)?;
    p.replicas = p.rng.range(2, 4) as u32;
    let (groups, size) = groups(p);
    let mut dims = input.dims.clone();
    let dim = p.rng.range(0, dims.len() as i64 - 1) as usize;
    let along = format!("dimensions={{{dim}}}");
    let one = |p: &mut Program<'_>, dims: &[i64], attributes: String| {
        p.push(opcode, "f32", dims, &[&input], &attributes)
    };
    match opcode {
        Opcode::AllGather | Opcode::AllGatherStart => {
            (dims[dim] > 0).then_some(())?;
            dims[dim] *= size;
            let attributes = format!("{groups}, {along}");
            if opcode == Opcode::AllGather {
                return one(p, &dims, attributes);
            }
            let shape = format!("({}, {})", input.shape, p.shape("f32", &dims));
            Some(p.push_of(opcode, "f32", &dims, shape, &[&input], &attributes))
        }
        Opcode::AllReduce | Opcode::AllReduceStart => {
            let to_apply = p.adder(1);
            if opcode == Opcode::AllReduce && p.rng.one_in(3) {
                let second = p.parameter("f32", &[2]);
                let shape = format!("({}, {})", input.shape, second.shape);
                let attributes = format!("{groups}, to_apply={to_apply}");
                return Some(p.push_of(opcode, "f32", &dims, shape, &[&input, &second], &attributes));
            }
            one(p, &dims, format!("{groups}, to_apply={to_apply}"))
        }
        Opcode::ReduceScatter => {
            (dims[dim] % size == 0).then_some(())?;
            dims[dim] /= size;
            let to_apply = p.adder(1);
            one(p, &dims, format!("{groups}, {along}, to_apply={to_apply}"))
        }
        Opcode::AllToAll if p.rng.one_in(2) => {
            (dims[dim] % size == 0).then_some(())?;
            one(p, &dims, format!("{groups}, {along}"))
        }
        Opcode::AllToAll => {
            // The tuple form: one operand per member of the group, all of one shape.
            p.restart();
            let shape = format!("f32[{}]", list(&dims));
            let operands: Vec<Operand> =
                (0..size).map(|_| p.parameter_of("f32", &dims, shape.clone(), None)).collect();
            let operands: Vec<&Operand> = operands.iter().collect();
            let shape = format!("({})", vec![shape; size as usize].join(", "));
            Some(p.push_of(opcode, "f32", &dims, shape, &operands, &groups))
        }
        Opcode::CollectiveBroadcast | Opcode::CollectiveReduce => {
            let to_apply = match opcode {
                Opcode::CollectiveReduce => format!(", to_apply={}", p.adder(1)),
                _ => String::new(),
            };
            if p.rng.one_in(3) {
                let roots = p.parameter("s32", &[1]);
                let attributes = format!("{groups}, has_dynamic_root=true{to_apply}");
                return p.push(opcode, "f32", &dims, &[&input, &roots], &attributes);
            }
            one(p, &dims, format!("{groups}, has_dynamic_root=false{to_apply}"))
        }
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart => {
            let to = p.rng.permutation(p.replicas as usize);
            let mut pairs: Vec<String> =
                to.iter().enumerate().map(|(i, to)| format!("{{{i},{to}}}")).collect();
            pairs.truncate(p.rng.range(1, to.len() as i64) as usize);
            let attributes = format!("source_target_pairs={{{}}}", pairs.join(","));
            if opcode == Opcode::CollectivePermute {
                return one(p, &dims, attributes);
            }
            let shape = format!("({}, {})", input.shape, input.shape);
            Some(p.push_of(opcode, "f32", &dims, shape, &[&input], &attributes))
        }
        _ => None,
    }
}

/// A done whose start is a parameter: the array it takes from the start's result.
pub(super) fn done(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let rank = p.rng.range(1, 3) as usize;
    let dims = p.sizes(rank, 4);
    let shape = p.shape("f32", &dims);
    let start = match opcode {
        Opcode::AllReduceDone => shape.clone(),
        _ => format!("({shape}, {shape})"),
    };
    let start = p.parameter_of("f32", &dims, start, None);
    Some(p.push_of(opcode, "f32", &dims, shape, &[&start], ""))
}
