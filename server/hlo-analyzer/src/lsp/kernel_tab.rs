//! The tabs of a kernel's document: their URIs and how they are rendered.
//!
//! A client that opens the URI of a tab with `textDocument/didOpen` is sent `hlo-analyzer/kernelChanged` when its
//! text changes; see `jobs.rs`.

use std::ops::Range;
use std::sync::Arc;

use ide::{Cancellable, FusionError, FusionQuery, KernelDocument, ShownKernel};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::{self, Diagnostic, DiagnosticSeverity, Position, Url};

use super::kernel_uri::{KernelUri, Tab};
use super::read::Target;
use super::requests::Subject;
use super::snapshot::{Session, Snapshot};
use crate::assembler::{Assembled, Assembler, note, note_beside, with_sass};

/// A tab by its URI, which is parsed with the parameters of a request.
#[derive(Deserialize)]
#[serde(try_from = "Url")]
pub(super) struct KernelTab {
    pub(super) uri: Url,
    pub(super) kernel: KernelUri,
}

impl TryFrom<Url> for KernelTab {
    type Error = &'static str;

    fn try_from(uri: Url) -> Result<KernelTab, &'static str> {
        match KernelUri::parse(&uri) {
            Some(kernel) => Ok(KernelTab { uri, kernel }),
            None => Err("this is no URI of a kernel"),
        }
    }
}

impl From<KernelUri> for KernelTab {
    fn from(kernel: KernelUri) -> KernelTab {
        KernelTab { uri: kernel.uri(), kernel }
    }
}

impl KernelTab {
    /// A part of the document whose kernel the tab shows.
    pub(super) fn subject(&self, target: Target) -> Subject {
        Subject::Part(self.kernel.file.clone(), target)
    }
}

/// The content of a tab at one revision. Holds no part of the database.
pub(super) struct Rendered {
    pub(super) text: String,
    /// The number of lines above the body.
    pub(super) first: usize,
    /// The document whose body the tab shows.
    pub(super) document: Arc<KernelDocument>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Rendered {
    /// Line ranges of the document as first and last line of the tab, from 0.
    pub(super) fn shifted(&self, runs: &[Range<usize>]) -> Value {
        let shifted =
            |run: &Range<usize>| json!({"first": self.first + run.start, "last": self.first + run.end - 1});
        runs.iter().map(shifted).collect()
    }
}

impl Snapshot {
    /// A tab of a kernel of this snapshot's document. All reads of a revision share it.
    pub(super) fn render(&self, tab: &KernelTab) -> Cancellable<Arc<Rendered>> {
        let shelf = &self.view.session.kernels;
        shelf.rendered(&tab.uri, self.analysis.revision(), || self.render_anew(tab))
    }

    fn render_anew(&self, KernelTab { uri, kernel }: &KernelTab) -> Cancellable<Rendered> {
        let shelf = &self.view.session.kernels;
        let mut document = Arc::new(self.kernel_document(kernel, kernel.tab)?);
        if let Some(last) = shelf.last_with_code(uri, &document) {
            let reason = document.head.last().map_or("", String::as_str);
            let mut document = last.without_source();
            document.head.push(format!("not up to date: {reason}"));
            let (text, first) = document.text(&[]);
            return Ok(Rendered { text, first, document: Arc::new(document), diagnostics: Vec::new() });
        }
        let assembler = shelf.assembler().filter(|_| document.code().is_some());
        let assembled = |ptx: &KernelDocument| shelf.assembled(&ptx.body, &self.view.session.mailbox);
        let assembled = match (&assembler, kernel.tab) {
            (None, _) | (_, Tab::About | Tab::Tiles | Tab::Triton | Tab::Tilings) => None,
            (Some(_), Tab::Ptx | Tab::Sass | Tab::Xla) => assembled(&document),
            (Some(_), Tab::Mlir | Tab::Passes) => assembled(&self.kernel_document(kernel, Tab::Ptx)?),
        };
        if kernel.tab == Tab::Sass && document.code().is_some() {
            document = Arc::new(disassembled(&document, assembler.as_ref(), assembled.as_deref()));
        }
        // The note itself is a line of the head.
        let first = document.head.len() + 2;
        let ours = match (&assembled, kernel.tab) {
            (Some(_), Tab::Xla) => self.kernel_document(kernel, Tab::Ptx)?,
            _ => KernelDocument::without_code(Vec::new(), FusionError::NotFound(String::new())),
        };
        let ours = ours.code().and_then(|_| shelf.assembled(&ours.body, &self.view.session.mailbox));
        let said = assembled.as_deref().map(|said| match &ours {
            Some(ours) => note_beside(said, ours, first),
            None => note(said, first),
        });
        let notes: Vec<String> = said.into_iter().collect();
        let diagnostics = match (kernel.tab, assembled.as_deref()) {
            (Tab::Ptx | Tab::Xla, Some(assembled)) => errors(assembled, &document, first),
            _ => Vec::new(),
        };
        let (text, first) = document.text(&notes);
        Ok(Rendered { text, first, document, diagnostics })
    }

