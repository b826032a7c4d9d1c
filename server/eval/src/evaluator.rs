//! The evaluator: computes elements of an op's result on demand, through its operands.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ir::{Graph, Op, OpId, Opcode, Shape, is_elementwise};

use super::column::Column;
use super::frames::{Binding, Frame};
use super::positions::{Batch, array, count};
use super::types::Kind;
use super::{elementwise, scatters};
use crate::checks::{Callees, Checked, Reason, leaves};

/// The default limit on the elements of all ops together that one evaluator computes.
pub const DEFAULT_WORK: u64 = 1 << 34;

/// The largest number of elements of one op that are held at a time.
pub(crate) const MAX_HELD: i64 = 1 << 24;

/// The deepest nesting of ops that are not elementwise.
const MAX_DEPTH: u32 = 400;

/// Supplies parameters: elements of leaf `leaf` of parameter `number` at row-major positions.
pub type Inputs<'a> = dyn Fn(u32, usize, &[i64]) -> Result<Column, Reason> + 'a;

/// Evaluates ops of graphs. Memory and work are bounded; exceeding a bound is an error.
pub struct Evaluator<'a> {
    pub(crate) callees: &'a Callees<'a>,
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) frames: Vec<Frame>,
    batches: u64,
    work: u64,
    work_left: u64,
    depth: u32,
    /// Landing updates of scatters, by frame and op.
    pub(crate) arrivals: HashMap<(usize, OpId), Rc<scatters::Arrivals>>,
    /// Arrays computed as a whole, by frame and op.
    pub(crate) wholes: HashMap<(usize, OpId), Rc<Column>>,
    /// All arrays of scans, by frame and op.
    pub(crate) scans: HashMap<(usize, OpId), Rc<Vec<Rc<Column>>>>,
    /// Computations that ops are expanded to, by name.
    pub(crate) expansions: HashMap<String, Arc<Graph>>,
    devices: i64,
    is_in_tf32: bool,
    notes: Vec<&'static str>,
}

