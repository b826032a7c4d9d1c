//! "Show kernel": the code generated for an HLO instruction or an MLIR op. A client that shows kernels does
//! so itself; others get a new document with the current text.

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::file_context::FileContext;
use crate::kernel::fusion::FusionQuery;
use crate::kernel::language::KernelLanguage;
use crate::kernel::shown_kernel::{ShownKernel, kernel_around, shown_kernel};

/// The id of the action for clients that show kernels.
pub const ID: &str = "show-kernel";
/// Prefix of the action ids for all other clients.
pub const ID_AS_TEXT: &str = "show-kernel-as-";

pub(crate) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(kernel) = context.semantics().offered_kernel(context, range.start) else { return };
    let written = |language| {
        let query = FusionQuery {
            instruction: kernel.instruction.clone(),
            computation: Some(kernel.computation.clone()),
        };
        context.semantics().kernel_document(context, &query, language).ok()
    };
    actions.offer_command(ID, "Show kernel", CodeActionKind::Show);
    let texts: &[(&str, &str, KernelLanguage, &'static str)] = match kernel.has_code {
        true => &[
            ("ptx", "Show kernel as PTX", KernelLanguage::Ptx, "ptx"),
            ("mlir", "Show kernel as MLIR", KernelLanguage::Mlir, "mlir"),
        ],
        false if kernel.has_tiles => &[
            ("tiles", "Show kernel as MLIR on tiles", KernelLanguage::Tiles, "mlir"),
            ("triton", "Show kernel in Triton's operations", KernelLanguage::Triton, "mlir"),
            ("tilings", "What if other tile sizes?", KernelLanguage::Tilings, "tilings.txt"),
            ("list", "Show what is known of the kernel", KernelLanguage::Ptx, "kernel.txt"),
        ],
        false => &[("list", "Show what is known of the kernel", KernelLanguage::Ptx, "kernel.txt")],
    };
    for &(id, title, language, ending) in texts {
        actions.offer(format!("{ID_AS_TEXT}{id}"), title, CodeActionKind::Show, || {
            let text = written(language)?.text(&[]).0;
            Some(Change::NewDocument { name: kernel.instruction.clone(), extension: Some(ending), text })
        });
    }
}

/// The kernel of HLO at `offset`, if its document has content.
pub(crate) fn offered_kernel(context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
    shown_kernel(context, offset).filter(|kernel| is_written(context, offset, kernel))
}

/// Whether the kernel's document has content: code, or a summary of a library kernel.
fn is_written(context: &FileContext<'_>, offset: usize, kernel: &ShownKernel) -> bool {
    let around = context.instruction_at(offset).and_then(|at| kernel_around(context, at));
    match around.and_then(|at| context.kernel_id(at)) {
        Some(id) if kernel.has_code => matches!(context.kernel_code(id), Some(Ok(_))),
        _ => !kernel.has_code,
    }
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::{apply, apply_in};
    use crate::fixture::open_mlir;

    const MODULE: &str = "HloModule m

%fused {
  p = f32[64] parameter(0)
  ROOT $0n = f32[64] negate(p)
}

ENTRY %e {
  x = f32[64] parameter(0)
  ROOT f = f32[64] fusion(x), kind=kLoop, calls=%fused
}
";

    #[test]
    fn the_text_is_a_new_document() {
        let shown = apply(MODULE, "show-kernel-as-ptx").expect("it is offered");
        assert!(shown.starts_with("// %f | loop | h100-sxm\n"), "{shown}");
        assert!(shown.contains("neg.f32"), "{shown}");
        assert!(apply(MODULE, "show-kernel-as-mlir").is_some_and(|shown| shown.contains("arith.negf")));
        let text = "\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  $0%0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
";
        let shown = apply_in(open_mlir(text), "show-kernel-as-ptx").expect("it is offered in MLIR, too");
        assert!(shown.contains("abs.f32"), "{shown}");
        let parameter = MODULE.replace("$0", "").replace("x = ", "$0x = ");
        assert!(apply(&parameter, "show-kernel-as-ptx").is_none());
    }
}
