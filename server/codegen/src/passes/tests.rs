//! The effect of each pass on a small kernel.

use std::sync::Arc;

use expect_test::{Expect, expect};
use gpu::{Device, Fused, FusionAnalysis};
use ir::{AttributeKey, Graph};
use syntax::hlo::{PieceState, parse};
use test_files::hlo::{ADD, fusion_module};

use super::{PIPELINE, mlir_after};
use crate::kernel::Kernel;

/// The kernel of the fusion `f` of these instructions.
fn kernel(params: &[&str], instructions: &str, result: &str) -> Kernel {
    let text = fusion_module(ADD, params, instructions, result);
    let text: Arc<str> = Arc::from(text);
    let parsed = Arc::new(parse(&text, PieceState::HEADER));
    let block = ir::lower(text.clone(), parsed.clone());
    let named = parsed.computations.iter().enumerate().filter_map(|(i, computation)| {
        let graph = Graph::build(&[(&block, i as u32)])?;
        Some((computation.name.of(&text).to_owned(), Arc::new(graph)))
    });
    let graphs: Vec<(String, Arc<Graph>)> = named.collect();
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let entry = callee("e").expect("an entry");
    let fusion = &entry.ops[entry.find("f").expect("a fusion") as usize];
    assert_eq!(fusion.attributes.computation(AttributeKey::Calls), Some("fused"));
    let fused = Fused::of_fusion(fusion, &callee("fused").expect("it is there"), &callee).expect("a fusion");
    let analysis =
        FusionAnalysis::new(fused, Device::find("h100-sxm").expect("it is known")).expect("shapes");
    let source = crate::Source { name: "f", computation: "fused", analysis: &analysis, callees: &callee };
    crate::emit(&source).expect("a kernel")
}

/// The functions of the kernel, without the parts that every kernel has.
fn body(kernel: &Kernel) -> String {
    let text = crate::mlir(kernel).text;
    let lines = text.lines().filter(|line| line.starts_with("    "));
    let lines = lines.filter(|line| !line.contains("= gpu.") && !line.contains("arith.constant"));
    lines.map(|line| format!("{}\n", &line[4..])).collect()
}

/// `flag` names the pass; those before it have run. `=>` precedes its result.
#[track_caller]
fn check(flag: &str, params: &[&str], instructions: &str, result: &str, expect: Expect) {
    let mut kernel = kernel(params, instructions, result);
    for pass in PIPELINE {
        let before = body(&kernel);
        pass.run(&mut kernel);
        if pass.flag == flag && before != body(&kernel) {
            expect.assert_eq(&format!("{before}=>\n{}", body(&kernel)));
            return;
        }
    }
    panic!("{flag} changes nothing");
}

#[test]
fn functions_that_are_called_once_are_inlined() {
    check(
        "inline",
        &["f32[64]"],
        "  ROOT r = f32[64] negate(p0)",
        "f32[64]",
        expect![[r#"
        %1 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[] -> (%ra) in #indexing_map iter_args(%0 = %arg1) -> tensor<64xf32> {
          %2 = xla.pure_call @fused_r(%arg0, %ra) : (tensor<64xf32>, index) -> f32
          %3 = tensor.insert %2 into %0[%ra] : tensor<64xf32>
          xla.yield %3 : tensor<64xf32>
        }
        return %1 : tensor<64xf32>
        %0 = tensor.extract %arg0[%arg1] : tensor<64xf32>
        %1 = arith.negf %0 : f32
        return %1 : f32
        =>
        %1 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[] -> (%ra) in #indexing_map iter_args(%0 = %arg1) -> tensor<64xf32> {
          %2 = tensor.extract %arg0[%ra] : tensor<64xf32>
          %3 = arith.negf %2 : f32
          %4 = tensor.insert %3 into %0[%ra] : tensor<64xf32>
          xla.yield %4 : tensor<64xf32>
        }
        return %1 : tensor<64xf32>
    "#]],
    );
}

