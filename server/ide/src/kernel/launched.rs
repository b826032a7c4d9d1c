//! A kernel at its launch: its name and operands there.

use std::sync::Arc;

use db::KernelId;
use gpu::FusionAnalysis;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::shown_kernel::queried_instruction;

pub(crate) struct LaunchedKernel<'a> {
    pub(crate) id: KernelId<'a>,
    /// The name without `%`, like the names of operands.
    pub(crate) name: String,
    pub(crate) operands: Vec<String>,
}

impl<'a> LaunchedKernel<'a> {
    /// The kernel of an HLO instruction. `None` if it is in no computation.
    pub(crate) fn of(context: &FileContext<'a>, at: InstructionRef) -> Option<LaunchedKernel<'a>> {
        let block = context.block(at.piece);
        let operands = block.operands_of(at.id).map(|(operand, _)| operand.name.of(&block.text).to_owned());
        Some(LaunchedKernel {
            id: context.kernel_id(at)?,
            name: block.name(at.id).to_owned(),
            operands: operands.collect(),
        })
    }

    /// The kernel of the HLO instruction that a query names.
    pub(crate) fn named(
        context: &FileContext<'a>,
        query: &FusionQuery,
    ) -> Result<LaunchedKernel<'a>, FusionError> {
        let at = queried_instruction(context, query)?;
        let in_none = || FusionError::NotFound(format!("{} is in no computation", query.instruction));
        LaunchedKernel::of(context, at).ok_or_else(in_none)
    }

    pub(crate) fn analysis(&self, context: &FileContext<'a>) -> Result<&'a Arc<FusionAnalysis>, FusionError> {
        match context.kernel(self.id) {
            None => Err(FusionError::NotFound(format!("{} has no known shape", self.name))),
            Some(Ok(analysis)) => Ok(analysis),
            Some(Err(reason)) => Err(FusionError::NotEmitted(reason.to_string())),
        }
    }
}
