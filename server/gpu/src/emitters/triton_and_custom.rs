//! Fusions whose kernel comes from elsewhere: Triton, cuDNN, libraries; and plain copies.

use indexing_map::ceil_div;
use ir::{Opcode, Shape};

use super::Context;
use crate::Reason;
use crate::heroes::Kind;
use crate::launch::Launch;

/// The kind of fusions that XLA's GPU compiler leaves to a library. Source: `kCustomFusionKind`, `ir_emission_utils.h`.
pub(crate) const CUSTOM_FUSION: &str = "__custom_fusion";

/// The origin of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    Triton,
    CuDnn,
    /// A dot that is not in a fusion: it becomes a call of cuBLAS or a fusion for Triton.
    /// Source: `service/gpu/transforms/gemm_rewriter.cc`, `gemm_fusion.cc`.
    Gemm,
    /// A convolution that is not in a fusion. Source: `service/gpu/transforms/conv_rewriter.cc`.
    Convolution,
    /// Custom code, named in the fusion's backend configuration.
    Custom,
    /// The module was compiled for a CPU.
    CpuBackend,
    /// No kernel: the runtime copies memory.
    MemoryCopy,
}

impl Elsewhere {
    /// The origin of the kernel of an op of this kind outside of fusions.
    pub fn of_op(opcode: Opcode) -> Option<Elsewhere> {
        match opcode {
            Opcode::Dot | Opcode::ScaledDot | Opcode::RaggedDot => Some(Elsewhere::Gemm),
            Opcode::Convolution => Some(Elsewhere::Convolution),
            _ => None,
        }
    }

    /// The origin of the kernel in one or two words.
    pub fn title(self) -> &'static str {
        match self {
            Elsewhere::Triton => "Triton",
            Elsewhere::CuDnn | Elsewhere::Convolution => "cuDNN",
            Elsewhere::Gemm => "cuBLAS or Triton",
            Elsewhere::Custom => "custom code",
            Elsewhere::CpuBackend => "CPU",
            Elsewhere::MemoryCopy => "memory copy",
        }
    }

    /// The origin of the kernel as text.
    pub fn reason(self) -> &'static str {
        match self {
            Elsewhere::Triton => "Triton writes this kernel",
            Elsewhere::CuDnn => "cuDNN writes this kernel",
            Elsewhere::Gemm => "XLA gives it to cuBLAS or to a Triton gemm fusion",
            Elsewhere::Convolution => "XLA gives it to cuDNN",
            Elsewhere::Custom => "a library or custom code writes this kernel",
            Elsewhere::CpuBackend => "XLA's CPU backend writes this kernel",
            Elsewhere::MemoryCopy => "memory is copied by the runtime, without a kernel",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElsewhereEmitter {
    pub by: Elsewhere,
    /// For custom code, the kind that the text states, if XLA's GPU compiler does not produce that kind.
    pub kind: Option<String>,
    /// The launch of a Triton kernel whose tiles the text states. Triton decides its shared memory.
    pub launch: Option<Launch>,
}

impl ElsewhereEmitter {
    pub(super) fn new(context: &Context<'_>) -> ElsewhereEmitter {
        let is_known = context.fused.backend_kind.as_deref() == Some(CUSTOM_FUSION);
        let by = context.fused.left_to.unwrap_or(match context.kind {
            Kind::Triton => Elsewhere::Triton,
            Kind::CuDnn => Elsewhere::CuDnn,
            _ => Elsewhere::Custom,
        });
        let kind = context.fused.backend_kind.clone().filter(|_| by == Elsewhere::Custom && !is_known);
        let launch = if by == Elsewhere::Triton { tiled_launch(context) } else { None };
        ElsewhereEmitter { by, kind, launch }
    }

    /// Whether all results copy an operand unchanged in memory. Source: `IsMemcpyFusion`,
    /// `backends/gpu/codegen/copy.cc`.
    pub(super) fn memory_copy(context: &Context<'_>) -> Option<ElsewhereEmitter> {
        let fused = context.fused;
        let is_copy = fused.roots.iter().all(|&root| {
            let op = fused.op(root);
            let operand = fused.operands(root).first().copied();
            op.opcode == Opcode::Copy
                && operand.is_some_and(|o| !fused.is_inside(o) && same_memory(&op.shape, &fused.op(o).shape))
        });
        is_copy.then_some(ElsewhereEmitter { by: Elsewhere::MemoryCopy, kind: None, launch: None })
    }

    pub(super) fn name(&self) -> &'static str {
        match self.by {
            Elsewhere::Triton => "triton",
            _ => "custom",
        }
    }

    /// The reason why there are no launch dimensions and no thread maps.
    pub fn reason(&self) -> Reason {
        match self.by {
            Elsewhere::Triton if self.launch.is_none() => {
                "Triton writes this kernel; its launch depends on the tiling".into()
            }
            by => match &self.kind {
                Some(kind) => format!(
                    "custom code writes this kernel: {kind}; XLA does not know this kind and takes an emitter by the ops"
                )
                .into(),
                None => by.reason().into(),
            },
        }
    }
}

