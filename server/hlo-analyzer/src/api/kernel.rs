//! `kernel`: the code generated for a fusion, by this program or by XLA itself.

use ide::{ComparedArray, FusionQuery, KernelComparison, KernelLanguage, KernelOrigin};
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
    // `None` for XLA's own code.
    let emit = match (p.emit.as_deref(), p.after.as_deref()) {
        (None | Some("ptx"), None) => Some(KernelLanguage::Ptx),
        (Some("mlir"), None) => Some(KernelLanguage::Mlir),
        (Some("mlir"), Some(pass)) => {
            Some(KernelLanguage::mlir_after(pass).map_err(|why| invalid(format!("after: {why}")))?)
        }
        (Some("xtile"), None) => Some(KernelLanguage::Tiles),
        (Some("ttir"), None) => Some(KernelLanguage::Triton),
        (Some("xla"), None) => None,
        (None | Some("ptx" | "xla" | "xtile" | "ttir"), Some(_)) => {
            return Err(invalid("after is of mlir".to_owned()));
        }
        (Some(other), _) => {
            return Err(invalid(format!("emit: {other} is none of mlir, ptx, xtile, ttir, xla")));
        }
    };
    let query =
        FusionQuery { instruction: bare(&p.instruction), computation: p.computation.as_deref().map(bare) };
    session.use_device(value)?;
    let document = match emit {
        Some(emit) => {
            session.with_source(value, |analysis, file| analysis.kernel_document(file, &query, emit))?
        }
        None => session.with_stage(value, |analysis, file| analysis.xla_kernel_document(file, &query))?,
    };
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
    let mut answer = json!({
        "name": code.name,
        "text": document.body,
        "launch": code.launch.as_ref().map(launch),
        "params": params.collect::<Value>(),
        "source_map": lines.collect::<Value>(),
        "missing": missing.collect::<Value>(),
    });
    if let Some(comparison) = &code.comparison {
        answer["comparison"] = compared(comparison);
    }
    Ok(answer)
}

/// XLA's kernel beside ours.
fn compared(comparison: &KernelComparison) -> Value {
    let array = |array: &ComparedArray| {
        json!({
            "name": array.name,
            "is_result": array.is_result,
            "sectors_per_request": array.xla,
            "ours": array.ours,
            "differs": array.differs(),
        })
    };
    let (blocks, is_whole) = comparison.blocks;
    json!({
        "kernels": comparison.kernels,
        "launch": comparison.launch.as_ref().map(launch),
        "arrays": comparison.arrays.as_ref().map_or(Value::Null, |arrays| arrays.iter().map(array).collect()),
        "not_counted": comparison.arrays.as_ref().err(),
        "blocks": blocks,
        "is_whole": is_whole,
    })
}
