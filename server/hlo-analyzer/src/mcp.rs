//! `mcp`: a server of the Model Context Protocol on standard input and output. Agents ask it what `query` and the command line
//! answer, in small texts: lists come in pages, and what is long is a resource.
//!
//! ```text
//! tools/call ─► tools.rs: the table of tools, arguments checked ─► findings, kernels, memory, … : one file per group
//!                                                                        │ api::Session, report/, diff/
//! answer ◄── answer.rs: head, a page of items, what comes next ◄─────────┘
//! ```
//!
//! Architecture Invariant: nothing is written, and nothing but the named files and folders is read.
//! Architecture Invariant: only this module knows MCP.

mod answer;
mod arguments;
mod compiles;
mod diff;
mod findings;
mod instructions;
mod kernel;
mod kernels;
mod memory;
mod origins;
mod resources;
mod search;
mod source;
mod tools;

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, ServiceExt as _};
use rmcp::transport::stdio;
use rmcp::{ErrorData, model::ErrorCode};

use crate::api::{ApiError, Session};

/// What a client tells its model of this server.
const INSTRUCTIONS: &str = "\
Facts about XLA compiles, computed from the files of --xla_dump_to: kernels and their time, memory, warnings, indexing maps, and \
which pass made what and why. \"path\" is a module (.hlo, .mlir, *after_optimizations.txt, .gz) or a dump folder. Start with \
`compiles` on a folder; then `kernels`, `memory` or `findings`; then `instruction`, `kernel`, `blame` or `lineage` on a name. \
Times are estimates of XLA's cost model; ≥ marks a lower bound. Lists have pages: repeat a call with the `cursor` that it ends with.";

/// Serves one client until it closes the input. `device` is the GPU of kernels where neither a dump folder nor a call names one.
pub fn serve_stdio(device: &str) -> Result<()> {
    let session = Session::for_device(device).map_err(anyhow::Error::msg)?;
    let server = Server { session: Arc::new(Mutex::new(session)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let served = runtime.block_on(async {
        let running = server.serve(stdio()).await?;
        running.waiting().await?;
        anyhow::Ok(())
    });
    // A pending read of the input must not hold the process.
    runtime.shutdown_background();
    // A client that closes the input before it says anything has asked for nothing that failed.
    served.or_else(|error| if is_closed(&error) { Ok(()) } else { Err(error) })
}

fn is_closed(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ServerInitializeError::ConnectionClosed(_)))
}

#[derive(Clone)]
struct Server {
    /// Calls are answered one after the other: they share a database.
    session: Arc<Mutex<Session>>,
}

impl Server {
    /// Runs `work` on a thread where it may take its time, until the client cancels the request.
    async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        what: &'static str,
        work: impl FnOnce(&mut Session) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Result<T, ApiError>, ErrorData> {
        let session = self.session.clone();
        let token = cancel::Token::default();
        let (cancelled, to_cancel) = (context.ct.clone(), token.clone());
        let watcher = tokio::spawn(async move {
            cancelled.cancelled().await;
            to_cancel.cancel();
        });
        let done = tokio::task::spawn_blocking(move || {
            let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
            session.until_cancelled(&token, what, work)
        });
        let done = done.await;
        watcher.abort();
        done.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("hlo-analyzer", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::TOOLS.iter().map(tools::Tool::described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let message = format!("no tool {}; there are {}", request.name, tools::names());
            return Ok(answer::refused(&message).into());
        };
        let given = request.arguments.unwrap_or_default();
        let answered = self.work(&context, tool.name, move |session| tool.call(session, given)).await?;
        Ok(answered.unwrap_or_else(|error| answer::refused(&tools::advised(tool, &error))).into())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read =
            self.work(&context, "resources/read", move |session| resources::read(session, &uri)).await?;
        let contents = read.map_err(|error| {
            let code = ErrorCode::RESOURCE_NOT_FOUND;
            ErrorData::new(code, error.message, None)
        })?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
