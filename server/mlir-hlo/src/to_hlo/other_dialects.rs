//! Ops of CHLO, of arith and math on tensors, of tensor and linalg, where an instruction computes the same.

use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::{Operand, list};
use crate::lists::braces;
use crate::op_table::row_of;
use crate::other_dialects::{Exact, exact};
use crate::types::{array, dimensions, element, extents, number};

impl Writer<'_> {
    /// An op that is none of StableHLO's and MHLO's.
    pub(super) fn other_dialect(&mut self, id: OpId, name: &str) -> Result<(), String> {
        let none = || "HLO has no such op".to_owned();
        let (dialect, op) = name.split_once('.').ok_or_else(none)?;
        match (dialect, op) {
            ("chlo", "top_k") => {
                let operands = self.operands(id)?;
                let k = self.op_text(id).int(&["k"]).ok_or("k is not read")?;
                self.emit(id, "topk", &operands, &format!(", k={k}, largest=true"), &["k"])
            }
            ("chlo", "square") => {
                let operands = self.operands(id)?;
                let twice = [operands.first().ok_or("it has no operand")?.clone(), operands[0].clone()];
                self.emit(id, "multiply", &twice, "", &[])
            }
            ("chlo", _) if is_expanded(op.strip_prefix("broadcast_").unwrap_or(op)) => {
                Err("HLO has no such instruction: XLA expands it into many".to_owned())
            }
            ("chlo", _) if op.starts_with("broadcast_") => self.broadcasting(id, &op["broadcast_".len()..]),
            ("chlo", "constant") => self.constant(id),
            ("chlo", "conj") => self.conjugate(id),
            ("chlo", "ragged_dot" | "scan") => self.of_row(id, row_of(op).ok_or_else(none)?),
            ("sdy", _) => self.shardy(id, op),
            ("chlo", "atan") => {
                let operand = self.operands(id)?.first().ok_or("it has no operand")?.clone();
                let one = self.filled(id, &operand, "1");
                self.emit(id, "atan2", &[operand, one], "", &[])
            }
            ("chlo", "is_inf" | "is_pos_inf" | "is_neg_inf") => {
                let mut operand = self.operands(id)?.first().ok_or("it has no operand")?.clone();
                if op == "is_inf" {
                    let rest = format!("abs({})", operand.name);
                    operand = self.body().push("abs", operand.shape.clone(), &rest, id);
                }
                let infinity = self.filled(id, &operand, if op == "is_neg_inf" { "-inf" } else { "inf" });
                self.emit(id, "compare", &[operand, infinity], ", direction=EQ", &[])
            }
            ("tensor", "empty") => {
                // Nobody may read what it holds: zeros do.
                let shape = self.results(id)?.first().ok_or("it has no result")?.clone();
                if shape.contains(['?', '=']) {
                    return Err("an extent of its result is not known".to_owned());
                }
                let kind = element(&shape);
                let rest = format!("constant({})", number(kind, "0"));
                let one = self.body().push("constant", format!("{kind}[]"), &rest, id);
                self.emit(id, "broadcast", &[one], ", dimensions={}", &[])
            }
            ("tensor" | "linalg", _) => self.tensor_op(id).unwrap_or_else(|| Err(none())),
            _ => {
                let opcode = same_opcode(dialect, op).ok_or_else(none)?;
                let operands = self.operands(id)?;
                let results = self.results(id)?;
                let is_array =
                    |shape: &str| dimensions(shape) == dimensions(results.first().map_or("", |s| s));
                if results.len() != 1 || !operands.iter().all(|o| is_array(&o.shape)) {
                    return Err("its operands are no arrays of one shape".to_owned());
                }
                self.emit(id, opcode, &operands, "", &["fastmath"])
            }
        }
    }

    /// Ops of tensor and linalg that only move elements; nothing where HLO has no instruction that computes the same.
    fn tensor_op(&mut self, id: OpId) -> Option<Result<(), String>> {
        let operands = match self.operands(id) {
            Ok(operands) => operands,
            Err(reason) => return Some(Err(reason)),
        };
        let results = match self.results(id) {
            Ok(results) => results,
            Err(reason) => return Some(Err(reason)),
        };
        let shapes: Vec<&str> = operands.iter().map(|o| &*o.shape).collect();
        let result = results.first()?.clone();
        if shapes.iter().chain([&&*result]).any(|shape| shape.contains(['?', '='])) {
            return Some(Err("an extent of it is not known".to_owned()));
        }
        let Exact { opcode, operands: count, attributes, before } =
            match exact(self.op_text(id), &shapes, &result)? {
                Ok(exact) => exact,
                Err(reason) => return Some(Err(reason)),
            };
        let given = &operands[..count];
        let known = OWN_ATTRIBUTES;
        let Some(sizes) = before else { return Some(self.emit(id, opcode, given, &attributes, known)) };
        let rest = format!("{opcode}({}){attributes}", list(given));
        let whole = self.body().push(opcode, array(element(&result), &sizes), &rest, id);
        Some(self.emit(id, "reshape", &[whole], "", known))
    }

    /// The other sign in the imaginary part; a real number is its own conjugate.
    fn conjugate(&mut self, id: OpId) -> Result<(), String> {
        let operand = self.operands(id)?.first().ok_or("it has no operand")?.clone();
        let part = match element(&operand.shape) {
            "c64" => "f32",
            "c128" => "f64",
            _ => return self.alias_results(id, vec![operand]),
        };
        let shape = array(part, &dimensions(&operand.shape));
        let mut push = |opcode: &str, of: &Operand| {
            self.body().push(opcode, shape.clone(), &format!("{opcode}({})", of.name), id)
        };
        let (real, imaginary) = (push("real", &operand), push("imag", &operand));
        let negated = push("negate", &imaginary);
        self.emit(id, "complex", &[real, negated], "", &[])
    }

    /// The results of an op are these values.
    pub(super) fn alias_results(&mut self, id: OpId, values: Vec<Operand>) -> Result<(), String> {
        let parse = self.parse();
        let results = parse.op(id).results.clone();
        let each: Vec<_> = results.flat_map(|v| (0..self.packed(v)).map(move |at| (v, at))).collect();
        if each.len() != values.len() {
            return Err("its results are not as many as its values".to_owned());
        }
        self.body().values.extend(each.into_iter().zip(values));
        Ok(())
    }

    /// An array of the shape of another one, all of whose elements are this number.
    fn filled(&mut self, id: OpId, like: &Operand, value: &str) -> Operand {
        let kind = element(&like.shape);
        let rest = format!("constant({})", number(kind, value));
        let one = self.body().push("constant", format!("{kind}[]"), &rest, id);
        let rest = format!("broadcast({}), dimensions={{}}", one.name);
        self.body().push("broadcast", like.shape.clone(), &rest, id)
    }

    /// An op that broadcasts its operands to the shape of its result.
    fn broadcasting(&mut self, id: OpId, op: &str) -> Result<(), String> {
        let row = row_of(op).ok_or("HLO has no such op")?;
        let operands = self.operands(id)?;
        let results = self.results(id)?;
        let result = results.first().ok_or("it has no result")?;
        let to = dimensions(result);
        let stated = self.op_text(id).ints(&["broadcast_dimensions"]);
        let mut wide = Vec::new();
        for operand in operands {
            let from = dimensions(&operand.shape);
            if from == to {
                wide.push(operand);
                continue;
            }
            let behind =
                to.len().checked_sub(from.len()).ok_or("an operand has more dimensions than the result")?;
            // How far an operand is stretched must be known.
            extents(result)?;
            let stated = stated.clone().filter(|list| list.len() == from.len());
            let dimensions = stated.unwrap_or_else(|| (behind as i64..to.len() as i64).collect());
            let (operand, kept) = self.unstretched(id, operand, &to, &dimensions)?;
            let shape = array(element(&operand.shape), &to);
            let rest = format!("broadcast({}), dimensions={}", operand.name, braces(&kept));
            wide.push(self.body().push("broadcast", shape, &rest, id));
        }
        let shapes: Vec<&str> = wide.iter().map(|o| &*o.shape).collect();
        let behind = attributes(row, self.op_text(id), &shapes)?;
        let mut known = known_attributes(row);
        known.push("broadcast_dimensions");
        self.emit(id, row.opcode.name(), &wide, &behind, &known)
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

/// Ops of each element that compute the same: of CHLO the functions that HLO has, of arith and math those on numbers of one type.
fn same_opcode(dialect: &str, op: &str) -> Option<&'static str> {
    Some(match (dialect, op) {
        (
            "chlo",
            "acos" | "asin" | "acosh" | "asinh" | "atanh" | "cosh" | "sinh" | "erf" | "tan" | "mulhi",
        ) => ir::Opcode::from_name(op)?.name(),
        ("arith", "addf" | "addi") => "add",
        ("arith", "subf" | "subi") => "subtract",
        ("arith", "mulf" | "muli") => "multiply",
        ("arith", "divf" | "divsi") => "divide",
        ("arith", "maximumf" | "maxsi") => "maximum",
        ("arith", "minimumf" | "minsi") => "minimum",
        ("arith", "negf") => "negate",
        ("arith", "andi") => "and",
        ("arith", "ori") => "or",
        ("arith", "xori") => "xor",
        ("math", "absf" | "absi") => "abs",
        ("math", "ceil") => "ceil",
        ("math", "cos") => "cosine",
        ("math", "erf") => "erf",
        ("math", "exp") => "exponential",
        ("math", "expm1") => "exponential-minus-one",
        ("math", "floor") => "floor",
        ("math", "log") => "log",
        ("math", "log1p") => "log-plus-one",
        ("math", "powf") => "power",
        ("math", "rsqrt") => "rsqrt",
        ("math", "sin") => "sine",
        ("math", "sqrt") => "sqrt",
        ("math", "tan") => "tan",
        ("math", "tanh") => "tanh",
        _ => return None,
    })
}
