//! Ops of arith and math on tensors, of tensor and linalg, where an instruction computes the same.

use ir::{AttributeKey as K, Attributes, Opcode, Shape};
use mlir::OpId;
use mlir_ops::{Arithmetic, OpKind};

use super::Writer;
use super::arithmetic::arithmetic;
use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_table::chlo_op;
use crate::other_dialects::{Exact, exact};
use crate::types::{element, has_dimensions_of, number};

impl Writer<'_> {
    /// An op that is none of StableHLO's and MHLO's.
    pub(super) fn other_dialect(&mut self, id: OpId, name: &str) -> Result<(), NotInHlo> {
        let none = || NotInHlo::NO_SUCH_OP;
        let (dialect, op) = name.split_once('.').ok_or_else(none)?;
        match dialect {
            "chlo" => self.chlo(id, chlo_op(op).ok_or_else(none)?),
            "sdy" => self.shardy(id, op),
            _ if OpKind::of(name) == OpKind::EmptyTensor => {
                // Nobody may read what it holds: zeros do.
                let shape = self.results(id)?.first().ok_or("it has no result")?.clone();
                if !shape.is_static() {
                    return Err(NotInHlo::Type("an extent of its result is not known".into()));
                }
                let kind = element(&shape);
                let one = self.scalar(id, kind, number(kind, "0"));
                let attributes = Attributes::default().with(K::Dimensions, Vec::<i64>::new());
                self.emit(id, Opcode::Broadcast, &[one], attributes, &[])
            }
            "arith" | "math" | "tensor" if arithmetic(name).is_some() => self.arithmetic(id, name),
            "tensor" | "linalg" => self.tensor_op(id).unwrap_or_else(|| Err(none())),
            _ => self.elementwise(id, same_opcode(OpKind::of(name)).ok_or_else(none)?),
        }
    }

    /// An op on arrays of one shape that computes the same as an instruction, element by element.
    pub(super) fn elementwise(&mut self, id: OpId, opcode: Opcode) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let results = self.results(id)?;
        let is_same = |result: &Shape| operands.iter().all(|o| has_dimensions_of(&o.shape, result));
        if !matches!(results.as_slice(), [only] if is_same(only)) {
            return Err("its operands are no arrays of one shape".into());
        }
        self.emit(id, opcode, &operands, Attributes::default(), &["fastmath"])
    }

    /// Ops of tensor and linalg that only move elements; nothing where HLO has no instruction that computes the same.
    fn tensor_op(&mut self, id: OpId) -> Option<Result<(), NotInHlo>> {
        let operands = match self.operands(id) {
            Ok(operands) => operands,
            Err(reason) => return Some(Err(reason)),
        };
        let results = match self.results(id) {
            Ok(results) => results,
            Err(reason) => return Some(Err(reason)),
        };
        let result = results.first()?.clone();
        if !operands.iter().map(|o| &o.shape).chain([&result]).all(Shape::is_static) {
            return Some(Err(NotInHlo::Type("an extent of it is not known".into())));
        }
        let Exact { opcode, operands: count, attributes, before } =
            match exact(&self.op_text(id), operands.len(), &result)? {
                Ok(exact) => exact,
                Err(reason) => return Some(Err(reason)),
            };
        let given = &operands[..count];
        let known = OWN_ATTRIBUTES;
        let Some(sizes) = before else { return Some(self.emit(id, opcode, given, attributes, known)) };
        let whole = self.instruction(id, opcode, Shape::array(element(&result), &sizes), given, attributes);
        Some(self.emit(id, Opcode::Reshape, &[whole], Attributes::default(), known))
    }

    /// The results of an op are these values.
    pub(super) fn alias_results(&mut self, id: OpId, values: Vec<Operand>) -> Result<(), NotInHlo> {
        let parse = self.parse();
        let results = parse.op(id).results.clone();
        let each: Vec<_> = results.flat_map(|v| (0..self.packed(v)).map(move |at| (v, at))).collect();
        if each.len() != values.len() {
            return Err("its results are not as many as its values".into());
        }
        self.body().values.extend(each.into_iter().zip(values));
        Ok(())
    }

    /// An array of the shape of another one, all of whose elements are this number.
    pub(super) fn filled(&mut self, id: OpId, like: &Operand, value: &str) -> Operand {
        let kind = element(&like.shape);
        let one = self.scalar(id, kind, number(kind, value));
        let attributes = Attributes::default().with(K::Dimensions, Vec::<i64>::new());
        self.instruction(id, Opcode::Broadcast, like.shape.clone(), &[one], attributes)
    }
}

/// Attributes of ops of tensor and linalg that are read with their shapes.
const OWN_ATTRIBUTES: &[&str] = &[
    "permutation",
    "dimensions",
    "dim",
    "reassociation",
    "static_output_shape",
    "static_offsets",
    "static_sizes",
    "static_strides",
];

/// Ops of arith and math on numbers of one type that compute the same.
fn same_opcode(kind: OpKind<'_>) -> Option<Opcode> {
    let (OpKind::Integer(computed) | OpKind::Elementwise(computed)) = kind else { return None };
    Some(match computed {
        Arithmetic::Add => Opcode::Add,
        Arithmetic::Subtract => Opcode::Subtract,
        Arithmetic::Multiply => Opcode::Multiply,
        Arithmetic::Divide => Opcode::Divide,
        Arithmetic::Maximum => Opcode::Maximum,
        Arithmetic::Minimum => Opcode::Minimum,
        Arithmetic::And => Opcode::And,
        Arithmetic::Or => Opcode::Or,
        Arithmetic::Xor => Opcode::Xor,
        Arithmetic::Negate => Opcode::Negate,
        Arithmetic::Abs => Opcode::Abs,
        Arithmetic::Ceil => Opcode::Ceil,
        Arithmetic::Cosine => Opcode::Cosine,
        Arithmetic::Erf => Opcode::Erf,
        Arithmetic::Exp => Opcode::Exponential,
        Arithmetic::Expm1 => Opcode::ExponentialMinusOne,
        Arithmetic::Floor => Opcode::Floor,
        Arithmetic::Log => Opcode::Log,
        Arithmetic::Log1p => Opcode::LogPlusOne,
        Arithmetic::Power => Opcode::Power,
        Arithmetic::Rsqrt => Opcode::Rsqrt,
        Arithmetic::Sine => Opcode::Sine,
        Arithmetic::Sqrt => Opcode::Sqrt,
        Arithmetic::Tan => Opcode::Tan,
        Arithmetic::Tanh => Opcode::Tanh,
        _ => return None,
    })
}
