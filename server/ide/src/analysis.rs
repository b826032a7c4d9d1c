//! The host that owns the database, and snapshots of it for readers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use db::{Database, Documents, FileView};
use ropey::Rope;
use rustc_hash::FxHashMap;

use crate::locate::FileContext;
use crate::mlir;
use crate::*;

/// Owns the database and is the only writer. One per process, on one thread.
#[derive(Default)]
pub struct AnalysisHost {
    db: Database,
    documents: Documents,
    views: Arc<FxHashMap<FileId, FileView>>,
}

/// A snapshot of everything at one moment, for one reader on one thread. The next write waits until all snapshots
/// are dropped: ask, answer, drop.
pub struct Analysis {
    db: Database,
    views: Arc<FxHashMap<FileId, FileView>>,
}

/// Stops what its [`Analysis`] is computing, from another thread.
#[derive(Clone)]
pub struct CancellationHandle(db::CancellationToken);

impl CancellationHandle {
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

/// Unwinds to [`Analysis::catch`] if the text has changed or the snapshot was cancelled.
pub(crate) fn check_cancelled(db: &Database) {
    use db::SalsaDatabase;
    db.unwind_if_revision_cancelled();
}

impl AnalysisHost {
    pub fn new() -> Self {
        Self::default()
    }

    /// A host that tells `observe` the name of every query that runs.
    pub fn observed(observe: impl Fn(String) + Send + Sync + 'static) -> Self {
        AnalysisHost { db: Database::observed(observe), ..Self::default() }
    }

    /// A host that cuts texts into pieces of at least `min_bytes`: for tests of what crosses pieces.
    pub fn in_pieces_of(min_bytes: usize) -> Self {
        AnalysisHost { documents: Documents::in_pieces_of(min_bytes), ..Self::default() }
    }

    /// Opens a text. The path only names it; nothing is read.
    pub fn open(&mut self, _path: &str, language: Language, text: &str) -> FileId {
        let id = self.documents.open(&mut self.db, language, text);
        self.refresh(id);
        id
    }

    /// Applies edits in order; ranges are bytes of the text before each edit.
    pub fn apply(&mut self, file: FileId, edits: &[TextEdit]) {
        let edits: Vec<text::Edit> =
            edits.iter().map(|e| text::Edit { range: e.range.clone(), insert: e.insert.clone() }).collect();
        self.documents.edit(&mut self.db, file, &edits);
        self.refresh(file);
    }

    /// Kernels are for this device from now on. The error names those that are known.
    pub fn set_device(&mut self, name: &str) -> Result<(), String> {
        let device = gpu::Device::find(name).map_err(|unknown| unknown.to_string())?;
        self.db.set_device(device);
        Ok(())
    }

    pub fn close(&mut self, file: FileId) {
        self.documents.close(&mut self.db, file);
        Arc::make_mut(&mut self.views).remove(&file);
    }

    fn refresh(&mut self, file: FileId) {
        if let Some(view) = self.documents.view(file) {
            Arc::make_mut(&mut self.views).insert(file, view);
        }
    }

    /// The current text.
    ///
    /// # Panics
    /// Where `file` is not open.
    pub fn rope(&self, file: FileId) -> &Rope {
        self.documents.rope(file).expect("the file is open")
    }

    pub fn analysis(&self) -> Analysis {
        Analysis { db: self.db.clone(), views: self.views.clone() }
    }
}

impl Analysis {
    pub fn cancellation(&self) -> CancellationHandle {
        use db::SalsaDatabase;
        CancellationHandle(self.db.cancellation_token())
    }

    /// Gives up here if the text has changed or this snapshot was cancelled: for long work that asks no queries.
    pub fn check_cancelled(&self) -> Cancellable<()> {
        self.catch(check_cancelled)
    }

    /// The text this snapshot is about.
    ///
    /// # Panics
    /// Where `file` is not open.
    pub fn rope(&self, file: FileId) -> &Rope {
        &self.views.get(&file).expect("the file is open").rope
    }

    /// All findings, those of the verifier included.
    pub fn diagnostics(&self, file: FileId, limit: usize) -> Cancellable<Diagnostics> {
        self.diagnostics_to(file, Depth::Verifier, limit)
    }

    pub fn diagnostics_to(&self, file: FileId, depth: Depth, limit: usize) -> Cancellable<Diagnostics> {
        self.of_language(
            file,
            |context| diagnostics::diagnostics(&context, depth, limit),
            |context| mlir::diagnostics::diagnostics(&context, depth, limit),
        )
    }

