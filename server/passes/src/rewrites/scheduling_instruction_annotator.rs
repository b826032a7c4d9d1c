//! `scheduling-instruction-annotator`: notes the names that instructions have in the schedule.
//!
//! Source: XLA `backends/gpu/transforms/scheduling_instruction_annotator.cc`.

use ir::AttributeValue;
use syntax::hlo::{AttributeKey, Opcode};

use super::annotations::with_field;
use crate::driver::{Run, Stop};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.module.header.is_scheduled {
        return Err(Stop::Unsupported("the module has no schedule".to_owned()));
    }
    for computation in run.module.computation_post_order() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            let instruction = &run.module[id];
            let metadata = instruction.attributes().text(AttributeKey::Metadata).unwrap_or("{}");
            // Constants get other names later.
            if instruction.opcode() == Opcode::Constant || metadata.contains("scheduling_name=") {
                continue;
            }
            let name = instruction.name();
            let metadata = with_field(metadata, &format!("scheduling_name=\"{name}\""), " ");
            run.changed(id, "keeps its name in its metadata");
            run.module.attributes_mut(id).set(AttributeKey::Metadata, AttributeValue::Text(metadata));
        }
    }
    Ok(())
}
