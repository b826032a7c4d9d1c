//! Triton's operations as ops of HLO.
//!
//! Source: Triton's `include/triton/Dialect/Triton/IR/TritonOps.td`; `tt.extern_elementwise` names a function of libdevice.

use std::sync::Arc;

use eval::Reason;
use ir::{
    AttributeKey as K, AttributeValue, Attributes, ElementType, ElementTypeExt, Graph, Op, OpId, Opcode,
    Shape,
};
use mlir_hlo::{computed_op, static_hlo_shape};
use mlir_ops::{OpText, Operand};
use rustc_hash::FxHashMap;

use super::Reader;
use crate::program::{Computed, Kind};

/// The name of the computation that a reduction applies.
pub(super) const COMBINER: &str = "combiner";

impl Reader<'_> {
    /// An operation of Triton, with the operands of its graph.
    pub(super) fn triton(&self, text: &OpText<'_>) -> Result<(Kind, Vec<Operand>), Reason> {
        let operands = text.operands();
        let result = self.source.result_type(text.id, 0).ok_or("the type of its result is not known")?;
        let result = shape_of(&result)?;
        let mut callees = FxHashMap::default();
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut ids = Vec::new();
        for (number, operand) in (0..).zip(&operands) {
            let ty = operand.key().and_then(|(value, index)| self.source.type_of(value, index));
            let shape = shape_of(&ty.ok_or_else(|| format!("the type of {} is not known", operand.name))?)?;
            ids.push(graph.push(Op::parameter(number, shape), Vec::new(), format!("p{number}")));
        }
        graph.root = match text.name() {
            "tt.splat" => add(&mut graph, Opcode::Broadcast, result, &ids, dims(Vec::new())),
            // Dimensions of one element are repeated.
            "tt.broadcast" => {
                let all = (0..result.dims().len() as i64).collect();
                add(&mut graph, Opcode::Broadcast, result, &ids, dims(all))
            }
            "tt.expand_dims" | "tt.reshape" => {
                add(&mut graph, Opcode::Reshape, result, &ids, Attributes::default())
            }
            "tt.unsplat" => add(&mut graph, Opcode::Reshape, result, &ids, Attributes::default()),
            "tt.bitcast" => add(&mut graph, Opcode::BitcastConvert, result, &ids, Attributes::default()),
            "tt.fp_to_fp" => add(&mut graph, Opcode::Convert, result, &ids, Attributes::default()),
            "tt.trans" => {
                let order = text.list(&["order"]).ok_or("its order is not read")?;
                add(&mut graph, Opcode::Transpose, result, &ids, dims(order))
            }
            "tt.make_range" => range(&mut graph, text, result)?,
            "tt.dot" => dot(&mut graph, result, &ids)?,
            "tt.reduce" => {
                let combiner = self.combiner(text)?;
                let reduced = reduce(&mut graph, text, &combiner, result, &ids)?;
                callees.insert(COMBINER.to_owned(), Arc::new(combiner));
                reduced
            }
            "tt.extern_elementwise" => {
                let symbol = text.string(&["symbol"]).ok_or("its symbol is not read")?;
                let opcode = libdevice(symbol).ok_or_else(|| format!("{symbol} is not evaluated"))?;
                add(&mut graph, opcode, result, &ids, Attributes::default())
            }
            _ => return Err("this operation of Triton is not evaluated".into()),
        };
        Ok((Kind::Compute(Computed { graph: Arc::new(graph), callees }), operands))
    }

    /// The computation of a region of one op and its return, which may return its result several times.
    pub(super) fn combiner(&self, text: &OpText<'_>) -> Result<Graph, Reason> {
        let region = self.parse().regions_of(text.id).next().ok_or("it has no region")?;
        let block = self.parse().blocks_of(region).next().ok_or("its region has no block")?;
        let ops: Vec<_> = self.parse().ops_of(block).take(3).collect();
        let &[only, _] = &ops[..] else { return Err("it combines by more than one op".into()) };
        let arguments = self.parse().blocks[block as usize].arguments.clone();
        let given = OpText::of_any_length(self.source, only).operands();
        let values: Vec<_> = given.iter().filter_map(|operand| operand.value).collect();
        let graph = computed_op(self.source, only).map_err(|why| why.to_string())?.graph;
        let is_in_order = values.iter().copied().eq(arguments.clone());
        let commutes = matches!(graph.ops[graph.root as usize].opcode, Opcode::Add | Opcode::Multiply);
        match is_in_order || commutes && values.iter().rev().copied().eq(arguments) {
            true => Ok(graph),
            false => Err("it combines other values than its arguments in order".into()),
        }
    }
}

/// An array, or a scalar as an array without dimensions.
pub(super) fn shape_of(ty: &str) -> Result<Shape, Reason> {
    let scalar = || static_hlo_shape(&format!("tensor<{ty}>"));
    Ok(static_hlo_shape(ty).or_else(|_| scalar()).map_err(|why| why.to_string())?)
}

