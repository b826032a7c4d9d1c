#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 2) * 32), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 2) * 32), domain: pid in [0, 15]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid / 2) * 32 - 128), domain: pid in [0, 15]">
module {
  xtile.entry_func @concat_2x128x64(%arg0: memref<128x64xf32>, %arg1: memref<128x64xf32>, %arg2: memref<256x64xf32>, %arg3: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c128 = arith.constant 128 : index
    %0 = xla.apply_indexing #indexing_map(%arg3)
    %1 = arith.cmpi slt, %0, %c128 : index
    %2 = scf.if %1 -> (tensor<32x32xf32>) {
      %4 = xla.apply_indexing #indexing_map1(%arg3)
      %5 = xtile.extract %arg0[%0, %4] [32, 32] [1, 1] : memref<128x64xf32> -> tensor<32x32xf32>
      scf.yield %5 : tensor<32x32xf32>
    } else {
      %4 = xla.apply_indexing #indexing_map2(%arg3)
      %5 = xla.apply_indexing #indexing_map1(%arg3)
      %6 = xtile.extract %arg1[%4, %5] [32, 32] [1, 1] : memref<128x64xf32> -> tensor<32x32xf32>
      scf.yield %6 : tensor<32x32xf32>
    }
    %3 = xla.apply_indexing #indexing_map1(%arg3)
    xtile.insert %2 into %arg2[%0, %3] [32, 32] [1, 1] : tensor<32x32xf32> -> memref<256x64xf32>
    xtile.return
  }
}
