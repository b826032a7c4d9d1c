#indexing_map = #xla.indexing_map<"(pid, tid) -> (pid * 4), domain: pid in [0, 15], tid in [0, 0]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (pid * 4), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
module {
  xtile.entry_func @scan_from_operand(%arg0: memref<64x100xf32>, %arg1: memref<64xf32>, %arg2: memref<64x100xf32>, %arg3: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %1 = xtile.extract %arg1[%0] [4] [1] : memref<64xf32> -> tensor<4xf32>
    %2 = stablehlo.negate %1 : tensor<4xf32>
    %3 = stablehlo.reshape %2 : (tensor<4xf32>) -> tensor<4x1xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %4 = scf.for %arg4 = %c0 to %c4 step %c1 iter_args(%arg5 = %3) -> (tensor<4x1xf32>) {
      %5 = xla.apply_indexing #indexing_map1(%arg3, %arg3)[%arg4]
      %6 = xla.apply_indexing #indexing_map2(%arg3, %arg3)[%arg4]
      %7 = xtile.extract %arg0[%5, %6] [4, 32] [1, 1] : memref<64x100xf32> -> tensor<4x32xf32>
      %8 = arith.index_cast %arg4 : index to i32
      %cst = arith.constant 0.000000e+00 : f32
      %c32_i32 = arith.constant 32 : i32
      %c100_i32 = arith.constant 100 : i32
      %9 = arith.divsi %c100_i32, %c32_i32 : i32
      %10 = arith.cmpi sge, %8, %9 : i32
      %11 = scf.if %10 -> (tensor<4x32xf32>) {
        %14 = arith.muli %8, %c32_i32 : i32
        %15 = stablehlo.iota dim = 0 : tensor<32xi32>
        %from_elements = tensor.from_elements %14 : tensor<i32>
        %16 = stablehlo.broadcast_in_dim %from_elements, dims = [] : (tensor<i32>) -> tensor<32xi32>
        %17 = arith.addi %15, %16 : tensor<32xi32>
        %cst_0 = arith.constant dense<100> : tensor<32xi32>
        %18 = arith.cmpi slt, %17, %cst_0 : tensor<32xi32>
        %19 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<32xi1>) -> tensor<4x32xi1>
        %from_elements_1 = tensor.from_elements %cst : tensor<f32>
        %20 = stablehlo.broadcast_in_dim %from_elements_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
        %21 = arith.select %19, %7, %20 : tensor<4x32xi1>, tensor<4x32xf32>
        scf.yield %21 : tensor<4x32xf32>
      } else {
        scf.yield %7 : tensor<4x32xf32>
      }
      %outputs, %carries = xtile.scan(%11) inits(%arg5) dimension = 1 <scan_dim_size = 32> : (tensor<4x32xf32>), (tensor<4x1xf32>) -> (tensor<4x32xf32>), (tensor<4x1xf32>) {
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %14 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %14, %14 : tensor<f32>, tensor<f32>
      }
      %12 = xla.apply_indexing #indexing_map1(%arg3, %arg3)[%arg4]
      %13 = xla.apply_indexing #indexing_map2(%arg3, %arg3)[%arg4]
      xtile.insert %outputs into %arg2[%12, %13] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<64x100xf32>
      scf.yield %carries : tensor<4x1xf32>
    }
    xtile.return
  }
}
