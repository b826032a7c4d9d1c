#indexing_map = #xla.indexing_map<"(tid) -> (tid * 32), domain: tid in [0, 2]">
module {
  xtile.entry_func @more_tiles_a_block_than_all(%arg0: memref<40x70xf32>, %arg1: memref<40x70xf32>, %arg2: index {xla.range = [0 : index, 0 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %arg3 = %c0 to %c3 step %c1 {
      %0 = xla.apply_indexing #indexing_map(%arg3) {xla.range = [0 : index, 64 : index]}
      %1 = xtile.extract %arg0[%c0, %0] [64, 32] [1, 1] : memref<40x70xf32> -> tensor<64x32xf32>
      %2 = arith.negf %1 : tensor<64x32xf32>
      xtile.insert %2 into %arg1[%c0, %0] [64, 32] [1, 1] : tensor<64x32xf32> -> memref<40x70xf32>
    }
    xtile.return
  }
}
