//! Constants, and ops that move elements.

use ir::{AttributeKey as K, Opcode as O};

use super::rows::*;
use crate::op_attributes::*;
use crate::op_row::Need::{Always, Unless};
use crate::op_row::*;
use Special as S;

pub(super) const OPS: &[OpRow] = &[
    OpRow { pretty: Pretty::Constant, ..special("constant", O::Constant, S::Constant, &[]) },
    row("iota", O::Iota, Pretty::Iota, IOTA),
    OpRow {
        how: How::Special(S::BroadcastInDim),
        ..functional("broadcast_in_dim", O::Broadcast, BROADCAST_DIMENSIONS)
    },
    OpRow {
        how: How::Special(S::Broadcast),
        ..functional(
            "broadcast",
            O::Broadcast,
            &[at("broadcast_sizes", "sizes", K::Dimensions, Form::Ints, Always)],
        )
    },
    functional("reshape", O::Reshape, &[]),
    functional("bitcast_convert", O::BitcastConvert, &[]),
    functional("transpose", O::Transpose, &[at("permutation", "dims", K::Dimensions, Form::Ints, Always)]),
    row("reverse", O::Reverse, Pretty::Same, DIMENSIONS),
    row("slice", O::Slice, Pretty::Slice, &[at("start_indices", "", K::Slice, Form::Slice, Always)]),
    functional(
        "dynamic_slice",
        O::DynamicSlice,
        &[at("slice_sizes", "sizes", K::DynamicSliceSizes, Form::Ints, Always)],
    ),
    functional("dynamic_update_slice", O::DynamicUpdateSlice, &[]),
    functional("pad", O::Pad, &[at("edge_padding_low", "low", K::Padding, Form::Padding, Always)]),
    functional("concatenate", O::Concatenate, DIMENSION),
    functional("get_dimension_size", O::GetDimensionSize, DIMENSION),
    functional("set_dimension_size", O::SetDimensionSize, DIMENSION),
    generic("gather", O::Gather, GATHER),
    with(
        generic(
            "scatter",
            O::Scatter,
            &[
                at("scatter_dimension_numbers", "", K::UpdateWindowDims, Form::ScatterNumbers, Always),
                SORTED,
                at("unique_indices", "", K::UniqueIndices, Form::Bool, Unless(0)),
            ],
        ),
        &[K::ToApply],
    ),
    special("torch_index_select", O::Gather, S::TorchIndexSelect, &[]),
    dynamic(Dynamic::Broadcast, functional("dynamic_broadcast_in_dim", O::Broadcast, BROADCAST_DIMENSIONS)),
    dynamic(Dynamic::Reshape, functional("dynamic_reshape", O::Reshape, &[])),
    dynamic(Dynamic::Iota, functional("dynamic_iota", O::Iota, IOTA)),
    dynamic(Dynamic::Slice, generic("real_dynamic_slice", O::Slice, &[])),
    dynamic(Dynamic::Pad, generic("dynamic_pad", O::Pad, &[])),
    dynamic(Dynamic::Gather, generic("dynamic_gather", O::Gather, GATHER)),
    dynamic(Dynamic::Convolution, generic("dynamic_conv", O::Convolution, CONVOLUTION)),
];
