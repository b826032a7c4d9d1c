//! The GPU kernels of a text.

use std::ops::Range;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::kernel::access_pattern::Accessing;
use crate::kernel::document::KernelDocument;
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::launched::LaunchedKernel;
use crate::kernel::shown_kernel::ShownKernel;
use crate::kernel::tilings::{ConfigChange, Tilings};
use crate::rich_text::RichText;

/// The GPU kernels of a text.
pub(crate) trait Kernels {
    /// Why no kernel of the file is known.
    fn why_no_kernels(&self) -> &'static str;

    /// Whether the file has more than `count` kernels.
    fn has_more_kernels_than(&self, _: &FileContext<'_>, _: usize) -> bool {
        false
    }

    /// The instruction or function whose kernel is used where none is named, or why there is none.
    fn default_kernel(&self, _: &FileContext<'_>) -> Result<String, &'static str> {
        Err(self.why_no_kernels())
    }

    /// The kernel that contains `offset`.
    fn shown_kernel(&self, _: &FileContext<'_>, _: usize) -> Option<ShownKernel> {
        None
    }

    /// Whether XLA fuses what is at `offset` into its consumers, and why not; empty if it does not consider it.
    fn why_not_fused(&self, _: &FileContext<'_>, _: usize) -> RichText {
        RichText::default()
    }

    /// The kernel that a code action at `offset` shows: one whose document has content.
    fn offered_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        self.shown_kernel(context, offset)
    }

    /// The document of a kernel.
    fn kernel_document(
        &self,
        _: &FileContext<'_>,
        _: &FusionQuery,
        _: KernelLanguage,
    ) -> Result<KernelDocument, FusionError> {
        Err(FusionError::NotFound(self.why_no_kernels().to_owned()))
    }

    /// Configurations of a fusion for Triton.
    fn tilings(
        &self,
        _: &FileContext<'_>,
        _: &FusionQuery,
        _: &ConfigChange,
    ) -> Result<Tilings, FusionError> {
        Err(FusionError::NotFound("XLA states tile sizes in HLO alone".to_owned()))
    }

    /// Whether XLA dumped its own code of a kernel.
    fn has_xla_kernel(&self, _: &FileContext<'_>, _: &FusionQuery) -> bool {
        false
    }

    /// The document of XLA's own kernel.
    fn xla_kernel_document(
        &self,
        _: &FileContext<'_>,
        _: &FusionQuery,
    ) -> Result<KernelDocument, FusionError> {
        Err(FusionError::NotFound("XLA dumps kernels of HLO alone".to_owned()))
    }

    /// Line ranges of a document's body that originate from the code at `offset`.
    fn kernel_lines(
        &self,
        _: &FileContext<'_>,
        _: &FusionQuery,
        _: &KernelDocument,
        _: usize,
    ) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// The kernel selected by a query, with the operands' names in the text.
    fn launched<'a>(&self, _: &FileContext<'a>, _: &FusionQuery) -> Result<LaunchedKernel<'a>, FusionError> {
        Err(FusionError::NotFound(self.why_no_kernels().to_owned()))
    }

    /// The first kernel that is launched in `range`, or whose code contains its start.
    fn launched_in<'a>(&self, _: &FileContext<'a>, _: &TextRange) -> Option<LaunchedKernel<'a>> {
        None
    }

    /// The kernel whose accesses are shown at `offset`.
    fn accessing_at<'a>(&self, _: &FileContext<'a>, _: usize) -> Option<Accessing<'a>> {
        None
    }
}
