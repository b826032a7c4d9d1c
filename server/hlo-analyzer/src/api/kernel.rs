//! `kernel`: the code generated for a fusion.

use ide::{FusionQuery, KernelLanguage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::fusion::{launch, refused};
use super::request::{bare, params};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct KernelParams {
    instruction: String,
    computation: Option<String>,
    emit: Option<String>,
    /// For `mlir`: a pass name, or `all`.
    after: Option<String>,
}

pub fn kernel(session: &mut Session, value: &Value) -> Answer {
    let p: KernelParams = params(value)?;
    let invalid = |message: String| ApiError::new(ErrorKind::InvalidParams, message);
    let emit = match (p.emit.as_deref(), p.after.as_deref()) {
        (None | Some("ptx"), None) => KernelLanguage::Ptx,
        (Some("mlir"), None) => KernelLanguage::Mlir,
        (Some("mlir"), Some(pass)) => {
            KernelLanguage::mlir_after(pass).map_err(|why| invalid(format!("after: {why}")))?
        }
        (None | Some("ptx"), Some(_)) => return Err(invalid("after is of mlir".to_owned())),
        (Some(other), _) => return Err(invalid(format!("emit: {other} is none of mlir, ptx"))),
    };
    let query =
        FusionQuery { instruction: bare(&p.instruction), computation: p.computation.as_deref().map(bare) };
    session.use_device(value)?;
    let reply = session.with_source(value, |analysis, file| analysis.kernel_preview(file, &query, emit))?;
    let reply = reply.map_err(refused)?;
    let params = reply.params.iter().enumerate().map(|(index, param)| {
        let role = if param.is_result { "result" } else { "operand" };
        json!({"index": index, role: param.number, "bytes": param.bytes, "slice_index": param.slice})
    });
    let lines = reply.lines.iter().map(|(line, name)| json!({"line": line + 1, "instruction": name}));
    let missing = reply.missing.iter().map(|(name, reason)| json!({"instruction": name, "reason": reason}));
    let mut answer = json!({
        "name": reply.name,
        "text": reply.text,
        "launch": reply.launch.as_ref().map(launch),
        "params": params.collect::<Value>(),
        "source_map": lines.collect::<Value>(),
        "missing": missing.collect::<Value>(),
    });
    // Kernels that another compiler or library provides have no code here; the text is a summary.
    if let Some(who) = &reply.elsewhere {
        answer["elsewhere"] = json!(who);
    }
    Ok(answer)
}
