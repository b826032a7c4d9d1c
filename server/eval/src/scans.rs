//! `scan`: a computation on consecutive slices, with carried values.

use std::rc::Rc;

use ir::{AttributeKey, Attributes, Graph, OpId, Opcode};

use super::column::{Column, Values};
use super::dispatch::Asked;
use super::evaluator::{Evaluator, MAX_HELD};
use super::folding::Sum;
use super::frames::Binding;
use super::positions::array;
use crate::checks::{Checked, dimensions, ensure, leaves};

/// The largest number of steps of one scan.
const MAX_STEPS: i64 = 1 << 20;

/// Elements of one result: first the outputs, each step of which writes a slice, then the final carries.
pub(crate) fn scan(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let key = (asked.frame, asked.id);
    let results = match evaluator.scans.get(&key) {
        Some(results) => results.clone(),
        None => {
            let results = Rc::new(steps(evaluator, asked)?);
            evaluator.scans.insert(key, results.clone());
            results
        }
    };
    let whole = results.get(asked.leaf).ok_or("there is no such output")?;
    let indices: Vec<u32> = asked.batch.positions.iter().map(|&p| p as u32).collect();
    ensure(indices.iter().all(|&i| (i as usize) < whole.len()), "a scan answers too few elements")?;
    Ok(whole.pick(&indices))
}

/// The elements of one slice and their positions in a whole array: `outer` times `size` times `inner`.
#[derive(Clone, Copy)]
struct Slices {
    outer: i64,
    size: i64,
    inner: i64,
}

impl Slices {
    fn of(dims: &[i64], dim: usize) -> Checked<Slices> {
        ensure(dim < dims.len(), "an array lacks the dimension that is scanned")?;
        let product = |dims: &[i64]| dims.iter().product();
        Ok(Slices { outer: product(&dims[..dim]), size: dims[dim], inner: product(&dims[dim + 1..]) })
    }

    fn slice(self, at: i64) -> Vec<u32> {
        let rows = (0..self.outer).map(|row| (row * self.size + at) * self.inner);
        rows.flat_map(|start| (start..start + self.inner).map(|place| place as u32)).collect()
    }

    /// For each element of the whole, its index among the concatenated slices, which are in step order.
    fn gathered(self, is_reverse: bool) -> Vec<u32> {
        let length = self.outer * self.inner;
        let step = |at: i64| if is_reverse { self.size - 1 - at } else { at };
        let place = |p: i64| {
            cancel::tick();
            let (row, rest) = (p / (self.size * self.inner), p % (self.size * self.inner));
            (step(rest / self.inner) * length + row * self.inner + rest % self.inner) as u32
        };
        (0..length * self.size).map(place).collect()
    }
}

/// The bounds of prefix sums of floats that may be computed in any order, as XLA's kernels do.
struct Sums(Vec<Sum>);

impl Sums {
    fn of(attributes: &Attributes, graph: &Graph, inputs: usize, carries: usize) -> Option<Sums> {
        let is_sum = |&of: &OpId| graph.ops[of as usize].opcode == Opcode::Add;
        let is_associative = attributes.bool(AttributeKey::IsAssociative) == Some(true);
        let root = graph.ops.get(graph.root as usize)?;
        let sums = root.opcode == Opcode::Tuple && graph.operands[graph.root as usize].iter().all(is_sum);
        (is_associative && sums && (inputs, carries) == (1, 1)).then(|| Sums(Vec::new()))
    }

    /// Adds the terms of a step; those of the first one are added to what the scan starts from.
    fn add(&mut self, terms: &Column, start: &Column) {
        let add = |sums: &mut [Sum], column: &Column| {
            let Values::Real(values) = &column.values else { return };
            for (i, (sum, &value)) in sums.iter_mut().zip(values).enumerate() {
                sum.add(value, column.error_at(i));
            }
        };
        if self.0.is_empty() {
            self.0 = vec![Sum::default(); terms.len()];
            add(&mut self.0, start);
        }
        add(&mut self.0, terms);
    }

