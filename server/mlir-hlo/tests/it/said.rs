//! Attributes of modules, arguments and results are converted, or reported where the other language has none.

use crate::{faults, to_hlo, to_stablehlo};

#[track_caller]
fn check_hlo(text: &str, lines: &[&str], unsaid: &[&str]) {
    let module = to_hlo(text);
    assert_eq!(faults(&module.text), [] as [&str; 0], "{}", module.text);
    lines.iter().for_each(|line| assert!(module.text.contains(line), "{line} is not in\n{}", module.text));
    let told: Vec<_> = module.incomplete.iter().map(|(_, missing)| missing.what.as_str()).collect();
    assert_eq!(told, unsaid, "{}", module.text);
}

#[track_caller]
fn check_stablehlo(text: &str, lines: &[&str], unsaid: &[&str]) {
    let module = to_stablehlo(text);
    let parse = mlir::parse(&module.text, mlir::PieceState::default());
    let findings = mlir::check(&parse, &module.text);
    assert!(parse.errors.is_empty() && findings.is_empty(), "{findings:?}\n{}", module.text);
    lines.iter().for_each(|line| assert!(module.text.contains(line), "{line} is not in\n{}", module.text));
    let told: Vec<_> = module.incomplete.iter().map(|missing| missing.what.as_str()).collect();
    assert_eq!(told, unsaid, "{}", module.text);
}

#[test]
fn modules_of_stablehlo() {
    check_hlo(
        r#"module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 3 : i32, mhlo.is_dynamic = false, mhlo.cross_program_prefetches = [], mhlo.spmd_output_sharding = "{replicated}", mhlo.use_auto_spmd_partitioning = true, jax.uses_shape_polymorphism = false, mhlo.frontend_attributes = {a = "b"}} {
  func.func public @main(%a: tensor<4x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}", tf.aliasing_output = 0 : i32}, %b: tensor<8x8xf32> {jax.buffer_donor = true, mhlo.memory_kind = "pinned_host"}) -> (tensor<4x8xf32> {jax.result_info = "r", mhlo.layout_mode = "{0,1}"}, tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}", mhlo.frontend_attributes = {x = "y"}}) {
    %0 = stablehlo.add %a, %a : tensor<4x8xf32>
    return %0, %b : tensor<4x8xf32>, tensor<8x8xf32>
  }
}
"#,
        &[
            "input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }",
            "->(f32[4,8]{0,1}, f32[8,8]{1,0})}, replica_count=3, num_partitions=2, frontend_attributes={a=\"b\"}",
            "parameter(0), sharding={devices=[2,1]<=[2]}",
            "tuple(add.0, b), sharding={{replicated}, {devices=[2,1]<=[2]}}",
        ],
        &[
            "argument 1: attribute mhlo.memory_kind",
            "result 1: attribute mhlo.frontend_attributes",
            "module: attribute mhlo.spmd_output_sharding",
            "module: attribute mhlo.use_auto_spmd_partitioning",
        ],
    );
}

#[test]
fn meshes_of_shardy() {
    check_hlo(
        r#"module @m {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"y"}, {"x"}]> : tensor<4x8xf32>
    %1 = "sdy.all_reduce"(%0) <{out_sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
"#,
        &[
            r#"frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}"#,
            "parameter(0), sharding={devices=[2,4]<=[8]}, frontend_attributes={xla.sdy.sharding=",
            r#"custom-call(a), custom_call_target="Sharding", sharding={devices=[4,2]<=[2,4]T(1,0)}"#,
            "sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
        ],
        &["sdy.all_reduce: HLO has no op of Shardy: XLA lowers it before, and its export refuses it"],
    );
}

#[test]
fn meshes_that_are_not_there_are_told() {
    check_hlo(
        r#"module @m {
  sdy.mesh @mesh = <["x"=2]> loc("<stdin>":2:3)
  func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@none, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}]>]>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"#,
        &[
            r#"frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}"#,
            "sharding={devices=[2]<=[2]}",
        ],
        &[
            "argument 0: a sharding over @none, which is no mesh of the module",
            "a sharding over @other, which is no mesh of the module",
        ],
    );
}

