//! Passes that are not written yet, by what they rewrite: a module without it stays as it is, and one with it is reported as
//! unsupported.

use ir::{ElementType, ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::float_normalization::is_widened;
use crate::driver::{Rewrite, Run, Stop};
use crate::module::{InstructionId, Module};

/// Fails where some instruction is one that the pass may rewrite. `subject` names those in the error.
pub(super) fn unless(
    run: &Run<'_>,
    subject: &str,
    is_one: fn(&Module, InstructionId) -> bool,
) -> Result<(), Stop> {
    for id in run.module.all_instructions() {
        cancel::tick();
        if is_one(run.module, id) {
            let name = run.module[id].name();
            return Err(Stop::Unsupported(format!(
                "the pass rewrites {subject}, like %{name}; that is not implemented"
            )));
        }
    }
    Ok(())
}

macro_rules! absent {
    ($($pass:ident: $subject:literal, $is_one:expr;)*) => {
        $(pub(super) fn $pass(run: &mut Run<'_>) -> Result<(), Stop> {
            unless(run, $subject, $is_one)
        })*

        /// Each of these passes, and what it would rewrite.
        pub(super) const SUBJECTS: &[(Rewrite, &str)] = &[$(($pass, $subject)),*];
    };
}

absent! {
    cholesky_expander: "Cholesky decompositions", |module, id| module[id].opcode() == Opcode::Cholesky;
    all_reduce_folder: "reductions over devices of such reductions", |module, id| {
        let of = module[id].operands().first().map(|&operand| module[operand].opcode());
        module[id].opcode() == Opcode::AllReduce && of == Some(Opcode::AllReduce)
    };
    async_collective_annotator: "asynchronous collectives", is_collective_start;
    async_collective_custom_call_rewriter: "asynchronous collectives of the user", |module, id| {
        let target = target(module, id);
        let base = target.strip_suffix("-start").or_else(|| target.strip_suffix("-done"));
        let bases = ["all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute"];
        base.is_some_and(|base| bases.contains(&base))
    };
    collective_pipelining_analyzer: "collectives on slices of what a loop keeps", |module, id| {
        matches!(module[id].opcode(), Opcode::AllReduce | Opcode::AllGather | Opcode::ReduceScatter)
    };
    cublas_pad_for_gemms: "products of matrices with sizes that the library pads", |module, id| {
        module[id].opcode() == Opcode::Dot && needs_padding(module, id)
    };
    cudnn_fused_convolution_rewriter: "what is done with results of convolutions of cuDNN", is_fused_convolution;
    cudnn_pad_for_convolutions: "convolutions of 16- and 8-bit numbers", |module, id| {
        let of = module[id].operands().first().and_then(|&operand| module[operand].shape().element());
        target(module, id).starts_with("__cudnn$conv") && matches!(of, Some(ElementType::F16 | ElementType::S8))
    };
    dynamic_padder: "arrays of dynamic size", |module, id| {
        !module[id].shape().is_static()
            || matches!(module[id].opcode(), Opcode::SetDimensionSize | Opcode::GetDimensionSize)
            || matches!(target(module, id), "PadToStatic" | "SliceToDynamic")
    };
    dynamic_slice_fusion_rewriter_v2: "slices that library calls read or write", |module, id| {
        let is_ffi = module[id].attributes().text(AttributeKey::ApiVersion);
        let is_call = module[id].opcode() == Opcode::CustomCall
            && (is_ffi.is_some_and(|version| version.contains("TYPED_FFI"))
                || target(module, id).starts_with("__cublas$lt"));
        is_call && reads_or_writes_slice(module, id)
    };
    gpu_convert_async_collectives_to_sync: "asynchronous collectives", is_collective_start;
    legalize_collective_domain: "collectives of a domain", |module, id| {
        let frontend = module[id].attributes().text(AttributeKey::FrontendAttributes).unwrap_or_default();
        frontend.contains("collective_communication_domain")
    };
    optimize_input_output_buffer_alias: "donated parameters of the size of a result", |module, id| {
        is_donated(module, id)
    };
    permutation_sort_simplifier: "sorts by a permutation", is_sort_by_permutation;
    all_reduce_simplifier: "collectives of few devices", |module, id| {
        matches!(module[id].opcode(), Opcode::AllGather | Opcode::AllReduce | Opcode::ReduceScatter)
    };
    batchnorm_expander: "batch normalisations", |module, id| {
        use Opcode::{BatchNormGrad, BatchNormInference, BatchNormTraining};
        matches!(module[id].opcode(), BatchNormGrad | BatchNormInference | BatchNormTraining)
    };
    convolution_4d_expander: "convolutions of four dimensions", |module, id| {
        module[id].opcode() == Opcode::Convolution && module[id].attributes().window().len() == 4
    };
    convolution_pred_expander: "convolutions of truth values", |module, id| {
        module[id].opcode() == Opcode::Convolution
            && has_type(module[id].shape(), |element| element == ElementType::Pred)
    };
    dynamic_index_splitter: "slices at places in lists", |module, id| {
        let first = match module[id].opcode() {
            Opcode::DynamicSlice => 1,
            Opcode::DynamicUpdateSlice => 2,
            _ => return false,
        };
        module[id].operands().get(first).is_some_and(|&start| module[start].dims().len() == 1)
    };
    eigh_expander: "eigenvalues", |module, id| target(module, id) == "Eigh";
    logistic_expander: "logistic functions", |module, id| module[id].opcode() == Opcode::Logistic;
    qr_expander: "QR decompositions", |module, id| {
        matches!(target(module, id), "Qr" | "ProductOfElementaryHouseholderReflectors")
    };
    scan_expander: "scans", |module, id| module[id].opcode() == Opcode::Scan;
    stochastic_convert_decomposer: "stochastic conversions", |module, id| {
        module[id].opcode() == Opcode::StochasticConvert
    };
    rng_expander: "random numbers", |module, id| module[id].opcode() == Opcode::Rng;
    result_caster: "dots and convolutions with results of fewer bits than their operands", |module, id| {
        let bits = |id: InstructionId| module[id].shape().element().and_then(|element| element.bits());
        matches!(module[id].opcode(), Opcode::Dot | Opcode::Convolution)
            && module[id].operands().iter().any(|&operand| bits(operand) > bits(id))
    };
    windowed_einsum_handler: "products that overlap with collectives", |module, id| {
        is_collective(module[id].opcode()) || module[module[id].parent()].name().contains("windowed_dot_general")
    };
    stream_attribute_annotator: "asynchronous operations", |module, id| {
        matches!(module[id].opcode(), Opcode::AsyncStart | Opcode::CopyStart)
    };
    async_collective_creator: "collectives", |module, id| is_collective(module[id].opcode());
    bitcast_dtypes_expander: "bit reinterpretations", |module, id| module[id].opcode() == Opcode::BitcastConvert;
    block_scaling_rewriter: "block-scaled operations", |module, id| {
        module[id].opcode() == Opcode::ScaledDot || target(module, id).starts_with("__op$")
    };
    broadcast_canonicalizer: "broadcasts that transpose", |module, id| {
        module[id].opcode() == Opcode::Broadcast && !module[id].dimensions().is_sorted()
    };
    conv_fp8_fallback: "convolutions of 8-bit numbers", |module, id| target(module, id).contains("ForwardGraph");
    cublas_gemm_broadcast_folding_rewriter: "matrix products of the library", |module, id| {
        target(module, id).starts_with("__cublas$")
    };
    cudnn_custom_call_converter: "fusions for cuDNN", |module, id| target(module, id) == "__cudnn$fusion";
    float_normalization_f8e4m3fn: "operations on numbers of type f8e4m3fn", |module, id| {
        is_widened(module, id, |element| element == ElementType::F8e4m3fn)
    };
    float_normalization_f8e5m2: "operations on numbers of type f8e5m2", |module, id| {
        is_widened(module, id, |element| element == ElementType::F8e5m2)
    };
    float_normalization_f8: "operations on other 8-bit numbers", |module, id| is_widened(module, id, |element| {
        let is_other = !matches!(element, ElementType::F8e4m3fn | ElementType::F8e5m2);
        is_other && element.is_floating() && element.bits() == Some(8)
    });
    float_normalization_4: "operations on 4-bit numbers", |module, id| {
        is_widened(module, id, |element| element.bits() == Some(4))
    };
    gather_expander: "gathers of one slice", |module, id| {
        module[id].opcode() == Opcode::Gather && index_vectors(module, id, 1) == 1
    };
    host_compute: "operations on the host", |module, id| {
        let attributes = module[id].attributes();
        let text = |key| attributes.text(key).unwrap_or_default();
        text(AttributeKey::BackendConfig).contains("DEVICE_TYPE_HOST")
            || text(AttributeKey::FrontendAttributes).contains("_xla_compute_type")
    };
    legalize_scheduling_annotations: "scheduling groups", |module, id| {
        let attributes = module[id].attributes().text(AttributeKey::FrontendAttributes);
        attributes.unwrap_or_default().contains("_scheduling_group_id")
    };
    ragged_dot_rewriter: "ragged dots", |module, id| module[id].opcode() == Opcode::RaggedDot;
    scatter_expander: "scatters of one slice", |module, id| {
        module[id].opcode() == Opcode::Scatter && index_vectors(module, id, module[id].operands().len() / 2) == 1
    };
    sharding_remover: "sharding annotations", |module, id| {
        matches!(target(module, id), "Sharding" | "SPMDShardToFullShape" | "SPMDFullToShardShape")
    };
    sub_byte_collective_normalization: "collectives of numbers below a byte", |module, id| {
        is_collective(module[id].opcode()) && has_type(module[id].shape(), |element| element.bits() < Some(8))
    };
}

/// Changes nothing: XLA runs the pass behind a flag that is off, or only checks.
pub(super) fn off(_: &mut Run<'_>) -> Result<(), Stop> {
    Ok(())
}

/// Source: `CublasRequiresPadding`, `CheckCanonical` in `cublas_pad_for_gemms.cc`, `IsCublasSupportedMatMul`.
fn needs_padding(module: &Module, id: InstructionId) -> bool {
    let attributes = module[id].attributes();
    let keys = [AttributeKey::LhsBatchDims, AttributeKey::RhsBatchDims];
    let is_canonical = module[id].operands().iter().zip(keys).all(|(&operand, key)| {
        let batch = attributes.ints(key);
        batch.len() + 2 == module[operand].dims().len() && (0..).zip(batch).all(|(at, &dim)| at == dim)
    });
    let multiple = match module[id].operands().first().and_then(|&operand| module[operand].shape().element())
    {
        Some(ElementType::S8) => 4,
        Some(ElementType::F16 | ElementType::Bf16) => 8,
        _ => return false,
    };
    let is_uneven = |operand: &InstructionId| {
        let dims = module[*operand].dims();
        dims[dims.len().saturating_sub(2)..].iter().any(|size| size % multiple != 0)
    };
    is_canonical && module[id].operands().iter().any(is_uneven)
}

/// Whether one operation uses the result of a forward convolution, which cuDNN may do as well.
/// Source: `backends/gpu/transforms/cudnn_fused_conv_rewriter.cc`.
fn is_fused_convolution(module: &Module, id: InstructionId) -> bool {
    use Opcode::{Add, Clamp, Convert, Exponential, Maximum, Multiply, Select};
    let is_forward =
        matches!(target(module, id), "__cudnn$convForward" | "__cudnn$convBiasActivationForward");
    let &[result] = module[id].users() else { return false };
    let &[user] = module[result].users() else { return false };
    is_forward
        && module[result].opcode() == Opcode::GetTupleElement
        && matches!(module[user].opcode(), Add | Clamp | Convert | Exponential | Maximum | Multiply | Select)
}

/// Whether an operand is a slice, or the result updates one, but for bitcasts.
fn reads_or_writes_slice(module: &Module, id: InstructionId) -> bool {
    let is_no_op =
        |id: InstructionId| matches!(module[id].opcode(), Opcode::Bitcast | Opcode::GetTupleElement);
    let is_sliced = module[id].operands().iter().any(|&operand| {
        let mut source = operand;
        while is_no_op(source) {
            source = module.operand(source, 0);
        }
        matches!(module[source].opcode(), Opcode::Slice | Opcode::DynamicSlice)
    });
    let mut open = module[id].users().to_vec();
    while let Some(user) = open.pop() {
        match module[user].opcode() {
            Opcode::DynamicUpdateSlice => return true,
            _ if is_no_op(user) => open.extend(module[user].users()),
            _ => {}
        }
    }
    is_sliced
}

/// Whether an instruction starts a collective.
fn is_collective_start(module: &Module, id: InstructionId) -> bool {
    use Opcode::{AllGatherStart, AllReduceStart, AsyncStart, CollectivePermuteStart};
    match module[id].opcode() {
        AllGatherStart | AllReduceStart | CollectivePermuteStart => true,
        AsyncStart => {
            let mut called = module[id].called();
            called.any(|called| is_collective(module[module.root(called)].opcode()))
        }
        _ => false,
    }
}

/// Whether a parameter of the entry is donated, and has the size of a result that is no other's alias.
fn is_donated(module: &Module, id: InstructionId) -> bool {
    let Some(number) = module[id].parameter_number().filter(|_| module[id].parent() == module.entry()) else {
        return false;
    };
    module.header.donors.iter().any(|(parameter, _)| *parameter == i64::from(number))
}

/// Source: `PermutationSortExpander::InstructionMatchesPattern`.
fn is_sort_by_permutation(module: &Module, id: InstructionId) -> bool {
    let sort = &module[id];
    let (Opcode::Sort, &[key, _], Some(comparator)) =
        (sort.opcode(), sort.operands(), sort.callee(AttributeKey::ToApply))
    else {
        return false;
    };
    let compare = &module[module.root(comparator)];
    let number = |at: usize| compare.operands().get(at).and_then(|&id| module[id].parameter_number());
    let is_less = compare.opcode() == Opcode::Compare
        && compare.attributes().text(AttributeKey::Direction) == Some("LT")
        && (number(0), number(1)) == (Some(0), Some(1));
    if !is_less || module[key].opcode() != Opcode::GetTupleElement {
        return false;
    }
    let other = module.operand(key, 0);
    let index =
        module[key].attributes().int(AttributeKey::Index).and_then(|index| usize::try_from(index).ok());
    let Some(&iota) = index.and_then(|index| module[other].operands().get(index)) else { return false };
    module[other].opcode() == Opcode::Sort
        && module[other].dimensions() == sort.dimensions()
        && module[iota].opcode() == Opcode::Iota
        && module[iota].attributes().int(AttributeKey::IotaDimension) == sort.dimensions().first().copied()
        && module[iota].shape().element().is_some_and(|element| !element.is_floating())
}

pub(super) fn target(module: &Module, id: InstructionId) -> &str {
    module[id].attributes().text(AttributeKey::CustomCallTarget).unwrap_or_default()
}

fn has_type(shape: &Shape, is_one: impl Fn(ElementType) -> bool + Copy) -> bool {
    match shape {
        Shape::Tuple(elements) => {
            elements.iter().any(|element| recursion::grow(|| has_type(element, is_one)))
        }
        shape => shape.element().is_some_and(is_one),
    }
}

/// The number of index vectors of a gather or scatter, whose indices are operand `at`.
fn index_vectors(module: &Module, id: InstructionId, at: usize) -> i64 {
    let Some(&indices) = module[id].operands().get(at) else { return 1 };
    let vector = module[id].attributes().int(AttributeKey::IndexVectorDim).unwrap_or(-1);
    let sizes = (0..).zip(module[indices].dims()).filter(|(dim, _)| *dim != vector);
    sizes.fold(1, |product, (_, &size)| product.saturating_mul(size))
}

fn is_collective(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        AllGather
            | AllGatherStart
            | AllReduce
            | AllReduceStart
            | AllToAll
            | CollectiveBroadcast
            | CollectivePermute
            | CollectivePermuteStart
            | CollectiveReduce
            | RaggedAllToAll
            | Recv
            | ReduceScatter
            | Send
    )
}
