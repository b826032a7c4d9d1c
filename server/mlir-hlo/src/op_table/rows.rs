//! How rows are written.

use ir::{AttributeKey, Counterpart, Opcode, op_info};

use crate::op_attributes::ACCURACY;
use crate::op_row::*;

pub(super) const fn row(
    name: &'static str,
    opcode: Opcode,
    pretty: Pretty,
    attributes: &'static [AttributeRow],
) -> OpRow {
    OpRow { name, opcode, dialect: Dialect::Stablehlo, how: How::Row, pretty, attributes, regions: &[] }
}

/// The row of an op that takes the operands of its instruction, as the table of opcodes says.
pub(super) fn plain(opcode: Opcode) -> Option<OpRow> {
    let info = op_info(opcode);
    match info.counterpart {
        Counterpart::Stablehlo(name) => {
            let is_function = info.optional.contains(&AttributeKey::ResultAccuracy);
            Some(row(name, opcode, Pretty::Same, if is_function { ACCURACY } else { &[] }))
        }
        Counterpart::Mhlo(name) => Some(mhlo(name, opcode, &[])),
        Counterpart::None | Counterpart::Table => None,
    }
}

pub(super) const fn functional(
    name: &'static str,
    opcode: Opcode,
    attributes: &'static [AttributeRow],
) -> OpRow {
    row(name, opcode, Pretty::Functional, attributes)
}

pub(super) const fn generic(
    name: &'static str,
    opcode: Opcode,
    attributes: &'static [AttributeRow],
) -> OpRow {
    row(name, opcode, Pretty::No, attributes)
}

pub(super) const fn mhlo(name: &'static str, opcode: Opcode, attributes: &'static [AttributeRow]) -> OpRow {
    OpRow { dialect: Dialect::Mhlo, ..row(name, opcode, Pretty::No, attributes) }
}

pub(super) const fn special(
    name: &'static str,
    opcode: Opcode,
    special: Special,
    attributes: &'static [AttributeRow],
) -> OpRow {
    OpRow { how: How::Special(special), ..row(name, opcode, Pretty::No, attributes) }
}

/// The row of an op that has shapes as operands.
pub(super) const fn dynamic(dynamic: Dynamic, row: OpRow) -> OpRow {
    OpRow { how: How::Special(Special::Dynamic(dynamic)), ..row }
}

/// Of an op that is read, while for its opcode another one is written.
pub(super) const fn read_only(row: OpRow) -> OpRow {
    OpRow { how: How::ReadOnly, ..row }
}

pub(super) const fn with(row: OpRow, regions: &'static [AttributeKey]) -> OpRow {
    OpRow { regions, ..row }
}
