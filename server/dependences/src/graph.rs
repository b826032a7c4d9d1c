//! Whole graphs: the dependences of each op's elements on the parameters' elements, by following operands;
//! and the ops that call graphs.

use eval::{Checked, Reason, ensure, leaves};
use ir::{AttributeKey, Graph, OpId, Opcode, Shape};

use crate::case::{Case, Setting, sizes};
use crate::numbers;
use crate::trace::trace;
use crate::traced::{Read, Traced};

/// The known properties of an op's result on one replica.
#[derive(Debug, Clone)]
pub struct TracedValue {
    /// One per array of the result.
    pub leaves: Vec<Traced>,
    /// Its integers, if they follow from the known ones.
    pub numbers: Option<Vec<i64>>,
}

/// The values per replica, per op of the graph, as dependences on elements of parameters ([`Read::operand`]
/// is the parameter's number). `setting.values` are per parameter, the same on all replicas. Time and memory
/// are linear in the sum of all sets.
pub fn trace_graph(graph: &Graph, setting: &Setting<'_>) -> Vec<Vec<Result<TracedValue, Reason>>> {
    let mut values: Vec<Vec<Result<TracedValue, Reason>>> =
        vec![Vec::new(); setting.replicas.max(1) as usize];
    for id in 0..graph.ops.len() as OpId {
        let results: Vec<_> = (0..values.len()).map(|r| step(graph, id, &values, r, setting)).collect();
        values.iter_mut().zip(results).for_each(|(values, result)| values.push(result));
    }
    values
}

fn step(
    graph: &Graph,
    id: OpId,
    values: &[Vec<Result<TracedValue, Reason>>],
    replica: usize,
    setting: &Setting<'_>,
) -> Checked<TracedValue> {
    let op = &graph.ops[id as usize];
    let own = replica as u32;
    if op.opcode == Opcode::Parameter {
        let number = op.parameter.ok_or("a parameter without a number")?;
        let leaves = parameter_leaves(&op.shape, number, own)?;
        let numbers = setting.values.get(number as usize).cloned().flatten();
        return Ok(TracedValue { leaves, numbers });
    }
    let operands = &graph.operands[id as usize];
    let of = |replica: usize, operand: u32| -> Checked<&TracedValue> {
        let id = operands.get(operand as usize).ok_or("an operand is missing")?;
        let value = values.get(replica).and_then(|values| values.get(*id as usize));
        value.ok_or("an operand is defined below")?.as_ref().map_err(Clone::clone)
    };
    let mut known = Vec::new();
    for i in 0..operands.len() as u32 {
        known.push(of(replica, i)?.numbers.clone());
    }
    let here = Setting { values: &known, replica: own, ..*setting };
    let mut traced = Vec::new();
    for leaf in 0..leaves(&op.shape).len() {
        traced.push(trace(op, leaf, &here)?);
    }
    let numbers = match op.opcode {
        Opcode::Fusion | Opcode::Call => called_numbers(op, &here),
        _ => numbers::of(op, &known, traced.first()),
    };
    let source = |read: &Read| of(read.replica as usize, read.operand).ok()?.leaves.get(read.leaf as usize);
    let leaves: Option<Vec<Traced>> = traced.iter().map(|t| t.through(source)).collect();
    Ok(TracedValue { leaves: leaves.ok_or("an operand has fewer elements than are read")?, numbers })
}

/// Every element of every array of a parameter depends on itself.
fn parameter_leaves(shape: &Shape, number: u32, replica: u32) -> Checked<Vec<Traced>> {
    let leaf = |(leaf, shape): (usize, &Shape)| {
        let dims = if shape.as_array().is_some() { sizes(shape, "a parameter")? } else { &[] };
        Ok(Traced::parameter(number, leaf as u32, replica, dims))
    };
    leaves(shape).into_iter().enumerate().map(leaf).collect()
}

/// The root of the graph called `name` on this replica, with the operands `arguments` as its parameters.
fn root(case: &Case<'_>, name: Option<&str>, arguments: &[usize]) -> Checked<TracedValue> {
    let callee = name.and_then(case.setting.callees).ok_or("the called computation is not at hand")?;
    let known = arguments.iter().map(|&i| case.setting.values.get(i).cloned().flatten());
    let known: Vec<_> = known.collect();
    let setting = Setting { values: &known, ..case.setting };
    let mut values = trace_graph(&callee, &setting);
    let values = values.get_mut(case.setting.replica as usize).ok_or("there is no such replica")?;
    let mut root = values.swap_remove(callee.root as usize)?;
    for read in root.leaves.iter_mut().flat_map(|leaf| &mut leaf.elements).flatten() {
        read.operand = *arguments.get(read.operand as usize).ok_or("a parameter without an operand")? as u32;
    }
    Ok(root)
}

