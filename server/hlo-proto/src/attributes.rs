//! Attributes: where each lies in the message of an instruction, for both directions.
//!
//! Which attributes an opcode has, the table of `ir` says. This table says what an attribute is in XLA's message.
//!
//! Source: XLA `hlo/ir/hlo_instructions.cc`, each class's ToProto, and `HloInstruction::CreateFromProto`.

mod convolution;
mod groups;
mod lists;
mod metadata;
mod numbers;
mod origin;
mod precision;
pub(crate) mod sharding;
mod strings;

use ir::{AttributeValue, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use crate::literal::Budget;
use crate::messages::{DotDimensionNumbers, HloInstructionProto, TriangularSolveOptions};
pub(crate) use metadata::{frontend_attributes, write_frontend_attributes};
pub(crate) use origin::{original_array, write_original_array};
pub(crate) use strings::string_or_json;

/// The attributes that call computations, in the order in which a message lists those: a loop has its body first.
pub(crate) const CALLS: &[AttributeKey] = {
    use AttributeKey::*;
    &[
        Body,
        Condition,
        Select,
        Scatter,
        TrueComputation,
        FalseComputation,
        BranchComputations,
        ToApply,
        Calls,
        CalledComputations,
    ]
};

type Proto = HloInstructionProto;
/// A field of the message, or of one in it.
type In<T> = fn(&mut Proto) -> &mut T;

/// What else the value of an attribute depends on.
pub(crate) struct Context<'a> {
    /// `None` for an opcode that is not known.
    pub(crate) opcode: Option<Opcode>,
    pub(crate) operands: &'a [Shape],
    /// Payloads of the module, which instructions refer to by their numbers.
    pub(crate) payloads: &'a [Vec<u8>],
    pub(crate) budget: &'a mut Budget,
}

/// Where an attribute lies, and in which form.
enum Place {
    Bool(In<bool>),
    Int(In<i64>),
    SmallInt(In<i32>),
    Ints(In<Vec<i64>>),
    /// A list of one number at most, written without braces.
    OneInt(In<Vec<i64>>),
    /// A word that the message has, too.
    Word(In<String>),
    /// A word, by its number. An empty word is none.
    Enum(In<i32>, &'static [&'static str]),
    /// A string in quotes.
    String(In<String>),
    Bytes(In<Vec<u8>>),
    /// Anything else: from the message, and to it.
    Other(Take, Put),
    /// XLA's message has no field for it, or it is not an attribute there.
    Nowhere,
}

