//! Several values, calls, and control.

use ir::{AttributeKey as K, Opcode as O};

use super::rows::*;
use crate::op_attributes::*;
use crate::op_row::Need::Always;
use crate::op_row::*;
use Special as S;

pub(super) const OPS: &[OpRow] = &[
    special("tuple", O::Tuple, S::Tuple, &[]),
    special("get_tuple_element", O::GetTupleElement, S::GetTupleElement, &[]),
    special("optimization_barrier", O::OptBarrier, S::OptimizationBarrier, &[]),
    special("while", O::While, S::While, &[]),
    special("if", O::Conditional, S::If, &[]),
    special("case", O::Conditional, S::Case, &[]),
    special("custom_call", O::CustomCall, S::CustomCall, &[]),
    special("call", O::Call, S::Call, &[]),
    special("composite", O::Call, S::Composite, &[]),
    with(
        mhlo("fusion", O::Fusion, &[at("fusion_kind", "", K::Kind, Form::Word("fusion_kind"), Always)]),
        &[K::Calls],
    ),
    mhlo("domain", O::Domain, &[at("kind", "", K::Domain, Form::Domain, Always)]),
    OpRow { dialect: Dialect::Mhlo, ..special("async_start", O::AsyncStart, S::AsyncStart, &[]) },
    OpRow { dialect: Dialect::Mhlo, ..special("async_update", O::AsyncUpdate, S::AsyncDone, &[]) },
    OpRow { dialect: Dialect::Mhlo, ..special("async_done", O::AsyncDone, S::AsyncDone, &[]) },
    // MHLO wrote it like this.
    read_only(mhlo(
        "xla_rng_get_and_update_state",
        O::RngGetAndUpdateState,
        &[at("delta", "", K::Delta, Form::Int, Always)],
    )),
];
