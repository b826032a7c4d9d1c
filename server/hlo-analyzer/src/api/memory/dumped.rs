//! XLA's buffer assignment beside ours, as JSON.

use ide::{DumpedAssignment, Memory, ValuePlace};
use serde_json::{Value, json};

use super::category;

/// `{"total_bytes", "peak_bytes"?, "peak_position"?, "allocations", "values", "differences": [{"name", "dumped", "planned"}]}`,
/// where a place is `{"size", "kind", "offset"}`, or null if that side has no such value. The largest difference is first.
pub fn comparison(dumped: &DumpedAssignment, plan: &Memory) -> Value {
    let place = |place: ValuePlace| json!({"size": place.size, "kind": category(place.category), "offset": place.offset});
    let differences = dumped.differences(plan).into_iter().map(
        |one| json!({"name": one.name, "dumped": one.dumped.map(place), "planned": one.planned.map(place)}),
    );
    let mut value = json!({
        "total_bytes": dumped.total,
        "allocations": dumped.allocations.len(),
        "values": dumped.values(),
        "differences": differences.collect::<Value>(),
    });
    if let Some(peak) = dumped.peak {
        value["peak_bytes"] = json!(peak.bytes);
        value["peak_position"] = json!(peak.at);
    }
    value
}
