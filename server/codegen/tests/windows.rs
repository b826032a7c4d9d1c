//! Windows that lie partly outside of their array.

mod agreeing;
mod written;

use agreeing::agrees;

/// In an unrolled step of the loops the bounds of the inner window contradict those of the outer one, so that no
/// thread may read.
#[test]
fn bounds_that_contradict_each_other() {
    agrees(
        &["f32[2,3]", "f32[]", "f32[]", "f32[]"],
        "  r = f32[2] reduce(p0, p1), dimensions={1}, to_apply=add\n  \
         w = f32[3] reduce-window(r, p2), window={size=2 pad=2_0}, to_apply=add\n  \
         ROOT v = f32[2] reduce-window(w, p3), window={size=2 stride=3 pad=1_1}, to_apply=add",
        "f32[2]",
    );
}
