//! The client's capabilities, and the server's capabilities in return.

use text::position::PositionEncoding;
use tower_lsp::lsp_types::{
    CallHierarchyServerCapability, ClientCapabilities, CodeActionKind, CodeActionOptions,
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, DeclarationCapability, DiagnosticTag,
    DocumentLinkOptions, DocumentOnTypeFormattingOptions, ExecuteCommandOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, ImplementationProviderCapability,
    InitializeResult, LinkedEditingRangeServerCapabilities, MarkupKind, OneOf, PositionEncodingKind,
    RenameOptions, ResourceOperationKind, SaveOptions, SelectionRangeProviderCapability, ServerCapabilities,
    ServerInfo, SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TypeDefinitionProviderCapability, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};

use super::newer_protocol::NEWER;
use super::{diagnostic_reports, kernel_uri, preview_uri, semantic_tokens};

/// The client command that shows a list of locations. Clients that support it list it in
/// `experimental.commands`.
pub(super) const SHOW_REFERENCES: &str = "hlo-analyzer.showReferences";

/// The client command that draws a kernel's memory access pattern; also in `experimental.commands`.
pub(super) const SHOW_ACCESS_PATTERN: &str = "hlo-analyzer.showAccessPattern";

/// The client command that shows a kernel beside the HLO and keeps it up to date; also in
/// `experimental.commands`.
pub(super) const SHOW_KERNEL: &str = "hlo-analyzer.showKernel";

/// The client command that shows a module after passes of XLA beside its text and keeps it up to date; also in
/// `experimental.commands`.
pub(super) const SHOW_PREVIEW: &str = "hlo-analyzer.showPreview";

/// The client command that asks for parameters and shows the value of an instruction; also in
/// `experimental.commands`.
pub(super) const EVALUATE: &str = "hlo-analyzer.evaluateInstruction";

/// Switches a warning off. A client that lists it in `experimental.commands` stores the choice in its
/// settings. For other clients it is a server command, whose effect lasts until the server exits.
pub(super) const DISABLE_WARNING: &str = "hlo-analyzer.disableWarning";

/// The notification that the compiles of a dump folder have changed. Clients that support it list it in
/// `experimental.notifications`.
pub(super) const COMPILES_CHANGED: &str = "hlo-analyzer/compilesChanged";

/// Compiles a module with the XLA of a local Python. A client that lists it in `experimental.commands` sends the request
/// `hlo-analyzer/compileWithXla` instead.
pub(super) const COMPILE: &str = "hlo-analyzer.compileWithXla";

/// The kind of actions that only display something. Not `source`, which VS Code offers for whole files only.
pub(super) const SHOW: &str = "show";

/// The server command for all other clients: it writes the kernel to files.
pub(super) const OPEN_KERNEL: &str = "hlo-analyzer.openKernel";

/// The client capabilities that affect responses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClientProfile {
    pub(super) encoding: PositionEncoding,
    pub(super) markdown_hover: bool,
    pub(super) definition_links: bool,
    pub(super) hierarchical_symbols: bool,
    pub(super) related_information: bool,
    pub(super) inlay_hint_refresh: bool,
    pub(super) code_lens_refresh: bool,
    /// Supports the `unnecessary` diagnostic tag, which fades the text.
    pub(super) unnecessary_tag: bool,
    /// Supports snippets in completions.
    pub(super) snippets: bool,
    /// Supports Markdown in the documentation of completions and signatures.
    pub(super) markdown_completion: bool,
    /// Supports signature parameters given by their offsets in the label.
    pub(super) label_offsets: bool,
    pub(super) prepares_rename: bool,
    /// The largest number of folding ranges, if the client sets a limit.
    pub(super) fold_limit: Option<u32>,
    /// Supports [`SHOW_REFERENCES`].
    pub(super) shows_references: bool,
    /// Supports [`SHOW_ACCESS_PATTERN`].
    pub(super) shows_access_patterns: bool,
    /// Supports [`SHOW_KERNEL`].
    pub(super) shows_kernels: bool,
    /// Supports [`SHOW_PREVIEW`].
    pub(super) shows_previews: bool,
    /// Supports [`EVALUATE`].
    pub(super) evaluates: bool,
    /// Supports [`DISABLE_WARNING`].
    pub(super) disables_warnings: bool,
    /// Supports [`COMPILE`].
    pub(super) compiles: bool,
    /// Supports a link to documentation in a diagnostic.
    pub(super) code_description: bool,
    /// Supports `window/showDocument`.
    pub(super) show_document: bool,
    /// Supports code action literals rather than commands only.
    pub(super) code_action_literals: bool,
    /// Supports resolving the edit of a code action.
    pub(super) resolve_code_actions: bool,
    /// Supports versioned document edits.
    pub(super) document_changes: bool,
    /// Shows what an edit is annotated with, and asks for confirmation where that says so.
    pub(super) annotates_edits: bool,
    /// Supports file creation in workspace edits.
    pub(super) create_files: bool,
    /// Reports changes of files for which the server registers.
    pub(super) watches_files: bool,
    /// The same for files outside of the folders that are open in the editor.
    pub(super) watches_any_folder: bool,
    /// Supports [`COMPILES_CHANGED`].
    pub(super) follows_compiles: bool,
    /// Asks for diagnostics, and for them again when the server says so. Others are sent them, also those that only ask, as Neovim
    /// 0.10 does: they would not see what a setting changes.
    pub(super) pulls_diagnostics: bool,
    /// Shows the progress of the server's work.
    pub(super) shows_progress: bool,
    /// Can be asked for its settings.
    pub(super) has_configuration: bool,
    /// Lets the server register for changes of its settings.
    pub(super) registers_configuration: bool,
    /// Shows documents whose text the server has (`workspace/textDocumentContent` of LSP 3.18).
    pub(super) asks_for_content: bool,
}

