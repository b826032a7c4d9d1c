//! Runs kernels of small fusions of our own on the processor and compares them with the interpreter: one for
//! each way to compute an element, and one for each entry.

mod agreeing;
mod written;

use agreeing::agrees;

#[test]
fn elementwise() {
    agrees(
        &["f32[33,70]", "f32[70]", "f32[]"],
        "  b = f32[33,70] broadcast(p1), dimensions={1}\n  s = f32[33,70] broadcast(p2), dimensions={}
  c = pred[33,70] compare(p0, b), direction=LT\n  d = f32[33,70] subtract(p0, s)
  ROOT r = f32[33,70] select(c, d, b)",
        "f32[33,70]",
    );
    agrees(
        &["bf16[1024,640]"],
        "  n = bf16[1024,640] negate(p0)\n  ROOT r = bf16[1024,640] add(n, p0)",
        "bf16[1024,640]",
    );
    agrees(
        &["s8[50,34]"],
        "  c = s32[50,34] convert(p0)\n  ROOT r = s32[50,34] multiply(c, c)",
        "s32[50,34]",
    );
    agrees(
        &["pred[100]", "pred[100]"],
        "  x = pred[100] xor(p0, p1)\n  ROOT r = pred[100] not(x)",
        "pred[100]",
    );
}

/// Subnormal numbers are unchanged if the exponent has as many bits as that of `f16`, in which XLA computes.
#[test]
fn small_floats_with_fewer_bits() {
    for element in ["f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4"] {
        for (exponent, mantissa) in [(5, 1), (4, 2), (3, 0)] {
            let array = format!("{element}[512]");
            let op = format!("reduce-precision(p0), exponent_bits={exponent}, mantissa_bits={mantissa}");
            agrees(&[&array], &format!("  ROOT r = {array} {op}"), &array);
        }
    }
}

#[test]
fn moved_elements() {
    agrees(
        &["f32[8,6,10]"],
        "  t = f32[10,6,8] transpose(p0), dimensions={2,1,0}\n  v = f32[10,6,8] reverse(t), dimensions={1}
  s = f32[5,6,4] slice(v), slice={[0:10:2], [0:6], [4:8]}\n  ROOT r = f32[120] reshape(s)",
        "f32[120]",
    );
    agrees(&["f32[8,6]", "f32[]"], "  ROOT r = f32[12,17] pad(p0, p1), padding=2_2x-1_2_2", "f32[12,17]");
    agrees(
        &["f32[3,7]", "f32[1,7]", "f32[2,7]", "f32[3,7]", "f32[4,7]"],
        "  ROOT r = f32[13,7] concatenate(p0, p1, p2, p3, p4), dimensions={0}",
        "f32[13,7]",
    );
    agrees(&["f32[20,30]{0,1}"], "  ROOT r = f32[20,30]{1,0} copy(p0)", "f32[20,30]{1,0}");
    agrees(
        &["s32[4,5]"],
        "  i = s32[4,5] iota(), iota_dimension=1\n  ROOT r = s32[4,5] add(p0, i)",
        "s32[4,5]",
    );
}

#[test]
fn places_known_at_run_time() {
    agrees(
        &["f32[10,12]", "s32[]", "s32[]"],
        "  ROOT r = f32[4,5] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={4,5}",
        "f32[4,5]",
    );
    agrees(
        &["f32[20,16]", "s32[9,1]"],
        "  ROOT r = f32[9,16] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
         index_vector_dim=1, slice_sizes={1,16}",
        "f32[9,16]",
    );
    agrees(
        &["f32[20,16]", "f32[3,16]", "s32[]", "s32[]"],
        "  n = f32[3,16] negate(p1)\n  ROOT r = f32[20,16] dynamic-update-slice(p0, n, p2, p3)",
        "f32[20,16]",
    );
}

#[test]
fn loops_inside() {
    agrees(
        &["f32[6,50]", "f32[]"],
        "  s = f32[6] reduce(p0, p1), dimensions={1}, to_apply=add\n  b = f32[6,50] broadcast(s), dimensions={0}
  ROOT r = f32[6,50] subtract(p0, b)",
        "f32[6,50]",
    );
    agrees(
        &["f32[4,9]", "f32[9,3]"],
        "  ROOT r = f32[4,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "f32[4,3]",
    );
    agrees(
        &["f32[20]", "f32[]"],
        "  ROOT r = f32[20] reduce-window(p0, p1), window={size=3 pad=1_1}, to_apply=add",
        "f32[20]",
    );
    agrees(
        &["f32[1,8,2]", "f32[3,2,4]"],
        "  ROOT r = f32[1,8,4] convolution(p0, p1), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
        "f32[1,8,4]",
    );
}

#[test]
fn through_shared_memory() {
    for element in ["f32", "s64", "c64"] {
        let (shape, result) = (format!("{element}[2,70,45]"), format!("{element}[2,45,70]"));
        agrees(&[&shape], &format!("  ROOT r = {result} transpose(p0), dimensions={{0,2,1}}"), &result);
    }
    agrees(
        &["f32[100,300]", "f32[300]"],
        "  t = f32[300,100] transpose(p0), dimensions={1,0}\n  b = f32[300,100] broadcast(p1), dimensions={0}
  ROOT r = f32[300,100] multiply(t, b)",
        "f32[300,100]",
    );
    agrees(&["f32[40,50,2]"], "  ROOT r = f32[50,40,2] transpose(p0), dimensions={1,0,2}", "f32[50,40,2]");
}

#[test]
fn several_results() {
    agrees(
        &["f32[40,50]"],
        "  n = f32[40,50] negate(p0)\n  b = f32[2000] bitcast(n)\n  ROOT r = (f32[40,50], f32[2000]) tuple(n, b)",
        "(f32[40,50], f32[2000])",
    );
    agrees(
        &["f32[40,50]"],
        "  t = f32[50,40] transpose(p0), dimensions={1,0}\n  n = f32[40,50] negate(p0)
  ROOT r = (f32[50,40], f32[40,50]) tuple(t, n)",
        "(f32[50,40], f32[40,50])",
    );
}
