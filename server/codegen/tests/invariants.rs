//! Operands that may be written from elsewhere while the kernel runs are loaded as mutable memory.

mod written;

use written::written;

#[test]
fn operands_that_change_are_not_read_as_constants() {
    let hlo = |attribute: &str| {
        format!(
            "\
HloModule m

fused {{
  a = f32[64] parameter(0)
  b = f32[64] parameter(1)
  ROOT r = f32[64] add(a, b)
}}

ENTRY e {{
  a = f32[64] parameter(0)
  b = f32[64] parameter(1)
  ROOT f = f32[64] fusion(a, b), kind=kLoop, calls=fused{attribute}
}}
"
        )
    };
    let constants = |attribute: &str| {
        let text = written(&hlo(attribute), "f", "h100-sxm").expect("a kernel").ptx;
        assert_eq!(text.matches("ld.global").count(), 2, "{text}");
        text.matches("ld.global.nc").count()
    };
    assert_eq!(constants(""), 2);
    for (list, left) in [("0", 1), ("1", 1), ("0,1", 0), ("7", 2)] {
        let attribute = format!(", frontend_attributes={{xla.no_invariant_operands=\"{list}\"}}");
        assert_eq!(constants(&attribute), left, "{list}");
    }
}