fn leaf(mut value: TracedValue, output: usize) -> Checked<Traced> {
    ensure(output < value.leaves.len(), "the called computation has no such output")?;
    Ok(value.leaves.swap_remove(output))
}

fn called_name(op: &ir::Op) -> Option<&str> {
    let key = if op.opcode == Opcode::Fusion { AttributeKey::Calls } else { AttributeKey::ToApply };
    op.attributes.computation(key)
}

fn called_numbers(op: &ir::Op, setting: &Setting<'_>) -> Option<Vec<i64>> {
    let case = Case { op, output: 0, setting: *setting };
    let arguments: Vec<usize> = (0..op.operand_shapes.len()).collect();
    root(&case, called_name(op), &arguments).ok()?.numbers
}

/// Fusion and call: the root of the called graph.
pub(crate) fn call(case: &Case<'_>) -> Checked<Traced> {
    let arguments: Vec<usize> = (0..case.operand_count()).collect();
    leaf(root(case, called_name(case.op), &arguments)?, case.output)
}

/// The reads of the taken branch, and operand 0, which selects it; if the selection is unknown, the reads of
/// all branches.
pub(crate) fn conditional(case: &Case<'_>) -> Checked<Traced> {
    let of = |key| case.op.attributes.computation(key);
    let branches: Vec<Option<&str>> = match of(AttributeKey::TrueComputation) {
        Some(taken) => vec![Some(taken), of(AttributeKey::FalseComputation)],
        None => {
            let names = case.op.attributes.computations(AttributeKey::BranchComputations);
            names.iter().map(|name| Some(name.as_str())).collect()
        }
    };
    ensure(branches.len() + 1 == case.operand_count(), "not one operand per branch")?;
    let decision = case.values(0).ok().and_then(|values| values.first().copied());
    let is_pred = of(AttributeKey::TrueComputation).is_some();
    let taken = decision.map(|value| match usize::try_from(value) {
        _ if is_pred => usize::from(value == 0),
        Ok(n) if n < branches.len() => n,
        _ => branches.len() - 1,
    });
    let mut result: Option<Traced> = None;
    for (i, name) in branches.iter().enumerate().filter(|(i, _)| taken.is_none_or(|taken| taken == *i)) {
        let traced = leaf(root(case, *name, &[i + 1])?, case.output)?;
        match &mut result {
            None => result = Some(traced),
            Some(result) => _ = result.add(&traced),
        }
    }
    let mut result = result.ok_or("no branches")?;
    result.is_exact &= taken.is_some();
    result.add_to_all(&[Read { operand: 0, leaf: 0, replica: case.setting.replica, position: 0 }]);
    Ok(result)
}

/// The number of iterations is unknown: the union of the reads of all iterations and of the condition.
pub(crate) fn while_loop(case: &Case<'_>) -> Checked<Traced> {
    ensure(case.setting.replicas <= 1, "a loop over several replicas")?;
    let state = case.operand_shape(0)?;
    // The values of the first iteration do not hold in later ones.
    let case = &Case { setting: Setting { values: &[], ..case.setting }, ..*case };
    let condition = root(case, case.op.attributes.computation(AttributeKey::Condition), &[0])?;
    let body = root(case, case.op.attributes.computation(AttributeKey::Body), &[0])?;
    let mut reached = parameter_leaves(state, 0, 0)?;
    ensure(case.output < reached.len(), "there is no such output")?;
    loop {
        let turn = |of: &TracedValue| -> Checked<Vec<Traced>> {
            let through = |t: &Traced| t.through(|read| reached.get(read.leaf as usize));
            of.leaves
                .iter()
                .map(through)
                .collect::<Option<_>>()
                .ok_or_else(|| "the loop's shapes differ".into())
        };
        let (next, decided) = (turn(&body)?, turn(&condition)?);
        ensure(next.len() == reached.len(), Reason::from("the loop's shapes differ"))?;
        let decisive: Vec<Read> = decided.iter().flat_map(|t| &t.elements).flatten().copied().collect();
        let mut grew = false;
        for (own, next) in reached.iter_mut().zip(&next) {
            grew |= own.add(next);
        }
        if !grew {
            let mut result = reached.swap_remove(case.output);
            result.add_to_all(&decisive);
            result.is_exact = false;
            return Ok(result);
        }
    }
}
