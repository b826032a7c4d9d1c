//! Queries about GPU kernels: launches, code and memory accesses.

use super::Analysis;
use crate::*;

impl Analysis {
    /// The addresses that the lanes of one warp access in an array, for the kernel at `offset`.
    pub fn access_pattern(
        &self,
        file: FileId,
        offset: usize,
        query: &AccessPatternQuery,
    ) -> Cancellable<Option<AccessPattern>> {
        self.with_file(file, |context| kernel::access_pattern::access_pattern(&context, offset, query))
    }

    /// The functions of the fused computation at `offset`; empty for a single function.
    pub fn kernel_functions(&self, file: FileId, offset: usize) -> Cancellable<Vec<KernelFunction>> {
        self.with_file(file, |context| kernel::functions::kernel_functions(&context, offset))
    }

    /// The kernel of a fusion, or of an instruction that XLA would wrap in one.
    pub fn fusion_kernel(
        &self,
        file: FileId,
        query: &FusionQuery,
    ) -> Cancellable<Result<FusionReply, FusionError>> {
        self.with_file(file, |context| kernel::fusion::fusion_kernel(&context, query))
    }

    /// The module's kernels by execution time, and their total.
    pub fn heaviest_kernels(&self, file: FileId, limit: usize) -> Cancellable<HeaviestKernels> {
        self.with_file(file, |context| kernel::heaviest::heaviest_kernels(&context, limit))
    }

    /// Whether XLA fuses the instruction at `offset` into its consumers, and why not. Empty where XLA does not consider it: in a
    /// fused computation, and where nothing uses the result.
    pub fn why_not_fused(&self, file: FileId, offset: usize) -> Cancellable<RichText> {
        self.with_file(file, |context| context.semantics().why_not_fused(&context, offset))
    }

    /// The instruction whose kernel is used where none is named, or the reason why there is none.
    pub fn default_kernel(&self, file: FileId) -> Cancellable<Result<String, &'static str>> {
        self.with_file(file, |context| context.semantics().default_kernel(&context))
    }

    /// The kernel that contains the instruction at `offset`.
    pub fn shown_kernel(&self, file: FileId, offset: usize) -> Cancellable<Option<ShownKernel>> {
        self.with_file(file, |context| context.semantics().shown_kernel(&context, offset))
    }

    /// The document of a kernel. The error is that there is no such instruction.
    pub fn kernel_document(
        &self,
        file: FileId,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Cancellable<Result<KernelDocument, FusionError>> {
        self.with_file(file, |context| context.semantics().kernel_document(&context, query, language))
    }

    /// The configurations of a fusion for Triton: that in the text, that with `change`, and the best ones by XLA's model.
    pub fn tilings(
        &self,
        file: FileId,
        query: &FusionQuery,
        change: &ConfigChange,
    ) -> Cancellable<Result<Tilings, FusionError>> {
        self.with_file(file, |context| context.semantics().tilings(&context, query, change))
    }

    /// Whether the dump folder of a stage has XLA's own code of a kernel.
    pub fn has_xla_kernel(&self, file: FileId, query: &FusionQuery) -> Cancellable<bool> {
        self.with_file(file, |context| context.semantics().has_xla_kernel(&context, query))
    }

    /// XLA's own kernel of an instruction, from the dump folder of the file, compared with ours. The error is that there is no such
    /// instruction.
    pub fn xla_kernel_document(
        &self,
        file: FileId,
        query: &FusionQuery,
    ) -> Cancellable<Result<KernelDocument, FusionError>> {
        self.with_file(file, |context| context.semantics().xla_kernel_document(&context, query))
    }

    /// Line ranges in the body of a kernel's document that originate from the instruction at `offset`.
    pub fn kernel_lines(
        &self,
        file: FileId,
        query: &FusionQuery,
        document: &KernelDocument,
        offset: usize,
    ) -> Cancellable<Vec<std::ops::Range<usize>>> {
        self.with_file(file, |context| context.semantics().kernel_lines(&context, query, document, offset))
    }

    /// The hover at a position in the body of a kernel's document; `column` in bytes.
    pub fn kernel_document_hover(
        &self,
        file: FileId,
        query: &FusionQuery,
        document: &KernelDocument,
        line: usize,
        column: usize,
        config: &HoverConfig,
    ) -> Cancellable<Option<RichText>> {
        self.with_file(file, |context| {
            kernel::document_hover::kernel_document_hover(&context, query, document, line, column, config)
        })
    }

    /// The memory traffic of the kernel's reads and writes, per array.
    pub fn coalescing(
        &self,
        file: FileId,
        query: &FusionQuery,
        tile_sizes: Option<&[i64]>,
    ) -> Cancellable<Result<Vec<BufferReply>, FusionError>> {
        self.with_file(file, |context| kernel::coalescing_queries::coalescing(&context, query, tile_sizes))
    }
}
