//! Passes of XLA's pipeline that no dump of ours shows at work, and that are not written: a module that has nothing for them passes, and one
//! that has is reported as unsupported. A pass that is written takes precedence over its row here.

use ir::{ElementType, ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::absent::{target, unless};
use super::loops;
use crate::driver::{Pass, Run, Stop};
use crate::module::{InstructionId, Module};

/// Windows of so many elements may be those of running sums. Source: `xla_reduce_window_rewrite_base_length`.
const RUNNING: i64 = 16;

macro_rules! gates {
    ($($name:literal $pass:ident: $subject:literal, $is_one:expr;)*) => {
        $(fn $pass(run: &mut Run<'_>) -> Result<(), Stop> {
            unless(run, $subject, $is_one)
        })*
        /// By name.
        pub(crate) const GATES: &[Pass] = &[$(Pass { name: $name, run: $pass }),*];
    };
}

gates! {
    "batchnorm_expander" batchnorm_expander: "batch normalisations", |module, id| {
        use Opcode::{BatchNormGrad, BatchNormInference, BatchNormTraining};
        matches!(module[id].opcode(), BatchNormGrad | BatchNormInference | BatchNormTraining)
    };
    "comparison-expander" comparison_expander: "comparisons in the total order", |module, id| {
        module[id].opcode() == Opcode::Compare && module[id].attributes().is_total_order()
    };
    "conv-padding-legalization" conv_padding_legalization: "convolutions of cuDNN", |module, id| {
        target(module, id).starts_with("__cudnn$conv")
    };
    "conv-rewriter" conv_rewriter: "convolutions", |module, id| module[id].opcode() == Opcode::Convolution;
    "cublas-gemm-rewriter" cublas_gemm_rewriter: "dots that Triton does not compute", |module, id| {
        module[id].opcode() == Opcode::Dot && !is_in_fusion(module, id) && !is_tiny(module, id)
    };
    "cublas-pad-for-gemms" cublas_pad_for_gemms: "dots of small numbers", |module, id| {
        let element = module[id].operands().first().and_then(|&operand| module[operand].shape().element());
        let is_small = element.and_then(|element| element.bits()).is_some_and(|bits| bits <= 16);
        module[id].opcode() == Opcode::Dot && !is_in_fusion(module, id) && is_small
    };
    "dot-strength-reduction" dot_strength_reduction: "dots of vectors", is_dot_of_vector;
    "dot_normalizer" dot_normalizer: "dots that contract nothing", |module, id| {
        let attributes = module[id].attributes();
        module[id].opcode() == Opcode::Dot && attributes.ints(AttributeKey::LhsContractingDims).is_empty()
    };
    "dot_dimension_normalizer" dot_dimension_normalizer: "dots that contract several dimensions", |module, id| {
        module[id].opcode() == Opcode::Dot
            && module[id].attributes().ints(AttributeKey::LhsContractingDims).len() > 1
    };
    "dot_dimension_sorter" dot_dimension_sorter: "dots that contract several dimensions", |module, id| {
        module[id].opcode() == Opcode::Dot
            && module[id].attributes().ints(AttributeKey::LhsContractingDims).len() > 1
    };
    "dynamic-index-splitter" dynamic_index_splitter: "slices at a vector of offsets", |module, id| {
        let first = match module[id].opcode() {
            Opcode::DynamicSlice => 1,
            Opcode::DynamicUpdateSlice => 2,
            _ => return false,
        };
        module[id].operands().get(first).is_some_and(|&offset| !module[offset].dims().is_empty())
    };
    "dynamic-slice-fusion-rewriter-v2" dynamic_slice_fusion_rewriter_v2: "library calls on slices", |module, id| {
        module[id].opcode() == Opcode::CustomCall && reads_or_writes_slice(module, id)
    };
    "dynamic_padder" dynamic_padder: "arrays of dynamic size", |module, id| is_dynamic(module[id].shape());
    "eigh_expander" eigh_expander: "eigenvalues", |module, id| target(module, id) == "Eigh";
    "gemv-rewriter" gemv_rewriter: "dots of vectors", is_dot_of_vector;
    "gpu_scatter_expander" gpu_scatter_expander: "scatters of several or of large arrays", |module, id| {
        let bits = module[id].shape().element().and_then(|element| element.bits());
        module[id].opcode() == Opcode::Scatter && bits.is_none_or(|bits| bits > 64)
    };
    "logistic-expander" logistic_expander: "logistic functions", |module, id| {
        module[id].opcode() == Opcode::Logistic
    };
    "operand_upcaster" operand_upcaster: "dots of integers", |module, id| {
        let element = |id: InstructionId| module[id].shape().element();
        let is_library = element(id) == Some(ElementType::S32)
            && module[id].operands().iter().all(|&operand| element(operand) == Some(ElementType::S8));
        let is_integer = |operand: &InstructionId| element(*operand).is_some_and(|e| !e.is_floating() && !e.is_complex());
        module[id].opcode() == Opcode::Dot && !is_library && module[id].operands().iter().any(is_integer)
    };
    "optimize_input_output_buffer_alias" optimize_input_output_buffer_alias: "donated parameters", |module, id| {
        let number = module[id].parameter_number().filter(|_| module[id].parent() == module.entry());
        number.is_some_and(|number| module.header.donors.iter().any(|(donor, _)| *donor == i64::from(number)))
    };
    "permutation_sort_simplifier" permutation_sort_simplifier: "sorts", is_sort;
    "qr_expander" qr_expander: "QR decompositions", |module, id| target(module, id).starts_with("Qr");
    "reduce-window-resizer" reduce_window_resizer: "windows over lists", |module, id| {
        module[id].opcode() == Opcode::ReduceWindow && module[id].attributes().window().len() == 1
    };
    "reduce-window-rewriter" reduce_window_rewriter: "running sums", |module, id| {
        let window = module[id].attributes().window();
        module[id].opcode() == Opcode::ReduceWindow && window.iter().any(|dim| dim.size >= RUNNING)
    };
    "scan-expander" scan_expander: "scans", |module, id| module[id].opcode() == Opcode::Scan;
    "simplify-while-loops" simplify_while_loops: "loops with elements that nothing uses, and loops that run at most once", |module, id| {
        module[id].opcode() == Opcode::While && (has_dead_element(module, id) || runs_at_most_once(module, id))
    };
    "sort-rewriter" sort_rewriter: "sorts", is_sort;
    "stable-sort-expander" stable_sort_expander: "sorts", is_sort;
    "stochastic-convert-decomposer" stochastic_convert_decomposer: "stochastic conversions", |module, id| {
        module[id].opcode() == Opcode::StochasticConvert
    };
    "topk-specializer" topk_specializer: "largest elements", |module, id| {
        module[id].opcode() == Opcode::Topk || target(module, id) == "TopK"
    };
    "topk-rewriter" topk_rewriter: "sorts", is_sort;
}

fn is_sort(module: &Module, id: InstructionId) -> bool {
    module[id].opcode() == Opcode::Sort
}

/// Whether the instruction is in the computation of a fusion for Triton, or of another fusion.
fn is_in_fusion(module: &Module, id: InstructionId) -> bool {
    let callers = module.callers();
    let mut callers = callers.get(&module[id].parent()).into_iter().flatten();
    callers.any(|&caller| module[caller].opcode() == Opcode::Fusion)
}

/// Source: `IsMatrixMultiplicationTooSmallForRewriting`, `service/gpu/matmul_utils.cc`.
fn is_tiny(module: &Module, id: InstructionId) -> bool {
    super::triton_gemm_rewriter::is_left_to_loops(module, id)
}

/// Whether an operand of a dot has no dimension of its own in the result.
fn is_dot_of_vector(module: &Module, id: InstructionId) -> bool {
    use AttributeKey::*;
    let attributes = module[id].attributes();
    let sides = [(LhsBatchDims, LhsContractingDims), (RhsBatchDims, RhsContractingDims)];
    module[id].opcode() == Opcode::Dot
        && module[id].operands().iter().zip(sides).any(|(&operand, (batch, contracting))| {
            let taken = attributes.ints(batch).len() + attributes.ints(contracting).len();
            module[operand].dims().len() <= taken
        })
        && !is_in_fusion(module, id)
}

fn is_dynamic(shape: &Shape) -> bool {
    match shape {
        Shape::Tuple(elements) => elements.iter().any(|element| recursion::grow(|| is_dynamic(element))),
        shape => shape.as_array().is_some_and(|array| (0..array.rank()).any(|dim| array.is_dynamic(dim))),
    }
}

fn reads_or_writes_slice(module: &Module, id: InstructionId) -> bool {
    let is_slice = |&id: &InstructionId| matches!(module[id].opcode(), Opcode::DynamicSlice | Opcode::Slice);
    let is_update = |&id: &InstructionId| module[id].opcode() == Opcode::DynamicUpdateSlice;
    module[id].operands().iter().any(is_slice) || module[id].users().iter().any(is_update)
}

/// Whether a loop carries an element that only the loop hands on. Source: `TryRemoveDeadWhileParams`,
/// `service/while_loop_simplifier.cc`.
fn has_dead_element(module: &Module, id: InstructionId) -> bool {
    let Some((condition, body)) = loops::computations(module, id) else { return false };
    let Some(elements) = module[id].shape().tuple_elements() else { return false };
    if module.is_root(id) || module[module.root(body)].opcode() != Opcode::Tuple {
        return false;
    }
    let index = |user: InstructionId| module[user].attributes().int(AttributeKey::Index);
    let reads = |value: InstructionId, at: i64| {
        let is_read =
            |user: InstructionId| module[user].opcode() != Opcode::GetTupleElement || index(user) == Some(at);
        module[value].users().iter().copied().filter(|&user| is_read(user)).collect::<Vec<_>>()
    };
    (0..elements.len()).any(|at| {
        let number = at as i64;
        let of_body = module.parameters(body).into_iter().flat_map(|parameter| reads(parameter, number));
        let mut of_body = of_body.flat_map(|read| match module[read].opcode() {
            Opcode::GetTupleElement => module[read].users().to_vec(),
            _ => vec![read],
        });
        let is_handed_on = module[module.root(body)].operands().get(at).is_some_and(|&value| {
            loops::index_of(module, value) == Some(number)
                && module[module.root(body)].operands().iter().filter(|&&other| other == value).count() == 1
        });
        is_handed_on
            && reads(id, number).is_empty()
            && module.parameters(condition).into_iter().all(|parameter| reads(parameter, number).is_empty())
            && of_body.all(|user| user == module.root(body))
    })
}

fn runs_at_most_once(module: &Module, id: InstructionId) -> bool {
    let variable = loops::variable(module, id);
    variable.and_then(|variable| loops::range(module, id, variable)).is_some_and(|range| range.trips <= 1)
}