    /// The column with the error that another order may make.
    fn bounded(&self, column: &Column) -> Column {
        let mut column = column.clone();
        if !matches!(column.values, Values::Real(_)) || column.len() != self.0.len() {
            return column;
        }
        let kind = column.kind;
        // Both orders differ from the exact sum.
        let bound = |(i, sum): (usize, &Sum)| column.error_at(i).max(2.0 * sum.finish(kind, kind).1);
        column.error = Some(self.0.iter().enumerate().map(bound).collect());
        column
    }
}

fn steps(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Vec<Rc<Column>>> {
    let attributes = &asked.op.attributes;
    let name = attributes.computation(AttributeKey::ToApply).ok_or("the computation is not named")?;
    let graph = evaluator.callee(name)?;
    let operands = asked.operands().len();
    let carries = attributes.int(AttributeKey::NumCarries).and_then(|n| usize::try_from(n).ok());
    let carries = carries.filter(|&n| n <= operands).ok_or("num_carries does not fit the operands")?;
    let inputs = operands - carries;
    let dim = attributes.ints(AttributeKey::Dimensions).first().copied().ok_or("dimensions is missing")?;
    let results: Vec<Vec<i64>> = leaves(&asked.op.shape)
        .into_iter()
        .map(|shape| array(shape).map(|array| array.dims.clone()))
        .collect::<Checked<_>>()?;
    let outputs = results.len().checked_sub(carries).ok_or("fewer results than carried values")?;
    for dims in &results {
        let count: i64 = dims.iter().product();
        ensure(
            count <= MAX_HELD,
            format!("too many elements of a scan to hold: {count}, at most {MAX_HELD}"),
        )?;
    }
    let mut sums = Sums::of(attributes, &graph, inputs, carries);
    let is_reverse = attributes.bool(AttributeKey::IsReverse).unwrap_or(false);

    let mut given = Vec::new();
    let mut state = Vec::new();
    for i in 0..operands {
        let dims = &array(asked.operand_shape(i)?)?.dims;
        let column = evaluator.held(asked.frame, asked.operand(i)?, 0)?;
        match i < inputs {
            true => given.push((Slices::of(dims, dimensions(&[dim], dims.len())?[0])?, column)),
            false => state.push(column),
        }
    }
    let length = given.first().map_or(0, |(slices, _)| slices.size);
    ensure(given.iter().all(|(slices, _)| slices.size == length), "the inputs differ in length")?;
    ensure(length <= MAX_STEPS, format!("too many steps of a scan: {length}, at most {MAX_STEPS}"))?;
    let mut written: Vec<Option<Column>> = vec![None; outputs];
    let before = evaluator.frames.len();
    for step in 0..length {
        let at = if is_reverse { length - 1 - step } else { step };
        let sliced = given.iter().map(|(slices, column)| Rc::new(column.pick(&slices.slice(at))));
        let arguments = sliced.chain(state.iter().cloned());
        let bindings = arguments.map(|column| Binding::Held(Rc::new(vec![column]))).collect();
        let frame = evaluator.frame(graph.clone(), bindings);
        let mut next = Vec::new();
        if let Some(sums) = &mut sums {
            sums.add(&given[0].1.pick(&given[0].0.slice(at)), &state[0]);
        }
        for leaf in 0..results.len() {
            let mut column = evaluator.held(frame, graph.root, leaf)?;
            if let Some(sums) = &sums {
                column = Rc::new(sums.bounded(&column));
            }
            match written.get_mut(leaf) {
                Some(Some(all)) => all.append(&column),
                Some(none) => *none = Some(Column::clone(&column)),
                None => next.push(column),
            }
        }
        state = next;
        evaluator.end_turn(before);
    }
    let mut all = Vec::new();
    for (dims, slices) in results.iter().zip(written) {
        let places = Slices::of(dims, dimensions(&[dim], dims.len())?[0])?;
        let column = match slices {
            Some(column) => column,
            None => Column::none(super::evaluator::kind_of(leaves(&asked.op.shape)[all.len()])?),
        };
        let order = places.gathered(is_reverse);
        ensure(order.len() == column.len(), "a result of the computation does not fit the scan's")?;
        all.push(Rc::new(column.pick(&order)));
    }
    for (dims, column) in results[outputs..].iter().zip(state) {
        ensure(column.len() as i64 == dims.iter().product::<i64>(), "a carried value changes its size")?;
        all.push(column);
    }
    Ok(all)
}
