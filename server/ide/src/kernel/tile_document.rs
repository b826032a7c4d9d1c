//! The document of a Triton kernel: the program of one block on its tiles, as XLA's emitter writes it or in Triton's operations.

use codegen::kernel_name;
use db::KernelId;
use gpu::FusionAnalysis;
use ir::Shape;

use super::document::{
    KernelCode, KernelDocument, KernelOrigin, KernelParam, document_of_text, kernel_instruction, not_emitted,
};
use super::hover::memory;
use super::language::KernelLanguage;
use super::launched::LaunchedKernel;
use super::lens::launched;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// Whether the configuration of a fusion for Triton states its tiles.
pub(crate) fn has_tiles(context: &FileContext<'_>, at: InstructionRef) -> bool {
    let analysis = context.kernel_id(at).and_then(|id| context.kernel(id));
    let analysis = analysis.and_then(|analysis| analysis.as_ref().ok());
    analysis.is_some_and(|analysis| analysis.is_for_triton() && analysis.fused.block_level.is_some())
}

/// The document of the tile program of a fusion; or of the reason why there is none.
pub(crate) fn tile_document<'a>(
    context: &FileContext<'a>,
    at: InstructionRef,
    id: KernelId<'a>,
    mut head: Vec<String>,
    analysis: &FusionAnalysis,
    language: KernelLanguage,
) -> KernelDocument {
    let text = match context.kernel_text(id, language) {
        Some(Ok(text)) => text,
        Some(Err(reason)) => return not_emitted(head, reason),
        None => return not_emitted(head, "the instruction has no known shape"),
    };
    head.extend(analysis.stated_launch().map(|launch| launched(&launch)));
    head.extend(analysis.fused.block_config.as_ref().map(|sizes| format!("blocks: {sizes}")));
    head.push("each block runs this on its tiles; Triton divides a tile among the threads".to_owned());
    head.extend(accesses(context, id, at, analysis));
    let doubts = text.doubts.iter();
    head.extend(
        doubts.map(|(op, why)| {
            format!("XLA's code may give wrong values: %{}: {why}", analysis.fused.name(*op))
        }),
    );
    let code = code_of_tiles(kernel_name(&id.name(context.db)), analysis);
    document_of_text(head, text, KernelOrigin::Emitters(code), |op| {
        kernel_instruction(context, at, analysis, op)
    })
}

/// A line per array with what its reads or writes move; or why that is not known.
fn accesses<'a>(
    context: &FileContext<'a>,
    id: KernelId<'a>,
    at: InstructionRef,
    analysis: &FusionAnalysis,
) -> Vec<String> {
    let buffers = context.kernel_coalescing(id);
    if let Some(why) = buffers.iter().find_map(|buffer| buffer.unknown.as_deref()) {
        return vec![format!("how it reads and writes memory is not known: {why}")];
    }
    let operands = LaunchedKernel::of(context, at).map(|kernel| kernel.operands).unwrap_or_default();
    let accessed = buffers.iter().filter(|buffer| buffer.is_accessed());
    accessed.map(|buffer| memory(&operands, analysis, buffer).plain_text()).collect()
}

