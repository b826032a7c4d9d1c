//! Code for one element of an op, from elements of its operands. Source:
//! `codegen/emitters/elemental_hlo_to_mlir.cc`.

use std::sync::Arc;

use indexing::{OperandIndexing, Rules, RuntimeSource};
use indexing_map::{Constraint, Expr, IndexingMap, Variable};
use ir::{AttributeKey, Op, OpId, Opcode, Shape, is_elementwise};
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use crate::Reason;
use crate::constant;
use crate::emit::Emission;
use crate::emit::body::Body;
use crate::emit::reducer::detail;
use crate::kernel::{Detail, Function, Missing, OpKind, Type, ValueId};

/// Results of ops at indices.
type Known = FxHashMap<(OpId, Vec<Expr>), Vec<ValueId>>;

/// The maximum depth of nested operands.
const MAX_DEPTH: u32 = 2048;

/// The maximum depth of nested conditionals: each opens a region, and passes recurse over regions.
const MAX_REGIONS: usize = 64;

/// Emits the ops of one function of the partition.
pub(crate) struct Elements<'a> {
    pub emission: &'a Emission<'a>,
    pub body: Body,
    /// The number of the function; other functions are called.
    pub number: u32,
    /// The tensors of the fusion's operands.
    pub tensors: Vec<ValueId>,
    /// Per open region, the available results of ops at indices.
    known: Vec<Known>,
    /// Values that the caller computed for ops, such as the hero in an epilogue.
    pub given: FxHashMap<OpId, Vec<ValueId>>,
    pub missing: Vec<Missing>,
    depth: u32,
}

/// Emits function number `number` of the partition: its root at the index in the arguments.
pub(crate) fn function(emission: &Emission<'_>, number: usize, missing: &mut Vec<Missing>) -> Function {
    let planned = &emission.partition.functions[number];
    let mut elements = Elements::new(emission, number as u32, Body::new(&planned.name, Some(planned.root)));
    let shape = first_array(&emission.graph().ops[planned.root as usize].shape);
    let at: Vec<Expr> =
        shape.dims().iter().map(|&size| elements.body.index_arg(Variable::from_size(size))).collect();
    let results = elements.results(planned.root, &at);
    missing.append(&mut elements.missing);
    elements.body.finish(results)
}

/// The array of a shape; the first one of a tuple.
pub(crate) fn first_array(shape: &Shape) -> &Shape {
    match shape {
        Shape::Tuple(elements) => elements.first().map_or(shape, first_array),
        _ => shape,
    }
}

