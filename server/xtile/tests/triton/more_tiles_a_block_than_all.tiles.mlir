#indexing_map = #xla.indexing_map<"(pid) -> (min(pid * -3 + 3, 3)), domain: pid in [0, 0]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> (((pid * 8 + tid) mod 3) * 32), domain: pid in [0, 0], tid in [0, 2]">
module {
  xtile.entry_func @more_tiles_a_block_than_all(%arg0: memref<40x70xf32>, %arg1: memref<40x70xf32>, %arg2: index {xla.range = [0 : index, 0 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = xla.apply_indexing #indexing_map(%arg2)
    scf.for %arg3 = %c0 to %0 step %c1 {
      %c0_0 = arith.constant 0 : index
      %1 = xla.apply_indexing #indexing_map1(%arg2, %arg3) {xla.range = [0 : index, 64 : index]}
      %2 = xtile.extract %arg0[%c0_0, %1] [64, 32] [1, 1] : memref<40x70xf32> -> tensor<64x32xf32>
      %3 = stablehlo.negate %2 : tensor<64x32xf32>
      %c0_1 = arith.constant 0 : index
      %4 = xla.apply_indexing #indexing_map1(%arg2, %arg3) {xla.range = [0 : index, 64 : index]}
      xtile.insert %3 into %arg1[%c0_1, %4] [64, 32] [1, 1] : tensor<64x32xf32> -> memref<40x70xf32>
    }
    xtile.return
  }
}
