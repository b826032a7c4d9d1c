//! Ops that call a computation for every element: reduce, reduce-window, map.

use indexing_map::{Expr, IndexingMap, Variable};
use ir::{AttributeKey, Graph, Op, OpId, Opcode, is_elementwise};

use crate::Reason;
use crate::constant::Constant;
use crate::emit::body::Body;
use crate::emit::elemental::{Elements, MapArguments, element, element_types};
use crate::kernel::{Comparison, Condition, Detail, Direction, Function, OpKind, Type, ValueId};

/// The maximum depth of nested called computations.
const MAX_CALLS: usize = 16;

impl<'a> Elements<'a> {
    /// Reduces the elements of the result at `at`, in the order of the reduced dimensions; for a window,
    /// those in it, without padding.
    pub(super) fn reduced(&mut self, id: OpId, op: &Op, at: &[Expr]) -> Result<Vec<ValueId>, Reason> {
        let count = op.operand_shapes.len() / 2;
        let accesses = self.indexing(id);
        let access =
            accesses.first().and_then(|list| list.first()).ok_or("nothing is known of its operand")?;
        let mut map = access.map.clone();
        if op.opcode == Opcode::ReduceWindow {
            map.rescale_symbols();
        }
        let called =
            op.attributes.computation(AttributeKey::ToApply).ok_or("it calls no computation")?.to_owned();
        let operands = self.operands(id);
        let inits: Vec<ValueId> = operands[count..].iter().map(|&init| self.value(init, &[])).collect();
        self.each(&map, at, inits, |e, index, carried| {
            let elements = operands[..count].iter().map(|&operand| e.value(operand, index));
            let args = carried.iter().copied().chain(elements).collect();
            e.call(&called, args)
        })
    }

    /// Carries values through all points of the map's range variables, the last one innermost.
    pub(super) fn each(
        &mut self,
        map: &IndexingMap,
        at: &[Expr],
        inits: Vec<ValueId>,
        step: impl FnOnce(&mut Self, &[Expr], &[ValueId]) -> Result<Vec<ValueId>, Reason>,
    ) -> Result<Vec<ValueId>, Reason> {
        if map.is_undefined() {
            return Err("its map is not known".into());
        }
        if map.is_known_empty() {
            return Ok(inits);
        }
        let types: Vec<Type> = inits.iter().map(|&v| self.body.function.ty(v).clone()).collect();
        let mut ranges: Vec<Expr> = Vec::new();
        let mut loops: Vec<(u32, i64, Vec<ValueId>)> = Vec::new();
        let mut carried = inits;
        for variable in map.ranges() {
            let bounds = variable.bounds;
            let count = i64::try_from(bounds.size()).map_err(|_| "it loops too often")?;
            let var = self.body.index_var(Variable::from_size(count));
            ranges.push(Expr::var(var as usize) + bounds.lower);
            let inner: Vec<ValueId> = types.iter().map(|ty| self.body.value(ty.clone())).collect();
            loops.push((var, count, std::mem::replace(&mut carried, inner.clone())));
            self.enter(inner);
        }
        let place = MapArguments { at, ranges: &ranges, runtime: &[] };
        let conditions = self.conditions(map, &place);
        let index: Vec<Expr> = map.results().iter().map(|e| self.body.simplify(&place.of(map, e))).collect();
        let mut values = if conditions.is_empty() {
            step(self, &index, &carried)?
        } else {
            self.enter(Vec::new());
            let values = step(self, &index, &carried)?;
            let then = self.leave(values);
            self.enter(Vec::new());
            let otherwise = self.leave(carried.clone());
            let results: Vec<ValueId> = types.iter().map(|ty| self.body.value(ty.clone())).collect();
            let kind = OpKind::If { condition: Condition::Within(conditions), then, otherwise };
            self.body.push(kind, results.clone());
            results
        };
        for (var, count, inits) in loops.into_iter().rev() {
            let body = self.leave(values);
            let results: Vec<ValueId> = types.iter().map(|ty| self.body.value(ty.clone())).collect();
            self.body.push(OpKind::For { var, count, inits, body }, results.clone());
            values = results;
        }
        Ok(values)
    }

    pub(super) fn mapped(&mut self, id: OpId, op: &'a Op, at: &[Expr]) -> Result<Vec<ValueId>, Reason> {
        let called = op.attributes.computation(AttributeKey::ToApply).ok_or("it calls no computation")?;
        let args = self.operands(id).iter().map(|&operand| self.value(operand, at)).collect();
        self.call(called, args)
    }

    /// The results of a computation on scalars.
    pub fn call(&mut self, computation: &str, args: Vec<ValueId>) -> Result<Vec<ValueId>, Reason> {
        let function = self.emission.computation(computation)?;
        let added = self.emission.added.borrow();
        let called = &added[function - 1 - self.emission.partition.functions.len()];
        let results: Vec<ValueId> =
            called.body.yields.iter().map(|&value| self.body.value(called.ty(value).clone())).collect();
        self.body.push(OpKind::Call { function, args, at: Vec::new() }, results.clone());
        Ok(results)
    }
}

