//! Kernels with defects, and invalid texts.

use executor::Program;

use crate::{kernel, run_on};

/// Checks the problem that ends the run of a kernel on 64 threads: its code, the line within the body, the
/// thread.
#[track_caller]
fn check_problem(body: &str, expect: (&str, u32, u32)) {
    let ran = run_on(&kernel(1, body), 1, 64, &[], 64);
    let problem = ran.report.expect_err("a problem");
    let thread = problem.thread.map_or(u32::MAX, |t| t.thread[0]);
    assert_eq!((problem.code, problem.place.line - 10, thread), expect, "{problem}");
}

/// Checks the findings: codes, lines within the body, counts.
#[track_caller]
fn check_findings(body: &str, expect: &[(&str, u32, u64)]) {
    let ran = run_on(&kernel(1, body), 1, 64, &[], 64);
    let report = ran.report.unwrap_or_else(|problem| panic!("{problem}"));
    let found: Vec<_> = report.findings.iter().map(|f| (f.code, f.place.line - 10, f.count)).collect();
    assert_eq!(found, expect);
}

const OWN: &str = "mov.u32 %r3, %tid.x; ld.param.u64 %d0, [p0]; mad.wide.u32 %d1, %r3, 4, %d0;";

#[test]
fn accesses_that_miss() {
    check_problem(&format!("{OWN}\nst.global.b32 [%d1+4], %r3; ret;"), ("out-of-bounds", 1, 63));
    check_problem(&format!("{OWN}\nst.global.b32 [%d1+2], %r3; ret;"), ("misaligned", 1, 0));
    check_problem("mov.b64 %d1, 64;\nld.global.b32 %r1, [%d1]; ret;", ("out-of-bounds", 1, 0));
    check_problem(
        ".shared .b8 s[16];\nmov.b64 %d1, s; ld.shared.b64 %d2, [%d1+16]; ret;",
        ("out-of-bounds", 1, 0),
    );
    check_problem(
        ".local .b8 s[16];\nmov.b64 %d1, s; ld.local.b64 %d2, [%d1+16]; ret;",
        ("out-of-bounds", 1, 0),
    );
}

#[test]
fn threads_that_disturb_each_other() {
    let shared = ".shared .align 4 .b8 s[256]; mov.u32 %r3, %tid.x; mov.b64 %d2, s; mad.wide.u32 %d3, %r3, 4, %d2;\n\
                  xor.b32 %r4, %r3, 32; mad.wide.u32 %d4, %r4, 4, %d2;";
    // The second warp reads what the first wrote; the first reads uninitialised data.
    check_findings(
        &format!("{shared}\nst.shared.b32 [%d3], %r3;\nld.shared.b32 %r5, [%d4]; ret;"),
        &[("shared-race", 2, 32), ("uninitialised-shared", 3, 32), ("shared-race", 3, 32)],
    );
    check_findings(
        &format!("{shared}\nst.shared.b32 [%d3], %r3;\nbar.sync 0; ld.shared.b32 %r5, [%d4]; ret;"),
        &[],
    );
    check_findings(&format!("{shared}\nst.shared.b32 [s], %r3;\nret;"), &[("shared-race", 2, 63)]);
    check_findings(&format!("{shared}\natom.shared.add.u32 %r5, [s], %r3;\nret;"), &[]);
}

#[test]
fn what_nobody_wrote() {
    check_findings("add.s32 %r1, %r2, 1;\nret;", &[("uninitialised-register", 0, 64)]);
    check_findings(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 3;\n@%p1 mov.b32 %r2, 1;\nneg.s32 %r3, %r2; ret;",
        &[("uninitialised-register", 2, 61)],
    );
    check_findings(&format!("{OWN}\nld.global.b32 %r5, [%d1]; ret;"), &[("uninitialised-global", 1, 64)]);
}

/// A copy of eight bytes that reads fewer fills the rest with zeros.
#[test]
fn a_copy_reads_as_many_bytes_as_it_says() {
    let copy = |count: u32| {
        format!(
            ".shared .align 8 .b8 s[256]; mov.u32 %r3, %tid.x; setp.ge.u32 %p1, %r3, 32; @%p1 ret; mov.b32 %r4, {count};\n\
             ld.param.u64 %d0, [p0]; mad.wide.u32 %d1, %r3, 8, %d0; mov.b64 %d2, s; mad.wide.u32 %d3, %r3, 8, %d2;\n\
             st.global.b32 [%d1], %r3;\n\
             cp.async.ca.shared.global [%d3], [%d1], 8, %r4; ret;"
        )
    };
    check_findings(&copy(4), &[]);
    check_findings(&copy(8), &[("uninitialised-global", 3, 32)]);
}

