//! Measures thread-instructions per second: kernels with arithmetic, memory traffic, branches, shared memory
//! and shuffles.
//!
//! `cargo run --profile dist -p executor --example bench`

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::time::Instant;

use executor::{Argument, Contents, Launch, Memory, Program, run};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n\
                    .reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %d<8>;\n.shared .align 4 .b8 s[1024];\n\
                    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; shl.b32 %r3, %r1, 8; add.s32 %r3, %r3, %r2;\n\
                    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; cvta.to.global.u64 %d1, %d1;\n\
                    mul.wide.u32 %d3, %r3, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3; mov.b32 %r4, %r3; mov.b32 %r5, 0;\n";

const TAIL: &str = "\nst.global.b32 [%d5], %r4;\nret;\n}\n";

/// A loop that runs a body `count` times.
fn turns(count: u32, body: &str) -> String {
    format!("$LOOP:\n{body}\nadd.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, {count}; @%p1 bra $LOOP;")
}

fn main() {
    let kernels = [
        (
            "integers",
            turns(
                64,
                "mad.lo.s32 %r4, %r4, 5, %r2; xor.b32 %r6, %r4, %r1; shr.u32 %r7, %r6, 3; add.s32 %r4, %r4, %r7;",
            ),
        ),
        (
            "f32",
            turns(
                64,
                "cvt.rn.f32.u32 %r6, %r4; fma.rn.f32 %r7, %r6, 0f3F000000, 0f3F800000; mul.rn.f32 %r7, %r7, %r7; cvt.rzi.u32.f32 %r4, %r7;",
            ),
        ),
        (
            "bf16",
            turns(
                64,
                "cvt.rn.bf16x2.f32 %r6, %r4, %r4; add.rn.bf16x2 %r6, %r6, %r6; mul.rn.bf16x2 %r4, %r6, %r6;",
            ),
        ),
        ("exponential", turns(64, "ex2.approx.ftz.f32 %r6, %r4; add.rn.f32 %r4, %r6, 0f3F800000;")),
        (
            "global memory",
            turns(64, "ld.global.nc.b32 %r6, [%d4]; add.s32 %r4, %r4, %r6; st.global.b32 [%d5], %r4;"),
        ),
        (
            "vectors",
            turns(
                64,
                "and.b32 %r8, %r3, 0xFFFFC; mul.wide.u32 %d6, %r8, 4; add.s64 %d6, %d1, %d6; ld.global.nc.v4.b32 {%r9, %r10, %r11, %r12}, [%d6]; add.s32 %r4, %r4, %r12;",
            ),
        ),
        (
            "branches",
            turns(
                64,
                "and.b32 %r6, %r2, %r5; and.b32 %r6, %r6, 1; setp.eq.s32 %p2, %r6, 0; @%p2 bra $ODD; add.s32 %r4, %r4, 3; bra $BOTH;\n$ODD: sub.s32 %r4, %r4, 1;\n$BOTH:",
            ),
        ),
        ("shuffles", turns(64, "shfl.sync.bfly.b32 %r6, %r4, 1, 31, -1; add.s32 %r4, %r4, %r6;")),
        (
            "shared memory",
            turns(
                64,
                "shl.b32 %r6, %r2, 2; st.shared.b32 [%r6], %r4; bar.sync 0; xor.b32 %r7, %r6, 512; ld.shared.b32 %r4, [%r7]; bar.sync 0;",
            ),
        ),
    ];
    println!("{:<16} {:>14} {:>10} {:>12}", "kernel", "instructions", "seconds", "million/s");
    for (name, body) in kernels {
        let text = format!("{HEAD}{body}{TAIL}");
        let program = match Program::new(&text, None) {
            Ok(program) => program,
            Err(problem) => {
                println!("{name}: {problem}");
                continue;
            }
        };
        let mut memory = Memory::new(1 << 30);
        let input = memory.add(1 << 22, Contents::Known(Box::new(|_, bytes| bytes.fill(1))));
        let output = memory.add(1 << 22, Contents::Unknown);
        let arguments = vec![Argument::Buffer(input), Argument::Buffer(output)];
        let launch = Launch::new([256, 1, 1], [256, 1, 1], arguments);
        let started = Instant::now();
        match run(&program, &launch, &mut memory) {
            Ok(report) => {
                let seconds = started.elapsed().as_secs_f64();
                let rate = report.thread_steps as f64 / seconds / 1e6;
                println!("{name:<16} {:>14} {seconds:>10.3} {rate:>12.0}", report.thread_steps);
                for finding in report.findings {
                    println!("  {} {}", finding.code, finding.words);
                }
            }
            Err(problem) => println!("{name}: {problem}"),
        }
    }
}