#[test]
fn functions_that_are_called_twice_stay() {
    let instructions =
        "  e = f32[6,5] exponential(p0)\n  s = f32[6] reduce(e, p1), dimensions={1}, to_apply=add
  b = f32[6,5] broadcast(s), dimensions={0}\n  ROOT r = f32[6,5] divide(e, b)";
    check(
        "inline",
        &["f32[6,5]", "f32[]"],
        instructions,
        "f32[6,5]",
        expect![[r#"
        %1 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[] -> (%ra, %rb) in #indexing_map iter_args(%0 = %arg2) -> tensor<6x5xf32> {
          %2 = xla.pure_call @fused_r(%arg0, %arg1, %ra, %rb) : (tensor<6x5xf32>, tensor<f32>, index, index) -> f32
          %3 = tensor.insert %2 into %0[%ra, %rb] : tensor<6x5xf32>
          xla.yield %3 : tensor<6x5xf32>
        }
        return %1 : tensor<6x5xf32>
        %0 = xla.pure_call @fused_e(%arg0, %arg1, %arg2, %arg3) : (tensor<6x5xf32>, tensor<f32>, index, index) -> f32
        %1 = tensor.extract %arg1[] : tensor<f32>
        %7 = scf.for %5 = %2 to %4 step %3 iter_args(%6 = %1) -> f32 {
          %8 = xla.pure_call @fused_e(%arg0, %arg1, %arg2, %5) : (tensor<6x5xf32>, tensor<f32>, index, index) -> f32
          %9 = xla.pure_call @add_sum(%6, %8) : (f32, f32) -> f32
          scf.yield %9 : f32
        }
        %10 = arith.divf %0, %7 : f32
        return %10 : f32
        %0 = tensor.extract %arg0[%arg2, %arg3] : tensor<6x5xf32>
        %1 = math.exp %0 : f32
        return %1 : f32
        %0 = arith.addf %arg0, %arg1 : f32
        return %0 : f32
        =>
        %1 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[] -> (%ra, %rb) in #indexing_map iter_args(%0 = %arg2) -> tensor<6x5xf32> {
          %2 = xla.pure_call @fused_e(%arg0, %arg1, %ra, %rb) : (tensor<6x5xf32>, tensor<f32>, index, index) -> f32
          %3 = tensor.extract %arg1[] : tensor<f32>
          %9 = scf.for %7 = %4 to %6 step %5 iter_args(%8 = %3) -> f32 {
            %10 = xla.pure_call @fused_e(%arg0, %arg1, %ra, %7) : (tensor<6x5xf32>, tensor<f32>, index, index) -> f32
            %11 = arith.addf %8, %10 : f32
            scf.yield %11 : f32
          }
          %12 = arith.divf %2, %9 : f32
          %13 = tensor.insert %12 into %0[%ra, %rb] : tensor<6x5xf32>
          xla.yield %13 : tensor<6x5xf32>
        }
        return %1 : tensor<6x5xf32>
        %0 = tensor.extract %arg0[%arg2, %arg3] : tensor<6x5xf32>
        %1 = math.exp %0 : f32
        return %1 : f32
    "#]],
    );
}

