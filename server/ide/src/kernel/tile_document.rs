//! The document of a Triton kernel: the program of one block on its tiles, as XLA's emitter writes it or in Triton's operations.

use codegen::kernel_name;
use db::KernelId;
use gpu::FusionAnalysis;
use ir::Shape;

use super::document::{
    KernelCode, KernelDocument, KernelOrigin, KernelParam, document_of_text, kernel_instruction, not_emitted,
};
use super::language::KernelLanguage;
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