fn add(graph: &mut Graph, opcode: Opcode, shape: Shape, ids: &[OpId], attributes: Attributes) -> OpId {
    graph.add(opcode, shape, ids, attributes, "r")
}

fn dims(dims: Vec<i64>) -> Attributes {
    Attributes::default().with(K::Dimensions, dims)
}

/// From `start` up to `end`.
fn range(graph: &mut Graph, text: &OpText<'_>, result: Shape) -> Result<OpId, Reason> {
    let start = text.attribute("start").and_then(mlir::integer).ok_or("its start is not read")?;
    let element = result.element().ok_or("a range that is no array")?;
    let along = Attributes::default().with(K::IotaDimension, 0i64);
    let steps = add(graph, Opcode::Iota, result.clone(), &[], along);
    let start = Op::constant(start.to_string(), Shape::array(element, &[]));
    let start = graph.push(start, Vec::new(), "start".to_owned());
    let start = add(graph, Opcode::Broadcast, result.clone(), &[start], dims(Vec::new()));
    Ok(add(graph, Opcode::Add, result, &[steps, start], Attributes::default()))
}

/// The product of two matrices, or of batches of them, added to a third operand.
fn dot(graph: &mut Graph, result: Shape, ids: &[OpId]) -> Result<OpId, Reason> {
    let &[left, right, sum] = ids else { return Err("it has not three operands".into()) };
    let rank = result.dims().len() as i64;
    if rank < 2 {
        return Err("it is no product of matrices".into());
    }
    let batch: Vec<i64> = (0..rank - 2).collect();
    let attributes = Attributes::default()
        .with(K::LhsBatchDims, batch.clone())
        .with(K::RhsBatchDims, batch)
        .with(K::LhsContractingDims, vec![rank - 1])
        .with(K::RhsContractingDims, vec![rank - 2]);
    let product = add(graph, Opcode::Dot, result.clone(), &[left, right], attributes);
    Ok(add(graph, Opcode::Add, result, &[sum, product], Attributes::default()))
}

/// Triton's reductions have no initial value: HLO's start from the value that changes nothing.
fn reduce(
    graph: &mut Graph,
    text: &OpText<'_>,
    combiner: &Graph,
    result: Shape,
    ids: &[OpId],
) -> Result<OpId, Reason> {
    let &[operand] = ids else { return Err("it has not one operand".into()) };
    let axis = text.attribute("axis").and_then(mlir::integer).ok_or("its axis is not read")?;
    let element = result.element().ok_or("its result is no array")?;
    let opcode = combiner.ops[combiner.root as usize].opcode;
    let neutral = neutral(opcode, element)
        .ok_or_else(|| format!("a reduction by {opcode} of {element} is not evaluated"))?;
    let init = Op::constant(neutral, Shape::array(element, &[]));
    let init = graph.push(init, Vec::new(), "init".to_owned());
    let attributes = dims(vec![axis]).with(K::ToApply, AttributeValue::Computation(COMBINER.to_owned()));
    Ok(add(graph, Opcode::Reduce, result, &[operand, init], attributes))
}

/// The value that an op leaves as it is.
pub(super) fn neutral(opcode: Opcode, element: ElementType) -> Option<String> {
    let is_float = element.is_floating();
    // Integers of MLIR are read with their sign.
    let smallest = || Some(i64::MIN >> 64u32.checked_sub(element.bits()?)?);
    Some(match opcode {
        Opcode::Add => "0".to_owned(),
        Opcode::Or if element == ElementType::Pred => "false".to_owned(),
        Opcode::Or => "0".to_owned(),
        Opcode::And if element == ElementType::Pred => "true".to_owned(),
        Opcode::And => "-1".to_owned(),
        Opcode::Maximum if is_float => "-inf".to_owned(),
        Opcode::Minimum if is_float => "inf".to_owned(),
        Opcode::Maximum => smallest()?.to_string(),
        Opcode::Minimum => (!smallest()?).to_string(),
        _ => return None,
    })
}

/// `__nv_expf` is the exponential of `f32`, `__nv_exp` that of `f64`.
fn libdevice(symbol: &str) -> Option<Opcode> {
    let name = symbol.strip_prefix("__nv_")?;
    let name = name.strip_prefix("fast_").unwrap_or(name);
    Some(match name.strip_suffix('f').unwrap_or(name) {
        "atan2" => Opcode::Atan2,
        "cbrt" => Opcode::Cbrt,
        "cos" => Opcode::Cosine,
        "erf" => Opcode::Erf,
        "exp" => Opcode::Exponential,
        "expm1" => Opcode::ExponentialMinusOne,
        "fmod" => Opcode::Remainder,
        "log" => Opcode::Log,
        "log1p" => Opcode::LogPlusOne,
        "pow" => Opcode::Power,
        "rsqrt" => Opcode::Rsqrt,
        "sin" => Opcode::Sine,
        "sqrt" => Opcode::Sqrt,
        "tan" => Opcode::Tan,
        "tanh" => Opcode::Tanh,
        _ => return None,
    })
}
