//! What the GPU runs: kernels, their code, and their use of memory.

use super::Analysis;
use crate::*;

impl Analysis {
    /// The lanes of one warp on the memory of an array, of the kernel at `offset`.
    pub fn access_pattern(
        &self,
        file: FileId,
        offset: usize,
        query: &AccessPatternQuery,
    ) -> Cancellable<Option<AccessPattern>> {
        self.with_file(file, |context| access_pattern::access_pattern(&context, offset, query))
    }

    /// The functions of the fused computation at `offset`; empty where it is one.
    pub fn kernel_functions(&self, file: FileId, offset: usize) -> Cancellable<Vec<KernelFunction>> {
        self.with_file(file, |context| kernel_functions::kernel_functions(&context, offset))
    }

    /// The kernel of one fusion, or of an instruction that XLA would wrap into one.
    pub fn fusion_kernel(
        &self,
        file: FileId,
        query: &FusionQuery,
    ) -> Cancellable<Result<FusionReply, FusionError>> {
        self.with_file(file, |context| fusion_kernel::fusion_kernel(&context, query))
    }

    /// The kernels of the module by the time that they take, and how much that is together.
    pub fn heaviest_kernels(&self, file: FileId, limit: usize) -> Cancellable<HeaviestKernels> {
        self.with_file(file, |context| heaviest_kernels::heaviest_kernels(&context, limit))
    }

    /// The instruction whose kernel is meant where none is named, or why none is.
    pub fn default_kernel(&self, file: FileId) -> Cancellable<Result<String, &'static str>> {
        self.of_language(
            file,
            |context| kernel_preview::default_kernel(&context),
            |context| mlir::kernel_preview::default_kernel(&context),
        )
    }

    /// The code of a kernel as text.
    pub fn kernel_preview(
        &self,
        file: FileId,
        query: &FusionQuery,
        emit: KernelLanguage,
    ) -> Cancellable<Result<KernelPreview, FusionError>> {
        self.of_language(
            file,
            |context| kernel_preview::kernel_preview(&context, query, emit),
            |context| mlir::kernel_preview::kernel_preview(&context, query, emit),
        )
    }

    /// The kernel that the instruction at `offset` is, or is part of.
    pub fn shown_kernel(&self, file: FileId, offset: usize) -> Cancellable<Option<ShownKernel>> {
        self.of_language(
            file,
            |context| kernel_document::shown_kernel(&context, offset),
            |context| mlir::kernels::shown_kernel(&context, offset),
        )
    }

    /// The document that shows a kernel. The error is that there is no such instruction.
    pub fn kernel_document(
        &self,
        file: FileId,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Cancellable<Result<KernelDocument, FusionError>> {
        self.with_file(file, |context| match context.is_mlir() {
            true => mlir::kernels::kernel_document(&context, query, language),
            false => kernel_document::kernel_document(&context, query, language),
        })
    }

    /// Runs of lines of the body of a kernel's document that come from the instruction at `offset`.
    pub fn kernel_lines(
        &self,
        file: FileId,
        query: &FusionQuery,
        document: &KernelDocument,
        offset: usize,
    ) -> Cancellable<Vec<std::ops::Range<usize>>> {
        self.of_language(
            file,
            |context| kernel_follow::kernel_lines(&context, query, document, offset),
            |context| mlir::kernels::kernel_lines(&context, document, offset),
        )
    }

    /// Markdown about a place in the body of a kernel's document; `column` in bytes.
    pub fn kernel_document_hover(
        &self,
        file: FileId,
        query: &FusionQuery,
        document: &KernelDocument,
        line: usize,
        column: usize,
        config: &HoverConfig,
    ) -> Cancellable<Option<String>> {
        self.with_file(file, |context| {
            kernel_document_hover::kernel_document_hover(&context, query, document, line, column, config)
        })
    }

    /// What the kernel's reads and writes move, array by array.
    pub fn coalescing(
        &self,
        file: FileId,
        query: &FusionQuery,
        tile_sizes: Option<&[i64]>,
    ) -> Cancellable<Result<Vec<BufferReply>, FusionError>> {
        self.with_file(file, |context| coalescing_queries::coalescing(&context, query, tile_sizes))
    }
}
