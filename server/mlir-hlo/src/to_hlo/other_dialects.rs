//! Ops of CHLO, of arith and math on tensors, of tensor and linalg, where an instruction computes the same.

use ir::{AttributeKey as K, AttributeValue, Attributes, ElementType, Opcode, Shape, is_elementwise};
use mlir::OpId;
use mlir_ops::{Arithmetic, OpKind};

use super::Writer;
use super::annotations::known_attributes;
use super::arithmetic::arithmetic;
use super::attributes::attributes;
use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_table::{row_of, row_of_chlo};
use crate::other_dialects::{Exact, exact};
use crate::types::{element, extents, has_dimensions_of, number, with_element};

impl Writer<'_> {
    /// An op that is none of StableHLO's and MHLO's.
    pub(super) fn other_dialect(&mut self, id: OpId, name: &str) -> Result<(), NotInHlo> {
        let none = || NotInHlo::NO_SUCH_OP;
        let (dialect, op) = name.split_once('.').ok_or_else(none)?;
        match (dialect, op) {
            ("chlo", "top_k") => {
                let operands = self.operands(id)?;
                let k = self.op_text(id).int(&["k"]).ok_or("k is not read")?;
                let attributes = Attributes::default().with(K::K, k).with(K::Largest, true);
                self.emit(id, Opcode::Topk, &operands, attributes, &["k"])
            }
            ("chlo", "square") => {
                let operands = self.operands(id)?;
                let twice = [operands.first().ok_or("it has no operand")?.clone(), operands[0].clone()];
                self.emit(id, Opcode::Multiply, &twice, Attributes::default(), &[])
            }
            ("chlo", _) if is_expanded(op.strip_prefix("broadcast_").unwrap_or(op)) => {
                Err(NotInHlo::no_instruction("HLO has no such instruction: XLA expands it into many"))
            }
            ("chlo", _) if op.starts_with("broadcast_") => self.broadcasting(id, &op["broadcast_".len()..]),
            ("chlo", "constant") => self.constant(id),
            ("chlo", "conj") => self.conjugate(id),
            ("chlo", _) if row_of_chlo(name).is_some() => {
                self.of_row(id, row_of_chlo(name).ok_or_else(none)?)
            }
            ("sdy", _) => self.shardy(id, op),
            ("chlo", "atan") => {
                let operand = self.operands(id)?.first().ok_or("it has no operand")?.clone();
                let one = self.filled(id, &operand, "1");
                self.emit(id, Opcode::Atan2, &[operand, one], Attributes::default(), &[])
            }
            ("chlo", "is_inf" | "is_pos_inf" | "is_neg_inf") => {
                let mut operand = self.operands(id)?.first().ok_or("it has no operand")?.clone();
                if op == "is_inf" {
                    operand = self.instruction(
                        id,
                        Opcode::Abs,
                        operand.shape.clone(),
                        &[operand],
                        Attributes::default(),
                    );
                }
                let infinity = self.filled(id, &operand, if op == "is_neg_inf" { "-inf" } else { "inf" });
                let equal = AttributeValue::Word("EQ".to_owned());
                let attributes = Attributes::default().with(K::Direction, equal);
                self.emit(id, Opcode::Compare, &[operand, infinity], attributes, &[])
            }
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
            ("arith" | "math", _) if arithmetic(name).is_some() => self.arithmetic(id, name),
            ("tensor", "bitcast") => self.arithmetic(id, name),
            ("tensor" | "linalg", _) => self.tensor_op(id).unwrap_or_else(|| Err(none())),
            _ => {
                // CHLO's functions have the names that they have in StableHLO and MHLO.
                let opcode = match dialect {
                    "chlo" => row_of(op).map(|row| row.opcode).filter(|&opcode| is_elementwise(opcode)),
                    _ => same_opcode(OpKind::of(name)),
                };
                let opcode = opcode.ok_or_else(none)?;
                let operands = self.operands(id)?;
                let results = self.results(id)?;
                let is_same = |result: &Shape| operands.iter().all(|o| has_dimensions_of(&o.shape, result));
                if !matches!(results.as_slice(), [only] if is_same(only)) {
                    return Err("its operands are no arrays of one shape".into());
                }
                self.emit(id, opcode, &operands, Attributes::default(), &["fastmath"])
            }
        }
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

    /// The other sign in the imaginary part; a real number is its own conjugate.
    fn conjugate(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let operand = self.operands(id)?.first().ok_or("it has no operand")?.clone();
        let part = match element(&operand.shape) {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            _ => return self.alias_results(id, vec![operand]),
        };
        let shape = with_element(&operand.shape, part);
        let mut push = |opcode: Opcode, of: &Operand| {
            self.instruction(id, opcode, shape.clone(), std::slice::from_ref(of), Attributes::default())
        };
        let (real, imaginary) = (push(Opcode::Real, &operand), push(Opcode::Imag, &operand));
        let negated = push(Opcode::Negate, &imaginary);
        self.emit(id, Opcode::Complex, &[real, negated], Attributes::default(), &[])
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

    /// An op that broadcasts its operands to the shape of its result.
    fn broadcasting(&mut self, id: OpId, op: &str) -> Result<(), NotInHlo> {
        let row = row_of(op).ok_or(NotInHlo::NO_SUCH_OP)?;
        let operands = self.operands(id)?;
        let results = self.results(id)?;
        let result = results.first().ok_or("it has no result")?;
        let to = result.dims().len();
        let stated = self.op_text(id).list(&["broadcast_dimensions"]);
        let mut wide = Vec::new();
        for operand in operands {
            let from = operand.shape.dims().len();
            if has_dimensions_of(&operand.shape, result) {
                wide.push(operand);
                continue;
            }
            let behind = to.checked_sub(from).ok_or("an operand has more dimensions than the result")?;
            // How far an operand is stretched must be known.
            extents(result)?;
            let stated = stated.clone().filter(|list| list.len() == from);
            let dimensions = stated.unwrap_or_else(|| (behind as i64..to as i64).collect());
            let (operand, kept) = self.unstretched(id, operand, result, &dimensions)?;
            let shape = with_element(result, element(&operand.shape));
            let attributes = Attributes::default().with(K::Dimensions, kept);
            wide.push(self.instruction(id, Opcode::Broadcast, shape, &[operand], attributes));
        }
        let attributes = attributes(row, &self.op_text(id), &wide)?;
        let mut known = known_attributes(row);
        known.push("broadcast_dimensions");
        self.emit(id, row.opcode, &wide, attributes, &known)
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

/// Functions that XLA writes as polynomials, or bit by bit: dozens of instructions.
fn is_expanded(op: &str) -> bool {
    matches!(
        op,
        "bessel_i"
            | "bessel_i1e"
            | "digamma"
            | "erf_inv"
            | "erfc"
            | "lgamma"
            | "next_after"
            | "polygamma"
            | "zeta"
    )
}

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
