//! The outputs of kernels.

use executor::{Blocks, Program};

use crate::{check, check_value, kernel, run_on, run_with};

/// The address of this thread's word of the last parameter, in `%d1`; the thread's number in `%r1`.
const OWN: &str = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r1, %r1, %r2, %r3;\n\
                   ld.param.u64 %d0, [p0]; cvta.to.global.u64 %d0, %d0; mad.wide.u32 %d1, %r1, 4, %d0;";

#[test]
fn arithmetic() {
    check_value("mov.b32 %r1, -7; mov.b32 %r2, 2; div.s32 %r0, %r1, %r2;", -3i32 as u32);
    check_value("mov.b32 %r1, -7; shr.s32 %r0, %r1, 40;", u32::MAX);
    check_value("mov.b32 %r1, -7; shr.u32 %r0, %r1, 40;", 0);
    check_value("mov.b32 %r1, 0x12345678; prmt.b32 %r0, %r1, 0, 0x0123;", 0x78563412);
    check_value("mov.b32 %r1, 0x80; prmt.b32 %r0, %r1, 0, 0x8888;", u32::MAX);
    check_value(
        "mov.b32 %r1, 0xF0F0F0F0; mov.b32 %r2, 0xFF00FF00; lop3.b32 %r0, %r1, %r2, 0, 0xC0;",
        0xF000_F000,
    );
    check_value("mov.b32 %r1, 0xABCD; bfe.u32 %r0, %r1, 4, 8;", 0xBC);
    check_value("mov.b32 %r1, 0xABCD; bfe.s32 %r0, %r1, 4, 8;", 0xFFFF_FFBC);
    check_value("mov.b32 %r1, 0xFF; mov.b32 %r2, 0; bfi.b32 %r0, %r1, %r2, 8, 4;", 0xF00);
    check_value("mov.b32 %r1, 1; mov.b32 %r2, 0x80000000; shf.l.wrap.b32 %r0, %r2, %r1, 1;", 3);
    check_value("mov.b32 %r1, 0xFFFFFFFF; add.cc.u32 %r2, %r1, 1; addc.u32 %r0, 5, 0;", 6);
    check_value(
        "mov.b32 %r1, 0xFFFFFFFF; mad.lo.cc.u32 %r2, %r1, %r1, %r1; madc.hi.u32 %r0, %r1, %r1, 0;",
        u32::MAX,
    );
    check_value("mov.b32 %r1, 0x10001; mul.hi.u32 %r0, %r1, %r1;", 1);
    check_value("mov.b64 %d1, {1, 2}; shl.b64 %d1, %d1, 4; mov.b64 {%r1, %r0}, %d1;", 32);
    check_value(
        "{ .reg .b16 tmp; mov.b32 %r1, 0x12345678; mov.b32 {tmp, %h1}, %r1; } cvt.u32.u16 %r0, %h1;",
        0x1234,
    );
    check_value("mov.b16 %h1, -1; cvt.s32.s16 %r0, %h1;", u32::MAX);
    check_value("mov.b16 %h1, 0x180; cvt.s16.s8 %h2, %h1; cvt.u32.u16 %r0, %h2;", 0xFF80);
    check_value("mov.b32 %r1, 3; mov.b32 %r2, -1; slct.b32.s32 %r0, %r1, 9, %r2;", 9);
    check_value("mov.b32 %r1, 0x01020304; dp4a.u32.u32 %r0, %r1, 0x01010101, 5;", 15);
}

