//! Costs against XLA's own.

use crate::{Database, Documents, Language};

/// What entry computations of one line cost by `hlo_module_cost_analysis` of jaxlib 0.10.2: FLOP, transcendentals,
/// bytes.
const XLA: &[(&str, [u64; 3])] = &[
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[8,16] add(p, p)"#,
        [128, 0, 1536],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[8,16] exponential(p)"#,
        [0, 128, 1024],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[8,16] erf(p)"#,
        [0, 128, 1024],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[8,16] asin(p)"#,
        [0, 128, 1024],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[8,16] tan(p)"#,
        [0, 128, 1024],
    ),
    (
        r#"  p = s32[8,16] parameter(0)
  ROOT q = s32[8,16] power(p,p)"#,
        [0, 128, 1536],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[16,8] transpose(p), dimensions={1,0}"#,
        [0, 0, 1024],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[128] reshape(p)"#,
        [0, 0, 1024],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = f32[8,16] broadcast(p), dimensions={0}"#,
        [0, 0, 544],
    ),
    (r#"  ROOT q = f32[8,16] iota(), iota_dimension=0"#, [0, 0, 512]),
    (
        r#"  p = f32[8,16] parameter(0)
  ROOT q = f32[2,2] slice(p), slice={[0:2],[0:2]}"#,
        [0, 0, 32],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  z = s32[] constant(0)
  ROOT q = f32[2,2] dynamic-slice(p,z,z), dynamic_slice_sizes={2,2}"#,
        [0, 0, 36],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  u = f32[2,2] parameter(1)
  z = s32[] constant(0)
  ROOT q = f32[8,16] dynamic-update-slice(p,u,z,z)"#,
        [0, 0, 36],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  i = s32[4,1] parameter(1)
  ROOT q = f32[4,16] gather(p,i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}"#,
        [0, 0, 528],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  i = s32[4,1] parameter(1)
  u = f32[4,16] parameter(2)
  ROOT q = f32[8,16] scatter(p,i,u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum"#,
        [64, 0, 784],
    ),
    (
        r#"  p = f32[8] parameter(0)
  z = f32[] constant(0)
  ROOT q = f32[10] pad(p,z), padding=1_1"#,
        [0, 0, 76],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = f32[16] concatenate(p,p), dimensions={0}"#,
        [0, 0, 128],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = f32[8] copy(p)"#,
        [0, 0, 64],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = bf16[8] convert(p)"#,
        [8, 0, 48],
    ),
    (
        r#"  p = f32[8] parameter(0)
  c = pred[8] parameter(1)
  ROOT q = f32[8] select(c,p,p)"#,
        [8, 0, 104],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = pred[8] compare(p,p), direction=LT"#,
        [8, 0, 72],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  z = f32[] constant(0)
  ROOT q = f32[8] reduce(p,z), dimensions={1}, to_apply=sum"#,
        [120, 0, 548],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  z = f32[] constant(0)
  ROOT q = f32[8,15] reduce-window(p,z), window={size=1x2}, to_apply=sum"#,
        [120, 0, 996],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = f32[8] map(p,p), dimensions={0}, to_apply=sum"#,
        [8, 0, 96],
    ),
    (
        r#"  p = f32[8,16] parameter(0)
  w = f32[16,4] parameter(1)
  ROOT q = f32[8,4] dot(p,w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"#,
        [1024, 0, 896],
    ),
    (
        r#"  x = f32[1,10,2] parameter(0)
  w = f32[3,2,4] parameter(1)
  ROOT c = f32[1,10,4] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f"#,
        [448, 0, 336],
    ),
    (
        r#"  x = f32[2,10,4] parameter(0)
  w = f32[3,2,4] parameter(1)
  ROOT c = f32[2,5,4] convolution(x, w), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=2"#,
        [448, 0, 576],
    ),
    (
        r#"  x = f32[4,10,2] parameter(0)
  w = f32[3,2,4] parameter(1)
  ROOT c = f32[2,8,4] convolution(x, w), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2"#,
        [768, 0, 672],
    ),
    (
        r#"  p = f32[9] parameter(0)
  ROOT q = f32[9] sort(p), dimensions={0}, to_apply=lt"#,
        [36, 0, 72],
    ),
    (
        r#"  p = c64[4,8] parameter(0)
  ROOT q = c64[4,8] fft(p), fft_type=FFT, fft_length={8}"#,
        [768, 0, 512],
    ),
    (
        r#"  p = f32[4,4] parameter(0)
  ROOT q = f32[4,4] cholesky(p)"#,
        [21, 0, 64],
    ),
    (
        r#"  p = f32[4,4] parameter(0)
  b = f32[4,3] parameter(1)
  ROOT q = f32[4,3] triangular-solve(p,b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"#,
        [96, 0, 128],
    ),
    (
        r#"  p = f32[8] parameter(0)
  t = (f32[8],f32[8]) tuple(p,p)
  ROOT q = f32[8] get-tuple-element(t), index=1"#,
        [0, 0, 16],
    ),
    (
        r#"  p = f32[8] parameter(0)
  ROOT q = f32[4,2] bitcast(p)"#,
        [0, 0, 0],
    ),
    (
        r#"  a = f32[] parameter(0)
  ROOT q = f32[8] rng(a,a), distribution=rng_uniform"#,
        [0, 8, 40],
    ),
    (
        r#"  a = u64[2] parameter(0)
  ROOT q = (u64[2], u32[8]) rng-bit-generator(a), algorithm=rng_default"#,
        [0, 10, 64],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[8] all-reduce(a), replica_groups={}, to_apply=sum"#,
        [8, 0, 64],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[16] all-gather(a), dimensions={0}, replica_groups={{0,1}}"#,
        [0, 0, 96],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[8] reverse(a), dimensions={0}"#,
        [0, 0, 64],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[8] clamp(a,a,a)"#,
        [8, 0, 128],
    ),
    (
        r#"  a = f32[] parameter(0)
  ROOT q = f32[] call(a,a), to_apply=sum"#,
        [1, 0, 12],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[8] fusion(a), kind=kLoop, calls=fused"#,
        [8, 8, 64],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[2] fusion(a), kind=kLoop, calls=fslice"#,
        [8, 0, 40],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[8] while(a), condition=cond, body=body"#,
        [8, 0, 96],
    ),
    (
        r#"  a = f32[8] parameter(0)
  p = pred[] parameter(1)
  ROOT q = f32[8] conditional(p,a,a), true_computation=body, false_computation=body2"#,
        [8, 8, 160],
    ),
    (
        r#"  a = f32[4] parameter(0)
  s = f32[2] parameter(1)
  z = f32[] constant(0)
  ROOT q = f32[4] select-and-scatter(a,s,z), window={size=2 stride=2}, select=lt, scatter=sum"#,
        [4, 0, 44],
    ),
    (
        r#"  a = f32[4,4] parameter(0)
  s = f32[4] parameter(1)
  ROOT q = f32[4,4] batch-norm-inference(a,s,s,s,s), epsilon=0.1, feature_index=1"#,
        [0, 0, 192],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = f32[8] reduce-precision(a), exponent_bits=5, mantissa_bits=10"#,
        [8, 0, 64],
    ),
    (
        r#"  a = s32[8] parameter(0)
  ROOT q = s32[8] popcnt(a)"#,
        [8, 0, 64],
    ),
    (
        r#"  a = c64[8] parameter(0)
  ROOT q = c64[8] multiply(a,a)"#,
        [8, 0, 192],
    ),
    (
        r#"  a = f32[8] parameter(0)
  ROOT q = (f32[2], s32[2]) topk(a), k=2, largest=true"#,
        [0, 0, 48],
    ),
];

const CALLED: &str = "HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = pred[] compare(a, b), direction=LT
}

fused {
  p = f32[8] parameter(0)
  e = f32[8] exponential(p)
  ROOT s = f32[8] add(e, p)
}

fslice {
  p = f32[8] parameter(0)
  e = f32[8] negate(p)
  ROOT s = f32[2] slice(e), slice={[0:2]}
}

body {
  p = f32[8] parameter(0)
  ROOT s = f32[8] add(p, p)
}

body2 {
  p = f32[8] parameter(0)
  e = f32[8] add(p, p)
  ROOT s = f32[8] exponential(e)
}

cond {
  p = f32[8] parameter(0)
  ROOT s = pred[] constant(true)
}

";

#[test]
fn costs_are_those_of_xla() {
    let mut db = Database::default();
    let mut documents = Documents::default();
    let mut wrong = String::new();
    for (lines, expect) in XLA {
        let text = format!("{CALLED}ENTRY e {{\n{lines}\n}}\n");
        let id = documents.open(&mut db, Language::Hlo, &text);
        let file = documents.view(id).expect("it is open").file;
        let costs = super::computation_costs(&db, file);
        let cost = costs.last().expect("the entry is the last").total;
        let found = [cost.flops, cost.transcendentals, cost.bytes];
        if found != *expect || cost.unknown > 0 {
            wrong += &format!("{lines}\n  XLA: {expect:?}, here: {cost:?}\n");
        }
        documents.close(&mut db, id);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
