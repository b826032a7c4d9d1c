//! `while-loop-trip-count-annotator`: notes how often loops run, and what their variable is.
//!
//! Source: XLA `hlo/transforms/while_loop_trip_count_annotator.cc`.

use ir::AttributeValue;
use syntax::hlo::{AttributeKey, Opcode};

use super::loops::{self, Range};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.instructions(computation) {
            let Some(variable) = loops::variable(run.module, id) else { continue };
            let Some(range) = loops::range(run.module, id, variable) else {
                let name = run.module[id].name();
                return Err(Stop::Unsupported(format!(
                    "%{name} does not count by a constant to a constant; running it to count its iterations is not \
                     implemented"
                )));
            };
            run.changed(id, format!("runs {} times", range.trips));
            annotate(run, id, variable, range);
        }
    }
    Ok(())
}

fn annotate(run: &mut Run<'_>, id: InstructionId, variable: i64, range: Range) {
    // The value behind the loop is known, too.
    for user in run.module[id].users().to_vec() {
        let is_variable = run.module[user].opcode() == Opcode::GetTupleElement
            && run.module[user].attributes().int(AttributeKey::Index) == Some(variable);
        if is_variable {
            let shape = run.module[user].shape().clone();
            let constant = NewOp::constant(shape, range.end().to_string());
            let constant = run.module.add(run.module[user].parent(), constant);
            run.module.replace_all_uses(user, constant);
        }
    }
    let Range { init, step, trips } = range;
    let config = format!(
        "{{\"dynamic_variables\":[],\"known_induction_variable\":{{\"tuple_index\":\"{variable}\"}},\
         \"known_init_step\":{{\"init\":\"{init}\",\"step\":\"{step}\"}},\"known_trip_count\":{{\"n\":\"{trips}\"}}}}"
    );
    run.module.attributes_mut(id).set(AttributeKey::BackendConfig, AttributeValue::Text(config));
}