fn code_of_tiles(name: String, analysis: &FusionAnalysis) -> KernelCode {
    let fused = &analysis.fused;
    let bytes = |shape: &Shape| shape.bytes().unwrap_or(0);
    let operands = fused.graph.parameters().into_iter().enumerate().map(|(number, id)| KernelParam {
        is_result: false,
        number,
        bytes: id.map_or(0, |id| bytes(&fused.op(id).shape)),
        slice: fused.same_as.get(number).copied().unwrap_or(number),
    });
    let mut params: Vec<KernelParam> = operands.collect();
    let slice = params.len();
    params.push(KernelParam { is_result: true, number: 0, bytes: bytes(fused.root_shape(0)), slice });
    KernelCode { name, launch: analysis.stated_launch(), comparison: None, params, missing: Vec::new() }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;
    use crate::kernel::language::KernelLanguage;
    use crate::{AccessPatternQuery, CoalescingConfig, FusionQuery};

    const MODULE: &str = "HloModule m

f {
  p = f32[4096,4096]{0,1} parameter(0)
  q = f32[4096] parameter(1)
  b = f32[4096,4096]{1,0} broadcast(q), dimensions={1}
  c = f32[4096,4096]{1,0} copy(p)
  ROOT a = f32[4096,4096]{1,0} add(c, b)
}

ENTRY e {
  x = f32[4096,4096]{0,1} parameter(0)
  y = f32[4096] parameter(1)
  ROOT $0t = f32[4096,4096]{1,0} fusion(x, y), kind=kCustom, calls=f, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\",\"block_level_fusion_config\":{\"num_warps\":\"4\",\"output_tiles\":[{\"sizes\":[\"1\",\"1024\"]}]}}}
}
";

    const READS: &str = "reads %x: strided by 16384, 32 sectors per request (ideal 4)";

    #[test]
    fn accesses_are_above_the_tiles() {
        let (analysis, file, _) = open(MODULE);
        let query = FusionQuery { instruction: "t".to_owned(), computation: None };
        for language in [KernelLanguage::Tiles, KernelLanguage::Triton] {
            let document = analysis.kernel_document(file, &query, language).expect("nobody cancels");
            let document = document.expect("it is in the module");
            let lines: Vec<&str> =
                document.head.iter().map(String::as_str).filter(|line| line.contains("sectors")).collect();
            let [x, y, result] = lines[..] else { panic!("{lines:?}") };
            assert!(
                x.starts_with(READS) && x.ends_with("4 B per thread; predicted from Triton's layout rules"),
                "{x}"
            );
            assert!(y.starts_with("reads %y: contiguous, 16 sectors per request (ideal 16)"), "{y}");
            assert!(
                result.starts_with("writes %a: contiguous, 16 sectors per request (ideal 16)"),
                "{result}"
            );
        }
    }

    #[test]
    fn a_tile_across_the_layout_is_a_warning() {
        let (analysis, file, offset) = open(MODULE);
        let found = analysis
            .coalescing_warnings(file, &CoalescingConfig::default(), 9)
            .expect("nobody cancels")
            .shown;
        let message = &found.first().expect("a warning").message;
        assert!(
            message.starts_with(
                "%x is read with a stride of 16384 elements between lanes: 32 sectors per request, 4 would do"
            ),
            "{message}"
        );
        for line in [
            "cause: its tiles have in its layout {0,1} too few neighbours: a thread moves at most 4 B at once",
            "predicted from Triton's layout rules",
        ] {
            assert!(message.lines().any(|own| own == line), "{line}: {message}");
        }
        assert!(message.contains("help: lay out %x as {1,0}"), "{message}");
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup").markdown();
        assert!(hover.contains("reads `%x`: strided by 16384, 32 sectors per request"), "{hover}");
        let query = AccessPatternQuery::default();
        let pattern =
            analysis.access_pattern(file, offset, &query).expect("nobody cancels").expect("a picture");
        assert!(pattern.summary.contains("predicted from Triton's layout rules"), "{}", pattern.summary);
        assert_eq!((pattern.blocks, pattern.warps), (16384, 4));
        let heaviest = analysis.heaviest_kernels(file, 9).expect("nobody cancels");
        let traffic = heaviest.kernels.first().expect("a kernel").figures.traffic();
        assert!(traffic.ends_with(" moved"), "{traffic}");
    }

    #[test]
    fn bulk_copies_are_counted_and_named() {
        let text =
            MODULE.replace("\"num_warps\"", "\"is_tma_allowed\":true,\"num_warps\"").replace("1024", "128");
        let (analysis, file, offset) = open(&text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup").markdown();
        assert!(
            hover.contains(
                "moved by bulk tensor copies (TMA), counted as plain accesses to the same bytes; predicted from Triton"
            ),
            "{hover}"
        );
    }
}
