//! Ops of CHLO, by what converts them.

use ir::{Opcode, is_elementwise};

use super::row_of;
use crate::op_row::OpRow;

/// What an op of CHLO becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChloOp {
    Atan,
    /// The op of this row, on operands that are stretched to the shape of the result.
    Broadcasting(&'static OpRow),
    Conjugate,
    Constant,
    /// A function of each element.
    Elementwise(Opcode),
    /// A function that XLA writes as polynomials, or bit by bit: dozens of instructions.
    Expanded,
    /// Whether elements are this infinity; of no sign: either.
    IsInfinite(Option<&'static str>),
    /// The op of MHLO that does the same.
    Row(&'static OpRow),
    Square,
    TopK,
}

/// An op by its name without dialect.
pub(crate) fn chlo_op(name: &str) -> Option<ChloOp> {
    let narrow = name.strip_prefix("broadcast_");
    if is_expanded(narrow.unwrap_or(name)) {
        return Some(ChloOp::Expanded);
    }
    if let Some(narrow) = narrow {
        return row_of(narrow).map(ChloOp::Broadcasting);
    }
    Some(match name {
        "atan" => ChloOp::Atan,
        "conj" => ChloOp::Conjugate,
        "constant" => ChloOp::Constant,
        "is_inf" => ChloOp::IsInfinite(None),
        "is_neg_inf" => ChloOp::IsInfinite(Some("-inf")),
        "is_pos_inf" => ChloOp::IsInfinite(Some("inf")),
        "square" => ChloOp::Square,
        "top_k" => ChloOp::TopK,
        _ => match row_in_mhlo(name) {
            Some(row) => ChloOp::Row(row),
            // Other functions have the names that they have in StableHLO and MHLO.
            None => row_of(name)
                .map(|row| row.opcode)
                .filter(|&opcode| is_elementwise(opcode))
                .map(ChloOp::Elementwise)?,
        },
    })
}

/// The row of an op that MHLO has, too: the instruction is the same.
fn row_in_mhlo(name: &str) -> Option<&'static OpRow> {
    row_of(match name {
        "ragged_dot" => "ragged_dot",
        "scan" => "scan",
        "top_k" => "topk",
        _ => return None,
    })
}

/// The row of an op of CHLO by its full name, if MHLO has the op, too.
pub(crate) fn row_of_chlo(name: &str) -> Option<&'static OpRow> {
    row_in_mhlo(name.strip_prefix("chlo.")?)
}

fn is_expanded(name: &str) -> bool {
    matches!(
        name,
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