#[test]
fn floating_point() {
    let bits = f32::to_bits;
    check_value("mov.b32 %r1, 0f40000000; fma.rn.f32 %r0, %r1, %r1, 0f3F800000;", bits(5.0));
    check_value("mov.b32 %r1, 0f00000001; mul.ftz.f32 %r0, %r1, 0f3F800000;", 0);
    check_value("mov.b32 %r1, 0f7FC00000; max.f32 %r0, %r1, 0f3F800000;", bits(1.0));
    check_value("mov.b32 %r1, 0f7FC00000; max.NaN.f32 %r0, %r1, 0f3F800000;", 0x7FFF_FFFF);
    check_value("mov.b32 %r1, 0f4F800000; cvt.rzi.s32.f32 %r0, %r1;", i32::MAX as u32);
    check_value("mov.b32 %r1, 0f7FC00000; cvt.rzi.s32.f32 %r0, %r1;", 0);
    check_value("mov.b32 %r1, 0f40200000; cvt.rni.f32.f32 %r0, %r1;", bits(2.0));
    check_value("mov.b32 %r1, 0f3F800000; add.rz.f32 %r0, %r1, 0f33FFFFFF;", bits(1.0));
    check_value("mov.b32 %r1, 0f3F800000; add.rp.f32 %r0, %r1, 0f01000000;", bits(1.0) + 1);
    check_value("mov.b32 %r1, 0f3F800000; mov.b32 %r2, 0fC0000000; copysign.f32 %r0, %r2, %r1;", bits(-1.0));
    check_value("mov.b32 %r1, 0f3F800000; cvt.rn.bf16x2.f32 %r0, %r1, 0f40000000;", 0x3F80_4000);
    check_value("mov.b32 %r1, 0x3F804000; add.rn.bf16x2 %r0, %r1, %r1;", 0x4000_4080);
    check_value("mov.b16 %h1, 0x3C00; cvt.f32.f16 %r0, %h1;", bits(1.0));
    check_value(
        "mov.b32 %r1, 0f43E00000; cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, 0fC47A0000; cvt.u32.u16 %r0, %h1;",
        0x7EFE,
    );
    check_value("mov.b16 %h1, 0x7E38; cvt.rn.f16x2.e4m3x2 %r0, %h1;", 0x5F00_3C00);
    check_value("mov.b32 %r1, 0f7F800000; testp.infinite.f32 %p1, %r1; selp.b32 %r0, 1, 0, %p1;", 1);
    check_value("mov.b32 %r1, 0f40400000; ex2.approx.ftz.f32 %r0, %r1;", bits(8.0));
    check_value("mov.b32 %r1, 0f3FFFFFFF; cvt.sat.f32.f32 %r0, %r1;", bits(1.0));
}

#[test]
fn lanes_talk() {
    // The sum over all lanes by shuffles, and the results of votes.
    check_value(
        "\
mov.u32 %r0, %laneid; shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1; add.s32 %r0, %r0, %r1;
shfl.sync.bfly.b32 %r1, %r0, 8, 31, -1; add.s32 %r0, %r0, %r1; shfl.sync.bfly.b32 %r1, %r0, 4, 31, -1;
add.s32 %r0, %r0, %r1; shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1; add.s32 %r0, %r0, %r1;
shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; add.s32 %r0, %r0, %r1;",
        31 * 16,
    );
    check_value("mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 4; vote.sync.ballot.b32 %r0, %p1, -1;", 15);
    check_value("mov.u32 %r1, %laneid; redux.sync.add.s32 %r0, %r1, -1;", 496);
    check_value("activemask.b32 %r0;", u32::MAX);
}

#[test]
fn lanes_part_and_meet() {
    // Every thread counts to its own number; they reconverge and count the active lanes.
    let body = format!(
        "\
{OWN} mov.b32 %r4, 0; mov.b32 %r5, 0;
$LOOP: setp.ge.u32 %p1, %r4, %r3; @%p1 bra $DONE;
add.s32 %r5, %r5, %r4; add.s32 %r4, %r4, 1; bra.uni $LOOP;
$DONE: activemask.b32 %r6; popc.b32 %r6, %r6;
mad.lo.s32 %r5, %r6, 10000, %r5; st.global.b32 [%d1], %r5; ret;"
    );
    let expect: Vec<u32> = (0..64).map(|i| 320_000 + i * (i.max(1) - 1) / 2).collect();
    let ran = run_on(&kernel(1, &body), 1, 64, &[], 64);
    assert_eq!(ran.words, expect);
    assert_eq!(ran.report.map(|r| r.findings), Ok(Vec::new()));
}

