//! The number of executions of each computation.

use ir::{AttributeKey, Opcode, op_info};
use rustc_hash::FxHashSet;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// For each computation, how often its instructions run when the module runs once; and the number of loops
/// with an unknown trip count, which count as one iteration.
pub(crate) fn executions(context: &FileContext<'_>) -> (Vec<u64>, usize) {
    let module = context.module();
    let calls = db::call_graph(context.db, context.view.file);
    let mut executions: Vec<u64> = vec![0; module.computations.len()];
    let mut unknown_loops: FxHashSet<(usize, u32)> = FxHashSet::default();
    // Callers follow their callees in the text; otherwise the text has an error.
    for index in (0..executions.len()).rev() {
        if module.is_entry(index) {
            executions[index] = executions[index].saturating_add(1);
        }
        for call in calls.incoming(index).iter().filter(|call| call.caller > index) {
            let block = context.block(call.piece);
            let times = match block.instruction(call.instruction).opcode {
                Some(Opcode::While) => trip_count(context, call).unwrap_or_else(|| {
                    unknown_loops.insert((call.piece, call.instruction));
                    1
                }),
                Some(opcode) if !op_info(opcode).steps.is_empty() => 1,
                Some(_) | None => 0,
            };
            let times = executions[call.caller].saturating_mul(times);
            executions[index] = executions[index].saturating_add(times);
        }
    }
    (executions, unknown_loops.len())
}

/// The trip count in `backend_config={"known_trip_count":{"n":"20"}}` of a loop.
fn trip_count(context: &FileContext<'_>, call: &db::CallSite) -> Option<u64> {
    let op = context.op(InstructionRef { piece: call.piece, id: call.instruction })?;
    let config = op.attributes.text(AttributeKey::BackendConfig)?;
    let (_, rest) = config.split_once("known_trip_count")?;
    let (_, number) = rest.split_once('n')?;
    let digits = number.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '}');
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;

    /// Checks the number of runs of a fusion in the body of a loop with this configuration.
    #[track_caller]
    fn check(config: &str, runs: u64, unknown_loops: usize) {
        let module = format!(
            "\
HloModule m

f {{
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
}}

body {{
  x = f32[8] parameter(0)
  ROOT k = f32[8] fusion(x), kind=kLoop, calls=f
}}

condition {{
  y = f32[8] parameter(0)
  ROOT c = pred[] constant(true)
}}

outer {{
  z = f32[8] parameter(0)
  ROOT w = f32[8] while(z), condition=condition, body=body{config}
}}

ENTRY e {{
  a = f32[8] parameter(0)
  b = f32[8] call(a), to_apply=outer
  ROOT d = f32[8] call(b), to_apply=outer
}}
"
        );
        let (analysis, file, _) = open(&module);
        let found = analysis.heaviest_kernels(file, 9).expect("nobody cancels");
        assert_eq!((found.kernels[0].executions, found.unknown_loops), (runs, unknown_loops), "{config}");
    }

    #[test]
    fn loops_and_calls_multiply() {
        check(", backend_config={\"known_trip_count\":{\"n\":\"20\"}}", 40, 0);
        check(
            ", backend_config={\"known_trip_count\": {\"n\": \"3\"},\"known_init_step\":{\"init\":\"0\"}}",
            6,
            0,
        );
        check("", 2, 1);
        check(", backend_config={\"known_trip_count\":{\"n\":\"99999999999999999999\"}}", 2, 1);
    }
}
