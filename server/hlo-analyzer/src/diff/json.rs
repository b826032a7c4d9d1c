//! The report as JSON.

use compile_diff::{Change, Kernel, Totals};
use serde_json::{Value, json};

use super::Diff;
use super::text::{verdict, word};

/// All changes, with at most `top` kernels. Times are in microseconds, without launches; lines and columns count from 1, columns
/// in bytes.
pub fn json(diff: &Diff<'_>, top: usize) -> Value {
    let report = &diff.report;
    let side = |n: usize| {
        let mut side = totals(&report.totals[n]);
        side["file"] = json!(diff.sides[n].name);
        side["device"] = json!(report.devices[n]);
        side["is_at_least"] = json!(diff.sides[n].heaviest.is_at_least);
        side
    };
    let kernels: Vec<Value> = report
        .kernels
        .iter()
        .take(top)
        .map(|change| {
            json!({
                "change": word(change),
                "delta_us": change.delta_us(),
                "before": change.before.as_ref().map(|one| kernel(diff, 0, one)),
                "after": change.after.as_ref().map(|one| kernel(diff, 1, one)),
                "reasons": change.reasons,
            })
        })
        .collect();
    let kinds: Vec<Value> = report
        .kinds
        .iter()
        .map(|(kind, sums)| json!({"kind": kind, "before": totals(&sums[0]), "after": totals(&sums[1])}))
        .collect();
    let movement: serde_json::Map<String, Value> = report
        .data_movement
        .iter()
        .map(|(opcode, found)| {
            let list = |n: usize, ids: &[u32]| ids.iter().map(|&id| at(diff, n, id)).collect::<Vec<_>>();
            (opcode.clone(), json!({"new": list(1, &found.new), "gone": list(0, &found.gone)}))
        })
        .collect();
    json!({
        "verdict": verdict(diff),
        "time_growth": report.time_growth(),
        "bytes_growth": report.bytes_growth(),
        "before": side(0),
        "after": side(1),
        "kinds": kinds,
        "kernels": kernels,
        "kernels_omitted": report.kernels.len().saturating_sub(top),
        "data_movement": movement,
        "changes": report.changes.changes.iter().map(|one| change(diff, one)).collect::<Vec<_>>(),
        "renamed_computations": report.changes.renamed_computations,
        "renamed_instructions": report.changes.renamed_instructions,
        "reordered_computations": report.changes.reordered_computations,
        "errors": diff.errors,
    })
}

fn totals(totals: &Totals) -> Value {
    json!({"time_us": totals.time_us, "bytes": totals.bytes, "launches": totals.launches})
}

fn kernel(diff: &Diff<'_>, side: usize, kernel: &Kernel) -> Value {
    let mut value = at(diff, side, kernel.instruction);
    value["kind"] = json!(kernel.kind);
    value["executions"] = json!(kernel.executions);
    value["total_us"] = json!(kernel.total_us);
    value["bytes"] = json!(kernel.bytes);
    value["sectors_per_request"] = json!(kernel.sectors_per_request);
    value
}

fn at(diff: &Diff<'_>, side: usize, instruction: u32) -> Value {
    let module = &diff.modules[side];
    let (line, column) = diff.sides[side].position(module.offset(instruction));
    let computation = module.program.computation_of(instruction).name;
    json!({"name": module.program.instruction(instruction).name, "computation": computation, "line": line, "column": column})
}

fn change(diff: &Diff<'_>, change: &Change) -> Value {
    let computation = |side: usize, index: u32| diff.modules[side].program.computation(index).name;
    match change {
        Change::New { instruction, members } => {
            json!({"change": "new", "after": at(diff, 1, *instruction), "members": members})
        }
        Change::Gone { instruction, members } => {
            json!({"change": "gone", "before": at(diff, 0, *instruction), "members": members})
        }
        Change::Changed { before, after, differences } => {
            let differences: Vec<Value> = differences
                .iter()
                .map(|one| json!({"what": one.what.words(), "before": one.before, "after": one.after}))
                .collect();
            json!({
                "change": "changed",
                "before": at(diff, 0, *before),
                "after": at(diff, 1, *after),
                "differences": differences,
            })
        }
        Change::Moved { from, to, instructions } => {
            let pairs =
                instructions.iter().map(|(source, id)| json!([at(diff, 0, *source), at(diff, 1, *id)]));
            json!({
                "change": "moved",
                "from": computation(0, *from),
                "to": computation(1, *to),
                "instructions": pairs.collect::<Vec<_>>(),
            })
        }
        Change::Root { before, after } => {
            let root =
                |side: usize, index: u32| at(diff, side, diff.modules[side].program.computation(index).root);
            json!({"change": "root", "before": root(0, *before), "after": root(1, *after)})
        }
        Change::NewComputation(index) => {
            json!({"change": "new-computation", "computation": computation(1, *index)})
        }
        Change::GoneComputation(index) => {
            json!({"change": "gone-computation", "computation": computation(0, *index)})
        }
        Change::Header { key, before, after } => {
            json!({"change": "header", "key": key, "before": before, "after": after})
        }
    }
}
