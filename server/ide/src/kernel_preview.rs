//! The code of a kernel, with the instructions it comes from.

use gpu::Launch;
use ir::Opcode;

use crate::fusion_kernel::{FusionError, FusionQuery};
use crate::kernel_elsewhere::{kernel_elsewhere, written_elsewhere};
use crate::kernels::KernelKey;
use crate::launched_kernel::LaunchedKernel;
use crate::locate::{FileContext, InstructionRef};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelLanguage {
    /// As XLA's emitters generate it, before lowering.
    Mlir,
    /// After passes of XLA's pipeline: a name known to [`KernelLanguage::mlir_after`].
    MlirAfter(&'static str),
    Ptx,
}

impl KernelLanguage {
    /// The MLIR after a pass, given by its name or flag, or after each pass for `all`; the error lists the
    /// valid names.
    pub fn mlir_after(asked: &str) -> Result<KernelLanguage, String> {
        let known = codegen::passes::known();
        let of_name = || codegen::passes::PIPELINE.iter().find(|pass| pass.is_called(asked));
        let found =
            known.iter().copied().find(|flag| *flag == asked).or_else(|| of_name().map(|pass| pass.flag));
        found.map(KernelLanguage::MlirAfter).ok_or_else(|| format!("{asked} is none of {}", known.join(", ")))
    }
}

#[derive(Debug, Clone)]
pub struct KernelPreview {
    /// The kernel's name: letters, digits and `_`.
    pub name: String,
    pub text: String,
    pub launch: Option<Launch>,
    pub params: Vec<KernelParam>,
    /// Lines of the text, counted from 0, that originate from an instruction of the fused computation.
    pub lines: Vec<(usize, String)>,
    /// Instructions replaced by zero, and why.
    pub missing: Vec<(String, String)>,
    /// The generator if it is not XLA's own emitters; then the text is a summary, and there is no launch.
    pub elsewhere: Option<String>,
}

#[derive(Debug, Clone)]
pub struct KernelParam {
    pub is_result: bool,
    /// Number of the operand, or of the result.
    pub number: usize,
    pub bytes: u64,
    /// The number of its memory slice: arguments that share memory have the same.
    pub slice: usize,
}

pub(crate) fn kernel_preview(
    context: &FileContext<'_>,
    query: &FusionQuery,
    emit: KernelLanguage,
) -> Result<KernelPreview, FusionError> {
    let not_found = || FusionError::NotFound(format!("{} is not in the module", query.instruction));
    let at =
        context.find_instruction(query.computation.as_deref(), &query.instruction).ok_or_else(not_found)?;
    let Some(who) = written_elsewhere(context, at) else {
        LaunchedKernel::find(context, query)?.analysis(context)?;
        return preview_at(context, at, emit);
    };
    let lines = kernel_elsewhere(context, at);
    Ok(KernelPreview {
        name: query.instruction.clone(),
        text: lines.iter().map(|line| format!("{line}\n")).collect(),
        launch: None,
        params: Vec::new(),
        lines: Vec::new(),
        missing: Vec::new(),
        elsewhere: Some(who),
    })
}

/// Names of the fusions of a file in text order.
pub(crate) fn fusions(context: &FileContext<'_>, limit: usize) -> Vec<String> {
    let mut names = Vec::new();
    for piece in 0..context.pieces() {
        let block = context.block(piece);
        for (id, instruction) in block.parse.instructions.iter().enumerate() {
            if names.len() < limit && instruction.opcode == Some(Opcode::Fusion) {
                names.push(block.name(id as u32).to_owned());
            }
        }
    }
    names
}

/// The instruction whose kernel is used where none is named: the only fusion, else the root of the entry; or
/// the reason why there is none.
pub(crate) fn default_kernel(context: &FileContext<'_>) -> Result<String, &'static str> {
    if let [only] = fusions(context, 2).as_slice() {
        return Ok(only.clone());
    }
    let module = context.module();
    let root = module.entry.and_then(|entry| context.root_of(&module.computations[entry].segments));
    let root = root.filter(|&at| context.may_be_kernel(at)).ok_or("which kernel? name it")?;
    Ok(context.block(root.piece).name(root.id).to_owned())
}

/// The code of the kernel of an instruction.
pub(crate) fn preview_at(
    context: &FileContext<'_>,
    at: InstructionRef,
    emit: KernelLanguage,
) -> Result<KernelPreview, FusionError> {
    let name = context.block(at.piece).name(at.id);
    let not_found = || FusionError::NotFound(format!("{name} has no kernel"));
    preview_of(context, &context.kernel_key(at).ok_or_else(not_found)?, name, emit)
}

/// The code of a kernel, for HLO and StableHLO launches; `name` is its name in an error.
pub(crate) fn preview_of(
    context: &FileContext<'_>,
    key: &KernelKey,
    name: &str,
    emit: KernelLanguage,
) -> Result<KernelPreview, FusionError> {
    let not_found = || FusionError::NotFound(format!("{name} has no kernel"));
    let not_emitted = |reason: &gpu::Reason| FusionError::NotEmitted(reason.to_string());
    let analysis = match context.kernel(key).ok_or_else(not_found)? {
        Ok(analysis) => analysis,
        Err(reason) => return Err(not_emitted(reason)),
    };
    let kernel = match context.kernel_code(key) {
        Some(Ok(kernel)) => kernel,
        Some(Err(reason)) => return Err(not_emitted(reason)),
        None => return Err(not_found()),
    };
    let name_of = |op| analysis.fused.name(op).to_owned();
    let text = match context.kernel_text(key, emit) {
        Some(Ok(text)) => text,
        Some(Err(reason)) => return Err(not_emitted(reason)),
        None => return Err(not_found()),
    };
    let params = kernel.params.iter().map(|param| {
        let (is_result, number) = match param.role {
            codegen::kernel::Role::Operand(n) => (false, n),
            codegen::kernel::Role::Result(n) => (true, n),
        };
        (is_result, number, param.bytes)
    });
    let params = params.zip(kernel.slices());
    let params =
        params.map(|((is_result, number, bytes), slice)| KernelParam { is_result, number, bytes, slice });
    let lines = text.lines.iter().enumerate().filter_map(|(n, op)| Some((n, name_of((*op)?))));
    let missing = text.missing.iter().map(|missing| (missing.instruction.clone(), missing.reason.clone()));
    Ok(KernelPreview {
        name: kernel.name.clone(),
        launch: Some(kernel.launch),
        elsewhere: None,
        params: params.collect(),
        lines: lines.collect(),
        missing: missing.collect(),
        text: text.text.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const MODULE: &str = "HloModule m

%fused {
  p = f32[64,66] parameter(0)
  q = f32[66] parameter(1)
  b = f32[64,66] broadcast(q), dimensions={1}
  ROOT s = f32[64,66] add(p, b)
}

%triton {
  p = f32[64,66] parameter(0)
  ROOT n = f32[64,66] negate(p)
}

ENTRY %e {
  p = f32[64,66] parameter(0)
  q = f32[66] parameter(1)
  f = f32[64,66] fusion(p, q), kind=kLoop, calls=%fused
  ROOT g = f32[64,66] fusion(f), kind=kCustom, calls=%triton, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\"}}
}
";

    fn preview(instruction: &str, emit: KernelLanguage) -> Result<KernelPreview, FusionError> {
        let (analysis, file, _) = fixture::open(MODULE);
        let computation = Some("e".to_owned());
        let query = FusionQuery { instruction: instruction.to_owned(), computation };
        analysis.kernel_preview(file, &query, emit).expect("nobody cancels")
    }

    #[test]
    fn lines_lead_back_to_instructions() {
        for language in [KernelLanguage::Ptx, KernelLanguage::Mlir] {
            let preview = preview("f", language).expect("a loop");
            assert_eq!(preview.missing, []);
            let lines: Vec<&str> = preview.text.lines().collect();
            let sums = preview.lines.iter().filter(|(n, name)| {
                name == "s" && (lines[*n].contains("add.rn.f32") || lines[*n].contains("arith.addf"))
            });
            assert!(sums.count() > 0, "{}", preview.text);
            let roles: Vec<_> = preview.params.iter().map(|p| (p.is_result, p.number, p.bytes)).collect();
            assert_eq!(roles, [(false, 0, 16896), (false, 1, 264), (true, 0, 16896)]);
        }
    }

    #[test]
    fn others_say_who_writes_them() {
        let preview = preview("g", KernelLanguage::Ptx).expect("it is known");
        assert!(preview.elsewhere.is_some_and(|who| who.starts_with("Triton writes")));
        assert!(preview.text.starts_with("kind: __triton\n"), "{}", preview.text);
        assert!(preview.launch.is_none());
    }
}