/// A block for each tile of the first result, with as many warps as the text states. XLA launches as many where a block has
/// several tiles, too: those beyond the last tile end at once. A scanned dimension has no tile size, and the sizes of the others are
/// taken in order.
/// Source: `GetLaunchConfig`, `backends/gpu/codegen/triton/fusion.cc`.
fn tiled_launch(context: &Context<'_>) -> Option<Launch> {
    let level = context.fused.block_level.as_ref()?;
    let (dims, tile) = (context.fused.root_shape(0).dims(), level.output_tiles.first()?);
    let mut blocks = dims.iter().zip(tile).map(|(&size, &tile)| ceil_div(size, tile));
    let blocks = blocks.try_fold(1i64, |n, blocks| n.checked_mul(blocks?))?;
    let threads = level.warps.checked_mul(context.device.threads_per_warp)?;
    let root = context.fused.roots.first().map(|&root| context.fused.op(root).opcode);
    let has_tile = dims.len() == tile.len() + usize::from(root == Some(Opcode::Scan));
    (has_tile && blocks > 0).then(|| Launch::linear(blocks, threads))
}

fn same_memory(a: &Shape, b: &Shape) -> bool {
    match (a.as_array(), b.as_array()) {
        (Some(a), Some(b)) => {
            a.element == b.element && a.dims == b.dims && a.minor_to_major() == b.minor_to_major()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::{Device, Emitter, Fused, FusionAnalysis};

    #[track_caller]
    fn check(kind: &str, expect: Elsewhere) {
        let module = format!(
            r#"HloModule m
fused {{
 p = f32[8] parameter(0)
 ROOT n = f32[8] negate(p)
}}
ENTRY e {{
 p = f32[8] parameter(0)
 ROOT f = f32[8] fusion(p), kind=kCustom, calls=fused, backend_config={{"fusion_backend_config": {{"kind": "{kind}"}}}}
}}
"#
        );
        let fused = fixture::fused(&module, "f").unwrap();
        let analysis = FusionAnalysis::new(fused, Device::find("h100-sxm").unwrap()).unwrap();
        assert_eq!(by(&analysis), Some(expect));
        assert_eq!(analysis.launch(), None);
    }

    fn by(analysis: &FusionAnalysis) -> Option<Elsewhere> {
        match &analysis.emitter {
            Emitter::Elsewhere(elsewhere) => Some(elsewhere.by),
            _ => None,
        }
    }

    #[test]
    fn kinds_that_leave() {
        check("__triton", Elsewhere::Triton);
        check("__triton_nested_gemm_fusion", Elsewhere::Triton);
        check("__cudnn$fusion", Elsewhere::CuDnn);
        check("__custom_fusion", Elsewhere::Custom);
        check("__somebody's_fusion", Elsewhere::Custom);
    }

    #[test]
    fn tiles_tell_the_launch_of_a_kernel_of_triton() {
        let check = |config: &str, expect: Option<(i64, i64)>| {
            let module = format!(
                r#"HloModule m
fused {{
 p = f32[100,3,70] parameter(0)
 ROOT n = f32[100,3,70] negate(p)
}}
ENTRY e {{
 p = f32[100,3,70] parameter(0)
 ROOT f = f32[100,3,70] fusion(p), kind=kCustom, calls=fused, backend_config={{"fusion_backend_config": {{"kind": "__triton", "block_level_fusion_config": {config}}}}}
}}
"#
            );
            let fused = fixture::fused(&module, "f").unwrap();
            let analysis = FusionAnalysis::new(fused, Device::find("h100-sxm").unwrap()).unwrap();
            let launch = analysis.stated_launch();
            assert_eq!(launch, expect.map(|(blocks, threads)| Launch::linear(blocks, threads)));
            let Emitter::Elsewhere(elsewhere) = &analysis.emitter else { panic!("it is Triton's") };
            assert_eq!(elsewhere.reason().contains("depends on the tiling"), expect.is_none());
        };
        let tiles = |sizes: &str| format!(r#"{{"num_warps":"2","output_tiles":[{{"sizes":[{sizes}]}}]}}"#);
        // 4 × 3 × 2 tiles.
        check(&tiles(r#""32","1","64""#), Some((24, 64)));
        check(&tiles(r#""128","4","128""#), Some((1, 64)));
        check(&tiles(r#""32","1""#), None);
        check(r#"{"num_warps":"2"}"#, None);
    }

    #[test]
    fn copies_of_memory() {
        let text = "p = f32[8,9] parameter(0)\n ROOT c = f32[8,9] copy(p)";
        let analysis = fixture::analysis(text, "h100-sxm").unwrap();
        assert_eq!(by(&analysis), Some(Elsewhere::MemoryCopy));
        let text = "p = f32[8,9]{0,1} parameter(0)\n ROOT c = f32[8,9]{1,0} copy(p)";
        fixture::check(text, "h100-sxm", "loop c 1x72");
    }

    /// XLA's own emitters write a dot inside a fusion, but never an unfused one.
    #[test]
    fn dots_and_convolutions_alone_are_left_to_others() {
        let check = |op: &str, expect: Elsewhere| {
            let module = format!(
                "\
HloModule m
fused {{
 p = f32[8,8,8] parameter(0)
 ROOT a = f32[8,8,8] {op}
}}
ENTRY e {{
 p = f32[8,8,8] parameter(0)
 ROOT f = f32[8,8,8] fusion(p), kind=kLoop, calls=fused
}}
"
            );
            let device = Device::find("h100-sxm").unwrap();
            let graphs = ir::graphs_of_text(&module);
            let (_, graph) = graphs.iter().find(|(name, _)| name == "fused").unwrap();
            let alone = Fused::standing_alone(&graph.ops[graph.root as usize], "a").unwrap();
            let alone = FusionAnalysis::new(alone, device).unwrap();
            assert_eq!(by(&alone), Some(expect));
            assert_eq!(alone.launch(), None);
            assert!(alone.memory_accesses().is_empty());
            let fused = FusionAnalysis::new(fixture::fused(&module, "f").unwrap(), device).unwrap();
            assert_eq!(fused.emitter.name(), "loop");
        };
        let dot = "dot(p, p), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
        check(dot, Elsewhere::Gemm);
        check("convolution(p, p), window={size=8 pad=4_3}, dim_labels=bf0_oi0->bf0", Elsewhere::Convolution);
    }

    #[test]
    fn what_is_no_kernel() {
        let module = "\
HloModule m
ENTRY e {
 p = f32[8] parameter(0)
 ROOT t = (f32[8]) tuple(p)
}
";
        assert_eq!(fixture::fused(module, "t").unwrap_err(), "tuple is no kernel of a fusion emitter");
    }
}