/// Whether a list in `experimental` has a name.
fn is_listed(client: &ClientCapabilities, list: &str, name: &str) -> bool {
    let experimental = client.experimental.as_ref();
    let names = experimental.and_then(|it| it.get(list)?.as_array());
    names.is_some_and(|names| names.iter().any(|known| known == name))
}

/// A member for which lsp-types has no field.
fn newer<'a>(client: &'a ClientCapabilities, member: &str) -> Option<&'a serde_json::Value> {
    client.experimental.as_ref()?.get(NEWER)?.get(member).filter(|value| !value.is_null())
}

fn has_command(client: &ClientCapabilities, name: &str) -> bool {
    is_listed(client, "commands", name)
}

impl ClientProfile {
    pub(super) fn new(client: &ClientCapabilities) -> Self {
        let document = client.text_document.as_ref();
        let actions = document.and_then(|it| it.code_action.as_ref());
        let edits = client.workspace.as_ref().and_then(|it| it.workspace_edit.as_ref());
        let hover_formats = document.and_then(|it| it.hover.as_ref()?.content_format.as_ref());
        let completion = document.and_then(|it| it.completion.as_ref()?.completion_item.as_ref());
        let signature = document.and_then(|it| it.signature_help.as_ref()?.signature_information.as_ref());
        let parameter = signature.and_then(|it| it.parameter_information.as_ref());
        let workspace = client.workspace.as_ref();
        let watched = workspace.and_then(|it| it.did_change_watched_files.as_ref());
        Self {
            encoding: negotiate(client),
            markdown_hover: hover_formats.is_some_and(|formats| formats.contains(&MarkupKind::Markdown)),
            definition_links: document
                .and_then(|it| it.definition.as_ref()?.link_support)
                .unwrap_or_default(),
            hierarchical_symbols: document
                .and_then(|it| it.document_symbol.as_ref()?.hierarchical_document_symbol_support)
                .unwrap_or_default(),
            related_information: document
                .and_then(|it| it.publish_diagnostics.as_ref()?.related_information)
                .unwrap_or_default(),
            prepares_rename: document.and_then(|it| it.rename.as_ref()?.prepare_support).unwrap_or_default(),
            fold_limit: document.and_then(|it| it.folding_range.as_ref()?.range_limit),
            shows_references: has_command(client, SHOW_REFERENCES),
            shows_access_patterns: has_command(client, SHOW_ACCESS_PATTERN),
            shows_kernels: has_command(client, SHOW_KERNEL),
            shows_previews: has_command(client, SHOW_PREVIEW),
            evaluates: has_command(client, EVALUATE),
            disables_warnings: has_command(client, DISABLE_WARNING),
            compiles: has_command(client, COMPILE),
            code_description: document
                .and_then(|it| it.publish_diagnostics.as_ref()?.code_description_support)
                .unwrap_or_default(),
            show_document: client
                .window
                .as_ref()
                .and_then(|it| it.show_document.as_ref())
                .is_some_and(|it| it.support),
            inlay_hint_refresh: client
                .workspace
                .as_ref()
                .and_then(|it| it.inlay_hint.as_ref()?.refresh_support)
                .unwrap_or_default(),
            code_lens_refresh: client
                .workspace
                .as_ref()
                .and_then(|it| it.code_lens.as_ref()?.refresh_support)
                .unwrap_or_default(),
            unnecessary_tag: document
                .and_then(|it| it.publish_diagnostics.as_ref()?.tag_support.as_ref())
                .is_some_and(|tags| tags.value_set.contains(&DiagnosticTag::UNNECESSARY)),
            snippets: completion.and_then(|it| it.snippet_support).unwrap_or_default(),
            markdown_completion: completion
                .and_then(|it| it.documentation_format.as_deref())
                .is_some_and(|formats| formats.contains(&MarkupKind::Markdown)),
            label_offsets: parameter.and_then(|it| it.label_offset_support).unwrap_or_default(),
            code_action_literals: actions.is_some_and(|it| it.code_action_literal_support.is_some()),
            resolve_code_actions: actions.is_some_and(|it| {
                let resolved = it.resolve_support.as_ref().map(|it| it.properties.as_slice());
                it.data_support.unwrap_or_default()
                    && resolved.unwrap_or_default().iter().any(|property| property == "edit")
            }),
            document_changes: edits.and_then(|it| it.document_changes).unwrap_or_default(),
            annotates_edits: edits.is_some_and(|it| it.change_annotation_support.is_some()),
            create_files: edits
                .and_then(|it| it.resource_operations.as_ref())
                .is_some_and(|operations| operations.contains(&ResourceOperationKind::Create)),
            watches_files: watched.and_then(|it| it.dynamic_registration).unwrap_or_default(),
            watches_any_folder: watched.and_then(|it| it.relative_pattern_support).unwrap_or_default(),
            follows_compiles: is_listed(client, "notifications", COMPILES_CHANGED),
            pulls_diagnostics: document.is_some_and(|it| it.diagnostic.is_some())
                && newer(client, "diagnostics")
                    .and_then(|it| it.get("refreshSupport")?.as_bool())
                    .unwrap_or_default(),
            shows_progress: client.window.as_ref().and_then(|it| it.work_done_progress).unwrap_or_default(),
            has_configuration: workspace.and_then(|it| it.configuration).unwrap_or_default(),
            registers_configuration: workspace
                .and_then(|it| it.did_change_configuration.as_ref()?.dynamic_registration)
                .unwrap_or_default(),
            asks_for_content: newer(client, "textDocumentContent").is_some(),
        }
    }

