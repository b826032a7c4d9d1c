//! XLA's optimizer: modules after passes, previews, and the kernels that a module would become.

use std::sync::Arc;

use super::Analysis;
use crate::code_actions::Actions;
use crate::file_context::FileContext;
use crate::optimize::preview::Preview;
use crate::optimize::{fusing, layouts, optimize, rewrites, shown};
use crate::*;

impl Analysis {
    /// The first module after passes of XLA.
    pub fn optimize(
        &self,
        file: FileId,
        request: &OptimizeRequest,
    ) -> Cancellable<Result<Optimized, NotOptimized>> {
        self.with_file(file, |context| optimize(&context, request))
    }

    /// The same as a document whose lines lead to instructions of the text. Where a pass stops, the module before it.
    pub fn preview(
        &self,
        file: FileId,
        request: &OptimizeRequest,
    ) -> Cancellable<Result<Arc<Preview>, NotOptimized>> {
        self.with_file(file, |context| self.optimized.preview(&context, request))
    }

    /// Computes the kernels that a module would become, for hints, lenses and hovers. Returns whether there are any: not of a
    /// module with fusions.
    pub fn prepare_kernels(&self, file: FileId) -> Cancellable<bool> {
        self.with_file(file, |context| shown::prepare(&context, &self.optimized))
    }

    /// What passes of XLA would do to the instruction at the start of `range`, layouts that would make its kernel coalesced, and what can
    /// be fused with it or taken apart, as code actions.
    pub fn rewrite_actions(
        &self,
        file: FileId,
        range: TextRange,
        wanted: Wanted<'_>,
    ) -> Cancellable<Vec<CodeAction>> {
        self.with_file(file, |context| {
            let mut actions = Actions::new(wanted);
            rewrites::offer(&context, &self.optimized, &range, &mut actions);
            layouts::offer(&context, &self.optimized, &range, &mut actions);
            fusing::offer(&context, &self.optimized, &range, &mut actions);
            actions.found()
        })
    }

    /// Hints that say which kernel each instruction of a module without fusions goes into.
    pub fn planned_kernel_hints(&self, file: FileId, range: TextRange) -> Cancellable<Vec<InlayHint>> {
        self.with_file(file, |context| shown::hints(&context, &self.optimized, &range))
    }

    /// Adds the same to a hover. `path` is that of the file, for links.
    pub fn add_planned_kernel(
        &self,
        file: FileId,
        offset: usize,
        path: Option<&str>,
        hover: &mut Hover,
    ) -> Cancellable<()> {
        self.with_file(file, |context| shown::add_section(&context, &self.optimized, offset, path, hover))
    }

    /// The place of [`Analysis::optimizer_lens`]; `None` where kernels are decided. Cheap.
    pub fn optimizer_lens_place(&self, file: FileId) -> Cancellable<Option<TextRange>> {
        self.with_file(file, |context| shown::lens_place(&context))
    }

    /// The lens above the entry of a module without fusions: kernels, time and bytes before and after fusion.
    pub fn optimizer_lens(&self, file: FileId) -> Cancellable<Option<CodeLens>> {
        self.with_file(file, |context| shown::lens(&context, &self.optimized))
    }

    /// The instructions that go into the same kernels as the one at an offset.
    pub fn kernel_members(&self, file: FileId, offset: usize) -> Cancellable<Vec<KernelMembers>> {
        self.with_file(file, |context| shown::members(&context, &self.optimized, offset))
    }

    /// Runs `query` on a file, for analyses of texts that other analyses wrote.
    pub(crate) fn with_context<T>(
        &self,
        file: FileId,
        query: impl FnOnce(&FileContext<'_>) -> T,
    ) -> Cancellable<T> {
        self.with_file(file, |context| query(&context))
    }
}
