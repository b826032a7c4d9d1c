//! Operands that are passed twice: separate arguments that share memory, as XLA's are.

mod written;

use agreement::{Effort, Flavour, Kernel, check};
use written::{Emitted, emitted, written};

const TWICE: &str = "HloModule m

fused {
  p0 = f32[1024,64] parameter(0)
  p1 = f32[1024] parameter(1)
  p2 = f32[1024,64] parameter(2)
  p3 = f32[1024] parameter(3)
  b = f32[1024,64] broadcast(p1), dimensions={0}
  c = f32[1024,64] broadcast(p3), dimensions={0}
  a = f32[1024,64] add(p0, p2)
  d = f32[1024,64] multiply(b, c)
  ROOT r = (f32[1024,64], f32[1024,64]) tuple(a, d)
}

ENTRY e {
  x = f32[1024,64] parameter(0)
  y = f32[1024] parameter(1)
  ROOT f = (f32[1024,64], f32[1024,64]) fusion(x, y, x, y), kind=kLoop, calls=fused
}
";

/// The numbers after each occurrence of `what`.
fn numbers(text: &str, what: &str) -> Vec<usize> {
    let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok());
    text.split(what).skip(1).filter_map(number).collect()
}

#[test]
fn an_operand_that_is_passed_twice_is_one_memory() {
    let Emitted { kernel, .. } = emitted(TWICE, "f", "h100-sxm").expect("a kernel");
    assert_eq!(kernel.slices(), [0, 1, 0, 1, 2, 3]);
    let mlir = codegen::mlir(&kernel).text;
    assert_eq!(numbers(&mlir, "xla.slice_index = "), [0, 1, 0, 1, 2, 3]);
    let own = written(TWICE, "f", "h100-sxm").expect("a kernel");
    let (_, code) = own.ptx.split_once('{').expect("a body");
    assert_eq!(numbers(code, "[f_param_"), [0, 1, 4, 5], "{}", own.ptx);
    assert_eq!(own.ptx.matches("ld.global").count(), 2, "{}", own.ptx);
    let effort =
        Effort { seed: 1, flavour: Flavour::Plain, threads: 1 << 17, elements: 1 << 12, traces: false };
    let launches = [Kernel { ptx: own.ptx.clone(), grid: own.grid, threads: own.block }];
    let outcome = check(TWICE, &launches, effort).expect("it runs");
    assert!(outcome.compared > 0 && outcome.wrong.is_empty(), "{:?}", outcome.wrong.first());
}

/// A result in its operand's memory has no slice number of its own; later results continue the numbering.
#[test]
fn a_result_over_an_operand_has_no_number_of_its_own() {
    let hlo = "HloModule m

fused {
  p0 = f32[20,16] parameter(0)
  p1 = f32[3,16] parameter(1)
  p2 = s32[] parameter(2)
  ROOT r = f32[20,16] dynamic-update-slice(p0, p1, p2, p2)
}

ENTRY e {
  p0 = f32[20,16] parameter(0)
  p1 = f32[3,16] parameter(1)
  p2 = s32[] parameter(2)
  ROOT f = f32[20,16] fusion(p0, p1, p2), kind=kLoop, calls=fused
}
";
    let Emitted { kernel, .. } = emitted(hlo, "f", "h100-sxm").expect("a kernel");
    assert_eq!(kernel.slices(), [0, 1, 2, 0]);
}

/// The older form, whose indices are one array.
#[test]
fn an_update_with_its_indices_in_one_array_is_refused() {
    let hlo = test_files::hlo::fusion_module(
        "",
        &["f32[20,16]", "f32[4,16]", "s32[2]"],
        "  ROOT r = f32[20,16] dynamic-update-slice(p0, p1, p2)",
        "f32[20,16]",
    );
    let refused = written(&hlo, "f", "h100-sxm").err().expect("XLA does not emit it");
    assert_eq!(refused, "an update does not have an index for each dimension");
}
