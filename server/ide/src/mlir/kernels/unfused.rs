//! Ops of a function that XLA would not fuse into their consumers, so that the function is several kernels.

use gpu::{Decision, Elsewhere};
use ir::{Graph, OpId, Opcode};

use crate::file_context::FileContext;
use crate::mlir::kernels::functions::{Converted, FunctionRef};

/// An op, and why XLA does not fuse it.
pub(in crate::mlir) struct Unfused {
    /// The name with `%`, as in the text.
    pub(in crate::mlir) op: String,
    pub(in crate::mlir) reason: String,
    /// Whether it is a dot or a convolution, for which XLA has no emitter.
    pub(in crate::mlir) is_left_to_others: bool,
}

/// Checks ops whose elements are expensive: XLA either recomputes them for each element of the consumer, or
/// does not fuse them.
pub(in crate::mlir) fn unfused(
    context: &FileContext<'_>,
    function: FunctionRef,
    converted: &Converted<'_>,
) -> Vec<Unfused> {
    let Some(whole) = converted.function else { return Vec::new() };
    let graph_of = |name: &str| whole.graph(name).cloned();
    let Some(graph) = graph_of(converted.name) else { return Vec::new() };
    let is_costly = |id: &OpId| {
        let opcode = graph.ops[*id as usize].opcode;
        let costly = [Opcode::Reduce, Opcode::ReduceWindow, Opcode::Scatter, Opcode::Sort];
        *id != graph.root && costly.contains(&opcode)
    };
    let all = 0..graph.ops.len() as OpId;
    let own_name = |id: OpId| {
        let name = graph.names[id as usize].as_str();
        written(context, function, converted, name).unwrap_or_else(|| format!("%{name}"))
    };
    let left = |id: OpId| {
        let by = Elsewhere::of_op(graph.ops[id as usize].opcode)?;
        Some(Unfused { op: own_name(id), reason: by.reason().to_owned(), is_left_to_others: true })
    };
    let mut found: Vec<Unfused> = all.clone().filter_map(left).collect();
    if found.len() == 1 && all.clone().all(|id| is_part_of_a_gemm(graph.ops[id as usize].opcode)) {
        found.clear();
    }
    let costly = all.filter(is_costly);
    let of = |id: OpId| {
        let decision =
            gpu::decide(&graph, Some(graph.root), id, context.db.device_of(context.view.file), &graph_of)?;
        // Use in a tuple of results alone does not count.
        let is_read =
            decision.consumers.iter().any(|c| graph.ops[c.consumer as usize].opcode != Opcode::Tuple);
        (is_read && !decision.is_fused()).then(|| Unfused {
            op: own_name(id),
            reason: reason(&graph, &decision),
            is_left_to_others: false,
        })
    };
    found.extend(costly.filter_map(of));
    found
}

/// Ops that a library kernel absorbs with its operands, since it reads them in their layout. A dot with only
/// such ops is one kernel.
fn is_part_of_a_gemm(opcode: Opcode) -> bool {
    use Opcode::{Bitcast, Parameter, Reshape, Transpose, Tuple};
    Elsewhere::of_op(opcode).is_some() || matches!(opcode, Bitcast | Parameter | Reshape | Transpose | Tuple)
}

fn reason(graph: &Graph, decision: &Decision) -> String {
    let is_kernel = |id: OpId| graph.ops[id as usize].opcode != Opcode::Tuple;
    let consumers = decision.consumers.iter().filter(|c| is_kernel(c.consumer));
    let said = consumers.filter_map(|c| c.reason.as_ref()).next().or(decision.ineligible.as_ref());
    match (said, decision.unfused_us, decision.fused_us) {
        (Some(reason), ..) => reason.to_string(),
        (None, Some(apart), Some(together)) => format!("{apart:.2} µs apart, {together:.2} µs together"),
        (None, ..) => "its time is not known".to_owned(),
    }
}

/// The name of an instruction in the text: that of the op's first result, with `%`.
pub(in crate::mlir) fn written(
    context: &FileContext<'_>,
    function: FunctionRef,
    converted: &Converted<'_>,
    instruction: &str,
) -> Option<String> {
    let at = converted.place_of(context, function, instruction)?;
    let read = context.mlir_piece(at.piece);
    let first = read.parse.op(at.id).results.clone().next()?;
    Some(read.parse.values[first as usize].name.of(&read.text).to_owned())
}

