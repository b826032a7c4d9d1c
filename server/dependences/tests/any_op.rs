//! Ops that are not valid.

use generators::hlo::spoilt_op;
use generators::{cases, on_all_cores, seed};
use random::Rng;

/// A reason or a result, never a panic.
#[test]
fn no_op_panics() {
    on_all_cores(cases(2_000), |i| {
        let spoilt = spoilt_op(&mut Rng::new(seed(i)));
        spoilt.generated.on(0, |setting| _ = dependences::trace(&spoilt.op, 0, setting));
    });
}
