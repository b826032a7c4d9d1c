//! Masks: lanes of a vector that an op leaves out. `vector.mask`, and ops that take a mask of their own.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector; the shape of a mask: `MaskableOpInterface::getExpectedMaskType`, of a transfer
//! `inferTransferOpMaskType`.

use indexing_map::{Expr, Interval};
use mlir::OpId;

use crate::access::{Access, OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::op_text::OpText;
use crate::source::Operand;
use crate::vector_ops;

/// Says which lanes an op computes, and what the others are.
pub(crate) struct Mask {
    lanes: Operand,
    /// Of the shape of the result; without it the other lanes are what the op says, or nothing.
    otherwise: Option<Operand>,
}

impl Mask {
    pub(crate) fn of(lanes: Operand) -> Mask {
        Mask { lanes, otherwise: None }
    }

    /// `otherwise` is what the lanes are that are off.
    pub(crate) fn with_otherwise(lanes: Operand, otherwise: Operand) -> Mask {
        Mask { lanes, otherwise: Some(otherwise) }
    }

    /// Adds what the mask reads to what the op reads. `lane` is the place in the mask of what the op reads, `element` that in
    /// the result.
    pub(crate) fn add(
        &self,
        builder: &MapBuilder<'_>,
        accesses: &mut Vec<Access>,
        lane: Vec<Expr>,
        element: Vec<Expr>,
    ) {
        self.add_where(builder, accesses, lane, &[]);
        if let Some(otherwise) = &self.otherwise {
            let mut access = builder.access(otherwise, Role::Read, element, Vec::new());
            access.note = Some("where the mask is off".to_owned());
            accesses.push(access);
        }
    }

    /// The same, of an op with a value of its own for the other lanes, which has such a lane only in `when`.
    pub(crate) fn add_where(
        &self,
        builder: &MapBuilder<'_>,
        accesses: &mut Vec<Access>,
        lane: Vec<Expr>,
        when: &[(Expr, Interval)],
    ) {
        for access in accesses.iter_mut() {
            access.note.get_or_insert_with(|| "where the mask says so".to_owned());
        }
        accesses.push(builder.access(&self.lanes, Role::Read, lane, when.to_vec()));
    }
}

/// `%mask, %otherwise { op } : vector<8xi1> -> vector<8xf32>`: the maps of the op in the braces, and the mask's.
pub(crate) fn masked(text: &OpText<'_>) -> Result<OpMaps, String> {
    let parse = text.source.parse;
    let mut operands = text.operands().into_iter();
    let mask = Mask { lanes: operands.next().ok_or("it has no mask")?, otherwise: operands.next() };
    let body = text.id + 1..parse.op(text.id).behind;
    let inner = body.filter(|&op| parse.parent(op) == Some(text.id));
    let name = |op: OpId| parse.name(op, text.source.text);
    let inner: Vec<OpId> = inner.filter(|&op| name(op) != "vector.yield").collect();
    let [op] = inner.as_slice() else { return Err("it has not one op to mask".to_owned()) };
    let inner = OpText::new(text.source, *op).ok_or("the op that it masks is not read")?;
    let short = name(*op).strip_prefix("vector.").unwrap_or_default();
    vector_ops::masked_maps(&inner, short, Some(&mask))
        .unwrap_or_else(|| Err(format!("{} takes no mask", name(*op))))
}
