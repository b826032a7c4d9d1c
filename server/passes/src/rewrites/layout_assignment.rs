//! `layout-assignment`: chooses the layout of every array, and copies values where a user needs another layout than the
//! value has.
//!
//! Constraints say which layout a [buffer](buffers::Buffer) or an operand shall have: those of the entry computation and of
//! library calls come first, and each is propagated to what reads or defines the array. What remains is row-major. Each
//! computation is solved by itself, callees before callers, twice: the layouts that the first round finds for parameters and
//! results of computations are fixed in the second.
//!
//! Source: XLA `service/layout_assignment.cc` and `backends/gpu/transforms/layout_assignment.cc`.

mod assign;
mod backend;
mod buffers;
mod callables;
mod choose;
mod constraints;
mod convolutions;
mod dots;
mod layouts;
mod mandatory;
mod prepare;
mod propagate;
mod solver;

use crate::driver::{Run, Stop};
use solver::Solver;

/// How often each computation is solved. Source: `LayoutAssignment::kNumberOfPropagationRounds`.
const ROUNDS: i64 = 2;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    prepare::check(run.module)?;
    prepare::copy_shared_operands(run);
    let order = prepare::visit_order(run);
    let mut solver = Solver::new(run.module, run.options.device, &order)?;
    for round in 0..ROUNDS {
        solver.start_round(round);
        for (computation, _) in &order {
            solver.solve(*computation)?;
        }
    }
    let solution = solver.finish();
    for (computation, _) in &order {
        assign::assign(run, &solution, *computation);
    }
    Ok(())
}