#[test]
fn modules_of_hlo() {
    check_stablehlo(
        r#"HloModule m, is_scheduled=true, entry_computation_layout={(f32[4,8]{1,0})->(f32[4,8]{0,1}, f32[4,8]{1,0})}, frontend_attributes={a="b"}

ENTRY e {
  a = f32[4,8]{1,0} parameter(0)
  c = f32[4,8]{0,1} copy(a)
  ROOT t = (f32[4,8]{0,1}, f32[4,8]{1,0}) tuple(c, a), sharding={{devices=[2,1]<=[2]}, {replicated}}
}
"#,
        &[
            r#"mhlo.frontend_attributes = {a = "b"}"#,
            "mhlo.xla_entry_computation_result_layout = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]",
            r#"-> (tensor<4x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}, tensor<4x8xf32> {mhlo.sharding = "{replicated}"})"#,
        ],
        &["HloModule: attribute is_scheduled"],
    );
    check_stablehlo(
        "\
HloModule m, entry_computation_layout={(f32[4,8]{1,0:T(8,128)})->f32[4,8]{1,0}}

ENTRY e {
  a = f32[4,8]{1,0:T(8,128)} parameter(0)
  t = (f32[4,8]{1,0}) tuple(a), sharding={{replicated}}
  ROOT g = f32[4,8]{1,0} get-tuple-element(t), index=0
}
",
        &[],
        &["tiles and memory spaces of entry_computation_layout", "attribute sharding"],
    );
}

#[test]
fn quantised_types_are_told() {
    let quantised = "tensor<4x!quant.uniform<i8:f32, 1.0:17>>";
    check_hlo(
        &format!(
            "\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> {quantised}
  %1 = stablehlo.add %0, %0 : {quantised}
  %2 = stablehlo.uniform_dequantize %1 : ({quantised}) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}}
"
        ),
        &["custom_call_target=\"stablehlo.uniform_dequantize\""],
        &[
            "stablehlo.uniform_quantize: HLO has no quantised types, and XLA refuses them before stablehlo-legalize-quant-to-math",
            "stablehlo.add: !quant.uniform<i8:f32, 1.0:17> is quantised: HLO has no quantised types, and XLA refuses them before stablehlo-legalize-quant-to-math",
            "stablehlo.uniform_dequantize: HLO has no quantised types, and XLA refuses them before stablehlo-legalize-quant-to-math",
        ],
    );
}

#[test]
fn one_sharding_of_a_loop_is_that_of_each() {
    check_hlo(
        r#"func.func @main(%a: tensor<4xf32>, %k: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%p = %a, %q = %c) : tensor<4xf32>, tensor<i1> attributes {mhlo.sharding = "{replicated}"}
  cond {
    stablehlo.return %q : tensor<i1>
  } do {
    %1 = stablehlo.add %p, %k : tensor<4xf32>
    stablehlo.return %1, %q : tensor<4xf32>, tensor<i1>
  }
  return %0#0 : tensor<4xf32>
}
"#,
        &["sharding={{replicated}, {replicated}, {replicated}}"],
        &[],
    );
}

#[test]
fn loops_have_a_sharding_for_what_they_see() {
    check_hlo(
        r#"func.func @main(%a: tensor<i32>, %b: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%i = %a, %x = %c) : tensor<i32>, tensor<4xf32> attributes {mhlo.sharding = "{{replicated}, {devices=[2,2]<=[4] last_tile_dim_replicate}}"}
  cond {
    %1 = stablehlo.compare LT, %i, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %x, %b : tensor<4xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
"#,
        &[
            "sharding={{replicated}, {devices=[2,2]<=[4] last_tile_dim_replicate}, {replicated}, {devices=[4]<=[4]}}",
        ],
        &[],
    );
}
