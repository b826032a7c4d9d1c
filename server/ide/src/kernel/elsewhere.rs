//! A summary of a kernel that XLA's own emitters do not generate: its generator, arrays and configuration.

use gpu::{Emitter, FusionAnalysis, Reason};
use ir::{AttributeKey, Op, Opcode};
use text::visible_line;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::figures::KernelFigures;
use crate::kernel::lens::launched;
use crate::kernel::readable_config::readable_config;

/// The generator of an instruction's kernel, in words; `None` for XLA's emitters.
pub(crate) fn written_elsewhere(context: &FileContext<'_>, at: InstructionRef) -> Option<String> {
    if context.block(at.piece).instruction(at.id).opcode == Some(Opcode::CustomCall) {
        return Some("a library or custom code runs this".to_owned());
    }
    match context.kernel(context.kernel_id(at)?)? {
        Ok(analysis) => by_whom(analysis).map(Into::into),
        Err(_) => None,
    }
}

/// The generator of a kernel other than XLA's emitters.
pub(crate) fn by_whom(analysis: &FusionAnalysis) -> Option<Reason> {
    match &analysis.emitter {
        Emitter::Elsewhere(elsewhere) => Some(elsewhere.reason()),
        _ => None,
    }
}

/// The full summary, line by line.
pub(crate) fn kernel_elsewhere(context: &FileContext<'_>, at: InstructionRef) -> Vec<String> {
    let Some(op) = context.op(at) else { return Vec::new() };
    let mut lines = Vec::new();
    let text = |key| op.attributes.text(key).map(|text| text.trim().trim_matches('"').to_owned());
    lines.extend(text(AttributeKey::CustomCallTarget).map(|target| format!("target: {target}")));
    let analysis = context.kernel_id(at).and_then(|id| match context.kernel(id)? {
        Ok(analysis) => Some((id, analysis)),
        Err(_) => None,
    });
    if let Some((id, analysis)) = analysis {
        lines.extend(analysis.fused.backend_kind.as_ref().map(|kind| format!("kind: {kind}")));
        lines.extend(analysis.stated_launch().map(|launch| format!("launch: {}", launched(&launch))));
        lines.extend(analysis.fused.block_config.as_ref().map(|sizes| format!("blocks: {sizes}")));
        if let Some(figures) = KernelFigures::of(context, id).filter(|_| !context.is_of_cpu()) {
            lines.push(format!(
                "time: {} on {}",
                figures.time(),
                context.db.device_of(context.view.file).name
            ));
            if let Some(reason) = figures.estimate.not_modelled {
                lines.push(format!("a lower bound, XLA's model has none: {reason}"));
            }
            lines.push(format!("bytes: {}", figures.traffic()));
        }
    }
    lines.push(format!("result: {}", op.shape));
    lines.extend(operands(context, at, &op));
    if let Some(config) = op.attributes.text(AttributeKey::BackendConfig) {
        lines.push(String::new());
        lines.push("backend_config:".to_owned());
        lines.extend(readable_config(config).into_iter().map(|line| format!("  {line}")));
    }
    // Each becomes a comment of one line.
    lines.iter().map(|line| visible_line(line).into_owned()).collect()
}

fn operands(context: &FileContext<'_>, at: InstructionRef, op: &Op) -> Vec<String> {
    let block = context.block(at.piece);
    let names = block.operands_of(at.id).map(|(operand, _)| operand.name.of(&block.text));
    let shown = names.zip(&op.operand_shapes).enumerate();
    shown.map(|(n, (name, shape))| format!("operand {n}: %{name} {shape}")).collect()
}
