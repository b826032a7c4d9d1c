//! What would lower the peak, as JSON.

use ide::{MemoryAction, MemoryAdvice, MemoryStep, TextRange};
use serde_json::{Value, json};

use super::{step_at, step_json};

/// `[{"action", "text", "changed", "bytes", "peak_bytes", "total_bytes", "in_jax", …}]`, the largest saving first: the instruction that is
/// changed, bytes of what is changed, bytes in use at the peak after the change, and bytes of all allocations then. `donate` has `donations`: `[{"name", "parameter", "index",
/// "output"}]`. `move` has `instructions` that move together, `before`, the instruction that they move in front of, `value`, which is
/// alive for a shorter time, and `is_later`. `rematerialise` has `instructions` that run again in front of `before`, `value`, which is
/// not kept, and what that costs: `flops`, `transcendentals` and `traffic_bytes`. `relayout` has `instructions` whose results get the layout `minor_to_major`, `value`,
/// the largest of them, and its `bytes_then`. `drop_copy` has `source`, `parameter` (null of a constant), `copy`, the instructions that
/// are `removed`, and `stored_as`, the shape of the source then, or null where it is read by other dimension numbers. `shard` has
/// `parameter`, `name`, `dimension`, `partitions`, `bytes_per_device`, `gathered_before` (its readers), and `is_bound`: whether the peak
/// is at best that.
pub fn advice(advice: &[MemoryAdvice]) -> Value {
    advice.iter().map(|one| described(one, &step_json)).collect()
}

/// [`advice()`], where what is changed has also the `range` of its name.
pub fn advice_at(advice: &[MemoryAdvice], range: &dyn Fn(&TextRange) -> Value) -> Value {
    advice.iter().map(|one| described(one, &|step| step_at(step, range))).collect()
}

fn described(one: &MemoryAdvice, step: &dyn Fn(&MemoryStep) -> Value) -> Value {
    let MemoryAdvice { advice, text, changed } = one;
    let mut value = json!({
        "text": text,
        "changed": changed.as_ref().map(step),
        "bytes": advice.bytes,
        "peak_bytes": advice.peak,
        "total_bytes": advice.total,
        "in_jax": one.in_jax(),
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
        MemoryAction::Rematerialise(again) => {
            value["action"] = json!("rematerialise");
            value["instructions"] = json!(again.names);
            value["before"] = json!(again.before);
            value["value"] = json!(again.value);
            value["flops"] = json!(again.cost.flops);
            value["transcendentals"] = json!(again.cost.transcendentals);
            value["traffic_bytes"] = json!(again.cost.bytes);
        }
        MemoryAction::Relayout(layout) => {
            value["action"] = json!("relayout");
            value["instructions"] = json!(layout.names);
            value["minor_to_major"] = json!(layout.minor_to_major);
            value["value"] = json!(layout.value);
            value["bytes_then"] = json!(layout.bytes_then);
        }
        MemoryAction::Shard(sharding) => {
            value["action"] = json!("shard");
            value["parameter"] = json!(sharding.parameter);
            value["name"] = json!(sharding.name);
            value["dimension"] = json!(sharding.dimension);
            value["partitions"] = json!(sharding.partitions);
            value["bytes_per_device"] = json!(sharding.bytes_per_device);
            value["gathered_before"] = json!(sharding.gathered_before);
            value["is_bound"] = json!(sharding.gathered_before.is_empty());
        }
        MemoryAction::DropCopy(copy) => {
            value["action"] = json!("drop_copy");
            value["source"] = json!(copy.source);
            value["parameter"] = json!(copy.parameter);
            value["copy"] = json!(copy.copy);
            value["removed"] = json!(copy.removed);
            value["stored_as"] = json!(copy.stored_as);
        }
    }
    value
}