#[test]
fn a_block_sums_through_shared_memory() {
    let body = format!(
        "\
.shared .align 4 .b8 s[32];
{OWN} and.b32 %r4, %r3, 31; shr.u32 %r5, %r3, 5; mov.b32 %r6, %r3;
shfl.sync.down.b32 %r7, %r6, 16, 31, -1; add.s32 %r6, %r6, %r7; shfl.sync.down.b32 %r7, %r6, 8, 31, -1;
add.s32 %r6, %r6, %r7; shfl.sync.down.b32 %r7, %r6, 4, 31, -1; add.s32 %r6, %r6, %r7;
shfl.sync.down.b32 %r7, %r6, 2, 31, -1; add.s32 %r6, %r6, %r7; shfl.sync.down.b32 %r7, %r6, 1, 31, -1;
add.s32 %r6, %r6, %r7; setp.ne.s32 %p1, %r4, 0; mov.b64 %d2, s; mad.wide.u32 %d3, %r5, 4, %d2;
@%p1 bra $W; st.shared.b32 [%d3], %r6;
$W: bar.sync 0; setp.ne.s32 %p2, %r3, 0; @%p2 ret;
ld.shared.v4.b32 {{%r8, %r9, %r10, %r11}}, [s]; ld.shared.v4.b32 {{%r12, %r13, %r14, %r15}}, [s+16];
add.s32 %r8, %r8, %r9; add.s32 %r8, %r8, %r10; add.s32 %r8, %r8, %r11; add.s32 %r8, %r8, %r12;
add.s32 %r8, %r8, %r13; add.s32 %r8, %r8, %r14; add.s32 %r8, %r8, %r15; st.global.b32 [%d0], %r8; ret;"
    );
    let ran = run_on(&kernel(1, &body), 1, 256, &[], 1);
    assert_eq!(ran.report.map(|r| r.findings), Ok(Vec::new()));
    assert_eq!(ran.words, [255 * 128]);
}

#[test]
fn atomic_updates_of_all_blocks_meet() {
    // A sum of ones, and the maximum by a compare-and-swap loop.
    let body = format!(
        "\
{OWN} ld.param.u64 %d2, [p1]; red.global.add.u32 [%d2], 1; ld.global.b32 %r4, [%d2+4];
$AGAIN: max.u32 %r5, %r4, %r1; atom.global.cas.b32 %r6, [%d2+4], %r4, %r5; setp.eq.b32 %p1, %r6, %r4;
mov.b32 %r4, %r6; @!%p1 bra $AGAIN; ret;"
    );
    let text = kernel(2, &body);
    let mut memory = executor::Memory::new(1 << 20);
    let own = memory.add(4, executor::Contents::Unknown);
    let zeros = memory.add(8, executor::Contents::Known(Box::new(|_, bytes| bytes.fill(0))));
    let program = Program::new(&text, Some("k")).unwrap();
    let arguments = [own, zeros].map(executor::Argument::Buffer).to_vec();
    let launch = executor::Launch::new([7, 1, 1], [96, 1, 1], arguments);
    let report = executor::run(&program, &launch, &mut memory).unwrap();
    assert_eq!(report.findings, []);
    let mut bytes = [0; 8];
    memory.read(zeros, 0, &mut bytes).unwrap();
    assert_eq!(bytes, [160, 2, 0, 0, 159, 2, 0, 0]);
}

