//! `hlo-analyzer/status`: the server's version and state, for a client's status item.

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::{LanguageServer, LspServiceBuilder};

use super::handlers::Handlers;
use super::mailbox::Event;
use super::snapshot::Session;
use crate::memory::resident_bytes;

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers>
where
    Handlers: LanguageServer,
{
    service.custom_method("hlo-analyzer/status", Handlers::status)
}

impl Handlers {
    /// Answered by the main loop itself: it concerns no document and waits for no computation.
    async fn status(&self, _: Value) -> Result<Value> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.post(Event::Status(reply));
        answer.await.map_err(|_| Error::internal_error())
    }
}

pub(super) fn status(session: &Session, documents: usize) -> Value {
    let devices = ide::Device::all().iter();
    let devices: Vec<Value> =
        devices.map(|device| json!({"name": device.name, "description": device.description})).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "memory": resident_bytes(),
        "documents": documents,
        "device": session.settings.device,
        "devices": devices,
        "ptxas": session.kernels.assembler().is_some(),
        "disabled_warnings": session.settings.disabled_warnings,
    })
}
