//! The maps of an op, by what it does.

use mlir::{ArrayType, OpId};
use mlir_ops::{NoMap, OpKind, OpText, Source};

use crate::access::{OpMaps, Role};
use crate::{
    einsum, elements, index_ops, linalg_ops, memref_ops, pack, reshapes, slices, tensor_ops, transfers,
    vector_masks, vector_memory, vector_ops, vector_parts, vector_shuffle, winograd, xla_ops, xtile_ops,
};

/// The maps of one result of an op: the operand elements that each result element is made of, or the elements
/// that each iteration reads and writes. `None` for ops that access nothing by index, and for unknown ops.
/// The error says why an op that should have maps has none.
pub fn op_maps(source: &Source<'_>, id: OpId, result: usize) -> Option<Result<OpMaps, NoMap>> {
    let name = source.parse.name(id, source.text);
    if matches!(OpKind::of(name), OpKind::Other(_)) {
        return None;
    }
    let text = &OpText::new(source, id)?;
    if let Some(found) = vector_ops::masked_maps(text, None) {
        return Some(found);
    }
    Some(match text.op {
        OpKind::Apply
        | OpKind::AffineMin
        | OpKind::AffineMax
        | OpKind::ApplyIndexing
        | OpKind::Delinearize
        | OpKind::Linearize => index_ops::value(text, result),
        // The variable of a loop, or a dynamic extent.
        OpKind::LinalgIndex | OpKind::Dim => return index_ops::value(text, 0).ok().map(Ok),
        OpKind::Integer(_) | OpKind::Elementwise(_) => return index_ops::elementwise(text),
        OpKind::Loop(mlir_ops::Loop::Xla) => xla_ops::loop_domain(text),

        OpKind::Load | OpKind::GuardedLoad => elements::point(text, 0, Role::Read),
        OpKind::Store => elements::point(text, 1, Role::Write),
        OpKind::AtomicUpdate(buffer) => elements::point(text, buffer, Role::Write),
        OpKind::InsertElement | OpKind::GuardedInsert => elements::insert(text),
        OpKind::Cast | OpKind::Recast | OpKind::Splat => elements::elementwise(text, 0, 1),
        OpKind::Fma => elements::elementwise(text, 0, 3),
        OpKind::FromElements => elements::from_elements(text),

        OpKind::ExtractSlice | OpKind::Subview | OpKind::ExtractTile => {
            array_of(text, 0).and_then(|array| slices::extract(text, array))
        }
        OpKind::InsertSlice | OpKind::ParallelInsertSlice => slices::insert(text),
        OpKind::InsertTile => {
            text.operand(1).and_then(|buffer| slices::store_tile(text, &buffer, text.array_of(&buffer)?))
        }
        OpKind::ExtractPointedTile => text.pointed_to().and_then(|(_, array)| slices::extract(text, array)),
        OpKind::InsertPointedTile => {
            text.pointed_to().and_then(|(buffer, array)| slices::store_tile(text, &buffer, array))
        }
        OpKind::Collapse => reshapes::collapse(text),
        OpKind::Expand => reshapes::expand(text),
        OpKind::Reshape => reshapes::reshape(text),
        OpKind::Pad => tensor_ops::pad(text),
        OpKind::Concat => tensor_ops::concat(text),
        OpKind::Gather => tensor_ops::gather(text),
        OpKind::Scatter => tensor_ops::scatter(text),
        OpKind::MemrefTranspose => memref_ops::transpose(text),
        OpKind::ReinterpretCast => memref_ops::reinterpret(text),
        OpKind::View => memref_ops::view(text),
        OpKind::CopyBuffer => memref_ops::copy(text),

        OpKind::Linalg(op) => return linalg_ops::maps(text, op, result),
        OpKind::Winograd(side) => winograd::maps(text, side),
        OpKind::Pack => pack::pack(text),
        OpKind::Unpack => pack::unpack(text),

        OpKind::VectorMask => vector_masks::masked(text),
        OpKind::VectorLoad => transfers::plain(text, Role::Read),
        OpKind::VectorStore => transfers::plain(text, Role::Write),
        OpKind::MaskedLoad => vector_memory::masked(text, Role::Read),
        OpKind::MaskedStore => vector_memory::masked(text, Role::Write),
        OpKind::ExpandLoad => vector_memory::packed(text, Role::Read),
        OpKind::CompressStore => vector_memory::packed(text, Role::Write),
        OpKind::VectorScatter => vector_memory::scatter(text),
        OpKind::VectorExtract => vector_parts::extract(text),
        OpKind::VectorInsert => vector_parts::insert(text),
        OpKind::VectorBroadcast => vector_parts::broadcast(text),
        OpKind::VectorTranspose => vector_ops::transpose(text),
        OpKind::VectorBitcast => vector_parts::bitcast(text),
        OpKind::ExtractStridedSlice => vector_parts::extract_strided(text),
        OpKind::InsertStridedSlice => vector_parts::insert_strided(text),
        OpKind::OuterProduct => vector_ops::outer_product(text),
        OpKind::Interleave => vector_parts::interleave(text),
        OpKind::Deinterleave => vector_parts::deinterleave(text, result),
        OpKind::Shuffle => vector_shuffle::shuffle(text),

        OpKind::Einsum => einsum::einsum(text),
        OpKind::IndexedInsert => xla_ops::indexed_insert(text),
        OpKind::XlaReduce => xla_ops::reduce(text, result),
        OpKind::XtileMask => xla_ops::mask(text),
        OpKind::XtileScan => xtile_ops::scan(text, result),
        OpKind::DotScaled => xtile_ops::dot_scaled(text),
        OpKind::SqueezeDims => xla_ops::squeeze(text),
        _ => return None,
    })
}

fn array_of(text: &OpText<'_>, nth: usize) -> Result<ArrayType, NoMap> {
    text.array_of(&text.operand(nth)?)
}