#[test]
fn the_round_that_asks_is_peeled() {
    let instructions = "  ROOT s = f32[40] reduce(p0, p1), dimensions={1}, to_apply=add";
    check(
        "xla-gpu-peel-loops",
        &["f32[40,1000]", "f32[]"],
        instructions,
        "f32[40]",
        expect![[r#"
        %0 = tensor.extract %arg1[] : tensor<f32>
        %3:2 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[%i, %j, %k] -> (%ra, %rb, %rc, %rd) in #indexing_map iter_args(%1 = %arg2, %2 = %0) -> (tensor<40xf32>, f32) {
          %4 = xla.apply_indexing #indexing_map1(%rc, %rd)
          %5 = tensor.extract %arg0[%rb, %4] : tensor<40x1000xf32>
          %6 = xla.pure_call @add_sum(%2, %5) : (f32, f32) -> f32
          xla.yield %1, %6 : tensor<40xf32>, f32
        }
        %7 = xla_gpu.shuffle_reduce(%3#1) to 16 combiner=@add_sum : f32
        %8 = xla_gpu.allocate_shared : tensor<4x2xf32>
        %9 = xla.apply_indexing #indexing_map2(%thread_id_x)
        %11 = arith.cmpi sge, %9, %10 : index
        %12 = arith.cmpi sle, %9, %10 : index
        %13 = arith.andi %11, %12 : i1
        %14 = xla.apply_indexing #indexing_map3(%thread_id_x)
        %15 = xla.apply_indexing #indexing_map4(%thread_id_x)
        %16 = xla.predicated_insert %7 into %8[%14, %15] if %13 : tensor<4x2xf32>
        %17 = xla_gpu.sync_threads %16 : tensor<4x2xf32>
        %18 = xla.apply_indexing #indexing_map5(%thread_id_x)
        %19 = arith.cmpi sge, %18, %10 : index
        %21 = arith.cmpi sle, %18, %20 : index
        %22 = arith.andi %19, %21 : i1
        %23 = xla.predicated_extract %17[%14, %9] if %22 else %0 : tensor<4x2xf32>
        %24 = xla_gpu.shuffle_reduce(%23) to 16 combiner=@add_sum : f32
        %25 = arith.cmpi sge, %18, %10 : index
        %26 = arith.cmpi sle, %18, %10 : index
        %27 = arith.andi %25, %26 : i1
        %28 = arith.cmpi sge, %thread_id_x, %10 : index
        %29 = arith.andi %27, %28 : i1
        %31 = arith.cmpi sle, %thread_id_x, %30 : index
        %32 = arith.andi %29, %31 : i1
        %33 = xla.apply_indexing #indexing_map6(%thread_id_x, %block_id_x)
        %34 = xla.predicated_insert %24 into %3#0[%33] if %32 : tensor<40xf32>
        return %34 : tensor<40xf32>
        %0 = arith.addf %arg0, %arg1 : f32
        return %0 : f32
        =>
        %0 = tensor.extract %arg1[] : tensor<f32>
        %3:2 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[%i, %j, %k] -> (%ra, %rb, %rc, %rd) in #indexing_map iter_args(%1 = %arg2, %2 = %0) -> (tensor<40xf32>, f32) {
          %4 = xla.apply_indexing #indexing_map1(%rc, %rd)
          %5 = tensor.extract %arg0[%rb, %4] : tensor<40x1000xf32>
          %6 = xla.pure_call @add_sum(%2, %5) : (f32, f32) -> f32
          xla.yield %1, %6 : tensor<40xf32>, f32
        }
        %9:2 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[%i, %j, %k] -> (%ra, %rb, %rc, %rd) in #indexing_map2 iter_args(%7 = %3#0, %8 = %3#1) -> (tensor<40xf32>, f32) {
          %10 = xla.apply_indexing #indexing_map1(%rc, %rd)
          %11 = tensor.extract %arg0[%rb, %10] : tensor<40x1000xf32>
          %12 = xla.pure_call @add_sum(%8, %11) : (f32, f32) -> f32
          xla.yield %7, %12 : tensor<40xf32>, f32
        }
        %13 = xla_gpu.shuffle_reduce(%9#1) to 16 combiner=@add_sum : f32
        %14 = xla_gpu.allocate_shared : tensor<4x2xf32>
        %15 = xla.apply_indexing #indexing_map3(%thread_id_x)
        %17 = arith.cmpi sge, %15, %16 : index
        %18 = arith.cmpi sle, %15, %16 : index
        %19 = arith.andi %17, %18 : i1
        %20 = xla.apply_indexing #indexing_map4(%thread_id_x)
        %21 = xla.apply_indexing #indexing_map5(%thread_id_x)
        %22 = xla.predicated_insert %13 into %14[%20, %21] if %19 : tensor<4x2xf32>
        %23 = xla_gpu.sync_threads %22 : tensor<4x2xf32>
        %24 = xla.apply_indexing #indexing_map6(%thread_id_x)
        %25 = arith.cmpi sge, %24, %16 : index
        %27 = arith.cmpi sle, %24, %26 : index
        %28 = arith.andi %25, %27 : i1
        %29 = xla.predicated_extract %23[%20, %15] if %28 else %0 : tensor<4x2xf32>
        %30 = xla_gpu.shuffle_reduce(%29) to 16 combiner=@add_sum : f32
        %31 = arith.cmpi sge, %24, %16 : index
        %32 = arith.cmpi sle, %24, %16 : index
        %33 = arith.andi %31, %32 : i1
        %34 = arith.cmpi sge, %thread_id_x, %16 : index
        %35 = arith.andi %33, %34 : i1
        %37 = arith.cmpi sle, %thread_id_x, %36 : index
        %38 = arith.andi %35, %37 : i1
        %39 = xla.apply_indexing #indexing_map7(%thread_id_x, %block_id_x)
        %40 = xla.predicated_insert %30 into %9#0[%39] if %38 : tensor<40xf32>
        return %40 : tensor<40xf32>
        %0 = arith.addf %arg0, %arg1 : f32
        return %0 : f32
    "#]],
    );
}

#[test]
fn a_map_becomes_loops() {
    let instructions = "  ROOT r = f32[1000,2048] negate(p0)";
    check(
        "xla-lower-xla-loops-to-scf",
        &["f32[1000,2048]"],
        instructions,
        "f32[1000,2048]",
        expect![[r#"
        %1 = xla.loop (%thread_id_x, %thread_id_y, %thread_id_z, %block_id_x, %block_id_y, %block_id_z)[%i] -> (%ra, %rb) in #indexing_map iter_args(%0 = %arg1) -> tensor<1000x2048xf32> {
          %2 = tensor.extract %arg0[%ra, %rb] : tensor<1000x2048xf32>
          %3 = arith.negf %2 : f32
          %4 = tensor.insert %3 into %0[%ra, %rb] : tensor<1000x2048xf32>
          xla.yield %4 : tensor<1000x2048xf32>
        }
        return %1 : tensor<1000x2048xf32>
        =>
        %5 = scf.for %3 = %0 to %2 step %1 iter_args(%4 = %arg1) -> tensor<1000x2048xf32> {
          %6 = xla.apply_indexing #indexing_map(%block_id_x)
          %7 = xla.apply_indexing #indexing_map1(%thread_id_x, %block_id_x, %3)
          %8 = tensor.extract %arg0[%6, %7] : tensor<1000x2048xf32>
          %9 = arith.negf %8 : f32
          %10 = tensor.insert %9 into %4[%6, %7] : tensor<1000x2048xf32>
          scf.yield %10 : tensor<1000x2048xf32>
        }
        return %5 : tensor<1000x2048xf32>
    "#]],
    );
}

#[test]
fn arrays_become_flat() {
    let instructions = "  ROOT r = f32[8,30]{0,1} negate(p0)";
    check(
        "xla-flatten-tensors",
        &["f32[8,30]{0,1}"],
        instructions,
        "f32[8,30]{0,1}",
        expect![[r#"
        %0 = xla.apply_indexing #indexing_map(%thread_id_x, %block_id_x)
        %2 = arith.cmpi sge, %0, %1 : index
        %4 = arith.cmpi sle, %0, %3 : index
        %5 = arith.andi %2, %4 : i1
        %6 = scf.if %5 -> tensor<8x30xf32, dense<[0, 1]> : tensor<2xi64>> {
          %7 = xla.apply_indexing #indexing_map1(%thread_id_x)
          %8 = xla.apply_indexing #indexing_map2(%thread_id_x, %block_id_x)
          %9 = tensor.extract %arg0[%7, %8] : tensor<8x30xf32, dense<[0, 1]> : tensor<2xi64>>
          %10 = arith.negf %9 : f32
          %11 = tensor.insert %10 into %arg1[%7, %8] : tensor<8x30xf32, dense<[0, 1]> : tensor<2xi64>>
          scf.yield %11 : tensor<8x30xf32, dense<[0, 1]> : tensor<2xi64>>
        } else {
          scf.yield %arg1 : tensor<8x30xf32, dense<[0, 1]> : tensor<2xi64>>
        }
        return %6 : tensor<8x30xf32, dense<[0, 1]> : tensor<2xi64>>
        =>
        %0 = xla.apply_indexing #indexing_map(%thread_id_x, %block_id_x)
        %2 = arith.cmpi sge, %0, %1 : index
        %4 = arith.cmpi sle, %0, %3 : index
        %5 = arith.andi %2, %4 : i1
        %6 = scf.if %5 -> tensor<240xf32> {
          %7 = xla.apply_indexing #indexing_map1(%thread_id_x, %block_id_x)
          %8 = tensor.extract %arg0[%7] : tensor<240xf32>
          %9 = arith.negf %8 : f32
          %10 = tensor.insert %9 into %arg1[%7] : tensor<240xf32>
          scf.yield %10 : tensor<240xf32>
        } else {
          scf.yield %arg1 : tensor<240xf32>
        }
        return %6 : tensor<240xf32>
    "#]],
    );
}

#[test]
fn what_no_round_changes_leaves_the_loop() {
    let instructions = "  b = f32[6,500] broadcast(p1), dimensions={0}\n  m = f32[6,500] multiply(p0, b)
  s = f32[6] reduce(m, p2), dimensions={1}, to_apply=add\n  c = f32[6,3] broadcast(s), dimensions={0}
  ROOT r = f32[6,3] negate(c)";
    let params = ["f32[6,500]", "f32[6]", "f32[]"];
    check(
        "loop-invariant-code-motion",
        &params,
        instructions,
        "f32[6,3]",
        expect![[r#"
        %0 = tensor.extract %arg2[] : tensor<f32>
        %6 = scf.for %4 = %1 to %3 step %2 iter_args(%5 = %0) -> f32 {
          %7 = xla.apply_indexing #indexing_map(%thread_id_x, %4)
          %8 = tensor.extract %arg0[%7] : tensor<3000xf32>
          %9 = xla.apply_indexing #indexing_map1(%thread_id_x)
          %10 = tensor.extract %arg1[%9] : tensor<6xf32>
          %11 = arith.mulf %8, %10 : f32
          %12 = arith.addf %5, %11 : f32
          scf.yield %12 : f32
        }
        %13 = arith.negf %6 : f32
        %14 = tensor.insert %13 into %arg3[%thread_id_x] : tensor<18xf32>
        return %14 : tensor<18xf32>
        =>
        %0 = tensor.extract %arg2[] : tensor<f32>
        %1 = xla.apply_indexing #indexing_map(%thread_id_x)
        %2 = tensor.extract %arg1[%1] : tensor<6xf32>
        %8 = scf.for %6 = %3 to %5 step %4 iter_args(%7 = %0) -> f32 {
          %9 = xla.apply_indexing #indexing_map1(%thread_id_x, %6)
          %10 = tensor.extract %arg0[%9] : tensor<3000xf32>
          %11 = arith.mulf %10, %2 : f32
          %12 = arith.addf %7, %11 : f32
          scf.yield %12 : f32
        }
        %13 = arith.negf %8 : f32
        %14 = tensor.insert %13 into %arg3[%thread_id_x] : tensor<18xf32>
        return %14 : tensor<18xf32>
    "#]],
    );
}

#[test]
fn a_condition_leaves_the_loop() {
    let instructions = "  ROOT t = f32[64,40] transpose(p0), dimensions={1,0}";
    check(
        "xla-unswitch-loops",
        &["f32[40,64]"],
        instructions,
        "f32[64,40]",
        expect![[r#"
        %0 = xla_gpu.allocate_shared : tensor<1056xf32>
        %7:2 = scf.for %4 = %1 to %3 step %2 iter_args(%5 = %0, %6 = %arg1) -> (tensor<1056xf32>, tensor<2560xf32>) {
          %11:2 = scf.for %8 = %1 to %2 step %2 iter_args(%9 = %5, %10 = %6) -> (tensor<1056xf32>, tensor<2560xf32>) {
            %12 = xla.apply_indexing #indexing_map(%block_id_x, %4)
            %13 = arith.cmpi sge, %12, %1 : index
            %15 = arith.cmpi sle, %12, %14 : index
            %16 = arith.andi %13, %15 : i1
            %17:2 = scf.if %16 -> (tensor<1056xf32>, tensor<2560xf32>) {
              %18 = xla.apply_indexing #indexing_map1(%thread_id_x, %block_id_x, %4)
              %19 = tensor.extract %arg0[%18] : tensor<2560xf32>
              %20 = xla.apply_indexing #indexing_map2(%thread_id_x, %4)
              %21 = tensor.insert %19 into %9[%20] : tensor<1056xf32>
              scf.yield %21, %10 : tensor<1056xf32>, tensor<2560xf32>
            } else {
              scf.yield %9, %10 : tensor<1056xf32>, tensor<2560xf32>
            }
            scf.yield %17#0, %17#1 : tensor<1056xf32>, tensor<2560xf32>
          }
          scf.yield %11#0, %11#1 : tensor<1056xf32>, tensor<2560xf32>
        }
        %22 = xla_gpu.sync_threads %7#0 : tensor<1056xf32>
        %25 = scf.for %23 = %1 to %3 step %2 iter_args(%24 = %7#1) -> tensor<2560xf32> {
          %28 = scf.for %26 = %1 to %2 step %2 iter_args(%27 = %24) -> tensor<2560xf32> {
            %29 = xla.apply_indexing #indexing_map3(%thread_id_x, %block_id_x)
            %30 = arith.cmpi sge, %29, %1 : index
            %32 = arith.cmpi sle, %29, %31 : index
            %33 = arith.andi %30, %32 : i1
            %34 = scf.if %33 -> tensor<2560xf32> {
              %35 = xla.apply_indexing #indexing_map4(%thread_id_x, %23)
              %36 = tensor.extract %22[%35] : tensor<1056xf32>
              %37 = xla.apply_indexing #indexing_map5(%thread_id_x, %block_id_x, %23)
              %38 = tensor.insert %36 into %27[%37] : tensor<2560xf32>
              scf.yield %38 : tensor<2560xf32>
            } else {
              scf.yield %27 : tensor<2560xf32>
            }
            scf.yield %34 : tensor<2560xf32>
          }
          scf.yield %28 : tensor<2560xf32>
        }
        return %25 : tensor<2560xf32>
        =>
        %0 = xla_gpu.allocate_shared : tensor<1056xf32>
        %7:2 = scf.for %4 = %1 to %3 step %2 iter_args(%5 = %0, %6 = %arg1) -> (tensor<1056xf32>, tensor<2560xf32>) {
          %8 = xla.apply_indexing #indexing_map(%block_id_x, %4)
          %9 = arith.cmpi sge, %8, %1 : index
          %11 = arith.cmpi sle, %8, %10 : index
          %12 = arith.andi %9, %11 : i1
          %13:2 = scf.if %12 -> (tensor<1056xf32>, tensor<2560xf32>) {
            %17:2 = scf.for %14 = %1 to %2 step %2 iter_args(%15 = %5, %16 = %6) -> (tensor<1056xf32>, tensor<2560xf32>) {
              %18 = xla.apply_indexing #indexing_map1(%thread_id_x, %block_id_x, %4)
              %19 = tensor.extract %arg0[%18] : tensor<2560xf32>
              %20 = xla.apply_indexing #indexing_map2(%thread_id_x, %4)
              %21 = tensor.insert %19 into %15[%20] : tensor<1056xf32>
              scf.yield %21, %16 : tensor<1056xf32>, tensor<2560xf32>
            }
            scf.yield %17#0, %17#1 : tensor<1056xf32>, tensor<2560xf32>
          } else {
            scf.yield %5, %6 : tensor<1056xf32>, tensor<2560xf32>
          }
          scf.yield %13#0, %13#1 : tensor<1056xf32>, tensor<2560xf32>
        }
        %22 = xla_gpu.sync_threads %7#0 : tensor<1056xf32>
        %23 = xla.apply_indexing #indexing_map3(%thread_id_x, %block_id_x)
        %24 = arith.cmpi sge, %23, %1 : index
        %26 = arith.cmpi sle, %23, %25 : index
        %27 = arith.andi %24, %26 : i1
        %28 = scf.if %27 -> tensor<2560xf32> {
          %31 = scf.for %29 = %1 to %3 step %2 iter_args(%30 = %7#1) -> tensor<2560xf32> {
            %34 = scf.for %32 = %1 to %2 step %2 iter_args(%33 = %30) -> tensor<2560xf32> {
              %35 = xla.apply_indexing #indexing_map4(%thread_id_x, %29)
              %36 = tensor.extract %22[%35] : tensor<1056xf32>
              %37 = xla.apply_indexing #indexing_map5(%thread_id_x, %block_id_x, %29)
              %38 = tensor.insert %36 into %33[%37] : tensor<2560xf32>
              scf.yield %38 : tensor<2560xf32>
            }
            scf.yield %34 : tensor<2560xf32>
          }
          scf.yield %31 : tensor<2560xf32>
        } else {
          scf.yield %7#1 : tensor<2560xf32>
        }
        return %28 : tensor<2560xf32>
    "#]],
    );
}

#[test]
fn rounds_are_written_out() {
    let instructions = "  s = f32[6] reduce(p0, p1), dimensions={1}, to_apply=add\n  c = f32[6,3] broadcast(s), dimensions={0}
  ROOT r = f32[6,3] negate(c)";
    check(
        "xla-gpu-optimize-loops",
        &["f32[6,3]", "f32[]"],
        instructions,
        "f32[6,3]",
        expect![[r#"
        %0 = tensor.extract %arg1[] : tensor<f32>
        %6 = scf.for %4 = %1 to %3 step %2 iter_args(%5 = %0) -> f32 {
          %7 = xla.apply_indexing #indexing_map(%thread_id_x, %4)
          %8 = tensor.extract %arg0[%7] : tensor<18xf32>
          %9 = arith.addf %5, %8 : f32
          scf.yield %9 : f32
        }
        %10 = arith.negf %6 : f32
        %11 = tensor.insert %10 into %arg2[%thread_id_x] : tensor<18xf32>
        return %11 : tensor<18xf32>
        =>
        %0 = tensor.extract %arg1[] : tensor<f32>
        %1 = xla.apply_indexing #indexing_map(%thread_id_x)
        %2 = tensor.extract %arg0[%1] : tensor<18xf32>
        %3 = arith.addf %0, %2 : f32
        %4 = xla.apply_indexing #indexing_map1(%thread_id_x)
        %5 = tensor.extract %arg0[%4] : tensor<18xf32>
        %6 = arith.addf %3, %5 : f32
        %7 = xla.apply_indexing #indexing_map2(%thread_id_x)
        %8 = tensor.extract %arg0[%7] : tensor<18xf32>
        %9 = arith.addf %6, %8 : f32
        %10 = arith.negf %9 : f32
        %11 = tensor.insert %10 into %arg2[%thread_id_x] : tensor<18xf32>
        return %11 : tensor<18xf32>
    "#]],
    );
}

#[test]
fn passes_have_two_names() {
    let kernel = kernel(&["f32[64]"], "  ROOT r = f32[64] negate(p0)", "f32[64]");
    let of = |asked: &str| mlir_after(&kernel, asked).map(|text| text.text);
    assert_eq!(of("inline"), of("InlinerPass"));
    assert_eq!(of("Inliner"), of("inline"));
    assert_eq!(of("no such pass"), None);
    let all = mlir_after(&kernel, "all").expect("all of them");
    assert_eq!(all.text.lines().count(), all.lines.len());
    let heads: Vec<&str> = all.text.lines().filter(|line| line.starts_with("// -----//")).collect();
    assert_eq!(heads.len(), PIPELINE.len());
    assert_eq!(heads[4], "// -----// IR Dump After InlinerPass (inline) //----- //");
    let read: Vec<&str> = all.text.lines().collect();
    assert!(!all.accesses.is_empty());
    assert!(all.accesses.iter().all(|(line, _)| read[*line].contains("tensor.extract")));
}
