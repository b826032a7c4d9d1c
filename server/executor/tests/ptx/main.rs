//! Small kernels: their outputs, their findings, where they end.

mod broken;
mod kernels;

use executor::{Argument, Contents, Launch, Memory, Problem, Program, Report, run};

/// A kernel around a body, with 64-bit parameters `p0`, `p1`, … and registers of all kinds.
pub fn kernel(parameters: usize, body: &str) -> String {
    let list: Vec<String> = (0..parameters).map(|i| format!(".param .u64 p{i}")).collect();
    format!(
        "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k({})
{{
.reg .pred %p<8>;
.reg .b16 %h<16>;
.reg .b32 %r<32>;
.reg .b64 %d<16>;
{body}
}}
",
        list.join(", ")
    )
}

pub struct Ran {
    pub report: Result<Report, Problem>,
    /// The last buffer, as words; 0xEEEE_EEEE where nothing was written.
    pub words: Vec<u32>,
}

/// Runs a kernel on `inputs` (words) and one output of `output` words.
pub fn run_on(text: &str, grid: u32, threads: u32, inputs: &[Vec<u32>], output: usize) -> Ran {
    run_with(text, grid, threads, inputs, output, |_| ())
}

pub fn run_with(
    text: &str,
    grid: u32,
    threads: u32,
    inputs: &[Vec<u32>],
    output: usize,
    change: impl Fn(&mut Launch),
) -> Ran {
    let mut memory = Memory::new(1 << 24);
    let mut arguments = Vec::new();
    for input in inputs {
        let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
        let size = bytes.len() as u64;
        let fill = move |offset: u64, to: &mut [u8]| {
            let from = &bytes[offset as usize..];
            let len = from.len().min(to.len());
            to[..len].copy_from_slice(&from[..len]);
        };
        arguments.push(Argument::Buffer(memory.add(size, Contents::Known(Box::new(fill)))));
    }
    let written = memory.add(4 * output as u64, Contents::Unknown);
    arguments.push(Argument::Buffer(written));
    let mut launch = Launch::new([grid, 1, 1], [threads, 1, 1], arguments);
    launch.max_steps = 1 << 20;
    change(&mut launch);
    let report = Program::new(text, None).and_then(|program| run(&program, &launch, &mut memory));
    let words = (0..output as u64)
        .map(|i| {
            let mut bytes = [0; 4];
            match memory.read(written, 4 * i, &mut bytes) {
                Ok(()) => u32::from_le_bytes(bytes),
                Err(_) => 0xEEEE_EEEE,
            }
        })
        .collect();
    Ran { report, words }
}

/// Checks the words that a kernel with one parameter writes, run by one warp.
#[track_caller]
pub fn check(body: &str, expect: &[u32]) {
    let ran = run_on(&kernel(1, body), 1, 32, &[], expect.len());
    let report = ran.report.unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(ran.words, expect);
    assert_eq!(report.findings, []);
}

/// Checks one value that every lane computes into `%r0`.
#[track_caller]
pub fn check_value(body: &str, expect: u32) {
    let store = "ld.param.u64 %d0, [p0];\nmov.u32 %r31, %laneid;\nsetp.ne.u32 %p7, %r31, 0;\n@%p7 ret;\n\
                 st.global.u32 [%d0], %r0;\nret;";
    check(&format!("{body}\n{store}"), &[expect]);
}