/// A computation on scalars as a function, named after the computation and its root.
pub(super) fn function(
    computation: &str,
    find: &dyn Fn(&str) -> Option<std::sync::Arc<Graph>>,
) -> Result<Function, Reason> {
    let graph = find(computation).ok_or_else(|| format!("no computation named {computation}"))?;
    let root = graph.names.get(graph.root as usize).map_or("", |name| name.as_str());
    let mut body = Body::new(&super::kernel_name(&format!("{computation}_{root}")), None);
    let count = graph.ops.iter().filter_map(|op| op.parameter).max().map_or(0, |last| last as usize + 1);
    let mut args = Vec::new();
    for number in 0..count {
        let op = graph.parameter(number as u32).ok_or_else(|| format!("{computation} lacks a parameter"))?;
        args.push(body.arg(Type::Scalar(element(&graph.ops[op as usize]))));
    }
    let results = inline(&mut body, computation, &args, find, 0)?;
    Ok(body.finish(results))
}

/// Inlines a computation on scalars into a function.
pub(crate) fn inline(
    body: &mut Body,
    computation: &str,
    args: &[ValueId],
    find: &dyn Fn(&str) -> Option<std::sync::Arc<Graph>>,
    depth: usize,
) -> Result<Vec<ValueId>, Reason> {
    if depth > MAX_CALLS {
        return Err(format!("{computation} calls itself").into());
    }
    body.inlines();
    if body.is_full() {
        return Err(format!("with {computation} the function has too many operations").into());
    }
    let graph = find(computation).ok_or_else(|| format!("no computation named {computation}"))?;
    let mut values: Vec<Vec<ValueId>> = Vec::with_capacity(graph.ops.len());
    for (op, operands) in graph.ops.iter().zip(&graph.operands) {
        let operand = |n: usize| operands.get(n).and_then(|&o| values[o as usize].first().copied());
        let inputs: Option<Vec<ValueId>> = (0..operands.len()).map(operand).collect();
        let inputs = inputs.ok_or("an operand is no scalar")?;
        let value = match op.opcode {
            Opcode::Parameter => {
                let arg = op.parameter.and_then(|n| args.get(n as usize));
                vec![*arg.ok_or_else(|| format!("{computation} has more parameters than arguments"))?]
            }
            Opcode::Tuple => inputs,
            Opcode::GetTupleElement => {
                let index = op.attributes.int(AttributeKey::Index).unwrap_or(0) as usize;
                vec![*values[operands[0] as usize].get(index).ok_or("a tuple lacks an element")?]
            }
            Opcode::Constant => {
                let text = op.literal.as_deref().unwrap_or_default();
                let constant = Constant::parse(element(op), text);
                vec![body.constant(constant.ok_or_else(|| format!("the constant {text} is no scalar"))?)]
            }
            Opcode::Bitcast
            | Opcode::BitcastConvert
            | Opcode::Broadcast
            | Opcode::Copy
            | Opcode::Reshape
            | Opcode::Transpose => {
                let &[value] = inputs.as_slice() else {
                    return Err(format!("{} in {computation} takes one operand", op.opcode).into());
                };
                vec![body.retyped(value, element(op))?]
            }
            Opcode::Call | Opcode::Map => {
                let called = op.attributes.computation(AttributeKey::ToApply).unwrap_or_default();
                inline(body, called, &inputs, find, depth + 1)?
            }
            Opcode::Fusion => {
                let called = op.attributes.computation(AttributeKey::Calls).unwrap_or_default();
                inline(body, called, &inputs, find, depth + 1)?
            }
            other if is_elementwise(other) || matches!(other, Opcode::Select | Opcode::Clamp) => {
                vec![body.compute(other, inputs, detail(op)?, element(op))]
            }
            other => return Err(format!("{other} in {computation} is not written").into()),
        };
        if element_types(&op.shape).len() != value.len() {
            return Err(format!("{computation} is no computation on scalars").into());
        }
        values.push(value);
    }
    values.get(graph.root as usize).cloned().ok_or_else(|| format!("{computation} is empty").into())
}

/// The properties of an elementwise op other than its opcode and its types.
pub(crate) fn detail(op: &Op) -> Result<Detail, Reason> {
    Ok(match op.opcode {
        Opcode::Compare => Detail::Compare(comparison(op).ok_or("its direction is not known")?),
        Opcode::ReducePrecision => {
            let bits = |key| op.attributes.int(key).and_then(|n| u32::try_from(n).ok());
            let exponent = bits(AttributeKey::ExponentBits).ok_or("it lacks exponent_bits")?;
            Detail::Precision(exponent, bits(AttributeKey::MantissaBits).ok_or("it lacks mantissa_bits")?)
        }
        _ => Detail::None,
    })
}

fn comparison(op: &Op) -> Option<Comparison> {
    let direction = match op.attributes.text(AttributeKey::Direction)? {
        "EQ" => Direction::Eq,
        "NE" => Direction::Ne,
        "LT" => Direction::Lt,
        "LE" => Direction::Le,
        "GT" => Direction::Gt,
        "GE" => Direction::Ge,
        _ => return None,
    };
    let is_total = op.attributes.is_total_order();
    Some(Comparison { direction, is_total })
}
