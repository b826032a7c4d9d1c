#indexing_map = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 8), domain: pid in [0, 14], tid in [0, 0]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 14], tid in [0, 0]">
module {
  xtile.entry_func @results_of_two_types(%arg0: memref<40x70xf32>, %arg1: memref<40x70xbf16>, %arg2: memref<40x70xf32>, %arg3: memref<40x70xi8>, %arg4: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg4, %arg4)
    %1 = xla.apply_indexing #indexing_map1(%arg4, %arg4)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xf32> -> tensor<8x32xf32>
    %3 = stablehlo.negate %2 : tensor<8x32xf32>
    %4 = stablehlo.convert %3 : (tensor<8x32xf32>) -> tensor<8x32xbf16>
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %6 = stablehlo.compare GT, %2, %5 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xi1>
    %7 = xla.apply_indexing #indexing_map(%arg4, %arg4)
    %8 = xla.apply_indexing #indexing_map1(%arg4, %arg4)
    xtile.insert %4 into %arg1[%7, %8] [8, 32] [1, 1] : tensor<8x32xbf16> -> memref<40x70xbf16>
    %9 = xla.apply_indexing #indexing_map(%arg4, %arg4)
    %10 = xla.apply_indexing #indexing_map1(%arg4, %arg4)
    xtile.insert %3 into %arg2[%9, %10] [8, 32] [1, 1] : tensor<8x32xf32> -> memref<40x70xf32>
    %11 = stablehlo.convert %6 : (tensor<8x32xi1>) -> tensor<8x32xi8>
    %12 = xla.apply_indexing #indexing_map(%arg4, %arg4)
    %13 = xla.apply_indexing #indexing_map1(%arg4, %arg4)
    xtile.insert %11 into %arg3[%12, %13] [8, 32] [1, 1] : tensor<8x32xi8> -> memref<40x70xi8>
    xtile.return
  }
}
