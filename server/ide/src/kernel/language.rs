//! The languages in which a kernel's code is shown.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelLanguage {
    /// As XLA's emitters generate it, before lowering.
    Mlir,
    /// After passes of XLA's pipeline: a name known to [`KernelLanguage::mlir_after`].
    MlirAfter(&'static str),
    Ptx,
    /// Of a fusion for Triton: the program of one block on its tiles, in the dialect `xtile`.
    Tiles,
    /// Of a fusion for Triton: the same in Triton's operations, after XLA's simplification and lowering.
    Triton,
    /// Of a fusion for Triton: no code, but other tile sizes and what they cost.
    Tilings,
}

impl KernelLanguage {
    /// Whether only fusions for Triton have it.
    pub(crate) fn is_for_triton(self) -> bool {
        matches!(self, KernelLanguage::Tiles | KernelLanguage::Triton)
    }

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
