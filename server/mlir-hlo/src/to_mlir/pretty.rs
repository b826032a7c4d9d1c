//! Ops in their custom form.

use super::attributes::Written;
use super::statement::signature;
use crate::op_row::{OpRow, Pretty};

/// The op without its results and its location.
pub(super) fn pretty(
    row: &OpRow,
    operands: &[String],
    written: &Written,
    types: &[String],
    results: &[String],
) -> String {
    let name = row.full_name();
    let is_one = types.iter().chain(results).all(|ty| Some(ty) == results.first());
    let mut parts: Vec<String> = operands.to_vec();
    let clause = |key: &str| written.clause(key).unwrap_or_default().to_owned();
    let ty = match row.pretty {
        Pretty::Iota | Pretty::Constant => results.join(", "),
        Pretty::Same | Pretty::ReducePrecision if is_one => results.join(", "),
        Pretty::Select
            if types.get(1).is_some_and(|ty| types.get(2) == Some(ty) && results.first() == Some(ty)) =>
        {
            types[..2].join(", ")
        }
        _ => signature(types, results),
    };
    match row.pretty {
        Pretty::Compare => {
            parts.insert(0, clause("comparison_direction"));
            parts.extend(written.clause("compare_type").map(str::to_owned));
        }
        Pretty::Slice => {
            let list = clause("slice");
            return format!("{name} {} [{list}]{} : {ty}", parts.join(", "), written.custom_dictionary());
        }
        _ => parts.extend(written.clauses.iter().map(|(key, value)| format!("{key} = {value}"))),
    }
    let space = if parts.is_empty() { "" } else { " " };
    format!("{name}{space}{}{} : {ty}", parts.join(", "), written.custom_dictionary())
}