    /// The command that shows a kernel in this client, if it supports one.
    pub(super) fn kernel_command(&self) -> Option<&'static str> {
        match (self.shows_kernels, self.show_document) {
            (true, _) => Some(SHOW_KERNEL),
            (false, true) => Some(OPEN_KERNEL),
            (false, false) => None,
        }
    }

    /// The server's own commands. Editors register a command for each, so none of the client's own may be
    /// among them.
    fn execute_command_provider(&self) -> Option<ExecuteCommandOptions> {
        let own = [
            (OPEN_KERNEL, self.shows_kernels),
            (DISABLE_WARNING, self.disables_warnings),
            (COMPILE, self.compiles),
        ];
        let commands: Vec<String> =
            own.iter().filter(|(_, is_clients)| !is_clients).map(|(name, _)| (*name).to_owned()).collect();
        let work_done_progress_options = Default::default();
        (!commands.is_empty()).then_some(ExecuteCommandOptions { commands, work_done_progress_options })
    }

    /// The schemes of the documents whose text the client asks for. A client that has a command for some kind of document shows
    /// these by itself.
    pub(super) fn content_schemes(&self) -> Vec<&'static str> {
        let schemes = [
            (kernel_uri::SCHEME, self.asks_for_content && !self.shows_kernels),
            (preview_uri::SCHEME, self.asks_for_content && !self.shows_previews),
        ];
        schemes.into_iter().filter_map(|(scheme, is_shown)| is_shown.then_some(scheme)).collect()
    }

    /// What lsp-types has no field for.
    fn newer(&self) -> Option<serde_json::Value> {
        let schemes = self.content_schemes();
        (!schemes.is_empty())
            .then(|| serde_json::json!({NEWER: {"textDocumentContent": {"schemes": schemes}}}))
    }

    /// The result of `initialize`.
    pub(super) fn welcome(&self) -> InitializeResult {
        InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(match self.encoding {
                    PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
                    PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
                    PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
                }),
                text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                    open_close: Some(true),
                    change: Some(TextDocumentSyncKind::INCREMENTAL),
                    save: Some(SaveOptions { include_text: Some(false) }.into()),
                    ..Default::default()
                })),
                hover_provider: Some(HoverProviderCapability::Simple(true)),
                declaration_provider: Some(DeclarationCapability::Simple(true)),
                definition_provider: Some(OneOf::Left(true)),
                implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
                type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
                references_provider: Some(OneOf::Left(true)),
                document_highlight_provider: Some(OneOf::Left(true)),
                rename_provider: Some(match self.prepares_rename {
                    true => OneOf::Right(RenameOptions {
                        prepare_provider: Some(true),
                        work_done_progress_options: Default::default(),
                    }),
                    false => OneOf::Left(true),
                }),
                call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
                document_symbol_provider: Some(OneOf::Left(true)),
                workspace_symbol_provider: Some(OneOf::Left(true)),
                folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
                selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
                semantic_tokens_provider: Some(semantic_tokens::options().into()),
                document_link_provider: Some(DocumentLinkOptions {
                    resolve_provider: Some(false),
                    work_done_progress_options: Default::default(),
                }),
                code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(true) }),
                inlay_hint_provider: Some(OneOf::Left(true)),
                document_formatting_provider: Some(OneOf::Left(true)),
                document_range_formatting_provider: Some(OneOf::Left(true)),
                document_on_type_formatting_provider: Some(DocumentOnTypeFormattingOptions {
                    first_trigger_character: "\n".into(),
                    more_trigger_character: Some(vec!["}".into()]),
                }),
                completion_provider: Some(CompletionOptions {
                    resolve_provider: Some(true),
                    trigger_characters: Some(["%", "(", "=", "{"].map(String::from).to_vec()),
                    ..Default::default()
                }),
                signature_help_provider: Some(SignatureHelpOptions {
                    trigger_characters: Some(["(", ","].map(String::from).to_vec()),
                    ..Default::default()
                }),
                code_action_provider: self.code_action_literals.then(|| {
                    CodeActionProviderCapability::Options(CodeActionOptions {
                        code_action_kinds: Some(vec![
                            CodeActionKind::QUICKFIX,
                            CodeActionKind::REFACTOR_EXTRACT,
                            CodeActionKind::REFACTOR_REWRITE,
                            CodeActionKind::new(SHOW),
                            CodeActionKind::SOURCE,
                            CodeActionKind::SOURCE_FIX_ALL,
                        ]),
                        resolve_provider: Some(self.resolve_code_actions),
                        ..Default::default()
                    })
                }),
                execute_command_provider: self.execute_command_provider(),
                linked_editing_range_provider: Some(LinkedEditingRangeServerCapabilities::Simple(true)),
                diagnostic_provider: self.pulls_diagnostics.then(diagnostic_reports::capability),
                workspace: Some(WorkspaceServerCapabilities {
                    workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                        supported: Some(true),
                        change_notifications: Some(OneOf::Left(true)),
                    }),
                    file_operations: None,
                }),
                experimental: self.newer(),
                ..Default::default()
            },
            server_info: Some(ServerInfo {
                name: env!("CARGO_PKG_NAME").into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
            }),
        }
    }
}