impl<'a> Elements<'a> {
    pub fn new(emission: &'a Emission<'a>, number: u32, mut body: Body) -> Elements<'a> {
        let tensors = emission.operand_shapes().map(|shape| body.arg(Type::Tensor(shape))).collect();
        Elements {
            emission,
            body,
            number,
            tensors,
            known: vec![FxHashMap::default()],
            given: FxHashMap::default(),
            missing: Vec::new(),
            depth: 0,
        }
    }

    pub fn op(&self, op: OpId) -> &'a Op {
        &self.emission.graph().ops[op as usize]
    }

    pub fn operands(&self, op: OpId) -> &'a [OpId] {
        &self.emission.graph().operands[op as usize]
    }

    /// Emits the element of `op` at `at`, an index into its shape.
    pub fn value(&mut self, op: OpId, at: &[Expr]) -> ValueId {
        self.results(op, at)[0]
    }

    /// The same for an op with several results.
    pub fn results(&mut self, op: OpId, at: &[Expr]) -> Vec<ValueId> {
        if let Some(values) = self.given.get(&op) {
            return values.clone();
        }
        let at: Vec<Expr> = at.iter().map(|e| self.body.simplify(e)).collect();
        let key = (op, at);
        if let Some(values) = self.known.iter().rev().find_map(|region| region.get(&key)) {
            return values.clone();
        }
        let before = self.body.origin.replace(op);
        self.depth += 1;
        let values = recursion::grow(|| self.written(op, &key.1));
        self.depth -= 1;
        self.body.origin = before;
        if let Some(region) = self.known.last_mut() {
            region.insert(key, values.clone());
        }
        values
    }

    fn written(&mut self, id: OpId, at: &[Expr]) -> Vec<ValueId> {
        let op = self.op(id);
        if self.depth > MAX_DEPTH {
            return self.missing(id, format!("it stands deeper than {MAX_DEPTH} ops"));
        }
        if self.known.len() > MAX_REGIONS {
            return self.missing(id, format!("it stands in more than {MAX_REGIONS} choices"));
        }
        if self.body.is_full() {
            return self.missing(id, "the function has too many operations already".into());
        }
        if op.opcode == Opcode::Parameter {
            let Some(&tensor) = op.parameter.and_then(|n| self.tensors.get(n as usize)) else {
                return self.missing(id, "the parameter has no number".into());
            };
            return vec![self.body.read(tensor, at.to_vec())];
        }
        let function = self.emission.partition.function_of[id as usize];
        if function != self.number {
            return self.called(function as usize, id, at);
        }
        match self.inside(id, op, at) {
            Ok(values) => values,
            Err(reason) => self.missing(id, reason.into_owned()),
        }
    }

    fn called(&mut self, function: usize, id: OpId, at: &[Expr]) -> Vec<ValueId> {
        let root = self.emission.partition.functions[function].root;
        let elements = element_types(&self.op(root).shape);
        let results: Vec<ValueId> = elements.into_iter().map(|e| self.body.scalar(e)).collect();
        if root != id {
            return self.missing(id, "it is no function's root".into());
        }
        let args = self.tensors.clone();
        // The entry precedes the functions of the partition.
        self.body.push(OpKind::Call { function: function + 1, args, at: at.to_vec() }, results.clone());
        results
    }

    fn missing(&mut self, id: OpId, reason: String) -> Vec<ValueId> {
        let instruction = self.emission.graph().names[id as usize].clone();
        if self.missing.iter().all(|known| known.op != id) {
            self.missing.push(Missing { op: id, instruction, reason });
        }
        let elements = element_types(&self.op(id).shape);
        let results: Vec<ValueId> = elements.into_iter().map(|e| self.body.scalar(e)).collect();
        self.body.push(OpKind::Missing, results.clone());
        results
    }

    fn inside(&mut self, id: OpId, op: &'a Op, at: &[Expr]) -> Result<Vec<ValueId>, Reason> {
        use Opcode::*;
        let one = |value: ValueId| Ok(vec![value]);
        match op.opcode {
            Constant => one(self.constant(id, op, at)?),
            Iota => {
                let dim = op.attributes.int(AttributeKey::IotaDimension).unwrap_or(0);
                let index = at.get(dim as usize).cloned().unwrap_or(Expr::ZERO);
                one(self.body.compute_as(OpKind::FromIndex { index }, element(op)))
            }
            Copy => one(self.value(self.operands(id)[0], at)),
            BitcastConvert if op.operand_shapes[0].dims() != op.shape.dims() => {
                Err("it changes the rank of its operand".into())
            }
            BitcastConvert => {
                let value = self.value(self.operands(id)[0], at);
                one(self.body.retyped(value, element(op))?)
            }
            // A scalar operand among arrays is the same for all elements.
            Select | Clamp => {
                let values: Vec<ValueId> = self
                    .operands(id)
                    .iter()
                    .zip(&op.operand_shapes)
                    .map(|(&operand, shape)| {
                        let is_scalar = shape.dims().is_empty();
                        self.value(operand, if is_scalar { &[] } else { at })
                    })
                    .collect();
                one(self.body.compute(op.opcode, values, Detail::None, element(op)))
            }
            Bitcast | Broadcast | DynamicSlice | Gather | Reshape | Reverse | Slice | Transpose => {
                let value = self.moved(id, at)?;
                one(self.body.retyped(value, element(op))?)
            }
            Pad => one(self.padded(id, op, at)?),
            Concatenate => one(self.concatenated(id, op, at)?),
            DynamicUpdateSlice => one(self.updated(id, op, at)?),
            Dot | Convolution => one(self.contracted(id, op, at)?),
            Reduce | ReduceWindow => self.reduced(id, op, at),
            Map => self.mapped(id, op, at),
            GetTupleElement => {
                let index = op.attributes.int(AttributeKey::Index).unwrap_or(0);
                let results = self.results(self.operands(id)[0], at);
                one(*results.get(index as usize).ok_or("its operand has no such element")?)
            }
            _ if is_elementwise(op.opcode) => one(self.elementwise(id, op, at)?),
            other => Err(format!("{other} is not written element by element").into()),
        }
    }

    fn elementwise(&mut self, id: OpId, op: &Op, at: &[Expr]) -> Result<ValueId, Reason> {
        let detail = detail(op)?;
        let values = self.operands(id).iter().map(|&operand| self.value(operand, at)).collect();
        Ok(self.body.compute(op.opcode, values, detail, element(op)))
    }

    fn constant(&mut self, id: OpId, op: &Op, at: &[Expr]) -> Result<ValueId, Reason> {
        match self.emission.tables.get(&id) {
            Some(Ok(table)) if !at.is_empty() => {
                let shape = op.shape.as_array().ok_or("it is no array")?.clone();
                let tensor = self.body.value(Type::Tensor(Arc::new(shape)));
                self.body.push(OpKind::Table(*table), vec![tensor]);
                Ok(self.body.read(tensor, at.to_vec()))
            }
            Some(Err(reason)) => Err(reason.clone()),
            _ => {
                let text = op.literal.as_deref().unwrap_or_default();
                let constant = constant::Constant::parse(element(op), text);
                Ok(self.body.constant(constant.ok_or("its text is no number")?))
            }
        }
    }

    /// The accesses of an op to its operands, from an index into its shape.
    pub fn indexing(&self, id: OpId) -> Vec<Vec<OperandIndexing>> {
        let emission = self.emission;
        indexing::in_graph(emission.graph(), id, 0, Rules::Xla, emission.source.callees).operands
    }

    /// The only access of an op that moves elements, to its operand 0.
    fn moved(&mut self, id: OpId, at: &[Expr]) -> Result<ValueId, Reason> {
        let accesses = self.indexing(id);
        let access =
            accesses.first().and_then(|list| list.first()).ok_or("nothing is known of its operand")?;
        if access.map.is_undefined() {
            return Err(access.note.clone().unwrap_or("its map is not known".into()));
        }
        let runtime = self.runtime(access, id, at)?;
        let place = MapArguments { at, ranges: &[], runtime: &runtime };
        let index: Vec<Expr> = access.map.results().iter().map(|e| place.of(&access.map, e)).collect();
        Ok(self.value(self.operands(id)[0], &index))
    }

    /// Reads and clamps the runtime variables of an access.
    pub fn runtime(&mut self, access: &OperandIndexing, id: OpId, at: &[Expr]) -> Result<Vec<Expr>, Reason> {
        let mut values = Vec::new();
        for variable in &access.runtime_variables {
            let source = match &variable.source {
                RuntimeSource::Op { op, .. } => *op,
                RuntimeSource::Operand(n) => self.operands(id)[*n],
                RuntimeSource::Extent { .. } => return Err("an extent is not known".into()),
            };
            let place = MapArguments { at, ranges: &[], runtime: &[] };
            let index: Vec<Expr> =
                variable.map.results().iter().map(|e| place.of(&variable.map, e)).collect();
            let value = self.value(source, &index);
            values.push(self.clamped(value, Variable::from(variable.feasible)));
        }
        Ok(values)
    }

    /// Converts a number to an index clamped to bounds.
    pub fn clamped(&mut self, value: ValueId, bounds: Variable) -> Expr {
        let var = self.body.index_var(bounds);
        self.body.push(OpKind::ToIndex { value, var }, Vec::new());
        Expr::var(var as usize)
    }

    /// Opens a region; values computed in it are unavailable after it is closed.
    pub fn enter(&mut self, args: Vec<ValueId>) {
        self.known.push(FxHashMap::default());
        self.body.open(args);
    }

    pub fn leave(&mut self, yields: Vec<ValueId>) -> crate::kernel::Region {
        self.known.pop();
        self.body.close(yields)
    }

    /// The constraints of a map at a place that the ranges do not prove, including the bounds of its
    /// dimensions.
    pub fn conditions(&self, map: &IndexingMap, place: &MapArguments<'_>) -> Vec<Constraint> {
        let explicit = map.constraints().iter().map(|c| (place.of(map, &c.expr), c.interval));
        let bounds = map.dims().iter().zip(place.at).map(|(dim, at)| (at.clone(), dim.bounds));
        let all = explicit.chain(bounds);
        let simple =
            all.map(|(expr, interval)| Constraint { expr: self.body.simplify(&expr), interval }).collect();
        self.body.open_constraints(simple)
    }
}

/// The values of a map's variables.
pub(crate) struct MapArguments<'e> {
    pub at: &'e [Expr],
    pub ranges: &'e [Expr],
    pub runtime: &'e [Expr],
}

impl MapArguments<'_> {
    pub fn of(&self, map: &IndexingMap, expr: &Expr) -> Expr {
        let (dims, ranges) = (map.num_dims(), map.num_ranges());
        expr.substitute(&mut |v| {
            let v = v as usize;
            let found = if v < dims {
                self.at.get(v)
            } else if v < dims + ranges {
                self.ranges.get(v - dims)
            } else {
                self.runtime.get(v - dims - ranges)
            };
            Some(found.cloned().unwrap_or(Expr::TOO_LARGE))
        })
    }
}

/// The element type of an array, or of the first array of a tuple.
pub(crate) fn element(op: &Op) -> ElementType {
    first_array(&op.shape).element().unwrap_or(ElementType::Pred)
}

pub(crate) fn element_types(shape: &Shape) -> Vec<ElementType> {
    match shape {
        Shape::Tuple(elements) => elements.iter().flat_map(element_types).collect(),
        other => vec![other.element().unwrap_or(ElementType::Pred)],
    }
}
