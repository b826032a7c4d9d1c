//! The document of a Triton kernel: the program of one block on its tiles, as XLA's emitter writes it.

use codegen::kernel_name;
use gpu::{Elsewhere, Emitter, FusionAnalysis};
use ir::Shape;

use super::document::{
    KernelCode, KernelDocument, KernelOrigin, KernelParam, document_of_text, kernel_instruction, not_emitted,
};
use super::fusion::{FusionError, FusionQuery};
use super::language::KernelLanguage;
use super::lens::launched;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// Whether the configuration of a fusion for Triton states its tiles.
pub(crate) fn has_tiles(context: &FileContext<'_>, at: InstructionRef) -> bool {
    let analysis = context.kernel_id(at).and_then(|id| context.kernel(id));
    analysis.and_then(|analysis| analysis.as_ref().ok()).is_some_and(|analysis| {
        let is_of_triton = matches!(&analysis.emitter, Emitter::Elsewhere(by) if by.by == Elsewhere::Triton);
        is_of_triton && analysis.fused.block_level.is_some()
    })
}

/// The document of the tile program of a fusion. As in `kernel_document`, the error is that there is no such
/// instruction.
pub(crate) fn tile_document(
    context: &FileContext<'_>,
    query: &FusionQuery,
    at: InstructionRef,
) -> Result<KernelDocument, FusionError> {
    let head = vec![format!("%{}", query.instruction)];
    let id = context
        .kernel_id(at)
        .ok_or_else(|| FusionError::NotFound(format!("{} is in no computation", query.instruction)))?;
    let (Some(Ok(analysis)), Some(text)) =
        (context.kernel(id), context.kernel_text(id, KernelLanguage::Tiles))
    else {
        return Ok(match context.kernel(id) {
            Some(Err(reason)) => not_emitted(head, reason),
            _ => not_emitted(head, "the instruction has no known shape"),
        });
    };
    let device = context.db.device_of(context.view.file).name;
    let mut head = vec![format!("%{} · Triton · {device}", query.instruction)];
    let text = match text {
        Ok(text) => text,
        Err(reason) => return Ok(not_emitted(head, reason)),
    };
    head.extend(analysis.stated_launch().map(|launch| launched(&launch)));
    head.extend(analysis.fused.block_config.as_ref().map(|sizes| format!("blocks: {sizes}")));
    head.push("each block runs this on its tiles; Triton divides a tile among the threads".to_owned());
    let code = code_of_tiles(query, analysis);
    let of = |op| kernel_instruction(context, at, analysis, op);
    Ok(document_of_text(head, text, KernelOrigin::Emitters(code), of))
}

fn code_of_tiles(query: &FusionQuery, analysis: &FusionAnalysis) -> KernelCode {
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
    KernelCode {
        name: kernel_name(&query.instruction),
        launch: analysis.stated_launch(),
        comparison: None,
        params,
        missing: Vec::new(),
    }
}
