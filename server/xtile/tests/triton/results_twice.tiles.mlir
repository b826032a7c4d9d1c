#indexing_map = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 8), domain: pid in [0, 14], tid in [0, 0]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 14], tid in [0, 0]">
module {
  xtile.entry_func @results_twice(%arg0: memref<40x70xf32>, %arg1: memref<40x70xf32>, %arg2: memref<40x70xf32>, %arg3: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %1 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xf32> -> tensor<8x32xf32>
    %3 = stablehlo.negate %2 : tensor<8x32xf32>
    %4 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %5 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    xtile.insert %3 into %arg1[%4, %5] [8, 32] [1, 1] : tensor<8x32xf32> -> memref<40x70xf32>
    %6 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %7 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
    xtile.insert %3 into %arg2[%6, %7] [8, 32] [1, 1] : tensor<8x32xf32> -> memref<40x70xf32>
    xtile.return
  }
}