/// `None` where the message does not have the attribute, or has it in a form that is not understood. That then stays in it.
type Take = fn(&mut Proto, &mut Context<'_>) -> Option<AttributeValue>;
type Put = fn(&mut Proto, &AttributeValue, &mut Context<'_>) -> Result<(), String>;

fn place(key: AttributeKey, opcode: Option<Opcode>) -> Place {
    use AttributeKey::*;
    use Place::{Bool, Bytes, Enum, Int, Ints, Nowhere, OneInt, SmallInt, String, Word};
    let is = |wanted: Opcode| opcode == Some(wanted);
    match key {
        ConstrainLayout => Bool(|p| &mut p.constrain_layout),
        CustomCallHasSideEffect => Bool(|p| &mut p.custom_call_has_side_effect),
        HasDynamicRoot => Bool(|p| &mut p.has_dynamic_root),
        IndicesAreSorted => Bool(|p| &mut p.indices_are_sorted),
        IsComposite => Bool(|p| &mut p.is_composite),
        IsHostTransfer => Bool(|p| &mut p.is_host_transfer),
        IsReverse => Bool(|p| &mut p.is_reverse),
        IsStable => Bool(|p| &mut p.is_stable),
        Largest => Bool(|p| &mut p.largest),
        LeftSide => Bool(|p| &mut triangular(p).left_side),
        Lower if is(Opcode::Cholesky) => Bool(|p| &mut p.cholesky_options.get_or_insert_default().lower),
        Lower => Bool(|p| &mut triangular(p).lower),
        UnitDiagonal => Bool(|p| &mut triangular(p).unit_diagonal),
        UniqueIndices => Bool(|p| &mut p.unique_indices),
        UseGlobalDeviceIds => Bool(|p| &mut p.use_global_device_ids),

        Delta => Int(|p| &mut p.delta),
        FeatureIndex => Int(|p| &mut p.feature_index),
        Index => Int(|p| &mut p.tuple_index),
        IndexVectorDim if is(Opcode::Scatter) => {
            Int(|p| &mut p.scatter_dimension_numbers.get_or_insert_default().index_vector_dim)
        }
        IndexVectorDim => Int(|p| &mut p.gather_dimension_numbers.get_or_insert_default().index_vector_dim),
        K => Int(|p| &mut p.k),
        NumCarries => Int(|p| &mut p.num_carries),
        ExponentBits => SmallInt(|p| &mut p.exponent_bits),
        MantissaBits => SmallInt(|p| &mut p.mantissa_bits),
        InferredDimension | IotaDimension => OneInt(|p| &mut p.dimensions),

        Dimensions => Ints(|p| &mut p.dimensions),
        DynamicSliceSizes => Ints(|p| &mut p.dynamic_slice_sizes),
        FftLength => Ints(|p| &mut p.fft_length),
        LhsBatchDims if is(Opcode::RaggedDot) => Ints(|p| &mut ragged_dot(p).lhs_batch_dimensions),
        LhsContractingDims if is(Opcode::RaggedDot) => {
            Ints(|p| &mut ragged_dot(p).lhs_contracting_dimensions)
        }
        RhsBatchDims if is(Opcode::RaggedDot) => Ints(|p| &mut ragged_dot(p).rhs_batch_dimensions),
        RhsContractingDims if is(Opcode::RaggedDot) => {
            Ints(|p| &mut ragged_dot(p).rhs_contracting_dimensions)
        }
        LhsBatchDims => Ints(|p| &mut dot(p).lhs_batch_dimensions),
        LhsContractingDims => Ints(|p| &mut dot(p).lhs_contracting_dimensions),
        RhsBatchDims => Ints(|p| &mut dot(p).rhs_batch_dimensions),
        RhsContractingDims => Ints(|p| &mut dot(p).rhs_contracting_dimensions),
        LhsRaggedDims => {
            Ints(|p| &mut p.ragged_dot_dimension_numbers.get_or_insert_default().lhs_ragged_dimensions)
        }
        RhsGroupDims => {
            Ints(|p| &mut p.ragged_dot_dimension_numbers.get_or_insert_default().rhs_group_dimensions)
        }
        OffsetDims => Ints(|p| &mut p.gather_dimension_numbers.get_or_insert_default().offset_dims),
        CollapsedSliceDims => {
            Ints(|p| &mut p.gather_dimension_numbers.get_or_insert_default().collapsed_slice_dims)
        }
        StartIndexMap => Ints(|p| &mut p.gather_dimension_numbers.get_or_insert_default().start_index_map),
        OperandBatchingDims => {
            Ints(|p| &mut p.gather_dimension_numbers.get_or_insert_default().operand_batching_dims)
        }
        StartIndicesBatchingDims => {
            Ints(|p| &mut p.gather_dimension_numbers.get_or_insert_default().start_indices_batching_dims)
        }
        UpdateWindowDims => {
            Ints(|p| &mut p.scatter_dimension_numbers.get_or_insert_default().update_window_dims)
        }
        InsertedWindowDims => {
            Ints(|p| &mut p.scatter_dimension_numbers.get_or_insert_default().inserted_window_dims)
        }
        ScatterDimsToOperandDims => {
            Ints(|p| &mut p.scatter_dimension_numbers.get_or_insert_default().scatter_dims_to_operand_dims)
        }
        InputBatchingDims => {
            Ints(|p| &mut p.scatter_dimension_numbers.get_or_insert_default().input_batching_dims)
        }
        ScatterIndicesBatchingDims => {
            Ints(|p| &mut p.scatter_dimension_numbers.get_or_insert_default().scatter_indices_batching_dims)
        }
        Shifts => Ints(|p| &mut p.shuffle_mode.get_or_insert_default().rotate.get_or_insert_default().shifts),
        SliceSizes if is(Opcode::Gather) => Ints(|p| &mut p.gather_slice_sizes),

        Kind => Word(|p| &mut p.fusion_kind),
        Direction => Word(|p| &mut p.comparison_direction),
        AsyncExecutionThread => String(|p| &mut p.async_execution_thread),
        CustomCallTarget => String(|p| &mut p.custom_call_target),
        InfeedConfig => Bytes(|p| &mut p.infeed_config),
        OutfeedConfig => Bytes(|p| &mut p.outfeed_config),

        Algorithm if is(Opcode::RngBitGenerator) => {
            Enum(|p| &mut p.rng_algorithm, &["rng_default", "rng_three_fry", "rng_philox"])
        }
        Algorithm => {
            Enum(|p| &mut p.precision_config.get_or_insert_default().algorithm, precision::ALGORITHMS)
        }
        ApiVersion => Enum(
            |p| &mut p.custom_call_api_version,
            &[
                "API_VERSION_UNSPECIFIED",
                "API_VERSION_ORIGINAL",
                "API_VERSION_STATUS_RETURNING",
                "API_VERSION_STATUS_RETURNING_UNIFIED",
                "API_VERSION_TYPED_FFI",
            ],
        ),
        ConvolutionKind => Enum(|p| &mut p.conv_kind, &["unset", "fprop", "dgrad", "wgrad"]),
        Distribution => Enum(|p| &mut p.distribution, &["", "rng_uniform", "rng_normal"]),
        FftType => Enum(|p| &mut p.fft_type, &["FFT", "IFFT", "RFFT", "IRFFT"]),
        IsAssociative => Place::Other(numbers::take_is_associative, numbers::put_is_associative),
        PaddingType => Enum(|p| &mut p.padding_type, &["", "PADDING_VALID", "PADDING_SAME"]),
        Schedule => {
            Enum(|p| &mut p.custom_call_schedule, &["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"])
        }
        TransposeA => Enum(|p| &mut triangular(p).transpose_a, &["", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),

        BatchGroupCount => Place::Other(numbers::take_batch_groups, numbers::put_batch_groups),
        FeatureGroupCount => Place::Other(numbers::take_feature_groups, numbers::put_feature_groups),
        ChannelId => Place::Other(numbers::take_channel, numbers::put_channel),
        CrossProgramPrefetchIndex => Place::Other(numbers::take_prefetch, numbers::put_prefetch),
        Epsilon => Place::Other(numbers::take_epsilon, numbers::put_epsilon),
        Mode => Place::Other(strings::take_shuffle_mode, strings::put_shuffle_mode),
        Type => Place::Other(strings::take_comparison_type, strings::put_comparison_type),
        Order => Place::Other(strings::take_comparison_order, strings::put_comparison_order),
        BackendConfig => Place::Other(strings::take_backend_config, strings::put_backend_config),

        DimLabels => Place::Other(convolution::take_labels, convolution::put_labels),
        Window => Place::Other(convolution::take_window, convolution::put_window),
        BlockScalingConfig => Place::Other(convolution::take_block_scaling, convolution::put_block_scaling),
        SparsityConfig => Place::Other(convolution::take_sparsity, convolution::put_sparsity),
        OperandPrecision => Place::Other(precision::take, precision::put),

        Slice => Place::Other(lists::take_slice, lists::put_slice),
        SliceSizes => Place::Other(lists::take_slice_sizes, lists::put_slice_sizes),
        Padding => Place::Other(lists::take_padding, lists::put_padding),
        Literal => Place::Other(lists::take_literal, lists::put_literal),
        OperandLayoutConstraints => Place::Other(lists::take_constraints, lists::put_constraints),
        OutfeedShape => Place::Other(lists::take_outfeed_shape, lists::put_outfeed_shape),
        OutputToOperandAliasing => Place::Other(lists::take_aliasing, lists::put_aliasing),
        ParameterReplication => Place::Other(lists::take_replication, lists::put_replication),

        ReplicaGroups => Place::Other(groups::take, groups::put),
        SourceTargetPairs => Place::Other(groups::take_pairs, groups::put_pairs),
        Sharding => Place::Other(sharding::take, sharding::put),
        Domain => Place::Other(sharding::take_domain, sharding::put_domain),

        FrontendAttributes => Place::Other(metadata::take_frontend, metadata::put_frontend),
        Metadata => Place::Other(metadata::take, metadata::put),
        ResultAccuracy => Place::Other(metadata::take_accuracy, metadata::put_accuracy),
        Statistics => Place::Other(metadata::take_statistics, metadata::put_statistics),
        Origin => Place::Other(origin::take, origin::put),

        // Computations and instructions, which the caller knows.
        Body | BranchComputations | CalledComputations | Calls | Condition | ControlPredecessors
        | FalseComputation | Scatter | Select | ToApply | TrueComputation => Nowhere,
    }
}

fn triangular(p: &mut Proto) -> &mut TriangularSolveOptions {
    p.triangular_solve_options.get_or_insert_default()
}

fn dot(p: &mut Proto) -> &mut DotDimensionNumbers {
    p.dot_dimension_numbers.get_or_insert_default()
}

fn ragged_dot(p: &mut Proto) -> &mut DotDimensionNumbers {
    p.ragged_dot_dimension_numbers.get_or_insert_default().dot_dimension_numbers.get_or_insert_default()
}

/// Takes an attribute out of a message. Nothing where it says what is meant without it, unless it `is_stated` in any case.
pub(crate) fn take(
    key: AttributeKey,
    proto: &mut Proto,
    context: &mut Context<'_>,
    is_stated: bool,
) -> Option<AttributeValue> {
    fn said<T: Default + PartialEq>(field: &mut T, is_stated: bool) -> Option<T> {
        let value = std::mem::take(field);
        (is_stated || value != T::default()).then_some(value)
    }
    match place(key, context.opcode) {
        Place::Bool(of) => said(of(proto), is_stated).map(AttributeValue::Bool),
        Place::Int(of) => said(of(proto), is_stated).map(AttributeValue::Int),
        Place::SmallInt(of) => said(of(proto), is_stated).map(|value| AttributeValue::Int(value.into())),
        Place::Ints(of) => said(of(proto), is_stated).map(AttributeValue::Ints),
        Place::OneInt(of) => match of(proto).as_slice() {
            [_] => of(proto).pop().map(AttributeValue::Int),
            _ => None,
        },
        Place::Word(of) if strings::is_word(of(proto)) => {
            said(of(proto), is_stated).map(AttributeValue::Word)
        }
        Place::Word(_) => None,
        Place::Enum(of, words) => {
            let number = of(proto);
            let word = usize::try_from(*number).ok().and_then(|number| words.get(number))?;
            let said = said(number, is_stated || key == AttributeKey::ApiVersion)?;
            debug_assert!(said >= 0);
            (!word.is_empty()).then(|| AttributeValue::Word((*word).to_owned()))
        }
        Place::String(of) => said(of(proto), is_stated).map(|value| strings::quoted_value(value.as_bytes())),
        Place::Bytes(of) => said(of(proto), is_stated).map(|value| strings::quoted_value(&value)),
        Place::Other(take, _) => take(proto, context),
        Place::Nowhere => None,
    }
}

/// Puts an attribute into a message.
pub(crate) fn put(
    key: AttributeKey,
    value: &AttributeValue,
    proto: &mut Proto,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let fault = |what: &str| Err(format!("{key} is not {what}"));
    match place(key, context.opcode) {
        Place::Bool(of) => match value {
            AttributeValue::Bool(value) => *of(proto) = *value,
            _ => return fault("true or false"),
        },
        Place::Int(of) => match value {
            AttributeValue::Int(value) => *of(proto) = *value,
            _ => return fault("a number"),
        },
        Place::SmallInt(of) => match value {
            AttributeValue::Int(value) => match i32::try_from(*value) {
                Ok(value) => *of(proto) = value,
                Err(_) => return fault("a number of 32 bits"),
            },
            _ => return fault("a number"),
        },
        Place::Ints(of) => match value {
            AttributeValue::Ints(value) => of(proto).clone_from(value),
            _ => return fault("a list of numbers"),
        },
        Place::OneInt(of) => match value {
            // What is inferred from all other dimensions is not said.
            AttributeValue::Int(-1) => {}
            AttributeValue::Int(value) => *of(proto) = vec![*value],
            _ => return fault("a number"),
        },
        Place::Word(of) => match value {
            AttributeValue::Word(word) => of(proto).clone_from(word),
            _ => return fault("a word"),
        },
        Place::Enum(of, words) => {
            let AttributeValue::Word(word) = value else { return fault("a word") };
            match words.iter().position(|known| !known.is_empty() && known.eq_ignore_ascii_case(word)) {
                Some(number) => *of(proto) = number as i32,
                None => return Err(format!("{key}={word} has no number in XLA's messages")),
            }
        }
        Place::String(of) => match strings::bytes_of(value).map(String::from_utf8) {
            Some(Ok(text)) => *of(proto) = text,
            _ => return fault("a string of UTF-8"),
        },
        Place::Bytes(of) => match strings::bytes_of(value) {
            Some(bytes) => *of(proto) = bytes,
            None => return fault("a string"),
        },
        Place::Other(_, put) => {
            put(proto, value, context).map_err(|why| {
                if why.is_empty() { format!("{key} has a form that is not known") } else { why }
            })?;
        }
        Place::Nowhere => return Err(format!("XLA's messages have no field for {key}")),
    }
    Ok(())
}

/// Adds what XLA's messages have of an instruction whose text does not state it.
pub(crate) fn put_defaults(proto: &mut Proto, context: &Context<'_>) {
    let Some(opcode) = context.opcode else { return };
    let has = |key| ir::op_info(opcode).allows(key);
    use AttributeKey::*;
    for key in [OffsetDims, UpdateWindowDims, LhsContractingDims, LhsRaggedDims, LeftSide, Lower] {
        // The message is there, whatever it says.
        if has(key) {
            match place(key, Some(opcode)) {
                Place::Ints(of) => _ = of(proto),
                Place::Bool(of) => _ = of(proto),
                _ => {}
            }
        }
    }
    if has(Window) && opcode != Opcode::CustomCall {
        proto.window.get_or_insert_default();
    }
    if has(Padding) {
        proto.padding_config.get_or_insert_default();
    }
    if has(FeatureGroupCount) && proto.feature_group_count == 0 {
        proto.feature_group_count = 1;
    }
    if has(BatchGroupCount) && proto.batch_group_count == 0 {
        proto.batch_group_count = 1;
    }
    if has(OperandPrecision) {
        let count =
            if matches!(opcode, Opcode::RaggedDot | Opcode::ScaledDot) { 2 } else { context.operands.len() };
        let precisions = &mut proto.precision_config.get_or_insert_default().operand_precision;
        if precisions.is_empty() {
            precisions.resize(count, 0);
        }
    }
    if has(ApiVersion) && proto.custom_call_api_version == 0 {
        proto.custom_call_api_version = 1;
    }
    if has(Direction) && proto.comparison_type.is_empty() {
        let element = context.operands.first().and_then(Shape::element);
        proto.comparison_type = element.map_or("", strings::default_comparison).to_owned();
    }
    if has(Direction) && proto.comparison_order.is_empty() {
        proto.comparison_order = strings::default_order(&proto.comparison_type).to_owned();
    }
    if has(ReplicaGroups) && !groups::has_groups(proto) {
        proto.collective_device_list = Some(Default::default());
    }
    if has(OutfeedShape) && proto.outfeed_shape.is_none() {
        proto.outfeed_shape = context.operands.first().map(crate::shapes::shape_proto);
    }
    if opcode == Opcode::Map && proto.dimensions.is_empty() {
        let rank = context.operands.first().map_or(0, |shape| shape.dims().len());
        proto.dimensions = (0..rank as i64).collect();
    }
}
