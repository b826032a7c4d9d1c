//! The ops of StableHLO and MHLO with their instructions of HLO: one row per op, for both directions.
//!
//! Ops with the operands of their instruction, and no attributes in another form, have their row from the table of
//! opcodes in `ir`. The files below have the others.
//!
//! Source: `stablehlo/dialect/StablehloOps.td` for names and forms of attributes, `xla/hlo/translate` for the instructions.

mod chlo;
mod control;
mod devices;
mod elements;
mod moves;
mod rows;
mod sums;

use std::sync::OnceLock;

pub(crate) use chlo::{ChloOp, chlo_op, row_of_chlo};
use ir::Opcode;
use rustc_hash::FxHashMap;

use crate::op_row::{How, OpRow, Special as S};

/// The ops that become one instruction each, by their full names, with its opcode.
pub fn op_names() -> impl Iterator<Item = (&'static str, Opcode)> {
    static NAMES: OnceLock<Vec<(String, Opcode)>> = OnceLock::new();
    let names = NAMES.get_or_init(|| ops().map(|row| (row.full_name(), row.opcode)).collect());
    names.iter().map(|(name, opcode)| (name.as_str(), *opcode))
}

/// All rows: of the ops that read like their instructions, then of those that do not.
fn ops() -> impl Iterator<Item = &'static OpRow> {
    static PLAIN: OnceLock<Vec<OpRow>> = OnceLock::new();
    let plain = PLAIN.get_or_init(|| Opcode::ALL.iter().filter_map(|&opcode| rows::plain(opcode)).collect());
    let tables = [elements::OPS, moves::OPS, sums::OPS, devices::OPS, control::OPS];
    plain.iter().chain(tables.into_iter().flatten())
}

/// The row of an op by its name without dialect.
pub(crate) fn row_of(name: &str) -> Option<&'static OpRow> {
    static BY_NAME: OnceLock<FxHashMap<&'static str, &'static OpRow>> = OnceLock::new();
    let rows = BY_NAME.get_or_init(|| ops().map(|row| (row.name, row)).collect());
    rows.get(name).copied()
}

/// The op that is written for an opcode: the first of the table that is not only read.
pub(crate) fn op_of(opcode: Opcode) -> Option<&'static OpRow> {
    static BY_OPCODE: OnceLock<FxHashMap<Opcode, &'static OpRow>> = OnceLock::new();
    let rows = BY_OPCODE.get_or_init(|| {
        let mut rows = FxHashMap::default();
        for row in ops().filter(|row| !matches!(row.how, How::ReadOnly | How::Special(S::Dynamic(_)))) {
            rows.entry(row.opcode).or_insert(row);
        }
        rows
    });
    rows.get(&opcode).copied()
}

/// The name of an op without its dialect, where that is one of those whose ops are HLO's.
pub(crate) fn mnemonic(name: &str) -> Option<&str> {
    ["stablehlo.", "mhlo."].iter().find_map(|dialect| name.strip_prefix(dialect))
}

/// The opcode of the instruction that an op becomes, by its full name; nothing where it becomes none, or several.
pub fn opcode_of(name: &str) -> Option<Opcode> {
    mnemonic(name).and_then(row_of).map(|row| row.opcode)
}

#[cfg(test)]
mod tests {
    use ir::{Counterpart, op_info};

    use super::*;

    #[test]
    fn opcodes_name_the_table_where_it_has_them() {
        for &opcode in Opcode::ALL {
            let has_row = ops().any(|row| row.opcode == opcode);
            assert_eq!(has_row, op_info(opcode).counterpart != Counterpart::None, "{opcode}");
        }
    }

    #[test]
    fn no_name_has_two_rows() {
        for row in ops() {
            assert_eq!(ops().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }
}
