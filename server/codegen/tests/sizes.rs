//! Fusions of all sizes give a kernel or a reason, quickly.

mod written;

use test_files::hlo::SIZED_BODIES;
use written::written;

const SIZES: [&str; 8] = ["0", "1", "31", "64", "4000", "<=7", "4611686018427387905", "9223372036854775807"];

fn module(body: &str, element: &str) -> String {
    let params: Vec<&str> = body.lines().filter(|line| line.contains(" parameter(")).map(str::trim).collect();
    let names: Vec<&str> = params.iter().filter_map(|line| line.split(' ').next()).collect();
    let root = body.split("ROOT r = ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    format!(
        "\
HloModule m

add {{
 a = {element}[] parameter(0)
 b = {element}[] parameter(1)
 ROOT c = {element}[] add(a, b)
}}

less {{
 a = {element}[] parameter(0)
 b = {element}[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT
}}

fused {{
 {body}
}}

ENTRY e {{
 {}
 ROOT f = {root} fusion({}), kind=kLoop, calls=fused
}}
",
        params.join("\n "),
        names.join(", ")
    )
}

#[test]
fn every_size_has_a_kernel_or_a_reason() {
    let mut kernels = 0;
    for body in SIZED_BODIES {
        for (a, b) in SIZES.iter().flat_map(|a| SIZES.iter().map(move |b| (a, b))) {
            for (element, device) in [
                ("s4", "h100-sxm"),
                ("f32", "h100-sxm"),
                ("bf16", "b200"),
                ("c128", "a100-sxm-80"),
                ("pred", "h100-sxm"),
            ] {
                let text = body.replace("T[", &format!("{element}[")).replace("[C", "[65");
                let text = module(&text.replace('A', a).replace('B', b), element);
                if let Ok(kernel) = written(&text, "f", device) {
                    kernels += 1;
                    assert!(kernel.ptx.contains(".visible .entry"), "{text}");
                }
            }
        }
    }
    assert!(kernels > 1000, "{kernels} kernels are written");
}

/// A concatenation of `count` arrays; each of them passes through `op` first.
fn concatenation(count: usize, op: &str) -> String {
    let of = |part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<Vec<_>>();
    let parameters = of(&|n| format!(" p{n} = f32[8] parameter({n})\n")).concat();
    let operands = of(&|n| format!(" v{n} = f32[8] {op}(p{n})\n")).concat();
    let (values, arguments) = (of(&|n| format!("v{n}")).join(", "), of(&|n| format!("p{n}")).join(", "));
    let root = format!("f32[{}]", 8 * count);
    format!(
        "HloModule m\n\nfused {{\n{parameters}{operands} ROOT r = {root} concatenate({values}), dimensions={{0}}\n}}\n\n\
         ENTRY e {{\n{parameters} ROOT f = {root} fusion({arguments}), kind=kLoop, calls=fused\n}}\n"
    )
}

#[test]
fn kernels_that_no_launch_can_start_are_refused() {
    assert!(written(&concatenation(90, "negate"), "f", "h100-sxm").is_ok());
    let refused = written(&concatenation(5000, "negate"), "f", "h100-sxm");
    let reason = refused.err().expect("a launch passes fewer arrays");
    assert!(reason.contains("at most 4095 arrays, and the kernel has 5001"), "{reason}");
    let refused = written(&concatenation(4000, "negate"), "f", "h100-sxm");
    let reason = refused.err().expect("every function takes every operand");
    assert!(reason.contains("of 4000 operands each, more than 262144 arguments"), "{reason}");
}