#[test]
fn functions_and_own_memory() {
    let function = "\
.func (.param .b32 out) twice(.param .b32 in)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [in];
add.s32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret; }
";
    let body = format!(
        "\
.local .align 4 .b8 own[16]; .reg .b64 %SPL; {OWN} mov.b64 %SPL, own; st.local.b32 [%SPL+4], %r3;
ld.local.b32 %r4, [%SPL+4]; setp.gt.u32 %p1, %r3, 40; @%p1 bra $END;
{{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r4; call.uni (r), twice, (a); ld.param.b32 %r4, [r]; }}
$END: st.global.b32 [%d1], %r4; ret;"
    );
    let text = kernel(1, &body).replacen(".visible", &format!("{function}.visible"), 1);
    let ran = run_on(&text, 1, 64, &[], 64);
    assert_eq!(ran.report.map(|r| r.findings), Ok(Vec::new()));
    assert_eq!(ran.words, (0..64).map(|i| if i > 40 { i } else { 2 * i }).collect::<Vec<u32>>());
}

#[test]
fn variables_of_the_module() {
    let text = kernel(
        1,
        "mov.b64 %d1, table; ld.global.nc.b32 %r0, [%d1+8]; ld.param.u64 %d0, [p0]; st.global.b32 [%d0], %r0;",
    );
    let text = text.replacen(".visible", ".global .align 4 .b32 table[3] = {5, 6, 7};\n.visible", 1);
    assert_eq!(run_on(&text, 1, 1, &[], 1).words, [7]);
}

#[test]
fn sectors_of_requests() {
    let body = format!(
        "\
{OWN} ld.param.u64 %d2, [p0]; ld.param.u64 %d3, [p1]; mad.wide.u32 %d4, %r1, 4, %d2;
mad.wide.u32 %d5, %r1, 32, %d2; ld.global.b32 %r4, [%d4]; ld.global.b32 %r5, [%d5];
add.s32 %r4, %r4, %r5; mad.wide.u32 %d6, %r1, 4, %d3; st.global.b32 [%d6], %r4; ret;"
    );
    let ran = run_with(&kernel(2, &body), 2, 64, &[vec![1; 1024]], 128, |launch| launch.traces = true);
    let seen: Vec<_> = ran
        .report
        .unwrap()
        .traffic
        .iter()
        .map(|t| (t.buffer, t.is_store, t.requests, t.sectors, t.threads))
        .collect();
    assert_eq!(seen, [(0, false, 4, 16, 128), (0, false, 4, 128, 128), (1, true, 4, 16, 128)]);
    assert_eq!(ran.words, vec![2; 128]);
}

#[test]
fn some_blocks_of_many() {
    let body = format!("{OWN} st.global.b32 [%d1], %r1; ret;");
    let some = |launch: &mut executor::Launch| launch.blocks = Blocks::Some { count: 3, seed: 5 };
    let ran = run_with(&kernel(1, &body), 100, 32, &[], 3200, some);
    let report = ran.report.unwrap();
    let written: Vec<u32> = ran.words.iter().copied().filter(|w| *w != 0xEEEE_EEEE).collect();
    assert!(!report.is_whole && (3..=5).contains(&report.blocks));
    assert_eq!(written.len() as u64, 32 * report.blocks);
    assert_eq!((written[0], written[written.len() - 1]), (0, 3199));
    let again = run_with(&kernel(1, &body), 100, 32, &[], 3200, some);
    assert_eq!(again.words, ran.words);
}

#[test]
fn vectors_of_many_widths() {
    check(
        "\
ld.param.u64 %d0, [p0]; mov.u32 %r1, %laneid; setp.ne.u32 %p1, %r1, 0; @%p1 ret; mov.b16 %h1, 0x1122;
mov.b16 %h2, 0x3344; st.global.v2.b16 [%d0], {%h1, %h2}; st.global.b8 [%d0+4], %h1; st.global.b8 [%d0+5], %h2;
ld.global.s8 %r2, [%d0+5]; st.global.v4.b32 [%d0+16], {%r2, 1, _, %r1}; mov.b64 %d1, 5;
st.global.b16 [%d0+6], 7; st.global.b64 [%d0+8], %d1; ret;",
        &[0x3344_1122, 0x0007_4422, 5, 0, 0x44, 1, 0, 0],
    );
}
