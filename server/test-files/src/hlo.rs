//! Modules of HLO around what a test is about.

/// A sum, to call as `add`.
pub const ADD: &str = "\
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
";

/// A maximum, to call as `max`.
pub const MAX: &str = "\
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
";

/// The module of a fusion `f` of these instructions. Its parameters `p0`, `p1`, … have the shapes `params`;
/// `called` are the other computations.
pub fn fusion_module(called: &str, params: &[&str], instructions: &str, result: &str) -> String {
    let declared: String =
        params.iter().enumerate().map(|(n, shape)| format!("  p{n} = {shape} parameter({n})\n")).collect();
    let names: Vec<String> = (0..params.len()).map(|n| format!("p{n}")).collect();
    let (names, called) = (names.join(", "), called.trim_end());
    format!(
        "\
HloModule m

{called}

fused {{
{declared}{instructions}
}}

ENTRY e {{
{declared}  ROOT f = {result} fusion({names}), kind=kLoop, calls=fused
}}
"
    )
}

/// The bodies of fusions, one for each way to read and write elements. `T` stands for the type of the elements, `A`,
/// `B` and `C` for extents. They call `add` and `less`.
pub const SIZED_BODIES: [&str; 10] = [
    "p = T[A,B] parameter(0)\n ROOT r = T[A,B] negate(p)",
    "p = T[A,B] parameter(0)\n ROOT r = T[B,A] transpose(p), dimensions={1,0}",
    "p = T[2,A,B] parameter(0)\n ROOT r = T[A,2,B] transpose(p), dimensions={1,0,2}",
    "p = T[A,B] parameter(0)\n z = T[] constant(0)\n ROOT r = T[A] reduce(p, z), dimensions={1}, to_apply=add",
    "p = T[A,B] parameter(0)\n z = T[] constant(0)\n ROOT r = T[B] reduce(p, z), dimensions={0}, to_apply=add",
    "p = T[A,B] parameter(0)\n q = T[1,B] parameter(1)\n ROOT r = T[C,B] concatenate(p, q), dimensions={0}",
    "p = T[A,B] parameter(0)\n ROOT r = T[A,B] sort(p), dimensions={1}, to_apply=less",
    "\
p = T[A,B] parameter(0)
 u = T[1,B] parameter(1)
 i = s32[] parameter(2)
 ROOT r = T[A,B] dynamic-update-slice(p, u, i, i)",
    "\
p = T[A,B] parameter(0)
 i = s32[B,1] parameter(1)
 u = T[B,1,A] parameter(2)
 ROOT r = T[A,B] scatter(p, i, u), update_window_dims={1,2}, inserted_window_dims={},
 scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add, indices_are_sorted=true",
    "p = T[A,B] parameter(0)\n ROOT r = T[A] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
];
