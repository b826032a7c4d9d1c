//! What tower-lsp's router calls: the requests of the table in `requests.rs`, and the few messages that need no
//! snapshot.
//!
//! Architecture Invariant: the first statement of a handler posts to the mailbox, and nothing before it
//! waits. Messages therefore take effect in the order in which they arrive; see `in_order.rs`.

use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{
    ExecuteCommandParams, InitializeParams, InitializeResult, Url, WorkDoneProgressCancelParams,
};

use super::capabilities::{COMPILE, ClientProfile, DISABLE_WARNING};
use super::compiling::Compiling;
use super::mailbox::{Event, Mailbox};
use super::read::{self, Answer};
use super::requests::{CompileSource, DocumentParams, OpenKernel, Request, Subject};
use super::workspace_folders;

pub(super) struct Handlers {
    pub(super) mailbox: Mailbox,
    pub(super) compiling: Compiling,
}

impl Handlers {
    /// Posts a request and returns the future of its response. Not `async`, so that it has posted when it returns.
    pub(super) fn ask<R: Request>(&self, params: R::Params) -> impl Future<Output = Answer<R>> + use<R> {
        let posted = match R::subject(&params) {
            Subject::Part(uri, target) => {
                let (read, answer) = read::read::<R>(uri, target, params);
                self.mailbox.post(Event::Read(read));
                Ok(Some(answer))
            }
            Subject::Nothing => Ok(None),
            Subject::Invalid(why) => Err(Error::invalid_params(why)),
        };
        async move {
            match posted? {
                Some(answer) => answer.await,
                None => Ok(None),
            }
        }
    }

    /// Serves a request of our own.
    pub(super) async fn serve<R: Request<Response: Default>>(
        &self,
        params: R::Params,
    ) -> Result<R::Response> {
        Ok(self.ask::<R>(params).await?.unwrap_or_default())
    }

    pub(super) fn start(&self, params: InitializeParams) -> InitializeResult {
        let client = ClientProfile::new(&params.capabilities);
        let welcome = client.welcome();
        let roots = workspace_folders::roots(&params);
        self.mailbox.post(Event::Initialize(client, params.initialization_options, roots));
        welcome
    }

    /// The server's own commands.
    pub(super) async fn execute(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let first = params.arguments.first().and_then(|argument| argument.as_str().map(str::to_owned));
        match params.command.as_str() {
            DISABLE_WARNING => self.disable_warning(first),
            COMPILE => self.compile_command(first).await,
            _ => self.serve::<OpenKernel>(params).await,
        }
    }

    fn disable_warning(&self, code: Option<String>) -> Result<Option<Value>> {
        let Some(code) = code else {
            return Err(Error::invalid_params(format!("{DISABLE_WARNING} takes the code of a warning")));
        };
        self.mailbox.post(Event::DisableWarning(code));
        Ok(None)
    }

    /// `hlo-analyzer/compileWithXla`
    pub(super) async fn compile_with_xla(&self, params: DocumentParams) -> Result<Value> {
        match self.ask::<CompileSource>(params).await? {
            Some(source) => self.compiling.response(source).await,
            None => Ok(Value::Null),
        }
    }

    async fn compile_command(&self, uri: Option<String>) -> Result<Option<Value>> {
        let uri = uri.and_then(|uri| Url::parse(&uri).ok());
        let uri =
            uri.ok_or_else(|| Error::invalid_params(format!("{COMPILE} takes the URI of an open module")))?;
        match self.ask::<CompileSource>(DocumentParams::of(uri)).await? {
            Some(source) => self.compiling.command(source).await,
            None => Err(Error::invalid_params("the module is not open")),
        }
    }

    /// A notification, for which tower-lsp has no function.
    pub(super) async fn cancel_work(&self, params: WorkDoneProgressCancelParams) {
        self.mailbox.post(Event::CancelWork(params.token));
    }

    /// Answered by the main loop itself: it concerns no document and waits for no computation.
    pub(super) async fn status(&self, _: Value) -> Result<Value> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.post(Event::Status(reply));
        answer.await.map_err(|_| Error::internal_error())
    }
}

/// Whether the project's tests run this server.
pub(super) fn has_test_hooks() -> bool {
    std::env::var_os("HLO_ANALYZER_TEST_HOOKS").is_some_and(|value| value == "1")
}

/// Implements tower-lsp's trait and the registration of our own methods.
///
/// `standard` rows are `function: Request`, by the function's name in [`tower_lsp::LanguageServer`]. The response
/// is empty if the document is not open; `or` names the function that makes it from the parameters instead.
macro_rules! serve_requests {
    (
        standard { $($function:ident: $request:ty $(, or $fallback:path)?;)* }
        custom { $($custom:ty;)* }
        test { $($test:ty;)* }
    ) => {
        #[tower_lsp::async_trait]
        impl LanguageServer for Handlers {
            async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
                Ok(self.start(params))
            }

            async fn initialized(&self, _: InitializedParams) {
                self.mailbox.post(Event::Initialized);
            }

            async fn shutdown(&self) -> Result<()> {
                Ok(())
            }

            async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
                self.mailbox.post(Event::Configure(params.settings));
            }

            async fn did_open(&self, params: DidOpenTextDocumentParams) {
                self.mailbox.post(Event::Open(params));
            }

            async fn did_change(&self, params: DidChangeTextDocumentParams) {
                self.mailbox.post(Event::Change(params));
            }

            async fn did_close(&self, params: DidCloseTextDocumentParams) {
                self.mailbox.post(Event::Close(params.text_document.uri));
            }

            async fn did_save(&self, params: DidSaveTextDocumentParams) {
                self.mailbox.post(Event::Saved(params.text_document.uri));
            }

            async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
                self.mailbox.post(Event::FoldersChanged(params.event));
            }

            async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
                self.mailbox.post(Event::FilesChanged(params.changes));
            }

            async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
                self.execute(params).await
            }

            async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
                Ok(completion_item_resolve::resolved(item))
            }

            $(async fn $function(
                &self,
                params: <$request as Request>::Params,
            ) -> Result<<$request as Request>::Response> {
                $crate::lsp::handlers::serve_requests!(@serve self, params, $request $(, $fallback)?)
            })*
        }

        /// The methods that are answered, except for the tests' own.
        #[cfg(test)]
        pub(super) const METHODS: &[&str] = &[
            "completionItem/resolve",
            "hlo-analyzer/status",
            "workspace/executeCommand",
            CompileSource::METHOD,
            $(<$request as Request>::METHOD,)*
            $(<$custom as Request>::METHOD,)*
        ];

        /// Registers the requests of our own.
        pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers> {
            let service = service.custom_method("hlo-analyzer/status", Handlers::status);
            let service = service.custom_method("window/workDoneProgress/cancel", Handlers::cancel_work);
            let service = service.custom_method(CompileSource::METHOD, Handlers::compile_with_xla);
            let service = service$(.custom_method(<$custom>::METHOD, Handlers::serve::<$custom>))*;
            if !$crate::lsp::handlers::has_test_hooks() {
                return service;
            }
            service$(.custom_method(<$test>::METHOD, Handlers::serve::<$test>))*
        }
    };
    (@serve $handlers:ident, $params:ident, $request:ty) => {
        $handlers.serve::<$request>($params).await
    };
    (@serve $handlers:ident, $params:ident, $request:ty, $fallback:path) => {{
        let unresolved = $params.clone();
        Ok($handlers.ask::<$request>($params).await?.unwrap_or_else(|| $fallback(unresolved)))
    }};
}

pub(super) use serve_requests;