    /// Code that computes nothing new. What is wrong is in [`Self::diagnostics`].
    pub fn warnings(&self, file: FileId, config: &WarningsConfig, limit: usize) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| warnings::warnings(&context, config, limit))
    }

    /// Kernels that move much more than they use.
    pub fn coalescing_warnings(
        &self,
        file: FileId,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| coalescing_warnings::coalescing_warnings(&context, config, limit))
    }

    /// Computes all that is told of the file's kernels: emitters, maps, functions, use of memory, times; how many there are.
    pub fn look_at_kernels(&self, file: FileId) -> Cancellable<usize> {
        self.with_file(file, |context| context.kernels_ahead())
    }

    /// Whether [`Analysis::coalescing_warnings`] takes longer than somebody wants to wait.
    pub fn has_many_kernels(&self, file: FileId) -> Cancellable<bool> {
        self.with_file(file, |context| coalescing_warnings::has_many_kernels(&context))
    }

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

    pub fn hover(&self, file: FileId, offset: usize) -> Cancellable<Option<Hover>> {
        self.hover_with(file, offset, &HoverConfig::default())
    }

    pub fn hover_with(
        &self,
        file: FileId,
        offset: usize,
        config: &HoverConfig,
    ) -> Cancellable<Option<Hover>> {
        self.of_language(
            file,
            |context| hover::hover(&context, offset, config),
            |context| mlir::hover::hover(&context, offset, config),
        )
    }

    /// What may be written at `offset`.
    pub fn completion(&self, file: FileId, offset: usize) -> Cancellable<Completion> {
        self.of_language(
            file,
            |context| completion::completion(&context, offset),
            |context| mlir::completion::completion(&context, offset),
        )
    }

    /// The operands and attributes of the instruction that is being typed at `offset`.
    pub fn signature_help(&self, file: FileId, offset: usize) -> Cancellable<Option<SignatureHelp>> {
        self.of_language(file, |context| signature_help::signature_help(&context, offset), |_| None)
    }

    pub fn inlay_hints(
        &self,
        file: FileId,
        range: TextRange,
        config: &InlayHintsConfig,
    ) -> Cancellable<Vec<InlayHint>> {
        self.of_language(
            file,
            |context| inlay_hints::inlay_hints(&context, range.clone(), config),
            |context| mlir::inlay_hints::inlay_hints(&context, range.clone(), config),
        )
    }

    /// The outline, and how many symbols the limit left out.
    pub fn document_symbols(&self, file: FileId, limit: usize) -> Cancellable<(Vec<DocumentSymbol>, usize)> {
        self.of_language(
            file,
            |context| document_symbols::document_symbols(&context, limit),
            |context| mlir::document_symbols::document_symbols(&context, limit),
        )
    }

    /// Where the name at `offset` leads, each with the token that was asked about.
    pub fn goto_definition(&self, file: FileId, offset: usize) -> Cancellable<Vec<NavigationTarget>> {
        self.of_language(
            file,
            |context| goto_definition::goto_definition(&context, offset),
            |context| mlir::goto_definition::goto_definition(&context, offset),
        )
    }

    /// Where the value at `offset` is from; see `goto_type_definition.rs`.
    pub fn goto_type_definition(&self, file: FileId, offset: usize) -> Cancellable<Vec<NavigationTarget>> {
        self.with_file(file, |context| goto_type_definition::goto_type_definition(&context, offset))
    }

    pub fn references(
        &self,
        file: FileId,
        offset: usize,
        with_definition: bool,
    ) -> Cancellable<Vec<Reference>> {
        self.of_language(
            file,
            |context| references::references(&context, offset, with_definition),
            |context| mlir::references::references(&context, offset, with_definition),
        )
    }

    pub fn document_highlight(&self, file: FileId, offset: usize) -> Cancellable<Vec<Reference>> {
        self.of_language(
            file,
            |context| references::document_highlight(&context, offset),
            |context| mlir::references::document_highlight(&context, offset),
        )
    }

    /// The name that [`Analysis::rename`] would replace.
    pub fn prepare_rename(&self, file: FileId, offset: usize) -> Cancellable<Result<TextRange, RenameError>> {
        self.of_language(
            file,
            |context| rename::prepare_rename(&context, offset),
            |context| mlir::rename::prepare_rename(&context, offset),
        )
    }

    pub fn rename(
        &self,
        file: FileId,
        offset: usize,
        new_name: &str,
    ) -> Cancellable<Result<Vec<TextEdit>, RenameError>> {
        self.of_language(
            file,
            |context| rename::rename(&context, offset, new_name),
            |context| mlir::rename::rename(&context, offset, new_name),
        )
    }

    pub fn prepare_call_hierarchy(&self, file: FileId, offset: usize) -> Cancellable<Option<CallItem>> {
        self.of_language(
            file,
            |context| call_hierarchy::prepare_call_hierarchy(&context, offset),
            |context| mlir::call_hierarchy::prepare_call_hierarchy(&context, offset),
        )
    }

    /// Of the computation whose name is at `offset`.
    pub fn calls(&self, file: FileId, offset: usize, direction: CallDirection) -> Cancellable<Vec<Call>> {
        self.of_language(
            file,
            |context| call_hierarchy::calls(&context, offset, direction),
            |context| mlir::call_hierarchy::calls(&context, offset, direction),
        )
    }

    /// Of all open files, the best first, and how many the limit left out.
    pub fn workspace_symbols(
        &self,
        query: &str,
        limit: usize,
    ) -> Cancellable<(Vec<(FileId, WorkspaceSymbol)>, usize)> {
        self.catch(|db| {
            let mut files: Vec<_> =
                self.views.iter().map(|(&id, view)| (id, FileContext::new(db, view))).collect();
            files.sort_by_key(|(id, _)| *id);
            workspace_symbols::workspace_symbols(&files, query, limit)
        })
    }

    /// The folds, at most `limit`, the outer ones first to stay.
    pub fn folding_ranges(&self, file: FileId, limit: usize) -> Cancellable<Vec<Fold>> {
        self.of_language(
            file,
            |context| folding_ranges::folding_ranges(&context, limit),
            |context| mlir::folding_ranges::folding_ranges(&context, limit),
        )
    }

    /// From the token at `offset` outwards to the whole file, each range larger than the one before.
    pub fn selection_ranges(&self, file: FileId, offset: usize) -> Cancellable<Vec<TextRange>> {
        self.of_language(
            file,
            |context| selection_ranges::selection_ranges(&context, offset),
            |context| mlir::selection_ranges::selection_ranges(&context, offset),
        )
    }

    /// The tokens that overlap `range`, in order and apart; nothing where there are more than `limit`.
    pub fn semantic_tokens(
        &self,
        file: FileId,
        range: TextRange,
        limit: usize,
    ) -> Cancellable<Option<Vec<SemanticToken>>> {
        self.of_language(
            file,
            |context| semantic_tokens::semantic_tokens(&context, &range, limit),
            |context| mlir::semantic_tokens::semantic_tokens(&context, &range, limit),
        )
    }

    /// Mentions of source files in metadata, at most `limit`.
    pub fn document_links(&self, file: FileId, limit: usize) -> Cancellable<Vec<DocumentLink>> {
        self.of_language(file, |context| document_links::document_links(&context, limit), |_| Vec::new())
    }

    /// A place per computation and per kernel; what is said there is for [`Analysis::code_lens`] to tell.
    pub fn code_lens_places(&self, file: FileId, kernels: bool, limit: usize) -> Cancellable<Vec<TextRange>> {
        self.of_language(
            file,
            |context| code_lens::code_lens_places(&context, kernels, limit),
            |context| mlir::kernels::code_lens_places(&context, kernels, limit),
        )
    }

    /// What is known of the computation or the kernel whose name is at `offset`.
    pub fn code_lens(&self, file: FileId, offset: usize) -> Cancellable<Option<CodeLens>> {
        self.of_language(
            file,
            |context| code_lens::code_lens(&context, offset),
            |context| mlir::kernels::code_lens(&context, offset),
        )
    }

    /// Edits of white space that format what `range` touches.
    pub fn formatting(&self, file: FileId, range: TextRange) -> Cancellable<Vec<TextEdit>> {
        self.of_language(
            file,
            |context| formatting::formatting(&context, &range),
            |context| mlir::formatting::formatting(&context, &range),
        )
    }

    /// What to change when `typed` was just typed in front of `offset`.
    pub fn on_type_formatting(&self, file: FileId, offset: usize, typed: char) -> Cancellable<Vec<TextEdit>> {
        self.of_language(
            file,
            |context| formatting::on_type_formatting(&context, offset, typed),
            |_| Vec::new(),
        )
    }

    /// What can be done at `range`.
    pub fn code_actions(
        &self,
        file: FileId,
        range: TextRange,
        wanted: Wanted<'_>,
    ) -> Cancellable<Vec<CodeAction>> {
        self.of_language(
            file,
            |context| code_actions::code_actions(&context, &range, wanted),
            |context| mlir::code_actions::code_actions(&context, &range, wanted),
        )
    }

    /// Maps of one instruction, as the machine interface asks for them.
    pub fn indexing(
        &self,
        file: FileId,
        query: &IndexingQuery,
    ) -> Cancellable<Result<IndexingReply, QueryError>> {
        self.with_file(file, |context| indexing_queries::indexing(&context, query))
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
        self.with_file(file, |context| kernel_preview::default_kernel(&context))
    }

    /// The code of a kernel as text.
    pub fn kernel_preview(
        &self,
        file: FileId,
        query: &FusionQuery,
        emit: KernelLanguage,
    ) -> Cancellable<Result<KernelPreview, FusionError>> {
        self.with_file(file, |context| kernel_preview::kernel_preview(&context, query, emit))
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

    /// The arrays that a computation answers (without a name: the entry), or one of its instructions, as literals, from those
    /// of its parameters.
    pub fn evaluate(
        &self,
        file: FileId,
        computation: Option<&str>,
        instruction: Option<&str>,
        inputs: &[String],
    ) -> Cancellable<Result<Vec<String>, QueryError>> {
        self.with_file(file, |context| evaluate::evaluate(&context, computation, instruction, inputs))
    }

    /// The name of the instruction at `offset`, and its arrays as literals from those of the parameters of its computation.
    pub fn evaluate_at(
        &self,
        file: FileId,
        offset: usize,
        inputs: &[String],
    ) -> Cancellable<Option<Evaluated>> {
        self.with_file(file, |context| evaluate::evaluate_at(&context, offset, inputs))
    }

    /// Parameters that the instruction at `offset` depends on.
    pub fn evaluation_parameters(
        &self,
        file: FileId,
        offset: usize,
    ) -> Cancellable<Vec<EvaluationParameter>> {
        self.with_file(file, |context| evaluation_parameters::evaluation_parameters(&context, offset))
    }

    /// How computations become functions: `computation` alone, or each that a fusion calls. Instructions of the named
    /// opcodes open a function of their own.
    pub fn partition(
        &self,
        file: FileId,
        computation: Option<&str>,
        force_roots: &[String],
    ) -> Cancellable<Result<Vec<PartitionedComputation>, QueryError>> {
        self.with_file(file, |context| partition_queries::partition(&context, computation, force_roots))
    }

    /// The canonical text of the file, which must be without errors.
    pub fn print(&self, file: FileId, options: &PrintOptions) -> Cancellable<Result<String, TextTooLarge>> {
        self.with_file(file, |context| print_module::print_module(&context, options))
    }

    /// The same module in the other language: StableHLO as HLO, HLO as StableHLO.
    pub fn convert(&self, file: FileId) -> Cancellable<Conversion> {
        self.with_file(file, |context| convert::convert(&context))
    }

    /// Counts of the module.
    pub fn statistics(&self, file: FileId) -> Cancellable<FileStatistics> {
        self.of_language(
            file,
            |context| statistics::statistics(&context),
            |context| mlir::statistics::statistics(&context),
        )
    }

    /// The whole text with maps and findings written into it.
    pub fn annotate(&self, file: FileId, write: &mut dyn FnMut(&str)) -> Cancellable<()> {
        self.with_file(file, |context| annotate::annotate(&context, write))
    }

    /// The instruction called `name` (without `%`), as its offset.
    pub fn find_instruction(&self, file: FileId, name: &str) -> Cancellable<Option<usize>> {
        self.of_language(
            file,
            |context| context.find_instruction(None, name).map(|at| context.offset_of(at)),
            |context| context.find_value(name),
        )
    }

    /// As [`Self::with_file`], by the language of the file.
    fn of_language<T>(
        &self,
        file: FileId,
        hlo: impl FnOnce(FileContext<'_>) -> T,
        mlir: impl FnOnce(FileContext<'_>) -> T,
    ) -> Cancellable<T> {
        self.with_file(file, |context| if context.is_mlir() { mlir(context) } else { hlo(context) })
    }

    fn with_file<T>(&self, file: FileId, query: impl FnOnce(FileContext<'_>) -> T) -> Cancellable<T> {
        let view = self.views.get(&file).expect("the file is open");
        self.catch(|db| {
            view.parse_ahead(db);
            query(FileContext::new(db, view))
        })
    }

    fn catch<T>(&self, query: impl FnOnce(&Database) -> T) -> Cancellable<T> {
        db::Cancelled::catch(AssertUnwindSafe(|| query(&self.db))).map_err(|cancelled| match cancelled {
            db::Cancelled::Local => Cancelled::Local,
            _ => Cancelled::PendingWrite,
        })
    }
}
