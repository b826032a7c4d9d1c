//! A table of StableHLO ops whose custom form names their attributes: the elements of the custom form in
//! order, and the attribute of the generic form for each.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, `stablehlo/dialect/AssemblyFormat.cpp`.

/// An element of the custom form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
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
    Products,
}

/// The form of the types after the colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Types {
    /// `(A, B) -> C`
    Functional,
    /// `T` if all types are equal, else `(A, B) -> C`.
    Same,
    /// `C`, for an op without operands.
    Result,
    /// `P, T` if the second and third operand and the result have one type, else `(P, A, B) -> C`.
    Choice,
}

pub(super) struct Format {
    pub(super) pieces: &'static [Piece],
    pub(super) types: Types,
}

pub(super) fn format(name: &str) -> Option<Format> {
    use Piece::*;
    let (pieces, types): (&'static [Piece], Types) = match name.strip_prefix("stablehlo.")? {
        "bitcast_convert" | "imag" | "real" => (&[Operand], Types::Functional),
        "broadcast" => (&[Operand, Comma, List("sizes", "broadcast_sizes")], Types::Functional),
        "broadcast_in_dim" => (&[Operand, Comma, List("dims", "broadcast_dimensions")], Types::Functional),
        "clamp" => (&[Operand, Comma, Operand, Comma, Operand], Types::Same),
        "compare" => (
            &[
                Case("comparison_direction", "comparison_direction"),
                Comma,
                Operand,
                Comma,
                Operand,
                MaybeCase("compare_type", "comparison_type"),
            ],
            Types::Functional,
        ),
        "concatenate" => (&[Operands, Comma, Number("dim", "dimension")], Types::Functional),
        "constant" => (&[Elements("value")], Types::Result),
        "dot_general" => (&[Operand, Comma, Operand, Comma, Products], Types::Functional),
        "dynamic_broadcast_in_dim" => {
            (&[Operand, Comma, Operand, Comma, List("dims", "broadcast_dimensions")], Types::Functional)
        }
        "dynamic_iota" => (&[Operand, Comma, Number("dim", "iota_dimension")], Types::Functional),
        "dynamic_reshape" => (&[Operand, Comma, Operand], Types::Functional),
        "dynamic_slice" => (&[Operands, Comma, List("sizes", "slice_sizes")], Types::Functional),
        "dynamic_update_slice" => (&[Operands], Types::Functional),
        "get_dimension_size" => (&[Operand, Comma, Number("dim", "dimension")], Types::Functional),
        "iota" => (&[Number("dim", "iota_dimension")], Types::Result),
        "pad" => (
            &[
                Operand,
                Comma,
                Operand,
                Comma,
                List("low", "edge_padding_low"),
                Comma,
                List("high", "edge_padding_high"),
                Comma,
                List("interior", "interior_padding"),
            ],
            Types::Functional,
        ),
        "reverse" => (&[Operand, Comma, List("dims", "dimensions")], Types::Same),
        "select" => (&[Operand, Comma, Operand, Comma, Operand], Types::Choice),
        "set_dimension_size" => {
            (&[Operand, Comma, Operand, Comma, Number("dim", "dimension")], Types::Functional)
        }
        "slice" => (&[Operand, Ranges(["start_indices", "limit_indices", "strides"])], Types::Functional),
        "transpose" => (&[Operand, Comma, List("dims", "permutation")], Types::Functional),
        _ => return None,
    };
    Some(Format { pieces, types })
}
