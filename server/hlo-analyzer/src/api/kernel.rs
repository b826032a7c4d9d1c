//! `kernel`: the code generated for a fusion.

use ide::{FusionQuery, KernelLanguage, KernelOrigin};
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
    let document =
        session.with_source(value, |analysis, file| analysis.kernel_document(file, &query, emit))?;
    let document = document.map_err(refused)?;
    let code = match &document.origin {
        KernelOrigin::Emitters(code) => code,
        // Kernels that another compiler or library provides have no code here; the text is a summary.
        KernelOrigin::Elsewhere(who) => {
            return Ok(json!({
                "name": query.instruction,
                "text": document.body,
                "launch": null,
                "params": [],
                "source_map": [],
                "missing": [],
                "elsewhere": who,
            }));
        }
        KernelOrigin::Nowhere(why) => return Err(refused(why.clone())),
    };
    let params = code.params.iter().enumerate().map(|(index, param)| {
        let role = if param.is_result { "result" } else { "operand" };
        json!({"index": index, role: param.number, "bytes": param.bytes, "slice_index": param.slice})
    });
    let lines = (0..document.lines.len()).filter_map(|line| {
        let name = &document.instruction_of(line)?.fused_name;
        Some(json!({"line": line + 1, "instruction": name}))
    });
    let missing = code.missing.iter().map(|(name, reason)| json!({"instruction": name, "reason": reason}));
    Ok(json!({
        "name": code.name,
        "text": document.body,
        "launch": launch(&code.launch),
        "params": params.collect::<Value>(),
        "source_map": lines.collect::<Value>(),
        "missing": missing.collect::<Value>(),
    }))
}
