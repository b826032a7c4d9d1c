//! "Show kernel": requests for kernel documents and their text.
//!
//! `hlo-analyzer/showKernel` (`textDocument`, `position`) returns the URIs of a kernel's tabs,
//! `hlo-analyzer/kernelContent` (`uri`) the text of one, `hlo-analyzer/kernelLines` (`uri`, `position` in the
//! HLO) and `hlo-analyzer/kernelSource` (`uri`, `line`) map between the two sides. A client that opens such a
//! URI with `textDocument/didOpen` is sent `hlo-analyzer/kernelChanged` (`uri`) when its text changes.

use std::ops::Range;
use std::sync::Arc;

use ide::{
    Analysis, Cancellable, FileId, FusionError, HoverConfig, KernelDocument, KernelInstruction, ShownKernel,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text::position::PositionEncoding;
use tower_lsp::LspServiceBuilder;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::{
    Diagnostic, DiagnosticSeverity, GotoDefinitionResponse, Hover, HoverContents, MarkupContent, MarkupKind,
    Position, TextDocumentIdentifier, TextDocumentPositionParams, Url,
};

use super::handlers::Handlers;
use super::kernel_shelf::KernelShelf;
use super::kernel_uri::{KernelUri, Tab};
use super::mailbox::Mailbox;
use super::read::{Route, Target, WhenEdited};
use super::snapshot::{Session, View};
use crate::assembler::{Assembled, Assembler, note, with_sass};

static SHOW: Route = Route { method: "hlo-analyzer/showKernel", when_edited: WhenEdited::Retry(8) };
static CONTENT: Route = Route { method: "hlo-analyzer/kernelContent", when_edited: WhenEdited::Retry(32) };
static LINES: Route = Route { method: "hlo-analyzer/kernelLines", when_edited: WhenEdited::Retry(8) };
static SOURCE: Route = Route { method: "hlo-analyzer/kernelSource", when_edited: WhenEdited::Retry(8) };
static DEFINITION: Route = Route { method: "textDocument/definition", when_edited: WhenEdited::Retry(8) };
static HOVER: Route = Route { method: "textDocument/hover", when_edited: WhenEdited::Retry(8) };

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers> {
    service
        .custom_method(SHOW.method, Handlers::show_kernel)
        .custom_method(CONTENT.method, Handlers::kernel_content)
        .custom_method(LINES.method, Handlers::kernel_lines)
        .custom_method(SOURCE.method, Handlers::kernel_source)
}

/// The text of a kernel that the client shows has changed.
pub(super) enum KernelChanged {}

impl Notification for KernelChanged {
    type Params = KernelParams;
    const METHOD: &'static str = "hlo-analyzer/kernelChanged";
}

#[derive(Serialize, Deserialize)]
pub(super) struct KernelParams {
    pub(super) uri: Url,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShowParams {
    text_document: TextDocumentIdentifier,
    position: Position,
}

#[derive(Deserialize)]
struct LinesParams {
    uri: Url,
    /// A position in the HLO.
    position: Position,
}

#[derive(Deserialize)]
struct SourceParams {
    uri: Url,
    /// A line of the kernel's document, from 0.
    line: usize,
}

/// The current content of a tab.
pub(super) struct Rendered {
    pub(super) text: String,
    /// The number of lines above the body.
    first: usize,
    /// The document whose body the tab shows.
    document: KernelDocument,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The context for rendering a tab.
pub(super) struct Maker<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) file: FileId,
    pub(super) shelf: &'a Arc<KernelShelf>,
    pub(super) mailbox: &'a Mailbox,
}

impl Maker<'_> {
    pub(super) fn render(&self, uri: &Url, kernel: &KernelUri) -> Cancellable<Rendered> {
        let mut document = self.document(kernel, kernel.tab)?;
        if let Some(last) = self.shelf.last_with_code(uri, &document) {
            let reason = document.head.pop().unwrap_or_default();
            document = last.without_source();
            document.head.push(format!("not up to date: {reason}"));
            let (text, first) = document.text(&[]);
            return Ok(Rendered { text, first, document, diagnostics: Vec::new() });
        }
        let assembler = self.shelf.assembler().filter(|_| document.code().is_some());
        let assembled = match (&assembler, kernel.tab) {
            (None, _) | (_, Tab::About) => None,
            (Some(_), Tab::Ptx | Tab::Sass) => self.shelf.assembled(&document.body, self.mailbox),
            (Some(_), Tab::Mlir | Tab::Passes) => {
                self.shelf.assembled(&self.document(kernel, Tab::Ptx)?.body, self.mailbox)
            }
        };
        if kernel.tab == Tab::Sass && document.code().is_some() {
            document = disassembled(document, assembler.as_ref(), assembled.as_deref());
        }
        // The note itself is a line of the head.
        let first = document.head.len() + 2;
        let notes: Vec<String> = assembled.as_deref().map(|said| note(said, first)).into_iter().collect();
        let diagnostics = match (kernel.tab, assembled.as_deref()) {
            (Tab::Ptx, Some(assembled)) => errors(assembled, &document, first),
            _ => Vec::new(),
        };
        let (text, first) = document.text(&notes);
        Ok(Rendered { text, first, document, diagnostics })
    }

    fn document(&self, kernel: &KernelUri, tab: Tab) -> Cancellable<KernelDocument> {
        let found = self.analysis.kernel_document(self.file, &kernel.query(), tab.language())?;
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
            range: tower_lsp::lsp_types::Range::new(Position::new(line, 0), Position::new(line, width)),
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
    document: KernelDocument,
    assembler: Option<&Assembler>,
    assembled: Option<&Assembled>,
) -> KernelDocument {
    let why = match (assembler, assembled) {
        (Some(_), Some(Assembled { sass: Some(sass), .. })) => return with_sass(document, sass),
        (None, _) => "no SASS: ptxas was not found",
        (Some(assembler), _) if !assembler.disassembles() => "no SASS: nvdisasm was not found",
        (Some(_), None) => "ptxas is running",
        (Some(_), Some(_)) => "no SASS: see the PTX",
    };
    let mut document = document.without_body();
    document.head.push(why.to_owned());
    document
}

/// The tabs of a kernel that the available programs can produce.
pub(super) fn tabs(session: &Session, file: &Url, kernel: &ShownKernel) -> Vec<KernelUri> {
    let has_sass = session.kernels.assembler().is_some_and(|assembler| assembler.disassembles());
    let tabs: &[Tab] = match (kernel.has_code, has_sass) {
        (true, true) => &[Tab::Mlir, Tab::Ptx, Tab::Sass, Tab::Passes],
        (true, false) => &[Tab::Mlir, Tab::Ptx, Tab::Passes],
        (false, _) => &[Tab::About],
    };
    let tab = |&tab: &Tab| KernelUri {
        file: file.clone(),
        computation: kernel.computation.clone(),
        instruction: kernel.instruction.clone(),
        tab,
    };
    tabs.iter().map(tab).collect()
}

impl Handlers {
    async fn show_kernel(&self, params: ShowParams) -> Result<Value> {
        self.ask(
            &SHOW,
            params.text_document.uri,
            Target::At(params.position),
            |analysis, view| analysis.shown_kernel(view.file, view.span.start),
            |view, kernel| {
                let Some(kernel) = kernel else { return Value::Null };
                let tabs = tabs(&view.session, &view.uri, &kernel);
                let tabs = tabs.iter().map(|tab| {
                    json!({"tab": tab.tab, "title": tab.tab.title(), "uri": tab.uri(), "name": tab.file_name()})
                });
                json!({
                    "instruction": kernel.instruction,
                    "computation": kernel.computation,
                    "range": view.range(kernel.range.clone()),
                    "tabs": tabs.collect::<Value>(),
                })
            },
        )
        .await
    }

    /// Requests something about a tab. `more` runs on the same revision.
    fn ask_kernel<V: Send + 'static, T: Default + Send + 'static>(
        &self,
        route: &'static Route,
        uri: Url,
        target: Target,
        more: impl Fn(&Analysis, &View, &KernelUri, &Rendered) -> Cancellable<V> + Send + 'static,
        convert: impl FnOnce(&View, Rendered, V) -> T + Send + 'static,
    ) -> impl Future<Output = Result<T>> {
        let asked = KernelUri::parse(&uri).map(|kernel| {
            let mailbox = self.mailbox.clone();
            self.ask(
                route,
                kernel.file.clone(),
                target,
                move |analysis, view| {
                    let shelf = &view.session.kernels;
                    let maker = Maker { analysis, file: view.file, shelf, mailbox: &mailbox };
                    let rendered = maker.render(&uri, &kernel)?;
                    let value = more(analysis, view, &kernel, &rendered)?;
                    Ok((rendered, value))
                },
                |view, (rendered, value)| convert(view, rendered, value),
            )
        });
        async move {
            match asked {
                Some(asked) => asked.await,
                None => Err(Error::invalid_params("this is no URI of a kernel")),
            }
        }
    }

    async fn kernel_content(&self, params: KernelParams) -> Result<Value> {
        self.ask_kernel(
            &CONTENT,
            params.uri,
            Target::Document,
            |_, _, _, _| Ok(()),
            |_, rendered, ()| {
                let lines = (0..rendered.document.lines.len()).filter_map(|line| {
                    let instruction = &rendered.document.instruction_of(line)?.name;
                    Some(json!({"line": rendered.first + line + 1, "instruction": instruction}))
                });
                json!({
                    "source_map": lines.collect::<Value>(),
                    "incomplete": rendered.document.is_incomplete(),
                    "text": rendered.text,
                })
            },
        )
        .await
    }

    async fn kernel_lines(&self, params: LinesParams) -> Result<Value> {
        self.ask_kernel(
            &LINES,
            params.uri,
            Target::At(params.position),
            |analysis, view, kernel, rendered| {
                analysis.kernel_lines(view.file, &kernel.query(), &rendered.document, view.span.start)
            },
            |_, rendered, runs| json!({"lines": shifted(&runs, rendered.first)}),
        )
        .await
    }

    async fn kernel_source(&self, params: SourceParams) -> Result<Value> {
        let line = params.line;
        self.ask_kernel(
            &SOURCE,
            params.uri,
            Target::Document,
            |_, _, _, _| Ok(()),
            move |view, rendered, ()| {
                let document = &rendered.document;
                let Some(line) = line.checked_sub(rendered.first) else { return Value::Null };
                let Some(instruction) = document.instruction_of(line) else { return Value::Null };
                let runs =
                    document.lines.get(line).copied().flatten().map(|place| document.lines_of(&[place]));
                let place = instruction.at.as_ref().map(|(whole, name)| {
                    json!({"range": view.range(whole.clone()), "selectionRange": view.range(name.clone())})
                });
                json!({
                    "instruction": instruction.name,
                    "at": place,
                    "uri": view.uri,
                    "lines": shifted(&runs.unwrap_or_default(), rendered.first),
                })
            },
        )
        .await
    }

    /// The instruction from which a line of a kernel originates.
    pub(super) fn definition_in_kernel(
        &self,
        at: TextDocumentPositionParams,
    ) -> impl Future<Output = Result<Option<GotoDefinitionResponse>>> {
        let line = at.position.line as usize;
        self.ask_kernel(
            &DEFINITION,
            at.text_document.uri,
            Target::Document,
            |_, _, _, _| Ok(()),
            move |view, rendered, ()| {
                let line = line.checked_sub(rendered.first)?;
                let KernelInstruction { at: Some((_, name)), .. } = rendered.document.instruction_of(line)?
                else {
                    return None;
                };
                Some(GotoDefinitionResponse::Scalar(view.location(name.clone())))
            },
        )
    }

    pub(super) fn hover_in_kernel(
        &self,
        at: TextDocumentPositionParams,
    ) -> impl Future<Output = Result<Option<Hover>>> {
        let position = at.position;
        self.ask_kernel(
            &HOVER,
            at.text_document.uri,
            Target::Document,
            move |analysis, view, kernel, rendered| {
                let Some(line) = (position.line as usize).checked_sub(rendered.first) else {
                    return Ok(None);
                };
                let config = HoverConfig { readable_variables: view.session.settings.readable_variables };
                let text = rendered.document.body.lines().nth(line).unwrap_or_default();
                let column = byte_column(text, position.character, view.encoding());
                let (query, document) = (kernel.query(), &rendered.document);
                analysis.kernel_document_hover(view.file, &query, document, line, column, &config)
            },
            |_, _, markdown| {
                let value = markdown?;
                let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
                Some(Hover { contents, range: None })
            },
        )
    }
}

/// Line ranges of the document as first and last line, from 0.
fn shifted(runs: &[Range<usize>], first: usize) -> Value {
    runs.iter().map(|run| json!({"first": first + run.start, "last": first + run.end - 1})).collect()
}

fn byte_column(line: &str, character: u32, encoding: PositionEncoding) -> usize {
    let mut left = character as usize;
    for (at, c) in line.char_indices() {
        let width = match encoding {
            PositionEncoding::Utf8 => c.len_utf8(),
            PositionEncoding::Utf16 => c.len_utf16(),
            PositionEncoding::Utf32 => 1,
        };
        if left < width {
            return at;
        }
        left -= width;
    }
    line.len()
}
