//! Which kernel is at a place of the text.

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::elsewhere::written_elsewhere;
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::tile_document::has_tiles;

/// A kernel that can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownKernel {
    /// The fusion, or the instruction that XLA wraps in one, without `%`.
    pub instruction: String,
    pub computation: String,
    /// The instruction's name at its definition.
    pub range: TextRange,
    /// Whether XLA's own emitters generate it, so that there is code to show.
    pub has_code: bool,
    /// Whether it is a program on tiles, for Triton.
    pub has_tiles: bool,
}

/// The kernel that contains the instruction at `offset`: its own, or that of the enclosing fusion.
pub(crate) fn shown_kernel(context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
    let at = kernel_around(context, context.instruction_at(offset)?)?;
    let computation = context.computation_index(at)?;
    let block = context.block(at.piece);
    Some(ShownKernel {
        instruction: block.name(at.id).to_owned(),
        computation: context.module().computations[computation].name.to_string(),
        range: context.range(at.piece, block.instruction(at.id).name),
        has_code: written_elsewhere(context, at).is_none(),
        has_tiles: has_tiles(context, at),
    })
}

/// The innermost enclosing instruction that is a kernel.
pub(crate) fn kernel_around(context: &FileContext<'_>, at: InstructionRef) -> Option<InstructionRef> {
    /// Call cycles are errors, but the search must terminate for them too.
    const MAX_DEPTH: usize = 32;
    let mut at = at;
    for _ in 0..MAX_DEPTH {
        if context.may_be_kernel(at) {
            return Some(at);
        }
        at = context.caller(at)?;
        // Instructions run by a loop or a call have kernels of their own.
        let opcode = context.block(at.piece).instruction(at.id).opcode?;
        if !matches!(opcode, ir::Opcode::Fusion) && !gpu::is_wrapped(opcode) {
            return None;
        }
    }
    None
}

/// The instruction that a query names.
pub(crate) fn queried_instruction(
    context: &FileContext<'_>,
    query: &FusionQuery,
) -> Result<InstructionRef, FusionError> {
    let found = context.find_instruction(query.computation.as_deref(), &query.instruction);
    found.ok_or_else(|| FusionError::NotFound(format!("{} is not in the module", query.instruction)))
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;
    use crate::kernel::document::tests::MODULE;

    #[test]
    fn a_kernel_is_found_around_the_cursor() {
        #[track_caller]
        fn check(text: &str, expect: Option<(&str, bool)>) {
            let (analysis, file, offset) = open(text);
            let found = analysis.shown_kernel(file, offset).expect("nobody cancels");
            assert_eq!(found.as_ref().map(|k| (k.instruction.as_str(), k.has_code)), expect);
        }
        check(MODULE, Some(("f", true)));
        let at = |mark: &str| MODULE.replace("$0", "").replace(mark, &mark.replace('|', "$0"));
        let marked = |plain: &str| {
            let text = at(plain);
            text.replacen(plain, &format!("$0{plain}"), 1)
        };
        check(&marked("f = f32"), Some(("f", true)));
        check(&marked("h = f32"), Some(("h", true)));
        check(&marked("c = f32"), Some(("c", false)));
        check(&marked("n = f32"), Some(("g", false)));
        check(&marked("x = f32"), None);
    }
}
