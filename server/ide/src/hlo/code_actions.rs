//! Code actions for HLO: one file per action, and their list.

mod extract;
mod operand_shapes;
mod repair;
mod strip_metadata;

use crate::code_actions::{Provider, access_pattern, convert, evaluate, heaviest_kernels, show_kernel};

/// The providers for HLO, in the order in which editors show their actions.
pub(crate) const PROVIDERS: &[Provider] = &[
    repair::repair,
    operand_shapes::operand_shapes,
    strip_metadata::strip_metadata,
    extract::extract,
    show_kernel::offer,
    access_pattern::offer,
    evaluate::offer,
    heaviest_kernels::offer,
    convert::offer,
];
