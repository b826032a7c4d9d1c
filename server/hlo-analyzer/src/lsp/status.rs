//! `hlo-analyzer/status`: the server's version and state, for a client's status item.

use serde_json::{Value, json};

use super::snapshot::Session;
use crate::memory::resident_bytes;

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
