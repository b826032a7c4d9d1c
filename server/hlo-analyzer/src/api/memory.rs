//! `memory`: how much memory a module takes, by value and by allocation.

use memory::{AllocationKind, memory_of_text};
use ropey::Rope;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;

/// The limit on the text of a request, in bytes.
const MAX_BYTES: usize = 64 << 20;

#[derive(Deserialize)]
struct MemoryParams<'a> {
    hlo: &'a str,
    device: Option<&'a str>,
}

/// `{"total_bytes", "peak_bytes", "peak_position", "allocations": [{"size", "kind", "values": [{"name", "offset"}]}],
/// "values": [{"name", "size", "live": [start, end], "allocation"}], "problems"?}`
pub fn memory(value: &Value) -> Answer {
    let MemoryParams { hlo, device } = params(value)?;
    if hlo.len() > MAX_BYTES {
        let message = format!("the text has more than {} MiB", MAX_BYTES >> 20);
        return Err(ApiError::new(ErrorKind::Limit, message));
    }
    let device = ide::Device::find(device.unwrap_or(ide::DEFAULT_DEVICE))
        .map_err(|unknown| ApiError::new(ErrorKind::InvalidParams, unknown.to_string()))?;
    let (_, memory) = memory_of_text(hlo, device)
        .map_err(|error| ApiError::in_text(&Rope::from_str(hlo), error.offset, error.message))?;
    let allocations = memory.allocations.iter().map(|allocation| {
        let values = allocation
            .values
            .iter()
            .map(|&(value, offset)| json!({"name": memory.values[value as usize].name, "offset": offset}));
        json!({
            "size": allocation.size,
            "kind": kind(allocation.kind, allocation.is_result),
            "values": values.collect::<Value>(),
        })
    });
    let values = memory.values.iter().map(|value| {
        json!({
            "name": value.name,
            "size": value.size,
            "live": [value.live.start, value.live.end],
            "allocation": value.allocation,
        })
    });
    let mut answer = json!({
        "total_bytes": memory.total,
        "peak_bytes": memory.peak.bytes,
        "peak_position": memory.peak.at,
        "allocations": allocations.collect::<Value>(),
        "values": values.collect::<Value>(),
    });
    if !memory.problems.is_empty() {
        answer["problems"] = json!(memory.problems);
    }
    Ok(answer)
}

fn kind(kind: AllocationKind, is_result: bool) -> &'static str {
    match kind {
        AllocationKind::Parameter { .. } => "parameter",
        AllocationKind::Constant => "constant",
        AllocationKind::ThreadLocal => "thread-local",
        AllocationKind::Tuple | AllocationKind::Result if is_result => "output",
        AllocationKind::Tuple | AllocationKind::Result | AllocationKind::Temporary => "temp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_by_allocation_and_by_value() {
        let text = "HloModule m, is_scheduled=true\n\nENTRY e {\n  p = f32[64] parameter(0)\n  ROOT n = f32[64] negate(p)\n}\n";
        let answer = memory(&json!({"hlo": text})).expect("it is a module");
        assert_eq!((&answer["total_bytes"], &answer["peak_bytes"]), (&json!(512), &json!(512)));
        assert_eq!(
            answer["allocations"][0],
            json!({"size": 256, "kind": "output", "values": [{"name": "n{}", "offset": 0}]})
        );
        assert_eq!(answer["values"][0], json!({"name": "p{}", "size": 256, "live": [0, 2], "allocation": 1}));
    }

    #[test]
    fn bad_requests_say_why() {
        let refused = |value: Value| memory(&value).expect_err("it is refused");
        let error = refused(json!({"hlo": "HloModule m\n\nENTRY e {\n  x = f32[\n}\n"}));
        assert_eq!((error.kind, error.line), (ErrorKind::Parse, Some(4)));
        assert_eq!(refused(json!({"hlo": ""})).message, "the text has no entry computation");
        assert_eq!(refused(json!({"hlo": "", "device": "toaster"})).kind, ErrorKind::InvalidParams);
        assert_eq!(refused(json!({"hlo": " ".repeat(MAX_BYTES + 1)})).kind, ErrorKind::Limit);
    }
}
