//! The custom form of StableHLO's ops: the order of what is written, and the attribute of the generic form for each.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, `stablehlo/dialect/AssemblyFormat.cpp`.

use ir::{Arity, Opcode, op_info};

use crate::op_row::{AttributeRow, Dialect, Form, How, OpRow, Pretty, Special};
use crate::op_table::row_of;

/// The custom form of an op, in the order of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomForm {
    pub pieces: Vec<Piece>,
    /// Attributes of the op that the custom form has in its dictionary.
    pub in_dictionary: Vec<&'static str>,
    pub types: Types,
}

/// An element of the custom form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// `%a`
    Operand,
    /// All remaining operands, one or more, separated by commas.
    Operands,
    Comma,
    /// `EQ`, for `#stablehlo<comparison_direction EQ>`: the attribute, and the name of the enumeration.
    Case(&'static str, &'static str),
    /// `, FLOAT`, optional.
    MaybeCase(&'static str, &'static str),
    /// `dims = [0, 1]`, for `array<i64: 0, 1>`: the keyword, and the attribute.
    List(&'static str, &'static str),
    /// `dim = 0`, for `0 : i64`.
    Number(&'static str, &'static str),
    /// `dense<0.0>`, which has the type of the result.
    Elements(&'static str),
    /// `[0:8:2, 1:4]`, for three lists.
    Ranges([&'static str; 3]),
    /// `batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT]`
    Products([&'static str; 3]),
}

/// The form of the types after the colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Types {
    /// `(A, B) -> C`
    Functional,
    /// `T` if all types are equal, else `(A, B) -> C`.
    Same,
    /// `C`, for an op without operands.
    Result,
    /// `P, T` if the second and third operand and the result have one type, else `(P, A, B) -> C`.
    Choice,
}

/// Returns the custom form of an op of StableHLO by its full name. `None` for other dialects, and for ops whose form has
/// something else than a [`Piece`].
pub fn custom_form(name: &str) -> Option<CustomForm> {
    let row = row_of(name.strip_prefix("stablehlo.")?).filter(|row| row.dialect == Dialect::Stablehlo)?;
    let types = match row.pretty {
        // The short form has the type of the result alone, and the operands have others.
        Pretty::Same if row.opcode == Opcode::Complex => return None,
        Pretty::No | Pretty::ReducePrecision => return None,
        Pretty::Same => Types::Same,
        Pretty::Functional | Pretty::Compare | Pretty::Slice => Types::Functional,
        Pretty::Select => Types::Choice,
        Pretty::Iota | Pretty::Constant => Types::Result,
    };
    let mut form = CustomForm { pieces: Vec::new(), in_dictionary: Vec::new(), types };
    match (row.pretty, row.attributes) {
        (Pretty::Compare, [direction, kind]) => {
            form.pieces.extend([case(direction, Piece::Case)?, Piece::Comma]);
            form.pieces.extend(operands(row));
            form.pieces.push(case(kind, Piece::MaybeCase)?);
        }
        (Pretty::Constant, _) => form.pieces.push(Piece::Elements("value")),
        (_, attributes) => {
            form.pieces = operands(row);
            form.push(attributes)?;
        }
    }
    Some(form)
}

impl CustomForm {
    pub fn is_constant(&self) -> bool {
        matches!(self.pieces[..], [Piece::Elements(_)])
    }

    /// The attributes that have a place of their own in the custom form.
    pub fn attributes(&self) -> impl Iterator<Item = &'static str> {
        self.pieces.iter().flat_map(|piece| match *piece {
            Piece::Case(name, _) | Piece::MaybeCase(name, _) | Piece::Elements(name) => vec![name],
            Piece::List(_, name) | Piece::Number(_, name) => vec![name],
            Piece::Ranges(names) | Piece::Products(names) => names.to_vec(),
            Piece::Operand | Piece::Operands | Piece::Comma => Vec::new(),
        })
    }

    /// Adds the clauses of attributes.
    fn push(&mut self, attributes: &'static [AttributeRow]) -> Option<()> {
        if let [numbers, precision, algorithm] = attributes
            && numbers.form == Form::DotNumbers
        {
            let names = [numbers.name, precision.name, algorithm.name];
            self.pieces.extend([Piece::Comma, Piece::Products(names)]);
            return Some(());
        }
        for row in attributes {
            let clauses = match row.form {
                Form::Accuracy => {
                    self.in_dictionary.push(row.name);
                    continue;
                }
                Form::Slice => {
                    self.pieces.push(Piece::Ranges([row.name, "limit_indices", "strides"]));
                    continue;
                }
                _ if row.clause.is_empty() => return None,
                Form::Ints => vec![Piece::List(row.clause, row.name)],
                Form::OneInt | Form::Int => vec![Piece::Number(row.clause, row.name)],
                Form::Padding => vec![
                    Piece::List(row.clause, row.name),
                    Piece::List("high", "edge_padding_high"),
                    Piece::List("interior", "interior_padding"),
                ],
                _ => return None,
            };
            for clause in clauses {
                if !self.pieces.is_empty() {
                    self.pieces.push(Piece::Comma);
                }
                self.pieces.push(clause);
            }
        }
        Some(())
    }
}

fn operands(row: &OpRow) -> Vec<Piece> {
    match op_info(row.opcode).arity {
        // The shape is one more operand.
        _ if matches!(row.how, How::Special(Special::Dynamic(_))) => vec![Piece::Operands],
        Arity::Exactly(count) => {
            let mut pieces = [Piece::Operand, Piece::Comma].repeat(count);
            pieces.pop();
            pieces
        }
        Arity::AtLeast(_) | Arity::Even | Arity::Odd | Arity::Any => vec![Piece::Operands],
    }
}

fn case(row: &AttributeRow, piece: fn(&'static str, &'static str) -> Piece) -> Option<Piece> {
    match row.form {
        Form::Word(kind) => Some(piece(row.name, kind)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_custom_form() {
        let pieces = |name: &str| custom_form(name).map(|form| form.pieces);
        assert_eq!(pieces("stablehlo.add"), Some(vec![Piece::Operand, Piece::Comma, Piece::Operand]));
        assert_eq!(pieces("stablehlo.iota"), Some(vec![Piece::Number("dim", "iota_dimension")]));
        let transpose = vec![Piece::Operand, Piece::Comma, Piece::List("dims", "permutation")];
        assert_eq!(pieces("stablehlo.transpose"), Some(transpose));
        for name in ["stablehlo.complex", "stablehlo.fft", "stablehlo.sort", "mhlo.erf", "arith.addf"] {
            assert_eq!(pieces(name), None, "{name}");
        }
        let form = custom_form("stablehlo.tanh").expect("a form");
        assert_eq!((form.types, form.in_dictionary), (Types::Same, vec!["result_accuracy"]));
    }
}