    fn kernel_document(&self, kernel: &KernelUri, tab: Tab) -> Cancellable<KernelDocument> {
        let (file, query) = (self.view.file, kernel.query());
        let found = match tab.language() {
            Some(language) => self.analysis.kernel_document(file, &query, language)?,
            None => self.analysis.xla_kernel_document(file, &query)?,
        };
        Ok(found.unwrap_or_else(|error| {
            let (FusionError::NotFound(why) | FusionError::NotEmitted(why)) = &error;
            let head = vec![format!("%{}", kernel.instruction), format!("no kernel: {why}")];
            KernelDocument::without_code(head, error)
        }))
    }
}

fn errors(assembled: &Assembled, document: &KernelDocument, first: usize) -> Vec<Diagnostic> {
    let lines: Vec<&str> = document.body.lines().collect();
    let errors = assembled.errors.iter().map(|error| {
        let line = u32::try_from(first + error.line).unwrap_or(u32::MAX);
        let width = lines.get(error.line).map_or(0, |line| line.len() as u32);
        Diagnostic {
            range: lsp_types::Range::new(Position::new(line, 0), Position::new(line, width)),
            severity: Some(DiagnosticSeverity::ERROR),
            source: Some("ptxas".to_owned()),
            message: error.message.clone(),
            ..Default::default()
        }
    });
    errors.collect()
}

/// The document with SASS as its body, or the reason why there is none.
fn disassembled(
    document: &KernelDocument,
    assembler: Option<&Assembler>,
    assembled: Option<&Assembled>,
) -> KernelDocument {
    let why = match (assembler, assembled) {
        (Some(_), Some(Assembled { sass: Some(sass), .. })) => return with_sass(document.clone(), sass),
        (None, _) => "no SASS: ptxas was not found",
        (Some(assembler), _) if !assembler.disassembles() => "no SASS: nvdisasm was not found",
        (Some(_), None) => "ptxas is running",
        (Some(_), Some(_)) => "no SASS: see the PTX",
    };
    let mut document = document.clone().without_body();
    document.head.push(why.to_owned());
    document
}

/// The tabs of a kernel that the available programs can produce. `has_xla`: XLA's own code of it was dumped.
pub(super) fn tabs(session: &Session, file: &Url, kernel: &ShownKernel, has_xla: bool) -> Vec<KernelUri> {
    let has_sass = session.kernels.assembler().is_some_and(|assembler| assembler.disassembles());
    let tabs: &[Tab] = match (kernel.has_code, has_sass) {
        (true, true) => &[Tab::Mlir, Tab::Ptx, Tab::Sass, Tab::Passes],
        (true, false) => &[Tab::Mlir, Tab::Ptx, Tab::Passes],
        (false, _) if kernel.has_tiles => &[Tab::Tiles, Tab::Triton, Tab::Tilings, Tab::About],
        (false, _) => &[Tab::About],
    };
    let tab = |&tab: &Tab| KernelUri {
        file: file.clone(),
        computation: kernel.computation.clone(),
        instruction: kernel.instruction.clone(),
        tab,
    };
    tabs.iter().chain(has_xla.then_some(&Tab::Xla)).map(tab).collect()
}

impl Snapshot {
    /// Whether the file's dump folder has XLA's own code of a kernel.
    pub(super) fn has_xla_kernel(&self, kernel: &ShownKernel) -> Cancellable<bool> {
        let (instruction, computation) = (kernel.instruction.clone(), Some(kernel.computation.clone()));
        self.analysis.has_xla_kernel(self.view.file, &FusionQuery { instruction, computation })
    }
}