#[test]
fn barriers_that_are_not_met() {
    check_problem(
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra $A;\nbar.sync 0; bra $B;\n$A:\nbar.sync 0;\n$B: ret;",
        ("divergent-barrier", 3, 0),
    );
    // Barriers do not wait for ended threads, only for those still running.
    check_findings("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 ret; bar.sync 0; ret;", &[]);
    check_findings(
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra $A;\n$B: bar.sync 0; ret;\n$A: add.s32 %r1, %r1, 1; bra $B;",
        &[],
    );
}

#[test]
fn runs_that_do_not_end() {
    check_problem("$A: bra $A;", ("step-limit", 0, 0));
    check_problem("mov.b32 %r1, 1;\ntrap;", ("trap", 1, 0));
}

/// Checks where and why a text is rejected.
#[track_caller]
fn check_text(text: &str, expect: (&str, u32, u32)) {
    let Err(problem) = Program::new(text, None) else { panic!("no problem: {text}") };
    assert_eq!((problem.code, problem.place.line, problem.place.column), expect, "{problem}");
}

#[test]
fn texts_that_are_refused() {
    check_text("", ("ptx-name", 0, 0));
    check_text(".version 8.0\nfoo", ("ptx-syntax", 2, 1));
    check_text(&kernel(0, "add.s32 %r1, %r2"), ("ptx-syntax", 11, 1));
    check_text(&kernel(0, "add.s32 %r1, %r2, %q3;"), ("ptx-name", 10, 1));
    check_text(&kernel(0, "add.s32 %d1, %r2, %r3;"), ("ptx-operand", 10, 1));
    check_text(&kernel(0, "add.s32 %r1, %r2;"), ("ptx-operand", 10, 1));
    check_text(&kernel(0, "bra $L;"), ("ptx-name", 10, 1));
    check_text(
        &kernel(0, "\n  mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 %r1, %r2, %r3, %r4;"),
        ("ptx-unsupported", 11, 3),
    );
    check_text(
        &kernel(0, "\n  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %r1, %r2, %r3, %r4;"),
        ("ptx-operand", 11, 3),
    );
    check_text(&kernel(0, "/* no end"), ("ptx-syntax", 10, 1));
}

#[test]
fn nothing_panics_on_spoilt_texts() {
    let body = "\
.shared .align 4 .b8 s[64]; mov.u32 %r3, %tid.x; ld.param.u64 %d0, [p0]; mad.wide.u32 %d1, %r3, 4, %d0;
mov.b64 %d2, s; st.shared.b8 [%d2+3], %r3; bar.sync 0; ld.shared.v2.b32 {%r4, %r5}, [%d2+8];
setp.lt.or.u32 %p1|%p2, %r3, 9, %p1; @%p1 bra $L; shfl.sync.down.b32 %r6|%p3, %r4, 1, 31, -1;
atom.global.cas.b32 %r7, [%d0], %r4, %r5; cvt.rn.bf16x2.f32 %r8, %r4, 0f3F800000;
$L: st.global.b32 [%d1], %r8; ret;";
    let text = kernel(1, body);
    let mut rng = random::Rng::new(7);
    let mut next = |below: usize| rng.index(below);
    let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
    for _ in 0..2000 {
        let mut spoilt = words.clone();
        for _ in 0..=next(3) {
            if spoilt.is_empty() {
                break;
            }
            let at = next(spoilt.len());
            match next(4) {
                0 => _ = spoilt.remove(at),
                1 => spoilt[at] = words[next(words.len())],
                2 => {
                    spoilt.insert(at, ["{", "}", "[", "4294967295", "-1", "%r99", ".v4", "%d0", "é"][next(9)])
                }
                _ => spoilt.truncate(at),
            }
        }
        let spoilt = spoilt.concat();
        if Program::new(&spoilt, None).is_ok_and(|program| program.parameter_count() == 1) {
            _ = run_on(&spoilt, 2, 64, &[], 64).report;
        }
    }
}
