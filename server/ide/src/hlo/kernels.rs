//! The kernels that XLA launches for instructions of HLO.

use std::ops::Range;

use crate::TextRange;
use crate::code_actions::show_kernel;
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::kernel::access_pattern::{self, Accessing};
use crate::kernel::document::{self, KernelDocument};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::launched::LaunchedKernel;
use crate::kernel::shown_kernel::{ShownKernel, shown_kernel};
use crate::kernel::tilings::{self, ConfigChange, Tilings};
use crate::kernel::why_not_fused::why_not_fused;
use crate::kernel::{default_kernel, follow, heaviest, xla_kernel};
use crate::rich_text::RichText;
use crate::semantics::Kernels;

impl Kernels for Hlo {
    fn why_no_kernels(&self) -> &'static str {
        heaviest::NOT_OPTIMIZED
    }

    fn has_more_kernels_than(&self, context: &FileContext<'_>, count: usize) -> bool {
        db::fused_computations(context.db, context.view.file).len() > count
    }

    fn default_kernel(&self, context: &FileContext<'_>) -> Result<String, &'static str> {
        default_kernel::default_kernel(context)
    }

    fn shown_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        shown_kernel(context, offset)
    }

    fn why_not_fused(&self, context: &FileContext<'_>, offset: usize) -> RichText {
        context.instruction_at(offset).map(|at| why_not_fused(context, at)).unwrap_or_default()
    }

    fn offered_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        show_kernel::offered_kernel(context, offset)
    }

    fn kernel_document(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Result<KernelDocument, FusionError> {
        document::kernel_document(context, query, language)
    }

    fn tilings(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        change: &ConfigChange,
    ) -> Result<Tilings, FusionError> {
        tilings::tilings(context, query, change)
    }

    fn has_xla_kernel(&self, context: &FileContext<'_>, query: &FusionQuery) -> bool {
        xla_kernel::has_xla_kernel(context, query)
    }

    fn xla_kernel_document(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
    ) -> Result<KernelDocument, FusionError> {
        xla_kernel::xla_kernel_document(context, query)
    }

    fn kernel_lines(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        document: &KernelDocument,
        offset: usize,
    ) -> Vec<Range<usize>> {
        follow::kernel_lines(context, query, document, offset)
    }

    fn launched<'a>(
        &self,
        context: &FileContext<'a>,
        query: &FusionQuery,
    ) -> Result<LaunchedKernel<'a>, FusionError> {
        LaunchedKernel::named(context, query)
    }

    fn launched_in<'a>(&self, context: &FileContext<'a>, range: &TextRange) -> Option<LaunchedKernel<'a>> {
        access_pattern::launched_in(context, range)
    }

    fn accessing_at<'a>(&self, context: &FileContext<'a>, offset: usize) -> Option<Accessing<'a>> {
        access_pattern::accessing_at(context, offset)
    }
}