impl<'a> Evaluator<'a> {
    pub fn new(graph: Arc<Graph>, callees: &'a Callees<'a>, inputs: &'a Inputs<'a>) -> Evaluator<'a> {
        let count = graph.ops.iter().filter_map(|op| op.parameter).max().map_or(0, |n| n.saturating_add(1));
        let parameters = (0..count.min(1 << 16)).map(Binding::Input).collect();
        let mut evaluator = Evaluator {
            callees,
            inputs,
            frames: Vec::new(),
            batches: 0,
            work: DEFAULT_WORK,
            work_left: DEFAULT_WORK,
            depth: 0,
            arrivals: HashMap::new(),
            wholes: HashMap::new(),
            scans: HashMap::new(),
            expansions: HashMap::new(),
            devices: 1,
            is_in_tf32: false,
            notes: Vec::new(),
        };
        evaluator.frame(graph, parameters);
        evaluator
    }

    /// Limits the elements of all ops together that are computed from now on.
    pub fn limit(&mut self, work: u64) {
        (self.work, self.work_left) = (work, work);
    }

    /// How many elements may still be computed.
    pub fn work_left(&self) -> u64 {
        self.work_left
    }

    /// Sets the number of devices that run the program; one of them is evaluated.
    pub fn run_on(&mut self, devices: i64) {
        self.devices = devices;
    }

    /// Lets dots of 32 bits round or truncate their operands to TF32, which keeps 10 of the 23 bits of the mantissa: the
    /// errors of their results allow for both. The values stay those of 32 bits.
    pub fn multiply_in_tf32(&mut self) {
        self.is_in_tf32 = true;
    }

    pub(crate) fn is_in_tf32(&self) -> bool {
        self.is_in_tf32
    }

    pub(crate) fn devices(&self) -> i64 {
        self.devices
    }

    /// Records a remark on the values.
    pub(crate) fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Remarks on the computed values.
    pub fn notes(&self) -> &[&'static str] {
        &self.notes
    }

    /// Elements of array `leaf` (nested tuples flattened) of an op of the graph, at row-major positions.
    pub fn elements(&mut self, op: OpId, leaf: usize, positions: &[i64]) -> Result<Column, Reason> {
        let batch = self.batch(positions.to_vec());
        let column = self.eval(0, op, leaf, &batch)?;
        for frame in &mut self.frames {
            frame.recent.clear();
        }
        Ok(Rc::unwrap_or_clone(column))
    }

    /// All elements of array `leaf`.
    pub fn whole(&mut self, op: OpId, leaf: usize) -> Result<Column, Reason> {
        self.depth = 0;
        let column = self.held(0, op, leaf)?;
        Ok(Rc::unwrap_or_clone(column))
    }

    pub(crate) fn batch(&mut self, positions: Vec<i64>) -> Rc<Batch> {
        self.batches += 1;
        Rc::new(Batch { id: self.batches, positions })
    }

    pub(crate) fn spend(&mut self, elements: usize) -> Checked<()> {
        cancel::check();
        match self.work_left.checked_sub(elements as u64) {
            Some(left) => {
                self.work_left = left;
                Ok(())
            }
            None => Err(format!("too much work to evaluate: more than {} elements", self.work).into()),
        }
    }

    pub(crate) fn op(&self, frame: usize, op: OpId) -> Checked<(Arc<Graph>, usize)> {
        let graph = self.frames.get(frame).map(|f| f.graph.clone()).ok_or("no such frame")?;
        match (op as usize) < graph.ops.len() {
            true => Ok((graph, op as usize)),
            false => Err("no such op".into()),
        }
    }

    /// All elements of an array, in row-major order.
    pub(crate) fn held(&mut self, frame: usize, op: OpId, leaf: usize) -> Checked<Rc<Column>> {
        let (graph, at) = self.op(frame, op)?;
        let shape = leaf_shape(&graph.ops[at].shape, leaf)?;
        let elements = count(array(shape)?);
        if elements > MAX_HELD {
            return Err(
                format!("{shape} has too many elements to hold: {elements}, at most {MAX_HELD}").into()
            );
        }
        let mut whole: Option<Column> = None;
        let mut from = 0;
        // Chunks bound the elements that intermediate ops hold.
        while from < elements || whole.is_none() {
            let to = (from + (1 << 16)).min(elements);
            let batch = self.batch((from..to).collect());
            let part = self.eval(frame, op, leaf, &batch)?;
            match &mut whole {
                Some(whole) => whole.append(&part),
                None => whole = Some(Rc::unwrap_or_clone(part)),
            }
            for frame in &mut self.frames {
                frame.recent.clear();
            }
            from = to;
        }
        Ok(Rc::new(whole.unwrap_or_else(|| Column::none(Kind::Pred))))
    }

    /// The single element of a scalar operand.
    pub(crate) fn scalar(&mut self, frame: usize, op: OpId) -> Checked<Column> {
        let batch = self.batch(vec![0]);
        Ok(Rc::unwrap_or_clone(self.eval(frame, op, 0, &batch)?))
    }

    /// Elements at positions, which may repeat.
    pub(crate) fn at(
        &mut self,
        frame: usize,
        op: OpId,
        leaf: usize,
        positions: Vec<i64>,
    ) -> Checked<Rc<Column>> {
        let batch = self.batch(positions);
        self.eval(frame, op, leaf, &batch)
    }

    /// Elements of array `leaf` of an op.
    pub(crate) fn eval(
        &mut self,
        frame: usize,
        op: OpId,
        leaf: usize,
        batch: &Rc<Batch>,
    ) -> Checked<Rc<Column>> {
        cancel::check();
        if self.depth >= MAX_DEPTH {
            return Err("ops nest too deep to evaluate".into());
        }
        self.depth += 1;
        let result = self.sweep(frame, op, leaf, batch);
        self.depth -= 1;
        let column = result?;
        let shape =
            self.frames.get(frame).and_then(|f| f.graph.ops.get(op as usize)).map(|op| op.shape.clone());
        let kind = kind_of(leaf_shape(&shape.ok_or("no such op")?, leaf)?)?;
        match column.len() == batch.positions.len() && column.kind == kind {
            true => Ok(column),
            false => Err("an op does not answer what its shape says".into()),
        }
    }

    /// Evaluates the elementwise ops between `op` and its non-elementwise producers in definition order,
    /// without recursion.
    fn sweep(&mut self, frame: usize, op: OpId, leaf: usize, batch: &Rc<Batch>) -> Checked<Rc<Column>> {
        let graph = self.op(frame, op)?.0;
        if let Some(known) = self.frames[frame].recent.get(&(op, leaf, batch.id)) {
            return Ok(known.clone());
        }
        let root = &graph.ops[op as usize];
        if !goes_along(root) {
            let column = self.boundary(frame, &graph, op, leaf, batch)?;
            self.frames[frame].recent.insert((op, leaf, batch.id), column.clone());
            return Ok(column);
        }
        let mut needed = vec![op];
        let mut uses: HashMap<OpId, u32> = HashMap::from([(op, 1)]);
        let mut next = 0;
        while let Some(&one) = needed.get(next) {
            next += 1;
            if goes_along(&graph.ops[one as usize]) {
                for &operand in &graph.operands[one as usize] {
                    let count = uses.entry(operand).or_insert(0);
                    *count += 1;
                    if *count == 1 {
                        needed.push(operand);
                    }
                }
            }
        }
        needed.sort_unstable();
        let mut columns: HashMap<OpId, Rc<Column>> = HashMap::new();
        for one in needed {
            let op = graph.ops.get(one as usize).ok_or("an operand is missing")?;
            let column = if goes_along(op) {
                let kind = kind_of(&op.shape)?;
                let mut operands = Vec::new();
                for (&id, shape) in graph.operands[one as usize].iter().zip(&op.operand_shapes) {
                    let column = columns.get(&id).cloned().ok_or("an operand comes after its use")?;
                    // A scalar beside arrays is broadcast.
                    operands.push(
                        match shape.dims().is_empty() && column.len() == 1 && batch.positions.len() != 1 {
                            true => Rc::new(column.pick(&vec![0; batch.positions.len()])),
                            false => column,
                        },
                    );
                }
                self.spend(batch.positions.len())?;
                let borrowed: Vec<&Column> = operands.iter().map(Rc::as_ref).collect();
                Rc::new(elementwise::apply(op, kind, &borrowed).map_err(|why| named(&graph, one, why))?)
            } else if op.shape.dims().is_empty() && !root.shape.dims().is_empty() {
                self.at(frame, one, 0, vec![0])?
            } else {
                self.eval(frame, one, 0, batch)?
            };
            if goes_along(op) {
                for operand in &graph.operands[one as usize] {
                    if let Some(left) = uses.get_mut(operand) {
                        *left -= 1;
                        if *left == 0 {
                            columns.remove(operand);
                        }
                    }
                }
            }
            columns.insert(one, column);
        }
        columns.remove(&op).ok_or_else(|| "the op is missing".into())
    }
}

pub(crate) fn named(graph: &Graph, op: OpId, why: Reason) -> Reason {
    if why.contains(" [") { why } else { format!("{why} [{}]", graph.names[op as usize]).into() }
}

/// Whether element i of the result depends on element i of the operands only.
fn goes_along(op: &Op) -> bool {
    let is_array = op.shape.as_array().is_some();
    let dims = op.shape.dims();
    is_array
        && is_elementwise(op.opcode)
        && op.opcode != Opcode::BitcastConvert
        && op
            .operand_shapes
            .iter()
            .all(|shape| shape.as_array().is_some_and(|a| a.dims == dims || a.dims.is_empty()))
}

pub(crate) fn leaf_shape(shape: &Shape, leaf: usize) -> Checked<&Shape> {
    leaves(shape).get(leaf).copied().ok_or_else(|| "there is no such output".into())
}

pub(crate) fn kind_of(shape: &Shape) -> Checked<Kind> {
    let element = shape.element().ok_or("not an array")?;
    Kind::of(element).ok_or_else(|| format!("{element} is not evaluated").into())
}
