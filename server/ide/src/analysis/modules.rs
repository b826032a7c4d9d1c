//! Module queries of scripts and commands: maps, values, functions, conversion.

use std::sync::Arc;

use super::Analysis;
use crate::*;

impl Analysis {
    /// The language of a file, and the device that it is compiled for: that of its dump, else that of the settings.
    pub fn target(&self, file: FileId) -> Cancellable<(Language, &'static Device)> {
        self.with_file(file, |context| {
            let file = context.view.file;
            (file.language(context.db), context.db.device_of(file))
        })
    }

    /// Maps of one instruction, for the machine interface.
    pub fn indexing(
        &self,
        file: FileId,
        query: &IndexingQuery,
    ) -> Cancellable<Result<IndexingReply, QueryError>> {
        self.with_file(file, |context| context.semantics().indexing(&context, query))
    }

    /// The value of a computation (the entry if unnamed) or of one of its instructions, given values of the
    /// computation's parameters.
    pub fn evaluate(
        &self,
        file: FileId,
        query: &EvaluationQuery,
        arguments: &Arguments,
        form: Form,
    ) -> Cancellable<Evaluated> {
        self.with_file(file, |context| evaluate::evaluate(&context, query, arguments, form))
    }

    /// The value of the instruction at `offset`, given values of its computation's parameters.
    pub fn evaluate_at(
        &self,
        file: FileId,
        offset: usize,
        arguments: &Arguments,
        form: Form,
    ) -> Cancellable<Option<Evaluated>> {
        self.with_file(file, |context| evaluate::evaluate_at(&context, offset, arguments, form))
    }

    /// The parameters that the instruction at `offset` depends on.
    pub fn evaluation_parameters(
        &self,
        file: FileId,
        offset: usize,
    ) -> Cancellable<Vec<EvaluationParameter>> {
        self.with_file(file, |context| evaluate::evaluation_parameters(&context, offset))
    }

    /// The partition of computations into functions: of `computation` only, or of each that a fusion calls.
    /// Instructions with the given opcodes start a new function.
    pub fn partition(
        &self,
        file: FileId,
        computation: Option<&str>,
        force_roots: &[String],
    ) -> Cancellable<Result<Vec<PartitionedComputation>, QueryError>> {
        self.with_file(file, |context| {
            kernel::partition_queries::partition(&context, computation, force_roots)
        })
    }

    /// The canonical text of the file, which must have no errors.
    pub fn print(&self, file: FileId, options: &PrintOptions) -> Cancellable<Result<String, TextTooLarge>> {
        self.with_file(file, |context| hlo::print_module::print_module(&context, options))
    }

    /// The module in the other language: StableHLO as HLO, HLO as StableHLO.
    pub fn convert(&self, file: FileId) -> Cancellable<Conversion> {
        self.with_file(file, |context| context.semantics().convert(&context))
    }

    /// Where the memory of the first module of a file goes.
    pub fn module_memory(&self, file: FileId) -> Cancellable<Result<Arc<Memory>, NoMemory>> {
        self.with_file(file, |context| memory::module_memory(&context))
    }

    /// The same, with at most `limit` of the values that are alive at the peak.
    pub fn memory_report(&self, file: FileId, limit: usize) -> Cancellable<Result<MemoryReport, NoMemory>> {
        self.with_file(file, |context| memory::memory_report(&context, limit))
    }

    /// What would lower the peak of the module's memory, the largest saving first. Plans the module up to a few dozen
    /// times.
    pub fn memory_advice(&self, file: FileId) -> Cancellable<Result<Vec<MemoryAdvice>, NoMemory>> {
        self.with_file(file, |context| memory::memory_advice(&context))
    }

    /// The bytes in use over the schedule in at most so many columns, with the report.
    pub fn memory_timeline(
        &self,
        file: FileId,
        columns: usize,
        limit: usize,
    ) -> Cancellable<Result<MemoryTimeline, NoMemory>> {
        self.with_file(file, |context| memory::memory_timeline(&context, columns, limit))
    }

    /// Counts of the module.
    pub fn statistics(&self, file: FileId) -> Cancellable<FileStatistics> {
        self.with_file(file, |context| context.semantics().statistics(&context))
    }

    /// The whole text annotated with maps and diagnostics.
    pub fn annotate(&self, file: FileId, write: &mut dyn FnMut(&str)) -> Cancellable<()> {
        self.with_file(file, |context| annotate::annotate(&context, write))
    }
}