#[cfg(test)]
mod tests {
    use crate::KernelLanguage;
    use crate::fixture::open_mlir;

    const SOFTMAX: &str = "func.func @$0softmax(%x: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<1024x4096xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<1024xf32>
  %b = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<1024xf32>) -> tensor<1024x4096xf32>
  %y = stablehlo.divide %e, %b : tensor<1024x4096xf32>
  return %y : tensor<1024x4096xf32>
}
func.func @one(%x: tensor<1024x4096xf32>) -> tensor<1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x4096xf32>, tensor<f32>) -> tensor<1024xf32>
  %y = stablehlo.tanh %sum : tensor<1024xf32>
  return %y : tensor<1024xf32>
}
";

    #[test]
    fn a_sum_that_every_element_needs_is_a_kernel_of_its_own() {
        let (analysis, file, offset) = open_mlir(SOFTMAX);
        let places = analysis.code_lens_places(file, true, 10).expect("nobody cancels");
        let titles: Vec<String> = places
            .iter()
            .map(|p| analysis.code_lens(file, p.start, true).expect("nobody cancels").expect("a lens").title)
            .collect();
        assert_eq!(titles[0], "several kernels: %sum is not fused into what reads it");
        assert!(titles[1].starts_with("reduction-row · "), "{titles:?}");
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup").markdown();
        assert!(hover.contains("**several kernels** on h100-sxm\n\n- `%sum` is not fused: "), "{hover}");
        let shown = analysis.shown_kernel(file, offset).expect("nobody cancels").expect("a kernel");
        let query = crate::FusionQuery { instruction: shown.instruction, computation: None };
        let document = analysis.kernel_document(file, &query, KernelLanguage::Mlir).expect("nobody cancels");
        let head = document.expect("a kernel").head.join("\n");
        assert!(head.contains("as one kernel, which XLA does not make of it: %sum is not fused: "), "{head}");
    }

    const PRODUCTS: &str = "func.func @$0one(%x: tensor<512x256xf32>, %y: tensor<1024x256xf32>) -> tensor<512x1024xf32> {
  %0 = stablehlo.transpose %y, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}
func.func @two(%x: tensor<512x256xf32>, %y: tensor<256x1024xf32>) -> tensor<512x1024xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}
func.func @image(%x: tensor<8x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<8x64x54x54xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x54x54xf32>
  return %0 : tensor<8x64x54x54xf32>
}
";

    #[test]
    fn products_are_left_to_libraries_and_triton() {
        let (analysis, file, offset) = open_mlir(PRODUCTS);
        let wrong = analysis.diagnostics(file, 9).expect("nobody cancels").shown;
        assert!(wrong.is_empty(), "the fixture is wrong: {wrong:?}");
        let places = analysis.code_lens_places(file, true, 10).expect("nobody cancels");
        let lens =
            |p: &std::ops::Range<usize>| analysis.code_lens(file, p.start, true).expect("nobody cancels");
        let titles: Vec<String> = places.iter().map(|p| lens(p).expect("a lens").title).collect();
        let several = "several kernels: %0 is a library's or Triton's";
        assert_eq!(titles, ["cuBLAS or Triton · 3.67 MB needed", several, "cuDNN · 12.5 MB needed"]);
        let config = crate::CoalescingConfig::default();
        let found = analysis.coalescing_warnings(file, &config, 10).expect("nobody cancels").shown;
        assert!(found.is_empty(), "{found:?}");
        let text = PRODUCTS.replace("$0", "");
        let ops = ["dot_general %x, %0", "dot_general %x, %y", "convolution("];
        for at in ops.map(|op| text.find(op).expect("it is there")).into_iter().chain([offset]) {
            let shown = analysis.shown_kernel(file, at).expect("nobody cancels").expect("a kernel");
            assert!(!shown.has_code);
            let computation = Some(shown.computation);
            let query = crate::FusionQuery { instruction: shown.instruction, computation };
            let document =
                analysis.kernel_document(file, &query, KernelLanguage::Ptx).expect("nobody cancels");
            let document = document.expect("a kernel");
            assert!(document.code().is_none() && document.body.is_empty(), "{document:?}");
            let head = document.head.join("\n");
            assert!(head.contains("no kernel of XLA's emitters: XLA gives it to cu"), "{head}");
        }
    }
}