/// Picks UTF-8, which needs no conversion, over UTF-32, which needs less than UTF-16. UTF-16 is the default
/// if the client lists none.
fn negotiate(client: &ClientCapabilities) -> PositionEncoding {
    let offered = client.general.as_ref().and_then(|it| it.position_encodings.as_deref()).unwrap_or_default();
    [
        (PositionEncodingKind::UTF8, PositionEncoding::Utf8),
        (PositionEncodingKind::UTF32, PositionEncoding::Utf32),
    ]
    .into_iter()
    .find_map(|(kind, encoding)| offered.contains(&kind).then_some(encoding))
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(client: serde_json::Value, expect: &ClientProfile) {
        let client: ClientCapabilities = serde_json::from_value(client).unwrap();
        assert_eq!(&ClientProfile::new(&client), expect);
    }

    #[test]
    fn a_client_without_capabilities_gets_the_plain_forms() {
        check(serde_json::json!({}), &ClientProfile::default());
        assert_eq!(ClientProfile::default().encoding, PositionEncoding::Utf16);
    }

    #[test]
    fn utf8_is_preferred_then_utf32() {
        for (offered, encoding) in [
            (vec!["utf-16", "utf-32", "utf-8"], PositionEncoding::Utf8),
            (vec!["utf-16", "utf-32"], PositionEncoding::Utf32),
            (vec!["utf-16"], PositionEncoding::Utf16),
            (vec!["utf-7"], PositionEncoding::Utf16),
        ] {
            let client = serde_json::json!({"general": {"positionEncodings": offered}});
            check(client, &ClientProfile { encoding, ..Default::default() });
        }
    }
}
