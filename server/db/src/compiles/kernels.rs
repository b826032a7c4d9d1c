//! XLA's own kernels: how a compile launches them, and where their texts are.

use std::ops::Range;
use std::sync::Arc;

use compile::{ArtefactKind, LaunchedKernel, Thunk, ThunkOrigin, function_name};
use rustc_hash::FxHashMap;

use crate::compiles::{DumpedCompile, DumpedFile, dumped_text};

/// A kernel that XLA made for an instruction of the scheduled module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XlaKernel {
    /// The name of its function. Instructions with equal code share a kernel.
    pub name: String,
    /// How the instruction launches it; `None` if the folder has no thunk sequence, or none with this instruction.
    pub launch: Option<LaunchedKernel>,
    /// Its code, by file.
    pub texts: Vec<KernelText>,
}

/// The part of a file that is the code of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelText {
    pub file: DumpedFile,
    pub kind: ArtefactKind,
    /// In bytes of the file's text.
    pub range: Range<usize>,
    /// Whether the text has the end of the kernel.
    pub is_complete: bool,
}

/// The thunks of a compile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileThunks {
    /// The file that has them.
    pub file: Option<DumpedFile>,
    /// In the order of the file. Ranges are in its text.
    pub thunks: Vec<Thunk>,
    /// Per instruction of the scheduled module, its thunks: indices into `thunks`, in order.
    pub of_instruction: FxHashMap<String, Vec<usize>>,
}

impl XlaKernel {
    /// Its first text of a kind.
    pub fn text(&self, kind: &ArtefactKind) -> Option<&KernelText> {
        self.texts.iter().find(|text| text.kind == *kind)
    }

    /// Its PTX.
    pub fn ptx(&self) -> Option<&KernelText> {
        self.text(&ArtefactKind::Ptx)
    }
}

impl KernelText {
    /// The code of the kernel, without the rest of the file.
    ///
    /// # Errors
    /// Why the file cannot be read, in words.
    pub fn read(&self, db: &dyn salsa::Database) -> Result<String, String> {
        let text = dumped_text(db, self.file)?;
        let changing = || format!("{} is changing: list the folder again", self.file.path(db));
        text.get(self.range.clone()).map(str::to_owned).ok_or_else(changing)
    }
}

/// The kernels that XLA made for an instruction of the scheduled module, in the order of their launches: several for sorts and some
/// scatters, none for what launches no kernel. Reads the thunks, and all PTX and LLVM IR of the compile once; only ranges are kept.
pub fn artefacts_of_kernel(
    db: &dyn salsa::Database,
    compile: DumpedCompile,
    instruction: &str,
) -> Vec<XlaKernel> {
    let thunks = compile_thunks(db, compile);
    let functions = kernel_functions(db, compile);
    let mut kernels: Vec<XlaKernel> = Vec::new();
    for &thunk in thunks.of_instruction.get(instruction).into_iter().flatten() {
        let Some(launch) = &thunks.thunks[thunk].kernel else { continue };
        if kernels.iter().all(|kernel| kernel.name != launch.name) {
            let (name, launch) = (launch.name.clone(), Some(launch.clone()));
            let texts = functions.get(&name).cloned().unwrap_or_default();
            kernels.push(XlaKernel { name, launch, texts });
        }
    }
    let own = own_texts(db, compile, instruction);
    if kernels.is_empty() {
        // Without metadata only the names tell.
        let name = function_name(instruction);
        let texts = functions.get(&name).cloned().unwrap_or_default();
        let mut launched = thunks.thunks.iter().filter_map(|thunk| thunk.kernel.as_ref());
        let launch = launched.find(|launch| thunks.of_instruction.is_empty() && launch.name == name).cloned();
        if launch.is_some() || !texts.is_empty() || !own.is_empty() {
            kernels.push(XlaKernel { name, launch, texts });
        }
    }
    if let Some(first) = kernels.first_mut() {
        first.texts.extend(own);
    }
    kernels
}

/// The thunks of a compile; empty without a thunk sequence. The sequence after the thunk passes is what is executed.
#[salsa::tracked(returns(clone))]
pub fn compile_thunks(db: &dyn salsa::Database, compile: DumpedCompile) -> Arc<CompileThunks> {
    let read = |kind: ArtefactKind| {
        let file = compile.artefacts_of(db, kind).next()?;
        Some((file, dumped_text(db, file).ok()?))
    };
    let sequence = |is_after_thunk_passes| {
        let (file, text) = read(ArtefactKind::ThunkSequence { is_after_thunk_passes })?;
        Some((file, compile::thunks(&text))).filter(|(_, thunks)| !thunks.is_empty())
    };
    let Some((file, thunks)) = sequence(true).or_else(|| sequence(false)) else { return Arc::default() };
    let origins: Vec<ThunkOrigin> = match read(ArtefactKind::ThunkMetadata) {
        Some((_, text)) => compile::thunk_origins(&text),
        None => Vec::new(),
    };
    let of_instruction = compile::thunks_of_instructions(&thunks, &origins);
    let of_instruction = of_instruction.into_iter().map(|(name, thunks)| (name.to_owned(), thunks));
    Arc::new(CompileThunks { file: Some(file), of_instruction: of_instruction.collect(), thunks })
}

/// Per function, its places in the PTX and the LLVM IR of the compile.
#[salsa::tracked(returns(clone))]
fn kernel_functions(
    db: &dyn salsa::Database,
    compile: DumpedCompile,
) -> Arc<FxHashMap<String, Vec<KernelText>>> {
    let mut found: FxHashMap<String, Vec<KernelText>> = FxHashMap::default();
    for (artefact, file) in compile.described_artefacts(db) {
        let kind = &artefact.kind;
        let functions_of = match kind {
            ArtefactKind::Ptx => compile::ptx_kernels,
            ArtefactKind::LlvmIr { .. } => compile::llvm_functions,
            _ => continue,
        };
        let Ok(text) = dumped_text(db, file) else { continue };
        for function in functions_of(&text) {
            cancel::tick();
            let compile::KernelFunction { name, range, is_complete } = function;
            let text = KernelText { file, kind: kind.clone(), range, is_complete };
            found.entry(name.to_owned()).or_default().push(text);
        }
    }
    Arc::new(found)
}

/// The files that are of one instruction as a whole, such as Triton's IR.
fn own_texts(db: &dyn salsa::Database, compile: DumpedCompile, instruction: &str) -> Vec<KernelText> {
    let own =
        compile.described_artefacts(db).filter(|(artefact, _)| artefact.kind.kernel() == Some(instruction));
    own.filter_map(|(artefact, file)| {
        let range = 0..dumped_text(db, file).ok()?.len();
        Some(KernelText { file, kind: artefact.kind.clone(), range, is_complete: true })
    })
    .collect()
}
