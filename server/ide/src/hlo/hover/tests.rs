use expect_test::{Expect, expect};

use super::HoverConfig;
use crate::fixture::{in_entry, open};

fn check(lines: &str, expect: Expect) {
    check_with(lines, true, expect);
}

fn check_with(lines: &str, readable_variables: bool, expect: Expect) {
    let (analysis, file, offset) = open(&in_entry(lines));
    let config = HoverConfig { readable_variables, ..HoverConfig::default() };
    let hover = analysis.hover_with(file, offset, &config).expect("nobody cancels");
    expect.assert_eq(&hover.map_or_else(|| "nothing".to_owned(), |h| h.markdown()));
}

#[test]
fn a_transpose_shows_its_map() {
    check(
        "  p = f32[10,20]{1,0} parameter(0)\n  ROOT $0t = f32[20,10]{1,0} transpose(p), dimensions={1,0}, metadata={op_name=\"jit(f)/transpose\" source_file=\"/m/f.py\" source_line=3}",
        expect![[r#"
            ```hlo
            ROOT t = f32[20,10]{1,0} transpose(p), dimensions={1,0}
            ```
            `f32[20,10]{1,0}` · 800 B · 200 elements

            **output → `%p`**
            ```
            (d0, d1) -> (d1, d0)
            domain: d0 in [0, 19], d1 in [0, 9]
            ```
            ---
            `jit(f)/transpose` · [f.py:3](file:///m/f.py#L3)
        "#]],
    );
}

#[test]
fn identities_are_folded_and_share_a_line() {
    check(
        "  p = f32[10,20]{1,0} parameter(0)\n  q = f32[10,20]{1,0} parameter(1)\n  ROOT $0t = f32[10,20]{1,0} add(p, q)",
        expect![[r#"
            ```hlo
            ROOT t = f32[10,20]{1,0} add(p, q)
            ```
            `f32[10,20]{1,0}` · 800 B · 200 elements

            **output → `%p`, `%q`** identity · d0 ≤ 9, d1 ≤ 19

        "#]],
    );
}

#[test]
fn runtime_variables_name_their_source() {
    check(
        "  p = f32[64]{0} parameter(0)\n  i = s32[] parameter(1)\n  ROOT $0d = f32[16]{0} dynamic-slice(p, i), dynamic_slice_sizes={16}",
        expect![[r#"
            ```hlo
            ROOT d = f32[16]{0} dynamic-slice(p, i), dynamic_slice_sizes={16}
            ```
            `f32[16]{0}` · 64 B · 16 elements

            **output → `%p`**
            ```
            (d0){i} -> (d0 + i)
            domain: d0 in [0, 15], i in [0, 48]
            ```
            `i` is `%i` at `(d0) -> ()`

            reads 25 % (64 B), each element once

            **output → `%i`** the scalar

        "#]],
    );
}

#[test]
fn variables_have_the_names_of_their_roles() {
    let dot = "  p = f32[4,8,16]{2,1,0} parameter(0)
  q = f32[4,16,2]{2,1,0} parameter(1)
  ROOT $0x = f32[4,8,2]{2,1,0} dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
    check(
        dot,
        expect![[r#"
            ```hlo
            ROOT x = f32[4,8,2]{2,1,0} dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
            ```
            `f32[4,8,2]{2,1,0}` · 256 B · 64 elements

            **output → `%p`**
            ```
            (batch, m, n)[k] -> (batch, m, k)
            domain: batch in [0, 3], m in [0, 7], n in [0, 1], k in [0, 15]
            ```
            reads 100 % (2.05 kB), each element 2 times

            **output → `%q`**
            ```
            (batch, m, n)[k] -> (batch, k, n)
            domain: batch in [0, 3], m in [0, 7], n in [0, 1], k in [0, 15]
            ```
            reads 100 % (512 B), each element 8 times

            **`%p` → output**
            ```
            (d0, d1, d2)[s0] -> (d0, d1, s0)
            domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 15], s0 in [0, 1]
            ```
            **`%q` → output**
            ```
            (d0, d1, d2)[s0] -> (d0, s0, d2)
            domain: d0 in [0, 3], d1 in [0, 15], d2 in [0, 1], s0 in [0, 7]
            ```
        "#]],
    );
    check_with(
        dot,
        false,
        expect![[r#"
            ```hlo
            ROOT x = f32[4,8,2]{2,1,0} dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
            ```
            `f32[4,8,2]{2,1,0}` · 256 B · 64 elements

            **output → `%p`**
            ```
            (d0, d1, d2)[s0] -> (d0, d1, s0)
            domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 1], s0 in [0, 15]
            ```
            reads 100 % (2.05 kB), each element 2 times

            **output → `%q`**
            ```
            (d0, d1, d2)[s0] -> (d0, s0, d2)
            domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 1], s0 in [0, 15]
            ```
            reads 100 % (512 B), each element 8 times

            **`%p` → output**
            ```
            (d0, d1, d2)[s0] -> (d0, d1, s0)
            domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 15], s0 in [0, 1]
            ```
            **`%q` → output**
            ```
            (d0, d1, d2)[s0] -> (d0, s0, d2)
            domain: d0 in [0, 3], d1 in [0, 15], d2 in [0, 1], s0 in [0, 7]
            ```
        "#]],
    );
}

#[test]
fn an_operand_shows_its_definition() {
    check(
        "  p = s4[3]{0:E(4)} parameter(0)\n  ROOT n = s4[3]{0:E(4)} negate($0p)",
        expect![[r#"
            ```hlo
            p = s4[3]{0:E(4)} parameter(0)
            ```
            `s4[3]{0:E(4)}` · 2 B · 3 elements of 4 bits

        "#]],
    );
}

#[test]
fn a_called_computation_shows_its_signature() {
    check(
        "  p = f32[8]{0} parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=%su$0m",
        expect![[r#"
            ```hlo
            %sum (a: f32[], b: f32[]) -> f32[]
            ```
            3 instructions
        "#]],
    );
}

#[test]
fn utilisation_is_told_where_it_is_not_plain() {
    check(
        "  p = f32[8,16]{1,0} parameter(0)\n  ROOT $0s = f32[8,4]{1,0} slice(p), slice={[0:8], [0:16:4]}",
        expect![[r#"
            ```hlo
            ROOT s = f32[8,4]{1,0} slice(p), slice={[0:8], [0:16:4]}
            ```
            `f32[8,4]{1,0}` · 128 B · 32 elements

            **output → `%p`**
            ```
            (d0, d1) -> (d0, d1 * 4)
            domain: d0 in [0, 7], d1 in [0, 3]
            ```
            reads 25 % (128 B), each element once

        "#]],
    );
    check(
        "  p = f32[16]{0} parameter(0)\n  ROOT $0b = f32[8,16]{1,0} broadcast(p), dimensions={1}",
        expect![[r#"
            ```hlo
            ROOT b = f32[8,16]{1,0} broadcast(p), dimensions={1}
            ```
            `f32[8,16]{1,0}` · 512 B · 128 elements

            **output → `%p`**
            ```
            (d0, d1) -> (d1)
            domain: d0 in [0, 7], d1 in [0, 15]
            ```
            reads 100 % (64 B), each element 8 times

        "#]],
    );
}

#[test]
fn what_has_no_map_says_why() {
    check(
        "  p = f32[8]{0} parameter(0)\n  ROOT $0r = f32[7]{0} transpose(p), dimensions={3}",
        expect![[r#"
            ```hlo
            ROOT r = f32[7]{0} transpose(p), dimensions={3}
            ```
            `f32[7]{0}` · 28 B · 7 elements

            **output → `%p`** no map: dimensions 3 is not a dimension of 1

        "#]],
    );
}
