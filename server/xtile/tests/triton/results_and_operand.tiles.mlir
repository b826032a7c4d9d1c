#indexing_map = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 8), domain: pid in [0, 14], tid in [0, 0]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 14], tid in [0, 0]">
module {
  xtile.entry_func @results_and_operand(%arg0: memref<40x70xf32>, %arg1: memref<40x70xf32>, %arg2: memref<40x70xf32>, %arg3: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %1 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xf32> -> tensor<8x32xf32>
    %3 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %4 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    %5 = xtile.extract %arg0[%3, %4] [8, 32] [1, 1] : memref<40x70xf32> -> tensor<8x32xf32>
    %6 = stablehlo.negate %5 : tensor<8x32xf32>
    %7 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %8 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    xtile.insert %2 into %arg1[%7, %8] [8, 32] [1, 1] : tensor<8x32xf32> -> memref<40x70xf32>
    %9 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %10 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    xtile.insert %6 into %arg2[%9, %10] [8, 32] [1, 1] : tensor<8x32xf32> -> memref<40x70xf32>
    xtile.return
  }
}
