//! Masks: lanes of a vector that an op leaves out. `vector.mask`, and ops that take a mask of their own.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector; the shape of a mask:
//! `MaskableOpInterface::getExpectedMaskType`, for a transfer `inferTransferOpMaskType`.

use indexing_map::{Expr, Interval};
use mlir::OpId;
use mlir_ops::{NoMap, OpKind, OpText, Operand};

use crate::access::{Access, OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::vector_ops;

/// The lanes that an op computes, and the value of the others.
pub(crate) struct Mask {
    lanes: Operand,
    /// Has the shape of the result. Without it the op decides about the other lanes, or they have no value.
    otherwise: Option<Operand>,
}

impl Mask {
    pub(crate) fn of(lanes: Operand) -> Mask {
        Mask { lanes, otherwise: None }
    }

    /// `otherwise` is the value of inactive lanes.
    pub(crate) fn with_otherwise(lanes: Operand, otherwise: Operand) -> Mask {
        Mask { lanes, otherwise: Some(otherwise) }
    }

    /// Adds what the mask reads to what the op reads. `lane` is the index into the mask for an iteration of
    /// the op, `element` the index into the result.
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

    /// [`Mask::add`] for an op with its own value for inactive lanes, which reads the mask only in `when`.
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

/// `%mask, %otherwise { op } : vector<8xi1> -> vector<8xf32>`: the maps of the op in the braces, and of the
/// mask.
pub(crate) fn masked(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let parse = text.source.parse;
    let mut operands = text.operands().into_iter();
    let mask = Mask { lanes: operands.next().ok_or(NoMap::Without("mask"))?, otherwise: operands.next() };
    let body = text.id + 1..parse.op(text.id).behind;
    let inner = body.filter(|&op| parse.parent(op) == Some(text.id));
    let inner: Vec<OpId> = inner.filter(|&op| text.source.op(op) != OpKind::Yield).collect();
    let [op] = inner.as_slice() else { return Err(NoMap::OneMaskedOp) };
    let inner = OpText::new(text.source, *op).ok_or(NoMap::NotRead("the op that it masks"))?;
    vector_ops::masked_maps(&inner, Some(&mask)).unwrap_or_else(|| Err(NoMap::Unmasked(inner.name().into())))
}
