//! Passes that are not written yet, by what they rewrite: a module without it stays as it is, and one with it is reported as
//! unsupported.

use ir::{ElementType, ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

/// Fails where some instruction is one that the pass may rewrite. `subject` names those in the error.
fn unless(run: &Run<'_>, subject: &str, is_one: fn(&Module, InstructionId) -> bool) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            if is_one(run.module, id) {
                let name = run.module[id].name();
                return Err(Stop::Unsupported(format!(
                    "the pass rewrites {subject}, like %{name}; that is not implemented"
                )));
            }
        }
    }
    Ok(())
}

macro_rules! absent {
    ($($pass:ident: $subject:literal, $is_one:expr;)*) => {
        $(pub(super) fn $pass(run: &mut Run<'_>) -> Result<(), Stop> {
            unless(run, $subject, $is_one)
        })*
    };
}

absent! {
    algorithm_checker: "nothing", |_, _| false;
    cholesky_expander: "Cholesky decompositions", |module, id| module[id].opcode() == Opcode::Cholesky;
    collective_pipelining_analyzer: "collectives", |module, id| is_collective(module[id].opcode());
    cudnn_convolutions: "convolutions of cuDNN", |module, id| target(module, id).starts_with("__cudnn$conv");
    dot_merger: "dots that share an operand", |module, id| {
        module[id].opcode() == Opcode::Dot && shares_operand(module, id)
    };
    rng_expander: "random numbers", |module, id| module[id].opcode() == Opcode::Rng;
    result_caster: "dots and convolutions with results of fewer bits than their operands", |module, id| {
        let bits = |id: InstructionId| module[id].shape().element().and_then(|element| element.bits());
        matches!(module[id].opcode(), Opcode::Dot | Opcode::Convolution)
            && module[id].operands().iter().any(|&operand| bits(operand) > bits(id))
    };
    while_loop_constant_sinking: "loops", |module, id| module[id].opcode() == Opcode::While;
    windowed_einsum_handler: "products that overlap with collectives", |module, id| {
        is_collective(module[id].opcode()) || module[module[id].parent()].name().contains("windowed_dot_general")
    };
    hoist_fused_bitcasts: "custom fusions", |module, id| {
        module[id].opcode() == Opcode::Fusion
            && module[id].attributes().text(AttributeKey::Kind) == Some("kCustom")
    };
    stream_attribute_annotator: "asynchronous operations", |module, id| {
        matches!(module[id].opcode(), Opcode::AsyncStart | Opcode::CopyStart)
    };
    associative_scan_rewriter: "scans", |module, id| module[id].opcode() == Opcode::Scan;
    async_collective_creator: "collectives", |module, id| is_collective(module[id].opcode());
    bitcast_dtypes_expander: "bit reinterpretations", |module, id| module[id].opcode() == Opcode::BitcastConvert;
    block_scaling_rewriter: "block-scaled operations", |module, id| {
        module[id].opcode() == Opcode::ScaledDot || target(module, id).starts_with("__op$")
    };
    broadcast_canonicalizer: "broadcasts that transpose", |module, id| {
        module[id].opcode() == Opcode::Broadcast && !module[id].dimensions().is_sorted()
    };
    collectives_schedule_linearizer: "collectives", |module, id| is_collective(module[id].opcode());
    conv_fp8_fallback: "convolutions of 8-bit numbers", |module, id| target(module, id).contains("ForwardGraph");
    cublas_gemm_broadcast_folding_rewriter: "matrix products of the library", |module, id| {
        target(module, id).starts_with("__cublas$")
    };
    cudnn_custom_call_converter: "fusions for cuDNN", |module, id| target(module, id) == "__cudnn$fusion";
    dus_accumulator_zero_init_elimination: "loops", |module, id| module[id].opcode() == Opcode::While;
    float_normalization_f8e4m3fn: "numbers of type f8e4m3fn", |module, id| has_type(module[id].shape(), |e| e == ElementType::F8e4m3fn);
    float_normalization_f8e5m2: "numbers of type f8e5m2", |module, id| has_type(module[id].shape(), |e| e == ElementType::F8e5m2);
    float_normalization_f8: "other 8-bit numbers", |module, id| has_type(module[id].shape(), |element| {
        let is_other = !matches!(element, ElementType::F8e4m3fn | ElementType::F8e5m2);
        is_other && element.is_floating() && element.bits() == Some(8)
    });
    float_normalization_4: "4-bit numbers", |module, id| has_type(module[id].shape(), |element| element.bits() == Some(4));
    gather_expander: "gathers of one slice", |module, id| {
        module[id].opcode() == Opcode::Gather && index_vectors(module, id, 1) == 1
    };
    gpu_convert_async_collectives_to_sync: "asynchronous operations", |module, id| {
        matches!(module[id].opcode(), Opcode::AsyncStart) || is_collective(module[id].opcode())
    };
    host_compute: "operations on the host", |module, id| {
        let attributes = module[id].attributes();
        let text = |key| attributes.text(key).unwrap_or_default();
        text(AttributeKey::BackendConfig).contains("DEVICE_TYPE_HOST")
            || text(AttributeKey::FrontendAttributes).contains("_xla_compute_type")
    };
    legalize_collective_domain: "collectives", |module, id| is_collective(module[id].opcode());
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

/// Whether one of a dot's operands is, but for its shape, an operand of another dot.
fn shares_operand(module: &Module, dot: InstructionId) -> bool {
    module[dot].operands().iter().any(|&operand| {
        let mut source = operand;
        while is_of_shape(module, source) {
            source = module.operand(source, 0);
        }
        let (mut open, mut dots) = (vec![source], 0);
        while let Some(value) = open.pop() {
            for &user in module[value].users() {
                match is_of_shape(module, user) {
                    true => open.push(user),
                    false => dots += usize::from(module[user].opcode() == Opcode::Dot),
                }
            }
        }
        dots > 1
    })
}

fn is_of_shape(module: &Module, id: InstructionId) -> bool {
    matches!(module[id].opcode(), Opcode::Transpose | Opcode::Reshape | Opcode::Bitcast)
}

fn target(module: &Module, id: InstructionId) -> &str {
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
