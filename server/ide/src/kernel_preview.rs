//! The code of a kernel, beside the instructions it comes from.

use gpu::Launch;

use crate::fusion_kernel::{FusionError, FusionQuery, find_kernel};
use crate::locate::FileContext;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelLanguage {
    /// As XLA's emitters write it, before it is lowered.
    Mlir,
    Ptx,
}

#[derive(Debug, Clone)]
pub struct KernelPreview {
    /// Of the kernel: letters, digits and `_`.
    pub name: String,
    pub text: String,
    pub launch: Launch,
    pub params: Vec<KernelParam>,
    /// Lines of the text, counted from 0, that come from an instruction of the fused computation.
    pub lines: Vec<(usize, String)>,
    /// Instructions in whose place zero stands, and why.
    pub missing: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub struct KernelParam {
    pub is_result: bool,
    /// Number of the operand, or of the result.
    pub number: usize,
    pub bytes: u64,
}

pub(crate) fn kernel_preview(
    context: &FileContext<'_>,
    query: &FusionQuery,
    emit: KernelLanguage,
) -> Result<KernelPreview, FusionError> {
    let (at, analysis) = find_kernel(context, query)?;
    let not_emitted = |reason: &gpu::Reason| FusionError::NotEmitted(reason.to_string());
    let key = context.kernel_key(at).ok_or_else(|| FusionError::NotFound(query.instruction.clone()))?;
    let kernel = match context.kernel_code(&key) {
        Some(Ok(kernel)) => kernel,
        Some(Err(reason)) => return Err(not_emitted(reason)),
        None => return Err(FusionError::NotFound(query.instruction.clone())),
    };
    let name_of = |op| analysis.fused.name(op).to_owned();
    let text = match emit {
        KernelLanguage::Mlir => codegen::mlir(kernel),
        KernelLanguage::Ptx => {
            codegen::ptx(kernel, analysis.device, &name_of).map_err(|r| not_emitted(&r))?
        }
    };
    let params = kernel.params.iter().map(|param| {
        let (is_result, number) = match param.role {
            codegen::kernel::Role::Operand(n) => (false, n),
            codegen::kernel::Role::Result(n) => (true, n),
        };
        KernelParam { is_result, number, bytes: param.bytes }
    });
    let lines = text.lines.iter().enumerate().filter_map(|(n, op)| Some((n, name_of((*op)?))));
    let missing = text.missing.iter().map(|missing| (missing.instruction.clone(), missing.reason.clone()));
    Ok(KernelPreview {
        name: kernel.name.clone(),
        launch: kernel.launch,
        params: params.collect(),
        lines: lines.collect(),
        missing: missing.collect(),
        text: text.text,
    })
}
