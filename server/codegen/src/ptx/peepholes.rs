//! The stage after instruction selection: local improvements of the instructions of a whole kernel.

use super::element::packed;
use super::features::Features;
use super::lower::Selected;
use super::{Instructions, hoist, join, sink};
use crate::kernel::{Kernel, Param};

pub(super) fn peepholes(selected: Selected, kernel: &Kernel, features: Features) -> Instructions {
    let Selected { mut code, pointers, shared, missing, is_too_large, joins } = selected;
    code.drop_dead();
    sink::sink(&mut code);
    hoist::hoist(&mut code);
    let is_packed = |param: &Param| packed(param.shape.element).is_some();
    join::join(
        &mut code,
        join::Joining {
            widest: features.widest_access,
            vector_atomics: features.has_vector_atomics,
            in_pairs: joins.in_pairs,
            // The code of sorts moves numbers individually.
            has_wide_pairs: features.has_wide_pairs && kernel.waits,
            packed: kernel.params.iter().map(is_packed).collect(),
            vectors: joins.vectors,
        },
    );
    code.drop_dead();
    Instructions { code, pointers, shared, missing, is_too_large }
}
