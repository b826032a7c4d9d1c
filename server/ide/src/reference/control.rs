//! Calls, control flow, ordering.

use ir::Opcode;

use super::Page::Xla;
use super::{OpReference, op};

pub(super) const ROWS: &[OpReference] = &[
    op(
        Opcode::AddDependency,
        &["operand", "token"],
        Xla("adddependency"),
        "The operand, not before the token.",
        "Orders without a data dependency; moves nothing.",
    ),
    op(
        Opcode::AfterAll,
        &["tokens…"],
        Xla("afterall"),
        "A token that comes after all of its operands.",
        "Without operands it makes a new token.",
    ),
    op(
        Opcode::AsyncStart,
        &["operands…"],
        Xla("async"),
        "Begins the computation it calls, perhaps on another thread.",
        "The result is a tuple of operands, results and context. `X-start` is short for one that wraps X.",
    ),
    op(Opcode::AsyncUpdate, &["start"], Xla("async"), "A step of an asynchronous computation.", ""),
    op(
        Opcode::AsyncDone,
        &["start"],
        Xla("async"),
        "Waits for an asynchronous computation and is its result.",
        "",
    ),
    op(Opcode::Call, &["arguments…"], Xla("call"), "The result of `to_apply` for these arguments.", ""),
    op(
        Opcode::Conditional,
        &["index", "branch operands…"],
        Xla("conditional"),
        "The result of one branch.",
        "A `pred` chooses true or false, an `s32` the branch of that number (out of range: the last). Each branch \
         takes one operand.",
    ),
    op(
        Opcode::CustomCall,
        &["operands…"],
        Xla("customcall"),
        "The result of code outside of XLA, by name.",
        "XLA knows nothing of it but shapes. Without `custom_call_has_side_effect=true` it may be removed or done once.",
    ),
    op(
        Opcode::Fusion,
        &["operands…"],
        Xla("fusion"),
        "A computation that becomes one kernel.",
        "Values inside it stay in registers; only operands and results are in memory. `kind` says how it is built.",
    ),
    op(
        Opcode::OptBarrier,
        &["operand"],
        Xla("optimizationbarrier"),
        "The operand; no optimisation moves code across.",
        "",
    ),
    op(
        Opcode::While,
        &["initial state"],
        Xla("while"),
        "`body` applied to the state as long as `condition` holds.",
        "State, result and the parameter of both computations have one shape. `known_trip_count` of the backend \
         config tells the number of turns where the compiler knows it.",
    ),
];
