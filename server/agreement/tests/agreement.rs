//! Kernels compared with their fusions: correct ones agree, modified ones do not.

use agreement::{Effort, Flavour, Kernel, check};

const HLO: &str = "HloModule m
fused {
  p = f32[100]{0} parameter(0)
  q = f32[100]{0} parameter(1)
  e = f32[100]{0} exponential(p)
  ROOT r = f32[100]{0} subtract(e, q)
}
ENTRY e {
  a = f32[100]{0} parameter(0)
  b = f32[100]{0} parameter(1)
  ROOT f = f32[100]{0} fusion(a, b), kind=kLoop, calls=fused
}
";

const BODY: &str = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r1, %r1, 64, %r2;
setp.ge.u32 %p1, %r1, 100; @%p1 ret; mul.wide.u32 %d0, %r1, 4;
ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; ld.param.u64 %d3, [p2];
add.s64 %d1, %d1, %d0; add.s64 %d2, %d2, %d0; add.s64 %d3, %d3, %d0;
ld.global.b32 %r3, [%d1]; ld.global.b32 %r4, [%d2];
mul.rn.f32 %r3, %r3, 0f3FB8AA3B; ex2.approx.f32 %r3, %r3; sub.rn.f32 %r3, %r3, %r4; st.global.b32 [%d3], %r3; ret;";

/// A kernel of three arrays around a body.
fn kernel(body: &str) -> String {
    format!(
        "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{{
.reg .pred %p<8>;
.reg .b16 %h<16>;
.reg .b32 %r<32>;
.reg .b64 %d<16>;
{body}
}}
"
    )
}

fn outcome(body: &str) -> Result<(u64, usize), String> {
    let kernel = Kernel { ptx: kernel(body), grid: [2, 1, 1], threads: [64, 1, 1] };
    let effort = |flavour| Effort { seed: 3, flavour, threads: 1 << 20, elements: 1 << 10, traces: false };
    let (mut compared, mut wrong) = (0, 0);
    for flavour in [Flavour::Plain, Flavour::Special] {
        let outcome =
            check(HLO, std::slice::from_ref(&kernel), effort(flavour)).map_err(|why| why.into_owned())?;
        compared += outcome.compared;
        wrong += outcome.wrong.len();
    }
    Ok((compared, wrong))
}

#[test]
fn spoilt_kernels_are_found_out() {
    assert_eq!(outcome(BODY), Ok((200, 0)));
    let spoilt = [
        ("sub.rn.f32 %r3, %r3, %r4", "add.rn.f32 %r3, %r3, %r4"),
        ("sub.rn.f32 %r3, %r3, %r4", "sub.rn.f32 %r3, %r4, %r3"),
        ("0f3FB8AA3B", "0f3FB8AA00"),
        ("ex2.approx.f32 %r3, %r3;", ""),
        ("ld.param.u64 %d1, [p0]", "ld.param.u64 %d1, [p1]"),
        (
            "mul.wide.u32 %d0, %r1, 4",
            "xor.b32 %r5, %r1, 1; mul.wide.u32 %d0, %r5, 4; ld.param.u64 %d1, [p0]; mov.b64 %d4, %d0",
        ),
    ];
    for (from, to) in spoilt.iter().take(5) {
        let (_, wrong) = outcome(&BODY.replace(from, to)).expect(to);
        assert!(wrong > 20, "{to}: {wrong}");
    }
    // A permutation of equal elements is correct.
    assert_eq!(outcome(&BODY.replace(spoilt[5].0, spoilt[5].1)), Ok((200, 0)));
    let fewer = outcome(&BODY.replace("%r1, 100", "%r1, 99"));
    assert_eq!(fewer, Err("99 of 100 elements of an output were written".to_owned()));
    let outside = outcome(&BODY.replace("%r1, 100", "%r1, 128").replace("[%d3]", "[%d3+4096]"));
    assert!(outside.is_err_and(|why| why.contains("out-of-bounds")));
}
