//! What would lower the peak, as JSON.

use ide::{MemoryAction, MemoryAdvice};
use serde_json::{Value, json};

/// `[{"action", "text", "bytes", "peak_bytes", "total_bytes", …}]`, the largest saving first: bytes of what is changed, bytes in use
/// at the peak after the change, and bytes of all allocations then. `donate` has `donations`: `[{"name", "parameter", "index",
/// "output"}]`. `move` has `instructions` that move together, `before`, the instruction that they move in front of, `value`, which is
/// alive for a shorter time, and `is_later`.
pub fn advice(advice: &[MemoryAdvice]) -> Value {
    advice.iter().map(one).collect()
}

fn one(MemoryAdvice { advice, text }: &MemoryAdvice) -> Value {
    let mut value = json!({
        "text": text,
        "bytes": advice.bytes,
        "peak_bytes": advice.peak,
        "total_bytes": advice.total,
    });
    match &advice.action {
        MemoryAction::Donate(donations) => {
            let donations = donations.iter().map(|donation| {
                json!({
                    "name": donation.name,
                    "parameter": donation.parameter,
                    "index": donation.index,
                    "output": donation.output,
                })
            });
            value["action"] = json!("donate");
            value["donations"] = donations.collect();
        }
        MemoryAction::Move(change) => {
            value["action"] = json!("move");
            value["instructions"] = json!(change.names);
            value["before"] = json!(change.before);
            value["value"] = json!(change.value);
            value["is_later"] = json!(change.is_later);
        }
    }
    value
}
