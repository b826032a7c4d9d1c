//! Attributes that several rows of the op table have.

use ir::AttributeKey as K;

use crate::op_row::Need::{Always, HloAlways, Sometimes, Unless};
use crate::op_row::{AttributeRow, Form, Need};

pub(crate) const fn at(
    name: &'static str,
    clause: &'static str,
    key: K,
    form: Form,
    need: Need,
) -> AttributeRow {
    AttributeRow { name, clause, key, form, need }
}

pub(crate) const ACCURACY: &[AttributeRow] =
    &[at("result_accuracy", "", K::ResultAccuracy, Form::Accuracy, Sometimes)];
pub(crate) const DIMENSIONS: &[AttributeRow] = &[at("dimensions", "dims", K::Dimensions, Form::Ints, Always)];
pub(crate) const DIMENSION: &[AttributeRow] = &[at("dimension", "dim", K::Dimensions, Form::OneInt, Always)];
pub(crate) const IOTA: &[AttributeRow] = &[at("iota_dimension", "dim", K::IotaDimension, Form::Int, Always)];
pub(crate) const BROADCAST_DIMENSIONS: &[AttributeRow] =
    &[at("broadcast_dimensions", "dims", K::Dimensions, Form::Ints, Always)];
pub(crate) const CHANNEL: AttributeRow = at("channel_handle", "", K::ChannelId, Form::Channel, Sometimes);
pub(crate) const TRANSFER_CHANNEL: AttributeRow = AttributeRow { need: Unless(0), ..CHANNEL };
pub(crate) const GROUPS: AttributeRow = at("replica_groups", "", K::ReplicaGroups, Form::Groups, Always);
pub(crate) const GLOBAL_IDS: AttributeRow =
    at("use_global_device_ids", "", K::UseGlobalDeviceIds, Form::Flag, Sometimes);
pub(crate) const BY_ROOT: AttributeRow = at("has_dynamic_root", "", K::HasDynamicRoot, Form::Flag, Sometimes);
pub(crate) const HOST: AttributeRow = at("is_host_transfer", "", K::IsHostTransfer, Form::Bool, HloAlways);
pub(crate) const SORTED: AttributeRow =
    at("indices_are_sorted", "", K::IndicesAreSorted, Form::Bool, Unless(0));
pub(crate) const PRECISION: AttributeRow =
    at("precision_config", "precision", K::OperandPrecision, Form::Precision, Sometimes);
pub(crate) const DOT: &[AttributeRow] = &[
    at("dot_dimension_numbers", "", K::LhsContractingDims, Form::DotNumbers, Always),
    PRECISION,
    at("algorithm", "algorithm", K::Algorithm, Form::DotAlgorithm, Sometimes),
];
pub(crate) const WINDOW: &[AttributeRow] = &[at("window_dimensions", "", K::Window, Form::Window, Always)];
pub(crate) const CONVOLUTION: &[AttributeRow] = &[
    at("window_strides", "window", K::Window, Form::ConvolutionWindow, Sometimes),
    at("dimension_numbers", "dim_numbers", K::DimLabels, Form::ConvolutionNumbers, Always),
    at("feature_group_count", "", K::FeatureGroupCount, Form::Int, Unless(1)),
    at("batch_group_count", "", K::BatchGroupCount, Form::Int, Unless(1)),
    PRECISION,
];
pub(crate) const GATHER: &[AttributeRow] = &[
    at("dimension_numbers", "", K::OffsetDims, Form::GatherNumbers, Always),
    at("slice_sizes", "", K::SliceSizes, Form::Ints, Always),
    SORTED,
];
pub(crate) const BATCH_NORM: &[AttributeRow] = &[
    at("epsilon", "", K::Epsilon, Form::Float, Always),
    at("feature_index", "", K::FeatureIndex, Form::Int, Always),
];
