#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> (pid * 4), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
module {
  xtile.entry_func @scan_of_unsigned(%arg0: memref<64x128xui32>, %arg1: memref<64x128xui32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<i32>
    %0 = builtin.unrealized_conversion_cast %cst : tensor<i32> to tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %2 = stablehlo.reshape %1 : (tensor<4xui32>) -> tensor<4x1xui32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %3 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %2) -> (tensor<4x1xui32>) {
      %4 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %5 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%arg3]
      %6 = xtile.extract %arg0[%4, %5] [4, 32] [1, 1] : memref<64x128xui32> -> tensor<4x32xui32>
      %7 = arith.index_cast %arg3 : index to i32
      %c0_i32 = arith.constant 0 : i32
      %8 = builtin.unrealized_conversion_cast %c0_i32 : i32 to ui32
      %outputs, %carries = xtile.scan(%6) inits(%arg4) dimension = 1 <scan_dim_size = 32> : (tensor<4x32xui32>), (tensor<4x1xui32>) -> (tensor<4x32xui32>), (tensor<4x1xui32>) {
      ^bb0(%arg5: tensor<ui32>, %arg6: tensor<ui32>):
        %11 = stablehlo.add %arg5, %arg6 : tensor<ui32>
        stablehlo.return %11, %11 : tensor<ui32>, tensor<ui32>
      }
      %9 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %10 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%arg3]
      xtile.insert %outputs into %arg1[%9, %10] [4, 32] [1, 1] : tensor<4x32xui32> -> memref<64x128xui32>
      scf.yield %carries : tensor<4x1xui32>
    }
    xtile.return
  }
}
