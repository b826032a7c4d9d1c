//! How rows are written.

use ir::{AttributeKey, Opcode};

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

pub(super) const fn same(name: &'static str, opcode: Opcode) -> OpRow {
    row(name, opcode, Pretty::Same, &[])
}

/// A function that may be computed with a stated accuracy.
pub(super) const fn function(name: &'static str, opcode: Opcode) -> OpRow {
    row(name, opcode, Pretty::Same, ACCURACY)
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

/// Of an op that is read, while for its opcode another one is written.
pub(super) const fn read_only(row: OpRow) -> OpRow {
    OpRow { how: How::ReadOnly, ..row }
}

pub(super) const fn with(row: OpRow, regions: &'static [AttributeKey]) -> OpRow {
    OpRow { regions, ..row }
}
