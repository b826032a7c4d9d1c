//! Code actions for HLO: one file per action, and their list.

mod extract;
mod operand_shapes;
mod repair;
mod strip_metadata;
mod tile_sizes;

use crate::code_actions::{
    Provider, Providers, access_pattern, convert, evaluate, heaviest_kernels, show_fused, show_kernel,
};
use crate::hlo::Hlo;

/// The providers for HLO, in the order in which editors show their actions.
const PROVIDERS: &[Provider] = &[
    repair::repair,
    operand_shapes::operand_shapes,
    strip_metadata::strip_metadata,
    extract::extract,
    tile_sizes::tile_sizes,
    show_kernel::offer,
    access_pattern::offer,
    evaluate::offer,
    heaviest_kernels::offer,
    show_fused::offer,
    convert::offer,
];

impl Providers for Hlo {
    fn action_providers(&self) -> &'static [Provider] {
        PROVIDERS
    }
}
