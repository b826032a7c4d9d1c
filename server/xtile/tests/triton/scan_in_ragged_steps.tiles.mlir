#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> (pid * 4), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
module {
  xtile.entry_func @scan_in_ragged_steps(%arg0: memref<64x100xf32>, %arg1: memref<64x100xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<4x1xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %2 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %1) -> (tensor<4x1xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %4 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%arg3]
      %5 = xtile.extract %arg0[%3, %4] [4, 32] [1, 1] : memref<64x100xf32> -> tensor<4x32xf32>
      %6 = arith.index_cast %arg3 : index to i32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %c32_i32 = arith.constant 32 : i32
      %c100_i32 = arith.constant 100 : i32
      %7 = arith.divsi %c100_i32, %c32_i32 : i32
      %8 = arith.cmpi sge, %6, %7 : i32
      %9 = scf.if %8 -> (tensor<4x32xf32>) {
        %12 = arith.muli %6, %c32_i32 : i32
        %13 = stablehlo.iota dim = 0 : tensor<32xi32>
        %from_elements = tensor.from_elements %12 : tensor<i32>
        %14 = stablehlo.broadcast_in_dim %from_elements, dims = [] : (tensor<i32>) -> tensor<32xi32>
        %15 = arith.addi %13, %14 : tensor<32xi32>
        %cst_1 = arith.constant dense<100> : tensor<32xi32>
        %16 = arith.cmpi slt, %15, %cst_1 : tensor<32xi32>
        %17 = stablehlo.broadcast_in_dim %16, dims = [1] : (tensor<32xi1>) -> tensor<4x32xi1>
        %from_elements_2 = tensor.from_elements %cst_0 : tensor<f32>
        %18 = stablehlo.broadcast_in_dim %from_elements_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
        %19 = arith.select %17, %5, %18 : tensor<4x32xi1>, tensor<4x32xf32>
        scf.yield %19 : tensor<4x32xf32>
      } else {
        scf.yield %5 : tensor<4x32xf32>
      }
      %outputs, %carries = xtile.scan(%9) inits(%arg4) dimension = 1 <scan_dim_size = 32> : (tensor<4x32xf32>), (tensor<4x1xf32>) -> (tensor<4x32xf32>), (tensor<4x1xf32>) {
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %12 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %12, %12 : tensor<f32>, tensor<f32>
      }
      %10 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %11 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%arg3]
      xtile.insert %outputs into %arg1[%10, %11] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<64x100xf32>
      scf.yield %carries : tensor<4x1xf32>
    }
    xtile.return
  }
}
